#include "capture/describe.h"

#include <algorithm>

#include "base/text.h"

namespace tenon {
namespace {

using Where = GraphStorage::Kind;

std::string geometry(const int64_t* sizes, int32_t ndim, tn_dtype dtype) {
  return fmt::format("{} {}", shape_text(sizes, ndim), dtype_name(dtype));
}

std::string geometry(const tn_tensor* t) { return geometry(t->sizes, t->ndim, t->dtype); }

class List {
 public:
  void add(std::string_view item) {
    text_ += text_.empty() ? "" : "; ";
    text_ += item;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Operands have the sizes of the loop, merged and broadcast; its outputs are the launch's.
void add_operands(const tn_operand* operands, uint32_t n, const int64_t* sizes, int32_t ndim,
                  List* list) {
  for (uint32_t i = 0; i < n; ++i) list->add(geometry(sizes, ndim, operands[i].dtype));
}

void add_operands(const tn_value& v, List* list) {
  if (v.kind == TN_KIND_LOOP) {
    const tn_loop& loop = *v.as.loop;
    add_operands(loop.operands + loop.program->n_outputs, loop.program->n_inputs, loop.sizes,
                 loop.ndim, list);
  } else if (v.kind == TN_KIND_REDUCTION) {
    const tn_reduction& r = *v.as.reduction;
    add_operands(r.operands + 1, r.prologue != nullptr ? r.prologue->n_inputs : 1, r.sizes, r.ndim,
                 list);
  }
  for (const tn_tensor* t : tensors_of(v)) {
    if (t != nullptr) list->add(geometry(t));
  }
}

bool is_deterministic(const Step& step) {
  return step.kind != Step::Kind::kLaunch ||
         (step.kernel->def.traits & TN_KERNEL_DETERMINISTIC) != 0;
}

// Of a compiler's kernel, in a function that need not be exact.
bool has_eager_bits(const Step& step) {
  return step.own_kernel == nullptr || (step.kernel->def.traits & TN_KERNEL_SAME_BITS) != 0;
}

// What the recording promises.
std::string bits_text(const LaunchGraph& graph) {
  const auto n_loose = std::ranges::count(graph.steps, false, is_deterministic),
             n_other = std::ranges::count(graph.steps, false, has_eager_bits);
  std::string text = "those of an eager call, on any number of threads";
  if (n_loose + n_other > 0) {
    text += fmt::format(", but for {} steps that are not deterministic and {} that round otherwise",
                        n_loose, n_other);
  }
  return text;
}

std::string notes_of(const Step& step) {
  List notes;
  // Both of a pair bear the name of its op.
  if (step.fn != step.kernel->def.launch) notes.add("backward");
  if (step.random >= 0) notes.add("random");
  if (step.prepared) notes.add("prepared");
  if (!is_deterministic(step)) notes.add("not deterministic");
  if (!has_eager_bits(step)) notes.add("rounds otherwise");
  if (!step.numbers.empty()) notes.add(fmt::format("reads {} numbers", step.numbers.size()));
  return notes.text();
}

std::string launch_text(const Step& step) {
  List operands, results;
  for (uint32_t i = 0; i < step.call->n_args; ++i) add_operands(step.call->args[i], &operands);
  for (uint32_t i = 0; i < step.call->n_outputs; ++i) {
    if (step.call->outputs[i] != nullptr) results.add(geometry(step.call->outputs[i]));
  }
  return fmt::format("{} | {} -> {} | {}", step_name(step), operands.text(), results.text(),
                     notes_of(step));
}

std::string step_text(const Step& step) {
  if (step.kind == Step::Kind::kLaunch) return launch_text(step);
  return fmt::format("{} | | {} bytes |", step_name(step), step.bytes);
}

}  // namespace

std::string step_name(const Step& step) {
  if (step.kind == Step::Kind::kCopy) return "copy of bytes";
  if (step.kind == Step::Kind::kWrite) return "write of a constant";
  const Kernel& kernel = *step.kernel;
  return fmt::format(
      "{} | {} {}{}", step.op->schema.name, kernel.plugin,
      kernel.def.primitive != TN_PRIM_NONE ? kernel.primitive_name : kernel.op_name.c_str(),
      kernel.is_pair ? " (pair)" : "");
}

std::string described(const LaunchGraph& g, const std::string& arguments) {
  size_t n_outside = 0, n_left = 0;
  uint64_t outside_bytes = 0, left_bytes = 0;
  for (const GraphStorage& s : g.storages) {
    if (s.kind == Where::kOutside) ++n_outside, outside_bytes += s.bytes;
    if (s.kind == Where::kLeft) ++n_left, left_bytes += s.bytes;
  }
  const auto n_of = [&](Step::Kind kind) { return std::ranges::count(g.steps, kind, &Step::kind); };
  std::string text = fmt::format(
      "{} steps ({} dropped), {} results, {} leaves, {} objects; its own memory: {} bytes in the "
      "place of {}\n",
      g.steps.size(), g.n_dropped, g.results.size(), g.leaves.size(), g.objects.size(), g.own_bytes,
      g.inside_bytes);
  text += fmt::format("  arguments: {}\n", arguments);
  text += fmt::format("  launches: {}; copies: {}; constants: {}; random: {}\n",
                      n_of(Step::Kind::kLaunch), n_of(Step::Kind::kCopy), n_of(Step::Kind::kWrite),
                      g.n_random);
  text += fmt::format("  bits: {}\n", bits_text(g));
  text += fmt::format("  memory that was there before: {} tensors, {} bytes\n", n_outside,
                      outside_bytes);
  text += fmt::format(
      "  results and gradients: {} tensors, {} bytes; an eager call holds {} bytes at "
      "most\n",
      n_left, left_bytes, g.eager_bytes);
  if (g.n_recomputed > 0) text += fmt::format("  computed twice: {} steps\n", g.n_recomputed);
  if (const std::string device = g.device_text(); !device.empty())
    text += fmt::format("  as one graph of {}\n", device);
  for (const Step& step : g.steps) text += fmt::format("  {}\n", step_text(step));
  return text;
}

}  // namespace tenon
