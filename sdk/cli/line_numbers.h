// The numbers of the line of the result that is under way: they are part of a checkpoint, so that a
// training that goes on in the middle of a line tells, and decides, what it would have. Used by
// train.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tenon/object.hpp>

namespace tenon::cli {

class LineNumbers {
 public:
  struct Numbers {
    double loss;                     // the mean over the items
    std::optional<double> accuracy;  // where hits were counted
    int64_t items;
  };

  // After each step: its loss, a mean over so many items, and of classes how many were right, int64.
  // They are read later.
  void add(const Tensor& loss, int64_t items, const Tensor& right = {});
  // Of the line, and begins the next one.
  Numbers end();

  NamedTensors state_dict();
  void load_state_dict(const NamedTensors& state);

 private:
  struct Unread {
    Tensor loss, right;
    int64_t items;
  };
  void read();

  std::vector<Unread> unread_;
  double loss_ = 0;
  int64_t items_ = 0, right_ = 0;
  bool counts_right_ = false;
};

}  // namespace tenon::cli
