// tenon check: cases that run on the device under test and on another one, and what became of them.
// A file check_*.cpp has the cases of a subject; check.cpp has the command and prints the report.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>

#include "check_tolerance.h"

namespace tenon::cli::conformance {

using TensorList = std::vector<Tensor>;
using Sizes = std::vector<int64_t>;

// How the elements of an operand lie in memory. All are views of one upload, so no kernel of the
// device makes them.
enum class Layout { contiguous, permuted, stepped, offset, expanded };
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::permuted, Layout::stepped,
                                      Layout::offset, Layout::expanded};
const char* name_of(Layout layout);

enum class Range {
  unit,      // -1 to 1; whole numbers -20 to 20, without sign 0 to 20
  positive,  // 0.05 to 1; whole numbers 1 to 20
  few,       // a few values that repeat
  wide,      // -2 to 2
};

inline constexpr Dtype kDtypes[] = {float32, float64, float16, bfloat16, int64,
                                    int32,   int16,   int8,    uint8,    bool_};
// Those that no backend may leave out.
inline bool is_required(Dtype dtype) {
  return dtype == float32 || dtype == int64 || dtype == int32 || dtype == bool_;
}

// What no integer holds, and what is cut to one.
inline const std::vector<double> kOdd = {NAN,  INFINITY, -INFINITY, 1e30, -1e30, 3e9,
                                         -3e9, 300.75,   -2.5,      0.5,  -0.5,  -0.0};

// Where one run of a case computes, and what it draws: in each run of a case the same values, in
// the dtype of the case. A run that is widened has its floats as float64.
class Place {
 public:
  Place(Device device, Dtype dtype, bool is_widened, uint64_t seed)
      : device_(device), dtype_(dtype), is_widened_(is_widened), seed_(seed) {}
  Device device() const { return device_; }
  // In which floats are computed here, where a call names a dtype.
  Dtype dtype() const { return as_computed(dtype_); }
  Dtype as_computed(Dtype dtype) const { return is_widened_ && dtype.is_float() ? float64 : dtype; }
  uint64_t draw() { return splitmix(); }

  Tensor tensor(const Sizes& sizes, Layout layout = Layout::contiguous, Range range = Range::unit) {
    return tensor_of(dtype_, sizes, layout, range);
  }
  Tensor tensor_of(Dtype dtype, const Sizes& sizes, Layout layout = Layout::contiguous,
                   Range range = Range::unit);
  // int64, from 0 to n - 1. `differ`: all different along this dimension.
  Tensor indices(const Sizes& sizes, int64_t n, Layout layout = Layout::contiguous,
                 int64_t differ = -1);
  // The values of a tensor on the cpu.
  Tensor put(const Tensor& host, Layout layout = Layout::contiguous) const;

 private:
  uint64_t splitmix();
  Device device_;
  Dtype dtype_;
  bool is_widened_;
  uint64_t seed_;
};

struct Failure {
  std::string name, what;
  double difference = 0;  // the largest; 0 where it is not one of numbers
};

struct Group {
  std::string name;
  int64_t passed = 0, failed = 0, refused = 0;
  std::vector<Failure> failures;
  // The reason, and the cases that were refused for it.
  std::map<std::string, std::vector<std::string>> refusals;
  double seconds = 0;
  int64_t cases() const { return passed + failed + refused; }
};

// What a case throws where something is wrong.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The device is lost, or is not what it should be: no further case makes sense.
struct Ended : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Settings {
  Device device, oracle;
  uint64_t seed = 1;
  std::string only;  // a part of the names of cases; "": all
};

class Checks {
 public:
  explicit Checks(Settings settings) : settings_(std::move(settings)) {}
  const Settings& settings() const { return settings_; }
  Device device() const { return settings_.device; }

  using Calls = std::function<TensorList(Place&)>;
  // `f` on the device, against the same on the other device in float64.
  struct Comparison {
    Dtype dtype = float32;
    Tolerance tolerance = {};
    bool of_op =
        false;  // by the rule of whole ops, and no closer than the other device in this dtype
    bool same_dtype = false;  // nothing is widened: the values are random, or bits
    bool is_part =
        false;  // an op that others are made of: what it asks of arguments its kernels say
    bool must_be_there = false;  // a refusal is a failure
    size_t n_values = SIZE_MAX;  // the results behind these are gradients
  };
  void compare(const std::string& name, const Comparison& how, const Calls& f);
  // `f` throws Wrong, or an Error, where something is wrong.
  void expect(const std::string& name, const std::function<void(Place&)>& f);

  // A new group; ends the one before.
  void begin(const std::string& group);
  void end();
  std::vector<Group>& groups() { return groups_; }
  std::function<void(const Group&)> on_end;
  std::vector<std::string> uncalled;  // ops that took none of the arguments that were drawn

 private:
  bool takes(const std::string& name);
  uint64_t seed_of(const std::string& name) const;
  void fail_case(const std::string& name, const std::string& what, double difference = 0);
  void settle();
  void refuse_case(const std::string& name, const std::string& message);
  void take_error(const std::string& name, const Error& error, bool must_be_there);

  Settings settings_;
  std::vector<Group> groups_;
  bool is_open_ = false;
  double began_ = 0;
  std::vector<uint64_t> live_;  // bytes of each index, as the group began
};

// "[2, 3]".
std::string sizes_text(const Sizes& sizes);
// Throws Wrong.
void expect_equal(const Tensor& found, const Tensor& expected, const std::string& what);

// The subjects, in the order in which they are tried.
void check_device(Checks& checks);
void check_elementwise(Checks& checks);
void check_reductions(Checks& checks);
void check_moves(Checks& checks);
void check_indices(Checks& checks);
void check_ops(Checks& checks);
void check_training(Checks& checks);

}  // namespace tenon::cli::conformance
