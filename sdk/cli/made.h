// Items that are made when a loop comes to them. std::views::iota and transform give the same, but clang 14 does not compile those of
// GCC 12's library.
#pragma once

#include <cstdint>
#include <utility>

namespace tenon::cli {

// make(first), make(first + 1) ... make(last - 1), each made anew whenever it is read. To be looped over, once or more.
template <typename Make>
class Made {
 public:
  class Iterator {
   public:
    Iterator(const Make* make, int64_t i) : make_(make), i_(i) {}
    auto operator*() const { return (*make_)(i_); }
    Iterator& operator++() { return ++i_, *this; }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }

   private:
    const Make* make_;
    int64_t i_;
  };

  Made(int64_t first, int64_t last, Make make)
      : first_(first), last_(last < first ? first : last), make_(std::move(make)) {}
  Iterator begin() const { return {&make_, first_}; }
  Iterator end() const { return {&make_, last_}; }

 private:
  int64_t first_, last_;
  Make make_;
};

}  // namespace tenon::cli
