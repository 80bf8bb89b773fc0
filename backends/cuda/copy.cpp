// Copies that cast and reorder, and what fills memory with numbers.
#include <algorithm>
#include <initializer_list>

#include "kernel.h"
#include "launch.h"
#include "program_text.h"

namespace cuda {
namespace {

CUdeviceptr address_of(const tn_tensor* x) { return reinterpret_cast<CUdeviceptr>(x->data); }

// The bits that a number has as an element of the dtype.
int64_t bits_of(const tn_value& number, tn_dtype dtype) {
  int64_t bits = 0;
  tenon::dtype_table::visit(dtype, [&]<class Tag>(Tag) {
    using Element = typename Tag::Element;
    Element element;
    if (number.kind == TN_KIND_FLOAT) {
      if constexpr (std::is_integral_v<Element> && !std::is_same_v<Element, bool>) {
        const double f = number.as.f;  // toward zero; what int64 cannot hold gives the least
        element =
            static_cast<Element>(f >= -0x1p63 && f < 0x1p63 ? static_cast<int64_t>(f) : INT64_MIN);
      } else if constexpr (std::is_same_v<Element, double> || std::is_same_v<Element, bool>) {
        element = static_cast<Element>(number.as.f);
      } else {
        element = static_cast<Element>(static_cast<float>(number.as.f));
      }
    } else if constexpr (std::is_integral_v<Element> || std::is_same_v<Element, double>) {
      element = static_cast<Element>(number.as.i);
    } else {
      element = static_cast<Element>(static_cast<float>(number.as.i));
    }
    std::memcpy(&bits, &element, sizeof element);
  });
  return bits;
}

// The dimensions of y, and of x where it is there, in the order in which they lie in y: so
// neighbouring threads write neighbours, and what is dense in any order of dimensions is found to
// be so.
Dims dims_of(const tn_tensor* y, const tn_tensor* x = nullptr) {
  const int32_t n_sides = x ? 2 : 1;
  const tn_tensor* const tensors[] = {y, x};
  int32_t order[TN_MAX_RANK];
  for (int32_t d = 0; d < y->ndim; ++d) {
    order[d] = d;
    for (int32_t k = d; k > 0 && y->strides[order[k - 1]] < y->strides[order[k]]; --k)
      std::swap(order[k - 1], order[k]);
  }
  int64_t sizes[TN_MAX_RANK], strides[2][TN_MAX_RANK];
  Side sides[2];
  for (int32_t k = 0; k < n_sides; ++k) {
    for (int32_t d = 0; d < y->ndim; ++d) strides[k][d] = tensors[k]->strides[order[d]];
    sides[k] = {tensors[k]->data, strides[k]};
  }
  for (int32_t d = 0; d < y->ndim; ++d) sizes[d] = y->sizes[order[d]];
  return merged(y->ndim, sizes, sides, n_sides);
}

bool is_dense(const Dims& dims) {
  if (dims.ndim > 1) return false;
  for (int32_t k = 0; dims.ndim == 1 && k < dims.n_sides; ++k) {
    if (dims.strides[k][0] != 1) return false;
  }
  return true;
}

// Elements that a thread takes at once, as kernels/copy.cuh has them; 1: an operand is not dense, or begins
// at no address of a pack, or there are fewer. `sizes` are those of elements of the operands.
int64_t pack_size(const Dims& dims, std::initializer_list<uint32_t> sizes) {
  const int64_t n = 16 / std::max(sizes);
  bool fits = is_dense(dims) && dims.n >= n;
  const void* const* data = dims.data;
  for (const uint32_t size : sizes)
    fits = fits && reinterpret_cast<uint64_t>(*data++) % (static_cast<uint64_t>(n) * size) == 0;
  return fits ? n : 1;
}

constexpr int64_t kThreads = 256;     // as in kernels/copy.cuh
constexpr int64_t kMostTiles = 4096;  // blocks; more than a GPU has at once

// Is x dense along another dimension than y, which is dense along the last? Then the former is put
// before the last, as `copy_tiles` wants it. A tile is to have an element for each thread at least.
bool put_tiles_last(Dims* dims) {
  const int32_t last = dims->ndim - 1;
  int32_t d = 0;
  while (d < last && dims->strides[1][d] != 1) ++d;
  if (d >= last || dims->strides[0][last] != 1 || dims->strides[1][last] <= 1) return false;
  const int64_t least = std::min(dims->sizes[d], dims->sizes[last]);
  const int64_t of_tile =
      std::min<int64_t>(dims->sizes[d], 32) * std::min<int64_t>(dims->sizes[last], 32);
  if (least < 8 || of_tile < kThreads) return false;
  std::rotate(dims->sizes + d, dims->sizes + d + 1, dims->sizes + last);
  for (auto* strides : {dims->strides[0], dims->strides[1]})
    std::rotate(strides + d, strides + d + 1, strides + last);
  return true;
}

Grid grid_of_tiles(const Dims& dims, uint32_t least_item_size) {
  const int64_t side = least_item_size < 4 ? 64 : 32;  // as in kernels/copy.cuh
  const int64_t x = dims.sizes[dims.ndim - 2], y = dims.sizes[dims.ndim - 1];
  const int64_t tiles = (x + side - 1) / side * ((y + side - 1) / side) * (dims.n / (x * y));
  return {std::min(tiles, kMostTiles), 1, kThreads};
}

double as_float(const tn_value& number) {
  return number.kind == TN_KIND_FLOAT ? number.as.f : static_cast<double>(number.as.i);
}

}  // namespace

tn_status* copy(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[0].as.tensor;
  const tn_tensor* y = call->outputs[0];
  Dims dims = dims_of(y, x);
  if (x->dtype == y->dtype && is_dense(dims)) {
    TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, address_of(y), address_of(x),
                 static_cast<size_t>(y->numel) * item_size(y->dtype), stream.handle);
    return nullptr;
  }
  static constinit Texts texts;
  Text& text = texts.get(TextKey(x->dtype, y->dtype, dims.max_dims(), dims.is_wide()), [&] {
    return std::string("#define COPY\n#include \"base.cuh\"\nusing From = ") +
           element_name(x->dtype) + ";\nusing To = " + element_name(y->dtype) +
           ";\nusing P = " + loop_type(dims) + ";\n#include \"copy.cuh\"\n";
  });
  const bool in_tiles = put_tiles_last(&dims);
  Parameters parameters;
  add_loop(parameters, dims);
  if (in_tiles)
    return launch(stream, text, "copy_tiles",
                  grid_of_tiles(dims, std::min(item_size(x->dtype), item_size(y->dtype))),
                  parameters);
  const int64_t pack = pack_size(dims, {item_size(y->dtype), item_size(x->dtype)});
  return launch(stream, text, pack > 1 ? "copy_packs" : "copy", grid_for(dims.n / pack),
                parameters);
}

