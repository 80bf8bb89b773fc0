#include "autograd/view_nodes.h"

#include <algorithm>

#include "autograd/accumulate.h"
#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "primitive/convert.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "tensor/layout.h"

namespace tenon {
namespace {

// May a view show an element several times, as an expand and windows that overlap do?
bool may_overlap(const ViewGeometry& g) {
  tn_tensor t{};
  t.ndim = static_cast<int32_t>(g.sizes.size());
  t.sizes = g.sizes.data();
  t.strides = g.strides.data();
  t.numel = 1;
  for (const int64_t size : g.sizes) t.numel *= size;
  return tenon::may_overlap(&t);
}

bool lies_as(const Tensor* t, const ViewGeometry& g) {
  if (!same_sizes(t, g.sizes)) return false;
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    if (g.sizes[d] > 1 && t->strides[d] != g.strides[d]) return false;
  }
  return true;
}

// The gradient of a view that shows elements several times, or of a base that does, as seen by the
// base: zero outside the view. Gradients live in row-major tensors, whatever the base's strides
// are: both geometries are read in a buffer of their frame.
TensorRef spread(Tensor* grad, const ViewGeometry& base, const ViewGeometry& view,
                 const TensorInfo& info) {
  const Frame frame(base, {&view, 1});
  const int64_t extent = frame.extent();
  TensorRef buffer = prim::zeros({&extent, 1}, info.dtype, info.device);
  if (grad->numel > 0) {
    // Elements that the view shows several times get the sum.
    TensorRef places = prim::iota(extent, info.device);
    places = prim::as_strided(places.get(), view.sizes, view.strides, frame.place(view));
    places = prim::reshape(places.get(), {&grad->numel, 1});
    TensorRef flat = prim::reshape(grad, {&grad->numel, 1});
    buffer = prim::scatter(buffer.get(), 0, places.get(), flat.get(), true);
  }
  if (may_overlap(base)) {
    // The base itself shows elements several times: each time gets its share, and the base's own
    // gradient sums them.
    TensorRef places = prim::iota(extent, info.device);
    places = prim::as_strided(places.get(), base.sizes, base.strides, frame.place(base));
    int64_t numel = places->numel;
    places = prim::reshape(places.get(), {&numel, 1});
    TensorRef zero = prim::spread_zero({&extent, 1}, info.dtype, info.device);
    TensorRef ones =
        prim::elementwise("ones(Tensor i, Tensor z) -> Tensor", "1 + 0 * i + 0 * z",
                          {places.get(), prim::zeros({}, info.dtype, info.device).get()});
    ones = prim::convert(ones.get(), info.device, info.dtype);
    TensorRef counts = prim::scatter(zero.get(), 0, places.get(), ones.get(), true);
    buffer = prim::elementwise("share(Tensor x, Tensor n) -> Tensor", "x / max(n, 1)",
                               {buffer.get(), counts.get()});
  }
  return prim::as_strided(buffer.get(), base.sizes, base.strides, frame.place(base));
}

// A base and views of it. None shows an element twice, but two views may show the same one.
struct Windows {
  ViewGeometry base;
  std::vector<ViewGeometry> views;
  TensorInfo info;  // of the base
  Frame frame;
  // The base's elements are all of the frame: then a tensor that lies as the base does is itself a
  // buffer to read and write.
  bool fill_frame;

  Windows(const Tensor* x, ViewGeometry of_x, std::vector<ViewGeometry> of_views)
      : base(std::move(of_x)),
        views(std::move(of_views)),
        info(x),
        frame(base, views),
        fill_frame(frame.extent() == x->numel) {}

  // Where the frame begins in the storage of `full`, which lies as the base does.
  int64_t origin(const Tensor* full) const { return element_offset(full) - frame.place(base); }
  Status add(Tensor* const* grads, Tensor* full, bool empty) const {
    for (size_t k = 0; k < views.size(); ++k) {
      if (grads[k] == nullptr || grads[k]->numel == 0) continue;
      TensorRef part(make_view_unchecked(full, views[k].sizes, views[k].strides.data(),
                                         origin(full) + frame.place(views[k])));
      TN_TRY(empty ? copy_into(part.get(), grads[k]) : add_in_place(part.get(), grads[k]));
      empty = false;
    }
    return nullptr;
  }
  // Zeros outside of the windows, sums inside; in the base's layout.
  Status gather(Tensor* const* grads, TensorRef* result) const {
    Tensor* made;
    tn_value zero{};
    zero.kind = TN_KIND_INT;
    const int64_t extent = frame.extent();
    TN_TRY(empty_tensor({&extent, 1}, info.dtype, info.device, &made));
    TensorRef buffer(made);
    if (extent > 0) TN_TRY(fill(buffer.get(), zero));
    buffer->storage->retain();
    TensorRef full(make_tensor(buffer->storage, base.sizes, base.strides.data(), frame.place(base),
                               info.dtype));
    TN_TRY(add(grads, full.get(), true));
    *result = std::move(full);
    return nullptr;
  }
};

// The sum of gradients in their windows, under create_graph, with what was there before as the last
// edge. The gradients of the windows are views again, that of the rest is the whole.
class WindowsNode final : public Node {
 public:
  explicit WindowsNode(const Windows& windows) : windows_(windows) {}
  std::string name() const override { return "windows"; }
  void release_saved() override {}

  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      const auto& [base, views, info, frame, fill_frame] = windows_;
      TensorRef full = TensorRef::retaining(grads[0]);
      if (!fill_frame || !lies_as(full.get(), base)) {
        const int64_t extent = frame.extent();
        TensorRef buffer = prim::zeros({&extent, 1}, info.dtype, info.device);
        full = prim::as_strided(buffer.get(), base.sizes, base.strides, frame.place(base));
        throw_if(copy_recorded(full.get(), grads[0]));
      }
      for (uint32_t k = 0; k < views.size(); ++k) {
        if (edge(k).node == nullptr) continue;
        const int64_t offset = windows_.origin(full.get()) + frame.place(views[k]);
        results[k] = prim::as_strided(full.get(), views[k].sizes, views[k].strides, offset).take();
      }
      results[n_edges() - 1] = full.take();
      return nullptr;
    });
  }

 private:
  Windows windows_;
};

