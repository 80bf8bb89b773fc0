// The matmul primitive: kernels get three-dimensional operands on the host's stack, whatever the
// batch dimensions were.
#include <algorithm>

#include "base/text.h"
#include "primitive/convert.h"
#include "registry/expressions.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// A borrowed tensor of three dimensions over the memory of another.
struct Matrices {
  tn_tensor tensor;
  int64_t dims[6];  // sizes, strides
  TensorRef owner;  // a copy, where the batch dimensions could not be merged
};

void fill_matrices(const Tensor* t, int64_t batch, int64_t batch_stride, Matrices* m) {
  const int64_t* sizes = t->sizes + t->ndim - 2;
  const int64_t* strides = t->strides + t->ndim - 2;
  const int64_t dims[6] = {batch, sizes[0], sizes[1], batch_stride, strides[0], strides[1]};
  std::copy_n(dims, 6, m->dims);
  m->tensor = *t;
  m->tensor.sizes = m->dims;
  m->tensor.strides = m->dims + 3;
  m->tensor.ndim = 3;
  m->tensor.numel = batch * sizes[0] * sizes[1];
  m->tensor.flags = TN_TENSOR_BORROWED;
  const bool dense = (sizes[1] == 1 || strides[1] == 1) &&
                     (sizes[0] == 1 || strides[0] == sizes[1]) &&
                     (batch == 1 || batch_stride == sizes[0] * sizes[1]);
  if (dense) m->tensor.flags |= TN_TENSOR_CONTIGUOUS;
}

// The batch dimensions of t, broadcast to `batch`, as one dimension with one stride; where there is
// none, of a copy.
Status merge_batch(Tensor* t, std::span<const int64_t> batch, int64_t n_batch, Matrices* m) {
  const int32_t own = t->ndim - 2;
  const int32_t lead = static_cast<int32_t>(batch.size()) - own;
  int64_t stride = 0;  // of the merged dimension, the innermost that moves
  int64_t covered = 1;
  bool merges = true;
  for (int32_t d = static_cast<int32_t>(batch.size()); d-- > 0 && merges;) {
    if (batch[d] == 1) continue;
    const int64_t here = d < lead || t->sizes[d - lead] == 1 ? 0 : t->strides[d - lead];
    merges = covered == 1 || here == stride * covered;
    if (covered == 1) stride = here;
    covered *= batch[d];
  }
  if (merges) {
    fill_matrices(t, n_batch, stride, m);
    return nullptr;
  }
  int64_t sizes[TN_MAX_RANK];
  std::copy(batch.begin(), batch.end(), sizes);
  std::copy_n(t->sizes + own, 2, sizes + batch.size());
  Geometry g;
  TN_TRY(expand_geometry(t, {sizes, batch.size() + 2}, &g));
  TensorRef expanded(make_view_unchecked(t, g.size_span(), g.strides, g.offset));
  Tensor* dense;
  TN_TRY(copy_to(expanded.get(), t->device, TN_DTYPE_NONE, &dense));
  m->owner = TensorRef(dense);
  fill_matrices(dense, n_batch, sizes[batch.size()] * sizes[batch.size() + 1], m);
  return nullptr;
}

// Integers are multiplied and added by the reduction that every device has, and wrap as it does: a
// [.., m, 1, k] with b [.., 1, n, k].
Status integer_product(Tensor* a, Tensor* b, Tensor** result) {
  const auto with_row = [](Tensor* t, bool left) {
    int64_t sizes[TN_MAX_RANK], strides[TN_MAX_RANK];
    const int32_t batch = t->ndim - 2, rows = batch, columns = batch + 1;
    std::copy_n(t->sizes, batch, sizes);
    std::copy_n(t->strides, batch, strides);
    const int32_t kept = left ? rows : columns, folded = left ? columns : rows;
    sizes[batch] = left ? t->sizes[kept] : 1;
    sizes[batch + 1] = left ? 1 : t->sizes[kept];
    strides[batch] = left ? t->strides[kept] : 0;
    strides[batch + 1] = left ? 0 : t->strides[kept];
    sizes[batch + 2] = t->sizes[folded];
    strides[batch + 2] = t->strides[folded];
    return TensorRef(make_view_unchecked(t, {sizes, static_cast<size_t>(t->ndim) + 1}, strides,
                                         element_offset(t)));
  };
  if (std::max(a->ndim, b->ndim) == TN_MAX_RANK) {
    return invalid("matmul: a is {}, b is {}; expected at most {} dimensions of integers",
                   tensor_text(a), tensor_text(b), TN_MAX_RANK - 1);
  }
  const TensorRef x = with_row(a, true), y = with_row(b, false);
  const Op& product = formula("product(Tensor a, Tensor b) -> Tensor", "a * b");
  tn_tensor* const factors[2] = {x.get(), y.get()};
  static constexpr int64_t kLast = -1;
  const tn_value args[9] = {int_value(TN_REDUCE_SUM),
                            tensors_value(factors),
                            ints_value({&kLast, 1}),
                            bool_value(false),
                            expression_value(product),
                            {},
                            {},
                            {},
                            dtype_value(a->dtype)};
  return run_reduce(args, result);
}

