#include "steps.h"

#include <algorithm>
#include <vector>

namespace cuda {
namespace {

// Memory that the work reads or writes.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool is_written = false;
  bool operator==(const Range&) const = default;
};

Range range_of(const tn_tensor& t, bool is_written) {
  if (t.numel == 0) return {};
  const auto begin = reinterpret_cast<uintptr_t>(t.data);
  return {begin, begin + static_cast<uintptr_t>(t.numel) * item_size(t.dtype), is_written};
}

bool any_meet(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  uintptr_t end = 0, end_of_written = 0;
  for (const Range& r : ranges) {
    if (r.begin < (r.is_written ? end : end_of_written)) return true;
    end = std::max(end, r.end);
    if (r.is_written) end_of_written = std::max(end_of_written, r.end);
  }
  return false;
}

// Is written memory that of another tensor as well? Then the order of the members counts. Most calls
// have the memory of the one before, which is remembered.
bool is_shared(const Lists& lists, std::initializer_list<const tn_tensor*> beside) {
  thread_local std::vector<Range> ranges, apart;
  ranges.clear();
  for (int k = 0; k < lists.n; ++k) {
    for (uint32_t i = 0; i < lists.count(); ++i)
      ranges.push_back(range_of(lists.at(k, i), lists.may_write[k]));
  }
  for (const tn_tensor* t : beside) {
    if (t) ranges.push_back(range_of(*t, false));
  }
  if (ranges == apart) return false;
  if (any_meet(ranges)) return true;
  apart = ranges;
  return false;
}

// Row-major in some order of the dimensions, without gaps?
bool is_dense(const tn_tensor& t) {
  if ((t.flags & TN_TENSOR_CONTIGUOUS) != 0 || t.numel <= 1) return true;
  int64_t stride = 1;  // each dimension in turn begins where another one ends
  while (stride < t.numel) {
    int32_t d = 0;
    while (d < t.ndim && (t.sizes[d] == 1 || t.strides[d] != stride)) ++d;
    if (d == t.ndim) return false;
    stride *= t.sizes[d];
  }
  return true;
}

// Do the elements of both, which are dense, lie in one order?
bool lie_alike(const tn_tensor& a, const tn_tensor& b) {
  if (a.ndim != b.ndim || !std::equal(a.sizes, a.sizes + a.ndim, b.sizes)) return false;
  for (int32_t d = 0; d < a.ndim && a.numel > 1; ++d) {
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

bool is_float(tn_dtype dtype) { return (TN_DTYPE_BIT(dtype) & tenon::backend::kFloats) != 0; }

// Of one member.
std::string refusal_of_member(const Lists& lists, int n_elements, uint32_t i) {
  const tn_tensor& first = lists.at(0, i);
  const auto member = [&] { return " " + std::to_string(i) + " of the lists"; };
  for (int k = 0; k < n_elements; ++k) {
    const tn_tensor& t = lists.at(k, i);
    // Gradients have the dtype of their parameter; the state of all lists one of its own.
    const tn_dtype wanted = k < 2 ? first.dtype : lists.at(2, i).dtype;
    if (!is_float(t.dtype) || t.dtype != wanted) return "tensors" + member() + " differ in dtype";
    if (!is_dense(t) || !lie_alike(first, t))
      return "tensors" + member() + " do not lie alike and without gaps";
  }
  const bool has_state = n_elements > 2 && lists.at(2, i).dtype != first.dtype;
  if (has_state && (lists.at(2, i).dtype != TN_FLOAT32 || first.dtype == TN_FLOAT64))
    return "the state of param" + member() + " is neither of its dtype nor wider";
  for (int k = n_elements; k < lists.n; ++k) {
    if (lists.at(k, i).numel != 1 || lists.at(k, i).dtype != TN_FLOAT32)
      return "takes counts of one float32 each";
  }
  return "";
}

}  // namespace

std::string refusal(const tn_call* call, const Lists& lists, int n_elements,
                    std::initializer_list<const tn_tensor*> beside) {
  const auto is_here = [&](const tn_tensor& t) {
    return t.device.type == call->device.type && t.device.index == call->device.index;
  };
  for (int k = 0; k < lists.n; ++k) {
    if (lists.values[k]->count != lists.count()) return "takes lists of one length";
    for (uint32_t i = 0; i < lists.count(); ++i) {
      const tn_tensor* t = lists.values[k]->as.tensors[i];
      if (!t || !is_here(*t)) return "takes tensors of one device";
    }
  }
  for (const tn_tensor* t : beside) {
    if (t && (!is_here(*t) || t->numel != 1 || !is_float(t->dtype)))
      return "takes a found_inf and a scale of one float on the device";
  }
  for (uint32_t i = 0; i < lists.count(); ++i) {
    if (std::string why = refusal_of_member(lists, n_elements, i); !why.empty()) return why;
  }
  return is_shared(lists, beside) ? "some of the tensors share memory" : "";
}

}  // namespace cuda
