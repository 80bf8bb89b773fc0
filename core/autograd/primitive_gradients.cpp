// The gradients of the primitives, written in primitives: each beside its name, one walker below.
// x, y are the arguments and the output as they were, g the output's gradient; what a gradient
// needs to be saved is said in its row.
#include <algorithm>

#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "autograd/saved_hooks.h"
#include "autograd/view_nodes.h"
#include "base/text.h"
#include "launch/explain.h"
#include "primitive/primitives.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// What a gradient needs of the call: bit i of `tensors` for the i-th tensor among the arguments, lists
// laid out flat; its last output.
struct Saves {
  uint32_t tensors = 0;
  bool output = false;
};

class PrimitiveNode;
using Gradient = void (*)(PrimitiveNode& node, Tensor* g, Tensor** results);

struct Row {
  tn_primitive kind;
  Saves (*saves)(Values args);
  Gradient gradient;
  // Where it is not NULL: records by itself, and says by *taken whether it did.
  Status (*record)(const Op& op, Values args, std::span<tn_value> results, bool* taken);
};

class PrimitiveNode final : public Node {
 public:
  PrimitiveNode(const Op& op, Gradient gradient, Saves saves, Values args,
                std::span<Tensor* const> tensors)
      : name_(recorded_name(op.schema.name)), gradient_(gradient), saves_output_(saves.output) {
    for (const tn_value& v : args) {
      values_.push_back(tn_value{});
      if (v.kind != TN_KIND_TENSOR && v.kind != TN_KIND_TENSORS)
        throw_if(copy_value(v, &values_.back()));
    }
    saved_.resize(tensors.size());
    infos_.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      infos_.emplace_back(tensors[i]);
      if (i < 32 && (saves.tensors >> i & 1) != 0) saved_[i].save(tensors[i]);
    }
  }
  std::string name() const override { return shown_name(name_); }
  void release_saved() override {
    saved_.clear();
    output_.reset();
  }
  void let_go(const Tensor* root) override {
    for (SavedTensor& s : saved_) s.let_go(root);
  }
  void pack_saved(SavedPacker* packer) override {
    for (SavedTensor& s : saved_) packer->pack(&s);
    packer->pack(&output_);
  }
  void save_output(Tensor* t, uint32_t number) {
    if (saves_output_) output_.save_output(t, number);
  }

  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      gradient_(*this, grads[0], results);
      for (uint32_t i = 0; i < n_edges(); ++i) {
        if (edge(i).node != nullptr) TN_TRY(prim::conform(*this, i, infos_[i], &results[i]));
      }
      return nullptr;
    });
  }

  // For the gradients.
  TensorRef saved(size_t i) {
    TensorRef t;
    throw_if(saved_[i].unpack(this, &t));
    return t;
  }
  TensorRef output() {
    TensorRef t;
    throw_if(output_.unpack(this, &t));
    return t;
  }
  const TensorInfo& info(size_t i) const { return infos_[i]; }
  bool wants(uint32_t i) const { return edge(i).node != nullptr; }
  Values args() const { return values_; }  // tensors are None

 private:
  const std::string& name_;
  const Gradient gradient_;
  const bool saves_output_;
  OwnedValues<6> values_;
  SmallVector<SavedTensor, 3> saved_;
  SavedTensor output_;
  SmallVector<TensorInfo, 3> infos_;
};

// The output of a reduction (or its gradient) at the rank of the input again.
TensorRef unreduce(PrimitiveNode& node, Tensor* t) {
  const auto& sizes = node.info(0).sizes;
  SmallVector<int64_t, 6> kept(sizes);
  const uint32_t mask =
      dims_mask("reduce", ints_at(node.args(), 2), static_cast<int32_t>(sizes.size()));
  for (size_t d = 0; d < kept.size(); ++d) {
    if ((mask >> d & 1) != 0) kept[d] = 1;
  }
  return prim::reshape(t, kept);
}

TensorRef product(Tensor* a, Tensor* b) {
  return prim::elementwise("product(Tensor a, Tensor b) -> Tensor", "a * b", {a, b});
}

// Halves as float32.
TensorRef widened(Tensor* x) {
  return prim::convert(x, x->device, is_half(x->dtype) ? tn_dtype{TN_FLOAT32} : x->dtype);
}

