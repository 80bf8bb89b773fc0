#include "tensor/view.h"

#include <algorithm>

#include "base/text.h"

namespace tenon {

Tensor* make_view_unchecked(Tensor* of, std::span<const int64_t> sizes, const int64_t* strides,
                            int64_t storage_offset) {
  of->storage->retain();
  Tensor* view = make_tensor(of->storage, sizes, strides, storage_offset, of->dtype);
  view->base = of->base != nullptr ? of->base : of;
  view->base->retain();
  view->flags |= of->flags & TN_TENSOR_INFERENCE;
  view->view_flags = of->view_flags & kViewOfCustom;
  return view;
}

Tensor* make_alias(Tensor* of) {
  of->storage->retain();
  if (of->ndim > kInlineRank) [[unlikely]] {
    Tensor* alias =
        make_tensor(of->storage, of->size_span(), of->strides, element_offset(of), of->dtype);
    alias->flags |= of->flags & TN_TENSOR_INFERENCE;
    return alias;
  }
  Tensor* alias = begin_tensor(of->storage, of->dtype);
  alias->data = of->data;
  alias->sizes = alias->inline_dims;
  alias->strides = alias->inline_dims + of->ndim;
  alias->numel = of->numel;
  alias->ndim = of->ndim;
  alias->flags = (of->flags & (TN_TENSOR_CONTIGUOUS | TN_TENSOR_INFERENCE)) | TN_TENSOR_LEAF;
  alias->byte_offset = of->byte_offset;
  std::memcpy(alias->inline_dims, of->inline_dims, sizeof(alias->inline_dims));
  return alias;
}

Status make_view(Tensor* of, std::span<const int64_t> sizes, const int64_t* strides,
                 int64_t storage_offset, Tensor** view) {
  int64_t numel;
  TN_TRY(count_elements("view", sizes, of->dtype, &numel));
  const int64_t capacity = static_cast<int64_t>(of->storage->bytes / kItemSize[of->dtype]);
  int64_t low = storage_offset, high = storage_offset;
  for (size_t d = 0; d < sizes.size() && numel > 0; ++d) {
    int64_t reach;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
      return invalid("view: strides {} overflow",
                     shape_text(strides, static_cast<int32_t>(sizes.size())));
    }
  }
  if (storage_offset < 0 || low < 0 ||
      (numel > 0 && high >= capacity && of->device.type != TN_DEVICE_META)) {
    return invalid(
        "view: sizes {}, strides {} and offset {} reach elements {} to {} of a storage of {}",
        shape_text(sizes.data(), static_cast<int32_t>(sizes.size())),
        shape_text(strides, static_cast<int32_t>(sizes.size())), storage_offset, low, high,
        capacity);
  }
  *view = make_view_unchecked(of, sizes, strides, storage_offset);
  return nullptr;
}

Status wrap_dim(const char* what, int64_t dim, int32_t ndim, int32_t* wrapped) {
  const int32_t range = std::max(ndim, 1);  // a scalar takes 0 and -1, as in PyTorch
  if (dim < -range || dim >= range) [[unlikely]] {
    return invalid("{}: dimension {} is out of range: expected {} to {}", what, dim, -range,
                   range - 1);
  }
  *wrapped = static_cast<int32_t>(dim < 0 ? dim + range : dim);
  return nullptr;
}

