// Ops of one tensor each, in rows: an op on samples, the sizes of what it gives, and a number made
// of all elements with a weight each. On every device values and both derivatives are compared.
#pragma once

#include "ops_support.h"

struct Row {
  const char* name;
  Tensor (*op)(const TensorList& in);
  std::vector<std::vector<int64_t>> inputs;  // sizes; input i is sample(sizes, i), float64
  std::vector<int64_t> sizes;
  double weighed;  // weigh(output)
};

inline void check_rows(std::span<const Row> rows) {
  for (tn::Device d : devices()) {
    for (const Row& row : rows) {
      SCOPED_TRACE(d.name() + ": " + row.name);
      TensorList in, narrow;
      for (const auto& sizes : row.inputs) in.push_back(sample(sizes, d, double(in.size())));
      Tensor y = row.op(in);
      expect_sizes(y, row.sizes);
      EXPECT_TRUE(y.is_contiguous());
      EXPECT_EQ(y.dtype(), tn::float64);
      expect_near(weigh(y), {row.weighed});
      gradcheck(row.op, in);
      for (const Tensor& t : in) narrow.push_back(t.to(tn::float32));
      y = row.op(narrow);
      EXPECT_EQ(y.dtype(), tn::float32);  // so an op brings constants in the dtype of in[0]
      expect_near(weigh(y), {row.weighed}, 1e-5);
    }
  }
}
