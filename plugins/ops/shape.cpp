// Views, which share memory with their first argument; their gradients are the host's. What makes a
// new tensor of the same elements is in rearrange.cpp.
#include "pack.h"

#include <algorithm>
#include <tuple>

namespace tenon::ops_pack {

Tensor channels_to_end(const Tensor& x) {
  return prim::permute(x, joined_sizes({{0}, counting(2, x.dim() - 2), {1}}));
}
Tensor channels_from_end(const Tensor& x) {
  return prim::permute(x, joined_sizes({{0, x.dim() - 1}, counting(1, x.dim() - 2)}));
}

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
      // Sizes without a zero multiply to numel; beside a zero they may be anything.
      stride = x->numel > 0 ? stride * view.sizes[d]
                            : checked_mul("view", stride, std::max<int64_t>(view.sizes[d], 1));
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
  for (int64_t d : distinct_dims("squeeze", dims, x->ndim)) chosen |= 1u << d;
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
  // A tensor without dimensions counts as one of size 1.
  const int64_t dims = std::max<int64_t>(x.dim(), 1);
  int64_t start = wrap_dim("flatten", start_dim, dims), end = wrap_dim("flatten", end_dim, dims);
  if (x.dim() == 0) return prim::reshape(x, {1});
  if (start > end) {
    fail("flatten: start_dim " + std::to_string(start_dim) + " is behind end_dim " +
         std::to_string(end_dim));
  }
  std::vector<int64_t> sizes;
  int64_t run = 1;
  for (int64_t d = 0; d < x.dim(); ++d) {
    run = d > start && d <= end ? checked_mul("flatten", run, x.size(d)) : x.size(d);
    if (d < start || d >= end) sizes.push_back(run);
  }
  return prim::reshape(x, sizes);
}

View dims_moved(const tn_tensor* x, Ints source, Ints destination) {
  if (source.size() != destination.size()) {
    fail("movedim: " + std::to_string(source.size()) + " dimensions go to " +
         std::to_string(destination.size()) + " places; expected as many");
  }
  std::vector<int64_t> from = distinct_dims("movedim", source, x->ndim),
                       to = distinct_dims("movedim", destination, x->ndim);
  if (x->ndim == 0) return View(x);
  std::vector<int64_t> order(size_t(x->ndim), -1);
  uint32_t moved = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    order[size_t(to[i])] = from[i];
    moved |= 1u << from[i];
  }
  View view;
  int32_t rest = 0;
  for (int64_t d : order) {
    while (d < 0 && moved >> rest & 1) ++rest;
    int64_t taken = d < 0 ? rest++ : d;
    view.append(x->sizes[taken], x->strides[taken]);
  }
  return view;
}

View unflattened(const tn_tensor* x, int64_t dim, Ints sizes) {
  if (x->ndim == 0) fail("unflatten: x has no dimensions");
  if (sizes.empty()) fail("unflatten: sizes is empty");
  int64_t d = wrap_dim("unflatten", dim, x->ndim), known = 1, unknown = 0;
  for (int64_t size : sizes) {
    if (size == -1) ++unknown;
    if (size < -1 || (size >= 0 && __builtin_mul_overflow(known, size, &known))) unknown = 2;
  }
  bool fits =
      unknown == 0 ? known == x->sizes[d] : unknown == 1 && known > 0 && x->sizes[d] % known == 0;
  if (!fits) {
    fail("unflatten: sizes " + sizes_text({sizes.data(), sizes.size()}) +
         " do not multiply to dimension " + std::to_string(d) + " of size " +
         std::to_string(x->sizes[d]) + "; one may be -1");
  }
  View view;
  for (int32_t i = 0; i < x->ndim; ++i) {
    if (i != d) {
      view.append(x->sizes[i], x->strides[i]);
      continue;
    }
    int64_t below = x->sizes[d];
    for (int64_t size : sizes) {
      size = size == -1 ? x->sizes[d] / known : size;
      below = size > 0 ? below / size : 0;
      view.append(size, checked_mul("unflatten", x->strides[d], below > 0 ? below : 1));
    }
  }
  return view;
}

