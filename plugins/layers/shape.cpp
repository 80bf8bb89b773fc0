// Layers that move elements, or only see them in other sizes.
#include "layers.h"

namespace layers {

void add_shape_layers() {
  layer("Flatten(int start_dim=1, int end_dim=-1)",
        "All dimensions from start_dim to end_dim as one.",
        [](Object& self, int64_t start_dim, int64_t end_dim) {
          self.method(kOfTensor, [=](Tensor x) { return flatten(x, start_dim, end_dim); });
        });
  layer("Unflatten(int dim, int[] unflattened_size)",
        "The dimension dim as several; a size of -1 is found.",
        [](Object& self, int64_t dim, Ints unflattened_size) {
          const std::vector<int64_t> wanted(unflattened_size.begin(), unflattened_size.end());
          if (wanted.empty()) fail("unflattened_size is empty, expected at least one size");
          self.method(kOfTensor, [=](Tensor x) { return unflatten(x, dim, wanted); });
        });
  layer("ChannelShuffle(int groups)",
        "x [n, groups * c, ..] with the channels of all groups taken in turn. Zhang et al., "
        "arXiv:1707.01083.",
        [](Object& self, int64_t groups) {
          expect_positive("groups", groups);
          self.method(kOfTensor, [=](Tensor x) { return channel_shuffle(x, groups); });
        });
}

}  // namespace layers
