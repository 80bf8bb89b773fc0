// Calling a method of an object: arguments by schema, forward hooks, errors that name the path of
// objects they came through.
#pragma once

#include "object/object.h"

namespace tenon {

// Trailing arguments default. n_results is what the method's schema returns; results are written
// whole or not at all. `forward` runs the forward hooks after it, in order; what a hook's error
// carries reaches the caller unchanged. An error of the method starts with the objects
// on its way: "Sequential: child '0' (Linear): linear: ...".
[[nodiscard]] Status invoke(Object* object, std::string_view method, const tn_value* args,
                            uint32_t n_args, tn_value* results, uint32_t n_results);

// Calls the hooks of one kind of states. Results belong to the caller, whatever fails.
[[nodiscard]] Status call_state_hooks(Object* object, tn_hook_kind kind, const tn_value* args,
                                      uint32_t n_args, tn_value* results, uint32_t n_results);

}  // namespace tenon
