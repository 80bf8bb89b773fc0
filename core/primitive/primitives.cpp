#include "primitive/primitives.h"

#include <array>
#include <memory>

#include "base/text.h"
#include "tensor/view.h"

namespace tenon {
namespace {

constexpr tn_primitive kEnd = TN_PRIM_SCATTER_INTO + 1;

struct KindRow {
  tn_primitive kind;
  PrimitiveRow row;
};

constexpr uint32_t kConstant = TN_OP_NO_GRADIENT;

constexpr KindRow kRows[] = {
    {TN_PRIM_ELEMENTWISE, {"elementwise() -> ()", 0, nullptr, nullptr}},
    {TN_PRIM_REDUCE,
     {"reduce(int kind, Tensor[] xs, int[] dims=[], bool keepdim=False, expression? prologue=None, "
      "float[] prologue_scalars=[], expression? epilogue=None, float[] epilogue_scalars=[], "
      "dtype? dtype=None) -> Tensor",
      0, run_reduce, nullptr}},
    {TN_PRIM_SCAN,
     {"scan(int kind, Tensor x, int dim, bool reverse=False) -> Tensor", 0, run_scan,
      scan_without_kernel}},
    {TN_PRIM_MATMUL, {"matmul(Tensor a, Tensor b) -> Tensor", 0, run_matmul, nullptr}},
    {TN_PRIM_COPY,
     {"copy(Tensor x, dtype? dtype=None, device? device=None) -> Tensor", 0, run_copy,
      copy_without_kernel}},
    {TN_PRIM_FILL,
     {"fill(int[] sizes, number value, dtype? dtype=None, device? device=None) -> Tensor",
      kConstant, run_fill, fill_without_kernel}},
    {TN_PRIM_IOTA,
     {"iota(int n, number start, number step, dtype? dtype=None, device? device=None) -> Tensor",
      kConstant, run_iota, nullptr}},
    {TN_PRIM_GATHER, {"gather(Tensor x, int dim, Tensor index) -> Tensor", 0, run_gather, nullptr}},
    {TN_PRIM_SCATTER,
     {"scatter(Tensor x, int dim, Tensor index, Tensor src, bool add=False) -> Tensor", 0,
      run_scatter, nullptr}},
    {TN_PRIM_SORT,
     {"sort(Tensor x, int dim, bool descending=False) -> (Tensor, Tensor)", 0, run_sort,
      sort_without_kernel}},
    {TN_PRIM_RANDOM_BITS,
     {"random_bits(int[] sizes, device? device=None) -> Tensor", kConstant | TN_OP_RANDOM,
      run_random_bits, nullptr}},
    {TN_PRIM_NONZERO,
     {"nonzero(Tensor x) -> Tensor", kConstant | TN_OP_DYNAMIC, run_nonzero, nullptr}},
    {TN_PRIM_RESHAPE, {"reshape(Tensor(a) x, int[] sizes) -> Tensor(a)", 0, run_reshape, nullptr}},
    {TN_PRIM_PERMUTE, {"permute(Tensor(a) x, int[] dims) -> Tensor(a)", 0, run_permute, nullptr}},
    {TN_PRIM_SLICE,
     {"slice(Tensor(a) x, int dim, int start, int end, int step) -> Tensor(a)", 0, run_slice,
      nullptr}},
    {TN_PRIM_EXPAND, {"expand(Tensor(a) x, int[] sizes) -> Tensor(a)", 0, run_expand, nullptr}},
    {TN_PRIM_AS_STRIDED,
     {"as_strided(Tensor(a) x, int[] sizes, int[] strides, int offset) -> Tensor(a)", 0,
      run_as_strided, nullptr}},
    {TN_PRIM_SCATTER_INTO,
     {"scatter_(Tensor(a!) x, int dim, Tensor index, Tensor src, bool add=False) -> Tensor(a!)", 0,
      run_scatter_into, nullptr}},
};

struct Table {
  std::array<std::unique_ptr<Op>, kEnd> ops;

