#include "check_arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace tenon::cli::conformance {
namespace {

bool has(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string::npos; });
}

bool is_index(const std::string& name) {
  return has(name, {"index", "indices", "target", "offsets", "rows", "pivots", "ranks", "lengths",
                    "places", "label"});
}
bool is_mask(const std::string& name) { return has(name, {"mask", "condition"}); }

Sizes repeated(int64_t n, int64_t value) {
  return Sizes(static_cast<size_t>(std::max<int64_t>(n, 1)), value);
}

}  // namespace

uint64_t Draw::next() {  // Steele, Lea and Flood, OOPSLA 2014
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

size_t count_results(const FaceSchema& schema) {
  const std::string& results = schema.results;
  if (!results.starts_with('(')) return 1;
  return parts_of(std::string_view(results).substr(1, results.size() - 2)).size();
}

Arguments::Arguments(const FaceSchema& schema, Place& place, Draw draw, bool is_of_matrices,
                     bool takes_gradients)
    : place_(place),
      draw_(draw),
      is_of_matrices_(is_of_matrices),
      takes_gradients_(takes_gradients),
      n_results_(count_results(schema)) {
  const Sizes themes[] = {{4, 4},    {2, 3, 4, 4},    {3, 4}, {5},    {2, 3, 8},
                          {4, 4, 4}, {2, 3, 4, 4, 4}, {6, 2}, {3, 3}, {}};
  theme_ = themes[draw_.below(is_of_matrices ? 6 : 10)];
  range_ = draw_.of({Range::positive, Range::positive, Range::unit, Range::wide, Range::few});
  size_t required = 0;
  for (const FaceArgument& argument : schema.arguments) required += argument.fallback.empty();
  const size_t most = schema.arguments.size();
  const size_t n = draw_.chance(50)
                       ? required
                       : required + static_cast<size_t>(draw_.below(int64_t(most - required) + 1));
  for (size_t i = 0; i < n; ++i) values_.push_back(value(schema.arguments[i]));
}

tn_value Arguments::ints(Sizes list) {
  held_ints_.push_back(std::move(list));
  return detail::to_value(held_ints_.back());
}
tn_value Arguments::text(const std::string& text) {
  held_texts_.push_back(text);
  tn_value v = detail::make_value(TN_KIND_STRING, static_cast<uint32_t>(text.size()));
  v.as.string = held_texts_.back().c_str();
  return v;
}

// The default of an argument, where it is a word or a number.
tn_value Arguments::fallback(const FaceArgument& argument) {
  const std::string& word = argument.fallback;
  if (word == "True" || word == "False") return detail::to_value(word == "True");
  if (word.starts_with('"') || word.starts_with('\'')) return text(word.substr(1, word.size() - 2));
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), whole);
  if (error == std::errc() && end == word.data() + word.size() && argument.type != "int[]")
    return detail::to_value(whole);
  if (argument.type == "float" || argument.type == "number")
    return detail::to_value(std::strtod(word.c_str(), nullptr));
  if (argument.type == "int[]") return ints(list_for(argument.name));
  return detail::make_value(TN_KIND_NONE);
}

Sizes Arguments::sizes_for(const std::string& name) {
  const auto rank = static_cast<int64_t>(theme_.size());
  if (n_tensors_ == 0 || rank == 0) return theme_;
  const int64_t last = theme_.back(), channels = rank > 1 ? theme_[1] : theme_[0];
  Sizes swapped = theme_, product = theme_, few = theme_, without = theme_;
  if (rank > 1) std::swap(swapped[theme_.size() - 1], swapped[theme_.size() - 2]);
  product.back() = 3;
  if (rank > 1) product[theme_.size() - 2] = last;
  few[0] = 2;
  without.pop_back();
  Sizes filters = {5, channels};
  for (int64_t d = 2; d < rank; ++d) filters.push_back(2);
  Sizes transposed = filters;
  std::swap(transposed[0], transposed[1]);
  if (has(name, {"bias"})) return draw_.of({Sizes{5}, Sizes{channels}, Sizes{last}, theme_});
  if (is_index(name)) return draw_.of({theme_, Sizes{3}, Sizes{theme_[0]}, without, few, Sizes{}});
  if (draw_.chance(45)) return theme_;
  return draw_.of({Sizes{last}, Sizes{channels}, Sizes{5, last}, filters, transposed, Sizes{},
                   Sizes{last, 5}, swapped, Sizes{theme_[0]}, product, without, Sizes{1},
                   Sizes{theme_[0], 1}});
}

Tensor Arguments::made(const std::string& name) {
  const Sizes sizes = sizes_for(name);
  ++n_tensors_;
  if (is_index(name) && draw_.chance(90)) return place_.indices(sizes, 2);
  if (is_mask(name)) return place_.tensor_of(bool_, sizes);
  Tensor x = place_.tensor(sizes, Layout::contiguous, range_);
  const bool is_square = sizes.size() > 1 && sizes.back() == sizes[sizes.size() - 2];
  if (!is_of_matrices_ || !is_square || !x.dtype().is_float()) return x;
  // Symmetric and positive, so that it has all the decompositions.
  const Tensor host = x.to(cpu, float64);
  return place_.put(
      (matmul(host, host.transpose(-1, -2)) + eye(sizes.back(), float64) * 2).to(x.dtype()));
}

