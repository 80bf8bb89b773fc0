// How kernels that are written with kernels/rows.cuh and kernels/columns.cuh are launched: which
// threads take which rows or columns.
#pragma once

#include <initializer_list>
#include <string>

#include "launch.h"

namespace cuda {

// An operand of such a kernel: one of the sizes of the others, or one without the dimension of the
// rows, which has one element for each row.
struct RowOperand {
  const tn_tensor* tensor;
  bool has_rows = true;
};

// Decided by sizes, strides and alignment alone.
struct RowShape {
  Dims dims;      // of the rows
  int64_t n = 1;  // elements of a row
  int64_t strides[4] = {};
  int64_t lanes = 1, phase = 0;
  bool is_across = false, is_held = false;
  int32_t pack = 1;
  tn_dtype dtype;  // of what has rows

  // What decides a text of such a kernel, and what the text states in front of its header.
  TextKey key() const;
  std::string text() const;
  // The struct Rows.
  void add(Parameters& parameters) const;
  Grid grid(int64_t most_blocks = 65535) const;
};

// Rows along `dim` of the first operand. Operands with rows come first, and all have its dtype.
RowShape row_shape(int64_t dim, std::initializer_list<RowOperand> operands);

// A tensor of [rows, n] in the place of one that is row-major.
class Matrix {
 public:
  Matrix(const tn_tensor* x, int64_t n);
  Matrix(const Matrix&) = delete;
  operator const tn_tensor*() const { return &tensor_; }

 private:
  tn_tensor tensor_;
  int64_t sizes_[2], strides_[2];
};

// ---- Columns of a row-major matrix (kernels/columns.cuh)

struct ColumnShape {
  int64_t n_rows, n_columns;
  int64_t pack;  // columns of a thread
  int64_t width, piece, pieces;

  bool is_wide() const { return n_rows * n_columns > int64_t{1} << 30; }
  // What a text states in front of its header: I, Element and kPack.
  TextKey key(tn_dtype dtype) const { return TextKey(dtype, is_wide(), pack); }
  std::string text(tn_dtype dtype) const;
  // The struct Columns.
  void add(Parameters& parameters) const;
  Grid grid() const { return {(n_columns / pack + width - 1) / width, pieces, 256}; }
};
// For sums of columns of this dtype, in pieces that are not many.
ColumnShape column_sums_shape(int64_t n_rows, int64_t n_columns, tn_dtype dtype);
// For what is folded whole, a column a thread.
ColumnShape whole_columns_shape(int64_t n_rows, int64_t n_columns);
// For a pass over the elements.
ColumnShape column_pass_shape(int64_t n_rows, int64_t n_columns, tn_dtype dtype);

// A number as the Scalar of a kernel whose values are those of the dtype.
int64_t scalar_bits(double number, tn_dtype dtype);

}  // namespace cuda
