// Tensor: a counted handle of the host's tensor. What it knows of itself is here; what is computed
// with it is in ops/*.hpp. Its methods that are ops are declared in ops/tensor_methods.hpp, those
// that are more than a call of their op in ops/tensor_methods_by_hand.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/device.hpp"
#include "tenon/dtype.hpp"
#include "tenon/lists.hpp"
#include "tenon/ops/tensor_methods_by_hand.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

class Operand;
class Number;
class Index;
class Indexed;
class Rows;
class TensorHook;

namespace detail {
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_none() {
  fail("the tensor is None: never assigned, moved from, or a gradient that is not there yet");
}

// What make<T> sets while it constructs a T on this thread: it is told of the objects that are made
// and of the tensors that ask for a gradient (unregistered.hpp). NULL: nobody asks.
struct Making {
  void (*made)(Making*, tn_object*, tn_tensor*);  // one of the two
  // `member` holds what `owner` was given under this name; moved: `to` has what `from` had.
  void (*placed)(Making*, tn_object* owner, const char* name, const void* member);
  void (*moved)(Making*, const void* from, const void* to);
};
// What an object was just given, and under which name.
struct Registered {
  tn_object* owner;
  const char* name;
};
inline constinit thread_local Making* making = nullptr;
}  // namespace detail

// What a new tensor is to be, by name: zeros({2, 3}, {.requires_grad = true}). dtype None: that of
// the call; device None: the CPU. x.options() are those of a tensor.
struct TensorOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Dtype dtype = {};
  Device device = {};
  bool requires_grad = false;
};

struct CopyOptions {
  // Between pinned memory of the host (Tensor::pin_memory) and a device: the copy may be under way
  // on return, and a result on cpu is pinned. Until `device.synchronize()` the program neither writes
  // what is copied nor reads what comes. Between other memory it changes nothing.
  bool non_blocking = false;
};

// Of Tensor::to. copy: a new tensor also where nothing changes.
struct ToOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool non_blocking = false;
  bool copy = false;
};

namespace detail {
class NonBlocking {
 public:
  explicit NonBlocking(bool on) : on_(on) {
    if (on_) before_ = api.tensor->set_non_blocking(1);
  }
  ~NonBlocking() {
    if (on_) api.tensor->set_non_blocking(before_);
  }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  const bool on_;
  int32_t before_ = 0;
};
}  // namespace detail

