// Views: tensors that show the storage of another. Shapes only: gradients of views are autograd's.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace tenon {

// A view of `of` with the given geometry; offset in elements of the storage. Its base is `of`, or
// of's base. Checked: every element lies within the storage.
[[nodiscard]] Status make_view(Tensor* of, std::span<const int64_t> sizes, const int64_t* strides,
                               int64_t storage_offset, Tensor** view);
// The same, for geometries that are right by construction.
Tensor* make_view_unchecked(Tensor* of, std::span<const int64_t> sizes, const int64_t* strides,
                            int64_t storage_offset);
// The bytes of `of` as another dtype: no grad_fn, no base. Where its elements are of another size the last
// dimension has as many more or fewer, as PyTorch's view(dtype).
[[nodiscard]] Status view_dtype(Tensor* of, tn_dtype dtype, Tensor** view);
// Another header for the same values: same geometry, no grad_fn, no base.
Tensor* make_alias(Tensor* of);

inline int64_t element_offset(const Tensor* t) {
  return static_cast<int64_t>(t->byte_offset / kItemSize[t->dtype]);
}

// Geometry of the views of the core; each checks its arguments. `out` is sized by the caller to
// TN_MAX_RANK.
struct Geometry {
  int32_t ndim;
  int64_t sizes[TN_MAX_RANK];
  int64_t strides[TN_MAX_RANK];
  int64_t offset;  // of the storage, in elements
  std::span<const int64_t> size_span() const { return {sizes, static_cast<size_t>(ndim)}; }
};
// *possible: can the new shape be a view? Strides are set only then; sizes always.
[[nodiscard]] Status reshape_geometry(const Tensor* x, std::span<const int64_t> sizes,
                                      Geometry* out, bool* possible);
[[nodiscard]] Status permute_geometry(const Tensor* x, std::span<const int64_t> dims,
                                      Geometry* out);
[[nodiscard]] Status slice_geometry(const Tensor* x, int64_t dim, int64_t start, int64_t end,
                                    int64_t step, Geometry* out);
[[nodiscard]] Status expand_geometry(const Tensor* x, std::span<const int64_t> sizes,
                                     Geometry* out);
[[nodiscard]] Status strided_geometry(const Tensor* x, std::span<const int64_t> sizes,
                                      std::span<const int64_t> strides, int64_t offset,
                                      Geometry* out);

// A dimension as the user writes it, -ndim to ndim - 1, as 0 to ndim - 1.
[[nodiscard]] Status wrap_dim(const char* what, int64_t dim, int32_t ndim, int32_t* wrapped);

// Do two elements of the view share memory? May say yes for odd strides that do not (never the
// other way).
bool may_overlap(const tn_tensor* t);

}  // namespace tenon
