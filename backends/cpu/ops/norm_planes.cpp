// group_norm and the training half of batch_norm in float32, with their gradients: x is [n,
// channels, places], and some of its planes, [places] each, have their statistics in common.
#include <cstdint>
#include <initializer_list>

#include "ops/images.h"
#include "ops/norm_last.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kLeastPlace = 4;  // shorter rows are not worth a call each

struct Moments {
  float mean, rstd;
};

// Which planes, [places] each, have their statistics in common: those of a channel in all samples,
// or those of a group of channels in one sample.
struct Planes {
  int64_t n, channels, places;
  int64_t groups;  // 0: batch_norm
  Planes(const tn_tensor& x, int64_t g)
      : n(x.sizes[0]), channels(x.sizes[1]), places(product(x.sizes + 2, x.ndim - 2)), groups(g) {}
  int64_t count() const { return groups ? n * groups : channels; }  // of statistics
  int64_t each() const { return groups ? channels / groups : n; }   // planes of one
  int64_t plane(int64_t s, int64_t j) const { return groups ? s * each() + j : j * channels + s; }
  int64_t channel(int64_t plane) const { return plane % channels; }
  double values() const { return static_cast<double>(each() * places); }
  int64_t grain() const { return 1 + kPieceElements / (each() * places); }
};

// take(s, mean, var) sees the statistics of each.
template <typename Take>
void planes_forward(const tn_call* call, const Planes& p, const float* x, const float* weight,
                    const float* bias, double eps, const Take& take) {
  float* const y = data(call->outputs[0]);
  const RowFunctions& rows = table().rows;
  parallel_for(call->host, 0, p.count(), p.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      double sum = 0, squares = 0;
      for (int64_t j = 0; j < p.each(); ++j) {
        sum += rows.sum(x + p.plane(s, j) * p.places, p.places);
      }
      const float mean = static_cast<float>(sum / p.values());
      for (int64_t j = 0; j < p.each(); ++j) {
        squares += rows.square_off(x + p.plane(s, j) * p.places, p.places, mean);
      }
      const double var = squares / p.values();
      const float rstd = rstd_of(var, eps);
      for (int64_t j = 0; j < p.each(); ++j) {
        const int64_t plane = p.plane(s, j), c = p.channel(plane);
        rows.normalize(y + plane * p.places, x + plane * p.places, p.places, mean,
                       weight ? rstd * weight[c] : rstd, bias ? bias[c] : 0);
      }
      take(s, mean, var);
    }
  });
}

// get(s): the moments. Gradients of x, weight and bias to `results`, each may be NULL.
template <typename Get>
void planes_backward(const tn_call* call, const Planes& p, const float* g, const float* x,
                     const float* weight, float* const* results, const Get& get) {
  const int64_t planes = p.n * p.channels;
  void* const memory = Call(call).workspace(static_cast<uint64_t>(planes) * 2 * sizeof(double));
  double* const of_bias = static_cast<double*>(memory);  // by plane
  double* const of_weight = of_bias + planes;
  const RowFunctions& rows = table().rows;
  parallel_for(call->host, 0, p.count(), p.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const Moments m = get(s);
      double sum = 0, dot = 0;
      for (int64_t j = 0; j < p.each(); ++j) {
        const int64_t plane = p.plane(s, j), at = plane * p.places;
        const double w = weight ? weight[p.channel(plane)] : 1;
        const double plane_sum = rows.sum(g + at, p.places);
        const double plane_dot = rows.dot_off(g + at, nullptr, x + at, p.places, m.mean);
        sum += w * plane_sum;
        dot += w * plane_dot;
        of_bias[plane] = plane_sum;
        of_weight[plane] = plane_dot * m.rstd;
      }
      const Slopes slopes(m.rstd, sum, dot, p.values());
      for (int64_t j = 0; results[0] && j < p.each(); ++j) {
        const int64_t plane = p.plane(s, j), at = plane * p.places;
        const float w = weight ? weight[p.channel(plane)] : 1;
        rows.normalize_dx(results[0] + at, g + at, nullptr, x + at, p.places, m.mean,
                          slopes.of_g * w, slopes.of_x, slopes.shift);
      }
    }
  });
  const double* const sums[] = {of_weight, of_bias};
  for (int k = 0; k < 2; ++k) {
    for (int64_t c = 0; results[1 + k] && c < p.channels; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < p.n; ++i) {
        sum += sums[k][i * p.channels + c];
      }
      results[1 + k][c] = static_cast<float>(sum);
    }
  }
}

bool planes_support(const tn_call* call, int64_t groups, const tn_tensor* weight,
                    const tn_tensor* bias, double eps, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  bool fits = x.ndim >= 2 && groups >= 0 && eps >= 0;
  fits = fits && (groups == 0 || x.sizes[1] % groups == 0);
  for (const tn_tensor* t : {weight, bias}) {
    fits = fits && (!t || (t->ndim == 1 && t->sizes[0] == x.sizes[1]));
  }
  if (!fits) {
    return why("the arguments do not fit together");
  }
  if (product(x.sizes + 2, x.ndim - 2) < kLeastPlace) {
    return why("takes channels of 4 or more places");
  }
  return x.numel > 0 || why("takes no empty tensors");
}

