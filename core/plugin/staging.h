// What a plugin's init hands to the registrar: checked at once, held back, and committed as one
// change when init succeeded. Used by the loader alone.
//
// Invariants
//  1. What was taken is dropped exactly once: its destroy slot is called after a failed load, or at
//     shutdown. What was refused stays the plugin's.
//  2. Nothing staged is visible to anyone before commit.
//  3. A refusal that init ignored fails the load all the same.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "object/factory.h"
#include "registry/compilers.h"
#include "registry/registry.h"

namespace tenon {

// What `tenon plugins` shows of it.
struct Brings {
  size_t ops = 0, kernels = 0, vjps = 0;
  std::vector<std::string> devices, factories, policies;
  bool threads = false;
  std::vector<std::string> compilers;
};

struct DestroySlot {
  void (*destroy)(void*);
  void* self;
};

// The registrar that a plugin gets. Lives as long as the process, so that a plugin that keeps it is
// told so.
class Staging : public tn_registrar {
 public:
  explicit Staging(std::string plugin);
  Staging(const Staging&) = delete;

  // Calls init, then closes the registrar. The failure of init, or the first refusal that it
  // ignored.
  [[nodiscard]] Status run(tn_plugin_init_fn init, const tn_host* host, void** self);
  // Everything is checked, then committed; all or nothing. Under the loader's lock.
  [[nodiscard]] Status commit();
  // After a failure: destroy slots, the last first.
  void drop();

  // Of devices and policies, in order: ops, kernels and factories are dropped where they are kept.
  const std::vector<DestroySlot>& destroy_slots() const { return slots_; }
  const std::vector<int32_t>& device_types() const { return device_types_; }
  const Brings& brings() const { return brings_; }

 private:
  struct Entries;  // the registrar's C functions

  template <typename Body>
  Status take(Body&& body);
  template <typename Def, typename Body>
  Status take_def(const Def* given, size_t least, const char* what, Body&& body);
  Status add_device(const tn_device_def& def);
  Status add_factory(const tn_factory_def& def);
  Status add_policy(const tn_amp_policy_def& def);
  Status add_threads(const tn_threads_def& def);
  Status add_compiler(const tn_compiler_def& def);
  Status check() const;
  const char* keep(const char* text);

  const std::string plugin_;
  std::mutex mutex_;
  bool open_ = true;
  Status first_refusal_ = nullptr;

  StagedOps ops_;
  std::vector<tn_device_def> devices_;
  std::vector<std::unique_ptr<Factory>> factories_;
  std::vector<tn_amp_policy_def> policies_;
  std::optional<tn_threads_def> threads_;
  std::vector<Compiler> compilers_;
  std::list<std::string> texts_;  // that the definitions point to
  std::vector<DestroySlot> all_;  // of everything that was taken, in order
  std::vector<DestroySlot> slots_;
  std::vector<int32_t> device_types_;
  Brings brings_;
};

}  // namespace tenon
