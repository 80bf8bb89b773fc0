// The registration under way in this shared object: its registrar and its first error. Part of
// plugin.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/function.hpp"
#include "tenon/signature.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// The registration under way on this thread, in this shared object. `error` is the first one; what
// follows it is passed over.
struct Registration {
  tn_registrar* registrar = nullptr;
  tn_status* error = nullptr;
  const char* group = nullptr;  // of the definitions that follow
  const char* plugin = "";      // its id

  tn_registrar* get() const {
    if (!registrar)
      fail("op, kernel and layer register only while the plugin is loaded", TN_FAILED_PRECONDITION);
    return registrar;
  }
  void note(tn_status* status) {
    if (!error) {
      error = status;
    } else if (status) {
      known_host()->status_free(status);
    }
  }
};
inline constinit thread_local Registration registration{};

template <typename Body>
tn_status* run_plugin(const tn_host* host, tn_registrar* registrar, const char* id, Body&& body) {
  attach(host);
  registration = {registrar, nullptr, nullptr, id};
  tn_status* thrown = tenon::to_status(body);
  registration.registrar = nullptr;
  tn_status* first = std::exchange(registration.error, nullptr);
  if (!first) return thrown;
  ignore(thrown);
  return first;
}

// Notes where a function does not fit the schema of `what` ("op 'acme.scale'").
template <typename Args, typename R>
void expect_signature(std::string what, const char* schema, const char* function) {
  if (registration.error) return;
  registration.note(tenon::to_status([&] {
    check_signature({std::move(what), schema}, signature<Args, R>(function));
  }));
}
// The name that a schema begins with.
inline std::string_view schema_name(const char* schema) {
  const std::string_view text = schema;
  return text.substr(0, text.find('('));
}

// Owns a function of a definition until the host does.
struct Slot {
  void* function = nullptr;
  void (*destroy)(void*) = nullptr;

  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    if (function) destroy(function);
  }
  template <typename F>
  void set(F f) {
    if (function) destroy(function);
    function = Held<F>::make(std::move(f));
    destroy = Held<F>::destroy;
  }
  template <typename F>
  F& get() const {
    return Held<F>::get(function);
  }
};

}  // namespace detail

// What a plugin's body says without a prefix.
namespace plugin {
// The group of the ops, layers and optimizers that are defined from here on: which generated header
// they are in. `name` is a literal, or lives as long as the body runs.
inline void group(const char* name) { detail::registration.group = name; }

using std::optional;
using std::span;
using std::string;
using std::string_view;
using std::tuple;
using std::vector;
}  // namespace plugin

}  // namespace v0
}  // namespace tenon
