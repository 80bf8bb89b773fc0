// How the op pack of the renamed tests names its ops: every one differs from the standard pack's.
#pragma once

#include <string>

#include <tenon/abi.h>

namespace renamed {

inline const tn_host* real_host = nullptr;

// "mul" -> "renamed.q_mul"; other packs' names stay.
inline tn_status* find_op(const char* name, const tn_op** op) {
  const std::string text = name;
  if (text.find('.') != std::string::npos) return real_host->find_op(name, op);
  return real_host->find_op(("renamed.q_" + text).c_str(), op);
}

// The host as code sees it that knows the standard names: one function differs.
inline const tn_host* host_for(const tn_host* host) {
  static tn_host table;
  real_host = host;
  table = *host;
  table.find_op = find_op;
  return &table;
}

}  // namespace renamed
