#include "tensor/dtype.h"

namespace tenon {

const char* dtype_name(tn_dtype dtype) {
  return is_known_dtype(dtype) ? dtype_table::kRows[dtype].name : "unknown";
}

tn_dtype dtype_from_name(std::string_view name) {
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if (name == dtype_table::kRows[dtype].name) return dtype;
  }
  return TN_DTYPE_NONE;
}

}  // namespace tenon
