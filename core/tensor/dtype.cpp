#include "tensor/dtype.h"

namespace tenon {

static constexpr const char* kNames[TN_N_DTYPES] = {"float32", "float64", "float16", "bfloat16",
                                                    "int64",   "int32",   "uint8",   "bool"};

const char* dtype_name(tn_dtype dtype) { return is_known_dtype(dtype) ? kNames[dtype] : "unknown"; }

tn_dtype dtype_from_name(std::string_view name) {
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if (name == kNames[dtype]) return dtype;
  }
  return TN_DTYPE_NONE;
}

}  // namespace tenon
