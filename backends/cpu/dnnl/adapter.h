// oneDNN behind one C function table, in a library of its own (libtenon_cpu_dnnl.so): loading
// oneDNN takes milliseconds, so the plugin opens it at the first convolution.
#pragma once

#include <stdint.h>

extern "C" {

// The threads that the adapter may use. oneDNN itself gets one thread for each piece of a problem,
// and pieces depend on the sizes of a problem alone, so its results do not depend on `count`.
typedef struct tenon_cpu_dnnl_threads {
  int64_t count;  // at least 1
  // Calls body(body_context, i) for each i < n <= count, at once if it can.
  void (*run)(void* context, int64_t n, void (*body)(void* body_context, int64_t i),
              void* body_context);
  void* context;
} tenon_cpu_dnnl_threads;

// What is computed of y = x * weight + bias, a convolution; the number of its result among the
// tensors of tenon_cpu_dnnl_data.
enum { TENON_CPU_CONV_Y = 0, TENON_CPU_CONV_X = 1, TENON_CPU_CONV_WEIGHT = 2 };

// x [batch, in, x_sizes..], weight [out, in / groups, kernel..], y [batch, out, y_sizes..]; strides
// in elements, none 0. Numbers alone, so that it is a key of its own; unused ones are 0.
typedef struct tenon_cpu_dnnl_convolution {
  int64_t result;  // TENON_CPU_CONV_*: y, or the gradient of x, or those of weight and bias
  int64_t n;       // dimensions of the windows, 1 to 3
  int64_t batch, in, out, groups, has_bias;
  int64_t x_sizes[3], y_sizes[3], kernel[3], stride[3], dilation[3], padding[3];
  int64_t strides[3][5];  // of y, x and weight
} tenon_cpu_dnnl_convolution;

typedef struct tenon_cpu_dnnl_data {
  float* tensors[3];  // y, x and weight; one is the result
  float* bias;        // [out], dense, where has_bias is set; a result beside weight
} tenon_cpu_dnnl_data;

// What a function gives beside 0: oneDNN does not take the problem, or it found no memory.
enum { TENON_CPU_DNNL_REFUSED = 1, TENON_CPU_DNNL_OUT_OF_MEMORY = 2 };

typedef struct tenon_cpu_dnnl {
  const char* version;
  // Bytes that `convolution` needs for this problem on so many threads, or minus one of the above.
  int64_t (*convolution_workspace)(const tenon_cpu_dnnl_convolution*, int64_t threads);
  // scratch: aligned to 64 bytes. 0: done.
  int32_t (*convolution)(const tenon_cpu_dnnl_convolution*, const tenon_cpu_dnnl_data*,
                         void* scratch, const tenon_cpu_dnnl_threads*);
} tenon_cpu_dnnl;

#define TENON_CPU_DNNL_SYMBOL "tenon_cpu_dnnl_table"
}