struct BackwardOptions;
// Null by default: see defined(). Copies share one tensor, as in PyTorch; a move costs nothing.
// Handles may be used from several threads at once; writing to one tensor's elements from two is
// the caller's to order.
class Tensor : public detail::TensorMethodsByHand {
 public:
  constexpr Tensor() noexcept {}
  Tensor(const Tensor& other) noexcept : held_(other.held_) {
    if (held_) detail::known_host()->tensor_retain(held_);
  }
  constexpr Tensor(Tensor&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  // What an object gives back of what it was given is constructed where the program keeps it: as a
  // member of the class that is being made, for one (module_members.hpp).
  Tensor(detail::Registered as, Tensor&& tensor) : held_(std::exchange(tensor.held_, nullptr)) {
    if (detail::making) [[unlikely]]
      detail::making->placed(detail::making, as.owner, as.name, this);
  }
  // None where there is none: an optional argument of a forward goes on to ops as it is.
  template <std::same_as<std::optional<Tensor>> O>
  Tensor(const O& tensor) noexcept
      : held_(tensor.has_value() ? borrow(tensor->held_).release() : nullptr) {}
  template <std::same_as<std::nullopt_t> O>
  constexpr Tensor(const O&) noexcept {}
  // To variables only: x[0] = y and x.index({0}) = y are Indexed's, and x.grad() = y would change
  // nothing.
  Tensor& operator=(const Tensor& other) & noexcept {
    Tensor copy(other);
    std::swap(held_, copy.held_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    if (detail::making) [[unlikely]]
      detail::making->moved(detail::making, &other, this);
    Tensor old(std::move(*this));
    held_ = std::exchange(other.held_, nullptr);
    return *this;
  }
  void operator=(const Tensor&) && TENON_REFUSED("use x[{0}] = y, copy_, set_grad, parameter()");
  void operator=(Tensor&&) && TENON_REFUSED("use x[{0}] = y, copy_, set_grad, parameter()");
  template <std::convertible_to<double> N>
      void operator=(N) && TENON_REFUSED("use x[{0}] = y, copy_, set_grad, parameter()");
  ~Tensor() {
    if (held_) detail::known_host()->tensor_release(held_);
  }

  // The handle below. take: owns what it is given; borrow: retains it; get: lends it; release:
  // gives it away.
  static Tensor take(tn_tensor* t) noexcept {
    Tensor tensor;
    tensor.held_ = t;
    return tensor;
  }
  static Tensor borrow(tn_tensor* t) noexcept {
    if (t) detail::known_host()->tensor_retain(t);
    return take(t);
  }
  tn_tensor* get() const noexcept { return held_; }
  tn_tensor* release() noexcept { return std::exchange(held_, nullptr); }
  // Whether there is a tensor: a default one is None, as the gradient of a leaf before backward.
  bool defined() const noexcept { return held_ != nullptr; }
  // if (loss < 1.0), std::max(a, b), !t and t && u would ask for defined() where the value is
  // meant.
  explicit operator bool() const TENON_REFUSED("a Tensor is no bool: defined(), or item<bool>()");
  template <std::same_as<std::nullptr_t> Null>
  friend bool operator==(const Tensor&, Null) TENON_REFUSED("ask for !t.defined()");
  bool is_same(const Tensor& other) const noexcept { return held_ == other.held_; }

  // `values` in row-major order, copied to a new tensor. sizes -1: one dimension. An Error when the
  // counts differ.
  template <typename T>
  static Tensor from(std::span<const T> values, Ints sizes = -1, Device device = {}) {
    return from_values(values.data(), values.size(), dtype_of<T>(), sizes, device);
  }
  template <typename T>
  static Tensor from(const std::vector<T>& values, Ints sizes = -1, Device device = {}) {
    return from_values(values.data(), values.size(), dtype_of<T>(), sizes, device);
  }
  static Tensor from(const std::vector<bool>& values, Ints sizes = -1, Device device = {}) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_values(bytes.data(), bytes.size(), bool_, sizes, device);
  }
  template <typename T>
  static Tensor from(std::initializer_list<T> values, Ints sizes = -1, Device device = {}) {
    return from_values(values.begin(), values.size(), dtype_of<T>(), sizes, device);
  }
  // Not initialized, row-major.
  static Tensor empty(Ints sizes, Dtype dtype = float32, Device device = {}) {
    tn_tensor* t = nullptr;
    check(detail::api.tensor->empty(int32_t(sizes.size()), sizes.data(), dtype.value, device.value,
                                    &t));
    return take(t);
  }

  // Shape. A negative dimension counts from the end. An Error when the tensor is None.
  // Of a tensor with a name they are borrowed from it, of a temporary they are a copy.
  Ints sizes() const& { return {checked()->sizes, size_t(checked()->ndim)}; }
  Ints sizes() const&& { return sizes().kept(); }
  Ints strides() const& { return {checked()->strides, size_t(checked()->ndim)}; }
  Ints strides() const&& { return strides().kept(); }
  Ints shape() const& { return sizes(); }
  Ints shape() const&& { return sizes().kept(); }
  int64_t size(int64_t d) const { return checked()->sizes[dimension("size", d)]; }
  int64_t stride(int64_t d) const { return checked()->strides[dimension("stride", d)]; }
  int64_t dim() const { return checked()->ndim; }
  int64_t ndim() const { return dim(); }
  int64_t ndimension() const { return dim(); }
  int64_t nelement() const { return numel(); }
  // Of its first element in the storage, in elements.
  int64_t storage_offset() const {
    return int64_t(checked()->byte_offset) / int64_t(dtype().itemsize());
  }
  int64_t numel() const { return checked()->numel; }
  // Bytes: of an element, and of all.
  int64_t element_size() const { return dtype().itemsize(); }
  int64_t itemsize() const { return element_size(); }
  int64_t nbytes() const { return numel() * element_size(); }
  Dtype dtype() const { return {checked()->dtype}; }
  Dtype scalar_type() const { return dtype(); }
  // Its dtype and device, for one that is like it: zeros({2, 3}, x.options()).
  TensorOptions options() const { return {.dtype = dtype(), .device = device()}; }
  Device device() const { return checked()->device; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().type() == "cuda"; }
  bool is_inference() const { return (checked()->flags & TN_TENSOR_INFERENCE) != 0; }
  bool is_contiguous() const { return (checked()->flags & TN_TENSOR_CONTIGUOUS) != 0; }
  bool is_contiguous(TextRef memory_format) const;  // the formats of contiguous()
  bool is_signed() const { return dtype() != uint8 && dtype() != bool_; }
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }

