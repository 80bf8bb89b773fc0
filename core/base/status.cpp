#include "base/status.h"

#include "tenon/messages.hpp"

namespace tenon {

Status make_status(tn_code code, std::string message, Status cause) {
  auto* status = new tn_status{code, messages::cleaned(std::move(message))};
  status->cause = cause;
  return status;
}

void free_status(Status status) {
  while (status != nullptr) {
    if (status->payload_destroy != nullptr) status->payload_destroy(status->payload);
    Status cause = status->cause;
    delete status;
    status = cause;
  }
}

const char* status_text(const tn_status* status) {
  if (status == nullptr) return "";
  if (status->cause == nullptr) return status->message.c_str();
  if (status->full.empty()) {
    for (const tn_status* s = status; s != nullptr; s = s->cause) {
      if (s != status) status->full += "\n  because ";
      status->full += s->message;
    }
  }
  return status->full.c_str();
}

}  // namespace tenon
