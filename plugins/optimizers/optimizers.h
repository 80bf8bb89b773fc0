// The optimizer pack: a file an optimizer, each with a namespace and in it `add`, which registers it. Names,
// options, state and formulas are PyTorch's. A step is one op on lists of tensors, so that a backend may
// fuse it over all parameters.
#pragma once

#include "tenon/plugin.hpp"

namespace optimizers {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

namespace adadelta {
void add();
}
namespace adafactor {
void add();
}
namespace adagrad {
void add();
}
namespace adam {
void add();
}
namespace adamax {
void add();
}
namespace asgd {
void add();
}
namespace lamb {
void add();
}
namespace lbfgs {
void add();
}
namespace lion {
void add();
}
namespace muon {
void add();
}
namespace nadam {
void add();
}
namespace radam {
void add();
}
namespace rmsprop {
void add();
}
namespace rprop {
void add();
}
namespace sgd {
void add();
}
namespace sparse_adam {
void add();
}

// Refuses a value below 0, and NaN; also when it is set later, for a group or by a state that is loaded.
void expect_not_negative(Object& self, const char* option, double value);
// The same of what is not from 0 to 1.
void expect_part(Object& self, const char* option, double value);

// Two numbers, each at least 0 and below 1; and so are those that are set later.
void expect_betas(Object& self, const Floats& betas);
// Says that a gradient is row-sparse, which `who` ("Adam does") not take, and what takes it.
[[noreturn]] void refuse_row_sparse(const Tensor& gradient, const char* who);
using tenon::detail::sizes_text;
inline std::string sizes_text(const Tensor& t) { return sizes_text(t.sizes()); }

}  // namespace optimizers
