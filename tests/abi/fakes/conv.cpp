// A convolution as a kernel pair: the forward keeps its columns for the gradient of the weight, as
// a private output whose size is known beforehand. x [n, c, l], weight [o, c, k], bias [o], y [n,
// o, (l - k) / stride + 1]; float64.
#include "fakes.h"

namespace fakes {
namespace {

struct Shape {
  int64_t n, c, l, o, k, stride, m;  // m: positions
};
Shape shape_of(const tn_value* args) {
  const int64_t *x = args[0].as.tensor->sizes, *weight = args[1].as.tensor->sizes,
                stride = args[3].as.i;
  return {x[0], x[1], x[2], weight[0], weight[2], stride, (x[2] - weight[2]) / stride + 1};
}

// f(column's place, x's place) for each element of the columns [n, m, c * k].
template <typename F>
void each_column(const Shape& s, F f) {
  for (int64_t row = 0; row < s.n * s.m; ++row) {
    for (int64_t ck = 0; ck < s.c * s.k; ++ck) {
      f(row * s.c * s.k + ck, (row / s.m * s.c + ck / s.k) * s.l + row % s.m * s.stride + ck % s.k);
    }
  }
}

void forward(const tn_call& call, double* columns) {
  const Shape s = shape_of(call.args);
  const double *x = doubles(tensor(call.args[0])), *weight = doubles(tensor(call.args[1]));
  const double* bias = doubles(tensor(call.args[2]));
  double* y = doubles(call.outputs[0]);
  each_column(s, [&](int64_t column, int64_t at) { columns[column] = x[at]; });
  for (int64_t row = 0; row < s.n * s.m; ++row) {
    for (int64_t o = 0; o < s.o; ++o) {
      double sum = bias ? bias[o] : 0;
      for (int64_t ck = 0; ck < s.c * s.k; ++ck)
        sum += columns[row * s.c * s.k + ck] * weight[o * s.c * s.k + ck];
      y[(row / s.m * s.o + o) * s.m + row % s.m] = sum;
    }
  }
}

// args: the gradient of y, the forward's arguments (x comes as NONE: the columns hold it), y, the
// columns.
void backward(const tn_call& call, const Shape& s) {
  const double *g = doubles(tensor(call.args[0])), *weight = doubles(tensor(call.args[2]));
  const double* columns = doubles(tensor(call.args[6]));
  double *dx = doubles(call.outputs[0]), *dweight = doubles(call.outputs[1]);
  double* dbias = call.n_outputs > 2 ? doubles(call.outputs[2]) : nullptr;
  const auto gradient = [&](int64_t row, int64_t o) {
    return g[(row / s.m * s.o + o) * s.m + row % s.m];
  };
  if (dx) std::fill_n(dx, s.n * s.c * s.l, 0.0);
  each_column(s, [&](int64_t column, int64_t at) {
    const int64_t row = column / (s.c * s.k), ck = column % (s.c * s.k);
    for (int64_t o = 0; dx && o < s.o; ++o) dx[at] += gradient(row, o) * weight[o * s.c * s.k + ck];
  });
  for (int64_t i = 0; dweight && i < s.o * s.c * s.k; ++i) {
    dweight[i] = 0;
    for (int64_t row = 0; row < s.n * s.m; ++row) {
      dweight[i] += gradient(row, i / (s.c * s.k)) * columns[row * s.c * s.k + i % (s.c * s.k)];
    }
  }
  for (int64_t o = 0; dbias && o < s.o; ++o) {
    dbias[o] = 0;
    for (int64_t row = 0; row < s.n * s.m; ++row) dbias[o] += gradient(row, o);
  }
}

tn_status* infer_columns(void*, const tn_call* call, tn_meta* metas, uint32_t) {
  const tn_value* args = call->args;
  const Shape s = shape_of(args);
  metas[0].ndim = 3;
  metas[0].sizes[0] = s.n, metas[0].sizes[1] = s.m, metas[0].sizes[2] = s.c * s.k;
  metas[0].dtype = TN_FLOAT64;
  metas[0].device = args[0].as.tensor->device;
  return nullptr;
}

int32_t takes(void*, const tn_call*, char* reason, size_t bytes) {
  if (!fakes_pairs_refuse) return 1;
  string("the test wants the meaning").copy(reason, bytes - 1);
  return 0;
}

}  // namespace

void add_conv() {
  op("conv1d(Tensor x, Tensor weight, Tensor? bias=None, int stride=1) -> Tensor")
      .amp(Amp::lower)
      .meaning([](Tensor x, Tensor weight, optional<Tensor> bias, int64_t stride) {
        int64_t k = weight.size(2), m = (x.size(2) - k) / stride + 1;
        Tensor y;
        for (int64_t i = 0; i < k; ++i) {
          auto part = matmul(weight.select(2, i), x.slice(2, i, i + (m - 1) * stride + 1, stride));
          y = y.defined() ? y + part : part;
        }
        return bias ? y + bias->unsqueeze(1) : y;
      });
  for (const char* device : {"cpu", "tape"}) {
    kernel("fakes.conv1d", device, {.dtypes = float64, .layout = Layout::contiguous},
           [](const Call& call) {
             const bool keeps = call.n_outputs() > 1 && call.output(1);
             fakes_privates += keeps;
             const Shape s = shape_of(call.get()->args);
             void* columns =
                 keeps ? call.output(1)->data : call.workspace(uint64_t(s.n * s.m * s.c * s.k) * 8);
             enqueue(call.get(),
                     [=](const tn_call& kept) { forward(kept, static_cast<double*>(columns)); });
           })
        .supports(takes)
        .private_outputs(1, infer_columns)
        .backward(
            [](const Call& call) {
              ++fakes_backwards;
              fakes_wanted = 0;
              for (uint32_t i = 0; i < call.n_outputs(); ++i)
                fakes_wanted |= uint64_t(call.output(i) != nullptr) << i;
              const tn_value* args = call.get()->args;
              if (args[1].kind != TN_KIND_NONE) fail("conv1d: x is not saved, and came");
              const int64_t *weight = args[2].as.tensor->sizes, *columns = args[6].as.tensor->sizes,
                            stride = args[4].as.i;
              const int64_t l =
                  call.output(0) ? call.output(0)->sizes[2] : (columns[1] - 1) * stride + weight[2];
              const Shape s{columns[0], weight[1], l, weight[0], weight[2], stride, columns[1]};
              enqueue(call.get(), [=](const tn_call& kept) { backward(kept, s); });
            },
            {.saves_args = 0b10});
  }
}

}  // namespace fakes
