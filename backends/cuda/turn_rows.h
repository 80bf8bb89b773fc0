// The rows of sequences, each sequence from its end: what a library that goes forward only needs of a
// recurrent layer that goes backwards.
#pragma once

#include "kernel.h"

namespace cuda {

// Rows of a step lie behind those of the step before, and the longest sequence is the first.
struct Sequences {
  int64_t n, steps, rows;
  // How many sequences have each step; empty: all have all.
  std::span<const int64_t> batch_sizes;
};

// `to` gets the rows of `from`, row t of a sequence at length - 1 - t; both are dense, at multiples of 16
// bytes, and have the sizes and the dtype of `like`.
tn_status* turn_rows(const tn_call* call, const Stream& stream, const Sequences& sequences,
                     const tn_tensor& like, void* to, const void* from);

}  // namespace cuda
