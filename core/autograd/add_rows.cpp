// Sums in which a gradient is row-sparse.
#include <algorithm>

#include "autograd/accumulate.h"
#include "autograd/prim.h"
#include "memory/memory.h"
#include "primitive/convert.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

// All rows of several row-sparse tensors, one after the other.
Status join_rows(std::span<const Tensor* const> all, TensorRef* joined) {
  const Tensor* like = rows_of(all[0])->values.get();
  int64_t sizes[TN_MAX_RANK];
  std::copy_n(like->sizes, like->ndim, sizes);
  sizes[0] = 0;
  for (const Tensor* t : all) sizes[0] += rows_of(t)->indices->numel;
  Tensor* made;
  TN_TRY(empty_tensor({sizes, 1}, TN_INT64, like->device, &made));
  const TensorRef indices(made);
  TN_TRY(empty_tensor({sizes, static_cast<size_t>(like->ndim)}, like->dtype, like->device, &made));
  const TensorRef values(made);
  int64_t begin = 0;
  for (const Tensor* t : all) {
    const int64_t end = begin + rows_of(t)->indices->numel;
    TN_TRY(
        copy_into(prim::slice(indices.get(), 0, begin, end, 1).get(), rows_of(t)->indices.get()));
    TN_TRY(copy_into(prim::slice(values.get(), 0, begin, end, 1).get(), rows_of(t)->values.get()));
    begin = end;
  }
  TN_TRY(make_rows(indices.get(), values.get(), all[0]->sizes[0], &made));
  *joined = TensorRef(made);
  return nullptr;
}

TensorRef add_to_dense(Tensor* dense, const Tensor* rows) {
  Tensor* values = rows_of(rows)->values.get();
  int64_t column[TN_MAX_RANK];
  std::fill_n(column, values->ndim, 1);
  column[0] = values->sizes[0];
  const std::span<const int64_t> line(column, static_cast<size_t>(values->ndim));
  const TensorRef index =
      prim::expand(prim::reshape(rows_of(rows)->indices.get(), line).get(), values->size_span());
  return prim::scatter(dense, 0, index.get(), values, /*add=*/true);
}

}  // namespace

Status add_rows_into(TensorRef* grad, std::span<Tensor* const> terms, bool create_graph) {
  SmallVector<const Tensor*, 1 + kMaxTerms> sparse;
  TensorRef dense;
  const auto add = [&](Tensor* t) -> Status {
    if (is_rows(t)) {
      sparse.push_back(t);
      return nullptr;
    }
    if (dense) return add_into(&dense, {&t, 1}, create_graph);
    dense = TensorRef::retaining(t);
    return nullptr;
  };
  TN_TRY(add(grad->get()));
  for (Tensor* t : terms) TN_TRY(add(t));
  return guarded([&]() -> Status {
    if (!dense) return join_rows({sparse.data(), sparse.size()}, grad);
    for (const Tensor* t : sparse) dense = add_to_dense(dense.get(), t);
    *grad = std::move(dense);
    return nullptr;
  });
}

bool are_unseen(const Tensor* rows) {
  if (!rows->retained_once() || rows->storage->refs.load(std::memory_order_acquire) != 1)
    return false;
  for (const Tensor* t : {rows_of(rows)->indices.get(), rows_of(rows)->values.get()}) {
    const bool alone = t->base == nullptr || t->base->retained_once();
    const uint32_t holders = t->base == nullptr ? 1 : 2;
    if (!t->retained_once() || !alone ||
        t->storage->refs.load(std::memory_order_acquire) != holders)
      return false;
  }
  return true;
}

}  // namespace tenon
