#include "call/decompose.h"

#include "call/call.h"

namespace tenon {

Status run_decomposition(const Op* op, std::span<const tn_value> args,
                         std::span<tn_value> results) {
  for (tn_value& v : results) v = tn_value{};
  const DecompositionScope scope(op);
  if (Status status = op->decompose(op->self, args.data(), static_cast<uint32_t>(args.size()),
                                    results.data(), static_cast<uint32_t>(results.size()))) {
    release_values(results);
    return status;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool list = op->schema.returns[i].list;
    const uint32_t expected = list ? uint32_t{TN_KIND_TENSORS} : uint32_t{TN_KIND_TENSOR};
    if (results[i].kind == expected && (list || results[i].as.tensor != nullptr)) continue;
    const std::string found = value_kind_name(results[i]);
    release_values(results);
    return error(TN_INTERNAL, "{}: its decomposition gave {} for output {}, expected {}",
                 op->schema.name, found, i, list ? "a list of tensors" : "a tensor");
  }
  return nullptr;
}

}  // namespace tenon
