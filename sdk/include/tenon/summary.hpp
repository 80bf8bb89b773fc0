// What a model is made of: each layer with the sizes that it gives, its parameters, memory and floating
// point operations for one input. tenon.hpp does not include it.
//
//   std::cout << summary(model, randn({1, 3, 224, 224}));
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/profiler.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct Summary {
  struct Layer {
    std::string path;     // "encoder.0"; "" for the model
    std::string type;     // "Linear"
    std::string outputs;  // "[1, 10] float32"; "" where its forward was not called
    std::string
        same_as;  // the first place of what is in several, where the calls of all are counted
    int32_t depth = 0;
    int64_t calls = 0;             // of its forward; the sizes are those of the last
    int64_t parameters = 0;        // elements of its own, without those of its children
    int64_t trainable = 0;         // those of them that ask for a gradient
    uint64_t parameter_bytes = 0;  // of its own, buffers too
    uint64_t output_bytes = 0;     // of all its calls
    double flops = 0;              // of all its calls, with its children; see Profiler
  };
  std::vector<Layer> layers;  // the model first, then its children in order, each with its own
  // Of the model; what is shared counts once.
  int64_t parameters = 0, trainable = 0;
  uint64_t parameter_bytes = 0;
  // What the layers without children gave: about what a backward keeps.
  uint64_t output_bytes = 0;
  double flops = 0;

  std::string text() const;
};

namespace detail {

inline std::string scaled_number(double number, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (number >= 1000 && prefix < 5) number /= 1000, ++prefix;
  char text[32];  // no printf: its point is the locale's
  const auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed,
                                 prefix == 0 ? 0 : 2);
  return joined({std::string_view(text, size_t(end.ptr - text)), " ", kPrefixes[prefix], unit});
}
// 1234567 as "1,234,567".
inline std::string grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// Runs the model once and fills the summary from what it sees.
class Summarizer {
 public:
  explicit Summarizer(const Object& model) { add(model, "", 0); }
  Summarizer(const Summarizer&) = delete;
  ~Summarizer() {
    for (const Seen& s : seen_) {
      if (s.hook != 0) ignore(api.object->remove_forward_hook(s.object.get(), s.hook));
    }
    // Parents before children, since this sets what is below, too.
    for (const Seen& s : seen_) s.object.train(s.training);
  }

  template <typename... Inputs>
  Summary run(const Inputs&... inputs) {
    for (Seen& s : seen_) hook(&s);
    seen_[0].object.eval();
    Profiler profiler({.shapes = false, .threads = false});
    {
      const InferenceMode mode;
      profiler.start();
      tn_value results[8] = {};
      const tn_value values[sizeof...(Inputs) + 1] = {to_value(inputs)...};
      call(values, sizeof...(Inputs), results);
      profiler.stop();
    }
    return filled(profiler);
  }

 private:
  struct Seen {
    Object object;
    Summary::Layer layer;
    bool training = false;
    uint64_t hook = 0;
    Summarizer* of = nullptr;

    void note(const tn_tensor* t) {
      if (t == nullptr) return;
      add_shape(&layer.outputs, t);
      layer.output_bytes += static_cast<uint64_t>(count_of(t)) * Dtype{t->dtype}.itemsize();
    }
  };

  void add(const Object& object, const std::string& path, int32_t depth) {
    Seen s;
    s.object = object;
    s.layer.path = path, s.layer.type = object.type_name(), s.layer.depth = depth;
    s.training = object.training();
    seen_.push_back(std::move(s));
    for (uint32_t i = 0; i < object.n_children(); ++i) {
      std::string name;
      const Object child = object.child_at(i, &name);
      if (!child) continue;  // None
      add(child, path.empty() ? name : path + "." + name, depth + 1);
    }
  }
  // Of an object that is in several places the first one stands for all.
  Seen* find(const tn_object* object) {
    for (Seen& s : seen_) {
      if (s.object.get() == object) return &s;
    }
    return nullptr;
  }
  void hook(Seen* s) {
    if (find(s->object.get()) != s) return;
    s->of = this;
    const auto note = [](void* self, tn_object*, const tn_value*, uint32_t, tn_value* results,
                         uint32_t n_results) -> tn_status* {
      return to_status([&] {
        auto* seen = static_cast<Seen*>(self);
        seen->layer.outputs.clear();
        for (uint32_t i = 0; i < n_results; ++i) {
          if (results[i].kind == TN_KIND_TENSOR) seen->note(results[i].as.tensor);
          if (results[i].kind != TN_KIND_TENSORS) continue;
          for (uint32_t k = 0; k < results[i].count; ++k) seen->note(results[i].as.tensors[k]);
        }
        ++seen->layer.calls;
        const auto track = ProfileTrack::current();
        seen->of->ended_.emplace_back(seen, track ? track->method() : -1);
      });
    };
    check(api.object->add_forward_hook(s->object.get(), note, s, nullptr, &s->hook));
  }
  void call(const tn_value* values, uint32_t n, tn_value* results) {
    const std::string schema = seen_[0].object.method_schema("forward");
    uint32_t n_results = 1;
    const size_t arrow = schema.find("->");
    if (arrow != schema.npos && schema.find('(', arrow) != schema.npos)
      n_results += static_cast<uint32_t>(
          std::count(schema.begin() + static_cast<int64_t>(arrow), schema.end(), ','));
    if (n_results > 8) fail("summary: the model's forward has more than 8 results");
    check(api.object->invoke(seen_[0].object.get(), "forward", values, n, results, n_results));
    for (uint32_t i = 0; i < n_results; ++i) host()->value_release(&results[i]);
  }

