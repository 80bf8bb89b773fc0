// The gradients of the primitives, written in primitives: each beside its name, one walker below.
// x, y are the arguments and the output as they were, g the output's gradient; what a gradient
// needs to be saved is said in its row.
#include <algorithm>

#include "autograd/prim.h"
#include "autograd/view_nodes.h"
#include "base/text.h"
#include "dispatch/launch.h"
#include "dispatch/primitives.h"
#include "tensor/view.h"

namespace tenon {
namespace {

class PrimitiveNode;
using Gradient = void (*)(PrimitiveNode& node, Tensor* g, Tensor** results);

struct Row {
  tn_primitive kind;
  uint32_t saves;  // bit i: tensor argument i (flat) is needed
  bool saves_output;
  Gradient gradient;  // NULL: the outputs never need a gradient
};

class PrimitiveNode final : public Node {
 public:
  PrimitiveNode(const Row& row, std::span<const tn_value> args, std::span<Tensor* const> tensors)
      : row_(row) {
    for (const tn_value& v : args) {
      values_.push_back(tn_value{});
      if (v.kind != TN_KIND_TENSOR && v.kind != TN_KIND_TENSORS)
        throw_if(copy_value(v, &values_.back()));
    }
    saved_.resize(tensors.size());
    infos_.reserve(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      infos_.emplace_back(tensors[i]);
      if (i < 32 && (row.saves >> i & 1) != 0) saved_[i].save(tensors[i]);
    }
  }
  std::string name() const override {
    return decomposed_ != nullptr ? decomposed_->schema.name : primitive_name(row_.kind);
  }
  void release_saved() override {
    saved_.clear();
    output_.reset();
  }
  void let_go(const Tensor* root) override {
    for (SavedTensor& s : saved_) s.let_go(root);
  }
  void save_output(Tensor* t, uint32_t number) {
    if (row_.saves_output) output_.save_output(t, number);
  }

  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      row_.gradient(*this, grads[0], results);
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
  PrimitiveArgs args() const { return PrimitiveArgs(row_.kind, values_); }

 private:
  const Row& row_;
  const Op* const decomposed_ = thread_state.decomposed;  // the op that users know
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
      dims_mask("reduce", node.args().ints(2, "dims"), static_cast<int32_t>(sizes.size()));
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
  const int64_t kind = node.args().integer(0, "kind");
  // All dimensions reduced to none: the gradient expands as it is.
  TensorRef full = g->ndim == 0 ? TensorRef::retaining(g) : unreduce(node, g);
  if (kind == TN_REDUCE_SUM) {
    results[0] = prim::convert(prim::expand(full.get(), x.sizes).get(), x.device, x.dtype).take();
    return;
  }
  TensorRef input = node.saved(0);
  if (kind == TN_REDUCE_PROD) {
    TensorRef others = products_of_others(input.get(), node.args().ints(2, "dims"));
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
  TensorRef count = unreduce(
      node, prim::reduce(TN_REDUCE_SUM, mask.get(), node.args().ints(2, "dims"), false).get());
  TensorRef shared = prim::elementwise("share(Tensor dy, Tensor m, Tensor n) -> Tensor",
                                       "dy * m / n", {full.get(), mask.get(), count.get()});
  results[0] = prim::convert(shared.get(), x.device, x.dtype).take();
}

void scan_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const TensorInfo& info = node.info(0);
  const int64_t dim = node.args().integer(2, "dim");
  // sums over all that an element went into
  const bool back = !node.args().boolean(3, "reverse", false);
  if (node.args().integer(0, "kind") == TN_REDUCE_SUM) {
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
  TensorRef zero = prim::zeros(x.sizes, x.dtype, x.device);
  results[0] =
      prim::scatter(zero.get(), node.args().integer(1, "dim"), node.output().get(), g, false)
          .take();
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
  TensorRef zero = prim::zeros(x.sizes, x.dtype, x.device);
  results[0] =
      prim::scatter(zero.get(), node.args().integer(1, "dim"), node.saved(1).get(), g, true).take();
}

// Tensors: x, index, src.
void scatter_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const PrimitiveArgs args = node.args();
  const int64_t dim = args.integer(1, "dim");
  TensorRef index = node.saved(1);
  if (node.wants(0)) {
    if (args.boolean(4, "add", false)) {
      results[0] = TensorRef::retaining(g).take();
    } else {
      const TensorInfo& src = node.info(2);
      TensorRef zero = prim::zeros(src.sizes, src.dtype, src.device);
      results[0] = prim::scatter(g, dim, index.get(), zero.get(), false).take();
    }
  }
  if (node.wants(2)) results[2] = prim::gather(g, dim, index.get()).take();
}

void reshape_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  results[0] = prim::reshape(g, node.info(0).sizes).take();
}

void permute_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  const auto dims = node.args().ints(1, "dims");
  std::vector<int64_t> inverse(dims.size());
  const auto ndim = static_cast<int64_t>(dims.size());
  for (int64_t d = 0; d < ndim; ++d) inverse[(dims[d] + ndim) % ndim] = d;
  results[0] = prim::permute(g, inverse).take();
}

