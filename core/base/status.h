// Statuses inside the core: a tn_status* is NULL for success, else owned. Every part of the core
// uses them; no exception passes between its parts on purpose, and `guarded` keeps those of the
// standard library from crossing the C border.
//
// Making a status never throws. Where memory for one is lacking, what comes back is
// out_of_memory_status(), and the cause that was to be wrapped is freed.
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

// The one status of exhausted host memory: it exists from the start, lives as long as the process,
// and is never changed. free_status leaves it alone, and it may be a cause of others.
[[nodiscard]] Status out_of_memory_status() noexcept;

// Takes `cause`.
[[nodiscard]] Status make_status(tn_code code, std::string_view message,
                                 Status cause = nullptr) noexcept;
[[nodiscard]] Status format_status(tn_code code, fmt::string_view format,
                                   fmt::format_args args) noexcept;
void free_status(Status status);
const char* status_text(const tn_status* status) noexcept;
// Gives the status another message, with its code, causes and payload as they are. False: memory is
// lacking, or it is the one of exhausted memory; it says what it said.
bool set_message(Status status, std::string message) noexcept;

template <typename... Args>
[[nodiscard]] Status error(tn_code code, fmt::format_string<Args...> format,
                           Args&&... args) noexcept {
  return format_status(code, format, fmt::make_format_args(args...));
}

template <typename... Args>
[[nodiscard]] Status invalid(fmt::format_string<Args...> format, Args&&... args) noexcept {
  return format_status(TN_INVALID_ARGUMENT, format, fmt::make_format_args(args...));
}

// An error that came about because of `cause`, which is taken, with its code. `describe` gives the
// message, and may throw.
template <typename Describe>
[[nodiscard]] Status wrap(Status cause, Describe&& describe) noexcept {
  try {
    return make_status(cause->code, describe(), cause);
  } catch (...) {
    free_status(cause);
    return out_of_memory_status();
  }
}

// A status in flight, where formulas read better without a check per line (gradients of
// primitives). Thrown and caught inside the core only: guarded turns it back.
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
    return out_of_memory_status();
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
  void set(Status status) { free_status(std::exchange(status_, status)); }
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