namespace {

// Writes the sizes of a reshape of x to `out`: at most one of them is -1, and what x has fills it.
Status resolve_sizes(const Tensor* x, std::span<const int64_t> sizes, Geometry* out) {
  const auto ndim = static_cast<int32_t>(sizes.size());
  if (ndim > TN_MAX_RANK) {
    return invalid("reshape: {} dimensions, expected at most {}", ndim, TN_MAX_RANK);
  }
  int64_t known = 1;
  int32_t inferred = -1;
  for (int32_t d = 0; d < ndim; ++d) {
    out->sizes[d] = sizes[d];
    if (sizes[d] == -1 && inferred < 0) {
      inferred = d;
    } else if (sizes[d] < 0) {
      return invalid("reshape: {} has a negative size; one -1 is allowed",
                     shape_text(sizes.data(), ndim));
    } else if (__builtin_mul_overflow(known, sizes[d], &known)) {
      return invalid("reshape: the shape {} overflows", shape_text(sizes.data(), ndim));
    }
  }
  if (inferred >= 0 && known > 0) out->sizes[inferred] = x->numel / known;
  const bool fits = inferred < 0 ? known == x->numel : known > 0 && x->numel % known == 0;
  if (!fits) [[unlikely]] {
    return invalid("reshape: {} has {} elements, which do not fit {}", sizes_text(x), x->numel,
                   shape_text(sizes.data(), ndim));
  }
  out->ndim = ndim;
  int64_t numel;  // of an empty tensor the other sizes may be any
  return count_elements("reshape", out->size_span(), x->dtype, &numel);
}

// Strides of a view of x with the sizes of `out`; false where x lies so that there is no such view.
// Walks runs of x's dimensions that are dense among themselves, from the last; each must be covered
// by whole new ones.
bool cover_runs(const Tensor* x, Geometry* out) {
  int32_t d = out->ndim - 1;
  int32_t s = x->ndim - 1;
  while (s >= 0) {
    int64_t run = x->sizes[s];
    int64_t stride = x->strides[s];
    while (s > 0 && (x->sizes[s - 1] == 1 || run == 1 || x->strides[s - 1] == run * stride)) {
      if (run == 1) stride = x->strides[s - 1];
      run *= x->sizes[--s];
    }
    int64_t covered = 1;
    while (d >= 0 && (covered < run || out->sizes[d] == 1)) {
      out->strides[d] = stride * covered;
      covered *= out->sizes[d--];
    }
    if (covered != run) return false;
    --s;
  }
  for (; d >= 0; --d) out->strides[d] = 1;
  return true;
}

}  // namespace

Status reshape_geometry(const Tensor* x, std::span<const int64_t> sizes, Geometry* out,
                        bool* possible) {
  TN_TRY(resolve_sizes(x, sizes, out));
  out->offset = element_offset(x);
  *possible = true;
  if (x->is_contiguous() || x->numel == 0) {
    int64_t stride = 1;
    for (int32_t d = out->ndim; d-- > 0;) {
      out->strides[d] = stride;
      stride *= std::max<int64_t>(out->sizes[d], 1);
    }
    return nullptr;
  }
  *possible = cover_runs(x, out);
  return nullptr;
}

Status permute_geometry(const Tensor* x, std::span<const int64_t> dims, Geometry* out) {
  if (static_cast<int32_t>(dims.size()) != x->ndim) [[unlikely]] {
    return invalid("permute: {} dims for a tensor of {} dimensions {}", dims.size(), x->ndim,
                   sizes_text(x));
  }
  uint32_t seen = 0;
  for (int32_t d = 0; d < x->ndim; ++d) {
    int32_t from = 0;
    TN_TRY(wrap_dim("permute", dims[d], x->ndim, &from));
    if ((seen & (1u << from)) != 0)
      return invalid("permute: dimension {} stands twice in dims", dims[d]);
    seen |= 1u << from;
    out->sizes[d] = x->sizes[from];
    out->strides[d] = x->strides[from];
  }
  out->ndim = x->ndim;
  out->offset = element_offset(x);
  return nullptr;
}