  // Elements of a cpu tensor, at their strides. An Error for other devices and other types.
  // `mutable_data` marks the tensor as changed, so that gradients and caches notice.
  template <typename T>
  const T* data() const {
    expect_elements(dtype_of<T>());
    const void* data = nullptr;
    check(detail::api.tensor->data(checked(), &data));
    return static_cast<const T*>(data);
  }
  template <typename T>
  T* mutable_data() const {
    expect_elements(dtype_of<T>());
    void* data = nullptr;
    check(detail::api.tensor->mutable_data(checked(), &data));
    return static_cast<T*>(data);
  }
  template <typename T>
  T* data_ptr() const {  // by libtorch's name
    return mutable_data<T>();
  }
  template <typename T>
  const T* const_data_ptr() const {
    return data<T>();
  }
  void* data_ptr() const {
    void* data = nullptr;
    check(detail::api.tensor->mutable_data(checked(), &data));
    return data;
  }
  // The one element, converted to T. An Error where T is an integer that does not hold it, or float
  // and it is beyond; a fraction is cut off for an integer, and an integer beyond 2^53 is rounded
  // for double. Waits for the device.
  template <typename T = double>
  T item() const {
    if (numel() != 1)
      fail(detail::joined(
          {"item: a tensor of one element is needed, this has ", std::to_string(numel())}));
    unsigned char bytes[16];
    check(detail::api.tensor->read(checked(), bytes, uint64_t(dtype().itemsize())));
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      detail::expect_holds(bytes, dtype(), 8 * int(sizeof(T)), std::is_signed_v<T>);
    if constexpr (std::is_same_v<T, float>) detail::expect_float_holds(bytes, dtype());
    return detail::element<T>(bytes, 0, dtype());
  }
  // All elements in row-major order, converted to T as `to` converts: what an integer does not hold
  // wraps. Waits for the device.
  template <typename T>
  std::vector<T> to_vector() const {
    std::vector<T> values(size_t(checked()->numel));
    std::vector<unsigned char> bytes(size_t(checked()->numel * dtype().itemsize()));
    check(detail::api.tensor->read(checked(), bytes.data(), bytes.size()));
    for (int64_t i = 0; i < checked()->numel; ++i) {
      values[size_t(i)] = detail::element<T>(bytes.data(), i, dtype());
    }
    return values;
  }

