#include "windows.h"

#include <algorithm>

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef add_{"_add_(Tensor(a!) x, Tensor y) -> Tensor(a!)", "x + y"};
constinit OpRef windows_op{"ops._windows"}, view_op{"ops._window_view"}, add_op{"ops._overlap_add"};

// From the first element of the first window to behind the last of the last.
int64_t reach(int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
  return out == 0 ? 0 : (out - 1) * stride + (kernel - 1) * dilation + 1;
}

Tensor padded(const Tensor& x, Ints out, Ints kernel, Ints stride, Ints padding, Ints dilation,
              double fill) {
  Sizes sizes = sizes_of(x);
  size_t lead = sizes.size() - out.size();
  bool same = true;
  for (size_t d = 0; d < out.size(); ++d) {
    int64_t& size = sizes[lead + d];
    int64_t needed = std::max(padding[d] + size, reach(out[d], kernel[d], stride[d], dilation[d]));
    same = same && needed == size;
    size = needed;
  }
  if (same) return x;
  Tensor all = prim::fill(sizes, fill, x.dtype(), x.device()), inside = all;
  for (size_t d = 0; d < out.size(); ++d) {
    int64_t dim = int64_t(lead + d);
    inside = prim::slice(inside, dim, padding[d], padding[d] + x.size(dim));
  }
  inside.copy_(x);
  return all;
}

View window_view(const tn_tensor* x, Ints out, Ints kernel, Ints stride, Ints dilation) {
  expect_windows("_window_view", x->ndim, out, kernel, stride, dilation, Sizes(out.size(), 0), {});
  View view;
  int32_t lead = x->ndim - int32_t(out.size());
  for (int32_t d = 0; d < lead; ++d) view.append(x->sizes[d], x->strides[d]);
  // What is not stepped along may have any stride, and a factor beyond all tensors.
  auto stepped = [&](int64_t size, int64_t step, size_t d) {
    int64_t stride = 0;
    if (size > 1 && __builtin_mul_overflow(step, x->strides[lead + int32_t(d)], &stride))
      fail("_window_view: a step is beyond what 63 bits hold");
    view.append(size, stride);
  };
  for (size_t d = 0; d < out.size(); ++d) stepped(out[d], stride[d], d);
  for (size_t d = 0; d < out.size(); ++d) stepped(kernel[d], dilation[d], d);
  return view;
}

Tensor added(const Tensor& windows, Ints size, Ints stride, Ints padding, Ints dilation) {
  int64_t n = size.size(), lead = windows.dim() - 2 * n;
  if (lead < 0) {
    fail("_overlap_add: windows is " + sizes_text(windows.sizes()) + ", expected at least " +
         std::to_string(2 * n) + " dimensions, two for each of size");
  }
  Sizes sizes = first_sizes(windows, lead), kernel = last_sizes(windows, n);
  Sizes shown = last_sizes(windows, 2 * n);
  expect_windows("_overlap_add", windows.dim(), Sizes(shown.begin(), shown.begin() + n), kernel,
                 stride, dilation, padding, size);
  for (int64_t d = 0; d < n; ++d) {
    sizes.push_back(std::max(
        padding[size_t(d)] + size[size_t(d)],
        reach(windows.size(lead + d), kernel[size_t(d)], stride[size_t(d)], dilation[size_t(d)])));
  }
  Tensor all = prim::fill(sizes, 0, windows.dtype(), windows.device());
  // Each place in the kernel is a regular grid of the result.
  int64_t places = windows.numel() == 0 ? 0 : product(kernel);  // at most numel
  for (int64_t place = 0; place < places; ++place) {
    Tensor to = all, from = windows;
    int64_t rest = place;
    for (int64_t d = n; d-- > 0;) {
      int64_t k = rest % kernel[size_t(d)], first = k * dilation[size_t(d)];
      rest /= kernel[size_t(d)];
      int64_t out = windows.size(lead + d), step = stride[size_t(d)];
      to = prim::slice(to, lead + d, first, first + (out - 1) * step + 1, step);
      from = prim::slice(from, lead + n + d, k, k + 1);
    }
    prim::elementwise(add_, to, prim::reshape(from, to.sizes()));
  }
  Tensor inside = all;
  for (int64_t d = 0; d < n; ++d) {
    inside =
        prim::slice(inside, lead + d, padding[size_t(d)], padding[size_t(d)] + size[size_t(d)]);
  }
  return inside.is_contiguous() ? inside : prim::copy(inside);
}

}  // namespace

