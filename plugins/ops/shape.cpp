// Views, which share memory with their first argument, and joins. Gradients of views are the
// host's.
#include "pack.h"

namespace tenon::ops_pack {
namespace {

[[noreturn]] void refuse_view(const tn_tensor* x, Ints sizes, const char* why) {
  fail("view: " + sizes_text({x->sizes, size_t(x->ndim)}) + " cannot be seen as " +
       sizes_text({sizes.data(), sizes.size()}) + why);
}

// The one size that may be -1.
int64_t missing_size(const tn_tensor* x, Ints sizes) {
  int64_t known = 1;
  int unknown = 0;
  for (int64_t size : sizes) {
    if (size < -1) refuse_view(x, sizes, ": a size is negative");
    if (size == -1) {
      ++unknown;
    } else if (__builtin_mul_overflow(known, size, &known)) {
      refuse_view(x, sizes, ": it has more elements than int64 counts");
    }
  }
  if (unknown > 1) refuse_view(x, sizes, ": only one size may be -1");
  if (unknown == 0) {
    if (known != x->numel) refuse_view(x, sizes, ": the numbers of elements differ");
    return 0;
  }
  if (known == 0 || x->numel % known != 0) refuse_view(x, sizes, ": no size fits in place of -1");
  return x->numel / known;
}

// Splits and merges dimensions without moving an element: dimensions of x that follow each other in
// memory form a run, and each run is cut anew, last dimension first.
View reshaped(const tn_tensor* x, Ints sizes) {
  int64_t missing = missing_size(x, sizes);
  if (sizes.size() > TN_MAX_RANK) refuse_view(x, sizes, ": the rank is above 16");
  View view;
  int32_t n = int32_t(sizes.size());
  view.ndim = n;
  for (int32_t d = 0; d < n; ++d)
    view.sizes[d] = sizes[size_t(d)] == -1 ? missing : sizes[size_t(d)];
  if (x->numel == 0 || (x->flags & TN_TENSOR_CONTIGUOUS)) {
    int64_t stride = 1;
    for (int32_t d = n; d-- > 0;) {
      view.strides[d] = stride;
      stride *= view.sizes[d] > 0 ? view.sizes[d] : 1;
    }
    return view;
  }
  int64_t stride = x->strides[x->ndim - 1], run = 1, filled = 1;
  for (int32_t i = x->ndim; i-- > 0;) {
    run *= x->sizes[i];
    if (i > 0 && (x->sizes[i - 1] == 1 || x->strides[i - 1] == run * stride)) continue;
    for (; n > 0 && (filled < run || view.sizes[n - 1] == 1); --n) {
      view.strides[n - 1] = filled * stride;
      filled *= view.sizes[n - 1];
    }
    if (filled != run) {
      refuse_view(x, sizes, ": its elements are not in that order in memory; reshape copies them");
    }
    if (i > 0) stride = x->strides[i - 1];
    run = filled = 1;
  }
  return view;
}

View transposed(const tn_tensor* x, int64_t dim0, int64_t dim1) {
  View view(x);
  int64_t a = wrap_dim("transpose", dim0, x->ndim), b = wrap_dim("transpose", dim1, x->ndim);
  if (x->ndim == 0) return view;
  std::swap(view.sizes[a], view.sizes[b]);
  std::swap(view.strides[a], view.strides[b]);
  return view;
}

View selected(const tn_tensor* x, int64_t dim, int64_t index) {
  if (x->ndim == 0) fail("select: x has no dimensions");
  int64_t d = wrap_dim("select", dim, x->ndim), size = x->sizes[d];
  if (index < -size || index >= size) {
    fail("select: index " + std::to_string(index) + " is out of range for dimension " +
         std::to_string(d) + " of size " + std::to_string(size));
  }
  View view;
  for (int32_t i = 0; i < x->ndim; ++i) {
    if (i != d) view.append(x->sizes[i], x->strides[i]);
  }
  view.offset = (index < 0 ? index + size : index) * x->strides[d];
  return view;
}

View narrowed(const tn_tensor* x, int64_t dim, int64_t start, int64_t length) {
  if (x->ndim == 0) fail("narrow: x has no dimensions");
  int64_t d = wrap_dim("narrow", dim, x->ndim), size = x->sizes[d];
  int64_t from = start < 0 ? start + size : start;
  if (from < 0 || from > size || length < 0 || length > size - from) {
    fail("narrow: " + std::to_string(length) + " elements from " + std::to_string(start) +
         " are not within dimension " + std::to_string(d) + " of size " + std::to_string(size));
  }
  View view(x);
  view.sizes[d] = length;
  view.offset = from * x->strides[d];
  return view;
}

View squeezed(const tn_tensor* x, Ints dims) {
  uint32_t chosen = dims.empty() ? ~0u : 0;
  for (int64_t d : dims) chosen |= 1u << wrap_dim("squeeze", d, x->ndim);
  View view;
  for (int32_t d = 0; d < x->ndim; ++d) {
    if (x->sizes[d] != 1 || !(chosen >> d & 1)) view.append(x->sizes[d], x->strides[d]);
  }
  return view;
}

View unsqueezed(const tn_tensor* x, int64_t dim) {
  int64_t at = wrap_dim("unsqueeze", dim, x->ndim + 1);
  View view;
  for (int32_t d = 0; d <= x->ndim; ++d) {
    if (d == at) view.append(1, d < x->ndim ? x->sizes[d] * x->strides[d] : 1);
    if (d < x->ndim) view.append(x->sizes[d], x->strides[d]);
  }
  return view;
}

Tensor flattened(const Tensor& x, int64_t start_dim, int64_t end_dim) {
  if (x.dim() == 0) return prim::reshape(x, {1});
  int64_t start = wrap_dim("flatten", start_dim, x.dim()),
          end = wrap_dim("flatten", end_dim, x.dim());
  if (start > end) {
    fail("flatten: start_dim " + std::to_string(start_dim) + " is behind end_dim " +
         std::to_string(end_dim));
  }
  std::vector<int64_t> sizes;
  int64_t run = 1;
  for (int64_t d = 0; d < x.dim(); ++d) {
    run = d > start && d <= end ? run * x.size(d) : x.size(d);
    if (d < start || d >= end) sizes.push_back(run);
  }
  return prim::reshape(x, sizes);
}

// All but `dim` must agree; dtypes promote. Tensors [0] are passed over, as PyTorch does.
Tensor joined(Tensors xs, int64_t dim) {
  if (xs.size() == 0) fail("cat: the list of tensors is empty");
  Tensor first;
  Dtype dtype = xs[0].dtype();
  for (uint32_t i = 0; i < xs.size(); ++i) {
    if (!first && !(xs[i].dim() == 1 && xs[i].numel() == 0)) first = xs[i];
    dtype = promote(dtype, xs[i].dtype());
  }
  if (!first) first = xs[0];
  if (first.dim() == 0) fail("cat: a tensor has no dimensions");
  int64_t d = wrap_dim("cat", dim, first.dim());
  std::vector<int64_t> sizes(first.sizes().begin(), first.sizes().end());
  sizes[size_t(d)] = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    if (x.dim() == 1 && x.numel() == 0) continue;
    bool fits = x.dim() == first.dim() && x.device() == first.device();
    for (int64_t k = 0; fits && k < x.dim(); ++k) fits = k == d || x.size(k) == first.size(k);
    if (!fits) {
      fail("cat: tensor " + std::to_string(i) + " is " + sizes_text(x.sizes()) + " on " +
           x.device().name() + ", expected sizes of " + sizes_text(first.sizes()) +
           " except along " + std::to_string(d) + ", on " + first.device().name());
    }
    if (__builtin_add_overflow(sizes[size_t(d)], x.size(d), &sizes[size_t(d)])) {
      fail("cat: the sizes along " + std::to_string(d) + " add up to more than 63 bits hold");
    }
  }
  Tensor result = Tensor::empty(sizes, dtype, first.device());
  int64_t at = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    if (x.dim() == 1 && x.numel() == 0) continue;
    prim::slice(result, d, at, at + x.size(d)).copy_(x);
    at += x.size(d);
  }
  return result;
}

