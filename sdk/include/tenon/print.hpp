// Tensors as text, roughly as PyTorch prints them: four digits, the middle of long dimensions left
// out.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/object.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

class TensorPrinter {
 public:
  explicit TensorPrinter(const Tensor& t)
      : sizes_(t.sizes().begin(), t.sizes().end()),
        floats_(t.dtype().is_float()),
        bools_(t.dtype() == bool_),
        summary_(t.numel() > 1000) {
    if (floats_) {
      values_ = t.to_vector<double>();
    } else {
      ints_ = t.to_vector<int64_t>();
    }
  }
  std::string text() {
    std::string out = "tensor(";
    print(out, 0, 0);
    return out;
  }

 private:
  static constexpr int64_t kEdge = 3;

  std::string element(int64_t i) const {
    char text[40];
    if (bools_) return ints_[size_t(i)] ? "True" : "False";
    if (!floats_) {
      std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(ints_[size_t(i)]));
      return text;
    }
    double v = values_[size_t(i)];
    double size = std::fabs(v);
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    bool scientific = size != 0 && (size >= 1e5 || size < 1e-4);
    std::snprintf(text, sizeof(text), scientific ? "%.4e" : "%.4f", v);
    return text;
  }
  // Dimension d from element `first` on.
  void print(std::string& out, size_t d, int64_t first) const {
    if (d == sizes_.size()) {
      out += element(first);
      return;
    }
    int64_t below = 1;
    for (size_t i = d + 1; i < sizes_.size(); ++i) below *= sizes_[i];
    bool last = d + 1 == sizes_.size();
    std::string between =
        last ? ", " : "," + std::string(sizes_.size() - d - 1, '\n') + std::string(8 + d, ' ');
    out += '[';
    for (int64_t i = 0; i < sizes_[d]; ++i) {
      if (i > 0) out += between;
      if (summary_ && sizes_[d] > 2 * kEdge && i == kEdge) {
        out += "...";
        i = sizes_[d] - kEdge - 1;
        continue;
      }
      if (below > 0) print(out, d + 1, first + i * below);
    }
    out += ']';
  }

  std::vector<int64_t> sizes_;
  bool floats_, bools_, summary_;
  std::vector<double> values_;
  std::vector<int64_t> ints_;
};

}  // namespace detail

inline std::string Tensor::to_string() const {
  if (!t_) return "tensor(None)";
  std::string text;
  if (device().value.type == TN_DEVICE_META) {
    text = "tensor(...";
  } else {
    text = detail::TensorPrinter(*this).text();
  }
  bool plain = dtype() == float32 || dtype() == int64 || dtype() == bool_;
  if (numel() == 0 || device().value.type == TN_DEVICE_META) {
    text += ", size=(";
    for (int64_t d = 0; d < dim(); ++d) text += (d ? ", " : "") + std::to_string(size(d));
    text += ')';
  }
  if (!plain) text += std::string(", dtype=") + dtype().name();
  if (!device().is_cpu()) text += ", device='" + device().name() + "'";
  if (requires_grad()) text += is_leaf() ? ", requires_grad=True" : ", grad_fn=<recorded>";
  return text + ")";
}

template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Tensor& t) {
  return out << t.to_string().c_str();
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Object& o) {
  return out << o.to_string().c_str();
}

}  // namespace v0
}  // namespace tenon