void expand_gradient(PrimitiveNode& node, Tensor* g, Tensor** results) {
  results[0] = prim::reduce_to(g, node.info(0)).take();
}

const Row kRows[] = {
    // primitive     saves             output  gradient
    {TN_PRIM_REDUCE, 0b1, true, reduce_gradient},
    {TN_PRIM_SCAN, 0b1, false, scan_gradient},
    {TN_PRIM_SORT, 0, true, sort_gradient},  // its output: the indices
    {TN_PRIM_MATMUL, 0b11, false, matmul_gradient},
    {TN_PRIM_COPY, 0, false, copy_gradient},
    {TN_PRIM_GATHER, 0b10, false, gather_gradient},
    {TN_PRIM_SCATTER, 0b10, false, scatter_gradient},
    {TN_PRIM_RESHAPE, 0, false, reshape_gradient},
    {TN_PRIM_PERMUTE, 0, false, permute_gradient},
    {TN_PRIM_EXPAND, 0, false, expand_gradient},
    {TN_PRIM_NONZERO, 0, false, nullptr},
};
const Row kSumRow = {TN_PRIM_REDUCE, 0, false, reduce_gradient};
const Row kScanSumRow = {TN_PRIM_SCAN, 0, false, scan_gradient};

const Row* row_of(tn_primitive kind, std::span<const tn_value> args) {
  if (!args.empty() && args[0].kind == TN_KIND_INT && args[0].as.i == TN_REDUCE_SUM) {
    if (kind == TN_PRIM_REDUCE) return &kSumRow;
    if (kind == TN_PRIM_SCAN) return &kScanSumRow;
  }
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.kind == kind; });
  return row != std::end(kRows) ? row : nullptr;
}

// The sum of all elements, the end of most losses: a node that keeps a shape and nothing else.
class SumAllNode final : public Node {
 public:
  explicit SumAllNode(const Tensor* x) : info_(x) {}
  std::string name() const override {
    return decomposed_ != nullptr ? decomposed_->schema.name : primitive_name(TN_PRIM_REDUCE);
  }
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
  TensorInfo info_;
  const Op* const decomposed_ = thread_state.decomposed;
};
static_assert(sizeof(SumAllNode) <= 256);

// Is this call a sum over everything, without further ado?
bool is_sum_of_all(tn_primitive kind, std::span<const tn_value> args) {
  return kind == TN_PRIM_REDUCE && args.size() == 4 && args[0].kind == TN_KIND_INT &&
         args[0].as.i == TN_REDUCE_SUM && args[1].kind == TN_KIND_TENSOR &&
         args[2].kind == TN_KIND_INTS && args[2].count == 0;
}

Status record_sum_of_all(std::span<const tn_value> args, std::span<tn_value> results) {
  Tensor* x = as_tensor(args[1].as.tensor);
  TN_TRY(refuse_inference("reduce", args));
  Ref<SumAllNode> node(new SumAllNode(x));
  const Edge edge = gradient_edge(x);
  node->set_edges(&edge, 1);  // which has room for it
  {
    NoGradScope no_grad;
    TN_TRY(run_primitive(TN_PRIM_REDUCE, args, results));
  }
  // Its gradient is a view, which is the same on every stream: only anomaly mode asks where it came
  // from.
  if ((thread_state.modes & kModeAnomaly) != 0) note_forward(node.get(), args, x->device);
  give_history(as_tensor(results[0].as.tensor), node.take());
  return nullptr;
}

// What a reduction folds: its tensor's dtype, or what the prologue makes of its tensors'.
Status folded_dtype(const PrimitiveArgs& read, std::span<tn_tensor* const> xs, tn_dtype* dtype) {
  *dtype = xs[0]->dtype;
  const Expression* prologue = read.expression(4, "prologue");
  // its call refuses what does not fit
  if (prologue == nullptr || prologue->n_operands() != xs.size()) return nullptr;
  std::vector<OperandType> types;
  for (const tn_tensor* t : xs) types.push_back({t->dtype, Category::kTensor, false});
  const CompiledProgram* compiled;
  TN_TRY(prologue->compile(types, &compiled));
  *dtype = compiled->output_dtypes[0];
  return nullptr;
}

