// The answers of plugin/1 to "what is there": JSON documents. Reads only.
#pragma once

#include <string>

namespace tenon {

// {"plugins": [{"id", "version", "abi", "description", "brings": {"ops", "kernels", "vjps",
// "devices", "factories", "policies", "threads", "compilers"}, "from", "state", "reason"}], "searched":
// [folder], "ignored": [{"folder", "reason"}], "waiting": [{"kernel", "device", "plugin",
// "reason"}], "factories": [{"name", "kind", "schema", "plugin"}]}. state is loaded, failed or
// shadowed; a factory's kind is layer, optimizer or other. "reduce, matmul": the primitives that
// the device lacks and must have. "": none.
std::string missing_primitives_text(int32_t device_type);
std::string plugins_json();

// [{"name", "schema", "kind", "amp", "gradient", "flags", "kernels": [{"device", "plugin",
// "priority", "pair", "dtypes"}], "plugin"}]. gradient is derived, stated, vjp, pair, decomposition
// or none. An op that is a primitive's other name has its "primitive" and no kernels of its own.
std::string ops_json();

}  // namespace tenon