  // Gradients. backward: of one element, or with its gradient given; adds to the leaves' grad().
  // retain_grad: a non-leaf keeps its own too, after its hooks; an Error where it needs none.
  bool requires_grad() const { return (graph_flags() & TN_TENSOR_REQUIRES_GRAD) != 0; }
  bool is_leaf() const { return (graph_flags() & TN_TENSOR_LEAF) != 0; }
  const Tensor& requires_grad_(bool on = true) const& {
    check(detail::api.autograd->set_requires_grad(checked(), on));
    if (on && detail::making) [[unlikely]]
      detail::making->made(detail::making, nullptr, held_);
    return *this;
  }
  Tensor requires_grad_(bool on = true) && {
    const Tensor& self = *this;
    self.requires_grad_(on);
    return std::move(*this);
  }
  const Tensor& set_requires_grad(bool on) const& { return requires_grad_(on); }
  Tensor grad() const { return take(detail::api.autograd->grad(checked())); }  // null: none yet
  void set_grad(const Tensor& grad) const {
    check(detail::api.autograd->set_grad(checked(), grad.held_));
  }
  void zero_grad() const { check(detail::api.autograd->set_grad(checked(), nullptr)); }
  void retain_grad() const { check(detail::api.autograd->retain_grad(checked())); }
  void backward(const Tensor& grad = {}, bool retain_graph = false,
                bool create_graph = false) const {
    uint32_t flags = (retain_graph ? TN_BACKWARD_RETAIN_GRAPH : 0) |
                     (create_graph ? TN_BACKWARD_CREATE_GRAPH : 0);
    tn_tensor* grads[] = {grad.held_};
    check(detail::api.autograd->backward(&held_, grads, 1, flags));
  }
  // By name: loss.backward({.retain_graph = true}).
  void backward(const Tensor& grad, const BackwardOptions& options) const;
  template <typename Options = BackwardOptions>
  void backward(const Options& options) const requires std::is_same_v<Options, BackwardOptions> {
    backward({}, options);
  }
  // Into these alone, as BackwardOptions::inputs.
  void backward(const Tensor& grad, std::optional<bool> retain_graph, bool create_graph,
                const std::vector<Tensor>& inputs) const;
  // `f(Tensor grad)` sees the gradient of this tensor; what it gives, if not void or null, replaces
  // it. Taken away by remove() of what this gives, or by its number. (autograd.hpp)
  template <typename F>
  TensorHook register_hook(F f) const;
  // f(Tensor x) of a leaf, each time backward has added to its gradient, as PyTorch's
  // register_post_accumulate_grad_hook: a step of an optimizer that frees the gradient at once. x
  // is this tensor, or one with its values, version and gradient. Error of one that is no leaf.
  template <typename F>
  TensorHook register_post_accumulate_grad_hook(F f) const;
  void remove_hook(uint64_t id) const { check(detail::api.autograd->remove_hook(checked(), id)); }
  // Shares memory, outside of the graph.
  Tensor detach() const {
    tn_tensor* t = nullptr;
    check(detail::api.tensor->detach(checked(), &t));
    return take(t);
  }
  // Other handles of this tensor would keep its graph.
  void detach_() const TENON_REFUSED("write x = x.detach()");
  uint64_t version() const { return detail::api.tensor->version(checked()); }
  bool same_storage(const Tensor& other) const {
    return detail::api.tensor->same_storage(checked(), other.checked()) != 0;
  }

  bool is_floating_point() const { return dtype().is_float(); }

  // Row-sparse tensors: few rows of a table, the gradients of embeddings. (row_sparse.hpp)
  bool is_row_sparse() const { return (checked()->flags & TN_TENSOR_ROWS) != 0; }
  bool is_sparse() const { return is_row_sparse(); }
  int64_t sparse_dim() const { return is_row_sparse() ? 1 : 0; }
  int64_t dense_dim() const { return dim() - sparse_dim(); }
  Tensor indices() const { return row_parts().first; }  // int64 [n]
  Tensor values() const { return row_parts().second; }  // [n, ...]
  Tensor coalesce() const;  // each index once, sorted. Waits for the device
  Tensor to_dense() const;  // itself where it is not row-sparse

