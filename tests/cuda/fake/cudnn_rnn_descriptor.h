// The descriptors of recurrent layers of the fake cuDNN, for the entries that set them and those that
// compute with them.
#pragma once

#include "cudnn_descriptor.h"
#include "cudnn_handle.h"
#include "cudnn_rnn.h"

struct cudnnRNNStruct {
  bool is_set = false;
  cudnnRNNMode_t mode;
  cudnnRNNBiasMode_t biases;
  cudnnDataType_t type;
  cudnnMathType_t math;
  int32_t features, hidden, width;
};

struct cudnnRNNDataStruct {
  bool is_set = false;
  cudnnDataType_t type;
  int32_t width;
  std::vector<int> lengths;
};

struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int> sizes, strides;
};

namespace fake {

// Ends the process where the descriptor does not live.
void expect_rnn_descriptor(const void* descriptor);
template <class T>
T& find(T* descriptor) {
  return expect_rnn_descriptor(descriptor), *descriptor;
}

inline cudnnStatus_t bad(const std::string& why) { return refuse(CUDNN_STATUS_BAD_PARAM, why); }
inline cudnnStatus_t unsupported(const std::string& why) {
  return refuse(CUDNN_STATUS_NOT_SUPPORTED, why);
}

// A layer without rows, of which the weights can be asked; and one with the rows of x.
Rnn layer_of(const cudnnRNNStruct& d);
Rnn layer_of(const cudnnRNNStruct& d, const cudnnRNNDataStruct& x);
size_t workspace_of(const Rnn& rnn);

}  // namespace fake
