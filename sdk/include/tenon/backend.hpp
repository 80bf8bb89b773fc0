// For backends that are written in C++ against abi.h, without the face: statuses, the way from
// exceptions to them, and what all kernels of a device have in common. Needs abi.h alone, and gives
// tenon/dtype_table.hpp too.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>

#include "tenon/abi.h"
#include "tenon/dtype_table.hpp"

namespace tenon::backend {

using dtype_table::item_size;
using dtype_table::kFloats;

// A status with a message as printf makes it, of at most 511 bytes.
[[gnu::format(printf, 3, 4)]] inline tn_status* error(const tn_host* host, tn_code code,
                                                      const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return host->status(code, text, nullptr);
}

// No exception crosses the border: what the body throws becomes a status, "where: what (device)",
// where `where` names the slot or the op. The body gives nothing, or a tn_status*.
template <typename Body>
tn_status* guarded(const tn_host* host, const char* device, const char* where,
                   const Body& body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      return body(), nullptr;
    } else {
      return body();
    }
  } catch (const std::bad_alloc&) {
    return error(host, TN_OUT_OF_MEMORY, "%s: host memory is exhausted (%s)", where, device);
  } catch (const std::exception& exception) {
    return error(host, TN_INTERNAL, "%s: %s (%s)", where, exception.what(), device);
  }
}

// body(begin, end) over [begin, end) on the threads there are, in pieces of at least `grain`; on
// this thread when there is one piece. The body must not throw.
template <typename Body>
void parallel_for(const tn_host* host, int64_t begin, int64_t end, int64_t grain,
                  const Body& body) {
  if (end - begin <= grain) {
    body(begin, end);
    return;
  }
  const tn_range_fn run = [](void* context, int64_t from, int64_t to) {
    (*static_cast<const Body*>(context))(from, to);
  };
  host->parallel_for(begin, end, grain, run, const_cast<Body*>(&body));
}

// A kernel of a primitive that takes any strides, with fields as most kernels have them.
inline tn_kernel_def primitive_kernel(const char* device, tn_primitive primitive,
                                      tn_kernel_fn launch) {
  tn_kernel_def def = {};
  def.size = sizeof def;
  def.traits = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC;
  def.device = device;
  def.primitive = primitive;
  def.layout = TN_LAYOUT_STRIDED;
  def.launch = launch;
  return def;
}

}  // namespace tenon::backend
