#include "plugin/stage_ops.h"

#include <algorithm>

#include "primitive/primitives.h"
#include "registry/variants.h"

namespace tenon {
namespace {

constexpr uint32_t kOpFlags = TN_OP_INPLACE | TN_OP_DYNAMIC | TN_OP_RANDOM | TN_OP_LIBRARY |
                              TN_OP_NO_GRADIENT | TN_OP_FUSED | TN_OP_KEEPS_HALVES | TN_OP_NUMBERS |
                              TN_OP_METHOD | TN_OP_VJP_SKIPS_ARGS | TN_OP_VJP_SKIPS_OUTPUTS;
constexpr uint32_t kKernelTraits = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC |
                                   TN_KERNEL_SAME_BITS | TN_KERNEL_EPILOGUE |
                                   TN_KERNEL_STRIDED_OUTPUT;
constexpr uint32_t kAllDtypes = (1u << 12) - 1;

bool is_view_primitive(tn_primitive kind) {
  return kind >= TN_PRIM_RESHAPE && kind <= TN_PRIM_AS_STRIDED;
}
bool is_kernel_primitive(tn_primitive kind) {
  return kind > TN_PRIM_NONE && kind < TN_N_PRIM_KERNELS;
}

// The one way in which the op says what it means.
Status op_kind(const tn_op_def& def, const Schema& schema, const std::string& name, OpKind* kind) {
  std::string ways;
  int count = 0;
  const auto way = [&](bool there, OpKind k, const char* text) {
    if (!there) return;
    ways += count++ == 0 ? text : std::string(" and ") + text;
    *kind = k;
  };
  way(def.expression != nullptr, OpKind::kExpression, "an expression");
  way(def.primitive != TN_PRIM_NONE, OpKind::kPrimitive, "a primitive");
  way(def.view != nullptr, OpKind::kView, "a view");
  way(def.decompose != nullptr, OpKind::kDecomposition, "a decomposition");
  if (count > 1) return invalid("op '{}' has {}; it must be one of them", name, ways);
  if (count == 0) {
    *kind = OpKind::kKernels;
    // Outputs that are arguments need no inference.
    const bool makes = std::any_of(schema.returns.begin(), schema.returns.end(),
                                   [](const Argument& result) { return !result.written; });
    if (def.infer == nullptr && makes) {
      return invalid(
          "op '{}' has no meaning: give an expression, a primitive, a view, a decomposition, or "
          "infer where kernels alone compute it",
          name);
    }
  } else if (def.infer != nullptr && *kind != OpKind::kDecomposition) {
    return invalid("op '{}': infer follows from {}; leave it out", name, ways);
  }
  return nullptr;
}

Status check_flags(const tn_op_def& def, const std::string& name, OpKind kind) {
  if ((def.flags & ~kOpFlags) != 0) {
    return invalid("op '{}': unknown flags {:#x}", name, def.flags & ~kOpFlags);
  }
  const bool elementwise = kind == OpKind::kExpression;
  if ((def.flags & TN_OP_INPLACE) != 0 && !elementwise) {
    return invalid("op '{}': .inplace() (TN_OP_INPLACE) needs an expression", name);
  }
  if ((def.flags & (TN_OP_DYNAMIC | TN_OP_RANDOM)) != 0 && (elementwise || kind == OpKind::kView)) {
    return invalid("op '{}': {} cannot be dynamic or random", name,
                   elementwise ? "an expression" : "a view");
  }
  if ((def.flags & TN_OP_LIBRARY) != 0 && kind != OpKind::kKernels) {
    return invalid("op '{}': TN_OP_LIBRARY is for ops of kernels alone", name);
  }
  if ((def.flags & TN_OP_KEEPS_HALVES) != 0 && kind != OpKind::kDecomposition) {
    return invalid("op '{}': .keeps_halves() (TN_OP_KEEPS_HALVES) is for ops with a decomposition",
                   name);
  }
  if ((def.flags & (TN_OP_VJP_SKIPS_ARGS | TN_OP_VJP_SKIPS_OUTPUTS)) != 0 && def.vjp == nullptr) {
    return invalid("op '{}': TN_OP_VJP_SKIPS_ARGS and _OUTPUTS are for ops with a vjp", name);
  }
  if ((def.flags & TN_OP_FUSED) != 0 && kind != OpKind::kDecomposition) {
    return invalid("op '{}': .fused() (TN_OP_FUSED) needs a decomposition", name);
  }
  if ((def.flags & TN_OP_NUMBERS) != 0 && kind != OpKind::kDecomposition) {
    return invalid("op '{}': .numbers() (TN_OP_NUMBERS) is for ops with a decomposition", name);
  }
  if (def.amp < TN_AMP_AUTO || def.amp > TN_AMP_WIDEST) {
    return invalid("op '{}': unknown amp class {}", name, def.amp);
  }
  if (kind == OpKind::kPrimitive && primitive_op(def.primitive) == nullptr) {
    return invalid("op '{}': unknown primitive {}", name, def.primitive);
  }
  return nullptr;
}

Status check_signature(const tn_op_def& def, const Schema& schema, const std::string& name,
                       OpKind kind) {
  const bool writes = std::any_of(schema.arguments.begin(), schema.arguments.end(),
                                  [](const Argument& argument) { return argument.written; });
  if (schema.returns.empty() && !writes) {
    return invalid("op '{}' gives nothing and writes nothing: '{}'", name, schema_text(schema));
  }
  if ((def.flags & TN_OP_METHOD) != 0) {
    const bool fits = !schema.arguments.empty() && schema.arguments[0].type == Type::kTensor &&
                      !schema.arguments[0].list && !schema.arguments[0].optional;
    if (!fits) {
      return invalid("op '{}': .method() (TN_OP_METHOD) needs a Tensor first, not '{}'", name,
                     schema_text(schema));
    }
  }
  if (kind == OpKind::kView) {
    const bool fits = schema.returns.size() == 1 && !schema.arguments.empty() &&
                      schema.arguments[0].alias != 0 && !schema.arguments[0].list &&
                      schema.returns[0].alias == schema.arguments[0].alias;
    if (!fits) {
      return invalid("op '{}': a view takes Tensor(a) first and returns Tensor(a), not '{}'", name,
                     schema_text(schema));
    }
  }
  return nullptr;
}

Status check_new(const std::string& name, const StagedOps& staged) {
  if (staged.find(name) == nullptr) return nullptr;
  return invalid("op '{}' is registered twice", name);
}

// An op that is a primitive under another name takes what the primitive takes, and gives as much.
Status check_primitive_schema(const Op& op) {
  const Schema& of = primitive_op(op.primitive)->schema;
  bool fits = op.schema.arguments.size() == of.arguments.size() &&
              op.schema.returns.size() == of.returns.size();
  for (size_t i = 0; fits && i < of.arguments.size(); ++i) {
    const Argument &own = op.schema.arguments[i], &its = of.arguments[i];
    fits = own.type == its.type && own.list == its.list && own.optional == its.optional;
  }
  if (fits) return nullptr;
  return invalid("op '{}': '{}' does not take and give what primitive '{}' does: '{}'", op.name,
                 schema_text(op.schema), of.name, schema_text(of));
}

// Everything but `self` and `destroy`, which one record owns.
Status make_op(const tn_op_def& def, Schema schema, OpKind kind, const std::string& plugin,
               std::unique_ptr<Op>* made) {
  auto op = std::make_unique<Op>();
  op->name = plugin + "." + schema.name;
  op->plugin = plugin;
  op->kind = kind;
  op->flags = def.flags;
  op->primitive = def.primitive;
  op->amp = def.amp == TN_AMP_AUTO ? TN_AMP_NONE : def.amp;
  set_schema(op.get(), std::move(schema));
  if (kind == OpKind::kPrimitive) {
    op->row = primitive_row(def.primitive);
    TN_TRY(check_primitive_schema(*op));
  }
  if (kind == OpKind::kExpression) {
    if (Status cause = set_formulas(op.get(), def.expression, def.amp))
      return wrap(cause, [&] { return fmt::format("op '{}'", op->name); });
  }
  if (def.doc != nullptr) op->doc = def.doc;
  if (def.group != nullptr) op->group = def.group;
  op->view = def.view;
  op->decompose = def.decompose;
  op->infer = def.infer;
  op->self = def.self;
  if (def.vjp != nullptr) op->vjp_plugin = plugin;
  each_formula(*op, [&](Op& formula) {
    formula.vjp_self = def.self;
    formula.vjp.store(def.vjp, std::memory_order_relaxed);
  });
  *made = std::move(op);
  return nullptr;
}

// "add(Tensor x, ...) -> Tensor" to "add_(Tensor(a!) x, ...) -> Tensor(a!)".
Status inplace_schema(const Schema& schema, const std::string& name, Schema* inplace) {
  const bool fits = !schema.arguments.empty() && schema.arguments[0].type == Type::kTensor &&
                    !schema.arguments[0].list && !schema.arguments[0].optional &&
                    schema.arguments[0].alias == 0 && schema.returns.size() == 1 &&
                    schema.returns[0].alias == 0;
  if (!fits) {
    return invalid(
        "op '{}': .inplace() (TN_OP_INPLACE) needs a Tensor first and one Tensor back, not '{}'",
        name, schema_text(schema));
  }
  *inplace = schema.clone();
  inplace->name += "_";
  for (Argument* a : {&inplace->arguments[0], &inplace->returns[0]}) {
    a->alias = 'a';
    a->written = true;
  }
  return nullptr;
}

// Which op or primitive the kernel is for; `what` becomes its name in messages.
Status set_target(const tn_kernel_def& def, Kernel* kernel, std::string* what) {
  if (def.op == nullptr) {
    if (!is_kernel_primitive(def.primitive)) {
      return is_view_primitive(def.primitive)
                 ? invalid("kernel: '{}' is a view, which needs none",
                           primitive_name(def.primitive))
                 : invalid("kernel names neither an op nor a primitive (primitive {})",
                           def.primitive);
    }
    kernel->primitive_name = primitive_name(def.primitive);
    *what = fmt::format("kernel for primitive '{}'", kernel->primitive_name);
    return nullptr;
  }
  if (def.primitive != TN_PRIM_NONE) {
    return invalid("kernel for '{}' names primitive '{}' as well; it must be one of them", def.op,
                   primitive_name(def.primitive));
  }
  kernel->op = def.op;
  std::string name = def.op;
  if (name.find('(') != std::string::npos) {
    kernel->schema = std::make_unique<Schema>();
    if (Status cause = parse_schema(def.op, kernel->schema.get())) {
      const tn_code code = cause->code;
      return make_status(code, "the schema of a kernel", cause);
    }
    name = kernel->schema->name;
  }
  if (name.empty()) return invalid("kernel: the name of its op is empty");
  kernel->op_name = Registry::full_name(name);
  *what = fmt::format("kernel for '{}'", name);
  return nullptr;
}

// What the kernel says of itself: traits, dtypes and layouts that there are, and that go together.
Status check_claims(const tn_kernel_def& def, const std::string& what) {
  if ((def.traits & ~kKernelTraits) != 0) {
    return invalid("{}: unknown traits {:#x}", what, def.traits & ~kKernelTraits);
  }
  if ((def.dtypes & ~kAllDtypes) != 0) {
    return invalid("{}: unknown dtypes {:#x}", what, def.dtypes & ~kAllDtypes);
  }
  if (def.layout > TN_LAYOUT_DENSE) return invalid("{}: unknown layout {}", what, def.layout);
  if (def.primitive == TN_PRIM_COPY && def.layout != TN_LAYOUT_STRIDED) {
    return invalid("{}: it is what layouts are changed with, so it must take any strides", what);
  }
  if ((def.primitive == TN_PRIM_ELEMENTWISE || def.primitive == TN_PRIM_REDUCE) &&
      def.layout != TN_LAYOUT_STRIDED) {
    return invalid("{}: its operands are described by strides, so it must take any", what);
  }
  if ((def.prepare == nullptr) != (def.destroy_prepared == nullptr)) {
    return invalid("{}: prepare and destroy_prepared come together", what);
  }
  if ((def.traits & TN_KERNEL_SAME_BITS) != 0 && def.primitive != TN_PRIM_NONE) {
    return invalid("{}: TN_KERNEL_SAME_BITS is for kernels of ops: a primitive has no other bits",
                   what);
  }
  if ((def.traits & TN_KERNEL_EPILOGUE) != 0 && def.primitive != TN_PRIM_NONE &&
      def.primitive != TN_PRIM_MATMUL) {
    return invalid("{}: TN_KERNEL_EPILOGUE is for products and convolutions", what);
  }
  // A copy in another layout would not hold the old values.
  if ((def.traits & TN_KERNEL_STRIDED_OUTPUT) != 0 &&
      (def.primitive != TN_PRIM_SCATTER || def.layout != TN_LAYOUT_STRIDED)) {
    return invalid("{}: TN_KERNEL_STRIDED_OUTPUT is for SCATTER with TN_LAYOUT_STRIDED", what);
  }
  if (def.primitive != TN_PRIM_NONE && def.order != nullptr) {
    return invalid("{}: the outputs of primitives are the host's to lay out", what);
  }
  return nullptr;
}

// What kernels and pairs share.
Status make_kernel(const tn_kernel_def& def, const std::string& plugin,
                   std::unique_ptr<Kernel>* made) {
  auto kernel = std::make_unique<Kernel>();
  kernel->plugin = plugin;
  std::string what;
  TN_TRY(set_target(def, kernel.get(), &what));
  if (def.device == nullptr || *def.device == '\0') return invalid("{} names no device", what);
  kernel->device = def.device;
  if (kernel->device == "meta") return invalid("{}: meta has no memory and no kernels", what);
  what += fmt::format(" on '{}'", kernel->device);
  if (def.launch == nullptr) return invalid("{} has no launch function", what);
  TN_TRY(check_claims(def, what));
  kernel->def = def;
  kernel->def.op = def.op == nullptr ? nullptr : kernel->op.c_str();
  kernel->def.device = kernel->device.c_str();
  if (def.instruction_set == 0) kernel->def.instruction_set = 1;
  *made = std::move(kernel);
  return nullptr;
}

}  // namespace

Status stage_op(const tn_op_def& def, const std::string& plugin, StagedOps* staged) {
  if (def.schema == nullptr) return invalid("op of plugin '{}' has no schema", plugin);
  Schema schema;
  TN_TRY(parse_schema(def.schema, &schema));
  if (schema.name.find('.') != std::string::npos) {
    return invalid("op '{}': leave the prefix out; it is the plugin's id, '{}'", schema.name,
                   plugin);
  }
  const std::string name = plugin + "." + schema.name;
  OpKind kind;
  TN_TRY(op_kind(def, schema, name, &kind));
  TN_TRY(check_flags(def, name, kind));
  TN_TRY(check_signature(def, schema, name, kind));
  TN_TRY(check_doc(fmt::format("op '{}'", name), def.doc, def.group));
  TN_TRY(check_new(name, *staged));

  std::unique_ptr<Op> op, inplace;
  Schema second;
  const bool has_inplace = (def.flags & TN_OP_INPLACE) != 0;
  if (has_inplace) {
    TN_TRY(inplace_schema(schema, name, &second));
    TN_TRY(check_new(name + "_", *staged));
  }
  TN_TRY(make_op(def, std::move(schema), kind, plugin, &op));
  if (has_inplace) {
    TN_TRY(make_op(def, std::move(second), kind, plugin, &inplace));
    inplace->flags &= ~static_cast<uint32_t>(TN_OP_INPLACE);
  }
  op->destroy = def.destroy;
  staged->add(std::move(op));
  if (inplace != nullptr) staged->add(std::move(inplace));
  return nullptr;
}

Status stage_kernel(const tn_kernel_def& def, const std::string& plugin, StagedOps* staged) {
  std::unique_ptr<Kernel> kernel;
  TN_TRY(make_kernel(def, plugin, &kernel));
  staged->kernels.push_back(std::move(kernel));
  return nullptr;
}

Status stage_pair(const tn_kernel_pair_def& def, const std::string& plugin, StagedOps* staged) {
  std::unique_ptr<Kernel> kernel;
  TN_TRY(make_kernel(*def.forward, plugin, &kernel));
  if (kernel->op.empty()) return invalid("kernel pair: it must name an op, not a primitive");
  const std::string what = fmt::format("kernel pair for '{}' on '{}'", kernel->op, kernel->device);
  if (def.backward == nullptr) return invalid("{} has no backward function", what);
  if (def.n_private > 0 && def.infer_private == nullptr) {
    return invalid("{} has {} private outputs and no infer_private", what, def.n_private);
  }
  kernel->is_pair = true;
  kernel->n_private = def.n_private;
  kernel->infer_private = def.infer_private;
  kernel->backward = def.backward;
  kernel->saves_args = def.saves_args;
  kernel->saves_outputs = def.saves_outputs;
  staged->kernels.push_back(std::move(kernel));
  return nullptr;
}

Status stage_vjp(const char* op, tn_vjp_fn fn, void* self, const std::string& plugin,
                 StagedOps* staged) {
  if (op == nullptr || *op == '\0') return invalid("vjp names no op");
  if (fn == nullptr) return invalid("vjp for '{}' has no function", op);
  staged->vjps.push_back({op, plugin, fn, self});
  return nullptr;
}

}  // namespace tenon
