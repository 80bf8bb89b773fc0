// Random tensors: their elements, and the ways in which they lie in memory.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "fuzz.h"
#include "tenon/halves.hpp"

namespace fuzz {
namespace {

std::vector<uint8_t> bytes_of(double v, tn_dtype dtype) {
  const auto as = [](auto value) {
    std::vector<uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  const auto whole = [&](double low, double high) {
    return std::isnan(v) ? 0.0 : std::clamp(std::trunc(v), low, high);
  };
  const auto single = static_cast<float>(v);
  switch (dtype) {
    case TN_FLOAT32:
      return as(single);
    case TN_FLOAT64:
      return as(v);
    case TN_FLOAT16:
      return as(tenon::halves::Float16(single).bits);
    case TN_BFLOAT16:
      return as(tenon::halves::BFloat16(single).bits);
    case TN_INT64:
      return as(static_cast<int64_t>(whole(-9.2e18, 9.2e18)));
    case TN_INT32:
      return as(static_cast<int32_t>(whole(-2147483648.0, 2147483647.0)));
    case TN_INT16:
      return as(static_cast<int16_t>(whole(-32768, 32767)));
    case TN_INT8:
      return as(static_cast<int8_t>(whole(-128, 127)));
    case TN_UINT8:
      return as(static_cast<uint8_t>(std::abs(static_cast<int64_t>(whole(-9e18, 9e18))) % 256));
    default:
      return as(static_cast<uint8_t>(v != 0));
  }
}

}  // namespace

std::vector<uint8_t> Arguments::random_bytes(int64_t n, tn_dtype dtype,
                                             const std::vector<double>* values) {
  std::vector<uint8_t> all;
  const bool odd = random_.chance(15);
  for (int64_t i = 0; i < n; ++i) {
    double v = values != nullptr && !values->empty()
                   ? (*values)[static_cast<size_t>(i) % values->size()]
                   : static_cast<double>(random_.below(64)) / 8 - (random_.chance(50) ? 3 : 0);
    if (odd && random_.chance(20)) v = random_.chance(50) ? real() : static_cast<double>(integer());
    const std::vector<uint8_t> bytes = bytes_of(v, dtype);
    all.insert(all.end(), bytes.begin(), bytes.begin() + host.tensor->itemsize(dtype));
  }
  return all;
}

tn_tensor* Arguments::contiguous(const Sizes& sizes, tn_dtype dtype, tn_device device,
                                 const std::vector<double>* values) {
  tn_tensor* t = nullptr;
  if (!checked(
          host.tensor->empty(static_cast<int32_t>(sizes.size()), sizes.data(), dtype, device, &t)))
    return nullptr;
  own(t);
  if (t->numel > 0 && device.type != TN_DEVICE_META) {
    const std::vector<uint8_t> data = random_bytes(t->numel, dtype, values);
    checked(host.tensor->write(t, data.data(), data.size()));
  }
  return t;
}

tn_tensor* Arguments::view(tn_primitive kind, tn_tensor* x, std::initializer_list<tn_value> rest) {
  if (x == nullptr) return nullptr;
  std::vector<tn_value> args{tensor_value(x)};
  args.insert(args.end(), rest);
  tn_value result{};
  if (!checked(host.table->call(host.table->primitive_op(kind), args.data(),
                                static_cast<uint32_t>(args.size()), &result, 1)))
    return x;
  own(result.as.tensor);
  return result.as.tensor;
}

// Memory of the fuzzer's own, with strides that leave gaps or overlap.
tn_tensor* Arguments::of_host_memory(const Sizes& sizes, tn_dtype dtype) {
  Sizes strides(sizes.size());
  int64_t stride = random_.chance(20) ? 0 : 1, extent = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = random_.chance(15)
                 ? stride
                 : std::min<int64_t>(
                       stride * std::max<int64_t>(sizes[d], 1) + (random_.chance(30) ? 1 : 0), 200);
  }
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    empty = empty || sizes[d] == 0;
    extent += (sizes[d] - 1) * strides[d];
  }
  const std::vector<uint8_t> data = random_bytes(empty ? 0 : extent, dtype, nullptr);
  auto* memory = static_cast<uint8_t*>(std::malloc(data.size()));
  std::copy(data.begin(), data.end(), memory);
  tn_tensor* t = nullptr;
  const auto rank = static_cast<int32_t>(sizes.size());
  if (!checked(host.tensor->from_memory(memory, rank, sizes.data(), strides.data(), dtype,
                                        std::free, memory, &t)))
    std::free(memory);
  own(t);
  return t;
}