// Windows of `size` elements, a `step` apart, in a last dimension of their own.
View sliding_view(const tn_tensor* x, int64_t dim, int64_t size, int64_t step) {
  int64_t d = wrap_dim("unfold", dim, x->ndim), n = x->ndim == 0 ? 1 : x->sizes[d];
  if (size < 0 || size > n || step <= 0) {
    fail("unfold: windows of " + std::to_string(size) + " with step " + std::to_string(step) +
         " in dimension " + std::to_string(d) + " of size " + std::to_string(n) +
         "; expected at most its size, and a step of at least 1");
  }
  View view(x);
  if (x->ndim > 0) {
    view.sizes[d] = (n - size) / step + 1;
    view.strides[d] = view.sizes[d] > 1 ? x->strides[d] * step : x->strides[d];
  }
  view.append(size, x->ndim == 0 ? 1 : x->strides[d]);
  return view;
}

View diagonal_of(const tn_tensor* x, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t a = wrap_dim("diagonal", dim1, x->ndim), b = wrap_dim("diagonal", dim2, x->ndim);
  if (a == b) {
    fail("diagonal: dim1 and dim2 are both " + std::to_string(a) + "; expected two dimensions");
  }
  View view;
  for (int32_t i = 0; i < x->ndim; ++i) {
    if (i != a && i != b) view.append(x->sizes[i], x->strides[i]);
  }
  int64_t rows = x->sizes[a], columns = x->sizes[b];
  // Beyond the matrix there is no element, however far the offset is.
  int64_t n = offset >= 0 ? (offset < columns ? std::min(rows, columns - offset) : 0)
                          : (offset > -rows ? std::min(rows + offset, columns) : 0);
  if (n > 0) view.offset = offset >= 0 ? offset * x->strides[b] : -offset * x->strides[a];
  view.append(n, x->strides[a] + x->strides[b]);
  return view;
}

using OneList = std::tuple<std::vector<Tensor>>;  // one result, which is a list

OneList pieces(const Tensor& x, Ints lengths, int64_t dim) {
  std::vector<Tensor> list;
  int64_t at = 0;
  for (int64_t length : lengths) {
    list.push_back(prim::slice(x, dim, at, at + length));
    at += length;
  }
  return {list};
}
OneList split_evenly(const char* op, const Tensor& x, int64_t length, int64_t dim) {
  int64_t d = wrap_dim(op, dim, x.dim()), size = x.size(d);
  if (size == 0) return pieces(x, int64_t(0), d);
  // Each piece is a tensor of its own, whatever memory x has: an expanded one may be as long as it
  // likes.
  if ((size - 1) / length >= kMostPieces) {
    fail(std::string(op) + ": " + std::to_string((size - 1) / length + 1) + " pieces of " +
         std::to_string(length) + " along dimension " + std::to_string(d) + " of size " +
         std::to_string(size) + ", at most " + std::to_string(kMostPieces) + " are made");
  }
  std::vector<int64_t> lengths(size_t(size / length), length);
  if (size % length != 0) lengths.push_back(size % length);
  return pieces(x, lengths, d);
}

OneList grids(Tensors xs, string_view indexing) {
  if (indexing != "ij" && indexing != "xy") {
    fail("meshgrid: indexing is '" + std::string(indexing) + "', expected 'ij' or 'xy'");
  }
  if (xs.size() == 0) fail("meshgrid: the list of tensors is empty");
  std::vector<int64_t> sizes;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    if (xs[i].dim() > 1) {
      fail("meshgrid: tensor " + std::to_string(i) + " is " + sizes_text(xs[i].sizes()) +
           ", expected at most 1 dimension");
    }
    sizes.push_back(xs[i].numel());
  }
  bool swapped = indexing == "xy" && sizes.size() > 1;
  if (swapped) std::swap(sizes[0], sizes[1]);
  std::vector<Tensor> list;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    std::vector<int64_t> line(sizes.size(), 1);
    line[swapped && i < 2 ? 1 - i : i] = xs[i].numel();
    list.push_back(prim::expand(prim::reshape(xs[i], line), sizes));
  }
  return {list};
}

