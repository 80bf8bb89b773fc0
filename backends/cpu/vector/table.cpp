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
extern const Table kAvx512Bf16Table;
#endif

namespace {

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
  if (limit >= 3 && __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16")) {
    return kAvx512Bf16Table;
  }
  if (limit >= 2 && __builtin_cpu_supports("x86-64-v4")) {
    return kAvx512Table;
  }
  if (limit >= 1 && __builtin_cpu_supports("x86-64-v3")) {
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
