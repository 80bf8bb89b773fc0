// The standard op pack's entry.
#include "pack.h"

TENON_PLUGIN(ops) {
  ops_pack::elementwise();
  ops_pack::reduce();
  ops_pack::matmul();
  ops_pack::shape();
  ops_pack::create();
  ops_pack::index();
  ops_pack::norm();
  ops_pack::loss();
  ops_pack::random();
  ops_pack::optim();
  ops_pack::amp();
}

namespace tenon::ops_pack {

int64_t wrap_dim(const char* op, int64_t d, int64_t rank) {
  int64_t n = rank == 0
                  ? 1
                  : rank;  // a tensor without dimensions is taken as one of size 1, as PyTorch does
  if (d < -n || d >= n) {
    fail(std::string(op) + ": dimension " + std::to_string(d) + " is out of range; expected " +
         std::to_string(-n) + " to " + std::to_string(n - 1));
  }
  return d < 0 ? d + n : d;
}

std::string sizes_text(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

}  // namespace tenon::ops_pack