  // To another device or dtype, or itself. Differentiable. A copy to a device may end behind it.
  Tensor to(Device device, Dtype dtype = {}) const {
    tn_tensor* t = nullptr;
    check(detail::api.tensor->to(checked(), device.value, dtype.value, &t));
    return take(t);
  }
  Tensor to(Dtype dtype) const { return to(device(), dtype); }
  Tensor toType(Dtype dtype) const { return to(dtype); }
  Tensor to(const Tensor& other) const { return to(other.device(), other.dtype()); }
  Tensor type_as(const Tensor& other) const { return to(other); }
  Tensor half() const { return to(float16); }
  Tensor cpu() const { return to(Device()); }
  template <std::same_as<TensorOptions> O>
  Tensor to(const O& options) const {
    return to(options.device, options.dtype);
  }
  // With the flags of CopyOptions and ToOptions, by name or by place.
  Tensor to(Device device, Dtype dtype, Bool non_blocking, Bool copy = false) const {
    const detail::NonBlocking scope(non_blocking);
    Tensor result = to(device, dtype);
    return copy && result.is_same(*this) ? TensorMethods::clone() : result;
  }
  Tensor to(Dtype dtype, Bool non_blocking, Bool copy = false) const {
    return to(device(), dtype, non_blocking, copy);
  }
  Tensor to(const Tensor& other, Bool non_blocking, Bool copy = false) const {
    return to(other.device(), other.dtype(), non_blocking, copy);
  }
  template <std::same_as<ToOptions> O = ToOptions>
  Tensor to(Device device, const O& options, Dtype dtype = {}) const {
    return to(device, dtype, options.non_blocking, options.copy);
  }
  template <std::same_as<ToOptions> O = ToOptions>
  Tensor to(Device device, Dtype dtype, const O& options) const {
    return to(device, dtype, options.non_blocking, options.copy);
  }
  template <std::same_as<ToOptions> O = ToOptions>
  Tensor to(Dtype dtype, const O& options) const {
    return to(device(), dtype, options.non_blocking, options.copy);
  }
  // Values of a cpu tensor in memory of the host that copies to and from the device reach by
  // themselves; itself where it lies there, or where the device has no such memory.
  // Differentiable.
  Tensor pin_memory(Device device = Device::best()) const {
    tn_tensor* t = nullptr;
    check(detail::api.tensor->pin(checked(), device.value, &t));
    const Tensor pinned = take(t);
    return requires_grad() && !pinned.is_same(*this) ? pinned.copy_(*this) : pinned;
  }
  bool is_pinned() const { return detail::api.tensor->is_pinned(checked()) != 0; }
  // Copies values of `src` here; sizes broadcast, devices and dtypes may differ. Differentiable.
  const Tensor& copy_(const Tensor& src, Bool non_blocking) const {
    return copy_(src, CopyOptions{.non_blocking = non_blocking});
  }
  const Tensor& copy_(const Tensor& src, CopyOptions options = {}) const {
    const detail::NonBlocking scope(options.non_blocking);
    check(detail::api.tensor->copy_(checked(), src.checked()));
    return *this;
  }

  // x[0], x[mask], x[{0, slice(1, 3), mask}]: to read and to assign to (indexing.hpp).
  Indexed operator[](const Index& index) const;
  Indexed operator[](std::initializer_list<Index> indices) const;
  Indexed operator[](const std::vector<Index>& indices) const;
  Rows begin() const;  // for (Tensor row : x)
  Rows end() const;
  // Writes or adds values, which broadcast, where the indices are.
  const Tensor& index_put_(std::initializer_list<Index> indices, const Tensor& values,
                           Bool accumulate = false) const;
  const Tensor& index_put_(std::initializer_list<Index> indices, Number value,
                           Bool accumulate = false) const;
  const Tensor& index_put_(const std::vector<Index>& indices, const Tensor& values,
                           Bool accumulate = false) const;
  const Tensor& index_put_(const std::vector<Index>& indices, Number value,
                           Bool accumulate = false) const;
  template <typename V, std::same_as<IndexPutOptions> O = IndexPutOptions>
  const Tensor& index_put_(std::initializer_list<Index> indices, const V& values,
                           const O& options) const {
    return index_put_(indices, values, options.accumulate);
  }
  template <typename V, std::same_as<IndexPutOptions> O = IndexPutOptions>
  const Tensor& index_put_(const std::vector<Index>& indices, const V& values,
                           const O& options) const {
    return index_put_(indices, values, options.accumulate);
  }
  // x[{...}], by libtorch's name; of a list of tensors the op, where None is a whole dimension.
  Indexed index(std::initializer_list<Index> indices) const;
  Indexed index(const std::vector<Index>& indices) const;
  template <typename L>
  requires std::is_convertible_v<const L&, Tensors> Tensor index(const L& indices)
  const { return TensorMethods::index(indices); }
  Tensor take(const Tensor& index) const;  // the op, whose name the function above has

  // As PyTorch prints it. (print.hpp)
  std::string to_string() const;