// x moved by `by` places along dimension d; ones or zeros where nothing comes from.
TensorRef moved(Tensor* x, int32_t d, int64_t by, bool ones) {
  TensorRef y = prim::zeros(x->size_span(), x->dtype, x->device);
  if (ones) y = prim::elementwise("ones(Tensor x) -> Tensor", "x + 1", {y.get()});
  const int64_t n = x->sizes[d], kept = n - std::abs(by);
  if (kept <= 0) return y;
  const int64_t from = std::max<int64_t>(-by, 0), to = std::max<int64_t>(by, 0);
  TensorRef part = prim::slice(x, d, from, from + kept, 1);
  TensorRef places = prim::slice(prim::iota(n, x->device).get(), 0, to, to + kept, 1);
  SmallVector<int64_t, 6> line(static_cast<size_t>(x->ndim), 1);
  line[static_cast<size_t>(d)] = kept;
  places = prim::expand(prim::reshape(places.get(), line).get(), part->size_span());
  return prim::scatter(y.get(), d, places.get(), part.get(), false);
}

// For each element of x the product of the others along dims: of those before it and of those
// behind it. Of halves in float32.
TensorRef products_of_others(Tensor* given, std::span<const int64_t> dims) {
  TensorRef x = widened(given);
  const uint32_t mask = dims_mask("reduce", dims, x->ndim);
  SmallVector<int64_t, 6> order, back(static_cast<size_t>(x->ndim), 0), sizes;
  for (const bool reduced : {false, true}) {
    for (int32_t d = 0; d < x->ndim; ++d) {
      if ((mask >> d & 1) == reduced) order.push_back(d);
    }
  }
  int64_t kept = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    sizes.push_back(x->sizes[order[i]]);
    if ((mask >> order[i] & 1) == 0) kept *= sizes.back();
  }
  if (x->numel == 0) return TensorRef::retaining(given);
  const int64_t flat[2] = {kept, x->numel / kept};
  TensorRef line = prim::reshape(prim::permute(x.get(), order).get(), flat);
  TensorRef left = prim::scan(TN_REDUCE_PROD, moved(line.get(), 1, 1, true).get(), 1, false);
  TensorRef right = prim::scan(TN_REDUCE_PROD, moved(line.get(), 1, -1, true).get(), 1, true);
  TensorRef others = prim::reshape(product(left.get(), right.get()).get(), sizes);
  return prim::permute(others.get(), back);
}

void reduce_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const TensorInfo& x = node.info(0);
  const int64_t kind = int_at(node.args(), 0);
  // All dimensions reduced to none: the gradient expands as it is.
  TensorRef full = g->ndim == 0 ? TensorRef::retaining(g) : unreduce(node, g);
  if (kind == TN_REDUCE_SUM) {
    results[0] = prim::convert(prim::expand(full.get(), x.sizes).get(), x.device, x.dtype).take();
    return;
  }
  TensorRef input = node.saved(0);
  if (kind == TN_REDUCE_PROD) {
    TensorRef others = products_of_others(input.get(), ints_at(node.args(), 2));
    TensorRef dx = prim::elementwise("prod_gradient(Tensor dy, Tensor others) -> Tensor",
                                     "dy * others", {full.get(), others.get()});
    results[0] = prim::convert(dx.get(), x.device, x.dtype).take();
    return;
  }
  TensorRef output = unreduce(node, node.output().get());
  // max, min: equal elements share the gradient, as PyTorch's amax and amin do.
  TensorRef mask = prim::elementwise("hits(Tensor x, Tensor y) -> Tensor",
                                     "where((x == y) | (isnan(x) & isnan(y)), 1.0, 0.0)",
                                     {input.get(), output.get()});
  // to be counted
  mask = prim::convert(mask.get(), x.device, is_half(x.dtype) ? tn_dtype{TN_FLOAT32} : x.dtype);
  TensorRef count =
      unreduce(node, prim::reduce(TN_REDUCE_SUM, mask.get(), ints_at(node.args(), 2), false).get());
  TensorRef shared = prim::elementwise("share(Tensor dy, Tensor m, Tensor n) -> Tensor",
                                       "dy * m / n", {full.get(), mask.get(), count.get()});
  results[0] = prim::convert(shared.get(), x.device, x.dtype).take();
}

