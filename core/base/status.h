// Statuses inside the core: a tn_status* is NULL for success, else owned. Every part of the core uses them; no exception
// passes between its parts on purpose, and `guarded` keeps those of the standard library from crossing the C border.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "tenon/abi.h"

struct tn_status {
  tn_code code;
  std::string message;
  tn_status* cause = nullptr;
  const void* payload_tag = nullptr;
  void* payload = nullptr;
  void (*payload_destroy)(void*) = nullptr;
  mutable std::string full;  // message and causes, built when asked for
};

namespace tenon {

using Status = tn_status*;

// Takes `cause`.
[[nodiscard]] Status make_status(tn_code code, std::string message, Status cause = nullptr);
void free_status(Status status);
const char* status_text(const tn_status* status);

template <typename... Args>
[[nodiscard]] Status error(tn_code code, fmt::format_string<Args...> format, Args&&... args) {
  return make_status(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[nodiscard]] Status invalid(fmt::format_string<Args...> format, Args&&... args) {
  return make_status(TN_INVALID_ARGUMENT, fmt::format(format, std::forward<Args>(args)...));
}

// A status in flight, where formulas read better without a check per line (gradients of primitives). Thrown and caught inside
// the core only: guarded turns it back.
struct StatusException {
  Status status;  // owned by whoever catches
};

inline void throw_if(Status status) {
  if (status != nullptr) throw StatusException{status};
}

// Runs a body that gives a Status; exceptions of the standard library become statuses.
template <typename Body>
Status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const StatusException& e) {
    return e.status;
  } catch (const std::bad_alloc&) {
    return make_status(TN_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (const std::exception& e) {
    return make_status(TN_INTERNAL, e.what());
  } catch (...) {
    return make_status(TN_INTERNAL, "unknown exception");
  }
}

// Holds a status that may be dropped; frees it.
class StatusHolder {
 public:
  explicit StatusHolder(Status status = nullptr) : status_(status) {}
  StatusHolder(const StatusHolder&) = delete;
  StatusHolder& operator=(const StatusHolder&) = delete;
  ~StatusHolder() { free_status(status_); }
  Status get() const { return status_; }
  Status take() { return std::exchange(status_, nullptr); }
  explicit operator bool() const { return status_ != nullptr; }

 private:
  Status status_;
};

}  // namespace tenon

// Returns from the calling function when `expression` gives an error.
#define TN_TRY(expression)                                            \
  do {                                                                \
    if (::tenon::Status tn_try_status_ = (expression)) [[unlikely]] { \
      return tn_try_status_;                                          \
    }                                                                 \
  } while (0)
