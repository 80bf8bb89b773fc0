// tenon check: the values of a case, and how they lie on a device.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

double value_in(Range range, double unit, Dtype dtype) {  // unit: 0 to 1
  const bool whole = !dtype.is_float(), unsigned_values = dtype == uint8;
  const double signed_unit = 2 * unit - 1;
  switch (range) {
    case Range::positive:
      return whole ? 1 + std::floor(unit * 20) : 0.05 + 0.95 * unit;
    case Range::few:
      return (std::floor(unit * 5) - (unsigned_values ? 0 : 2)) * (whole ? 1 : 0.5);
    case Range::wide:
    case Range::unit:
      break;
  }
  if (whole) return std::floor(unsigned_values ? unit * 21 : signed_unit * 20.999);
  return range == Range::wide ? 2 * signed_unit : signed_unit;
}

}  // namespace

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous:
      return "contiguous";
    case Layout::permuted:
      return "permuted";
    case Layout::stepped:
      return "stepped";
    case Layout::offset:
      return "offset";
    case Layout::expanded:
      return "expanded";
  }
  return "";
}

std::string sizes_text(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

// Steele, Lea and Flood, OOPSLA 2014.
uint64_t Place::splitmix() {
  uint64_t z = seed_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Tensor Place::put(const Tensor& host, Layout layout) const {
  const Tensor x = host.to(as_computed(host.dtype()));
  const int64_t rank = x.dim();
  if (rank == 0 && layout != Layout::offset) layout = Layout::contiguous;
  switch (layout) {
    case Layout::contiguous:
      break;
    case Layout::permuted: {
      Sizes dims(static_cast<size_t>(rank));
      std::iota(dims.rbegin(), dims.rend(), 0);
      return x.permute(dims).contiguous().to(device_).permute(dims);
    }
    case Layout::stepped: {  // every second element of each row is another's
      const Tensor pair = stack({x, x + 1}, -1);
      Sizes sizes(x.sizes().begin(), x.sizes().end());
      sizes.back() *= 2;
      return pair.reshape(sizes).to(device_).slice(-1, 0, sizes.back(), 2);
    }
    case Layout::offset: {  // behind other elements, and before some
      const Tensor row = x.reshape({-1});
      const Tensor around = cat({row.new_ones({3}), row, row.new_ones({2})}, 0);
      return around.to(device_).narrow(0, 3, x.numel()).view(x.sizes());
    }
    case Layout::expanded: {
      Sizes sizes(x.sizes().begin(), x.sizes().end());
      if (sizes[0] == 0) break;
      return x.narrow(0, 0, 1).contiguous().to(device_).expand(sizes);
    }
  }
  return x.contiguous().to(device_);
}

Tensor Place::tensor_of(Dtype dtype, const Sizes& sizes, Layout layout, Range range) {
  std::vector<double> values(static_cast<size_t>(product(sizes)));
  for (double& value : values) {
    const double unit = static_cast<double>(splitmix() >> 11) * 0x1p-53;
    value = dtype == bool_ ? (unit < 0.5 ? 0 : 1) : value_in(range, unit, dtype);
  }
  return put(Tensor::from(values, sizes).to(dtype), layout);
}

Tensor Place::indices(const Sizes& sizes, int64_t n, Layout layout, int64_t differ) {
  std::vector<int64_t> values(static_cast<size_t>(product(sizes)));
  const int64_t begin = static_cast<int64_t>(splitmix() % static_cast<uint64_t>(n));
  int64_t stride = 1;
  if (differ >= 0) stride = product(Sizes(sizes.begin() + differ + 1, sizes.end()));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t along = static_cast<int64_t>(i) / stride;
    values[i] = differ >= 0 ? (begin + along % sizes[static_cast<size_t>(differ)]) % n
                            : static_cast<int64_t>(splitmix() % static_cast<uint64_t>(n));
  }
  return put(Tensor::from(values, sizes), layout);
}

}  // namespace tenon::cli::conformance
