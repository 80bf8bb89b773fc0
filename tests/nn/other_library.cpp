// Modules of a library that a program links, for other_library_test.
#include <stdexcept>

#include <tenon/parametrizations.hpp>
#include <tenon/tenon.hpp>

// What takes or gives types of Tenon is as hidden as they are, unless it says otherwise.
#define OTHER_LIBRARY __attribute__((visibility("default")))

namespace tn = tenon;
namespace nn = tn::nn;

namespace {

struct Net : tn::Module {
  explicit Net(int64_t width) : width_(width) {}
  tn::Object inner = child("inner", nn::Linear(3, 3));
  tn::Tensor scale = parameter("scale", tn::ones({3}));
  tn::Tensor forward(tn::Tensor x) { return inner(x) * scale * double(width_); }
  int64_t width_;
};
struct Around : tn::Module {
  explicit Around(tn::Object of) : held(child("held", of)) {}
  tn::Object held;
  tn::Tensor forward(tn::Tensor x) { return held(x) + 1; }
};

struct Two : tn::Module {
  Two(tn::Object first, tn::Object second) : a(child("a", first)), b(child("b", second)) {}
  tn::Object a, b;
  tn::Tensor forward(tn::Tensor x) { return a(x) + b(x); }
};

}  // namespace

OTHER_LIBRARY tn::Object make_net() { return tn::make<Net>(2); }
OTHER_LIBRARY tn::Object make_around(const tn::Object& held) { return tn::make<Around>(held); }
OTHER_LIBRARY tn::Object make_normed() {
  tn::Object layer = nn::Linear(3, 3);
  nn::utils::weight_norm(layer);
  return layer;
}
OTHER_LIBRARY tn::Object make_two(const tn::Object& a, const tn::Object& b) {
  return tn::make<Two>(a, b);
}
