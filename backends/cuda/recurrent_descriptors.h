// What cuDNN is told of one recurrent layer in one direction: descriptors, how much memory it wants, and
// where it keeps each weight. Needs the table of cudnn.h and no device, but for what takes a handle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudnn.h"

namespace cuda {

// The weights of a layer, as the ops have them. cuDNN has the same order of gates.
enum RecurrentWeight { kInput, kHidden, kInputBias, kHiddenBias, kProjection, kRecurrentWeights };

struct Recurrent {
  cudnnRNNMode_t mode = CUDNN_LSTM;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool has_biases = true;
  bool is_exact = true;             // float32 is not rounded to TF32
  int32_t features = 1;             // of a row of the input
  int32_t hidden = 1, width = 1;    // of c, and of h, which is narrower with a projection
  int32_t steps = 1, n = 1;         // n: sequences
  std::vector<int32_t> lengths{1};  // of each sequence, the longest first

  int32_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
};

// Some bytes of a weight, and where they lie in cuDNN's space of weights.
struct WeightPiece {
  RecurrentWeight weight;
  uint64_t from, to, bytes;
};

// How calls of cuDNN that follow each other went. The first failure is kept, and what follows it does
// nothing.
class Checks {
 public:
  bool is_whole() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  bool check(const char* entry, cudnnStatus_t result);
  void refuse(const char* why) { why_ = why; }
  // Was the failure one for want of memory?
  bool lacks_memory() const { return lacks_memory_; }

 private:
  std::string why_;
  bool lacks_memory_ = false;
};

// Descriptors that live together, and what cuDNN says of them. Of those that are whole, the functions that
// take a handle change nothing, and tell `checks` how they went.
class RecurrentDescriptors {
 public:
  // `of` lives as long.
  explicit RecurrentDescriptors(const Recurrent& of);
  RecurrentDescriptors(const RecurrentDescriptors&) = delete;
  ~RecurrentDescriptors();

  // The bytes that a call wants; the reserve is what a training's forward leaves for the backward.
  struct Sizes {
    size_t weights = 0, workspace = 0, reserve = 0;
  };
  Sizes find_sizes(cudnnHandle_t handle, bool is_training, Checks* checks) const;
  // `space`: the memory that the weights will lie in, which is not touched.
  std::vector<WeightPiece> find_weights(cudnnHandle_t handle, size_t bytes, const void* space,
                                        Checks* checks) const;

  const Checks& checks() const { return checks_; }
  bool is_whole() const { return checks_.is_whole(); }
  const std::string& why() const { return checks_.why(); }

  cudnnRNNDescriptor_t layer = nullptr;
  cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
  cudnnTensorDescriptor_t h = nullptr, c = nullptr;  // c: of an LSTM

 private:
  struct Undescribed {};
  RecurrentDescriptors(const Recurrent& of, Undescribed) : of_(of) {}
  void describe_layer();
  void describe_rows(cudnnRNNDataDescriptor_t* descriptor, int32_t width);
  void describe_state(cudnnTensorDescriptor_t* descriptor, int32_t width);
  bool find_matrix(cudnnTensorDescriptor_t descriptor, int32_t rows, int32_t columns,
                   Checks* checks) const;

  const Recurrent& of_;
  Checks checks_;
};

// Calls an entry of cuDNN and keeps how it failed: TN_CUDNN_CHECK(checks, cudnnSetStream, ...).
#define TN_CUDNN_CHECK(checks, entry, ...) \
  ((checks).is_whole() && (checks).check(#entry, ::cuda::cudnn.entry(__VA_ARGS__)))

}  // namespace cuda
