#include "base/status.h"

#include "tenon/messages.hpp"

namespace tenon {
namespace {

// Made when the library is loaded, while there is memory.
[[maybe_unused]] const Status kMadeEarly = out_of_memory_status();

}  // namespace

Status out_of_memory_status() noexcept {
  static const Status status = new tn_status{TN_OUT_OF_MEMORY, "host memory is exhausted"};
  return status;
}

Status make_status(tn_code code, std::string_view message, Status cause) noexcept {
  try {
    auto* status = new tn_status{code, messages::cleaned(std::string(message))};
    status->cause = cause;
    return status;
  } catch (...) {
    free_status(cause);
    return out_of_memory_status();
  }
}

Status format_status(tn_code code, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    return new tn_status{code, messages::cleaned(fmt::vformat(format, args))};
  } catch (...) {
    return out_of_memory_status();
  }
}

void free_status(Status status) {
  while (status != nullptr && status != out_of_memory_status()) {
    if (status->payload_destroy != nullptr) status->payload_destroy(status->payload);
    Status cause = status->cause;
    delete status;
    status = cause;
  }
}

const char* status_text(const tn_status* status) noexcept {
  if (status == nullptr) return "";
  if (status->cause == nullptr) return status->message.c_str();
  if (status->full.empty()) {
    try {
      std::string full;
      for (const tn_status* s = status; s != nullptr; s = s->cause) {
        if (s != status) full += "\n  because ";
        full += s->message;
      }
      status->full = messages::cleaned(std::move(full));
    } catch (...) {
      return status->message.c_str();
    }
  }
  return status->full.c_str();
}

bool set_message(Status status, std::string message) noexcept {
  if (status == out_of_memory_status()) return false;
  try {
    status->message = messages::cleaned(std::move(message));
  } catch (...) {
    return false;
  }
  status->full.clear();
  return true;
}

}  // namespace tenon
