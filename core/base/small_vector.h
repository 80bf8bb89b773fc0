// A vector whose first elements need no heap: for what is small in nearly every call.
#pragma once

#include <span>

#include <boost/container/small_vector.hpp>

namespace tenon {

// Boost 1.74's iterators do not say that they are contiguous, so the spans are said here.
template <typename T, size_t kInline>
class SmallVector : public boost::container::small_vector<T, kInline> {
 public:
  using boost::container::small_vector<T, kInline>::small_vector;
  operator std::span<T>() { return {this->data(), this->size()}; }
  operator std::span<const T>() const { return {this->data(), this->size()}; }
};

}  // namespace tenon
