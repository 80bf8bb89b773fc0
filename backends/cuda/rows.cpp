#include "rows.h"

#include <algorithm>
#include <bit>

#include "program_text.h"

namespace cuda {
namespace {

// As in kernels/rows.cuh, where a row is held.
constexpr int64_t kThreads = 256;
int64_t values_of(const RowShape& shape) {
  return shape.dtype == TN_FLOAT64 || shape.pack == 1 ? 4 : 16;
}

int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

// Elements between the last address that a pack may have and this one.
int64_t phase_of(const tn_tensor* t, int64_t pack) {
  const auto element = reinterpret_cast<uint64_t>(t->data) / item_size(t->dtype);
  return static_cast<int64_t>(element % static_cast<uint64_t>(pack));
}

// Do rows of all operands lie equally between the addresses that a pack may have?
bool takes_packs(const RowShape& shape, std::initializer_list<RowOperand> operands, int64_t pack) {
  int32_t k = 0;
  for (const RowOperand& operand : operands) {
    if (!operand.has_rows) break;
    if (shape.strides[k] != 1) return false;
    if (phase_of(operand.tensor, pack) != phase_of(operands.begin()->tensor, pack)) return false;
    for (int32_t d = 0; d < shape.dims.ndim; ++d) {
      if ((shape.dims.strides[k][d] - shape.dims.strides[0][d]) % pack != 0) return false;
    }
    ++k;
  }
  return shape.n >= pack;
}

// Elements in front of the first one that a row's first pack may have.
int64_t most_shift(const RowShape& shape) {
  bool is_aligned = shape.phase == 0;
  for (int32_t d = 0; d < shape.dims.ndim; ++d)
    is_aligned = is_aligned && shape.dims.strides[0][d] % shape.pack == 0;
  return is_aligned ? 0 : shape.pack - 1;
}

int64_t lanes_of(const RowShape& shape) {
  const int64_t values = values_of(shape);
  const int64_t wanted = power_of_two((shape.n + values - 1) / values);
  if (shape.is_across) return std::min<int64_t>(wanted, 8);
  const int64_t packs = power_of_two((shape.n + shape.pack - 1) / shape.pack);
  return std::min(std::max(wanted, std::min<int64_t>(packs, 32)), kThreads);
}

}  // namespace

RowShape row_shape(int64_t dim, std::initializer_list<RowOperand> operands) {
  RowShape shape;
  const tn_tensor* first = operands.begin()->tensor;
  if (dim < 0) dim += first->ndim;
  int64_t sizes[TN_MAX_RANK], strides[8][TN_MAX_RANK];
  Side sides[8] = {};
  int32_t ndim = 0, k = 0, n_rows = 0;
  for (int32_t d = 0; d < first->ndim; ++d) {
    if (d != dim) sizes[ndim++] = first->sizes[d];
  }
  shape.n = first->ndim > 0 ? first->sizes[dim] : 1;
  for (const RowOperand& operand : operands) {
    const tn_tensor* t = operand.tensor;
    for (int32_t d = 0, to = 0; d < t->ndim; ++d) {
      if (!operand.has_rows || d != dim) strides[k][to++] = t->strides[d];
    }
    if (operand.has_rows)
      shape.strides[n_rows++] = t->ndim > 0 && shape.n > 1 ? t->strides[dim] : 1;
    sides[k] = {t->data, strides[k]};
    ++k;
  }
  shape.dims = merged(ndim, sizes, sides, k);
  for (int32_t i = 0; i < n_rows; ++i)
    shape.dims.reach = std::max(shape.dims.reach, (shape.n - 1) * std::abs(shape.strides[i]));
  shape.dtype = first->dtype;
  const auto pack = static_cast<int32_t>(16 / item_size(shape.dtype));
  if (takes_packs(shape, operands, pack)) {
    shape.pack = pack;
    shape.phase = phase_of(first, pack);
    for (int32_t i = 0; i < n_rows; ++i)
      shape.dims.data[i] = static_cast<const char*>(shape.dims.data[i]) -
                           shape.phase * static_cast<int64_t>(item_size(shape.dtype));
  }
  const int32_t read = n_rows > 1 ? 1 : 0;  // the first that is read
  const int32_t last = shape.dims.ndim - 1;
  shape.is_across = last >= 0 && shape.strides[read] != 1 && shape.dims.strides[read][last] == 1;
  shape.lanes = lanes_of(shape);
  shape.is_held = shape.n + most_shift(shape) <= shape.lanes * values_of(shape);
  return shape;
}

TextKey RowShape::key() const {
  return TextKey(dtype, pack, is_held, dims.n_sides, dims.max_dims(), dims.is_wide());
}

std::string RowShape::text() const {
  return std::string("#include \"base.cuh\"\nusing Element = ") + element_name(dtype) +
         ";\nconstexpr int kPack = " + std::to_string(pack) +
         ";\nconstexpr bool kHeld = " + (is_held ? "true" : "false") +
         ";\nusing L = " + loop_type(dims) + ";\n";
}

void RowShape::add(Parameters& parameters) const {
  const bool is_wide = dims.is_wide();
  add_loop(parameters, dims);
  for (const int64_t stride : strides) parameters.add_index(stride, is_wide);
  for (const int64_t value : {n, lanes, int64_t{is_across}, phase})
    parameters.add_index(value, is_wide);
}

Grid RowShape::grid(int64_t most_blocks) const {
  constexpr int64_t kWarp = 32;  // no block has a part of one
  const int64_t threads =
      std::clamp(power_of_two(std::min(dims.n, kThreads)) * lanes, kWarp, kThreads);
  const int64_t slots = threads / lanes;
  return {std::min((dims.n + slots - 1) / slots, most_blocks), 1, static_cast<int32_t>(threads)};
}

// ---- Columns

namespace {

constexpr int64_t kMostWidth = 32;  // a warp reads neighbours

// Columns that fill 16 bytes, where rows are whole packs of them.
int64_t pack_of(int64_t n_columns, tn_dtype dtype, int64_t most = 8) {
  const auto pack = std::min(static_cast<int64_t>(16 / item_size(dtype)), most);
  return n_columns % pack == 0 ? pack : 1;
}

ColumnShape in_pieces(int64_t n_rows, int64_t n_columns, int64_t pack, int64_t rows_of_lane,
                      int64_t blocks) {
  const int64_t width = std::min(power_of_two(n_columns / pack), kMostWidth);
  ColumnShape shape = {n_rows, n_columns, pack, width, 0, 0};
  const int64_t lanes = kThreads / shape.width;
  const int64_t in_x = shape.grid().blocks;
  const int64_t wanted =
      std::clamp<int64_t>(std::min(n_rows / (lanes * rows_of_lane), blocks / in_x), 1, 65535);
  shape.piece = (n_rows + wanted - 1) / wanted;
  shape.pieces = (n_rows + shape.piece - 1) / shape.piece;
  return shape;
}

}  // namespace

ColumnShape column_sums_shape(int64_t n_rows, int64_t n_columns, tn_dtype dtype) {
  // What a thread keeps of more than 4 columns does not fit into its registers.
  return in_pieces(n_rows, n_columns, pack_of(n_columns, dtype, 4), 8, 512);
}
ColumnShape whole_columns_shape(int64_t n_rows, int64_t n_columns) {
  return in_pieces(n_rows, n_columns, 1, n_rows, 1);
}
ColumnShape column_pass_shape(int64_t n_rows, int64_t n_columns, tn_dtype dtype) {
  return in_pieces(n_rows, n_columns, pack_of(n_columns, dtype), 4, 4096);
}

std::string ColumnShape::text(tn_dtype dtype) const {
  return std::string("#include \"base.cuh\"\nusing I = ") + (is_wide() ? "long long" : "int") +
         ";\nusing Element = " + element_name(dtype) +
         ";\nconstexpr int kPack = " + std::to_string(pack) + ";\n";
}

void ColumnShape::add(Parameters& parameters) const {
  for (const int64_t value : {n_rows, n_columns, width, piece})
    parameters.add_index(value, is_wide());
}

int64_t scalar_bits(double number, tn_dtype dtype) {
  if (dtype == TN_FLOAT64) return std::bit_cast<int64_t>(number);
  return std::bit_cast<int32_t>(static_cast<float>(number));
}

Matrix::Matrix(const tn_tensor* x, int64_t n)
    : tensor_(*x), sizes_{n > 0 ? x->numel / n : 0, n}, strides_{n, 1} {
  tensor_.ndim = 2;
  tensor_.sizes = sizes_;
  tensor_.strides = strides_;
}

}  // namespace cuda
