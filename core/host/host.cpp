// The host's table, and the library's one exported symbol.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "amp/autocast.h"
#include "autograd/record.h"
#include "base/log.h"
#include "base/threads.h"
#include "call/call.h"
#include "call/tracing.h"
#include "primitive/convert.h"
#include "launch/explain.h"
#include "registry/expressions.h"
#include "registry/host_table.h"
#include "primitive/primitives.h"
#include "host/tables.h"
#include "object/api.h"

namespace tenon {
namespace {

const void* get_interface(const char* name) {
  if (name == nullptr) return nullptr;
  const struct {
    const char* name;
    const void* (*table)();
  } interfaces[] = {
      {"tensor/1", [] { return static_cast<const void*>(tensor_api()); }},
      {"device/1", [] { return static_cast<const void*>(device_api()); }},
      {"cache/1", [] { return static_cast<const void*>(cache_api()); }},
      {"autograd/1", [] { return static_cast<const void*>(autograd_api()); }},
      {"rows/1", [] { return static_cast<const void*>(rows_api()); }},
      {"random/1", [] { return static_cast<const void*>(random_api()); }},
      {"amp/1", [] { return static_cast<const void*>(amp_api()); }},
      {"object/1", [] { return static_cast<const void*>(object_api()); }},
      {"plugin/1", [] { return static_cast<const void*>(plugin_api()); }},
      {"explain/1", [] { return static_cast<const void*>(explain_api()); }},
      {"profile/1", [] { return static_cast<const void*>(profile_api()); }},
      {"schema/1", [] { return static_cast<const void*>(schema_api()); }},
      {"capture/1", [] { return static_cast<const void*>(capture_api()); }},
  };
  for (const auto& i : interfaces) {
    if (std::strcmp(i.name, name) == 0) return i.table();
  }
  return nullptr;
}

tn_status* status_new(tn_code code, const char* message, tn_status* cause) {
  return make_status(code, message != nullptr ? message : "no message", cause);
}

tn_code status_code(const tn_status* status) {
  return status != nullptr ? status->code : tn_code{TN_OK};
}

void status_set_payload(tn_status* status, const void* tag, void* payload, void (*destroy)(void*)) {
  if (status == nullptr) return;
  if (status == out_of_memory_status()) {  // every thread's: it carries nothing
    if (destroy != nullptr) destroy(payload);
    return;
  }
  if (status->payload_destroy != nullptr) status->payload_destroy(status->payload);
  status->payload_tag = tag;
  status->payload = payload;
  status->payload_destroy = destroy;
}

void* status_payload(const tn_status* status, const void* tag) {
  for (; status != nullptr; status = status->cause) {
    if (status->payload_tag == tag && status->payload != nullptr) return status->payload;
  }
  return nullptr;
}

tn_status* find_op(const char* name, const tn_op** op) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("find_op: the name", name));
    TN_TRY(expect_place("find_op", op));
    const Op* found;
    TN_TRY(registry().find(name, &found));
    *op = found;
    return nullptr;
  });
}

tn_status* refuse_null(const char* what) {
  return guarded(
      [&] { return invalid("{}: the op, the arguments or the results are NULL", what); });
}

// A private op's message begins with the name of the op that the user called.
[[gnu::cold, gnu::noinline]] tn_status* name_call(const Op* op, tn_status* failed) {
  const std::string& own = op->schema.name;
  if (is_private(op) && failed->message.starts_with(own + ":")) {
    failed->message.replace(0, own.size(), shown_name(recorded_name(own)));
    failed->full.clear();
  }
  return failed;
}

tn_status* call_op(const tn_op* op, const tn_value* args, uint32_t n_args, tn_value* results,
                   uint32_t n_results) {
  if (op == nullptr || (args == nullptr && n_args != 0) || (results == nullptr && n_results != 0))
      [[unlikely]] {
    return refuse_null("call");
  }
  tn_status* failed = guarded([&] { return call(as_op(op), args, n_args, results, n_results); });
  return failed == nullptr ? nullptr : name_call(as_op(op), failed);
}

const tn_op* get_primitive_op(tn_primitive kind) {
  const Op* op = nullptr;
  StatusHolder no_memory(guarded([&] { return op = primitive_op(kind), nullptr; }));
  return op;
}

tn_status* expression(const char* schema, const char* formula, const tn_op** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("expression: the schema", schema));
    TN_TRY(expect_given("expression: the formula", formula));
    TN_TRY(expect_place("expression", result));
    const Op* op;
    TN_TRY(intern_expression(schema, formula, &op));
    *result = op;
    return nullptr;
  });
}

void tensor_retain(tn_tensor* t) {
  if (t != nullptr) as_tensor(t)->retain();
}
void tensor_release(tn_tensor* t) {
  if (t != nullptr) as_tensor(t)->release();
}

tn_status* value_copy(const tn_value* borrowed, tn_value* owned) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("value_copy: the value", borrowed));
    TN_TRY(expect_place("value_copy", owned));
    return copy_value(*borrowed, owned);
  });
}

void text_free(const char* text) { std::free(const_cast<char*>(text)); }

void log_message(int32_t level, const char* message) { log_line(level, message); }

// What the call path and the loader call in the parts that come later in the order of the folders.
void wire() {
  handlers.autograd_op = record_op;
  handlers.autocast = autocast_call;
  handlers.trace = infer_by_tracing;
  handlers.contiguous = contiguous;
  handlers.copy_into = copy_into;
  object_references = {object_api()->retain, object_api()->release};
}

}  // namespace

const tn_host& host_table() {
  static const tn_host table = {
      .size = sizeof(tn_host),
      .abi_version = TN_ABI_VERSION,
      .version = TENON_VERSION,
      .get_interface = get_interface,
      .status = status_new,
      .status_code = status_code,
      .status_message = status_text,
      .status_set_payload = status_set_payload,
      .status_payload = status_payload,
      .status_free = free_status,
      .workspace = call_workspace,
      .set_output = call_set_output,
      .keep = keep_call,
      .release_kept = release_kept_call,
      .parallel_for = parallel_for,
      .find_op = find_op,
      .call = call_op,
      .primitive_op = get_primitive_op,
      .expression = expression,
      .tensor_retain = tensor_retain,
      .tensor_release = tensor_release,
      .value_copy = value_copy,
      .value_release = release_value,
      .text_free = text_free,
      .log = log_message,
  };
  return table;
}

}  // namespace tenon

extern "C" const tn_host* tenon_host(uint32_t abi_version, const char** why) {
  if (abi_version != TN_ABI_VERSION) {
    static char text[128];
    static std::once_flag written;
    std::call_once(written, [&] {
      std::snprintf(text, sizeof(text),
                    "this libtenon.so (%s) has ABI %d.%d, and the program was built for another",
                    TENON_VERSION, TN_ABI_MAJOR, TN_ABI_MINOR);
    });
    if (why != nullptr) *why = text;
    return nullptr;
  }
  static std::once_flag wired;
  std::call_once(wired, tenon::wire);
  return &tenon::host_table();
}
