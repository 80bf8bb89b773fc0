// Autocast: which dtype an op computes in, decided by its class and cast above autograd, so that
// casts have gradients. Named policies come from plugins.
//
// The rule is in docs/abi.md under AMP: an op without a class expands to its decomposition so that
// the presence of kernels never changes a dtype. Casts of parameters (leaves that ask for
// gradients) are kept until the last scope of the thread ends: their gradient then flows through
// one cast, as many times as they are used.
#pragma once

#include <string>

#include "call/call.h"

namespace tenon {

// The handler of the call path.
[[nodiscard]] Status autocast_call(const Op* op, std::span<const tn_value> args,
                                   std::span<tn_value> results);

// lower TN_DTYPE_NONE: the device's own; policy NULL: the ops' own classes.
[[nodiscard]] Status enter_autocast(tn_device device, tn_dtype lower, const char* policy);
// A scope without casts. It ends by leave_autocast, as the others do.
[[nodiscard]] Status suspend_autocast();
[[nodiscard]] Status leave_autocast();
bool autocast_enabled();

// Policies, for the loader (plugin/staging.h).
[[nodiscard]] Status check_policy(const tn_amp_policy_def& def);
void commit_policy(const tn_amp_policy_def& def, const std::string& plugin);
void close_policies();

}  // namespace tenon