 private:
  static Tensor from_values(const void* values, size_t n, Dtype dtype, Ints sizes, Device device) {
    int64_t count = int64_t(n);
    Tensor t = empty(sizes.size() == 1 && sizes[0] == -1 ? Ints(count) : sizes, dtype);
    if (t.numel() != count) {
      fail(detail::joined({"from: ", std::to_string(n), " values do not fill sizes of ",
                           std::to_string(t.numel()), " elements"}));
    }
    check(detail::api.tensor->write(t.held_, values, n * size_t(dtype.itemsize())));
    return device.is_cpu() ? t : t.to(device);
  }
  std::pair<Tensor, Tensor> row_parts() const {
    tn_tensor *indices = nullptr, *values = nullptr;
    check(detail::api.rows->parts(checked(), &indices, &values));
    return {take(indices), take(values)};
  }
  // The handle of a tensor that is not None.
  tn_tensor* checked() const {
    if (!held_) [[unlikely]]
      detail::refuse_none();
    return held_;
  }
  // A view becomes part of the graph when what it is a view of is written under gradient; to ask
  // for its node makes that known.
  uint32_t graph_flags() const {
    if ((checked()->flags & TN_TENSOR_LEAF) != 0) {
      detail::api.autograd->node_release(detail::api.autograd->grad_fn(held_));
    }
    return held_->flags;
  }
  int32_t dimension(const char* call, int64_t d) const {
    int64_t wrapped = d < 0 ? d + checked()->ndim : d;
    if (wrapped < 0 || wrapped >= checked()->ndim) [[unlikely]] {
      fail(detail::joined({call, ": dimension ", std::to_string(d),
                           " is out of range for a tensor of rank ",
                           std::to_string(checked()->ndim)}));
    }
    return int32_t(wrapped);
  }
  void expect_elements(Dtype wanted) const {
    if (checked()->dtype != wanted.value) [[unlikely]] {
      fail(detail::joined({"data: the tensor is ", dtype().name(), ", elements of ", wanted.name(),
                           " were asked for"}));
    }
    if (checked()->device.type != TN_DEVICE_CPU) [[unlikely]] {
      fail(detail::joined(
          {"data: the tensor is on ", device().name(), "; copy it with .to(tenon::cpu) first"}));
    }
  }

  tn_tensor* held_ = nullptr;
};
static_assert(sizeof(Tensor) == sizeof(tn_tensor*), "lists of Tensor are lists of tn_tensor*");

namespace detail {
// One tensor or several, or none given, which is not an empty list.
class ChosenInputs {
 public:
  ChosenInputs() = default;
  ChosenInputs(std::initializer_list<Tensor> list) : list_(list), is_given_(true) {}
  ChosenInputs(std::vector<Tensor> list) : list_(std::move(list)), is_given_(true) {}
  ChosenInputs(const Tensor& one) : list_{one}, is_given_(true) {}
  bool is_given() const { return is_given_; }
  const std::vector<Tensor>& list() const { return list_; }

 private:
  std::vector<Tensor> list_;
  bool is_given_ = false;
};
// Of n outputs into chosen inputs: flags as of the host's backward.
inline void backward_into(tn_tensor* const* outputs, tn_tensor* const* grads, size_t n,
                          const std::vector<Tensor>& inputs, uint32_t flags) {
  static_assert(sizeof(Tensor) == sizeof(tn_tensor*));
  std::vector<tn_tensor*> none(inputs.size());
  check(api.autograd->gradients(
      outputs, grads, uint32_t(n), reinterpret_cast<tn_tensor* const*>(inputs.data()),
      uint32_t(inputs.size()), flags | TN_BACKWARD_ACCUMULATE, none.data()));
}
}  // namespace detail

// Of Tensor::backward, by name; autograd.hpp has more.
struct BackwardOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool retain_graph = false;  // to go through the graph again; create_graph implies it
  bool create_graph = false;  // the gradients have gradients
  // Only these get their gradients; those that are no leaves keep them from then on (retain_grad).
  // An Error where one needs none, or where the list that is given is empty. None: all leaves.
  detail::ChosenInputs inputs = {};
};
inline void Tensor::backward(const Tensor& grad, std::optional<bool> retain_graph,
                             bool create_graph, const std::vector<Tensor>& inputs) const {
  const uint32_t flags = (retain_graph.value_or(false) ? TN_BACKWARD_RETAIN_GRAPH : 0) |
                         (create_graph ? TN_BACKWARD_CREATE_GRAPH : 0);
  detail::backward_into(&held_, &grad.held_, 1, inputs, flags);
}
inline void Tensor::backward(const Tensor& grad, const BackwardOptions& options) const {
  if (!options.inputs.is_given()) return backward(grad, options.retain_graph, options.create_graph);
  backward(grad, options.retain_graph, options.create_graph, options.inputs.list());
}

namespace detail {
inline const Tensor& TensorMethods::self() const { return static_cast<const Tensor&>(*this); }
}  // namespace detail

}  // namespace v0
}  // namespace tenon
