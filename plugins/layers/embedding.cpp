// Rows of a table by index: of words or characters, their bags, and of positions.
#include "layers.h"

namespace layers {

namespace {

const OpRef kEmbedding("embedding"), kEmbeddingBag("embedding_bag"),
    kByFrequency("_embedding_by_frequency"), kRenorm("embedding_renorm_");

// weight [num_embeddings, embedding_dim], normal; the row padding_idx is 0.
Tensor table(int64_t num_embeddings, int64_t embedding_dim, optional<int64_t> padding_idx) {
  expect_size("num_embeddings", num_embeddings);
  expect_size("embedding_dim", embedding_dim);
  Tensor weight = randn({num_embeddings, embedding_dim});
  if (!padding_idx) return weight;
  const int64_t i = *padding_idx;
  if (i < -num_embeddings || i >= num_embeddings) {
    fail("padding_idx is " + std::to_string(i) + ", expected one of the " +
         std::to_string(num_embeddings) + " embeddings");
  }
  weight[i < 0 ? i + num_embeddings : i].fill_(0);
  return weight;
}

// What is done to the rows of a table before they are read.
struct Limit {
  optional<double> max_norm;
  double norm_type;

  void check() const {
    if (max_norm && !(*max_norm >= 0))
      fail("max_norm is " + detail::number_text(*max_norm) + ", expected 0 or more");
    if (!(norm_type > 0))
      fail("norm_type is " + detail::number_text(norm_type) + ", expected above 0");
  }
  // The table of the layer, in which the rows that x has are within it.
  Tensor table(Object& self, const Tensor& x) const {
    Tensor weight = self.tensor("weight");
    if (max_norm) {
      const NoGrad guard;
      call(kRenorm, weight, x, *max_norm, norm_type);
    }
    return weight;
  }
};

}  // namespace

void add_embedding_layers() {
  layer(
      "Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, float? "
      "max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False)",
      "Rows of weight [num_embeddings, embedding_dim], normal at first, by index; that of "
      "padding_idx is 0 at first, and gets no gradient. sparse: the gradient is row-sparse, for "
      "SGD, Adagrad and SparseAdam. max_norm: rows with a larger norm of order norm_type are "
      "scaled "
      "down to it before they are read, which changes weight. scale_grad_by_freq: the gradient of "
      "a "
      "row is divided by how often x has it.",
      [](Object& self, int64_t num_embeddings, int64_t embedding_dim, optional<int64_t> padding_idx,
         optional<double> max_norm, double norm_type, bool scale_grad_by_freq, bool sparse) {
        const Limit limit{max_norm, norm_type};
        limit.check();
        if (sparse && scale_grad_by_freq)
          fail("scale_grad_by_freq is of gradients that are not sparse, and sparse is set");
        self.parameter("weight", table(num_embeddings, embedding_dim, padding_idx));
        self.method(kOfTensor, [=](Object& self, Tensor x) {
          const Tensor weight = limit.table(self, x);
          if (scale_grad_by_freq) return call(kByFrequency, weight, x, padding_idx);
          return call(kEmbedding, weight, x, padding_idx, sparse);
        });
      });
  layer(
      "EmbeddingBag(int num_embeddings, int embedding_dim, float? max_norm=None, float "
      "norm_type=2.0, bool scale_grad_by_freq=False, str mode=\"mean\", bool sparse=False, bool "
      "include_last_offset=False, int? padding_idx=None)",
      "layer(x, offsets, per_sample_weights): sums, means or maxima (mode) of rows of weight "
      "[num_embeddings, embedding_dim], normal at first: a bag for each row of x [bags, n], or "
      "beginning at each of offsets [bags] in x [n], the last of which ends the last bag with "
      "include_last_offset. The row padding_idx is 0 at first, and belongs to no bag. sparse, "
      "max_norm, scale_grad_by_freq: as Embedding's.",
      [](Object& self, int64_t num_embeddings, int64_t embedding_dim, optional<double> max_norm,
         double norm_type, bool scale_grad_by_freq, std::string mode, bool sparse,
         bool include_last_offset, optional<int64_t> padding_idx) {
        const Limit limit{max_norm, norm_type};
        limit.check();
        if (scale_grad_by_freq && (sparse || mode == "max"))
          fail(std::string("scale_grad_by_freq is of sums and means whose gradients are not "
                           "sparse, and ") +
               (sparse ? "sparse is set" : "mode is max"));
        if (sparse && mode == "max")
          fail(
              "sparse is set and mode is max, expected sum or mean with gradients that are sparse");
        if (mode != "sum" && mode != "mean" && mode != "max")
          fail("mode is '" + mode + "', expected sum, mean or max");
        self.parameter("weight", table(num_embeddings, embedding_dim, padding_idx));
        self.method(
            "forward(Tensor x, Tensor? offsets=None, Tensor? per_sample_weights=None) -> Tensor",
            [=](Object& self, Tensor x, Tensor offsets, Tensor per_sample_weights) {
              return call(kEmbeddingBag, limit.table(self, x), x, offsets, mode, per_sample_weights,
                          include_last_offset, padding_idx, sparse, scale_grad_by_freq);
            });
      });
  layer("PositionalEmbedding(int num_embeddings, int embedding_dim)",
        "x [.., n, embedding_dim] plus the first n rows of weight [num_embeddings, embedding_dim], "
        "normal at first.",
        [](Object& self, int64_t num_embeddings, int64_t embedding_dim) {
          expect_positive("num_embeddings", num_embeddings);
          expect_positive("embedding_dim", embedding_dim);
          self.parameter("weight", randn({num_embeddings, embedding_dim}));
          self.method(kOfTensor, [=](Object& self, Tensor x) {
            const bool fits =
                x.dim() >= 2 && x.size(-2) <= num_embeddings && x.size(-1) == embedding_dim;
            if (!fits) {
              fail("x is " + sizes_text(x) + ", expected [.., n, " + std::to_string(embedding_dim) +
                   "] with at most " + std::to_string(num_embeddings) + " positions");
            }
            return x + narrow(self.tensor("weight"), 0, 0, x.size(-2));
          });
        });
}

}  // namespace layers
