// oneDNN behind one C function table, in a library of its own (libtenon_cpu_dnnl.so): loading
// oneDNN takes milliseconds, so the plugin opens it at the first product that is large enough to
// gain.
#pragma once

#include <stdint.h>

extern "C" {

typedef struct tenon_cpu_dnnl_matmul {
  int64_t batch, m, n, k;
  const float* a;
  const float* b;
  const float* bias;  // [n], dense, or NULL
  float* c;
  int64_t a_strides[3], b_strides[3], c_strides[3];  // in elements: batch, row, column
  int32_t relu;
} tenon_cpu_dnnl_matmul;

typedef struct tenon_cpu_dnnl {
  const char* version;
  // 0: done; else c is as it was, and the caller does it.
  int32_t (*matmul)(const tenon_cpu_dnnl_matmul*);
} tenon_cpu_dnnl;

#define TENON_CPU_DNNL_SYMBOL "tenon_cpu_dnnl_table"
}
