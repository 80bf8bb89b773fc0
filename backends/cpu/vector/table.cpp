// Chooses the table of inner loops: the fastest instruction set that the processor has and
// TENON_CPU_ISA allows.
#include "vector/table.h"

#include <cstdlib>
#include <cstring>

namespace tenon::cpu_backend {

extern const Table kBaselineTable;
#if defined(__x86_64__)
extern const Table kAvx2Table;
extern const Table kAvx512Table;
#endif

namespace {

#if defined(__x86_64__)
// The table for AVX-512 with products of bfloat16 by instructions of their own.
Table with_bfloat_products() {
  Table table = kAvx512Table;
  table.name = "avx512_bf16";
  table.gemm = [](const GemmArgs& g) {
    (g.dtype == TN_BFLOAT16 ? kBfloatFunctions.gemm : kAvx512Table.gemm)(g);
  };
  table.gemm_scratch = [](int64_t m, int64_t n, int64_t k, tn_dtype dtype, bool narrow) {
    return dtype == TN_BFLOAT16 ? kBfloatFunctions.scratch(m, n, k)
                                : kAvx512Table.gemm_scratch(m, n, k, dtype, narrow);
  };
  return table;
}
#endif

#if defined(__x86_64__)
#if defined(__clang__)
// clang 14 asks for features alone, and knows not all of a level; processors with these have the rest.
bool has_level_3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_level_4() {
  return has_level_3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_level_3() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_level_4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif
#endif

const Table& choose() {
#if defined(__x86_64__)
  const char* wish = std::getenv("TENON_CPU_ISA");
  __builtin_cpu_init();
  // Intel's processors take four to seven times as long for a product of pairs of bfloat16 as for one
  // of floats (measured: Emerald Rapids), so there these are faster widened. AMD's are as quick.
  int limit = __builtin_cpu_is("amd") ? 3 : 2;
  if (wish && std::strcmp(wish, "avx512_bf16") == 0) {
    limit = 3;
  } else if (wish && std::strcmp(wish, "baseline") == 0) {
    limit = 0;
  } else if (wish && std::strcmp(wish, "avx2") == 0) {
    limit = 1;
  } else if (wish && std::strcmp(wish, "avx512") == 0) {
    limit = 2;
  }
  if (limit >= 3 && has_level_4() && __builtin_cpu_supports("avx512bf16")) {
    static const Table table = with_bfloat_products();
    return table;
  }
  if (limit >= 2 && has_level_4()) {
    return kAvx512Table;
  }
  if (limit >= 1 && has_level_3()) {
    return kAvx2Table;
  }
#endif
  return kBaselineTable;
}

}  // namespace

const Table& table() {
  static const Table& chosen = choose();
  return chosen;
}

}  // namespace tenon::cpu_backend
