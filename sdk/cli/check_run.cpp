// tenon check: runs cases and counts them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "check.h"
#include "check_watch.h"

namespace tenon::cli::conformance {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<uint64_t> live_bytes(Device device) {
  std::vector<uint64_t> bytes;
  for (const Device& one : Device::all()) {
    if (one.value.type != device.value.type) continue;
    one.synchronize();
    bytes.push_back(one.memory_allocated());
  }
  return bytes;
}

Sizes sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

// What is wrong with a result, "" for nothing.
struct Difference {
  std::string what;
  double largest = 0;
};

// `allowed` says how far an element may be off.
template <typename Allowed>
Difference difference(const Tensor& found, const Tensor& expected, bool is_gradient,
                      const Allowed& allowed) {
  if (sizes_of(found) != sizes_of(expected)) {
    return {fmt::format("has the sizes {}, expected {}", sizes_text(sizes_of(found)),
                        sizes_text(sizes_of(expected)))};
  }
  if (found.dtype().is_float() != expected.dtype().is_float() ||
      (!found.dtype().is_float() && found.dtype() != expected.dtype())) {
    return {fmt::format("has the dtype {}, expected {}", found.dtype().name(),
                        expected.dtype().name())};
  }
  int64_t wrong = 0, first = -1;
  double largest = 0;
  std::string of_first;
  const auto note = [&](int64_t i, double distance, const std::string& text) {
    if (wrong++ == 0) {
      first = i;
      of_first = text;
    }
    largest = std::isnan(distance) ? largest : std::max(largest, distance);
  };
  if (!found.dtype().is_float()) {
    const std::vector<int64_t> a = found.to_vector<int64_t>(), b = expected.to_vector<int64_t>();
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) {
        note(static_cast<int64_t>(i), std::fabs(double(a[i]) - double(b[i])),
             fmt::format("{}, expected {}", a[i], b[i]));
      }
    }
  } else {
    const std::vector<double> a = found.to_vector<double>(), b = expected.to_vector<double>();
    const double most = finfo(found.dtype()).max;
    for (size_t i = 0; i < a.size(); ++i) {
      const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
      if (a[i] == b[i] || both_nan) continue;
      // What inf - inf is in a gradient depends on the order of its terms.
      if (is_gradient && !std::isfinite(b[i]) && !std::isfinite(a[i])) continue;
      if (std::fabs(b[i]) >= most && std::fabs(a[i]) >= most && (a[i] > 0) == (b[i] > 0)) continue;
      const double distance = std::fabs(a[i] - b[i]);
      if (distance <= allowed(i, b[i])) continue;
      note(static_cast<int64_t>(i), distance, fmt::format("{:.9g}, expected {:.9g}", a[i], b[i]));
    }
  }
  if (wrong == 0) return {};
  return {fmt::format("{} of {} elements are wrong; element {} is {}", wrong, found.numel(), first,
                      of_first),
          largest};
}

double largest_of(const TensorList& tensors) {
  double largest = 0;
  for (const Tensor& t : tensors) {
    if (!t.defined() || !t.dtype().is_float()) continue;
    for (const double v : t.to_vector<double>())
      largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
  }
  return largest;
}

TensorList on_cpu(const TensorList& tensors) {
  TensorList list;
  for (const Tensor& t : tensors)
    list.push_back(t.defined() ? t.detach().to(cpu).to_dense() : Tensor());  // of rows, too
  return list;
}

// The part of a refusal that says why: what stands in the last brackets of its last cause, where it
// ends so.
std::string reason_of(const std::string& message) {
  const size_t end = message.find_last_not_of('\n') + 1, line = message.rfind('\n', end - 1);
  const size_t begin = line == message.npos ? 0 : line + 1;
  std::string text = message.substr(begin, end - begin);
  constexpr std::string_view kBecause = "because ";
  text.erase(0, text.find_first_not_of(' '));
  if (text.starts_with(kBecause)) text.erase(0, kBecause.size());
  if (!text.ends_with(')')) return text;
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return text.substr(i + 1, text.size() - i - 2);
  }
  return text;
}