// A reduction with a prologue or epilogue has the gradient of its parts.
Status record_parts(std::span<const tn_value> args, std::span<tn_value> results) {
  const PrimitiveArgs read(TN_PRIM_REDUCE, args);
  const auto stage = [&](size_t at, std::span<tn_tensor* const> operands,
                         TensorRef* result) -> Status {
    std::vector<tn_value> call{args[at]};
    for (tn_tensor* t : operands) call.push_back(tensor_value(t));
    for (const double scalar : read.floats(at + 1, "scalars")) {
      tn_value v{};
      v.kind = TN_KIND_FLOAT;
      v.as.f = scalar;
      call.push_back(v);
    }
    tn_value made{};
    TN_TRY(primitive(TN_PRIM_ELEMENTWISE, call, {&made, 1}));
    *result = TensorRef(as_tensor(made.as.tensor));
    return nullptr;
  };
  const auto xs = read.tensors(1, "x");
  if (xs.empty()) return invalid("reduce: no tensors");
  tn_dtype folded;
  TN_TRY(folded_dtype(read, xs, &folded));
  const bool wide = is_half(folded);  // what is folded need not fit a half, what comes out does
  std::vector<TensorRef> hold;
  std::vector<tn_tensor*> operands;
  for (tn_tensor* t : xs) {
    hold.push_back(wide ? widened(as_tensor(t)) : TensorRef::retaining(as_tensor(t)));
    operands.push_back(hold.back().get());
  }
  TensorRef x = hold[0];
  if (!read.is_none(4)) TN_TRY(stage(4, operands, &x));
  const tn_value plain[4] = {args[0], tensor_value(x.get()), args[2], args[3]};
  tn_value reduced{};
  TN_TRY(primitive(TN_PRIM_REDUCE, plain, {&reduced, 1}));
  TensorRef result(as_tensor(reduced.as.tensor));
  if (!read.is_none(6)) {
    tn_tensor* operand = result.get();
    TN_TRY(stage(6, {&operand, 1}, &result));
  }
  const tn_dtype given = wide && result->dtype == TN_FLOAT32 ? folded : result->dtype;
  result = prim::convert(result.get(), result->device, read.dtype(8, "dtype", given));
  results[0] = tensor_value(result.take());
  return nullptr;
}

}  // namespace

Status record_plain_primitive(tn_primitive kind, std::span<const tn_value> args,
                              std::span<tn_value> results) {
  TN_TRY(expect_counts(kind, args.size(), results.size()));
  if (kind == TN_PRIM_REDUCE && args.size() >= 4) {
    const PrimitiveArgs read(kind, args);
    if (!read.is_none(4) || !read.is_none(6) || !read.is_none(8))
      return record_parts(args, results);
  }
  if (is_sum_of_all(kind, args)) return record_sum_of_all(args, results);
  if (kind == TN_PRIM_SLICE) return record_slice(args, &results[0]);
  const Row* row = row_of(kind, args);
  TensorList tensors;
  flat_tensors(args, &tensors);
  if (kind == TN_PRIM_AS_STRIDED) {
    Ref<Node> node;
    {
      NoGradScope no_grad;
      TN_TRY(run_primitive(kind, args, results));
    }
    node = Ref<Node>(make_view_node(tensors[0], as_tensor(results[0].as.tensor), "as_strided"));
    note_forward(node.get(), args, call_device(args));
    set_history(as_tensor(results[0].as.tensor), node.get(), 0);
    return nullptr;
  }
  const bool no_gradient = row == nullptr || row->gradient == nullptr ||
                           (kind == TN_PRIM_REDUCE && !args.empty() &&
                            args[0].kind == TN_KIND_INT && args[0].as.i >= TN_REDUCE_ARGMAX);
  if (no_gradient) return run_primitive(kind, args, results);
  TN_TRY(refuse_inference(primitive_name(kind), args));
  Ref<PrimitiveNode> node(new PrimitiveNode(*row, args, tensors));
  EdgeList edges(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_float(tensors[i]->dtype) && needs_gradient(tensors[i]))
      edges[i] = gradient_edge(tensors[i]);
  }
  node->take_edges(&edges);
  {
    NoGradScope no_grad;
    TN_TRY(run_primitive(kind, args, results));
  }
  Tensor* output = as_tensor(results[0].as.tensor);
  if (!is_float(output->dtype)) return nullptr;
  node->save_output(as_tensor(results[results.size() - 1].as.tensor),
                    static_cast<uint32_t>(results.size() - 1));
  note_forward(node.get(), args, call_device(args));
  set_history(output, node.get(), 0);
  return nullptr;
}

}  // namespace tenon