  // Of the forwards whose hooks ran: those of what is no part of the model have none.
  void take_flops(const Profiler& profiler) {
    for (const auto& [seen, event] : ended_) {
      if (event >= 0) seen->layer.flops += profiler.events()[static_cast<size_t>(event)].flops;
    }
  }

  Summary filled(const Profiler& profiler) {
    take_flops(profiler);
    Summary summary;
    std::set<const void*> counted;
    for (Seen& s : seen_) {
      const Seen* const first = find(s.object.get());
      if (first == &s) {
        count_tensors(&s, &summary, &counted);
      } else {
        s.layer.same_as = first->layer.path;
      }
      if (s.object.n_children() == 0) summary.output_bytes += s.layer.output_bytes;
      summary.layers.push_back(s.layer);
    }
    summary.flops = summary.layers[0].flops;
    return summary;
  }
  static void count_tensors(Seen* s, Summary* summary, std::set<const void*>* counted) {
    const auto own = [](const std::string& name) { return name.find('.') == name.npos; };
    const auto bytes_of = [](const Tensor& t) {
      return static_cast<uint64_t>(t.numel()) * t.dtype().itemsize();
    };
    for (const auto& [name, t] : s->object.named_parameters()) {
      if (!own(name)) continue;
      s->layer.parameters += t.numel();
      if (t.requires_grad()) s->layer.trainable += t.numel();
      s->layer.parameter_bytes += bytes_of(t);
      if (!counted->insert(t.get()).second) continue;
      summary->parameters += t.numel();
      if (t.requires_grad()) summary->trainable += t.numel();
      summary->parameter_bytes += bytes_of(t);
    }
    for (const auto& [name, t] : s->object.named_buffers()) {
      if (!own(name)) continue;
      s->layer.parameter_bytes += bytes_of(t);
      if (counted->insert(t.get()).second) summary->parameter_bytes += bytes_of(t);
    }
  }

  std::vector<Seen> seen_;
  std::vector<std::pair<Seen*, int64_t>> ended_;  // whose forward, and which event
};

}  // namespace detail

// Runs the model's forward once on the inputs, in evaluation and without gradients. Its mode and its
// state are afterwards what they were.
template <typename... Inputs>
Summary summary(const Object& model, const Inputs&... inputs) {
  return detail::Summarizer(model).run(inputs...);
}

inline std::string Summary::text() const {
  const auto left = [](std::string cell, size_t width) {
    return cell.append(cell.size() < width ? width - cell.size() : 0, ' ');
  };
  const auto right = [](const std::string& cell, size_t width) {
    return std::string(cell.size() < width ? width - cell.size() : 0, ' ') + cell;
  };
  std::string text;
  const auto line = [&](std::string name, std::string output, const std::string& n,
                        const std::string& flops) {
    text += detail::joined({left(std::move(name), 36), " ", left(std::move(output), 26), " ",
                            right(n, 14), " ", right(flops, 12), "\n"});
  };
  line("layer", "output", "parameters", "operations");
  for (const Layer& l : layers) {
    const size_t dot = l.path.rfind('.');
    const std::string own = dot == l.path.npos ? l.path : l.path.substr(dot + 1);
    std::string name(static_cast<size_t>(2 * l.depth), ' ');
    name += messages::escaped(own.empty() ? l.type : own + ": " + l.type);
    std::string output = l.calls == 0 ? "not called" : l.outputs;
    if (!l.same_as.empty()) output = "the same as " + messages::escaped(l.same_as);
    if (l.calls > 1) output += " x" + std::to_string(l.calls);
    line(std::move(name), std::move(output), l.parameters > 0 ? detail::grouped(l.parameters) : "-",
         l.flops > 0 ? detail::scaled_number(l.flops, "FLOP") : "-");
  }
  text += "parameters: " + detail::grouped(parameters) + ", " + detail::grouped(trainable) +
          " of them trainable, " +
          detail::scaled_number(static_cast<double>(parameter_bytes), "B") + " with buffers\n";
  text += "what layers give: " + detail::scaled_number(static_cast<double>(output_bytes), "B") +
          "; operations: " + detail::scaled_number(flops, "FLOP") + "\n";
  return text;
}
inline std::ostream& operator<<(std::ostream& out, const Summary& summary) {
  return out << summary.text();
}

}  // namespace v0
}  // namespace tenon
