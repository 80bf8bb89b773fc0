// Records of the loader and of the registry as JSON.
#include "plugin/listing.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "launch/launch.h"
#include "registry/variants.h"

#include "primitive/primitives.h"
#include "object/factory.h"
#include "plugin/loader.h"
#include "tensor/dtype.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& json) {
  // Paths and plugins' texts may be no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

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

Json brings(const Brings& b) {
  return {{"ops", b.ops},         {"kernels", b.kernels},     {"vjps", b.vjps},
          {"devices", b.devices}, {"factories", b.factories}, {"policies", b.policies},
          {"threads", b.threads}, {"compilers", b.compilers}};
}

Json flags(uint32_t bits) {
  Json names = Json::array();
  const auto flag = [&](uint32_t bit, const char* name) {
    if ((bits & bit) != 0) names.push_back(name);
  };
  flag(TN_OP_INPLACE, "inplace");
  flag(TN_OP_DYNAMIC, "dynamic");
  flag(TN_OP_RANDOM, "random");
  flag(TN_OP_LIBRARY, "library");
  flag(TN_OP_NO_GRADIENT, "no_gradient");
  flag(TN_OP_FUSED, "fused");
  flag(TN_OP_KEEPS_HALVES, "keeps_halves");
  flag(TN_OP_NUMBERS, "numbers");
  flag(TN_OP_METHOD, "method");
  flag(TN_OP_VJP_SKIPS_ARGS, "vjp_skips_args");
  flag(TN_OP_VJP_SKIPS_OUTPUTS, "vjp_skips_outputs");
  return names;
}

Json traits(uint32_t bits) {
  Json names = Json::array();
  if ((bits & TN_KERNEL_CAPTURE_SAFE) != 0) names.push_back("capture_safe");
  if ((bits & TN_KERNEL_DETERMINISTIC) != 0) names.push_back("deterministic");
  if ((bits & TN_KERNEL_SAME_BITS) != 0) names.push_back("same_bits");
  if ((bits & TN_KERNEL_EPILOGUE) != 0) names.push_back("epilogue");
  if ((bits & TN_KERNEL_STRIDED_OUTPUT) != 0) names.push_back("strided_output");
  return names;
}

Json dtypes(uint32_t bits) {
  if (bits == 0) return "any";
  Json names = Json::array();
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if ((bits & TN_DTYPE_BIT(dtype)) != 0) names.push_back(dtype_name(dtype));
  }
  return names;
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
  Json plugins = Json::array(), searched = Json::array(), ignored = Json::array(),
       waiting = Json::array(), factories = Json::array(), incomplete = Json::array();
  for (const PluginRecord& r : plugin_records()) {
    const Manifest& m = r.manifest;
    Json entry = {{"id", m.id},
                  {"version", m.version},
                  {"abi", m.id.empty() ? "" : abi_text(m.abi_min, m.abi_max)},
                  {"description", m.description},
                  {"brings", brings(r.brings)},
                  {"from", r.file.string()},
                  {"state", state_name(r.state)}};
    if (!r.reason.empty()) entry["reason"] = r.reason;
    plugins.push_back(std::move(entry));
  }
  for (const SearchFolder& folder : searched_folders()) {
    if (folder.ignored.empty()) {
      searched.push_back(folder.folder.string());
    } else {
      ignored.push_back({{"folder", folder.folder.string()}, {"reason", folder.ignored}});
    }
  }
  for (const WaitingKernel& w : registry().waiting_kernels()) {
    const Kernel& k = *w.kernel;
    waiting.push_back({{"kernel", k.op.empty() ? k.primitive_name : k.op},
                       {"device", k.device},
                       {"plugin", k.plugin},
                       {"reason", w.reason}});
  }
  for (int32_t type = TN_FIRST_PLUGIN_DEVICE; type < device_type_count(); ++type) {
    const std::string missing = missing_primitives_text(type);
    if (!missing.empty())
      incomplete.push_back({{"device", device_type(type)->name}, {"missing", missing}});
  }
  for (const Factory* factory : all_factories()) {
    factories.push_back({{"name", factory->schema.name},
                         {"kind", kind_name(factory->def.kind)},
                         {"schema", schema_text(factory->schema)},
                         {"doc", factory->doc},
                         {"group", factory->group},
                         {"plugin", factory->plugin}});
  }
  return text({{"plugins", plugins},
               {"searched", searched},
               {"ignored", ignored},
               {"waiting", waiting},
               {"incomplete", incomplete},
               {"factories", factories}});
}

std::string ops_json() {
  Json ops = Json::array();
  const int32_t n_types = device_type_count();
  for (const Op* op : registry().all_ops()) {
    Json kernels = Json::array();
    bool has_pair = false;
    for (int32_t type = 0; type < n_types; ++type) {
      const KernelList* list = op->kernels.find(type);
      if (list == nullptr) continue;
      for (const Kernel* k : *list) {
        has_pair |= k->is_pair;
        kernels.push_back({{"device", k->device},
                           {"plugin", k->plugin},
                           {"priority", k->def.priority},
                           {"pair", k->is_pair},
                           {"traits", traits(k->def.traits)},
                           {"dtypes", dtypes(k->def.dtypes)}});
      }
    }
    Json entry = {
        {"name", op->name}, {"schema", schema_text(op->schema)}, {"kind", kind_name(op->kind)}};
    if (op->kind == OpKind::kPrimitive) entry["primitive"] = primitive_name(op->primitive);
    entry["amp"] = amp_name(op->amp);
    entry["gradient"] = gradient(*op, has_pair);
    entry["flags"] = flags(op->flags);
    entry["doc"] = op->doc;
    entry["group"] = op->group;
    if (op->kind == OpKind::kExpression)
      entry["text"] = op->variants != nullptr ? op->variants->text : op->expression->text();
    // A call that leaves out the options of variants brings so many arguments.
    if (op->n_direct < op->defaults.size()) entry["plain"] = op->n_direct;
    entry["kernels"] = std::move(kernels);
    entry["plugin"] = op->plugin;
    ops.push_back(std::move(entry));
  }
  return text(ops);
}

}  // namespace tenon