// A call of matmul, read: the sizes of its output.
struct Product {
  Shape batch, sizes;
  int64_t m, k, n, numel;
};

Status broadcast_batch(const Tensor* a, const Tensor* b, Shape* batch) {
  const int32_t rank = std::max(a->ndim, b->ndim) - 2;
  batch->ndim = rank;
  std::fill_n(batch->sizes, rank, int64_t{1});
  for (const Tensor* t : {a, b}) {
    for (int32_t d = 0; d < t->ndim - 2; ++d) {
      int64_t& size = batch->sizes[rank - (t->ndim - 2) + d];
      if (size != t->sizes[d] && size != 1 && t->sizes[d] != 1) {
        return invalid("matmul: batch dimensions do not broadcast: a is {}, b is {} ({}, {})",
                       sizes_text(a), sizes_text(b), dtype_name(a->dtype), device_text(a->device));
      }
      if (size == 1) size = t->sizes[d];
    }
  }
  return nullptr;
}

// What the call gives, or why it is refused.
Status infer_matmul(const Tensor* a, const Tensor* b, Product* p) {
  const auto where = [&] {
    return fmt::format("({}, {})", dtype_name(a->dtype), device_text(a->device));
  };
  if (a->ndim < 2 || b->ndim < 2) {
    return invalid("matmul: a is {}, b is {} {}; expected at least 2 dimensions", sizes_text(a),
                   sizes_text(b), where());
  }
  if (!(a->device == b->device)) {
    return invalid("matmul: a is {}, b is {}; expected one device", tensor_text(a), tensor_text(b));
  }
  if (a->dtype != b->dtype || a->dtype == TN_BOOL) {
    return invalid("matmul: a is {}, b is {}; expected one dtype, of floats or integers",
                   tensor_text(a), tensor_text(b));
  }
  p->m = a->sizes[a->ndim - 2];
  p->k = a->sizes[a->ndim - 1];
  p->n = b->sizes[b->ndim - 1];
  if (p->k != b->sizes[b->ndim - 2]) {
    return invalid(
        "matmul: inner dimensions differ: a is {}, b is {} {}; expected b's dimension {} to be "
        "{}{}",
        sizes_text(a), sizes_text(b), where(), b->ndim - 2, p->k,
        p->n == p->k ? "; did you mean matmul(a, b.t())?" : "");
  }
  TN_TRY(broadcast_batch(a, b, &p->batch));
  p->sizes = p->batch;
  p->sizes.sizes[p->sizes.ndim++] = p->m;
  p->sizes.sizes[p->sizes.ndim++] = p->n;
  return count_elements("matmul", p->sizes.span(), a->dtype, &p->numel);
}

}  // namespace

Status run_matmul(Values args, Tensor** result) {
  Tensor *a = tensor_at(args, 0), *b = tensor_at(args, 1);
  Product p;
  TN_TRY(infer_matmul(a, b, &p));
  if (!is_float(a->dtype)) return integer_product(a, b, result);
  Tensor* made;
  TN_TRY(empty_tensor(p.sizes.span(), a->dtype, a->device, &made));
  TensorRef hold(made);
  if (p.numel > 0 && p.k == 0) {
    TN_TRY(fill(made, int_value(0)));
  } else if (p.numel > 0 && a->device.type != TN_DEVICE_META) {
    const int64_t n_batch = p.numel / (p.m * p.n);
    Matrices ma, mb, mc;
    TN_TRY(merge_batch(a, p.batch.span(), n_batch, &ma));
    TN_TRY(merge_batch(b, p.batch.span(), n_batch, &mb));
    fill_matrices(made, n_batch, p.m * p.n, &mc);
    const tn_value matrices[2] = {tensor_value(&ma.tensor), tensor_value(&mb.tensor)};
    // It is no Tensor, and only what is public of it, which comes first, is read below.
    Tensor* output = reinterpret_cast<Tensor*>(&mc.tensor);
    TN_TRY(launch_primitive(TN_PRIM_MATMUL, a->device, matrices, {&output, 1}));
  }
  *result = hold.take();
  return nullptr;
}

}  // namespace tenon
