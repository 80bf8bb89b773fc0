// Random numbers of the data: the order of a pass, and what is drawn for a sample. They follow from
// a seed alone and are not those of the program's random ops, so that workers draw the same whatever
// their number. Used by sampler.hpp, loader.hpp and datasets that augment.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {
namespace detail {

// SplitMix64 (Steele, Lea, Flood 2014): the same order on every machine and standard library.
inline uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace detail

// A sequence of random numbers. Copies go on by themselves. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t state) : state_(state) {}
  // Of the order of a pass.
  static Random of_pass(uint64_t seed, int64_t epoch) {
    return Random(detail::next_random(seed) + uint64_t(epoch));
  }
  // Of the sample at `place` in the order of a pass.
  static Random of_sample(uint64_t seed, int64_t epoch, int64_t place) {
    Random pass(of_pass(~seed, epoch).next());
    return Random(pass.next() ^ uint64_t(place) * 0xd6e8feb86659fd93u);
  }

  // Of the batch that begins at `place`: what its samples do not draw.
  static Random of_batch(uint64_t seed, int64_t epoch, int64_t place) {
    Random first = of_sample(seed, epoch, place);
    first.next();
    return Random(first.next());
  }

  uint64_t next() { return detail::next_random(state_); }
  // 0 to n - 1, n at least 1. The bias of % is below n * 2^-64.
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
  // From 0 to below 1, in steps of 2^-53.
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  bool chance(double p) { return uniform() < p; }
  // Fisher and Yates.
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[next() % i]);
  }

 private:
  uint64_t state_;
};

namespace detail {

// What random ops (`tn::rand`) draw from in the code of a dataset, a stream or a collate that has
// these numbers.
inline Generator generator_of(Random random) { return Generator(~random.next()); }

}  // namespace detail
}  // namespace data
}  // namespace v0
}  // namespace tenon
