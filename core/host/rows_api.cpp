// rows/1.
#include "host/tables.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

tn_status* make(tn_tensor* indices, tn_tensor* values, int64_t n_rows, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("rows: indices", indices));
    TN_TRY(expect_tensor("rows: values", values));
    TN_TRY(expect_place("rows", result));
    Tensor* made;
    TN_TRY(make_rows(as_tensor(indices), as_tensor(values), n_rows, &made));
    *result = made;
    return nullptr;
  });
}

tn_status* parts(const tn_tensor* t, tn_tensor** indices, tn_tensor** values) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given_tensor("rows: parts", t));
    TN_TRY(expect_place("rows: parts", indices));
    TN_TRY(expect_place("rows: parts", values));
    if (!is_rows(as_tensor(t)))
      return invalid("rows: parts of {}; expected a row-sparse tensor", tensor_text(t));
    const RowParts* rows = rows_of(as_tensor(t));
    *indices = TensorRef(rows->indices).take();
    *values = TensorRef(rows->values).take();
    return nullptr;
  });
}

}  // namespace

const tn_rows_api* rows_api() {
  static const tn_rows_api table = {sizeof(tn_rows_api), make, parts};
  return &table;
}

}  // namespace tenon