namespace {

// All elements of y get these bits.
tn_status* fill_bits(const Stream& stream, const tn_tensor* y, int64_t bits) {
  const Dims dims = dims_of(y);
  static constinit Texts texts;
  Text& text = texts.get(TextKey(item_size(y->dtype), dims.max_dims(), dims.is_wide()), [&] {
    return std::string("#define FILL\n#include \"base.cuh\"\nusing Element = ") +
           bits_name(y->dtype) + ";\nusing P = " + loop_type(dims) + ";\n#include \"copy.cuh\"\n";
  });
  Parameters parameters;
  add_loop(parameters, dims, bits);
  const int64_t pack = pack_size(dims, {item_size(y->dtype)});
  return launch(stream, text, pack > 1 ? "fill_packs" : "fill", grid_for(dims.n / pack),
                parameters);
}

}  // namespace

tn_status* fill(const tn_call* call, const Stream& stream) {
  const tn_tensor* y = call->outputs[0];
  return fill_bits(stream, y, bits_of(call->args[0], y->dtype));
}

tn_status* clear(const Stream& stream, const tn_tensor* x) {
  return x && x->numel > 0 ? fill_bits(stream, x, 0) : nullptr;
}

tn_status* iota(const tn_call* call, const Stream& stream) {
  const tn_value &start = call->args[0], &step = call->args[1];
  const tn_tensor* y = call->outputs[0];
  const bool is_float = start.kind == TN_KIND_FLOAT || step.kind == TN_KIND_FLOAT;
  const std::string text = std::string("#define IOTA\n#include \"base.cuh\"\nusing Element = ") +
                           element_name(y->dtype) +
                           ";\nusing Number = " + (is_float ? "double" : "long long") +
                           ";\n#include \"copy.cuh\"\n";
  Parameters parameters;
  parameters.add(y->data);
  for (const tn_value* number : {&start, &step})
    is_float ? parameters.add(as_float(*number)) : parameters.add(number->as.i);
  parameters.add(y->numel);
  return launch(stream, text, "iota", grid_for(y->numel), parameters);
}

}  // namespace cuda
