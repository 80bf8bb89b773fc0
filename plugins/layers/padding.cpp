// Paddings of one to three dimensions; x may be without the first dimension, the samples.
#include "layers.h"

namespace layers {
namespace {

// Two numbers a dimension, the last dimension first; one number stands for all.
std::vector<int64_t> both_sides(Ints padding, int64_t n) {
  std::vector<int64_t> list(padding.begin(), padding.end());
  if (list.size() == 1) list.assign(size_t(2 * n), list[0]);
  if (int64_t(list.size()) != 2 * n) {
    fail("padding has " + std::to_string(list.size()) + " numbers, expected one or " +
         std::to_string(2 * n));
  }
  return list;
}

void add_forward(Object& self, int64_t n, Ints padding, const char* mode, double value) {
  self.method(kOfTensor, [=, list = both_sides(padding, n)](Tensor x) {
    // A constant needs no more than the dimensions that it is put around.
    if (mode == std::string_view("constant")) {
      if (x.dim() >= n) return pad(x, list, mode, value);
      fail("x has " + std::to_string(x.dim()) + " dimensions, expected at least " +
           std::to_string(n));
    }
    if (x.dim() != n + 1 && x.dim() != n + 2) {
      fail("x has " + std::to_string(x.dim()) + " dimensions, expected " + std::to_string(n + 1) +
           " or " + std::to_string(n + 2));
    }
    return pad(x, list, mode, value);
  });
}

void add_padding(int64_t n, const char* name, const char* mode, const char* doc) {
  const std::string schema = name + std::to_string(n) + "d(int[] padding)";
  layer(schema.c_str(), doc,
        [=](Object& self, Ints padding) { add_forward(self, n, padding, mode, 0); });
}

}  // namespace

void add_padding_layers() {
  for (int64_t n = 1; n <= 3; ++n) {
    add_padding(
        n, "ZeroPad", "constant",
        "x with borders of zeros. padding: one number, or two a dimension, the last dimension "
        "first; negative ones cut off.");
    add_padding(
        n, "ReflectionPad", "reflect",
        "x with borders that mirror it, its edge not repeated. padding: one number, or two a "
        "dimension, the last dimension first.");
    add_padding(
        n, "ReplicationPad", "replicate",
        "x with borders that repeat its edge. padding: one number, or two a dimension, the last "
        "dimension first.");
    add_padding(
        n, "CircularPad", "circular",
        "x with borders from its other end. padding: one number, or two a dimension, the last "
        "dimension first.");
    const std::string schema = "ConstantPad" + std::to_string(n) + "d(int[] padding, float value)";
    layer(schema.c_str(),
          "x with borders of value. padding: one number, or two a dimension, the last dimension "
          "first; negative ones cut off.",
          [=](Object& self, Ints padding, double value) {
            add_forward(self, n, padding, "constant", value);
          });
  }
}

}  // namespace layers
