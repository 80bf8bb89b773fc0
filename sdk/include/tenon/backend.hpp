// For backends that are written in C++ against abi.h, without the face: statuses, the way from
// exceptions to them, and what all kernels of a device have in common. Needs abi.h alone, and gives
// tenon/dtype_table.hpp too.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

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
  } catch (...) {
    return error(host, TN_INTERNAL, "%s: an exception that is no std::exception (%s)", where,
                 device);
  }
}

// body(begin, end) over [begin, end) on the threads there are, in pieces of at least `grain`; on
// this thread when there is one piece. What the body throws is thrown again on this thread: the
// first exception, when all pieces have ended. The other pieces run to their ends.
template <typename Body>
void parallel_for(const tn_host* host, int64_t begin, int64_t end, int64_t grain,
                  const Body& body) {
  if (end - begin <= grain) {
    body(begin, end);
    return;
  }
  // No exception may leave a piece: it runs on another thread, or below functions of the host.
  struct Loop {
    const Body& body;
    std::atomic_flag has_thrown = ATOMIC_FLAG_INIT;
    std::exception_ptr thrown = nullptr;  // written by whoever sets the flag
  } loop{body};
  const tn_range_fn run = [](void* context, int64_t from, int64_t to) {
    Loop& mine = *static_cast<Loop*>(context);
    try {
      mine.body(from, to);
    } catch (...) {
      if (!mine.has_thrown.test_and_set()) mine.thrown = std::current_exception();
    }
  };
  host->parallel_for(begin, end, grain, run, &loop);
  if (loop.thrown) std::rethrow_exception(std::move(loop.thrown));
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
