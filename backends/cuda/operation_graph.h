// Operation graphs of cuDNN and the plans that execute them. A graph is described by descriptors, each
// of which is a bag of attributes; heuristics propose configurations of engines for it, and the first
// that keeps Tenon's promises becomes the plan. Needs the table of cudnn.h and no device: a plan can be
// made for a device that is described by a text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cudnn.h"

namespace cuda {

// Where plans run: on the device of a handle; or on one that is described, where handle is NULL.
struct Target {
  cudnnHandle_t handle = nullptr;
  cudnnBackendDescriptor_t device = nullptr;
};

struct Attribute {
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  const void* values;
};

// How the search for a plan went.
struct Search {
  std::string why;  // there is none
  // Something failed for want of memory or within cuDNN, and not because it is not supported: another
  // search may end otherwise, also where this one has a plan.
  bool may_pass = false;
  bool lacks_memory = false;  // it was for want of memory
};

// Descriptors that live together. The first failure is kept, and what follows it does nothing.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  ~Descriptors();

  // With these attributes, finalized. NULL: it failed.
  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type,
                                std::initializer_list<Attribute> attributes);
  // Without attributes, to be filled by cuDNN.
  cudnnBackendDescriptor_t make_empty(cudnnBackendDescriptorType_t type);
  void destroy(cudnnBackendDescriptor_t descriptor);

  bool is_whole() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  void forgive() { why_.clear(); }
  // What calls that failed until now mean for a search.
  Search search() const { return {why_, may_pass_, lacks_memory_}; }
  void note(cudnnStatus_t result);

 private:
  bool check(const char* entry, cudnnStatus_t result);

  std::vector<cudnnBackendDescriptor_t> made_;
  std::string why_;
  bool may_pass_ = false, lacks_memory_ = false;
};

// A tensor of a graph: sizes and strides in elements.
struct GraphTensor {
  int64_t id;
  cudnnDataType_t type;
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
  bool is_virtual = false;   // lies in no memory: between two operations
  bool is_by_value = false;  // a number of the host
};
inline constexpr int64_t kGraphAlignment = 16;  // bytes, of every tensor
cudnnBackendDescriptor_t make_tensor(Descriptors& descriptors, const GraphTensor& tensor);

// The graph of some operations.
cudnnBackendDescriptor_t make_graph(Descriptors& descriptors, const Target& target,
                                    const std::vector<cudnnBackendDescriptor_t>& operations);

// The tensors of a graph, by their numbers, that lie in memory; and the addresses of numbers of the
// host, which are read at once.
struct GraphData {
  static constexpr int64_t kMost = 16;
  int64_t ids[kMost];
  const void* data[kMost];
  int64_t n = 0;

  void add(int64_t id, const void* address) {
    ids[n] = id;
    data[n++] = address;
  }
};

// A plan is executed by one thread at a time, with any handle of its device.
class Plan {
 public:
  int64_t workspace = 0;  // bytes
  std::string notes;      // of its engine, by cuDNN's names
  std::mutex mutex;       // held while it is executed

  // The first configuration that heuristics propose, the fallback's last, whose engine adds in one
  // order, does not add halves in halves, and, where `exact`, does not round float32 before
  // products, and which wants at most so much workspace. `graph` is one of `parts`, which the plan keeps. NULL: there is none.
  static std::unique_ptr<Plan> choose(std::unique_ptr<Descriptors> parts,
                                      cudnnBackendDescriptor_t graph, const Target& target,
                                      bool exact, int64_t most_workspace, Search* search);
  // From `json`. NULL where it does not fit cuDNN's version or the device.
  static std::unique_ptr<Plan> read(const std::string& json, const Target& target, Search* search);
  // As cuDNN writes it; empty where it cannot.
  std::string json() const;

  // Puts it on the stream of the handle. Empty: done; else what failed, and whether it was for want of
  // memory.
  std::string execute(cudnnHandle_t handle, const GraphData& data, void* workspace_data,
                      bool* lacks_memory);

 private:
  bool finish(std::initializer_list<Attribute> attributes, const Target& target);

  std::unique_ptr<Descriptors> parts_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace cuda