tn_value Arguments::tensor(const FaceArgument& argument) {
  Tensor x = made(argument.name);
  if (argument.written) {
    written_.push_back(x);
  } else if (takes_gradients_ && x.dtype().is_float()) {
    x.requires_grad_();
    leaves_.push_back(x);
  }
  held_.push_back(x);
  return detail::to_value(held_.back());
}

int64_t Arguments::int_for(const std::string& name) {
  if (has(name, {"dim", "axis"})) return draw_.of<int64_t>({0, 1, -1});
  if (has(name, {"start", "offset", "diagonal", "ignore"})) return draw_.of<int64_t>({0, 1, -1});
  return draw_.of<int64_t>({1, 2, 3, 4});
}

Sizes Arguments::list_for(const std::string& name) {
  const auto spatial = static_cast<int64_t>(theme_.size()) - 2;
  if (has(name, {"kernel", "output_size", "scale"})) return repeated(spatial, 2);
  if (has(name, {"stride", "dilation"})) return repeated(spatial, draw_.of<int64_t>({1, 2}));
  if (has(name, {"padding"})) return repeated(spatial, draw_.of<int64_t>({0, 1}));
  if (has(name, {"normalized"})) return theme_.empty() ? Sizes{1} : Sizes{theme_.back()};
  if (has(name, {"pad"})) return draw_.of({Sizes{1, 1}, Sizes{1, 0, 2, 1}, Sizes{0, 2}});
  if (has(name, {"size", "shape"})) {
    Sizes reversed(theme_.rbegin(), theme_.rend());
    return draw_.of({theme_, theme_, reversed, Sizes{-1}, Sizes{2, 2}, Sizes{4, 2, 2}});
  }
  if (has(name, {"batch_sizes"})) return {2, 1};
  if (has(name, {"dim", "axes"})) {
    Sizes all;
    for (size_t d = 0; d < theme_.size(); ++d) all.insert(all.begin(), static_cast<int64_t>(d));
    return draw_.of({Sizes{0}, Sizes{-1}, Sizes{0, 1}, all});
  }
  return draw_.of({Sizes{1}, Sizes{0, 1}, Sizes{2, 2}, Sizes{1, 3}});
}

tn_value Arguments::list(const FaceArgument& argument, const std::string& element) {
  if (element == "int") return ints(list_for(argument.name));
  if (element == "float") {
    held_floats_.push_back({0.25, 0.5});
    return detail::to_value(held_floats_.back());
  }
  if (element != "Tensor" && element != "Tensor?")
    fail(fmt::format("no {} is drawn", argument.type), TN_UNSUPPORTED);
  std::vector<tn_tensor*> tensors;
  const bool alike = draw_.chance(80);
  for (int i = 0; i < 2; ++i) {
    if (alike) n_tensors_ = 0;  // the theme's sizes
    FaceArgument entry = argument;
    entry.type = "Tensor";
    tensors.push_back(tensor(entry).as.tensor);
  }
  held_lists_.push_back(std::move(tensors));
  tn_value v = detail::make_value(TN_KIND_TENSORS, 2);
  v.as.tensors = held_lists_.back().data();
  return v;
}

tn_value Arguments::value(const FaceArgument& argument) {
  std::string type = argument.type;
  if (type.ends_with('?')) {
    type.pop_back();
    if (draw_.chance(50)) return detail::make_value(TN_KIND_NONE);
  }
  if (!argument.fallback.empty() && draw_.chance(60)) return fallback(argument);
  if (type == "int[]|str") type = "int[]";
  if (type.ends_with("[]")) return list(argument, type.substr(0, type.size() - 2));
  if (type == "Tensor") return tensor(argument);
  if (type == "int") return detail::to_value(int_for(argument.name));
  if (type == "float") return detail::to_value(draw_.of({0.5, 1.0, 2.0, 0.125}));
  if (type == "number")
    return draw_.chance(50) ? detail::to_value(draw_.of<int64_t>({1, 2, 3}))
                            : detail::to_value(draw_.of({0.5, 1.5}));
  if (type == "bool") return detail::to_value(draw_.chance(50));
  if (type == "dtype") return detail::to_value(place_.as_computed(float32));
  if (type == "device") return detail::to_value(place_.device());
  if (type == "str") {
    if (argument.name == "equation") return text(draw_.of({"ij,jk->ik", "...ij->...ji", "ii->i"}));
    return text(draw_.of({"sum", "mean", "amax", "none", "reflect", "constant", "nearest",
                          "bilinear", "replicate", "ij"}));
  }
  fail(fmt::format("no {} is drawn", argument.type), TN_UNSUPPORTED);
}

TensorList Arguments::call(const tn_op* op) const {
  std::vector<tn_value> results(n_results_ + 1);
  tenon::check(detail::api.host->call(op, values_.data(), static_cast<uint32_t>(values_.size()),
                                      results.data(), static_cast<uint32_t>(n_results_)));
  TensorList list;
  for (size_t i = 0; i < n_results_; ++i) {
    tn_value& result = results[i];
    if (result.kind == TN_KIND_TENSOR) list.push_back(Tensor::borrow(result.as.tensor));
    for (uint32_t k = 0; result.kind == TN_KIND_TENSORS && k < result.count; ++k)
      list.push_back(Tensor::borrow(result.as.tensors[k]));
    detail::api.host->value_release(&result);
  }
  list.insert(list.end(), written_.begin(), written_.end());
  return list;
}

}  // namespace tenon::cli::conformance