void scan_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const TensorInfo& info = node.info(0);
  const int64_t dim = int_at(node.args(), 2);
  // sums over all that an element went into
  const bool back = !bool_at(node.args(), 3);
  if (int_at(node.args(), 0) == TN_REDUCE_SUM) {
    results[0] =
        prim::convert(prim::scan(TN_REDUCE_SUM, g, dim, back).get(), info.device, info.dtype)
            .take();
    return;
  }
  // dx_i = sum over k >= i of g_k prod(x_j, j <= k, j != i) = prod(x_j, j < i) s_i, where s_i = g_i
  // + x_{i+1} s_{i+1}. Such a recurrence is a composition of maps s -> b + a s, which doubling
  // makes in log2(n) steps: without a division, so that it and its own derivatives hold at zeros.
  TensorRef x = widened(node.saved(0).get()), b = widened(g);
  if (info.sizes.empty()) {
    results[0] = TensorRef::retaining(g).take();
    return;
  }
  int32_t d;
  throw_if(wrap_dim("scan", dim, x->ndim, &d));
  const int64_t onward = back ? 1 : -1;
  TensorRef before = prim::scan(TN_REDUCE_PROD, moved(x.get(), d, onward, true).get(), d, !back);
  TensorRef a = moved(x.get(), d, -onward, false);
  for (int64_t step = 1; step < info.sizes[static_cast<size_t>(d)]; step *= 2) {
    b = prim::elementwise("composed(Tensor b, Tensor a, Tensor next) -> Tensor", "b + a * next",
                          {b.get(), a.get(), moved(b.get(), d, -onward * step, false).get()});
    a = product(a.get(), moved(a.get(), d, -onward * step, false).get());
  }
  results[0] = prim::convert(product(before.get(), b.get()).get(), info.device, info.dtype).take();
}

void sort_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const TensorInfo& x = node.info(0);
  TensorRef zero = prim::spread_zero(x.sizes, x.dtype, x.device);
  results[0] =
      prim::scatter(zero.get(), int_at(node.args(), 1), node.output().get(), g, false).take();
}

void matmul_gradient(PrimitiveNode& node, Tensor* given, Tensor** results) {
  // Products that are summed over a broadcast batch are rounded behind the sum.
  const auto is_broadcast = [&](size_t i) {
    const auto& sizes = node.info(i).sizes;
    return sizes.size() != static_cast<size_t>(given->ndim) ||
           !std::equal(sizes.begin(), sizes.end() - 2, given->sizes);
  };
  const auto side = [&](size_t i, TensorRef* g) {
    const bool sums = is_broadcast(i);
    *g = sums ? widened(given) : TensorRef::retaining(given);
    TensorRef other = node.saved(1 - i);
    return prim::transpose_last((sums ? widened(other.get()) : other).get());
  };
  TensorRef g;
  if (node.wants(0)) {
    const TensorRef b = side(0, &g);
    results[0] = prim::reduce_to(prim::matmul(g.get(), b.get()).get(), node.info(0)).take();
  }
  if (node.wants(1)) {
    const TensorRef a = side(1, &g);
    results[1] = prim::reduce_to(prim::matmul(a.get(), g.get()).get(), node.info(1)).take();
  }
}

void copy_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  results[0] = prim::convert(g, node.info(0).device, node.info(0).dtype).take();
}

void gather_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const TensorInfo& x = node.info(0);
  TensorRef zero = prim::spread_zero(x.sizes, x.dtype, x.device);
  results[0] =
      prim::scatter(zero.get(), int_at(node.args(), 1), node.saved(1).get(), g, true).take();
}

// Tensors: x, index, src.
void scatter_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const int64_t dim = int_at(node.args(), 1);
  TensorRef index = node.saved(1);
  if (node.wants(0)) {
    if (bool_at(node.args(), 4)) {
      results[0] = TensorRef::retaining(g).take();
    } else {
      const TensorInfo& src = node.info(2);
      TensorRef zero = prim::spread_zero(src.sizes, src.dtype, src.device);
      results[0] = prim::scatter(g, dim, index.get(), zero.get(), false).take();
    }
  }
  if (node.wants(2)) results[2] = prim::gather(g, dim, index.get()).take();
}

void reshape_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  results[0] = prim::reshape(g, node.info(0).sizes).take();
}

void permute_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const auto dims = ints_at(node.args(), 1);
  std::vector<int64_t> inverse(dims.size());
  const auto ndim = static_cast<int64_t>(dims.size());
  for (int64_t d = 0; d < ndim; ++d) inverse[(dims[d] + ndim) % ndim] = d;
  results[0] = prim::permute(g, inverse).take();
}

void expand_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  results[0] = prim::reduce_to(g, node.info(0)).take();
}

// The sum of all elements, the end of most losses: a node that keeps a shape and nothing else.
class SumAllNode final : public Node {
 public:
  SumAllNode(const Op& op, const Tensor* x) : name_(recorded_name(op.schema.name)), info_(x) {}
  std::string name() const override { return shown_name(name_); }
  void release_saved() override {}
  static void* operator new(size_t) { return Pool<kBytes, 64>::allocate(); }
  static void operator delete(void* p) { Pool<kBytes, 64>::free(p); }

