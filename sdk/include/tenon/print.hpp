// Tensors as text, as PyTorch prints them, but for names: dtype=float64, and grad_fn=<mul> by the
// op. Dtypes and devices as their names.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// How tensors are printed. What is absent stays as it was, but for sci_mode.
struct PrintOptions {
  std::optional<int> precision = {};      // digits behind the point, 0 to 64; first 4
  std::optional<int64_t> threshold = {};  // of more elements only the edges; first 1000
  std::optional<int64_t> edgeitems = {};  // of each dimension, at its begin and its end; first 3
  std::optional<int64_t> linewidth = {};  // characters; first 80
  std::optional<bool> sci_mode = {};      // with exponents; absent: as the numbers need it
};

namespace detail {

struct PrintForm {
  int precision = 4;
  int64_t threshold = 1000, edge = 3;
  size_t line = 80;
  std::optional<bool> exponents = {};
};
inline PrintForm print_form;

}  // namespace detail

// PyTorch's torch.set_printoptions, for all threads of this library or program. No thread may print
// meanwhile. An Error where a number is out of its range.
inline void set_printoptions(const PrintOptions& options = {}) {
  const auto set = [](const char* name, auto value, int64_t least, int64_t most, auto* to) {
    if (!value) return;
    if (*value < least || *value > most) {
      fail(detail::joined({"set_printoptions: ", name, " is ", std::to_string(*value),
                           ", expected ", std::to_string(least), " to ", std::to_string(most)}));
    }
    *to = std::remove_reference_t<decltype(*to)>(*value);
  };
  detail::PrintForm form = detail::print_form;
  set("precision", options.precision, 0, 64, &form.precision);
  set("threshold", options.threshold, 0, INT64_MAX, &form.threshold);
  set("edgeitems", options.edgeitems, 1, INT64_MAX / 4, &form.edge);
  set("linewidth", options.linewidth, 1, INT32_MAX, &form.line);
  form.exponents = options.sci_mode;
  detail::print_form = form;
}

namespace detail {

// The elements between "tensor(" and the suffixes, by the rules of PyTorch's torch/_tensor_str.py:
// all floats in one form (whole numbers, four digits, or with an exponent), in columns, lines of 80,
// and of more than 1000 elements the first and last three a dimension, unless set_printoptions says
// otherwise.
class TensorPrinter {
 public:
  explicit TensorPrinter(const Tensor& t)
      : sizes_(t.sizes().begin(), t.sizes().end()),
        floats_(t.dtype().is_float()),
        bools_(t.dtype() == bool_),
        summary_(t.numel() > form_.threshold) {
    if (floats_) {
      values_ = t.to_vector<double>();
    } else {
      ints_ = t.to_vector<int64_t>();
    }
    if (floats_) each(0, 0, [&](int64_t i) { note(values_[size_t(i)]); });
    if (any_) exponents_ = greatest_ / least_ > 1000 || greatest_ > 1e8 || least_ < 1e-4;
    if (any_) exponents_ = form_.exponents.value_or(exponents_);
    each(0, 0, [&](int64_t i) {
      if (floats_ && (values_[size_t(i)] == 0 || !std::isfinite(values_[size_t(i)]))) return;
      width_ = std::max(width_, element(i).size());
    });
  }
  std::string text() {
    std::string out = "tensor(";
    if (values_.empty() && ints_.empty()) return out + "[]";
    print(out, 0, 0);
    return out;
  }

 private:
  static constexpr size_t kIndent = 7;

