// Whether calls of this thread are recorded: for packs and programs that look at values to refuse
// wrong ones.
//
//   if (!compiler::is_compiling() && any(var < 0).item<bool>()) fail("an element of var is negative");
#pragma once

#include <cstddef>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace compiler {

// True while a compiled function is recorded on this thread. A value that is read back then keeps it
// from being replayed, and no replay would read it. torch.compiler.is_compiling.
inline bool is_compiling() {
  static const auto* found = detail::find_interface<tn_capture_api>(host(), "capture/1");
  return found != nullptr && found->size > offsetof(tn_capture_api, is_recording) &&
         found->is_recording() != 0;
}

}  // namespace compiler
}  // namespace v0
}  // namespace tenon