// _batch_norm(x, weight, bias, eps): y, and the mean and variance of each channel.
void batch_forward(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const float* const weight = data(call->args[1]);
  const float* const bias = data(call->args[2]);
  const double eps = call->args[3].as.f;
  if (is_channels_last(x)) {
    return batch_forward_last(call, data(&x), weight, bias, eps);
  }
  const float* elements;
  as_image(call, x, false, &elements);
  float* const means = data(call->outputs[1]);
  float* const vars = data(call->outputs[2]);
  planes_forward(call, Planes(x, 0), elements, weight, bias, eps,
                 [&](int64_t s, float mean, double var) {
                   means[s] = mean;
                   vars[s] = static_cast<float>(var);
                 });
}

// args: g and the gradients of mean and variance, which nobody takes; x, weight, bias (not saved),
// eps; y (not saved), mean, variance.
void batch_backward(const tn_call* call) {
  if (call->args[1].kind != TN_KIND_NONE || call->args[2].kind != TN_KIND_NONE) {
    check(error(call->host, TN_UNSUPPORTED, "_batch_norm: the moments have no gradient on cpu"));
  }
  if (call->args[0].kind != TN_KIND_TENSOR) {
    clear_outputs(call);
    return;
  }
  const tn_tensor& x = *call->args[3].as.tensor;
  const double eps = call->args[6].as.f;
  const float* const means = data(call->args[8]);
  const float* const vars = data(call->args[9]);
  // dx lies as x does; the others of neither layout are copied.
  const bool last = is_channels_last(x);
  const float *g, *elements;
  as_image(call, *call->args[0].as.tensor, last, &g);
  as_image(call, x, last, &elements);
  if (last) {
    return batch_backward_last(call, x, g, elements, data(call->args[4]), means, vars, eps);
  }
  float* const results[] = {data(call->outputs[0]), data(call->outputs[1]), data(call->outputs[2])};
  return planes_backward(call, Planes(x, 0), g, elements, data(call->args[4]), results,
                         [&](int64_t s) {
                           return Moments{means[s], rstd_of(vars[s], eps)};
                         });
}

bool batch_supports(const tn_call* call, Refusal why) {
  if (lies_otherwise(*call->args[0].as.tensor)) {
    return why("%s", kOtherOrder);
  }
  return planes_support(call, 0, tensor_of(call->args[1]), tensor_of(call->args[2]),
                        call->args[3].as.f, why);
}

// group_norm(x, num_groups, weight, bias, eps)
void group_forward(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const double eps = call->args[4].as.f;
  float* const means = call->n_outputs > 1 ? data(call->outputs[1]) : nullptr;
  float* const rstds = call->n_outputs > 1 ? data(call->outputs[2]) : nullptr;
  planes_forward(call, Planes(x, call->args[1].as.i), data(&x), data(call->args[2]),
                 data(call->args[3]), eps, [&](int64_t s, float mean, double var) {
                   if (means) {
                     means[s] = mean;
                     rstds[s] = rstd_of(var, eps);
                   }
                 });
}

// args: g, then x, num_groups, weight, bias (not saved), eps; the output (not saved), means, rstds.
void group_backward(const tn_call* call) {
  if (call->args[0].kind != TN_KIND_TENSOR) {
    clear_outputs(call);
    return;
  }
  const tn_tensor& x = *call->args[1].as.tensor;
  const float* const means = data(call->args[7]);
  const float* const rstds = data(call->args[8]);
  float* const results[] = {data(call->outputs[0]), data(call->outputs[1]), data(call->outputs[2])};
  return planes_backward(call, Planes(x, call->args[2].as.i), data(call->args[0]), data(&x),
                         data(call->args[3]), results, [&](int64_t s) {
                           return Moments{means[s], rstds[s]};
                         });
}

void group_private(const tn_call* call, std::span<tn_meta> metas) {
  const tn_tensor& x = *call->args[0].as.tensor;
  for (tn_meta& meta : metas) {
    describe(&meta, x, x.sizes[0] * call->args[1].as.i);
  }
}

bool group_supports(const tn_call* call, Refusal why) {
  const int64_t groups = call->args[1].as.i;
  return planes_support(call, groups == 0 ? -1 : groups, tensor_of(call->args[2]),
                        tensor_of(call->args[3]), call->args[4].as.f, why);
}

}  // namespace

void add_norm_planes() {
  kernel("group_norm", "cpu", rows_of_float32(kUsualPromises), fn<group_forward>)
      .supports(fn<group_supports>)
      .private_outputs(2, fn<group_private>)                // means and rstds
      .backward(fn<group_backward>, {.saves_args = 0b11});  // x and weight
  kernel("_batch_norm", "cpu", images_of_float32(kUsualPromises), fn<batch_forward>)
      .supports(fn<batch_supports>)
      .order(image_order)
      .backward(fn<batch_backward>, {.saves_args = 0b11, .saves_outputs = 0b110});  // the moments
}

}  // namespace tenon::cpu_backend