// One or several views of a tensor, an output for each.
class ViewNode final : public Node {
 public:
  ViewNode(const Tensor* x, ViewGeometry base, std::vector<ViewGeometry> views, std::string name)
      : windows_(x, std::move(base), std::move(views)), name_(std::move(name)) {
    n_outputs = static_cast<uint32_t>(windows_.views.size());
    plain_ = x->is_contiguous() || !may_overlap(windows_.base);
    for (const ViewGeometry& view : windows_.views) plain_ = plain_ && !may_overlap(view);
    adds = plain_ && windows_.fill_frame;
  }
  std::string name() const override { return name_; }
  void release_saved() override {}

  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      TensorRef result;
      if (plain_) {
        TN_TRY(windows_.gather(grads, &result));
        if ((thread_state.modes & kModeNoGrad) == 0) record(grads, result.get());
      } else {
        for (size_t k = 0; k < windows_.views.size(); ++k) {
          if (grads[k] == nullptr) continue;
          TensorRef part = spread(grads[k], windows_.base, windows_.views[k], windows_.info);
          result = result ? prim::elementwise("sum(Tensor a, Tensor b) -> Tensor", "a + b",
                                              {result.get(), part.get()})
                          : part;
        }
      }
      results[0] = result.take();
      return nullptr;
    });
  }

  Status add_to(Tensor* const* grads, Tensor* sum, bool* added) override {
    *added = sum->dtype == windows_.info.dtype && lies_as(sum, windows_.base);
    if (!*added) return nullptr;
    return guarded([&]() -> Status {
      TN_TRY(windows_.add(grads, sum, false));
      if ((thread_state.modes & kModeNoGrad) == 0) record(grads, sum);
      return nullptr;
    });
  }

 private:
  void record(Tensor* const* grads, Tensor* result) const {
    EdgeList edges(windows_.views.size() + 1);
    bool any = false;
    for (size_t k = 0; k < windows_.views.size(); ++k) {
      if (grads[k] != nullptr && needs_gradient(grads[k])) edges[k] = gradient_edge(grads[k]);
      any = any || edges[k].node != nullptr;
    }
    if (!any) return;
    if (needs_gradient(result)) edges[windows_.views.size()] = gradient_edge(result);
    Ref<Node> node(new WindowsNode(windows_));
    node->take_edges(&edges);
    note_forward(node.get(), {}, result->device);
    set_history(result, node.get(), 0);
  }

  Windows windows_;
  std::string name_;
  bool plain_;
};

Node* new_view_node(Tensor* x, ViewGeometry base, std::vector<ViewGeometry> views,
                    std::string name) {
  Ref<ViewNode> node(new ViewNode(x, std::move(base), std::move(views), std::move(name)));
  const Edge edge = gradient_edge(x);
  node->set_edges(&edge, 1);
  return node.take();
}

using RunCall = Status (*)(const Op*, std::span<const tn_value> args, std::span<tn_value> results);

// The node of views of a base that shows elements several times (an expand, windows that overlap). In
// memory the base does not tell which of these times a view shows, and each has a gradient of its own:
// so they are where the same call finds them in a dense tensor.
[[gnu::cold]] Status node_of_overlapping(const Op* op, RunCall run, std::span<const tn_value> args,
                                         size_t viewed, Ref<Node>* node) {
  const NoGradScope no_grad;
  Tensor* x = as_tensor(args[viewed].as.tensor);
  Tensor* made;
  TN_TRY(empty_tensor(x->size_span(), x->dtype, kMeta, &made));
  const TensorRef dense(made);
  std::vector<tn_value> model(args.begin(), args.end());
  model[viewed].as.tensor = made;
  tn_value result{};
  const ResultsScope given_up({&result, 1});
  TN_TRY(run(op, model, {&result, 1}));
  std::vector<ViewGeometry> views;
  for (const tn_tensor* t : tensors_of(result)) views.emplace_back(as_tensor(t));
  *node = Ref<Node>(
      new_view_node(x, ViewGeometry(made), std::move(views), recorded_name(op->schema.name)));
  return nullptr;
}

