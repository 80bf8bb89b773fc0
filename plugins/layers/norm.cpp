// Normalizations. Weights start at 1, biases at 0, running means at 0 and variances at 1.
#include <algorithm>

#include "layers.h"

namespace layers {
namespace {

void add_affine(Object& self, Ints sizes, bool weight, bool bias) {
  self.parameter("weight", weight ? ones(sizes) : Tensor());
  self.parameter("bias", bias ? zeros(sizes) : Tensor());
}

void expect_sizes(Ints normalized_shape) {
  if (normalized_shape.empty()) fail("normalized_shape is empty, expected at least one size");
  for (const int64_t size : normalized_shape) expect_size("normalized_shape", size);
}

// The count of batches stays 0 in an InstanceNorm, as PyTorch's.
void add_running_values(Object& self, int64_t num_features) {
  self.buffer("running_mean", zeros(num_features));
  self.buffer("running_var", ones(num_features));
  self.buffer("num_batches_tracked", zeros({}, int64));
  // Weights from before there was such a count are without it, and PyTorch takes them.
  self.method("may_lack(str name) -> bool",
              [](std::string_view name) { return name == "num_batches_tracked"; });
}

void define_batch_norm(int64_t n) {
  const std::string schema = "BatchNorm" + std::to_string(n) +
                             "d(int num_features, float eps=1e-5, float? momentum=0.1, bool "
                             "affine=True, bool track_running_stats=True, bool bias=True)";
  layer(schema.c_str(),
        "x [n, num_features, ..], normalized for each channel: in training by the batch, else by "
        "running values, which follow the batches by momentum, or as means of all where it is "
        "None. weight is 1 and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.",
        [n](Object& self, int64_t num_features, double eps, std::optional<double> momentum,
            bool affine, bool track_running_stats, bool bias) {
          expect_positive("num_features", num_features);
          add_affine(self, num_features, affine, affine && bias);
          if (track_running_stats) add_running_values(self, num_features);
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            if (x.dim() != n + 2 && !(n == 1 && x.dim() == 2)) {
              fail("x has " + std::to_string(x.dim()) + " dimensions, expected " +
                   (n == 1 ? "2 or " : "") + std::to_string(n + 2));
            }
            const bool by_batch = self.training() || !track_running_stats;
            Tensor mean, var, count;
            if (track_running_stats) {
              mean = self.tensor("running_mean");
              var = self.tensor("running_var");
              if (self.training()) count = self.tensor("num_batches_tracked");
            }
            // Without momentum the running values are the means of all batches.
            const bool is_mean = count.defined() && !momentum;
            const Tensor own_mean = is_mean ? zeros_like(mean) : mean,
                         own_var = is_mean ? zeros_like(var) : var;
            const Tensor y = batch_norm(
                x, own_mean, own_var, self.tensor("weight"), self.tensor("bias"),
                {.training = by_batch, .momentum = is_mean ? 1 : momentum.value_or(0), .eps = eps});
            if (is_mean && x.numel() > 0) {  // a batch without elements has no values
              const Tensor step =
                  reciprocal((count + 1).to(mean.dtype() == float64 ? float64 : float32));
              lerp_(mean, own_mean, step);
              lerp_(var, own_var, step);
            }
            if (count.defined()) count += 1;  // a batch that was refused does not count
            return y;
          });
        });
  define_lazy(schema, 1);
}

// By the samples' own means and variances, each channel for itself; by running ones in evaluation
// where they are tracked.
void define_instance_norm(int64_t n) {
  const std::string schema = "InstanceNorm" + std::to_string(n) +
                             "d(int num_features, float eps=1e-5, float momentum=0.1, bool "
                             "affine=False, bool track_running_stats=False, bool bias=True)";
  layer(schema.c_str(),
        "x [n, num_features, ..], or without n, normalized for each sample and channel, or by "
        "running values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.",
        [n](Object& self, int64_t num_features, double eps, double momentum, bool affine,
            bool track_running_stats, bool bias) {
          expect_positive("num_features", num_features);
          add_affine(self, num_features, affine, affine && bias);
          if (track_running_stats) add_running_values(self, num_features);
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            if (x.dim() != n + 1 && x.dim() != n + 2) {
              fail("x has " + std::to_string(x.dim()) + " dimensions, expected " +
                   std::to_string(n + 1) + " or " + std::to_string(n + 2));
            }
            const bool batch = x.dim() == n + 2;
            if (x.size(batch) != num_features && (affine || track_running_stats)) {
              fail("x has " + std::to_string(x.size(batch)) + " channels, expected " +
                   std::to_string(num_features));
            }
            Tensor mean, var;
            if (track_running_stats) {
              mean = self.tensor("running_mean");
              var = self.tensor("running_var");
            }
            const Tensor y = instance_norm(
                batch ? x : unsqueeze(x, 0), mean, var, self.tensor("weight"), self.tensor("bias"),
                {.use_input_stats = self.training() || !track_running_stats,
                 .momentum = momentum,
                 .eps = eps});
            return batch ? y : squeeze(y, 0);
          });
        });
  define_lazy(schema, -(n + 1));
}