bool is_refusal(const Error& error) {
  return error.code() == TN_UNSUPPORTED || error.code() == TN_NOT_FOUND;
}

}  // namespace

void expect_equal(const Tensor& found, const Tensor& expected, const std::string& what) {
  const Tensor a = found.detach().to(cpu), b = expected.detach().to(cpu);
  const Difference wrong = difference(a, b, false, [](size_t, double) { return 0.0; });
  if (!wrong.what.empty()) throw Wrong(fmt::format("{}: {}", what, wrong.what));
}

bool Checks::takes(const std::string& name) {
  return settings_.only.empty() || name.find(settings_.only) != std::string::npos;
}

// FNV-1a, so that a case has the same values alone as among the others.
uint64_t Checks::seed_of(const std::string& name) const {
  uint64_t hash = 0xcbf29ce484222325 ^ settings_.seed;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void Checks::fail_case(const std::string& name, const std::string& what, double difference) {
  Group& group = groups_.back();
  ++group.failed;
  group.failures.push_back({name, what, difference});
  settle();
}

// What a case left under way is not to be heard of in the next one.
void Checks::settle() {
  try {
    device().synchronize();
  } catch (const Error& error) {
    if (error.code() == TN_DEVICE_LOST) throw Ended(error.what());
  }
}

void Checks::refuse_case(const std::string& name, const std::string& message) {
  Group& group = groups_.back();
  ++group.refused;
  group.refusals[reason_of(message)].push_back(name);
  settle();
}

void Checks::take_error(const std::string& name, const Error& error, bool must_be_there) {
  const std::string message = error.what();
  if (message.empty()) return fail_case(name, "an Error without a message");
  if (error.code() == TN_DEVICE_LOST || error.code() == TN_INTERNAL) {
    fail_case(name, message);
    if (error.code() == TN_DEVICE_LOST) throw Ended(message);
    return;
  }
  if (!is_refusal(error)) return fail_case(name, message);
  if (must_be_there) return fail_case(name, "every backend must have this: " + message);
  refuse_case(name, message);
}

void Checks::compare(const std::string& name, const Comparison& how, const Calls& f) {
  if (!takes(name)) return;
  const Watch watch(name);
  const uint64_t seed = seed_of(name);
  const auto run = [&](Device device, bool is_widened) {
    Place place(device, how.dtype, is_widened, seed);
    manual_seed(seed);
    return on_cpu(f(place));
  };
  TensorList expected;
  std::string oracle_refuses;
  bool widened = how.dtype.is_float() && !how.same_dtype;
  for (const bool again : {false, true}) {
    try {
      expected = run(settings_.oracle, widened);
      oracle_refuses.clear();
      break;
    } catch (const Error& error) {
      oracle_refuses = error.what();
      if (again || !widened) break;
      widened = false;  // of ops that take no float64
    }
  }
  // Does the other device refuse this in the dtype itself, where it takes it in float64?
  const auto oracle_refuses_dtype = [&] {
    try {
      run(settings_.oracle, false);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  TensorList found;
  try {
    found = run(device(), false);
  } catch (const Error& error) {
    const bool is_broken = error.code() == TN_DEVICE_LOST || error.code() == TN_INTERNAL;
    // Both refuse: there is nothing to compare.
    if (!is_broken && (!oracle_refuses.empty() || (widened && oracle_refuses_dtype())))
      return settle();
    // The device cpu looks at values, too, since that waits for nothing there.
    const bool looks_closer = how.is_part || (how.of_op && device().is_cpu());
    if (looks_closer && error.code() == TN_INVALID_ARGUMENT) return settle();
    return take_error(name, error, how.must_be_there);
  }
  if (!oracle_refuses.empty()) {
    if (how.of_op) return;  // what an op asks of values is looked at where that waits for nothing
    return fail_case(name, fmt::format("gives a result where {} refuses: {}",
                                       settings_.oracle.name(), oracle_refuses));
  }
  if (found.size() != expected.size()) {
    return fail_case(name, fmt::format("{} results, expected {}", found.size(), expected.size()));
  }
  const double largest = how.of_op ? largest_of(expected) : 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined() && !expected[i].defined()) continue;
    const bool is_gradient = i >= how.n_values;
    const std::string which = found.size() == 1
                                  ? ""
                                  : fmt::format("{} {}: ", is_gradient ? "gradient" : "result",
                                                is_gradient ? i - how.n_values : i);
    if (found[i].defined() != expected[i].defined())
      return fail_case(name, which + "is there on one of the two devices alone");
    const auto by_rule = [&](size_t, double exact) {
      if (!how.of_op) return bound(found[i].dtype(), exact, how.tolerance);
      // Random numbers are made of functions in float32.
      if (how.same_dtype && found[i].dtype() == float64) return 16 * bound_of_op(float32, largest);
      // There is no wider dtype: both devices have the roundings of whole series.
      if (widened && found[i].dtype() == float64) return 16 * bound_of_op(float64, largest);
      // Without a wider dtype the expected values have such roundings themselves.
      return (widened ? 1 : 16) * bound_of_op(found[i].dtype(), largest);
    };
    Difference wrong = difference(found[i], expected[i], is_gradient, by_rule);
    if (!wrong.what.empty() && how.of_op && widened) {
      // An op that amplifies roundings: about as far off as the other device in the same dtype.
      try {
        const TensorList own = run(settings_.oracle, false);
        if (!own[i].dtype().is_float()) {
          wrong = difference(found[i], own[i], is_gradient, by_rule);
        } else {
          const std::vector<double> a = own[i].to_vector<double>(),
                                    b = expected[i].to_vector<double>();
          double most = 0;
          for (size_t k = 0; k < std::min(a.size(), b.size()); ++k)
            most = std::isfinite(a[k] - b[k]) ? std::max(most, std::fabs(a[k] - b[k])) : most;
          const Difference near =
              difference(found[i], expected[i], is_gradient,
                         [&](size_t k, double exact) { return 32 * by_rule(k, exact) + 8 * most; });
          // Where it is not finite, or chosen among equals, it is as the other device has it.
          if (near.what.empty() || difference(found[i], own[i], is_gradient, by_rule).what.empty())
            wrong = {};
        }
      } catch (const Error&) {  // it has float64 alone, by which it was compared
      }
    }
    if (!wrong.what.empty()) return fail_case(name, which + wrong.what, wrong.largest);
  }
  ++groups_.back().passed;
}

void Checks::expect(const std::string& name, const std::function<void(Place&)>& f) {
  if (!takes(name)) return;
  const Watch watch(name);
  try {
    Place place(device(), float32, false, seed_of(name));
    f(place);
    device().synchronize();
    ++groups_.back().passed;
  } catch (const Wrong& wrong) {
    fail_case(name, wrong.what());
  } catch (const Error& error) {
    take_error(name, error, false);
  }
}

void Checks::begin(const std::string& group) {
  end();
  groups_.emplace_back();
  groups_.back().name = group;
  is_open_ = true;
  began_ = now();
  live_ = live_bytes(device());
}

void Checks::end() {
  if (!is_open_) return;
  is_open_ = false;
  Group& group = groups_.back();
  // What lives now and did not at the beginning is held by work that never ended.
  if (group.cases() > 0) {
    const std::vector<uint64_t> live = live_bytes(device());
    const std::string name = group.name + " memory";
    bool more = false;
    for (size_t i = 0; i < live.size() && !more; ++i) {
      more = live[i] > live_[i];
      if (more) {
        fail_case(name,
                  fmt::format("{} bytes of device {} live at the end, {} did at the beginning",
                              live[i], i, live_[i]));
      }
    }
    if (!more) ++group.passed;
  }
  group.seconds = now() - began_;
  if (on_end) on_end(group);
}

}  // namespace tenon::cli::conformance
