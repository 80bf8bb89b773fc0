// The sort primitive: values and where they were. A device without a kernel counts for each element
// how many come before it.
#include <algorithm>

#include "dispatch/convert.h"
#include "dispatch/elementwise.h"
#include "dispatch/expressions.h"
#include "dispatch/primitives.h"
#include "memory/memory.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// Comparisons at once, so that the work of long rows does not fill the memory.
constexpr int64_t kComparisons = int64_t{1} << 22;

tn_value ints_value(std::span<const int64_t> list) {
  tn_value v{};
  v.kind = TN_KIND_INTS;
  v.count = static_cast<uint32_t>(list.size());
  v.as.ints = list.data();
  return v;
}

Status run_one(tn_primitive kind, std::span<const tn_value> args, TensorRef* result) {
  tn_value made{};
  TN_TRY(run_primitive(kind, args, {&made, 1}));
  *result = TensorRef(as_tensor(made.as.tensor));
  return nullptr;
}

// Does element y at j come before element x at i? NaN is the greatest; equal elements stay in
// order.
const tn_expression* comes_before(bool descending) {
  const auto parsed = [](const char* text) {
    const tn_expression* e;
    throw_if(
        intern_expression("before(Tensor x, Tensor y, Tensor i, Tensor j) -> Tensor", text, &e));
    return e;
  };
  static const tn_expression* const ascending = parsed(
      "let same = (x == y) | (isnan(x) & isnan(y))\n"
      "int((y < x) | (isnan(x) & logical_not(isnan(y))) | (same & (j < i)))");
  static const tn_expression* const falling = parsed(
      "let same = (x == y) | (isnan(x) & isnan(y))\n"
      "int((y > x) | (isnan(y) & logical_not(isnan(x))) | (same & (j < i)))");
  return descending ? falling : ascending;
}

// x [rows, n] with n > 0: for columns [begin, end) the number of elements that come before each,
// [rows, end - begin].
Status count_before(Tensor* x, Tensor* positions, bool descending, int64_t begin, int64_t end,
                    TensorRef* ranks) {
  const int64_t rows = x->sizes[0], n = x->sizes[1];
  const auto part = [&](Tensor* t, std::span<const int64_t> sizes, TensorRef* result) -> Status {
    TensorRef slice;
    const tn_value cut[5] = {tensor_value(t), int_value(t->ndim - 1), int_value(begin),
                             int_value(end), int_value(1)};
    TN_TRY(run_one(TN_PRIM_SLICE, cut, &slice));
    const tn_value shape[2] = {tensor_value(slice.get()), ints_value(sizes)};
    return run_one(TN_PRIM_RESHAPE, shape, result);
  };
  TensorRef mine, mine_at, others;
  const int64_t own[3] = {rows, end - begin, 1}, own_at[3] = {1, end - begin, 1},
                all[3] = {rows, 1, n};
  TN_TRY(part(x, own, &mine));
  TN_TRY(part(positions, own_at, &mine_at));
  const tn_value shape[2] = {tensor_value(x), ints_value(all)};
  TN_TRY(run_one(TN_PRIM_RESHAPE, shape, &others));
  tn_tensor* operands[4] = {mine.get(), others.get(), mine_at.get(), positions};
  tn_value list{};
  list.kind = TN_KIND_TENSORS;
  list.count = 4;
  list.as.tensors = operands;
  tn_value expression{};
  expression.kind = TN_KIND_EXPRESSION;
  expression.as.expression = comes_before(descending);
  const int64_t last = 2;
  const tn_value args[5] = {int_value(TN_REDUCE_SUM), list, ints_value({&last, 1}),
                            bool_value(false), expression};
  return run_one(TN_PRIM_REDUCE, args, ranks);
}

