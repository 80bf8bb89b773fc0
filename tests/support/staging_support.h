// Definitions of ops and kernels, staged by hand as the loader does it for a plugin.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "plugin/stage_ops.h"
#include "registry/registry.h"

namespace tenon {

inline std::string text_of(Status status) {
  std::string text = status_text(status);
  free_status(status);
  return text;
}

inline tn_op_def op_def(const char* schema, const char* expression) {
  tn_op_def def{};
  def.size = sizeof(def);
  def.schema = schema;
  def.expression = expression;
  def.amp = TN_AMP_AUTO;
  return def;
}

inline tn_kernel_def kernel_def(const char* op, const char* device = "cpu") {
  tn_kernel_def def{};
  def.size = sizeof(def);
  def.op = op;
  def.device = device;
  def.launch = [](void*, const tn_call*) -> Status { return nullptr; };
  return def;
}
// Stages and commits a plugin's definitions; gives what refuses them.
inline std::string bring(const std::string& plugin, std::initializer_list<tn_op_def> ops,
                         std::initializer_list<tn_kernel_def> kernels = {}) {
  StagedOps staged;
  for (const tn_op_def& def : ops) {
    if (Status status = stage_op(def, plugin, &staged)) return text_of(status);
  }
  for (const tn_kernel_def& def : kernels) {
    if (Status status = stage_kernel(def, plugin, &staged)) return text_of(status);
  }
  if (Status status = registry().check(staged)) return text_of(status);
  registry().commit(std::move(staged));
  return "";
}

inline std::string bring(const std::string& plugin, const tn_op_def& op,
                         std::initializer_list<tn_kernel_def> kernels = {}) {
  return bring(plugin, {op}, kernels);
}

// NULL: there is none.
inline const Op* find_op(std::string_view name) {
  const Op* op = nullptr;
  free_status(registry().find(name, &op));
  return op;
}

}  // namespace tenon
