// Sums, means or maxima of rows of a table.
#include "layers.h"

namespace layers {

void add_embedding_bag_layer() {
  layer("EmbeddingBag(int num_embeddings, int embedding_dim, str mode=\"mean\")",
        [](Object& self, int64_t num_embeddings, int64_t embedding_dim, std::string mode) {
          expect_positive("num_embeddings", num_embeddings);
          expect_positive("embedding_dim", embedding_dim);
          if (mode != "sum" && mode != "mean" && mode != "max")
            fail("mode is '" + mode + "', expected sum, mean or max");
          self.parameter("weight", randn({num_embeddings, embedding_dim}));
          self.method(
              "forward(Tensor x, Tensor? offsets=None, Tensor? per_sample_weights=None) -> Tensor",
              [=](Object& self, Tensor x, Tensor offsets, Tensor per_sample_weights) {
                return embedding_bag(self.tensor("weight"), x, offsets, mode.c_str(),
                                     per_sample_weights);
              });
        });
}

}  // namespace layers
