// Convolutions of one to three dimensions: windows, laid out as columns, and one batched matrix
// product, a batch a group. The transposed ones are the adjoints: the product first, then the
// windows overlap.
#include <algorithm>

#include "windows.h"

namespace tenon::ops_pack {
namespace {

// Into a row-major tensor: x + y would keep the order of x, whose channels come first.
constinit ExpressionRef sum_into{"_sum_into(Tensor(a!) result, Tensor x, Tensor y) -> Tensor(a!)",
                                 "x + y"};

struct Convolution {
  std::string op;
  int64_t n;
  bool transposed;
};

// What does not fit: the first of what check_conv looks at. `in` and `out`: channels, as weight and groups
// have them.
std::string misfit(const Convolution& c, const Tensor& x, const Sizes& sizes, const Tensor& weight,
                   const Tensor& bias, int64_t groups, int64_t in, int64_t out) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  if (weight.dim() != c.n + 2) {
    return "weight has " + number(weight.dim()) + " dimensions, expected " + number(c.n + 2);
  }
  if (sizes[1] != in) {
    return "x has " + number(sizes[1]) + (sizes[1] == 1 ? " channel" : " channels") +
           ", expected " + number(in) + " (weight has " +
           (c.transposed ? number(in) + ")"
                         : number(weight.size(1)) + " a group, groups is " + number(groups) + ")");
  }
  if (in % groups != 0) {
    return "x has " + number(in) + " channels, expected a multiple of groups, " + number(groups);
  }
  if (out % groups != 0) {
    return "weight has " + number(out) +
           " channels of the output, expected a multiple of groups, " + number(groups);
  }
  if (bias.defined() && !(bias.dim() == 1 && bias.size(0) == out)) {
    return "bias is " + sizes_text(bias.sizes()) + ", expected [" + number(out) + "]";
  }
  const bool is_weight = weight.dtype() != x.dtype() || weight.device() != x.device();
  const Tensor& other = is_weight ? weight : bias;
  const char* const name = is_weight ? "weight is " : "bias is ";
  if (other.dtype() != x.dtype())
    return std::string(name) + other.dtype().name() + " and x " + x.dtype().name();
  return name + ("on " + other.device().name()) + " and x on " + x.device().name();
}

// The output's channels; refuses what does not fit together. `sizes`: of x, with its batch dimension.
int64_t check_conv(const Convolution& c, const Tensor& x, const Sizes& sizes, const Tensor& weight,
                   const Tensor& bias, int64_t groups) {
  if (groups < 1) fail(c.op + ": groups is " + std::to_string(groups) + ", expected at least 1");
  bool fits = weight.dim() == c.n + 2;
  int64_t in = 0, out = 0;
  if (fits) {
    const int64_t of_all = checked_mul(c.op.c_str(), weight.size(1), groups);
    in = c.transposed ? weight.size(0) : of_all;
    out = c.transposed ? of_all : weight.size(0);
    fits = sizes[1] == in && in % groups == 0 && out % groups == 0;
    fits = fits && (!bias.defined() || (bias.dim() == 1 && bias.size(0) == out));
  }
  // What has no samples or no channels may have any sizes, as in PyTorch.
  for (int64_t d = 2; fits && sizes[0] > 0 && sizes[1] > 0 && d < weight.dim(); ++d) {
    if (weight.size(d) == 0 || sizes[size_t(d)] == 0) {
      fail(c.op + ": x is " + sizes_text(sizes) + ", weight is " + sizes_text(weight.sizes()) +
           "; expected at least one element in each dimension behind the channels");
    }
  }
  for (const Tensor& t : {weight, bias})
    fits = fits && (!t.defined() || (x.dtype() == t.dtype() && x.device() == t.device()));
  if (fits) return out;
  auto text = [](const Tensor& t, std::span<const int64_t> sizes) {
    return sizes_text(sizes) + " (" + t.dtype().name() + ", " + t.device().name() + ")";
  };
  fail(c.op + ": x is " + text(x, sizes) + ", weight is " + text(weight, weight.sizes()) +
       (bias.defined() ? ", bias is " + text(bias, bias.sizes()) : "") + ", groups is " +
       std::to_string(groups) + "; expected x [n, channels, ..], weight " +
       (c.transposed ? "[channels, out / groups, ..]" : "[out, channels / groups, ..]") +
       " and bias [out], of one dtype on one device. Here " +
       misfit(c, x, sizes, weight, bias, groups, in, out));
}

// A call: where its windows lie, and how large the output is.
struct Fitted {
  Windows w;
  Sizes output;  // [n, out, ..]
};

// `behind`: zeros that x gets behind each dimension beyond those of w; or none.
Fitted fit_conv(const Convolution& c, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Windows w, int64_t groups, const Sizes& behind = {}) {
  Sizes sizes = batched_sizes(c.op.c_str(), x, c.n);
  const int64_t out = check_conv(c, x, sizes, weight, bias, groups);
  for (size_t d = 0; d < behind.size(); ++d) sizes[2 + d] += behind[d];
  w.kernel = last_sizes(weight, c.n);
  set_out(c.op.c_str(), &w, std::span(sizes).last(size_t(c.n)));
  Sizes output = joined_sizes({{sizes[0], out}, w.out});
  return {std::move(w), std::move(output)};
}

Fitted fit_transposed(const Convolution& c, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, Windows w, const Sizes& output_padding, int64_t groups) {
  const Sizes sizes = batched_sizes(c.op.c_str(), x, c.n);
  const int64_t out = check_conv(c, x, sizes, weight, bias, groups);
  w.kernel = last_sizes(weight, c.n);
  w.out.assign(sizes.end() - c.n, sizes.end());
  Sizes output{sizes[0], out};
  for (size_t d = 0; d < size_t(c.n); ++d) {
    if (output_padding[d] >= w.stride[d] && output_padding[d] >= w.dilation[d]) {
      fail(c.op + ": output_padding is " + sizes_text(output_padding) +
           ", expected less than stride " + sizes_text(w.stride) + " or dilation " +
           sizes_text(w.dilation));
    }
    const Wide cut = 2 * Wide(w.padding[d]), whole = Wide(w.out[d] - 1) * w.stride[d] +
                                                     Wide(w.dilation[d]) * (w.kernel[d] - 1) +
                                                     output_padding[d] + 1;
    if (whole > kMostPadded) {
      fail(c.op + ": the size of the output overflows: x is " + sizes_text(sizes) + ", stride " +
           sizes_text(w.stride) + ", dilation " + sizes_text(w.dilation) + ", output_padding " +
           sizes_text(output_padding));
    }
    output.push_back(int64_t(std::max<Wide>(whole - cut, INT64_MIN)));
    if (output.back() < 1) {
      fail(c.op + ": the output would be " + sizes_text(std::span(output).subspan(2)) + ": x is " +
           sizes_text(sizes) + ", padding " + sizes_text(w.padding));
    }
  }
  return {std::move(w), std::move(output)};
}

Tensor with_bias(const Tensor& y, const Tensor& bias, int64_t n) {
  if (!bias.defined()) return y.is_contiguous() ? y : prim::copy(y);
  Sizes sizes(size_t(n) + 1, 1);
  sizes[0] = bias.size(0);
  Tensor result = Tensor::empty(y.sizes(), y.dtype(), y.device());
  return prim::elementwise(sum_into, result, y, prim::reshape(bias, sizes));
}

// x has its batch dimension here and below.
Tensor conv(const Convolution& c, const Tensor& x, const Tensor& weight, const Tensor& bias,
            const Windows& options, int64_t groups) {
  const auto [w, output] = fit_conv(c, x, weight, bias, options, groups);
  const int64_t n = c.n, out = output[1];
  // [n, channels, out.., kernel..] as [groups, channels / groups kernel.., n out..]
  Tensor columns =
      prim::permute(windows(x, w), joined_sizes({{1}, counting(2 + n, n), {0}, counting(2, n)}));
  const char* op = c.op.c_str();
  int64_t depth = checked_mul(op, x.size(1) / groups, product(w.kernel));
  int64_t places = checked_mul(op, x.size(0), product(w.out));
  Tensor y = prim::matmul(prim::reshape(weight, {groups, out / groups, depth}),
                          prim::reshape(columns, {groups, depth, places}));
  y = prim::reshape(y, joined_sizes({{out, x.size(0)}, w.out}));
  return with_bias(prim::permute(y, joined_sizes({{1, 0}, counting(2, n)})), bias, n);
}

Tensor conv_transpose(const Convolution& c, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const Windows& options, const Sizes& output_padding,
                      int64_t groups) {
  const auto [w, output] = fit_transposed(c, x, weight, bias, options, output_padding, groups);
  const int64_t n = c.n, out = output[1];
  const char* op = c.op.c_str();
  int64_t in = x.size(1) / groups, depth = checked_mul(op, out / groups, product(w.kernel));
  int64_t places = checked_mul(op, x.size(0), product(w.out));
  Tensor rows = prim::permute(prim::reshape(weight, {groups, in, depth}), {0, 2, 1});
  Tensor columns = prim::permute(x, joined_sizes({{1, 0}, counting(2, n)}));
  Tensor y = prim::matmul(rows, prim::reshape(columns, {groups, in, places}));
  y = prim::reshape(y, joined_sizes({{out}, w.kernel, {x.size(0)}, w.out}));
  y = prim::permute(y, joined_sizes({{1 + n, 0}, counting(2 + n, n), counting(1, n)}));
  return with_bias(overlap_add(y, Sizes(output.begin() + 2, output.end()), w), bias, n);
}

Windows window_options(const Convolution& c, Ints stride, Ints padding, Ints dilation) {
  Windows w;
  w.stride = for_each_dim(c.op.c_str(), "stride", stride, c.n, 1);
  w.padding = for_each_dim(c.op.c_str(), "padding", padding, c.n, 0);
  w.dilation = for_each_dim(c.op.c_str(), "dilation", dilation, c.n, 1);
  return w;
}

constinit OpRef conv_ops[] = {OpRef("ops.conv1d"), OpRef("ops.conv2d"), OpRef("ops.conv3d")};

// What a padding of "valid" or "same" means, PyTorch's rule: none; or so much that the output is as
// large as x, and where that is odd one zero more behind.
struct NamedPadding {
  Windows w;
  Sizes behind;