  Status backward(Tensor* const* grads, Tensor** results) override {
    Tensor* g = grads[0];
    if ((thread_state.modes & kModeNoGrad) != 0 && g->ndim == 0 && g->dtype == info_.dtype &&
        g->device == info_.device) [[likely]] {
      static constexpr int64_t kNowhere[TN_MAX_RANK] = {};
      results[0] = make_view_unchecked(g, info_.sizes, kNowhere, element_offset(g));
      mark_view(results[0]);
      return nullptr;
    }
    return guarded([&]() -> Status {
      TensorRef one = g->ndim == 0 ? TensorRef::retaining(g) : prim::reshape(g, {});
      results[0] =
          prim::convert(prim::expand(one.get(), info_.sizes).get(), info_.device, info_.dtype)
              .take();
      return nullptr;
    });
  }

 private:
  static constexpr size_t kBytes = 256;
  const std::string& name_;
  TensorInfo info_;
};
static_assert(sizeof(SumAllNode) <= 256);

Status record_sum_of_all(const Op& op, Values args, std::span<tn_value> results) {
  Tensor* x = as_tensor(tensors_at(args, 1)[0]);
  TN_TRY(refuse_inference("reduce", args));
  Ref<SumAllNode> node(new SumAllNode(op, x));
  const Edge edge = gradient_edge(x);
  node->set_edges(&edge, 1);  // which has room for it
  {
    NoGradScope no_grad;
    TN_TRY(run_primitive(op, args, results));
  }
  // Its gradient is a view, which is the same on every stream: only anomaly mode asks where it came
  // from.
  if ((thread_state.modes & kModeAnomaly) != 0) note_forward(node.get(), args, x->device);
  give_history(as_tensor(results[0].as.tensor), node.take());
  return nullptr;
}

// What a reduction folds: its tensor's dtype, or what the prologue makes of its tensors'.
Status folded_dtype(const Op* prologue, std::span<tn_tensor* const> xs, tn_dtype* dtype) {
  *dtype = xs[0]->dtype;
  // its call refuses what does not fit
  if (prologue == nullptr || prologue->map.n_operands != xs.size()) return nullptr;
  std::vector<OperandType> types;
  for (const tn_tensor* t : xs) types.push_back({t->dtype, Category::kTensor, false});
  const CompiledProgram* compiled;
  TN_TRY(prologue->expression->compile(types, &compiled));
  *dtype = compiled->output_dtypes[0];
  return nullptr;
}

// A reduction with a prologue or epilogue has the gradient of its parts.
Status record_parts(const Op& op, Values args, std::span<tn_value> results) {
  const auto stage = [&](const Op* formula, std::span<const double> scalars,
                         std::span<tn_tensor* const> operands, TensorRef* result) -> Status {
    std::vector<tn_value> values;
    for (tn_tensor* t : operands) values.push_back(tensor_value(t));
    for (const double scalar : scalars) values.push_back(float_value(scalar));
    tn_value made{};
    TN_TRY(call(formula, values.data(), static_cast<uint32_t>(values.size()), &made, 1));
    *result = TensorRef(as_tensor(made.as.tensor));
    return nullptr;
  };
  const Op *prologue = expression_at(args, 4), *epilogue = expression_at(args, 6);
  const auto xs = tensors_at(args, 1);
  if (xs.empty()) return invalid("reduce: no tensors");
  tn_dtype folded;
  TN_TRY(folded_dtype(prologue, xs, &folded));
  const bool wide = is_half(folded);  // what is folded need not fit a half, what comes out does
  std::vector<TensorRef> hold;
  std::vector<tn_tensor*> operands;
  for (tn_tensor* t : xs) {
    hold.push_back(wide ? widened(as_tensor(t)) : TensorRef::retaining(as_tensor(t)));
    operands.push_back(hold.back().get());
  }
  TensorRef x = hold[0];
  if (prologue != nullptr) TN_TRY(stage(prologue, floats_at(args, 5), operands, &x));
  tn_tensor* const one[1] = {x.get()};
  const tn_value plain[4] = {args[0], tensors_value(one), args[2], args[3]};
  tn_value reduced{};
  TN_TRY(call(&op, plain, 4, &reduced, 1));
  TensorRef result(as_tensor(reduced.as.tensor));
  if (epilogue != nullptr) {
    tn_tensor* operand = result.get();
    TN_TRY(stage(epilogue, floats_at(args, 7), {&operand, 1}, &result));
  }
  const tn_dtype given = wide && result->dtype == TN_FLOAT32 ? folded : result->dtype;
  result = prim::convert(result.get(), result->device, dtype_at(args, 8, given));
  results[0] = tensor_value(result.take());
  return nullptr;
}

