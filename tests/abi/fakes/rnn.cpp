// An RNN as a kernel pair over a list of weights, as cuDNN's: the forward fills a reserve, bytes
// whose number is known beforehand, and the backward lives on it. h[t] = tanh(w in[t] + u h[t - 1]
// + b), layer over layer; x [t, n, i], h0 [layers, n, h], weights w [h, i or h], u [h, h], b [h] of
// each layer; y [t, n, h] and the last states [layers, n, h]; float64.
#include <cmath>

#include "fakes.h"

namespace fakes {
namespace {

struct Shape {
  int64_t t, n, i, h, layers;
  Shape(const tn_tensor* x, const tn_tensor* h0)
      : t(x->sizes[0]), n(x->sizes[1]), i(x->sizes[2]), h(h0->sizes[2]), layers(h0->sizes[0]) {}
  uint64_t reserve() const { return uint64_t(layers * t * n * h) * sizeof(double); }
  int64_t width(int64_t layer) const { return layer == 0 ? i : h; }
};

// What layer l reads, and what it gave, in the reserve.
double* states(const Shape& s, double* reserve, int64_t layer) {
  return reserve + layer * s.t * s.n * s.h;
}

void forward(const tn_call& call, double* reserve) {
  const tn_tensor *x = call.args[0].as.tensor, *h0 = call.args[1].as.tensor;
  const Shape s(x, h0);
  for (int64_t l = 0; l < s.layers; ++l) {
    tn_tensor* const* weights = call.args[2].as.tensors + 3 * l;
    const double *w = doubles(weights[0]), *u = doubles(weights[1]), *b = doubles(weights[2]);
    const double* in = l == 0 ? doubles(x) : states(s, reserve, l - 1);
    double* out = states(s, reserve, l);
    for (int64_t row = 0; row < s.t * s.n; ++row) {
      const double* before =
          row < s.n ? doubles(h0) + (l * s.n + row) * s.h : out + (row - s.n) * s.h;
      for (int64_t j = 0; j < s.h; ++j) {
        double sum = b[j];
        for (int64_t k = 0; k < s.width(l); ++k)
          sum += w[j * s.width(l) + k] * in[row * s.width(l) + k];
        for (int64_t k = 0; k < s.h; ++k) sum += u[j * s.h + k] * before[k];
        out[row * s.h + j] = std::tanh(sum);
      }
    }
    std::copy_n(out + (s.t - 1) * s.n * s.h, s.n * s.h, doubles(call.outputs[1]) + l * s.n * s.h);
  }
  std::copy_n(states(s, reserve, s.layers - 1), s.t * s.n * s.h, doubles(call.outputs[0]));
}

void zero(double* to, int64_t n) {
  if (to) std::fill_n(to, n, 0.0);
}

// args: the gradients of y and of the last states, x, h0, weights, (y), (states), the reserve.
// outputs: of x, h0, weights.
void backward(const tn_call& call) {
  const tn_tensor *x = tensor(call.args[2]), *h0 = tensor(call.args[3]);
  const Shape s(x, h0);
  double* reserve = doubles(tensor(call.args[7]));
  const double *gy = doubles(tensor(call.args[0])), *glast = doubles(tensor(call.args[1]));
  vector<double> above(size_t(s.t * s.n * s.h)),
      below;  // gradients of a layer's result and of what it read
  if (gy) above.assign(gy, gy + above.size());
  for (int64_t l = s.layers - 1; l >= 0; --l) {
    const double *w = doubles(call.args[4].as.tensors[3 * l]),
                 *u = doubles(call.args[4].as.tensors[3 * l + 1]);
    double *dw = doubles(call.outputs[2 + 3 * l]), *du = doubles(call.outputs[3 + 3 * l]),
           *db = doubles(call.outputs[4 + 3 * l]);
    const int64_t width = s.width(l);
    const double* in = l == 0 ? doubles(x) : states(s, reserve, l - 1);
    const double* out = states(s, reserve, l);
    zero(dw, s.h * width), zero(du, s.h * s.h), zero(db, s.h);
    below.assign(size_t(s.t * s.n * width), 0);
    vector<double> gh(size_t(s.n * s.h));
    if (glast) gh.assign(glast + l * s.n * s.h, glast + (l + 1) * s.n * s.h);
    for (int64_t row = s.t * s.n - 1; row >= 0; --row) {
      double* carried = &gh[size_t(row % s.n * s.h)];
      const double* before =
          row < s.n ? doubles(h0) + (l * s.n + row) * s.h : out + (row - s.n) * s.h;
      vector<double> next(size_t(s.h));
      for (int64_t j = 0; j < s.h; ++j) {
        const double h = out[row * s.h + j];
        const double d = (carried[j] + above[size_t(row * s.h + j)]) * (1 - h * h);
        if (db) db[j] += d;
        for (int64_t k = 0; k < width; ++k) {
          if (dw) dw[j * width + k] += d * in[row * width + k];
          below[size_t(row * width + k)] += d * w[j * width + k];
        }
        for (int64_t k = 0; k < s.h; ++k) {
          if (du) du[j * s.h + k] += d * before[k];
          next[size_t(k)] += d * u[j * s.h + k];
        }
      }
      std::copy(next.begin(), next.end(), carried);
    }
    if (call.outputs[1]) std::copy(gh.begin(), gh.end(), doubles(call.outputs[1]) + l * s.n * s.h);
    above.swap(below);
  }
  if (call.outputs[0]) std::copy(above.begin(), above.end(), doubles(call.outputs[0]));
}

tn_status* infer_reserve(void*, const tn_call* call, tn_meta* metas, uint32_t) {
  const tn_value* args = call->args;
  const Shape s(args[0].as.tensor, args[1].as.tensor);
  metas[0].ndim = 1;
  metas[0].sizes[0] = int64_t(s.reserve());
  metas[0].dtype = TN_UINT8;
  metas[0].device = args[0].as.tensor->device;
  return nullptr;
}

int32_t takes(void*, const tn_call*, char*, size_t) { return !fakes_pairs_refuse; }

tuple<Tensor, Tensor> meaning(Tensor x, Tensor h0, Tensors weights) {
  vector<Tensor> last;
  for (uint32_t l = 0; l < weights.size() / 3; ++l) {
    auto w = weights[3 * l], u = weights[3 * l + 1], b = weights[3 * l + 2];
    auto h = h0[l];
    vector<Tensor> steps;
    for (int64_t t = 0; t < x.size(0); ++t) {
      h = tanh(matmul(x[t], w.t()) + matmul(h, u.t()) + b);
      steps.push_back(h.unsqueeze(0));
    }
    x = cat(steps);
    last.push_back(h.unsqueeze(0));
  }
  return {x, cat(last)};
}

}  // namespace

void add_rnn() {
  op("rnn(Tensor x, Tensor h0, Tensor[] weights) -> (Tensor, Tensor)")
      .amp(Amp::lower)
      .meaning(meaning);
  for (const char* device : {"cpu", "tape"}) {
    kernel("fakes.rnn", device, {.dtypes = float64, .layout = Layout::contiguous},
           [](const Call& call) {
             const bool keeps = call.n_outputs() > 2 && call.output(2);
             fakes_privates += keeps;
             void* reserve = keeps
                                 ? call.output(2)->data
                                 : call.workspace(Shape(call.tensor(0), call.tensor(1)).reserve());
             enqueue(call.get(),
                     [=](const tn_call& kept) { forward(kept, static_cast<double*>(reserve)); });
           })
        .supports(takes)
        .private_outputs(1, infer_reserve)
        .backward([](const Call& call) {
          ++fakes_backwards;
          fakes_wanted = 0;
          for (uint32_t i = 0; i < call.n_outputs(); ++i)
            fakes_wanted |= uint64_t(call.output(i) != nullptr) << i;
          enqueue(call.get(), backward);
        });
  }
}

}  // namespace fakes
