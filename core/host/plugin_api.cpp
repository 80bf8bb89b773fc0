// plugin/1, explain/1 and profile/1.
#include "base/text.h"
#include "launch/explain.h"
#include "host/tables.h"
#include "plugin/listing.h"
#include "plugin/loader.h"
#include "profile/profile.h"

namespace tenon {
namespace {

Status give(const char* what, std::string (*make)(), const char** result) {
  TN_TRY(expect_place(what, result));
  return give_text(make(), result);
}

tn_status* load(const char* path) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("load: the path", path));
    return load_plugin(path);
  });
}

tn_status* add(const tn_manifest* manifest, tn_plugin_init_fn init,
               tn_plugin_shutdown_fn shutdown) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("add: the manifest", manifest));
    TN_TRY(expect_given("add: init", reinterpret_cast<const void*>(init)));
    return add_plugin({manifest, init, shutdown});
  });
}

tn_status* load_all() {
  return guarded([] { return load_all_plugins(); });
}

tn_status* shutdown() {
  return guarded([] { return shutdown_plugins(); });
}

tn_status* list(const char** json) {
  return guarded([&] { return give("list", plugins_json, json); });
}

tn_status* ops(const char** json) {
  return guarded([&] { return give("ops", ops_json, json); });
}

tn_status* end_explain(const char** json) {
  return guarded([&] { return give("explain_end", explain_end, json); });
}

void set_profile_mode() {
  const bool on = profile_slot.fn != nullptr || profile_slot.event != nullptr;
  thread_state.modes =
      (thread_state.modes & ~uint32_t{kModeProfile}) | (on ? uint32_t{kModeProfile} : 0u);
}
void set_profile(tn_profile_fn fn, void* context) {
  profile_slot.fn = fn, profile_slot.context = context;
  set_profile_mode();
}
void set_profile_events(tn_profile_event_fn event, void* context) {
  profile_slot.event = event, profile_slot.event_context = context;
  set_profile_mode();
}

}  // namespace

const tn_plugin_api* plugin_api() {
  static const tn_plugin_api table = {
      sizeof(tn_plugin_api), load, load_all, shutdown, list, ops, add};
  return &table;
}

const tn_explain_api* explain_api() {
  static const tn_explain_api table = {
      sizeof(tn_explain_api), explain_begin, end_explain,
      [](const char* name) { return name != nullptr ? counter_value(name) : uint64_t{0}; }};
  return &table;
}

const tn_profile_api* profile_api() {
  static const tn_profile_api table = {sizeof(tn_profile_api), set_profile, set_profile_events};
  return &table;
}

}  // namespace tenon
