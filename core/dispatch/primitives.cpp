#include "dispatch/primitives.h"

#include "base/text.h"
#include "dispatch/convert.h"
#include "dispatch/elementwise.h"
#include "dispatch/expressions.h"
#include "memory/memory.h"
#include "tensor/view.h"

namespace tenon {

void PrimitiveArgs::refuse(size_t i, const char* name, const char* expected) const {
  throw StatusException{invalid("{}: argument {} ({}) is {}, expected {}", primitive_name(kind_), i,
                                name, i < args_.size() ? value_kind_name(args_[i]) : "missing",
                                expected)};
}

Tensor* PrimitiveArgs::tensor(size_t i, const char* name) const {
  if (i >= args_.size() || args_[i].kind != TN_KIND_TENSOR) refuse(i, name, "a tensor");
  return as_tensor(args_[i].as.tensor);
}

std::span<tn_tensor* const> PrimitiveArgs::tensors(size_t i, const char* name) const {
  if (i < args_.size() && args_[i].kind == TN_KIND_TENSOR) return {&args_[i].as.tensor, 1};
  if (i >= args_.size() || args_[i].kind != TN_KIND_TENSORS)
    refuse(i, name, "a tensor or a list of tensors");
  return {args_[i].as.tensors, args_[i].count};
}

int64_t PrimitiveArgs::integer(size_t i, const char* name) const {
  if (i >= args_.size() || args_[i].kind != TN_KIND_INT) refuse(i, name, "an int");
  return args_[i].as.i;
}

bool PrimitiveArgs::boolean(size_t i, const char* name, bool absent) const {
  if (is_none(i)) return absent;
  if (args_[i].kind != TN_KIND_BOOL && args_[i].kind != TN_KIND_INT) refuse(i, name, "a bool");
  return args_[i].as.i != 0;
}

std::span<const int64_t> PrimitiveArgs::ints(size_t i, const char* name) const {
  if (is_none(i)) return {};
  if (args_[i].kind != TN_KIND_INTS) refuse(i, name, "a list of ints");
  return {args_[i].as.ints, args_[i].count};
}

std::span<const double> PrimitiveArgs::floats(size_t i, const char* name) const {
  if (is_none(i)) return {};
  if (args_[i].kind != TN_KIND_FLOATS) refuse(i, name, "a list of floats");
  return {args_[i].as.floats, args_[i].count};
}

const tn_value& PrimitiveArgs::number(size_t i, const char* name) const {
  const uint32_t kind = i < args_.size() ? args_[i].kind : uint32_t{TN_KIND_NONE};
  if (kind != TN_KIND_INT && kind != TN_KIND_FLOAT && kind != TN_KIND_BOOL)
    refuse(i, name, "a number");
  return args_[i];
}

tn_dtype PrimitiveArgs::dtype(size_t i, const char* name, tn_dtype absent) const {
  if (is_none(i)) return absent;
  if (args_[i].kind != TN_KIND_DTYPE) refuse(i, name, "a dtype");
  return args_[i].as.dtype;
}

tn_device PrimitiveArgs::device(size_t i, const char* name, tn_device absent) const {
  if (is_none(i)) return absent;
  if (args_[i].kind != TN_KIND_DEVICE) refuse(i, name, "a device");
  return args_[i].as.device;
}

const Expression* PrimitiveArgs::expression(size_t i, const char* name) const {
  if (is_none(i)) return nullptr;
  if (args_[i].kind != TN_KIND_EXPRESSION) refuse(i, name, "an expression");
  return args_[i].as.expression->expression.get();
}

uint32_t dims_mask(const char* what, std::span<const int64_t> dims, int32_t ndim) {
  if (dims.empty()) return ndim == 0 ? 0 : (1u << ndim) - 1;
  uint32_t mask = 0;
  for (const int64_t dim : dims) {
    int32_t d;
    throw_if(wrap_dim(what, dim, ndim, &d));
    if (ndim == 0) continue;
    if ((mask >> d & 1) != 0)
      throw StatusException{invalid("{}: dimension {} stands twice in dims", what, dim)};
    mask |= 1u << d;
  }
  return mask;
}

Status run_view(tn_primitive kind, const PrimitiveArgs& args, Tensor** result) {
  Tensor* x = args.tensor(0, "x");
  Geometry g;
  switch (kind) {
    case TN_PRIM_RESHAPE: {
      bool possible;
      TN_TRY(reshape_geometry(x, args.ints(1, "sizes"), &g, &possible));
      if (!possible) {
        Tensor* copy;
        TN_TRY(copy_to(x, x->device, TN_DTYPE_NONE, &copy));
        const TensorRef dense(copy);
        dense->storage->retain();
        *result = make_tensor(dense->storage, g.size_span(), nullptr, 0, x->dtype);
        return nullptr;
      }
      break;
    }
    case TN_PRIM_PERMUTE:
      TN_TRY(permute_geometry(x, args.ints(1, "dims"), &g));
      break;
    case TN_PRIM_SLICE:
      TN_TRY(slice_geometry(x, args.integer(1, "dim"), args.integer(2, "start"),
                            args.integer(3, "end"), args.integer(4, "step"), &g));
      break;
    case TN_PRIM_EXPAND:
      TN_TRY(expand_geometry(x, args.ints(1, "sizes"), &g));
      break;
    default:
      TN_TRY(strided_geometry(x, args.ints(1, "sizes"), args.ints(2, "strides"),
                              args.integer(3, "offset"), &g));
      TN_TRY(make_view(x, g.size_span(), g.strides, g.offset, result));
      mark_view(*result);
      return nullptr;
  }
  *result = make_view_unchecked(x, g.size_span(), g.strides, g.offset);
  mark_view(*result);
  return nullptr;
}

namespace {

struct ArgumentCounts {
  uint8_t least, most;
};

constexpr ArgumentCounts counts_of(tn_primitive kind) {
  switch (kind) {
    case TN_PRIM_REDUCE:
      return {2, 9};
    case TN_PRIM_SCAN:
      return {3, 4};
    case TN_PRIM_MATMUL:
      return {2, 2};
    case TN_PRIM_COPY:
      return {1, 3};
    case TN_PRIM_FILL:
      return {2, 4};
    case TN_PRIM_IOTA:
      return {3, 5};
    case TN_PRIM_GATHER:
      return {3, 3};
    case TN_PRIM_SCATTER:
      return {4, 5};
    case TN_PRIM_SORT:
      return {2, 3};
    case TN_PRIM_RANDOM_BITS:
      return {1, 2};
    case TN_PRIM_NONZERO:
      return {1, 1};
    case TN_PRIM_RESHAPE:
    case TN_PRIM_PERMUTE:
    case TN_PRIM_EXPAND:
      return {2, 2};
    case TN_PRIM_SLICE:
      return {5, 5};
    case TN_PRIM_AS_STRIDED:
      return {4, 4};
    default:
      return {0, UINT8_MAX};  // whoever runs it says that it is none
  }
}

[[gnu::cold, gnu::noinline]] Status refuse_surplus(tn_primitive kind, size_t n_args) {
  const auto [least, most] = counts_of(kind);
  return invalid("{}: takes {}{} argument{}, not {}", primitive_name(kind),
                 least == most ? "" : "at most ", most, most == 1 ? "" : "s", n_args);
}

}  // namespace

Status expect_counts(tn_primitive kind, size_t n_args, size_t n_results) {
  if (n_args > counts_of(kind).most) [[unlikely]]
    return refuse_surplus(kind, n_args);
  const size_t expected = kind == TN_PRIM_SORT ? 2 : 1;
  if (n_results == expected) [[likely]]
    return nullptr;
  return invalid("{}: gives {} result{}, not {}", primitive_name(kind), expected,
                 expected == 1 ? "" : "s", n_results);
}

Status check_elementwise(std::span<const tn_value> values, size_t n_results) {
  const Expression* e = PrimitiveArgs(TN_PRIM_ELEMENTWISE, values).expression(0, "expression");
  if (e == nullptr) return invalid("elementwise: argument 0 (expression) is missing");
  const Schema& schema = e->schema();
  if (values.size() - 1 != schema.arguments.size() || n_results != e->n_outputs()) {
    return invalid("elementwise: {} takes {} arguments and gives {} results, not {} and {}",
                   schema.name, schema.arguments.size(), e->n_outputs(), values.size() - 1,
                   n_results);
  }
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    TN_TRY(check_value(schema, schema.arguments[i], values[i + 1], /*numbers_as_tensors=*/true));
  }
  return nullptr;
}