  void note(double v) {
    double size = std::fabs(v);
    if (size == 0 || !std::isfinite(size)) return;
    least_ = any_ ? std::min(least_, size) : size;
    greatest_ = std::max(greatest_, size);
    whole_ = whole_ && v == std::ceil(v);
    any_ = true;
  }
  // Whether the indices between the edges of a dimension are left out.
  bool cut(int64_t size) const { return summary_ && size > 2 * form_.edge; }
  int64_t below(size_t d) const {
    int64_t n = 1;
    for (size_t i = d + 1; i < sizes_.size(); ++i) n *= sizes_[i];
    return n;
  }
  // f(element) of all that are printed.
  template <typename F>
  void each(size_t d, int64_t first, const F& f) const {
    if (d == sizes_.size()) return f(first);
    for (int64_t i = 0; i < sizes_[d]; ++i) {
      if (cut(sizes_[d]) && i == form_.edge) i = sizes_[d] - form_.edge;
      each(d + 1, first + i * below(d), f);
    }
  }
  std::string element(int64_t i) const {
    if (bools_) return ints_[size_t(i)] ? "True" : "False";
    if (!floats_) return std::to_string(ints_[size_t(i)]);
    char text[512];  // 309 digits, the point and those behind it
    double v = values_[size_t(i)];
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    // No printf: its point is the locale's.
    const auto format = exponents_ ? std::chars_format::scientific : std::chars_format::fixed;
    const bool is_whole = whole_ && !exponents_;
    std::string number(
        text, std::to_chars(text, std::end(text), v, format, is_whole ? 0 : form_.precision).ptr);
    return is_whole ? number + "." : number;
  }
  std::string padded(int64_t i) const {
    std::string text = element(i);
    if (text.size() < width_) text.insert(0, width_ - text.size(), ' ');
    return text;
  }
  // Dimension d from element `first` on.
  void print(std::string& out, size_t d, int64_t first) const {
    if (d == sizes_.size()) {
      out += padded(first);
      return;
    }
    const bool last = d + 1 == sizes_.size();
    const size_t indent = kIndent + d;
    const size_t fit = (form_.line - std::min(form_.line, indent)) / (width_ + 2);
    const std::string line = std::string(indent + 1, ' ');
    size_t column = 0;
    out += '[';
    for (int64_t i = 0; i < sizes_[d]; ++i, ++column) {
      const bool same_line = last && column % std::max<size_t>(fit, 1) != 0;
      if (column > 0) out += same_line ? ", " : ",";
      if (column > 0 && !same_line) out.append(last ? 1 : sizes_.size() - d - 1, '\n') += line;
      if (cut(sizes_[d]) && i == form_.edge) {
        out += last ? " ..." : "...";
        i = sizes_[d] - form_.edge - 1;
      } else {
        print(out, d + 1, first + i * below(d));
      }
    }
    out += ']';
  }

  const PrintForm& form_ = print_form;
  std::vector<int64_t> sizes_;
  bool floats_, bools_, summary_;
  bool any_ = false, whole_ = true, exponents_ = false;  // of the finite elements that are not 0
  double least_ = 0, greatest_ = 0;
  size_t width_ = 1;
  std::vector<double> values_;
  std::vector<int64_t> ints_;
};

}  // namespace detail

inline std::string Tensor::to_string() const {
  if (!held_) return "tensor(None)";
  if (is_row_sparse()) {
    return detail::joined({"row_sparse(indices=", indices().to_string(), ",\n  values=",
                           values().to_string(), ",\n  rows=", std::to_string(size(0)), ")"});
  }
  const bool meta = device().value.type == TN_DEVICE_META, empty = numel() == 0;
  std::string text = meta ? "tensor(..." : detail::TensorPrinter(*this).text();
  // Suffixes begin a new line where they would go beyond the last column.
  const size_t newline = text.rfind('\n');
  size_t column = text.size() - (newline == text.npos ? 0 : newline + 1) + 2;
  auto suffix = [&](const std::string& part) {
    const bool fits = column + part.size() + 2 <= detail::print_form.line;
    text += fits ? ", " : ",\n       ";
    text += part;
    column = fits ? column + part.size() + 2 : 7 + part.size();
  };
  if (!device().is_cpu()) suffix(detail::joined({"device='", device().name(), "'"}));
  if (meta || (empty && dim() != 1)) {
    std::string list;
    for (int64_t d = 0; d < dim(); ++d) {
      list += d ? ", " : "";
      list += std::to_string(size(d));
    }
    suffix(detail::joined({"size=(", list, dim() == 1 ? ",)" : ")"}));
  }
  const bool shown = dtype() == int64 || dtype() == bool_;  // by the elements
  if (dtype() != float32 && (!shown || meta || empty))
    suffix(detail::joined({"dtype=", dtype().name()}));
  if (requires_grad() && !is_leaf()) {
    Node node = grad_fn(*this);
    suffix(detail::joined({"grad_fn=<", node.name(), ">"}));
  } else if (requires_grad()) {
    suffix("requires_grad=True");
  }
  return text + ")";
}

template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Tensor& t) {
  return out << t.to_string().c_str();
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Dtype dtype) {
  return out << dtype.name();
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Device device) {
  return out << device.name().c_str();
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const Object& o) {
  return out << o.to_string().c_str();
}

}  // namespace v0
}  // namespace tenon