void expect_windows(const char* op, int64_t rank, Ints out, Ints kernel, Ints stride, Ints dilation,
                    Ints padding, Ints size) {
  struct Row {
    const char* name;
    Ints list;
    int64_t least;
  };
  const size_t n = out.size();
  const std::string prefix = std::string(op) + ": ";
  if (int64_t(n) > rank) {
    fail(prefix + "windows of " + std::to_string(n) + " dimensions for a tensor of " +
         std::to_string(rank));
  }
  std::vector<Row> rows = {{"out", out, 0},
                           {"kernel", kernel, 0},
                           {"stride", stride, 1},
                           {"padding", padding, 0},
                           {"dilation", dilation, 1}};
  if (!size.empty()) rows.push_back({"size", size, 0});
  for (const Row& row : rows) {
    bool fits = row.list.size() == n;
    for (int64_t value : row.list) fits = fits && value >= row.least;
    if (fits) continue;
    fail(prefix + row.name + " is " + sizes_text({row.list.data(), row.list.size()}) +
         ", expected " + std::to_string(n) + " numbers of at least " + std::to_string(row.least));
  }
  for (size_t d = 0; d < n; ++d) {
    const Wide behind = Wide(out[d]) * stride[d] + Wide(kernel[d]) * dilation[d];
    const Wide inside = Wide(padding[d]) + (size.empty() ? 0 : size[d]);
    if (behind > kMostPadded || inside > kMostPadded)
      fail(prefix + "windows reach further than any tensor does along dimension " +
           std::to_string(d));
  }
}

Sizes for_each_dim(const char* op, const char* what, Ints list, int64_t n, int64_t at_least) {
  bool fits = list.size() == 1 || int64_t(list.size()) == n;
  for (int64_t value : list) fits = fits && value >= at_least;
  if (!fits) {
    fail(std::string(op) + ": " + what + " is " + sizes_text({list.data(), list.size()}) +
         ", expected " + (n == 1 ? "a number" : "one or " + std::to_string(n) + " numbers") +
         " of at least " + std::to_string(at_least));
  }
  return list.size() == 1 ? Sizes(size_t(n), list[0]) : Sizes(list.begin(), list.end());
}

Sizes adaptive_sizes(const char* op, const Sizes& sizes, Ints output_size, int64_t n) {
  Sizes out(output_size.begin(), output_size.end());
  if (out == Sizes{-1}) out = Sizes(size_t(n), -1);
  if (int64_t(out.size()) == n) {
    for (size_t d = 0; d < out.size(); ++d) {
      if (out[d] == -1) out[d] = sizes[2 + d];
    }
  }
  return for_each_dim(op, "output_size", out, n, 0);
}

void set_out(const char* op, Windows* w, std::span<const int64_t> sizes, bool ceil_mode) {
  w->out.clear();
  for (size_t d = 0; d < w->kernel.size(); ++d) {
    const Wide stride = w->stride[d], span = Wide(w->kernel[d] - 1) * w->dilation[d] + 1;
    const Wide whole = Wide(sizes[d]) + 2 * Wide(w->padding[d]), room = whole - span;
    // Rounded up, one window is there even where it does not fit, but begins within a stride of that.
    const Wide steps = room + (ceil_mode ? stride - 1 : 0);
    Wide out = steps < 0 ? 0 : steps / stride + 1;
    if (ceil_mode && (out - 1) * stride >= sizes[d] + Wide(w->padding[d])) --out;
    if (whole > kMostPadded) {
      fail(std::string(op) + ": padding is " + sizes_text(w->padding) +
           ", with which the size of " + sizes_text(sizes) +
           " overflows; no padded dimension may be above " + std::to_string(kMostPadded));
    }
    if (out < 1) {
      fail(std::string(op) + ": a window of " + sizes_text(w->kernel) + " with dilation " +
           sizes_text(w->dilation) + " does not fit into " + sizes_text(sizes) + " with padding " +
           sizes_text(w->padding));
    }
    w->out.push_back(int64_t(out));
  }
}

Tensor windows(const Tensor& x, const Windows& w, double fill) {
  return call(windows_op, x, w.out, w.kernel, w.stride, w.padding, w.dilation, fill);
}
Tensor overlap_add(const Tensor& windows, const Sizes& size, const Windows& w) {
  return call(add_op, windows, size, w.stride, w.padding, w.dilation);
}

void windows() {
  op("_window_view(Tensor(a) x, int[] out, int[] kernel, int[] stride, int[] dilation) -> "
     "Tensor(a)")
      .view(window_view);
  op("_windows(Tensor x, int[] out, int[] kernel, int[] stride, int[] padding, int[] dilation, "
     "float fill=0) -> Tensor")
      .keeps_halves()
      .meaning([](Tensor x, Ints out, Ints kernel, Ints stride, Ints padding, Ints dilation,
                  double fill) {
        expect_windows("_windows", x.dim(), out, kernel, stride, dilation, padding, {});
        return call(view_op, padded(x, out, kernel, stride, padding, dilation, fill), out, kernel,
                    stride, dilation);
      })
      .vjp(
          [](const Vjp& g, Tensor x, Ints out, Ints, Ints stride, Ints padding, Ints dilation,
             double) {
            return call(add_op, g.grad(), last_sizes(x, out.size()), stride, padding, dilation);
          },
          Reads::sizes);
  op("_overlap_add(Tensor windows, int[] size, int[] stride, int[] padding, int[] dilation) -> "
     "Tensor")
      .meaning(added)
      .vjp(
          [](const Vjp& g, Tensor windows, Ints size, Ints stride, Ints padding, Ints dilation) {
            int64_t n = size.size(), lead = windows.dim() - 2 * n;
            Sizes all(windows.sizes().begin() + lead, windows.sizes().end());
            return call(windows_op, g.grad(), Sizes(all.begin(), all.begin() + n),
                        last_sizes(windows, n), stride, padding, dilation);
          },
          Reads::sizes);
}

}  // namespace tenon::ops_pack