Status record_reduce(const Op& op, Values args, std::span<tn_value> results, bool* taken) {
  const int64_t kind = int_at(args, 0);
  const bool has_parts = !is_none(args, 4) || !is_none(args, 6) || !is_none(args, 8);
  *taken = true;
  if (has_parts) return record_parts(op, args, results);
  if (kind >= TN_REDUCE_ARGMAX || tensors_at(args, 1).size() != 1)
    return run_primitive(op, args, results);  // no gradient, or no call that fits
  if (kind == TN_REDUCE_SUM && ints_at(args, 2).empty())
    return record_sum_of_all(op, args, results);
  *taken = false;
  return nullptr;
}

Status record_window(const Op& op, Values args, std::span<tn_value> results, bool* taken) {
  *taken = true;
  return record_slice(op, args, &results[0]);
}

Status record_strided(const Op& op, Values args, std::span<tn_value> results, bool* taken) {
  *taken = true;
  return record_view(&op, args, results);
}

Saves saves_none(Values) { return {}; }
Saves saves_second(Values) { return {0b10}; }
Saves saves_of_fold(Values args) { return {int_at(args, 0) == TN_REDUCE_SUM ? 0u : 1u, false}; }

const Row kRows[] = {
    {TN_PRIM_REDUCE,
     [](Values args) {
       return Saves{saves_of_fold(args).tensors, int_at(args, 0) != TN_REDUCE_SUM};
     },
     reduce_gradient, record_reduce},
    {TN_PRIM_SCAN, saves_of_fold, scan_gradient, nullptr},
    {TN_PRIM_SORT,
     [](Values) {
       return Saves{0, true};
     },
     sort_gradient, nullptr},
    {TN_PRIM_MATMUL, [](Values) { return Saves{0b11}; }, matmul_gradient, nullptr},
    {TN_PRIM_COPY, saves_none, copy_gradient, nullptr},
    {TN_PRIM_GATHER, saves_second, gather_gradient, nullptr},
    {TN_PRIM_SCATTER, saves_second, scatter_gradient, nullptr},
    {TN_PRIM_RESHAPE, saves_none, reshape_gradient, nullptr},
    {TN_PRIM_PERMUTE, saves_none, permute_gradient, nullptr},
    {TN_PRIM_EXPAND, saves_none, expand_gradient, nullptr},
    {TN_PRIM_SLICE, nullptr, nullptr, record_window},
    {TN_PRIM_AS_STRIDED, nullptr, nullptr, record_strided},
    {TN_PRIM_SCATTER_INTO, saves_second, scatter_gradient, nullptr},
};

}  // namespace

Status record_primitive(const Op& op, Values args, std::span<tn_value> results) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.kind == op.primitive; });
  if (row == std::end(kRows)) return run_primitive(op, args, results);
  if (row->record != nullptr) {
    bool taken = false;
    TN_TRY(row->record(op, args, results, &taken));
    if (taken) return nullptr;
  }
  const bool in_place = op.primitive == TN_PRIM_SCATTER_INTO;
  if (in_place) TN_TRY(check_writable("scatter_", tensor_at(args, 0)));
  TensorList tensors;
  flat_tensors(args, &tensors);
  TN_TRY(refuse_inference(op.schema.name.c_str(), args));
  Ref<PrimitiveNode> node(new PrimitiveNode(op, row->gradient, row->saves(args), args, tensors));
  EdgeList edges(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_float(tensors[i]->dtype) && needs_gradient(tensors[i]))
      edges[i] = gradient_edge(tensors[i]);
  }
  node->take_edges(&edges);
  {
    NoGradScope no_grad;
    TN_TRY(run_op(&op, args, results));
  }
  Tensor* output = as_tensor(results[0].as.tensor);
  if (!is_float(output->dtype)) return nullptr;
  node->save_output(as_tensor(results[results.size() - 1].as.tensor),
                    static_cast<uint32_t>(results.size() - 1));
  note_place(node.get(), args, call_device(args));
  if (in_place) {
    TN_TRY(rebase_history(output, node.get(), 0, 0));
  } else {
    set_history(output, node.get(), 0);
  }
  note_saved(node.get());
  return nullptr;
}

}  // namespace tenon