Tensor laid_out(const Tensor& x, const std::string& memory_format) {
  if (memory_format == "contiguous") return x.is_contiguous() ? x : prim::copy(x);
  if (memory_format != "channels_last") {
    fail("contiguous: memory_format is '" + memory_format +
         "', expected 'contiguous' or 'channels_last'");
  }
  if (x.dim() < 3) {
    fail("contiguous: x is " + sizes_text(x.sizes()) + ", channels_last needs 3 dimensions");
  }
  const Tensor last = channels_to_end(x);
  return last.is_contiguous() ? x : channels_from_end(prim::copy(last));
}

void views_by_primitives() {
  op("reshape(Tensor(a) x, int[] sizes) -> Tensor(a)")
      .doc(
          "The elements of x in row-major order with other sizes, of which one may be -1. A view "
          "where it can be, else a copy.")
      .method()
      .primitive(TN_PRIM_RESHAPE);
  op("permute(Tensor(a) x, int[] dims) -> Tensor(a)")
      .doc("A view of x with its dimensions in another order.")
      .method()
      .primitive(TN_PRIM_PERMUTE);
  op("slice(Tensor(a) x, int dim, int start=0, int end=9223372036854775807, int step=1) -> "
     "Tensor(a)")
      .doc(
          "A view of the elements start, start + step, .. before end along dim. Bounds are as in "
          "Python.")
      .method()
      .primitive(TN_PRIM_SLICE);
  op("expand(Tensor(a) x, int[] sizes) -> Tensor(a)")
      .doc(
          "A view of x in which dimensions of size 1 are repeated, and new ones stand in front. A "
          "size of -1 stays.")
      .method()
      .primitive(TN_PRIM_EXPAND);
  op("as_strided(Tensor(a) x, int[] sizes, int[] strides, int offset=0) -> Tensor(a)")
      .doc("A view of the storage of x with these sizes and strides, from the element offset on.")
      .method()
      .primitive(TN_PRIM_AS_STRIDED);
}

void views_of_dimensions() {
  op("view(Tensor(a) x, int[] sizes) -> Tensor(a)")
      .doc("reshape(x, sizes), but an error where it cannot be a view.")
      .method()
      .view(reshaped);
  op("transpose(Tensor(a) x, int dim0, int dim1) -> Tensor(a)")
      .doc("A view of x with two dimensions swapped.")
      .method()
      .view(transposed);
  op("t(Tensor(a) x) -> Tensor(a)")
      .doc("A view of a matrix with its dimensions swapped; of fewer dimensions x itself.")
      .method()
      .view([](const tn_tensor* x) {
        if (x->ndim > 2) {
          fail("t: x is " + sizes_text({x->sizes, size_t(x->ndim)}) +
               ", expected at most 2 dimensions; transpose names two");
        }
        return x->ndim < 2 ? View(x) : transposed(x, 0, 1);
      });
  op("select(Tensor(a) x, int dim, int index) -> Tensor(a)")
      .doc("A view of x at index along dim, which goes.")
      .method()
      .view(selected);
  op("narrow(Tensor(a) x, int dim, int start, int length) -> Tensor(a)")
      .doc("A view of length elements from start on along dim.")
      .method()
      .view(narrowed);
  op("squeeze(Tensor(a) x, int[] dim=[]) -> Tensor(a)")
      .doc("A view of x without those of dim, or of all dimensions, that have size 1.")
      .method()
      .view(squeezed);
  op("unsqueeze(Tensor(a) x, int dim) -> Tensor(a)")
      .doc("A view of x with a new dimension of size 1 at dim.")
      .method()
      .view(unsqueezed);
  op("flatten(Tensor(a) x, int start_dim=0, int end_dim=-1) -> Tensor(a)")
      .doc(
          "x with the dimensions from start_dim to end_dim as one. A view where it can be, else a "
          "copy.")
      .method()
      .meaning(flattened);
}

