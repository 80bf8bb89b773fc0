// The nodes of views: by geometry alone, so that one kind serves every view, of the core and of plugins.
#pragma once

#include "autograd/record.h"
#include "tensor/view.h"

namespace tenon {

// Where a view lies in its base's storage.
struct ViewGeometry {
  SmallVector<int64_t, 6> sizes, strides;
  int64_t offset;
  ViewGeometry(std::span<const int64_t> sizes, const int64_t* strides, int64_t offset)
      : sizes(sizes.begin(), sizes.end()), strides(strides, strides + sizes.size()), offset(offset) {}
  explicit ViewGeometry(const Tensor* t) : ViewGeometry(t->size_span(), t->strides, element_offset(t)) {}
};

// The elements from the first to the last, and those between that the geometry leaves out.
int64_t extent_of(const ViewGeometry& geometry);

// The node of a view of x by geometry alone; owned.
Node* make_view_node(Tensor* x, const Tensor* view, std::string name);

// slice: as make_view_node, but its gradient is row-major, however x lies in memory.
[[nodiscard]] Status record_slice(std::span<const tn_value> args, tn_value* result);
// An op that gives a list of views of one argument (split): one node with an output for each.
bool gives_views(const Op* op);
[[nodiscard]] Status record_views(const Op* op, std::span<const tn_value> args, tn_value* result);

}  // namespace tenon
