// The values of a graph of the fake cuDNN while its operations are run.
#pragma once

#include <map>
#include <vector>

#include "cudnn_descriptor.h"

namespace fake {

// An element as a number, and back.
double number(const char* at, cudnnDataType_t type);
void put(char* at, cudnnDataType_t type, double value);

// each(i, place): the elements in row-major order, and where each lies, in bytes.
template <class Each>
void for_each(const Tensor& t, const Each& each) {
  std::vector<int64_t> at(t.sizes.size(), 0);
  const auto bytes = static_cast<int64_t>(bytes_of(t.type));
  const int64_t n = t.numel();
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d) place += at[d] * t.strides[d];
    each(static_cast<size_t>(i), place * bytes);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < t.sizes[d]) break;
      at[d] = 0;
    }
  }
}

// The values of tensors while a graph is run, in row-major order.
struct Run {
  const Memory& memory;
  const std::map<int64_t, double>& numbers;  // of the host
  const bool rounds;
  std::map<int64_t, std::vector<double>> between;  // of virtual tensors

  std::vector<double> get(const Descriptor& descriptor) const {
    const Tensor t(descriptor);
    if (descriptor.is_virtual()) return between.at(t.id);
    if (descriptor.is_number()) return {numbers.at(t.id)};
    const char* data = memory.at(t.id);
    std::vector<double> all(static_cast<size_t>(t.numel()));
    for_each(t, [&](size_t i, int64_t place) { all[i] = number(data + place, t.type); });
    return all;
  }
  void set(const Descriptor& descriptor, const std::vector<double>& values) {
    const Tensor t(descriptor);
    if (descriptor.is_virtual()) {
      std::vector<double>& kept = between[t.id];
      kept.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        alignas(8) char element[8];
        put(element, t.type, values[i]);
        kept[i] = number(element, t.type);
      }
      return;
    }
    char* data = memory.at(t.id);
    for_each(t, [&](size_t i, int64_t place) { put(data + place, t.type, values[i]); });
  }
};

// Where the element of an operand is that broadcasts to element i of `to`.
size_t broadcast(const Tensor& operand, const Tensor& to, size_t i);

// One operation, all but convolutions.
void run_pointwise(Run& run, const Descriptor& operation);
void run_product(Run& run, const Descriptor& operation);
void run_reduction(Run& run, const Descriptor& operation);
void run_reshape(Run& run, const Descriptor& operation);

}  // namespace fake
