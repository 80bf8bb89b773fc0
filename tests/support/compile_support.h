// For tests of compiled functions: the same bits, and what a function says of itself.
#pragma once

#include <string>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

// Bit for bit, NaNs and signs of zeros too.
inline void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.defined(), b.defined());
  if (!a.defined()) return;
  ASSERT_EQ(std::vector<int64_t>(a.sizes().begin(), a.sizes().end()),
            std::vector<int64_t>(b.sizes().begin(), b.sizes().end()));
  ASSERT_EQ(a.dtype(), b.dtype());
  const Tensor x = a.detach().to(tn::cpu).contiguous(), y = b.detach().to(tn::cpu).contiguous();
  std::vector<unsigned char> bytes_of_x(size_t(x.numel() * x.dtype().itemsize())),
      bytes_of_y(bytes_of_x.size());
  tn::check(tn::detail::api.tensor->read(x.get(), bytes_of_x.data(), bytes_of_x.size()));
  tn::check(tn::detail::api.tensor->read(y.get(), bytes_of_y.data(), bytes_of_y.size()));
  EXPECT_EQ(bytes_of_x, bytes_of_y) << a << " and " << b;
}

template <typename F>
void expect_described(const tn::CompiledFunction<F>& f, const std::string& part) {
  EXPECT_NE(f.describe().find(part), std::string::npos) << f.describe();
}
