// Records of the loader and of the registry as JSON.
#include "plugin/listing.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "launch/launch.h"
#include "object/factory.h"
#include "plugin/loader.h"
#include "primitive/primitives.h"
#include "registry/variants.h"
#include "tensor/dtype.h"

namespace tenon {
namespace {

const char* state_name(PluginState state) {
  switch (state) {
    case PluginState::kLoaded:
      return "loaded";
    case PluginState::kFailed:
      return "failed";
    case PluginState::kLoading:
      return "loading";
    default:
      return "shadowed";
  }
}

const char* amp_name(tn_amp_class amp) {
  switch (amp) {
    case TN_AMP_LOWER:
      return "lower";
    case TN_AMP_FLOAT32:
      return "float32";
    case TN_AMP_WIDEST:
      return "widest";
    default:
      return "none";
  }
}

const char* kind_name(OpKind kind) {
  switch (kind) {
    case OpKind::kExpression:
      return "expression";
    case OpKind::kPrimitive:
      return "primitive";
    case OpKind::kView:
      return "view";
    case OpKind::kDecomposition:
      return "decomposition";
    default:
      return "kernels";
  }
}

const char* kind_name(tn_object_kind kind) {
  return kind == TN_OBJECT_LAYER ? "layer" : kind == TN_OBJECT_OPTIMIZER ? "optimizer" : "other";
}

void brings(const Brings& b, JsonWriter* json) {
  json->begin_object("brings");
  json->number("ops", b.ops);
  json->number("kernels", b.kernels);
  json->number("vjps", b.vjps);
  json->texts("devices", b.devices);
  json->texts("factories", b.factories);
  json->texts("policies", b.policies);
  json->flag("threads", b.threads);
  json->texts("compilers", b.compilers);
  json->end();
}

struct Bit {
  uint32_t bit;
  const char* name;
};
constexpr Bit kFlags[] = {
    {TN_OP_INPLACE, "inplace"},
    {TN_OP_DYNAMIC, "dynamic"},
    {TN_OP_RANDOM, "random"},
    {TN_OP_LIBRARY, "library"},
    {TN_OP_NO_GRADIENT, "no_gradient"},
    {TN_OP_FUSED, "fused"},
    {TN_OP_KEEPS_HALVES, "keeps_halves"},
    {TN_OP_NUMBERS, "numbers"},
    {TN_OP_METHOD, "method"},
    {TN_OP_VJP_SKIPS_ARGS, "vjp_skips_args"},
    {TN_OP_VJP_SKIPS_OUTPUTS, "vjp_skips_outputs"},
};
constexpr Bit kTraits[] = {
    {TN_KERNEL_CAPTURE_SAFE, "capture_safe"},     {TN_KERNEL_DETERMINISTIC, "deterministic"},
    {TN_KERNEL_SAME_BITS, "same_bits"},           {TN_KERNEL_EPILOGUE, "epilogue"},
    {TN_KERNEL_STRIDED_OUTPUT, "strided_output"},
};
void bits(std::string_view name, std::span<const Bit> known, uint32_t set, JsonWriter* json) {
  json->begin_list(name);
  for (const Bit& bit : known) {
    if ((set & bit.bit) != 0) json->text(bit.name);
  }
  json->end();
}

void dtypes(uint32_t set, JsonWriter* json) {
  if (set == 0) return json->text("dtypes", "any");
  json->begin_list("dtypes");
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if ((set & TN_DTYPE_BIT(dtype)) != 0) json->text(dtype_name(dtype));
  }
  json->end();
}

// Does the formula state the derivative of an argument: a line "dx = ..."?
bool states_derivative(const Expression& expression) {
  const std::string& formula = expression.text();
  for (size_t at = 0; at < formula.size();) {
    const size_t end = std::min(formula.find_first_of("\n;", at), formula.size());
    std::string line = formula.substr(at, end - at);
    at = end + 1;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    const size_t equals = line.find('=');
    if (line[0] != 'd' || equals == line.npos || line[equals + 1] == '=') continue;
    if (expression.schema().find(line.substr(1, equals - 1)) >= 0) return true;
  }
  return false;
}

const char* gradient(const Op& op, bool has_pair) {
  if ((op.flags & TN_OP_NO_GRADIENT) != 0) return "none";
  if (op.vjp != nullptr) return "vjp";
  switch (op.kind) {
    case OpKind::kExpression: {
      bool any = false, stated = false;
      each_formula(op, [&](const Op& formula) {
        for (uint32_t i = 0; i < formula.expression->n_operands(); ++i)
          any |= formula.expression->differentiable(i);
        stated |= states_derivative(*formula.expression);
      });
      return !any ? "none" : stated ? "stated" : "derived";
    }
    case OpKind::kPrimitive: {
      const tn_primitive p = op.primitive;
      const bool none = p == TN_PRIM_FILL || p == TN_PRIM_IOTA || p == TN_PRIM_RANDOM_BITS ||
                        p == TN_PRIM_NONZERO;
      return none ? "none" : "derived";
    }
    case OpKind::kView:
      return "derived";
    case OpKind::kDecomposition:
      return has_pair ? "pair" : "decomposition";
    default:
      return has_pair ? "pair" : "none";
  }
}

}  // namespace