static Status run_elementwise_primitive(std::span<const tn_value> values,
                                        std::span<tn_value> results) {
  TN_TRY(check_elementwise(values, results.size()));
  Tensor* outputs[kMaxExpressionOutputs];
  TN_TRY(
      run_elementwise(nullptr, *values[0].as.expression->expression, values.data() + 1, outputs));
  for (size_t i = 0; i < results.size(); ++i) results[i] = tensor_value(outputs[i]);
  return nullptr;
}

Status run_primitive(tn_primitive kind, std::span<const tn_value> values,
                     std::span<tn_value> results) {
  const PrimitiveArgs args(kind, values);
  if (kind == TN_PRIM_ELEMENTWISE) return run_elementwise_primitive(values, results);
  TN_TRY(expect_counts(kind, values.size(), results.size()));
  if (kind == TN_PRIM_SORT) {
    Tensor* sorted[2];
    TN_TRY(run_sort(args, sorted));
    for (int i = 0; i < 2; ++i) results[i] = tensor_value(sorted[i]);
    return nullptr;
  }
  Tensor* made = nullptr;
  switch (kind) {
    case TN_PRIM_REDUCE:
      TN_TRY(run_reduce(args, &made));
      break;
    case TN_PRIM_SCAN:
      TN_TRY(run_scan(args, &made));
      break;
    case TN_PRIM_MATMUL:
      TN_TRY(run_matmul(args.tensor(0, "a"), args.tensor(1, "b"), &made));
      break;
    case TN_PRIM_COPY: {
      Tensor* x = args.tensor(0, "x");
      TN_TRY(
          copy_to(x, args.device(2, "device", x->device), args.dtype(1, "dtype", x->dtype), &made));
      break;
    }
    case TN_PRIM_FILL: {
      const auto sizes = args.ints(0, "sizes");
      const tn_value& number = args.number(1, "number");
      const tn_dtype dtype = args.dtype(2, "dtype", TN_FLOAT32);
      int64_t numel;
      TN_TRY(count_elements("fill", sizes, dtype, &numel));
      TN_TRY(empty_tensor(sizes, dtype, args.device(3, "device", kCpu), &made));
      TensorRef hold(made);
      TN_TRY(fill(made, number));
      hold.take();
      break;
    }
    case TN_PRIM_IOTA:
      TN_TRY(run_iota(args.integer(0, "n"), args.number(1, "start"), args.number(2, "step"),
                      args.dtype(3, "dtype", TN_INT64), args.device(4, "device", kCpu), &made));
      break;
    case TN_PRIM_GATHER:
      TN_TRY(
          run_gather(args.tensor(0, "x"), args.integer(1, "dim"), args.tensor(2, "index"), &made));
      break;
    case TN_PRIM_SCATTER:
      TN_TRY(run_scatter(args.tensor(0, "x"), args.integer(1, "dim"), args.tensor(2, "index"),
                         args.tensor(3, "src"), args.boolean(4, "add", false), &made));
      break;
    case TN_PRIM_RANDOM_BITS:
      TN_TRY(run_random_bits(args.ints(0, "sizes"), args.device(1, "device", kCpu), &made));
      break;
    case TN_PRIM_NONZERO:
      TN_TRY(run_nonzero(args.tensor(0, "x"), &made));
      break;
    case TN_PRIM_RESHAPE:
    case TN_PRIM_PERMUTE:
    case TN_PRIM_SLICE:
    case TN_PRIM_EXPAND:
    case TN_PRIM_AS_STRIDED:
      TN_TRY(run_view(kind, args, &made));
      break;
    default:
      return invalid("primitive {} ({}) is reserved or unknown", kind, primitive_name(kind));
  }
  results[0] = tensor_value(made);
  return nullptr;
}

}  // namespace tenon