void views_of_elements() {
  op("movedim(Tensor(a) x, int[] source, int[] destination) -> Tensor(a)")
      .doc(
          "A view of x with the dimensions source at the places destination; the others stay in "
          "order.")
      .method()
      .view(dims_moved);
  op("unflatten(Tensor(a) x, int dim, int[] sizes) -> Tensor(a)")
      .doc("A view of x with dim as several dimensions, of which one size may be -1.")
      .method()
      .view(unflattened);
  op("unfold(Tensor(a) x, int dim, int size, int step) -> Tensor(a)")
      .doc("A view of windows of size elements along dim, step apart, in a new last dimension.")
      .method()
      .view(sliding_view);
  op("diagonal(Tensor(a) x, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
      .doc(
          "A view of the diagonal of dim1 and dim2, which goes last; offset is above or, negative, "
          "below it.")
      .method()
      .view(diagonal_of);
  op("broadcast_to(Tensor(a) x, int[] sizes) -> Tensor(a)")
      .doc("A view of x repeated to these sizes, as expand.")
      .method()
      .primitive(TN_PRIM_EXPAND);
}

void layouts() {
  // memory_format: contiguous, or channels_last, in which dimension 1 lies innermost.
  op("contiguous(Tensor(a) x, str memory_format=\"contiguous\") -> Tensor(a)")
      .doc(
          "x itself where it lies so already, else a copy. memory_format: \"contiguous\", or "
          "\"channels_last\", in which dimension 1 lies innermost.")
      .meaning(laid_out);
}

void pieces_and_grids() {
  op("split(Tensor(a) x, int length, int dim=0) -> Tensor(a)[]")
      .doc("Views side by side along dim, of length elements each; the last may be shorter.")
      .method()
      .meaning([](Tensor x, int64_t length, int64_t dim) {
        const bool is_of_nothing = length == 0 && x.size(wrap_dim("split", dim, x.dim())) == 0;
        if (length <= 0 && !is_of_nothing) {
          fail("split: length is " + std::to_string(length) + ", at least 1 is needed");
        }
        return split_evenly("split", x, length, dim);
      });
  op("split_with_sizes(Tensor(a) x, int[] lengths, int dim=0) -> Tensor(a)[]")
      .doc("Views side by side along dim, of these lengths.")
      .method()
      .meaning([](Tensor x, Ints lengths, int64_t dim) {
        int64_t d = wrap_dim("split_with_sizes", dim, x.dim()), rest = x.size(d);
        for (int64_t length : lengths) rest = length < 0 || length > rest ? -1 : rest - length;
        if (rest != 0) {
          fail("split_with_sizes: lengths " + sizes_text({lengths.data(), lengths.size()}) +
               " do not add up to dimension " + std::to_string(d) + " of size " +
               std::to_string(x.size(d)));
        }
        return pieces(x, lengths, d);
      });
  op("chunk(Tensor(a) x, int chunks, int dim=0) -> Tensor(a)[]")
      .doc(
          "At most so many views side by side along dim, of even lengths; the last may be shorter.")
      .method()
      .meaning([](Tensor x, int64_t chunks, int64_t dim) {
        if (chunks <= 0) {
          fail("chunk: chunks is " + std::to_string(chunks) + ", at least 1 is needed");
        }
        const int64_t d = wrap_dim("chunk", dim, x.dim()), size = x.size(d);
        if (size == 0) {  // each piece is as empty
          constexpr int64_t kMost = 1 << 20;
          if (chunks > kMost) {
            fail("chunk: chunks is " + std::to_string(chunks) + " of an empty dimension, at most " +
                 std::to_string(kMost) + " are possible");
          }
          return pieces(x, Sizes(size_t(chunks)), d);
        }
        return split_evenly("chunk", x, size <= chunks ? 1 : (size - 1) / chunks + 1, dim);
      });
  op("meshgrid(Tensor[] xs, str indexing=\"ij\") -> Tensor[]")
      .doc(
          "Each x [n_i] spread over all sizes [n_0, n_1, ..]; indexing \"xy\" swaps the first two.")
      .keeps_halves()
      .meaning(grids);
}

}  // namespace

void shape() {
  views_by_primitives();
  views_of_dimensions();
  views_of_elements();
  layouts();
  pieces_and_grids();
}

}  // namespace tenon::ops_pack
