// cuDNN 9: its entries in one table, which is filled at the first convolution, attention or recurrent
// layer. The interface of operation graphs is used, and that of recurrent layers, which no graph can
// say. Without the library these ops go elsewhere.
#pragma once

#include <cudnn_adv.h>
#include <cudnn_graph.h>

#include <string>

#include "driver.h"

namespace cuda {

#define TN_CUDA_CUDNN(ROW)           \
  ROW(cudnnGetVersion)               \
  ROW(cudnnGetCudartVersion)         \
  ROW(cudnnGetErrorString)           \
  ROW(cudnnGetLastErrorString)       \
  ROW(cudnnCreate)                   \
  ROW(cudnnSetStream)                \
  ROW(cudnnGraphVersionCheck)        \
  ROW(cudnnBackendCreateDescriptor)  \
  ROW(cudnnBackendDestroyDescriptor) \
  ROW(cudnnBackendSetAttribute)      \
  ROW(cudnnBackendGetAttribute)      \
  ROW(cudnnBackendFinalize)          \
  ROW(cudnnBackendExecute)           \
  ROW(cudnnAdvVersionCheck)          \
  ROW(cudnnCreateTensorDescriptor)   \
  ROW(cudnnDestroyTensorDescriptor)  \
  ROW(cudnnSetTensorNdDescriptor)    \
  ROW(cudnnGetTensorNdDescriptor)    \
  ROW(cudnnCreateRNNDescriptor)      \
  ROW(cudnnDestroyRNNDescriptor)     \
  ROW(cudnnSetRNNDescriptor_v8)      \
  ROW(cudnnCreateRNNDataDescriptor)  \
  ROW(cudnnDestroyRNNDataDescriptor) \
  ROW(cudnnSetRNNDataDescriptor)     \
  ROW(cudnnGetRNNWeightSpaceSize)    \
  ROW(cudnnGetRNNTempSpaceSizes)     \
  ROW(cudnnGetRNNWeightParams)       \
  ROW(cudnnRNNForward)               \
  ROW(cudnnRNNBackwardData_v8)       \
  ROW(cudnnRNNBackwardWeights_v8)

struct Cudnn {
  TN_CUDA_CUDNN(TN_CUDA_MEMBER)
};
extern Cudnn cudnn;

// Opens the library, once. Empty where it is whole, else why it cannot be used, as in "no cuDNN
// (libcudnn.so.9 was not found)".
const std::string& why_no_cudnn();

// Likewise for recurrent layers, which are in a library of their own.
const std::string& why_no_recurrent();

// Is cuDNN in use? Opens nothing.
bool is_cudnn_open();

// Tells the log, whose reader sees no slower convolution otherwise.
void log_no_cudnn(const std::string& why);

template <>
inline bool lacks_memory(cudnnStatus_t result) {
  return result == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
         result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}

// What a failed call says: the entry, the status, and cuDNN's last words on this thread.
std::string cudnn_words(const char* entry, cudnnStatus_t result);

}  // namespace cuda
