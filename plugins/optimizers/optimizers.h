// The optimizer pack: a file an optimizer, each with a function that registers it. Names, options,
// state and formulas are PyTorch's. A step is one op on lists of tensors, so that a backend may
// fuse it over all parameters.
#pragma once

#include "tenon/plugin.hpp"

namespace optimizers {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

void add_adadelta();
void add_adafactor();
void add_adagrad();
void add_adam();
void add_adamax();
void add_asgd();
void add_lamb();
void add_lbfgs();
void add_lion();
void add_muon();
void add_nadam();
void add_radam();
void add_rmsprop();
void add_rprop();
void add_sgd();
void add_sparse_adam();

// Refuses a value below 0, and NaN; also when it is set later, for a group or by a state that is loaded.
void expect_not_negative(Object& self, const char* option, double value);
// The same of what is not from 0 to 1.
void expect_part(Object& self, const char* option, double value);

// Two numbers, each at least 0 and below 1; and so are those that are set later.
void expect_betas(Object& self, const Floats& betas);
// Says that a gradient is row-sparse, which `who` ("Adam does") not take, and what takes it.
[[noreturn]] void refuse_row_sparse(const Tensor& gradient, const char* who);
std::string sizes_text(Ints sizes);  // "[6, 2]"
inline std::string sizes_text(const Tensor& t) { return sizes_text(t.sizes()); }

}  // namespace optimizers
