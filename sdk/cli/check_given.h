// tenon check: ops that get the arguments that stand here, since none that fit are drawn.
#pragma once

#include <string>
#include <vector>

#include "check.h"

namespace tenon::cli::conformance {

// The arguments of one call: what it writes to is compared with its results, and what asks for a
// gradient has one where gradients are tried.
class Given {
 public:
  Given(Place& place, bool takes_gradients) : place_(place), takes_gradients_(takes_gradients) {}
  Place& place() { return place_; }
  const TensorList& leaves() const { return leaves_; }
  const TensorList& written_to() const { return written_; }

  Tensor x(const Sizes& sizes);
  Tensor matrix(int64_t n);  // [n, n], symmetric and positive
  // To be written to: of positive values, a number of steps, and as it is.
  Tensor written(const Sizes& sizes);
  Tensor counted(double steps);
  Tensor held(const Tensor& host);

 private:
  Place& place_;
  bool takes_gradients_;
  TensorList leaves_, written_;
};

struct GivenCall {
  std::vector<std::string> ops;  // the one that is called, and parts that it is made of
  TensorList (*call)(Given&);
};
const std::vector<GivenCall>& given_calls();

}  // namespace tenon::cli::conformance
