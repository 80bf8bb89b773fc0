// What the files of the plugin share. Its counters and two of its kernels are exported as C names,
// for the test to look at.
#pragma once

#include <functional>

#include <tenon/plugin.hpp>

namespace fakes {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

void add_tape();
void add_blank();
void add_conv();
void add_rnn();
void add_packed();

// Puts work on the call's stream, on a clone of the call as a backend needs it whose work begins
// when the launch has returned. On `cpu`, which has no stream, it is done at once.
using Work = std::function<void(const tn_call& call)>;
void enqueue(const tn_call* call, Work work);

inline double* doubles(const tn_tensor* t) { return t ? static_cast<double*>(t->data) : nullptr; }
inline const tn_tensor* tensor(const tn_value& v) {
  return v.kind == TN_KIND_TENSOR ? v.as.tensor : nullptr;
}

}  // namespace fakes

// What the test reads and sets.
extern "C" {
extern TN_EXPORT int fakes_pairs_refuse;  // 1: the pairs' predicates refuse all calls
extern TN_EXPORT int fakes_privates;      // private outputs that a forward found
extern TN_EXPORT int
    fakes_backwards;  // backward kernels that ran, and which gradients the last one was asked for
extern TN_EXPORT uint64_t fakes_wanted;
extern TN_EXPORT int fakes_packed, fakes_unpacked;  // blobs that were made and destroyed
extern TN_EXPORT int fakes_recorded;                // work that a capture took
TN_EXPORT tn_status* fakes_random_bits(void* self, const tn_call* call);
TN_EXPORT tn_status* fakes_decay_step(void* self, const tn_call* call);
}
