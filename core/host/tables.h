// The interfaces that host->get_interface gives, a file each. Every function is a thin C border: it
// guards, and calls the part that does the work.
#pragma once

#include "base/status.h"
#include "tensor/rows.h"

namespace tenon {

// For arguments that must not be NULL.
inline Status expect_given_tensor(const char* what, const tn_tensor* t) {
  return t != nullptr ? nullptr : invalid("{}: the tensor is None", what);
}
// And not row-sparse, as nearly all.
inline Status expect_tensor(const char* what, const tn_tensor* t) {
  TN_TRY(expect_given_tensor(what, t));
  return is_rows(as_tensor(t)) ? refuse_rows(fmt::format("{}: the tensor", what), as_tensor(t))
                               : nullptr;
}

// For a name, a list, a function: `what` says which.
inline Status expect_given(const char* what, const void* p) {
  return p != nullptr ? nullptr : invalid("{} is NULL", what);
}
inline Status expect_place(const char* what, const void* result) {
  return result != nullptr ? nullptr : invalid("{}: the place for the result is NULL", what);
}
inline Status expect_list(const char* what, const void* list, uint32_t n) {
  return list != nullptr || n == 0 ? nullptr : invalid("{} is NULL, with {} entries", what, n);
}

const tn_tensor_api* tensor_api();
const tn_device_api* device_api();
const tn_cache_api* cache_api();
const tn_autograd_api* autograd_api();
const tn_rows_api* rows_api();
const tn_random_api* random_api();
const tn_amp_api* amp_api();
const tn_capture_api* capture_api();
const tn_plugin_api* plugin_api();
const tn_explain_api* explain_api();
const tn_profile_api* profile_api();
const tn_schema_api* schema_api();

}  // namespace tenon