std::vector<Tensor> joined_gradient(const Vjp& call, Tensors xs, int64_t dim) {
  Tensor g = call;
  std::vector<Tensor> grads(xs.size());
  int64_t at = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    bool skipped = x.dim() == 1 && x.numel() == 0 && g.dim() != 1;
    int64_t size = skipped ? 0 : x.size(dim < 0 ? dim + g.dim() : dim);
    if (call.needs(i) && !skipped) {
      grads[i] = prim::slice(g, dim, at, at + size);
      if (grads[i].dtype() != x.dtype()) grads[i] = prim::copy(grads[i], x.dtype());
    }
    at += size;
  }
  return grads;
}

}  // namespace

void shape() {
  op("reshape(Tensor(a) x, int[] sizes) -> Tensor(a)").primitive(TN_RESHAPE);
  op("permute(Tensor(a) x, int[] dims) -> Tensor(a)").primitive(TN_PERMUTE);
  op("slice(Tensor(a) x, int dim, int start=0, int end=9223372036854775807, int step=1) -> "
     "Tensor(a)")
      .primitive(TN_SLICE);
  op("expand(Tensor(a) x, int[] sizes) -> Tensor(a)").primitive(TN_EXPAND);
  op("as_strided(Tensor(a) x, int[] sizes, int[] strides, int offset=0) -> Tensor(a)")
      .primitive(TN_AS_STRIDED);

  op("view(Tensor(a) x, int[] sizes) -> Tensor(a)").view(reshaped);
  op("transpose(Tensor(a) x, int dim0, int dim1) -> Tensor(a)").view(transposed);
  op("t(Tensor(a) x) -> Tensor(a)").view([](const tn_tensor* x) {
    if (x->ndim > 2) {
      fail("t: x is " + sizes_text({x->sizes, size_t(x->ndim)}) +
           ", expected at most 2 dimensions; transpose names two");
    }
    return x->ndim < 2 ? View(x) : transposed(x, 0, 1);
  });
  op("select(Tensor(a) x, int dim, int index) -> Tensor(a)").view(selected);
  op("narrow(Tensor(a) x, int dim, int start, int length) -> Tensor(a)").view(narrowed);
  op("squeeze(Tensor(a) x, int[] dims=[]) -> Tensor(a)").view(squeezed);
  op("unsqueeze(Tensor(a) x, int dim) -> Tensor(a)").view(unsqueezed);
  op("flatten(Tensor(a) x, int start_dim=0, int end_dim=-1) -> Tensor(a)").meaning(flattened);

  op("cat(Tensor[] xs, int dim=0) -> Tensor").amp(Amp::widest).meaning(joined).vjp(joined_gradient);
  op("clone(Tensor x) -> Tensor").meaning([](Tensor x) { return prim::copy(x); });
}

}  // namespace tenon::ops_pack
