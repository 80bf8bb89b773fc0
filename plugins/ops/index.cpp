// Indexing by tensors: gather, scatter and nonzero are primitives, the rest is made of them.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

void expect_index(const char* op, const Tensor& index) {
  if (index.dtype() != int64)
    fail(std::string(op) + ": index is " + index.dtype().name() + ", expected int64");
}

Tensor rows(const Tensor& weight, const Tensor& index) {
  expect_index("embedding", index);
  if (weight.dim() != 2)
    fail("embedding: weight is " + sizes_text(weight.sizes()) + ", expected 2 dimensions");
  int64_t n = index.numel(), d = weight.size(1);
  Tensor flat = prim::gather(weight, 0, prim::expand(prim::reshape(index, {n, 1}), {n, d}));
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(d);
  return prim::reshape(flat, sizes);
}

Tensor hot(const Tensor& index, int64_t num_classes) {
  expect_index("one_hot", index);
  if (num_classes < 1)
    fail("one_hot: num_classes is " + std::to_string(num_classes) + ", at least 1 is needed");
  std::vector<int64_t> sizes(index.sizes().begin(), index.sizes().end());
  sizes.push_back(1);
  Tensor at = prim::reshape(index, sizes);
  Tensor one = prim::expand(prim::fill({}, 1, int64, index.device()), sizes);
  sizes.back() = num_classes;
  // By scatter, as PyTorch's: its kernel refuses a class that is out of range, without a read-back.
  return prim::scatter(prim::fill(sizes, 0, int64, index.device()), -1, at, one, false);
}

}  // namespace

void index() {
  op("gather(Tensor x, int dim, Tensor index) -> Tensor").primitive(TN_GATHER);
  op("scatter(Tensor x, int dim, Tensor index, Tensor src, bool add=False) -> Tensor")
      .primitive(TN_SCATTER);
  op("nonzero(Tensor x) -> Tensor").primitive(TN_NONZERO).dynamic().no_gradient();
  op("embedding(Tensor weight, Tensor index) -> Tensor").meaning(rows);
  op("one_hot(Tensor index, int num_classes) -> Tensor").no_gradient().meaning(hot);
}

}  // namespace tenon::ops_pack
