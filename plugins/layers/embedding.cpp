// Rows of a table by index: of words or characters, and of positions.
#include "layers.h"

namespace layers {

void add_embedding_layers() {
  layer("Embedding(int num_embeddings, int embedding_dim)",
        [](Object& self, int64_t num_embeddings, int64_t embedding_dim) {
          expect_positive("num_embeddings", num_embeddings);
          expect_positive("embedding_dim", embedding_dim);
          self.parameter("weight", randn({num_embeddings, embedding_dim}));
          self.method("forward(Tensor x) -> Tensor",
                      [](Object& self, Tensor x) { return embedding(self.tensor("weight"), x); });
        });
  layer("PositionalEmbedding(int num_embeddings, int embedding_dim)",
        [](Object& self, int64_t num_embeddings, int64_t embedding_dim) {
          expect_positive("num_embeddings", num_embeddings);
          expect_positive("embedding_dim", embedding_dim);
          self.parameter("weight", randn({num_embeddings, embedding_dim}));
          self.method("forward(Tensor x) -> Tensor", [=](Object& self, Tensor x) {
            const bool fits = x.dim() >= 2 && x.size(-2) <= num_embeddings &&
                              x.size(-1) == embedding_dim;
            if (!fits) {
              fail("x is " + sizes_text(x) + ", expected [.., n, " + std::to_string(embedding_dim) +
                   "] with at most " + std::to_string(num_embeddings) + " positions");
            }
            return x + narrow(self.tensor("weight"), 0, 0, x.size(-2));
          });
        });
}

}  // namespace layers
