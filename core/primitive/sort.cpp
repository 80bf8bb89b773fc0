// The sort primitive: values and where they were. A device without a kernel counts for each element
// how many come before it.
#include <algorithm>

#include "primitive/convert.h"
#include "primitive/elementwise.h"
#include "registry/expressions.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// Comparisons at once, so that the work of long rows does not fill the memory.
constexpr int64_t kComparisons = int64_t{1} << 22;

// Below autograd, and no call of its own.
Status run_one(tn_primitive kind, std::initializer_list<tn_value> args, TensorRef* result) {
  const Op& op = *primitive_op(kind);
  std::vector<tn_value> complete(op.defaults);
  std::copy(args.begin(), args.end(), complete.begin());
  Tensor* made;
  TN_TRY(op.row->run(complete, &made));
  *result = TensorRef(made);
  return nullptr;
}

// Does element y at j come before element x at i? NaN is the greatest; equal elements stay in
// order.
const Op& comes_before(bool descending) {
  static constexpr const char* kSchema = "before(Tensor x, Tensor y, Tensor i, Tensor j) -> Tensor";
  return descending
             ? formula(kSchema,
                       "let same = (x == y) | (isnan(x) & isnan(y))\n"
                       "int((y > x) | (isnan(y) & logical_not(isnan(x))) | (same & (j < i)))")
             : formula(kSchema,
                       "let same = (x == y) | (isnan(x) & isnan(y))\n"
                       "int((y < x) | (isnan(x) & logical_not(isnan(y))) | (same & (j < i)))");
}

// x [rows, n] with n > 0: for columns [begin, end) the number of elements that come before each,
// [rows, end - begin].
Status count_before(Tensor* x, Tensor* positions, bool descending, int64_t begin, int64_t end,
                    TensorRef* ranks) {
  const int64_t rows = x->sizes[0], n = x->sizes[1];
  const auto part = [&](Tensor* t, std::span<const int64_t> sizes, TensorRef* result) -> Status {
    TensorRef slice;
    TN_TRY(run_one(
        TN_PRIM_SLICE,
        {tensor_value(t), int_value(t->ndim - 1), int_value(begin), int_value(end), int_value(1)},
        &slice));
    return run_one(TN_PRIM_RESHAPE, {tensor_value(slice.get()), ints_value(sizes)}, result);
  };
  TensorRef mine, mine_at, others;
  const int64_t own[3] = {rows, end - begin, 1}, own_at[3] = {1, end - begin, 1},
                all[3] = {rows, 1, n};
  TN_TRY(part(x, own, &mine));
  TN_TRY(part(positions, own_at, &mine_at));
  TN_TRY(run_one(TN_PRIM_RESHAPE, {tensor_value(x), ints_value(all)}, &others));
  tn_tensor* const operands[4] = {mine.get(), others.get(), mine_at.get(), positions};
  const int64_t last = 2;
  return run_one(TN_PRIM_REDUCE,
                 {int_value(TN_REDUCE_SUM), tensors_value(operands), ints_value({&last, 1}),
                  bool_value(false), expression_value(comes_before(descending))},
                 ranks);
}

// x is row-major and dim is the last.
Status sort_by_counting(Tensor* x, bool descending, TensorRef* values, TensorRef* indices) {
  const int64_t n = x->sizes[x->ndim - 1], rows = x->numel / n;
  const int64_t flat[2] = {rows, n};
  TensorRef rows_of, keys, positions, ranks, spread;
  TN_TRY(run_one(TN_PRIM_RESHAPE, {tensor_value(x), ints_value(flat)}, &rows_of));
  Tensor* made;
  keys = rows_of;
  if (x->dtype == TN_BOOL) {  // which formulas do not order; every device has int32
    TN_TRY(copy_to(rows_of.get(), x->device, TN_INT32, &made));
    keys = TensorRef(made);
  }
  TN_TRY(run_one(
      TN_PRIM_IOTA,
      {int_value(n), int_value(0), int_value(1), dtype_value(TN_INT64), device_value(x->device)},
      &positions));
  TN_TRY(empty_tensor(flat, TN_INT64, x->device, &made));
  ranks = TensorRef(made);
  const int64_t step = std::clamp<int64_t>(kComparisons / (rows * n), 1, n);
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t end = std::min(n, begin + step);
    TensorRef some, place;
    TN_TRY(count_before(keys.get(), positions.get(), descending, begin, end, &some));
    TN_TRY(run_one(
        TN_PRIM_SLICE,
        {tensor_value(ranks.get()), int_value(1), int_value(begin), int_value(end), int_value(1)},
        &place));
    TN_TRY(copy_into(place.get(), some.get()));
  }
  TN_TRY(run_one(TN_PRIM_EXPAND, {tensor_value(positions.get()), ints_value(flat)}, &spread));
  const auto place = [&](Tensor* sources, TensorRef* result) -> Status {
    TN_TRY(run_one(
        TN_PRIM_SCATTER,
        {tensor_value(sources), int_value(1), tensor_value(ranks.get()), tensor_value(sources)},
        result));
    return run_one(TN_PRIM_RESHAPE, {tensor_value(result->get()), ints_value(x->size_span())},
                   result);
  };
  TN_TRY(place(rows_of.get(), values));
  return place(spread.get(), indices);
}

}  // namespace

Status sort_without_kernel(Values args, std::span<Tensor* const> outputs) {
  Tensor* x = tensor_at(args, 0);
  const int64_t dim = int_at(args, 1);
  // The dimension goes to the end, and back.
  std::vector<int64_t> order;
  for (int64_t d = 0; d < x->ndim; ++d) {
    if (d != dim) order.push_back(d);
  }
  order.push_back(dim);
  std::vector<int64_t> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int64_t>(d);
  TensorRef moved;
  TN_TRY(run_one(TN_PRIM_PERMUTE, {tensor_value(x), ints_value(order)}, &moved));
  Tensor* dense;
  TN_TRY(contiguous(moved.get(), &dense));
  const TensorRef hold(dense);
  TensorRef sorted[2];
  TN_TRY(sort_by_counting(dense, bool_at(args, 2), &sorted[0], &sorted[1]));
  for (size_t i = 0; i < 2; ++i) {
    TensorRef view;
    TN_TRY(run_one(TN_PRIM_PERMUTE, {tensor_value(sorted[i].get()), ints_value(back)}, &view));
    TN_TRY(copy_into(outputs[i], view.get()));
  }
  return nullptr;
}

Status run_sort(Values args, Tensor** results) {
  Tensor* x = tensor_at(args, 0);
  int32_t dim;
  TN_TRY(wrap_dim("sort", int_at(args, 1), x->ndim, &dim));
  Tensor* made[2];
  TN_TRY(empty_tensor(x->size_span(), x->dtype, x->device, &made[0]));
  TensorRef values(made[0]);
  TN_TRY(empty_tensor(x->size_span(), TN_INT64, x->device, &made[1]));
  TensorRef indices(made[1]);
  if (x->ndim == 0) {
    TN_TRY(copy_into(made[0], x));
    TN_TRY(fill(made[1], int_value(0)));
  } else if (x->numel > 0) {
    const tn_value call[3] = {tensor_value(x), int_value(dim), args[2]};
    TN_TRY(launch_primitive(TN_PRIM_SORT, x->device, call, made));
  }
  results[0] = values.take();
  results[1] = indices.take();
  return nullptr;
}

}  // namespace tenon