// eps None: of the dtype that it is computed in, the difference between 1 and the next number.
double rms_eps(const std::optional<double>& eps, Dtype dtype) {
  return eps.value_or(dtype == float64 ? 0x1p-52 : 0x1p-23);
}

void define_rms_norm() {
  layer(
      "RMSNorm(int[] normalized_shape, float? eps=None, bool elementwise_affine=True)",
      "x / sqrt(mean(x * x) + eps) over the last dimensions, which are normalized_shape, times "
      "weight, 1 at first. eps None: of the dtype. Zhang & Sennrich, arXiv:1910.07467.",
      [](Object& self, Ints normalized_shape, std::optional<double> eps, bool elementwise_affine) {
        expect_sizes(normalized_shape);
        self.parameter("weight", elementwise_affine ? ones(normalized_shape) : Tensor());
        const std::vector<int64_t> shape(normalized_shape.begin(), normalized_shape.end());
        self.method(kOfTensor, [=](Object& self, Tensor x) {
          const auto sizes = x.sizes();
          if (sizes.size() < shape.size() ||
              !std::equal(shape.begin(), shape.end(), sizes.end() - ptrdiff_t(shape.size()))) {
            fail("x does not end with the sizes of normalized_shape");
          }
          const Tensor weight = self.tensor("weight");
          const double e = rms_eps(eps, x.dtype());
          if (shape.size() == 1) return rms_norm(x, weight, e);
          const Tensor y = rms_norm(flatten(x, -int64_t(shape.size())),
                                    weight.defined() ? flatten(weight) : weight, e);
          return reshape(y, sizes);
        });
      });
}

}  // namespace

void add_norm_layers() {
  for (int64_t n = 1; n <= 3; ++n) define_batch_norm(n);
  for (int64_t n = 1; n <= 3; ++n) define_instance_norm(n);
  define_rms_norm();
  layer(
      "LayerNorm(int[] normalized_shape, float eps=1e-5, bool elementwise_affine=True, bool "
      "bias=True)",
      "(x - mean) / sqrt(var + eps) over the last dimensions, which are normalized_shape, times "
      "weight, 1 at first, plus bias, 0 at first. Ba, Kiros & Hinton, arXiv:1607.06450.",
      [](Object& self, Ints normalized_shape, double eps, bool elementwise_affine, bool bias) {
        expect_sizes(normalized_shape);
        add_affine(self, normalized_shape, elementwise_affine, elementwise_affine && bias);
        const std::vector<int64_t> shape(normalized_shape.begin(), normalized_shape.end());
        self.method(kOfTensor, [=](Object& self, Tensor x) {
          return layer_norm(x, shape, self.tensor("weight"), self.tensor("bias"), eps);
        });
      });
  layer(
      "GroupNorm(int num_groups, int num_channels, float eps=1e-5, bool affine=True, bool "
      "bias=True)",
      "x [n, num_channels, ..], normalized over num_groups groups of channels, times weight, 1 "
      "at first, plus bias, 0 at first. Wu & He, arXiv:1803.08494.",
      [](Object& self, int64_t num_groups, int64_t num_channels, double eps, bool affine,
         bool bias) {
        expect_positive("num_groups", num_groups);
        expect_positive("num_channels", num_channels);
        if (num_channels % num_groups != 0) {
          fail("num_channels is " + std::to_string(num_channels) +
               ", expected it divisible by num_groups, " + std::to_string(num_groups));
        }
        add_affine(self, num_channels, affine, affine && bias);
        self.method(kOfTensor, [=](Object& self, Tensor x) {
          return group_norm(x, num_groups, self.tensor("weight"), self.tensor("bias"), eps);
        });
      });
  layer("LocalResponseNorm(int size, float alpha=1e-4, float beta=0.75, float k=1)",
        "x [n, channels, ..] / (k + alpha * m)^beta, where m is the mean of x * x over size "
        "neighbouring channels. Krizhevsky et al., 2012.",
        [](Object& self, int64_t size, double alpha, double beta, double k) {
          expect_positive("size", size);
          self.method(kOfTensor, [=](Tensor x) {
            return local_response_norm(x, size, {.alpha = alpha, .beta = beta, .k = k});
          });
        });
}

}  // namespace layers