  Table() {
    for (const KindRow& r : kRows) {
      Schema schema;
      throw_if(parse_schema(r.row.schema, &schema));
      auto op = std::make_unique<Op>();
      op->kind = OpKind::kPrimitive;
      op->primitive = r.kind;
      op->flags = r.row.flags;
      op->row = &r.row;
      op->passes_autocast = true;
      set_schema(op.get(), std::move(schema));
      ops[static_cast<size_t>(r.kind)] = std::move(op);
    }
  }
};

const Op* op_of(tn_primitive kind) {
  static const Table& table = *new Table;
  return kind > TN_PRIM_NONE && kind < kEnd ? table.ops[static_cast<size_t>(kind)].get() : nullptr;
}

}  // namespace

const PrimitiveRow* primitive_row(tn_primitive kind) {
  const Op* op = op_of(kind);
  return op != nullptr ? op->row : nullptr;
}

const Op* primitive_op(tn_primitive kind) {
  return kind == TN_PRIM_ELEMENTWISE ? nullptr : op_of(kind);
}

const char* primitive_name(tn_primitive kind) {
  const Op* op = op_of(kind);
  return op != nullptr ? op->schema.name.c_str() : "unknown primitive";
}

Status run_primitive(const Op& op, Values args, std::span<tn_value> results) {
  Tensor* made[2];
  TN_TRY(op.row->run(args, made));
  for (size_t i = 0; i < results.size(); ++i) results[i] = tensor_value(made[i]);
  return nullptr;
}

Status launch_primitive(tn_primitive kind, tn_device device, Values args,
                        std::span<Tensor* const> outputs, const tn_meta* metas) {
  if (device.type == TN_DEVICE_META) return nullptr;
  const Op* op = op_of(kind);
  if (op->row->without_kernel != nullptr && registry().primitive(kind).find(device.type) == nullptr)
    return op->row->without_kernel(args, outputs);
  const Kernel* kernel;
  TN_TRY(primitive_kernel(kind, op, device, args, 1, &kernel));
  return launch(*kernel, op, device, args, {const_cast<Tensor**>(outputs.data()), outputs.size()},
                metas);
}

Status primitive_kernel(tn_primitive kind, const Op* op, tn_device device,
                        std::span<const tn_value> args, uint32_t instruction_set,
                        const Kernel** kernel) {
  static const Kernel none{};  // meta: launches of it do nothing
  if (device.type == TN_DEVICE_META) {
    *kernel = &none;
    return nullptr;
  }
  const KernelList* list = registry().primitive(kind).find(device.type);
  if (list != nullptr && (thread_state.modes & kModeExplain) == 0) [[likely]] {
    // The usual backend brings one evaluator without conditions.
    const tn_kernel_def& first = list->front()->def;
    if (first.dtypes == 0 && first.supports == nullptr && instruction_set <= first.instruction_set)
        [[likely]] {
      *kernel = list->front();
      return nullptr;
    }
  }
  const KernelQuestion question{op, device, args, instruction_set};
  TN_TRY(choose_kernel(list, question, kernel));
  if (*kernel != nullptr) [[likely]]
    return nullptr;
  const Refusals refusals = refusals_of(list, question);
  // A device that a plugin brought has all of its plugin; those of `cpu` come with a plugin too.
  const std::string why = !refusals.empty() ? refusals_text(refusals)
                          : device.type != TN_DEVICE_CPU
                              ? "no plugin brought one"
                              : "no plugin brought one; load_plugins() loads the backends";
  return error(TN_UNSUPPORTED, "{}: device {} has no kernel for this call ({})",
               primitive_name(kind), device_text(device), why);
}

std::vector<tn_primitive> missing_primitives(int32_t device_type) {
  std::vector<tn_primitive> missing;
  for (tn_primitive kind = TN_PRIM_ELEMENTWISE; kind < TN_N_PRIM_KERNELS; ++kind) {
    const bool is_optional = primitive_row(kind)->without_kernel != nullptr;
    if (!is_optional && registry().primitive(kind).find(device_type) == nullptr)
      missing.push_back(kind);
  }
  return missing;
}

uint32_t dims_mask(const char* what, std::span<const int64_t> dims, int32_t ndim) {
  if (dims.empty()) return ndim == 0 ? 0 : (1u << ndim) - 1;
  uint32_t mask = 0;
  for (const int64_t dim : dims) {
    int32_t d;
    throw_if(wrap_dim(what, dim, ndim, &d));
    if ((mask >> d & 1) != 0)
      throw StatusException{invalid("{}: dimension {} stands twice in dims", what, dim)};
    mask |= 1u << d;
  }
  return ndim == 0 ? 0 : mask;
}

}  // namespace tenon
