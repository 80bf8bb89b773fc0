// tenon check: arguments for an op, drawn by its schema.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "check.h"
#include "face.h"

namespace tenon::cli::conformance {

// What one draw of arguments has in common; the same number gives the same call on every device.
class Draw {
 public:
  explicit Draw(uint64_t state) : state_(state) {}
  uint64_t next();
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }

 private:
  uint64_t state_;
};

// The arguments of one call, with what they borrow.
class Arguments {
 public:
  // `place` gives the values of tensors, `draw` all else. An Error where the schema has an argument
  // that nothing is drawn for.
  Arguments(const FaceSchema& schema, Place& place, Draw draw, bool is_of_matrices,
            bool takes_gradients);
  // What the op gives, and behind it what it wrote to.
  TensorList call(const tn_op* op) const;
  const TensorList& leaves() const { return leaves_; }

 private:
  tn_value value(const FaceArgument& argument);
  tn_value tensor(const FaceArgument& argument);
  tn_value list(const FaceArgument& argument, const std::string& element);
  tn_value ints(Sizes list);
  tn_value text(const std::string& text);
  tn_value fallback(const FaceArgument& argument);
  Sizes sizes_for(const std::string& name);
  Sizes list_for(const std::string& name);
  int64_t int_for(const std::string& name);
  Tensor made(const std::string& name);

  Place& place_;
  Draw draw_;
  bool is_of_matrices_, takes_gradients_;
  Sizes theme_;  // what most tensors of the call are like
  Range range_;
  size_t n_tensors_ = 0, n_results_ = 0;
  std::vector<tn_value> values_;
  TensorList written_, leaves_, held_;
  std::deque<Sizes> held_ints_;
  std::deque<std::vector<double>> held_floats_;
  std::deque<std::vector<tn_tensor*>> held_lists_;
  std::deque<std::string> held_texts_;
};

size_t count_results(const FaceSchema& schema);

}  // namespace tenon::cli::conformance
