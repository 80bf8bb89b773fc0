// Pools that take a norm of each window. A part of the family pool; they are made of avg_pool.
#include <cmath>

#include "pool.h"

namespace tenon::ops_pack {
namespace {

// The mean of a window's powers, times the window's number of elements, to the power 1 / norm_type.
// Written as PyTorch does: then a sum of 0 has the gradient 0, and not NaN.
constinit ExpressionRef root_of_sum{"_root_of_sum(Tensor mean, float count, float power) -> Tensor",
                                    "(sign(mean) * max(abs(mean), 0) * count) ** power"};

constinit OpRef averages[] = {OpRef{"ops.avg_pool1d"}, OpRef{"ops.avg_pool2d"},
                              OpRef{"ops.avg_pool3d"}};
constinit OpRef maxima[] = {OpRef{"ops.max_pool1d"}, OpRef{"ops.max_pool2d"},
                            OpRef{"ops.max_pool3d"}};

void define(int64_t n, const char* schema) {
  const std::string op_name = name_of(schema);
  op(schema)
      .doc(
          "The norm of order norm_type of each window of x [n, channels, ..], or without n: the "
          "sum "
          "of x ** norm_type, to the power 1 / norm_type; of inf and -inf the greatest and least "
          "|x|. stride empty: kernel_size. What a window of ceil_mode has beyond x counts as its "
          "mean. Where the sum is 0, the gradient is 0.")
      .amp(Amp::float32)
      .meaning([op_name, n](Tensor x, double norm_type, Ints kernel_size, Ints stride,
                            bool ceil_mode) {
        const char* name = op_name.c_str();
        if (norm_type == 0) fail(op_name + ": norm_type is 0, expected another number");
        const Windows w = pool_options(name, n, kernel_size, stride, 0, 1);
        if (std::isinf(norm_type)) {
          const Tensor size = norm_type > 0 ? abs(as_float(x)) : neg(abs(as_float(x)));
          const Tensor most =
              call(maxima[n - 1], size, kernel_size, stride, Ints(0), Ints(1), ceil_mode);
          return norm_type > 0 ? most : neg(most);
        }
        const Tensor powers = pow(as_float(x), norm_type);
        const Tensor means = call(averages[n - 1], powers, kernel_size, stride, Ints(0), ceil_mode);
        return prim::elementwise(root_of_sum, means, double(product(w.kernel)), 1 / norm_type);
      });
}

}  // namespace

void lp_pool() {
  define(1,
         "lp_pool1d(Tensor x, float norm_type, int[] kernel_size, int[] stride=[], bool "
         "ceil_mode=False) -> Tensor");
  define(2,
         "lp_pool2d(Tensor x, float norm_type, int[] kernel_size, int[] stride=[], bool "
         "ceil_mode=False) -> Tensor");
  define(3,
         "lp_pool3d(Tensor x, float norm_type, int[] kernel_size, int[] stride=[], bool "
         "ceil_mode=False) -> Tensor");
}

}  // namespace tenon::ops_pack
