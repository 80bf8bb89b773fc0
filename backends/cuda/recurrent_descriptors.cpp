#include "recurrent_descriptors.h"

namespace cuda {
namespace {

size_t bytes_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

struct TensorDescriptor {
  cudnnTensorDescriptor_t made = nullptr;
  TensorDescriptor() = default;
  TensorDescriptor(const TensorDescriptor&) = delete;
  ~TensorDescriptor() {
    if (made) cudnn.cudnnDestroyTensorDescriptor(made);
  }
};

// Pieces that follow each other on both sides are one.
void append(std::vector<WeightPiece>* pieces, const WeightPiece& piece) {
  if (!pieces->empty()) {
    WeightPiece& last = pieces->back();
    if (last.weight == piece.weight && last.from + last.bytes == piece.from &&
        last.to + last.bytes == piece.to) {
      last.bytes += piece.bytes;
      return;
    }
  }
  pieces->push_back(piece);
}

}  // namespace

// An exception behind the other constructor runs the destructor.
RecurrentDescriptors::RecurrentDescriptors(const Recurrent& of) : RecurrentDescriptors(of, {}) {
  describe_layer();
  describe_rows(&x, of.features);
  describe_rows(&y, of.width);
  describe_state(&h, of.width);
  if (of.mode == CUDNN_LSTM) describe_state(&c, of.hidden);
}

RecurrentDescriptors::~RecurrentDescriptors() {
  if (layer) cudnn.cudnnDestroyRNNDescriptor(layer);
  for (cudnnRNNDataDescriptor_t rows : {x, y}) {
    if (rows) cudnn.cudnnDestroyRNNDataDescriptor(rows);
  }
  for (cudnnTensorDescriptor_t state : {h, c}) {
    if (state) cudnn.cudnnDestroyTensorDescriptor(state);
  }
}

bool Checks::check(const char* entry, cudnnStatus_t result) {
  if (result != CUDNN_STATUS_SUCCESS && why_.empty()) {
    why_ = cudnn_words(entry, result);
    lacks_memory_ = cuda::lacks_memory(result);
  }
  return result == CUDNN_STATUS_SUCCESS;
}

// The standard algorithm is the only one that takes all sizes and lengths, and it adds in one order: the
// persistent ones take some of them, on some GPUs. Without dropout there is no state of random numbers.
void RecurrentDescriptors::describe_layer() {
  const bool is_half = of_.type == CUDNN_DATA_HALF || of_.type == CUDNN_DATA_BFLOAT16;
  const cudnnMathType_t math = is_half        ? CUDNN_TENSOR_OP_MATH
                               : of_.is_exact ? CUDNN_FMA_MATH
                                              : CUDNN_DEFAULT_MATH;
  if (!TN_CUDNN_CHECK(checks_, cudnnCreateRNNDescriptor, &layer)) return;
  TN_CUDNN_CHECK(checks_, cudnnSetRNNDescriptor_v8, layer, CUDNN_RNN_ALGO_STANDARD, of_.mode,
                 of_.has_biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS, CUDNN_UNIDIRECTIONAL,
                 CUDNN_LINEAR_INPUT, of_.type, is_half ? CUDNN_DATA_FLOAT : of_.type, math,
                 of_.features, of_.hidden, of_.width, /*numLayers=*/1, /*dropoutDesc=*/nullptr,
                 CUDNN_RNN_PADDED_IO_DISABLED);
}

// Packed rows are those of the ops: the rows of one step behind those of another. Equal lengths are a
// case of them.
void RecurrentDescriptors::describe_rows(cudnnRNNDataDescriptor_t* descriptor, int32_t width) {
  if (!TN_CUDNN_CHECK(checks_, cudnnCreateRNNDataDescriptor, descriptor)) return;
  TN_CUDNN_CHECK(checks_, cudnnSetRNNDataDescriptor, *descriptor, of_.type,
                 CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, of_.steps, of_.n, width,
                 of_.lengths.data(), /*paddingFill=*/nullptr);
}

void RecurrentDescriptors::describe_state(cudnnTensorDescriptor_t* descriptor, int32_t width) {
  const int sizes[] = {1, of_.n, width}, strides[] = {of_.n * width, width, 1};
  if (!TN_CUDNN_CHECK(checks_, cudnnCreateTensorDescriptor, descriptor)) return;
  TN_CUDNN_CHECK(checks_, cudnnSetTensorNdDescriptor, *descriptor, of_.type, 3, sizes, strides);
}

RecurrentDescriptors::Sizes RecurrentDescriptors::find_sizes(cudnnHandle_t handle, bool is_training,
                                                             Checks* checks) const {
  Sizes sizes;
  TN_CUDNN_CHECK(*checks, cudnnGetRNNWeightSpaceSize, handle, layer, &sizes.weights);
  TN_CUDNN_CHECK(*checks, cudnnGetRNNTempSpaceSizes, handle, layer,
                 is_training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, x,
                 &sizes.workspace, &sizes.reserve);
  return sizes;
}

// Is what cuDNN describes a dense matrix of that shape? A vector has one column.
bool RecurrentDescriptors::find_matrix(cudnnTensorDescriptor_t descriptor, int32_t rows,
                                       int32_t columns, Checks* checks) const {
  cudnnDataType_t type = of_.type;
  int n = 0, sizes[3] = {}, strides[3] = {};
  if (!TN_CUDNN_CHECK(*checks, cudnnGetTensorNdDescriptor, descriptor, 3, &type, &n, sizes,
                      strides))
    return false;
  if (n == 3 && type == of_.type && sizes[0] == 1 && sizes[1] == rows && sizes[2] == columns &&
      (rows == 1 || strides[1] == columns) && (columns == 1 || strides[2] == 1))
    return true;
  checks->refuse("cuDNN keeps weights in another form");
  return false;
}

std::vector<WeightPiece> RecurrentDescriptors::find_weights(cudnnHandle_t handle, size_t bytes,
                                                            const void* space,
                                                            Checks* checks) const {
  std::vector<WeightPiece> pieces;
  TensorDescriptor matrix, bias;
  TN_CUDNN_CHECK(*checks, cudnnCreateTensorDescriptor, &matrix.made);
  TN_CUDNN_CHECK(*checks, cudnnCreateTensorDescriptor, &bias.made);
  const auto base = reinterpret_cast<uintptr_t>(space);
  const int32_t gates = of_.gates(), count = 2 * gates + (of_.width < of_.hidden ? 1 : 0);
  // By the weights, so that pieces of one follow each other.
  std::vector<WeightPiece> biases;
  for (int32_t id = 0; id < count && checks->is_whole(); ++id) {
    const bool is_projection = id == 2 * gates, is_input = id < gates;
    const int32_t rows = is_projection ? of_.width : of_.hidden;
    const int32_t columns = is_projection ? of_.hidden : is_input ? of_.features : of_.width;
    void *of_matrix = nullptr, *of_bias = nullptr;
    TN_CUDNN_CHECK(*checks, cudnnGetRNNWeightParams, handle, layer, /*pseudoLayer=*/0, bytes, space,
                   id, matrix.made, &of_matrix, bias.made, &of_bias);
    if (!find_matrix(matrix.made, rows, columns, checks)) break;
    const auto gate = static_cast<uint64_t>(is_projection ? 0 : id % gates);
    const uint64_t of_gate = static_cast<uint64_t>(rows) * bytes_of(of_.type);
    const uint64_t size = of_gate * static_cast<uint64_t>(columns);
    append(&pieces, {is_projection ? kProjection
                     : is_input    ? kInput
                                   : kHidden,
                     gate * size, reinterpret_cast<uintptr_t>(of_matrix) - base, size});
    if (is_projection || !of_.has_biases || !find_matrix(bias.made, rows, 1, checks)) continue;
    append(&biases, {is_input ? kInputBias : kHiddenBias, gate * of_gate,
                     reinterpret_cast<uintptr_t>(of_bias) - base, of_gate});
  }
  pieces.insert(pieces.end(), biases.begin(), biases.end());
  return pieces;
}

}  // namespace cuda
