// The nodes of views: by geometry alone, so that one kind serves every view, of the core and of
// plugins.
#pragma once

#include <algorithm>
#include <span>

#include "autograd/record.h"
#include "tensor/view.h"

namespace tenon {

// Where a view lies in its base's storage.
struct ViewGeometry {
  SmallVector<int64_t, 6> sizes, strides;
  int64_t offset;
  ViewGeometry(std::span<const int64_t> sizes, const int64_t* strides, int64_t offset)
      : sizes(sizes.begin(), sizes.end()),
        strides(strides, strides + sizes.size()),
        offset(offset) {}
  explicit ViewGeometry(const Tensor* t)
      : ViewGeometry(t->size_span(), t->strides, element_offset(t)) {}
};

// The elements of a storage from the first to the last that geometries reach, laid out as a buffer
// of their own: there gradients live, whatever else the storage holds. A view need not lie within
// its base: as_strided reaches what it likes of the storage. (The Frame of cpu's tiles is another
// thing, and the windows here, views cut out of a frame, are not those of convolutions.)
class Frame {
 public:
  explicit Frame(const ViewGeometry& base) { add(base); }
  Frame(const ViewGeometry& base, std::span<const ViewGeometry> views) : Frame(base) {
    for (const ViewGeometry& view : views) add(view);
  }
  int64_t extent() const { return end_ - begin_; }
  // The buffer's element at which the geometry begins.
  int64_t place(const ViewGeometry& g) const { return is_empty(g) ? 0 : g.offset - begin_; }
  bool operator==(const Frame&) const = default;

 private:
  void add(const ViewGeometry& geometry);
  static bool is_empty(const ViewGeometry& g) {
    return std::ranges::find(g.sizes, 0) != g.sizes.end();
  }

  int64_t begin_ = 0, end_ = 0;
};

// The node of a view of x by geometry alone; owned.
Node* make_view_node(Tensor* x, const Tensor* view, std::string name);

// slice: as make_view_node, but its gradient is row-major, however x lies in memory.
[[nodiscard]] Status record_slice(const Op& op, std::span<const tn_value> args, tn_value* result);
// An op that gives a list of views of one argument (split): one node with an output for each.
bool gives_views(const Op* op);
[[nodiscard]] Status record_views(const Op* op, std::span<const tn_value> args, tn_value* result);

}  // namespace tenon
