// Descriptors of the fake cuDNN: bags of attributes whose names, types and numbers are checked when
// they are set, and whose meaning is checked when they are finalized.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fake {

struct Descriptor;
using Child = std::shared_ptr<Descriptor>;

struct Value {
  cudnnBackendAttributeType_t type;
  int64_t count = 0;
  std::string bytes;            // of numbers
  std::vector<Child> children;  // of descriptors
};

struct Descriptor {
  cudnnBackendDescriptorType_t type;
  bool is_final = false;
  std::map<cudnnBackendAttributeName_t, Value> values;
  int engine = -1;  // of a configuration or an engine: its number

  bool has(cudnnBackendAttributeName_t name) const { return values.contains(name); }
  // Of what was checked to be there.
  template <class T>
  T number(cudnnBackendAttributeName_t name) const {
    T value;
    std::memcpy(&value, values.at(name).bytes.data(), sizeof value);
    return value;
  }
  std::vector<int64_t> list(cudnnBackendAttributeName_t name) const {
    const Value& value = values.at(name);
    std::vector<int64_t> list(static_cast<size_t>(value.count));
    std::memcpy(list.data(), value.bytes.data(), value.bytes.size());
    return list;
  }
  const Descriptor& child(cudnnBackendAttributeName_t name) const {
    return *values.at(name).children.at(0);
  }
  // Of a tensor: it is a number of the host.
  bool is_number() const {
    return has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) && number<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  }
  // Of a tensor: it lies in no memory.
  bool is_virtual() const {
    return has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && number<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  }
};

// Ends the process: what no documented status stands for.
[[noreturn]] void die(const std::string& what);

// May the attribute be set so? Then the status is success.
cudnnStatus_t check_attribute(const Descriptor& of, cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t type, int64_t count);
// Is everything there, and does it fit together? Else the status, with the reason in `why`.
cudnnStatus_t check_whole(const Descriptor& of, std::string* why);

// A descriptor and its children as text, and back. NULL: the text is damaged.
void write(const Descriptor& from, std::string* to);
Child read(const char** at, const char* end);

size_t bytes_of(cudnnBackendAttributeType_t type);
size_t bytes_of(cudnnDataType_t type);

// One tensor of a graph.
struct Tensor {
  int64_t id;
  cudnnDataType_t type;
  std::vector<int64_t> sizes, strides;

  explicit Tensor(const Descriptor& of)
      : id(of.number<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        type(of.number<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
        sizes(of.list(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(of.list(CUDNN_ATTR_TENSOR_STRIDES)) {}
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return n;
  }
  // Bytes from its first element to behind its last.
  size_t reach() const;
};

// The names of the parts of a convolution's operation.
struct ConvolutionNames {
  cudnnBackendAttributeName_t convolution, x, weight, y, alpha, beta;
};
// NULL: no convolution.
const ConvolutionNames* convolution_names(cudnnBackendDescriptorType_t type);

// The memory of the tensors of a graph, by their numbers, where the host can touch it.
using Memory = std::map<int64_t, char*>;
// Does the operations of a graph in plain loops. `numbers` are those of the host; `rounds`: float32 is
// rounded to TF32 before the products of convolutions.
void run_graph(const Descriptor& graph, const Memory& memory,
               const std::map<int64_t, double>& numbers, bool rounds);

}  // namespace fake
