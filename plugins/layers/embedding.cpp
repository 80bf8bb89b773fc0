// Rows of a table by index: of words or characters, their bags, and of positions.
#include "layers.h"

namespace layers {

namespace {

const OpRef kEmbedding("embedding"), kEmbeddingBag("embedding_bag");

// weight [num_embeddings, embedding_dim], normal; the row padding_idx is 0.
Tensor table(int64_t num_embeddings, int64_t embedding_dim, optional<int64_t> padding_idx) {
  expect_positive("num_embeddings", num_embeddings);
  expect_positive("embedding_dim", embedding_dim);
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

}  // namespace

void add_embedding_layers() {
  layer(
      "Embedding(int num_embeddings, int embedding_dim, int? padding_idx=None, bool sparse=False)",
      "Rows of weight [num_embeddings, embedding_dim], normal at first, by index; that of "
      "padding_idx is 0 at first, and gets no gradient. sparse: the gradient is row-sparse, for "
      "SGD, Adagrad and SparseAdam.",
      [](Object& self, int64_t num_embeddings, int64_t embedding_dim, optional<int64_t> padding_idx,
         bool sparse) {
        self.parameter("weight", table(num_embeddings, embedding_dim, padding_idx));
        self.method("forward(Tensor x) -> Tensor", [padding_idx, sparse](Object& self, Tensor x) {
          return call(kEmbedding, self.tensor("weight"), x, padding_idx, sparse);
        });
      });
  layer(
      "EmbeddingBag(int num_embeddings, int embedding_dim, str mode=\"mean\", bool "
      "include_last_offset=False, int? padding_idx=None, bool sparse=False)",
      "layer(x, offsets, per_sample_weights): sums, means or maxima (mode) of rows of weight "
      "[num_embeddings, embedding_dim], normal at first: a bag for each row of x [bags, n], or "
      "beginning at each of offsets [bags] in x [n], the last of which ends the last bag with "
      "include_last_offset. The row padding_idx is 0 at first, and belongs to no bag. sparse: as "
      "Embedding's.",
      [](Object& self, int64_t num_embeddings, int64_t embedding_dim, std::string mode,
         bool include_last_offset, optional<int64_t> padding_idx, bool sparse) {
        if (mode != "sum" && mode != "mean" && mode != "max")
          fail("mode is '" + mode + "', expected sum, mean or max");
        self.parameter("weight", table(num_embeddings, embedding_dim, padding_idx));
        self.method(
            "forward(Tensor x, Tensor? offsets=None, Tensor? per_sample_weights=None) -> Tensor",
            [=](Object& self, Tensor x, Tensor offsets, Tensor per_sample_weights) {
              return call(kEmbeddingBag, self.tensor("weight"), x, offsets, mode,
                          per_sample_weights, include_last_offset, padding_idx, sparse);
            });
      });
  layer("PositionalEmbedding(int num_embeddings, int embedding_dim)",
        "x [.., n, embedding_dim] plus the first n rows of weight [num_embeddings, embedding_dim], "
        "normal at first.",
        [](Object& self, int64_t num_embeddings, int64_t embedding_dim) {
          expect_positive("num_embeddings", num_embeddings);
          expect_positive("embedding_dim", embedding_dim);
          self.parameter("weight", randn({num_embeddings, embedding_dim}));
          self.method("forward(Tensor x) -> Tensor", [=](Object& self, Tensor x) {
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
