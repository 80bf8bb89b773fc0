// pow: each pair of bases and exponents as C has it, exponents as numbers and as tensors, and the
// gradients.
#include "ops_support.h"

namespace {

const std::vector<double> kBases = {0,    -0.0,  1,     -1,     2,        -2,        0.5,   -0.5,
                                    3,    -3,    1.5,   -1.5,   7.25,     -7.25,     1e-20, -1e-20,
                                    1e20, -1e20, 1e-40, -1e-40, INFINITY, -INFINITY, NAN,   -NAN};
const std::vector<double> kExponents = {
    0,   -0.0, 1,    -1, 2,  -2,        3,   -3,   4,           -4,       5,         0.5, -0.5,
    1.5, -1.5, 0.25, 7,  -8, 16777215., 1e9, -1e9, 2147483649., INFINITY, -INFINITY, NAN, 1.0 / 3};

// To 4 units in the last place, and specials exactly, the sign of zero included.
template <typename T>
void expect_power(T got, T x, T y) {
  const T wanted = T(std::pow(x, y));
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << x << " ** " << y << " is " << got;
  } else if (wanted == 0 || std::isinf(wanted)) {
    EXPECT_EQ(got, wanted) << x << " ** " << y;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << x << " ** " << y;
  } else {
    const T slack = std::abs(wanted) * std::numeric_limits<T>::epsilon() * 4 +
                    std::numeric_limits<T>::min() * std::numeric_limits<T>::epsilon() * 4;
    EXPECT_NEAR(got, wanted, slack) << x << " ** " << y;
  }
}

template <typename T>
void expect_powers(tn::Device device) {
  const tn::Dtype dtype = sizeof(T) == 4 ? tn::float32 : tn::float64;
  for (const double exponent : kExponents) {
    const T y = T(exponent);
    const std::vector<T> all(kBases.begin(), kBases.end());
    const Tensor x = Tensor::from(all, {int64_t(all.size())}, device);
    const auto by_tensor = tn::pow(x, tn::full_like(x, double(y))).to_vector<T>();
    const auto by_number = tn::pow(x, tn::full({}, double(y), dtype, device)).to_vector<T>();
    for (size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(i);
      expect_power(by_tensor[i], all[i], y);
      expect_power(by_number[i], all[i], y);
    }
  }
}

TEST(Power, IsThatOfC) {
  load_all();
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    expect_powers<float>(device);
    expect_powers<double>(device);
  }
}

// (x ** n)' = n x ** (n - 1), also of negative x.
TEST(Power, HasTheGradientOfItsExponent) {
  load_all();
  for (const tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    for (const double n : {1., 2., 3., 4., 5., -1., -2., -3.}) {
      Tensor x = Tensor::from(std::vector<double>{-2, -0.5, 3, 1.25}, {4}, device).requires_grad_();
      tn::pow(x, n).sum().backward();
      const auto base = x.detach().to_vector<double>(), got = x.grad().to_vector<double>();
      for (size_t i = 0; i < base.size(); ++i) {
        const double wanted = n * std::pow(base[i], n - 1);
        EXPECT_NEAR(got[i], wanted, std::abs(wanted) * 1e-14) << base[i] << " ** " << n;
      }
    }
  }
}

}  // namespace
