// The policies of mixed precision O0 to O3, after the optimization levels of NVIDIA's Apex. A policy
// gives each op a class; that of the op `weights` says what tenon/precision.hpp does with a model's
// weights. docs/training.md says what each level is for. A pack of other policies looks like this.
#include <tenon/plugin.hpp>

namespace {

using std::string_view;
using tenon::Amp;

constexpr string_view kWeights = "amp.weights";

// Nothing is lowered; what is given in a lower precision is lifted where the class is lower or float32.
Amp o0(string_view, Amp own, string_view) { return own == Amp::lower ? Amp::float32 : own; }

// By the ops' own classes.
Amp o1(string_view, Amp own, string_view) { return own; }

// Nearly all in the lower precision. What needs float32 (norms, losses, sums) has it. Weights are
// float32, the master weights of which each op gets a lower copy that is made once in a scope.
Amp o2(string_view, Amp own, string_view) { return own == Amp::widest ? Amp::lower : own; }

// All in the lower precision, weights too. Ops without a class, as those that write in place, take
// what they are given.
Amp o3(string_view op, Amp own, string_view) {
  return op == kWeights || own != Amp::none ? Amp::lower : own;
}

}  // namespace

TENON_PLUGIN(amp) {
  op("weights(Tensor x) -> Tensor", "x")
      .doc(
          "x. Under a policy of autocast it gives the dtype that a model's weights are to have: a "
          "policy which gives it the class lower trains weights of the lower precision.")
      .amp(Amp::none);
  amp_policy("O0", o0);
  amp_policy("O1", o1);
  amp_policy("O2", o2);
  amp_policy("O3", o3);
}