tn_tensor* Arguments::laid_out(const Sizes& sizes, tn_dtype dtype, tn_device device,
                               const std::vector<double>* values) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t kind = random_.below(100);
  if (kind < 55 || rank == 0) return contiguous(sizes, dtype, device, values);
  if (kind < 68) {  // permuted
    Sizes order, inner(sizes.size()), back(sizes.size());
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    for (int64_t d = rank; d-- > 1;)
      std::swap(order[static_cast<size_t>(d)], order[static_cast<size_t>(random_.below(d + 1))]);
    for (size_t d = 0; d < sizes.size(); ++d) {
      inner[d] = sizes[static_cast<size_t>(order[d])];
      back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    }
    return view(TN_PRIM_PERMUTE, contiguous(inner, dtype, device, values),
                {ints_value(back.data(), back.size())});
  }
  if (kind < 80) {  // steps, behind an offset
    const int64_t d = random_.below(rank), step = random_.between(1, 3), start = random_.below(3),
                  size = sizes[static_cast<size_t>(d)];
    Sizes larger = sizes;
    larger[static_cast<size_t>(d)] = start + std::max<int64_t>(size * step, 1);
    return view(TN_PRIM_SLICE, contiguous(larger, dtype, device, values),
                {int_value(d), int_value(start), int_value(start + size * step), int_value(step)});
  }
  if (kind < 90) {  // expanded
    Sizes one = sizes;
    one[static_cast<size_t>(random_.below(rank))] = 1;
    return view(TN_PRIM_EXPAND, contiguous(one, dtype, device, values),
                {ints_value(sizes.data(), sizes.size())});
  }
  if (device.type == TN_DEVICE_CPU && random_.chance(50)) return of_host_memory(sizes, dtype);
  Sizes strides(sizes.size());  // windows that overlap
  int64_t extent = 3;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = random_.below(3);
    extent += std::max<int64_t>(sizes[d] - 1, 0) * strides[d];
  }
  return view(TN_PRIM_AS_STRIDED, contiguous({extent}, dtype, device, values),
              {ints_value(sizes.data(), sizes.size()), ints_value(strides.data(), strides.size()),
               int_value(random_.below(3))});
}

tn_tensor* Arguments::tensor(const Sizes& sizes, tn_dtype dtype, tn_device device,
                             const std::vector<double>* values) {
  tn_tensor* t = laid_out(sizes, dtype, device, values);
  if (t == nullptr) return nullptr;
  note("tensor" + text_of(sizes) + "/" + text_of(Sizes(t->strides, t->strides + t->ndim)) + " " +
       host.tensor->dtype_name(dtype) + " " + text_of(device));
  if (dtype <= TN_BFLOAT16 && random_.chance(25)) {
    if (checked(host.autograd->set_requires_grad(t, 1))) {
      leaves_.push_back(t);
      note(" grad");
    }
  }
  note(" ");
  seen_.push_back(t);
  return t;
}

tn_tensor* Arguments::tensor() {
  if (!seen_.empty() && random_.chance(15)) {  // the same again, or a part of it
    tn_tensor* t = random_.pick(seen_);
    note("again ");
    if (t->ndim == 0 || random_.chance(60)) return t;
    note("(a part) ");
    return view(TN_PRIM_SLICE, t,
                {int_value(random_.below(t->ndim)), int_value(random_.below(2)),
                 int_value(random_.between(1, 4)), int_value(1)});
  }
  const tn_dtype dtype = random_.chance(70)   ? theme.dtype
                         : random_.chance(30) ? tn_dtype{TN_INT64}
                                              : static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  const tn_device device =
      random_.chance(93)
          ? theme.device
          : random_.of<tn_device>({{TN_DEVICE_CPU, 0}, host.ref, {TN_DEVICE_META, 0}});
  return tensor(shape(), dtype, device);
}

}  // namespace fuzz