  NamedPadding(const Convolution& c, const Tensor& weight, Ints stride, const std::string& name,
               Ints dilation)
      : w(window_options(c, stride, 0, dilation)), behind(size_t(c.n), 0) {
    if (name != "same" && name != "valid")
      fail(c.op + ": padding is '" + name + "', expected 'same', 'valid' or numbers");
    if (name == "valid" || weight.dim() != c.n + 2) return;
    for (size_t d = 0; d < size_t(c.n); ++d) {
      if (w.stride[d] != 1) {
        fail(c.op + ": padding is 'same' and stride " + sizes_text(w.stride) +
             ", expected a stride of 1");
      }
      const int64_t all = checked_mul(c.op.c_str(), w.dilation[d], weight.size(int64_t(d) + 2) - 1);
      w.padding[d] = std::max<int64_t>(all, 0) / 2;
      behind[d] = std::max<int64_t>(all, 0) % 2;
    }
  }
};

Tensor conv_by_name(const Convolution& c, const Tensor& x, const Tensor& weight, const Tensor& bias,
                    Ints stride, const std::string& padding, Ints dilation, int64_t groups) {
  const NamedPadding p(c, weight, stride, padding, dilation);
  fit_conv(c, x, weight, bias, p.w, groups, p.behind);
  Sizes more;
  for (size_t d = p.behind.size(); d-- > 0;) more.insert(more.end(), {0, p.behind[d]});
  const bool any = std::ranges::any_of(p.behind, [](int64_t n) { return n > 0; });
  return call(conv_ops[c.n - 1], any ? pad(x, more) : x, weight, bias, p.w.stride, p.w.padding,
              p.w.dilation, groups);
}

void define_conv(int64_t n, const char* schema) {
  const Convolution c{name_of(schema), n, false};
  op(schema)
      .doc(
          "x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over "
          "it, plus bias [out]. A list of one number is for all dimensions. padding may be "
          "\"valid\", which is 0, or \"same\": the output is as large as x, at a stride of 1.")
      .amp(Amp::lower)
      .infer([c](Tensor x, Tensor weight, Tensor bias, Ints stride, IntsOrText padding,
                 Ints dilation, int64_t groups) {
        if (padding.is_text()) {
          const NamedPadding p(c, weight, stride, padding.text(), dilation);
          return batched_meta(x, c.n, fit_conv(c, x, weight, bias, p.w, groups, p.behind).output);
        }
        Windows w = window_options(c, stride, padding.ints(), dilation);
        return batched_meta(x, c.n, fit_conv(c, x, weight, bias, std::move(w), groups).output);
      })
      .meaning([c](Tensor x, Tensor weight, Tensor bias, Ints stride, IntsOrText padding,
                   Ints dilation, int64_t groups) {
        if (padding.is_text())
          return conv_by_name(c, x, weight, bias, stride, padding.text(), dilation, groups);
        Windows w = window_options(c, stride, padding.ints(), dilation);
        return batched(c.op.c_str(), x, c.n,
                       [&](const Tensor& b) { return conv(c, b, weight, bias, w, groups); });
      });
}

void define_conv_transpose(int64_t n, const char* schema) {
  const Convolution t{name_of(schema), n, true};
  op(schema)
      .doc(
          "The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, "
          "out / groups, ..], bias [out]. output_padding is added behind.")
      .amp(Amp::lower)
      .infer([t](Tensor x, Tensor weight, Tensor bias, Ints stride, Ints padding,
                 Ints output_padding, int64_t groups, Ints dilation) {
        Windows w = window_options(t, stride, padding, dilation);
        Sizes more = for_each_dim(t.op.c_str(), "output_padding", output_padding, t.n, 0);
        return batched_meta(x, t.n,
                            fit_transposed(t, x, weight, bias, std::move(w), more, groups).output);
      })
      .meaning([t](Tensor x, Tensor weight, Tensor bias, Ints stride, Ints padding,
                   Ints output_padding, int64_t groups, Ints dilation) {
        Windows w = window_options(t, stride, padding, dilation);
        Sizes more = for_each_dim(t.op.c_str(), "output_padding", output_padding, t.n, 0);
        return batched(t.op.c_str(), x, t.n, [&](const Tensor& b) {
          return conv_transpose(t, b, weight, bias, w, more, groups);
        });
      });
}

Windows patches(const char* op, Ints kernel, Ints dilation, Ints padding, Ints stride) {
  Windows w;
  w.kernel = for_each_dim(op, "kernel_size", kernel, 2, 1);
  w.dilation = for_each_dim(op, "dilation", dilation, 2, 1);
  w.padding = for_each_dim(op, "padding", padding, 2, 0);
  w.stride = for_each_dim(op, "stride", stride, 2, 1);
  return w;
}

// [n, channels, h, w] to [n, channels kernel.., out..]: PyTorch's order of columns.
Tensor unfolded(const Tensor& x, Windows w) {
  set_out("im2col", &w, last_sizes(x, 2));
  const Tensor columns = prim::permute(windows(x, w), {0, 1, 4, 5, 2, 3});
  const Tensor y = prim::reshape(
      columns, {x.size(0), checked_mul("im2col", x.size(1), product(w.kernel)), product(w.out)});
  // Windows are views of x, or of x with its padding, and so is what a reshape need not move.
  return y.same_storage(columns) ? prim::copy(y) : y;
}

Tensor folded(const Tensor& x, const Sizes& size, Windows w) {
  set_out("fold", &w, size);
  int64_t places = product(w.kernel);
  if (x.size(1) % places != 0 || x.size(2) != product(w.out)) {
    fail("fold: x is " + sizes_text(x.sizes()) + ", expected [n, channels * " +
         std::to_string(places) + ", " + std::to_string(product(w.out)) + "] for output_size " +
         sizes_text(size) + " and kernel_size " + sizes_text(w.kernel));
  }
  int64_t channels = x.size(1) / places;
  Tensor y = prim::reshape(x, joined_sizes({{x.size(0), channels}, w.kernel, w.out}));
  return overlap_add(prim::permute(y, {0, 1, 4, 5, 2, 3}), size, w);
}

}  // namespace

