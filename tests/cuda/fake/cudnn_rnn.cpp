// The entries of the fake cuDNN for descriptors of recurrent layers, and for the descriptors of tensors that
// only these take. A descriptor is checked when it is set, as the real library was seen to check it. One
// layer in one direction of packed sequences, by the standard algorithm, is computed (cudnn_rnn_calls.cpp);
// what else the library takes ends the process.
#include <algorithm>
#include <mutex>
#include <set>

#include "cudnn_rnn_descriptor.h"

namespace {

using fake::bad;
using fake::die;
using fake::find;
using fake::layer_of;
using fake::Rnn;
using fake::unsupported;

std::mutex mutex;
auto& live = *new std::set<const void*>;
int64_t n_made = 0;

template <class T>
cudnnStatus_t make(T** descriptor) {
  const std::lock_guard lock(mutex);
  ++n_made;
  live.insert(*descriptor = new T);
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t destroy(T* descriptor) {
  delete &find(descriptor);
  const std::lock_guard lock(mutex);
  live.erase(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

bool is_half(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
}
bool is_float(cudnnDataType_t type) {
  return is_half(type) || type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE;
}

}  // namespace

namespace fake {

void expect_rnn_descriptor(const void* descriptor) {
  const std::lock_guard lock(mutex);
  if (!live.contains(descriptor)) die("a descriptor that was destroyed, or never made");
}

Rnn layer_of(const cudnnRNNStruct& d) {
  return {d.mode,
          d.type,
          d.biases == CUDNN_RNN_DOUBLE_BIAS,
          d.type == CUDNN_DATA_FLOAT && d.math != CUDNN_FMA_MATH,
          d.features,
          d.hidden,
          d.width,
          {}};
}
Rnn layer_of(const cudnnRNNStruct& d, const cudnnRNNDataStruct& x) {
  Rnn rnn = layer_of(d);
  rnn.lengths = x.lengths;
  return rnn;
}
size_t workspace_of(const Rnn& rnn) { return static_cast<size_t>(4096 + 40 * rnn.rows()); }

}  // namespace fake

#pragma GCC visibility push(default)
extern "C" {

// What NVIDIA's library does not have: how many descriptors of these kinds were made, and how many live.
void tenon_fake_rnn_descriptors(int64_t* made, int64_t* living) {
  const std::lock_guard lock(mutex);
  *made = n_made;
  *living = static_cast<int64_t>(live.size());
}

cudnnStatus_t cudnnAdvVersionCheck() {
  ENTER(cudnnAdvVersionCheck);
  return CUDNN_STATUS_SUCCESS;
}

// How a kind of descriptor is made and destroyed.
#define DESCRIPTOR(name, Type)                        \
  cudnnStatus_t cudnnCreate##name(Type* descriptor) { \
    ENTER(cudnnCreate##name);                         \
    return make(descriptor);                          \
  }                                                   \
  cudnnStatus_t cudnnDestroy##name(Type descriptor) { \
    ENTER(cudnnDestroy##name);                        \
    return destroy(descriptor);                       \
  }
DESCRIPTOR(TensorDescriptor, cudnnTensorDescriptor_t)
DESCRIPTOR(RNNDescriptor, cudnnRNNDescriptor_t)
DESCRIPTOR(RNNDataDescriptor, cudnnRNNDataDescriptor_t)

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                         int n, const int sizes[], const int strides[]) {
  ENTER(cudnnSetTensorNdDescriptor);
  if (n > CUDNN_DIM_MAX) return unsupported("too many dimensions");
  if (n < 1 || std::any_of(sizes, sizes + n, [](int size) { return size < 1; }))
    return bad("a size below 1");
  find(descriptor) = {type, {sizes, sizes + n}, {strides, strides + n}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t descriptor, int wanted,
                                         cudnnDataType_t* type, int* n, int sizes[],
                                         int strides[]) {
  ENTER(cudnnGetTensorNdDescriptor);
  const cudnnTensorStruct& d = find(descriptor);
  *type = d.type;
  *n = static_cast<int>(d.sizes.size());
  std::copy_n(d.sizes.begin(), std::min(*n, wanted), sizes);
  std::copy_n(d.strides.begin(), std::min(*n, wanted), strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t descriptor, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t biases,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,
                                       cudnnDataType_t type, cudnnDataType_t compute,
                                       cudnnMathType_t math, int32_t features, int32_t hidden,
                                       int32_t width, int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  ENTER(cudnnSetRNNDescriptor_v8);
  cudnnRNNStruct& d = find(descriptor);
  if (algorithm < 0 || algorithm >= CUDNN_RNN_ALGO_COUNT) return bad("no such algorithm");
  if (mode < CUDNN_RNN_RELU || mode > CUDNN_GRU) return bad("no such cell");
  if (biases < CUDNN_RNN_NO_BIAS || biases > CUDNN_RNN_SINGLE_REC_BIAS) return bad("no such bias");
  if (features < 1 || hidden < 1 || layers < 1) return bad("a size below 1");
  if (width < 1) return bad("projSize <= 0");
  if ((flags & ~CUDNN_RNN_PADDED_IO_ENABLED) != 0) return bad("no such flag");
  if (width > hidden || (mode != CUDNN_LSTM && width != hidden))
    return unsupported("a projection to so many");
  const bool fits = type == CUDNN_DATA_HALF
                        ? compute == CUDNN_DATA_HALF || compute == CUDNN_DATA_FLOAT
                    : type == CUDNN_DATA_BFLOAT16 ? compute == CUDNN_DATA_FLOAT
                                                  : compute == type;
  if (!is_float(type) || !fits) return unsupported("types that do not go together");
  if (algorithm != CUDNN_RNN_ALGO_STANDARD || direction != CUDNN_UNIDIRECTIONAL ||
      input != CUDNN_LINEAR_INPUT || layers != 1 || dropout != nullptr ||
      (is_half(type) && compute != CUDNN_DATA_FLOAT) ||
      (biases != CUDNN_RNN_NO_BIAS && biases != CUDNN_RNN_DOUBLE_BIAS))
    die("a recurrent layer that the fake does not compute");
  d = {true, mode, biases, type, math, features, hidden, width};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int n, int width,
                                        const int lengths[], void*) {
  ENTER(cudnnSetRNNDataDescriptor);
  cudnnRNNDataStruct& d = find(descriptor);
  if (steps < 1 || n < 1 || width < 1) return bad("a size below 1");
  if (!lengths) return bad("no lengths");
  if (layout < 0 || layout > CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED)
    return bad("no such layout");
  if (!is_float(type)) return unsupported("no such type of rows");
  const std::vector<int> all(lengths, lengths + n);
  for (const int length : all) {
    if (length < 0 || length > steps) return bad("a length that is none");
  }
  if (*std::max_element(all.begin(), all.end()) != steps) return bad("no sequence has all steps");
  if (*std::min_element(all.begin(), all.end()) == 0) return bad("a sequence of no steps");
  if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) die("rows that the fake does not compute");
  if (!std::is_sorted(all.rbegin(), all.rend())) return bad("lengths that grow");
  d = {true, type, width, all};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         size_t* bytes) {
  ENTER(cudnnGetRNNWeightSpaceSize);
  if (!fake::is_handle(handle)) return bad("no such handle");
  if (!find(rnn).is_set) return bad("a descriptor is not set");
  *bytes = static_cast<size_t>(layer_of(find(rnn)).weight_bytes());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        size_t* workspace, size_t* reserve) {
  ENTER(cudnnGetRNNTempSpaceSizes);
  if (!fake::is_handle(handle)) return bad("no such handle");
  const cudnnRNNStruct& d = find(rnn);
  const cudnnRNNDataStruct& rows = find(x);
  if (!d.is_set || !rows.is_set) return bad("a descriptor is not set");
  if (d.type != rows.type || d.features != rows.width) return bad("rows of another form");
  const Rnn all = layer_of(d, rows);
  *workspace = fake::workspace_of(all);
  *reserve = mode == CUDNN_FWD_MODE_TRAINING ? static_cast<size_t>(all.reserve_bytes()) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                      int32_t pseudo_layer, size_t bytes, const void* space,
                                      int32_t id, cudnnTensorDescriptor_t matrix, void** of_matrix,
                                      cudnnTensorDescriptor_t bias, void** of_bias) {
  ENTER(cudnnGetRNNWeightParams);
  if (!fake::is_handle(handle)) return bad("no such handle");
  const Rnn all = layer_of(find(rnn));
  if (!space || bytes != static_cast<size_t>(all.weight_bytes())) return bad("no space of weights");
  if (pseudo_layer != 0 || id < 0 || id > 2 * all.gates()) return bad("no such linear layer");
  const Rnn::Place place = all.place(id);
  char* const base = static_cast<char*>(const_cast<void*>(space));
  const int rows = static_cast<int>(place.rows), columns = static_cast<int>(place.columns);
  find(matrix) = {};
  find(bias) = {};
  *of_matrix = *of_bias = nullptr;
  if (place.matrix >= 0) {
    find(matrix) = {all.type, {1, rows, columns}, {rows * columns, columns, 1}};
    *of_matrix = base + place.matrix;
  }
  if (place.bias >= 0) {
    find(bias) = {all.type, {1, rows, 1}, {rows, 1, 1}};
    *of_bias = base + place.bias;
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