Status slice_geometry(const Tensor* x, int64_t dim, int64_t start, int64_t end, int64_t step,
                      Geometry* out) {
  int32_t d;
  if (x->ndim == 0) [[unlikely]]
    return invalid("slice: a tensor without dimensions cannot be sliced");
  TN_TRY(wrap_dim("slice", dim, x->ndim, &d));
  if (step < 1) [[unlikely]]
    return invalid("slice: step is {}, expected at least 1", step);
  const int64_t size = x->sizes[d];
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = std::clamp<int64_t>(start, 0, size);
  end = std::clamp<int64_t>(end, start, size);
  std::copy_n(x->sizes, x->ndim, out->sizes);
  std::copy_n(x->strides, x->ndim, out->strides);
  // Without the sum end - start + step - 1, which may overflow for a huge step.
  out->sizes[d] = end == start ? 0 : (end - start - 1) / step + 1;
  out->strides[d] = out->sizes[d] > 1 ? x->strides[d] * step : x->strides[d];
  out->ndim = x->ndim;
  out->offset = element_offset(x) + (out->sizes[d] > 0 ? start * x->strides[d] : 0);
  return nullptr;
}

Status expand_geometry(const Tensor* x, std::span<const int64_t> sizes, Geometry* out) {
  const auto ndim = static_cast<int32_t>(sizes.size());
  const int32_t lead = ndim - x->ndim;
  if (ndim > TN_MAX_RANK || lead < 0) [[unlikely]] {
    return invalid("expand: {} cannot become {}: expected {} to {} dimensions", sizes_text(x),
                   shape_text(sizes.data(), ndim), x->ndim, TN_MAX_RANK);
  }
  for (int32_t d = 0; d < ndim; ++d) {
    const bool own = d >= lead;
    const int64_t size = own ? x->sizes[d - lead] : 1;
    const bool kept = own && (sizes[d] == -1 || sizes[d] == size);
    if (!kept && sizes[d] < 0) [[unlikely]] {
      return invalid("expand: {} cannot become {}: size {} of dimension {} is negative{}",
                     sizes_text(x), shape_text(sizes.data(), ndim), sizes[d], d,
                     own ? ", expected -1 to keep it, or 0 and more"
                         : ", expected 0 or more for a dimension that is new");
    }
    if (!kept && size != 1) [[unlikely]] {
      return invalid("expand: {} cannot become {}: dimension {} is {}, only 1 can be expanded",
                     sizes_text(x), shape_text(sizes.data(), ndim), d, size);
    }
    out->sizes[d] = kept ? size : sizes[d];
    out->strides[d] = kept ? x->strides[d - lead] : 0;
  }
  out->ndim = ndim;
  out->offset = element_offset(x);
  int64_t numel;
  return count_elements("expand", out->size_span(), x->dtype, &numel);
}

Status strided_geometry(const Tensor* x, std::span<const int64_t> sizes,
                        std::span<const int64_t> strides, int64_t offset, Geometry* out) {
  (void)x;
  const auto ndim = static_cast<int32_t>(sizes.size());
  if (sizes.size() != strides.size() || ndim > TN_MAX_RANK) {
    return invalid("as_strided: {} sizes and {} strides, expected equally many, at most {}",
                   sizes.size(), strides.size(), TN_MAX_RANK);
  }
  for (int32_t d = 0; d < ndim; ++d) {
    if (strides[d] < 0)
      return invalid("as_strided: stride {} of dimension {} is negative", strides[d], d);
    out->sizes[d] = sizes[d];
    out->strides[d] = strides[d];
  }
  out->ndim = ndim;
  out->offset = offset;
  return nullptr;
}

bool may_overlap(const tn_tensor* t) {
  if ((t->flags & TN_TENSOR_CONTIGUOUS) != 0 || t->numel <= 1) return false;
  int32_t order[TN_MAX_RANK];
  int32_t n = 0;
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (t->sizes[d] > 1) order[n++] = d;
  }
  std::sort(order, order + n, [&](int32_t a, int32_t b) { return t->strides[a] < t->strides[b]; });
  int64_t reach = 0;  // last element of the dimensions so far
  for (int32_t i = 0; i < n; ++i) {
    if (t->strides[order[i]] <= reach) return true;
    reach += (t->sizes[order[i]] - 1) * t->strides[order[i]];
  }
  return false;
}

}  // namespace tenon