void conv() {
  define_conv(1,
              "conv1d(Tensor x, Tensor weight, Tensor? bias=None, int[] stride=[1], "
              "int[]|str padding=[0], int[] dilation=[1], int groups=1) -> Tensor");
  define_conv_transpose(1,
                        "conv_transpose1d(Tensor x, Tensor weight, Tensor? bias=None, int[] "
                        "stride=[1], int[] padding=[0], int[] output_padding=[0], int groups=1, "
                        "int[] dilation=[1]) -> Tensor");
  define_conv(2,
              "conv2d(Tensor x, Tensor weight, Tensor? bias=None, int[] stride=[1], "
              "int[]|str padding=[0], int[] dilation=[1], int groups=1) -> Tensor");
  define_conv_transpose(2,
                        "conv_transpose2d(Tensor x, Tensor weight, Tensor? bias=None, int[] "
                        "stride=[1], int[] padding=[0], int[] output_padding=[0], int groups=1, "
                        "int[] dilation=[1]) -> Tensor");
  define_conv(3,
              "conv3d(Tensor x, Tensor weight, Tensor? bias=None, int[] stride=[1], "
              "int[]|str padding=[0], int[] dilation=[1], int groups=1) -> Tensor");
  define_conv_transpose(3,
                        "conv_transpose3d(Tensor x, Tensor weight, Tensor? bias=None, int[] "
                        "stride=[1], int[] padding=[0], int[] output_padding=[0], int groups=1, "
                        "int[] dilation=[1]) -> Tensor");
  op("im2col(Tensor x, int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] stride=[1]) "
     "-> Tensor")
      .doc("x [n, channels, h, w] to columns [n, channels * kernel, places].")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints kernel_size, Ints dilation, Ints padding, Ints stride) {
        Windows w = patches("im2col", kernel_size, dilation, padding, stride);
        return batched("im2col", x, 2, [&](const Tensor& b) { return unfolded(b, w); });
      });
  op("fold(Tensor x, int[] output_size, int[] kernel_size, int[] dilation=[1], int[] padding=[0], "
     "int[] stride=[1]) -> Tensor")
      .doc(
          "Columns [n, channels * kernel, places] summed at their places: [n, channels, h, w]. The "
          "adjoint of im2col.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensor x, Ints output_size, Ints kernel_size, Ints dilation, Ints padding,
                  Ints stride) {
        Windows w = patches("fold", kernel_size, dilation, padding, stride);
        Sizes size = for_each_dim("fold", "output_size", output_size, 2, 1);
        // [n, columns, places], or without n.
        return batched("fold", x, 1, [&](const Tensor& b) { return folded(b, size, w); });
      });
}

}  // namespace tenon::ops_pack