// x is row-major and dim is the last.
Status sort_by_counting(Tensor* x, bool descending, Tensor** results) {
  const int64_t n = x->sizes[x->ndim - 1], rows = x->numel / n;
  const int64_t flat[2] = {rows, n};
  const tn_value shape[2] = {tensor_value(x), ints_value(flat)};
  TensorRef rows_of, keys, positions, ranks, sorted, indices;
  TN_TRY(run_one(TN_PRIM_RESHAPE, shape, &rows_of));
  Tensor* made;
  keys = rows_of;
  if (x->dtype == TN_BOOL) {  // which formulas do not order
    TN_TRY(copy_to(rows_of.get(), x->device, TN_UINT8, &made));
    keys = TensorRef(made);
  }
  tn_value device{}, dtype{};
  device.kind = TN_KIND_DEVICE;
  device.as.device = x->device;
  dtype.kind = TN_KIND_DTYPE;
  dtype.as.dtype = TN_INT64;
  const tn_value count[5] = {int_value(n), int_value(0), int_value(1), dtype, device};
  TN_TRY(run_one(TN_PRIM_IOTA, count, &positions));
  TN_TRY(empty_tensor(flat, TN_INT64, x->device, &made));
  ranks = TensorRef(made);
  const int64_t step = std::clamp<int64_t>(kComparisons / (rows * n), 1, n);
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t end = std::min(n, begin + step);
    TensorRef some, place;
    TN_TRY(count_before(keys.get(), positions.get(), descending, begin, end, &some));
    const tn_value cut[5] = {tensor_value(ranks.get()), int_value(1), int_value(begin),
                             int_value(end), int_value(1)};
    TN_TRY(run_one(TN_PRIM_SLICE, cut, &place));
    TN_TRY(copy_into(place.get(), some.get()));
  }
  TensorRef spread;
  const tn_value wide[2] = {tensor_value(positions.get()), ints_value(flat)};
  TN_TRY(run_one(TN_PRIM_EXPAND, wide, &spread));
  const auto place = [&](Tensor* values, TensorRef* result) -> Status {
    const tn_value args[4] = {tensor_value(values), int_value(1), tensor_value(ranks.get()),
                              tensor_value(values)};
    TN_TRY(run_one(TN_PRIM_SCATTER, args, result));
    const tn_value back[2] = {tensor_value(result->get()), ints_value(x->size_span())};
    return run_one(TN_PRIM_RESHAPE, back, result);
  };
  TN_TRY(place(rows_of.get(), &sorted));
  TN_TRY(place(spread.get(), &indices));
  results[0] = sorted.take();
  results[1] = indices.take();
  return nullptr;
}

}  // namespace

Status run_sort(const PrimitiveArgs& args, Tensor** results) {
  Tensor* x = args.tensor(0, "x");
  const bool descending = args.boolean(2, "descending", false);
  int32_t dim;
  TN_TRY(wrap_dim("sort", args.integer(1, "dim"), x->ndim, &dim));
  const bool counts = x->numel > 0 && x->ndim > 0 && x->device.type != TN_DEVICE_META &&
                      !has_primitive(TN_PRIM_SORT, x->device);
  if (counts) {
    // The dimension goes to the end, and back.
    std::vector<int64_t> order;
    for (int64_t d = 0; d < x->ndim; ++d) {
      if (d != dim) order.push_back(d);
    }
    order.push_back(dim);
    std::vector<int64_t> back(order.size());
    for (size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int64_t>(d);
    TensorRef moved;
    const tn_value permute[2] = {tensor_value(x), ints_value(order)};
    TN_TRY(run_one(TN_PRIM_PERMUTE, permute, &moved));
    Tensor* dense;
    TN_TRY(contiguous(moved.get(), &dense));
    TensorRef hold(dense);
    Tensor* made[2];
    TN_TRY(sort_by_counting(dense, descending, made));
    TensorRef sorted[2] = {TensorRef(made[0]), TensorRef(made[1])};
    for (TensorRef& t : sorted) {
      TensorRef view;
      const tn_value undo[2] = {tensor_value(t.get()), ints_value(back)};
      TN_TRY(run_one(TN_PRIM_PERMUTE, undo, &view));
      TN_TRY(copy_to(view.get(), x->device, TN_DTYPE_NONE, &made[0]));
      t = TensorRef(made[0]);
    }
    for (int i = 0; i < 2; ++i) results[i] = sorted[i].take();
    return nullptr;
  }
  Tensor* made[2];
  TN_TRY(empty_tensor(x->size_span(), x->dtype, x->device, &made[0]));
  TensorRef values(made[0]);
  TN_TRY(empty_tensor(x->size_span(), TN_INT64, x->device, &made[1]));
  TensorRef indices(made[1]);
  if (x->ndim == 0) {
    TN_TRY(copy_into(made[0], x));
    TN_TRY(fill(made[1], int_value(0)));
  } else if (x->numel > 0 && x->device.type != TN_DEVICE_META) {
    const tn_value call[3] = {tensor_value(x), int_value(dim), bool_value(descending)};
    const Kernel* kernel;
    TN_TRY(primitive_kernel(TN_PRIM_SORT, x->device, call, nullptr, &kernel));
    TN_TRY(launch(*kernel, nullptr, x->device, call, {made, 2}));
  }
  results[0] = values.take();
  results[1] = indices.take();
  return nullptr;
}

}  // namespace tenon