std::string missing_primitives_text(int32_t device_type) {
  std::string text;
  for (const tn_primitive kind : missing_primitives(device_type)) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", primitive_name(kind));
  }
  return text;
}

std::string plugins_json() {
  JsonWriter json;
  json.begin_object();
  json.begin_list("plugins");
  for (const PluginRecord& r : plugin_records()) {
    const Manifest& m = r.manifest;
    json.begin_object();
    json.text("id", m.id);
    json.text("version", m.version);
    json.text("abi", m.id.empty() ? "" : abi_text(m.abi_min, m.abi_max));
    json.text("description", m.description);
    brings(r.brings, &json);
    json.text("from", r.file.string());
    json.text("state", state_name(r.state));
    if (!r.reason.empty()) json.text("reason", r.reason);
    json.end();
  }
  json.end();
  const std::vector<SearchFolder> folders = searched_folders();
  json.begin_list("searched");
  for (const SearchFolder& folder : folders) {
    if (folder.ignored.empty()) json.text(folder.folder.string());
  }
  json.end();
  json.begin_list("ignored");
  for (const SearchFolder& folder : folders) {
    if (folder.ignored.empty()) continue;
    json.begin_object();
    json.text("folder", folder.folder.string());
    json.text("reason", folder.ignored);
    json.end();
  }
  json.end();
  json.begin_list("waiting");
  for (const WaitingKernel& w : registry().waiting_kernels()) {
    const Kernel& k = *w.kernel;
    json.begin_object();
    json.text("kernel", k.op.empty() ? k.primitive_name : k.op);
    json.text("device", k.device);
    json.text("plugin", k.plugin);
    json.text("reason", w.reason);
    json.end();
  }
  json.end();
  json.begin_list("incomplete");
  for (int32_t type = TN_FIRST_PLUGIN_DEVICE; type < device_type_count(); ++type) {
    const std::string missing = missing_primitives_text(type);
    if (missing.empty()) continue;
    json.begin_object();
    json.text("device", device_type(type)->name);
    json.text("missing", missing);
    json.end();
  }
  json.end();
  json.begin_list("factories");
  for (const Factory* factory : all_factories()) {
    json.begin_object();
    json.text("name", factory->schema.name);
    json.text("kind", kind_name(factory->def.kind));
    json.text("schema", schema_text(factory->schema));
    json.text("doc", factory->doc);
    json.text("group", factory->group);
    json.text("plugin", factory->plugin);
    json.end();
  }
  json.end();
  json.end();
  return json.take();
}

std::string ops_json() {
  JsonWriter json;
  json.begin_list();
  for (const Op* op : registry().all_ops()) {
    std::vector<const Kernel*> kernels;
    for (int32_t type = 0; type < device_type_count(); ++type) {
      const KernelList* list = op->kernels.find(type);
      if (list != nullptr) kernels.insert(kernels.end(), list->begin(), list->end());
    }
    const bool has_pair = std::any_of(kernels.begin(), kernels.end(),
                                      [](const Kernel* kernel) { return kernel->is_pair; });
    json.begin_object();
    json.text("name", op->name);
    json.text("schema", schema_text(op->schema));
    json.text("kind", kind_name(op->kind));
    if (op->kind == OpKind::kPrimitive) json.text("primitive", primitive_name(op->primitive));
    json.text("amp", amp_name(op->amp));
    json.text("gradient", gradient(*op, has_pair));
    bits("flags", kFlags, op->flags, &json);
    json.text("doc", op->doc);
    json.text("group", op->group);
    if (op->kind == OpKind::kExpression)
      json.text("text", op->variants != nullptr ? op->variants->text : op->expression->text());
    // A call that leaves out the options of variants brings so many arguments.
    if (op->n_direct < op->defaults.size())
      json.number("plain", static_cast<int64_t>(op->n_direct));
    json.begin_list("kernels");
    for (const Kernel* k : kernels) {
      json.begin_object();
      json.text("device", k->device);
      json.text("plugin", k->plugin);
      json.number("priority", k->def.priority);
      json.flag("pair", k->is_pair);
      bits("traits", kTraits, k->def.traits, &json);
      dtypes(k->def.dtypes, &json);
      json.end();
    }
    json.end();
    json.text("plugin", op->plugin);
    json.end();
  }
  json.end();
  return json.take();
}

}  // namespace tenon