// The argument whose views the op gives as a list, or -1.
int viewed_argument(const Op* op) {
  const Schema& schema = op->schema;
  if (schema.returns.size() != 1) return -1;
  const Argument& given = schema.returns[0];
  if (!given.list || given.alias == 0 || given.written) return -1;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& a = schema.arguments[i];
    if (a.alias == given.alias) return a.list || a.optional ? -1 : static_cast<int>(i);
  }
  return -1;
}

}  // namespace

void Frame::add(const ViewGeometry& g) {
  if (is_empty(g)) return;
  int64_t first = g.offset, last = g.offset;
  for (size_t d = 0; d < g.sizes.size(); ++d)
    (g.strides[d] < 0 ? first : last) += (g.sizes[d] - 1) * g.strides[d];
  const bool is_first = begin_ == end_;
  begin_ = is_first ? first : std::min(begin_, first);
  end_ = is_first ? last + 1 : std::max(end_, last + 1);
}

Node* make_view_node(Tensor* x, const Tensor* view, std::string name) {
  return new_view_node(x, ViewGeometry(x), {ViewGeometry(view)}, std::move(name));
}

Status record_view(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  Tensor* x = as_tensor(args[0].as.tensor);
  {
    NoGradScope no_grad;
    TN_TRY(run_op(op, args, results));
  }
  Tensor* view = as_tensor(results[0].as.tensor);
  Ref<Node> node;
  // as_strided, a primitive, is about memory: what it shows of an element that x shows several times
  // is shared out.
  if (op->kind == OpKind::kView && tenon::may_overlap(x)) [[unlikely]] {
    TN_TRY(node_of_overlapping(op, run_op, args, 0, &node));
  } else {
    node = Ref<Node>(make_view_node(x, view, recorded_name(op->schema.name)));
  }
  note_forward(node.get(), args, x->device);
  set_history(view, node.get(), 0);
  return nullptr;
}

Status record_slice(const Op& op, std::span<const tn_value> args, tn_value* result) {
  {
    NoGradScope no_grad;
    TN_TRY(run_op(&op, args, {result, 1}));
  }
  Tensor *x = as_tensor(args[0].as.tensor), *view = as_tensor(result->as.tensor);
  const std::string& name = recorded_name(op.schema.name);
  Ref<Node> node;
  if (x->is_contiguous()) {
    node = Ref<Node>(make_view_node(x, view, name));
  } else {
    Tensor* dense;
    TN_TRY(empty_tensor(x->size_span(), x->dtype, kMeta, &dense));
    TensorRef model(dense);
    Geometry g;
    TN_TRY(slice_geometry(dense, int_at(args, 1), int_at(args, 2), int_at(args, 3), int_at(args, 4),
                          &g));
    node = Ref<Node>(new_view_node(x, ViewGeometry(dense),
                                   {ViewGeometry(g.size_span(), g.strides, g.offset)}, name));
  }
  note_forward(node.get(), args, x->device);
  set_history(view, node.get(), 0);
  return nullptr;
}

bool gives_views(const Op* op) { return viewed_argument(op) >= 0; }

Status record_views(const Op* op, std::span<const tn_value> args, tn_value* result) {
  Tensor* x = as_tensor(args[static_cast<size_t>(viewed_argument(op))].as.tensor);
  {
    NoGradScope no_grad;
    TN_TRY(decompose_as_is(op, args, {result, 1}));
  }
  const std::span<tn_tensor* const> list(result->as.tensors, result->count);
  const Tensor* base = x->base != nullptr ? x->base : x;
  const bool views = std::all_of(list.begin(), list.end(), [&](const tn_tensor* t) {
    return t->storage == x->storage && t->dtype == x->dtype && as_tensor(t)->base == base &&
           as_tensor(t)->grad_fn == nullptr;
  });
  if (!views) {  // it gave copies, whose gradients its calls know
    release_values({result, 1});
    *result = tn_value{};
    return decompose_as_is(op, args, {result, 1});
  }
  if (list.empty()) return nullptr;
  Ref<Node> node;
  if (tenon::may_overlap(x)) [[unlikely]] {
    const auto viewed = static_cast<size_t>(viewed_argument(op));
    TN_TRY(node_of_overlapping(op, decompose_as_is, args, viewed, &node));
  } else {
    std::vector<ViewGeometry> geometries;
    for (const tn_tensor* t : list) geometries.emplace_back(as_tensor(t));
    node = Ref<Node>(
        new_view_node(x, ViewGeometry(x), std::move(geometries), recorded_name(op->schema.name)));
  }
  note_forward(node.get(), args, x->device);
  for (uint32_t k = 0; k < result->count; ++k) set_history(as_tensor(list[k]), node.get(), k);
  return nullptr;
}

}  // namespace tenon
