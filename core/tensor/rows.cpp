#include "tensor/rows.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace tenon {

Status make_rows(Tensor* indices, Tensor* values, int64_t n_rows, Tensor** result) {
  const bool fit = indices->ndim == 1 && indices->dtype == TN_INT64 && values->ndim >= 1 &&
                   values->sizes[0] == indices->numel && indices->device == values->device;
  if (!fit || is_rows(values)) {
    return invalid("rows: indices are {}, values {}; expected int64 [n] and [n, ...] on one device",
                   tensor_text(indices), tensor_text(values));
  }
  if (values->requires_grad() || indices->requires_grad()) {
    return error(TN_FAILED_PRECONDITION,
                 "rows: the values ({}) need a gradient, and a row-sparse tensor has none: detach "
                 "them (no gradient of a row-sparse gradient can be taken)",
                 tensor_text(values));
  }
  int64_t sizes[TN_MAX_RANK], numel;
  std::copy_n(values->sizes, values->ndim, sizes);
  sizes[0] = n_rows;
  const std::span<const int64_t> shape(sizes, static_cast<size_t>(values->ndim));
  TN_TRY(count_elements("rows", shape, values->dtype, &numel));
  auto* parts = new RowParts;
  parts->device = values->device;
  parts->destroy = [](tn_storage* s) { delete static_cast<RowParts*>(s); };
  parts->indices = TensorRef::retaining(indices);
  parts->values = TensorRef::retaining(values);
  const int64_t nowhere[TN_MAX_RANK] = {};
  Tensor* t = make_tensor(parts, shape, nowhere, 0, values->dtype);
  t->flags = TN_TENSOR_LEAF | TN_TENSOR_ROWS;
  *result = t;
  return nullptr;
}

Status refuse_rows(const std::string& what, const Tensor* t) {
  return invalid("{} is {}; expected one that is not row-sparse, as to_dense() makes it", what,
                 tensor_text(t));
}

}  // namespace tenon
