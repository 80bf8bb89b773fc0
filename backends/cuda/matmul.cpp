// The primitive MATMUL. A matrix whose rows or columns are dense is read where it lies; any other is
// copied to the workspace first.
#include <algorithm>

#include "kernel.h"
#include "launch.h"
#include "product.h"

namespace cuda {
namespace {

// x [batch, rows, columns] as rows are counted; its transpose as columns are.
bool as_columns(const tn_tensor& x, ColumnMatrix* matrix) {
  const int64_t rows = x.sizes[1], columns = x.sizes[2];
  // The stride along a dimension of size 1 is never used.
  const int64_t row_step = rows == 1 ? columns : x.strides[1];
  const int64_t column_step = columns == 1 ? rows : x.strides[2];
  const int64_t batch_step = x.sizes[0] == 1 ? 0 : x.strides[0];
  if ((columns == 1 || column_step == 1) && row_step >= columns) {
    *matrix = {x.data, columns, rows, row_step, batch_step, false};
  } else if ((rows == 1 || row_step == 1) && column_step >= rows) {
    *matrix = {x.data, rows, columns, column_step, batch_step, true};
  } else {
    return false;
  }
  return batch_step >= 0;
}

// The matrix where it lies, or its copy in rows.
tn_status* read_matrix(const tn_call* call, const Stream& stream, const tn_tensor& x,
                       ColumnMatrix* matrix) {
  if (as_columns(x, matrix)) return nullptr;
  tn_tensor dense = x, *output = &dense;
  const int64_t strides[] = {x.sizes[1] * x.sizes[2], x.sizes[2], 1};
  dense.strides = strides;
  const auto bytes = static_cast<uint64_t>(x.numel) * item_size(x.dtype);
  TN_CUDA_TRY(host->workspace(call, bytes, &dense.data));
  tn_value from = {TN_KIND_TENSOR};
  from.as.tensor = const_cast<tn_tensor*>(&x);
  tn_call copying = *call;
  copying.args = &from;
  copying.n_args = 1;
  copying.outputs = &output;
  TN_CUDA_TRY(copy(&copying, stream));
  as_columns(dense, matrix);
  return nullptr;
}

}  // namespace

tn_status* matmul(const tn_call* call, const Stream& stream) {
  const tn_tensor& y = *call->outputs[0];
  Product p = {{}, y.dtype, y.sizes[0]};
  TN_CUDA_TRY(read_matrix(call, stream, *call->args[1].as.tensor, &p.matrices[0]));
  TN_CUDA_TRY(read_matrix(call, stream, *call->args[0].as.tensor, &p.matrices[1]));
  p.matrices[2] = dense(y.data, y.sizes[1], y.sizes[2]);
  p.matrices[2].batch_step = y.sizes[1] * y.sizes[2];
  // Larger batches are not always taken: a grid has no more blocks in its other dimensions.
  constexpr int64_t kMostBatch = 65535;
  for (int64_t rest = p.batch; rest > 0; rest -= kMostBatch) {
    p.batch = std::min(rest, kMostBatch);
    TN_CUDA_TRY(multiply(call, stream, p));
    for (ColumnMatrix& m : p.matrices)
      m.data = static_cast<const char*>(m.data) + kMostBatch * m.batch_step * item_size(y.dtype);
  }
  return nullptr;
}

}  // namespace cuda
