/* An application in C: what the host makes of a backend that has the mandatory primitives and
 * nothing else. Every op is compared with `cpu`, and every refusal with what it should say. Prints
 * each failure; exit status 1 if there was one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/abi.h>

static const tn_host* host;
static const tn_tensor_api* tensors;
static const tn_device_api* devices;
static const tn_random_api* random_state;
static const tn_device cpu = {TN_DEVICE_CPU, 0};
static tn_device acme;
static int failures;

static void fail(const char* what, const char* found) {
  printf("%s: %s\n", what, found);
  ++failures;
}

/* For what must succeed. */
static void must(const char* what, tn_status* status) {
  if (status == NULL) return;
  fail(what, host->status_message(status));
  host->status_free(status);
}

/* For what must fail, with all of the words (separated by '|') in its message. */
static void refused(const char* what, tn_status* status, const char* words) {
  char text[256];
  if (status == NULL) {
    fail(what, "no error");
    return;
  }
  strcpy(text, words);
  for (const char* word = strtok(text, "|"); word != NULL; word = strtok(NULL, "|")) {
    if (strstr(host->status_message(status), word) == NULL)
      fail(what, host->status_message(status));
  }
  host->status_free(status);
}

static tn_value of_tensor(tn_tensor* t) {
  return (tn_value){.kind = t ? TN_KIND_TENSOR : TN_KIND_NONE, .as.tensor = t};
}
static tn_value of_int(int64_t i) { return (tn_value){.kind = TN_KIND_INT, .as.i = i}; }
static tn_value of_float(double f) { return (tn_value){.kind = TN_KIND_FLOAT, .as.f = f}; }
static tn_value of_bool(int b) { return (tn_value){.kind = TN_KIND_BOOL, .as.i = b}; }
static tn_value of_ints(const int64_t* ints, uint32_t n) {
  return (tn_value){.kind = TN_KIND_INTS, .count = n, .as.ints = ints};
}
static tn_value of_dtype(tn_dtype dtype) {
  return (tn_value){.kind = TN_KIND_DTYPE, .as.dtype = dtype};
}
static tn_value of_device(tn_device device) {
  return (tn_value){.kind = TN_KIND_DEVICE, .as.device = device};
}

/* [3, 4] of the dtype on the cpu: small numbers, some 0, some negative where there are such, a NaN
 * where asked. */
static tn_tensor* sample(tn_dtype dtype, int with_nan) {
  const int64_t sizes[] = {3, 4};
  double values[12];
  tn_tensor *wide = NULL, *narrow = NULL;
  for (int i = 0; i < 12; ++i)
    values[i] = ((i * 7 + 3) % 12 - (dtype == TN_UINT8 ? 0 : 5)) * (dtype <= TN_FLOAT64 ? 0.37 : 1);
  if (with_nan) values[6] = NAN;
  must("empty", tensors->empty(2, sizes, TN_FLOAT64, cpu, &wide));
  must("write", tensors->write(wide, values, sizeof values));
  must("to", tensors->to(wide, cpu, dtype, &narrow));
  host->tensor_release(wide);
  return narrow;
}

static tn_tensor* on(tn_tensor* t, tn_device device) {
  tn_tensor* moved = NULL;
  must("to", tensors->to(t, device, TN_DTYPE_NONE, &moved));
  return moved;
}

static void as_doubles(tn_tensor* t, double* values) {
  tn_tensor *here = on(t, cpu), *wide = NULL;
  must("to", tensors->to(here, cpu, TN_FLOAT64, &wide));
  must("read", tensors->read(wide, values, (uint64_t)t->numel * sizeof(double)));
  host->tensor_release(wide);
  host->tensor_release(here);
}

enum { MOST = 256 };

/* The results on both devices are the same up to `tolerance`. */
static void compare(const char* what, tn_tensor* a, tn_tensor* b, double tolerance) {
  double x[MOST], y[MOST];
  char text[100];
  if (a == NULL || b == NULL) return; /* said already */
  if (a->ndim != b->ndim || a->numel != b->numel || a->dtype != b->dtype ||
      b->device.type != acme.type || a->numel > MOST) {
    fail(what, "another shape, dtype or device than on cpu");
    return;
  }
  as_doubles(a, x);
  as_doubles(b, y);
  for (int64_t i = 0; i < a->numel; ++i) {
    if ((isnan(x[i]) && isnan(y[i])) || fabs(x[i] - y[i]) <= tolerance * (1 + fabs(x[i]))) continue;
    snprintf(text, sizeof text, "element %d is %.17g, on cpu %.17g", (int)i, y[i], x[i]);
    fail(what, text);
    return;
  }
}

/* Calls the op on both devices: tensors are moved, the device arguments are set. */
static void same(const char* name, const tn_value* args, uint32_t n, double tolerance) {
  const tn_op* op = NULL;
  tn_value results[2] = {{0}, {0}};
  must(name, host->find_op(name, &op));
  for (int on_acme = 0; on_acme < 2 && op != NULL; ++on_acme) {
    tn_value moved[8];
    memcpy(moved, args, n * sizeof *args);
    for (uint32_t i = 0; i < n; ++i) {
      if (args[i].kind == TN_KIND_TENSOR)
        moved[i].as.tensor = on(args[i].as.tensor, on_acme ? acme : cpu);
      if (args[i].kind == TN_KIND_DEVICE && on_acme) moved[i].as.device = acme;
    }
    random_state->seed(5);
    must(name, host->call(op, moved, n, &results[on_acme], 1));
    for (uint32_t i = 0; i < n; ++i) {
      if (args[i].kind == TN_KIND_TENSOR) host->tensor_release(moved[i].as.tensor);
    }
  }
  compare(name, results[0].as.tensor, results[1].as.tensor, tolerance);
  for (int i = 0; i < 2; ++i) host->value_release(&results[i]);
}
#define SAME(name, tolerance, ...)                                          \
  do {                                                                      \
    const tn_value same_args[] = {__VA_ARGS__};                             \
    same(name, same_args, sizeof same_args / sizeof *same_args, tolerance); \
  } while (0)

static void check_ops(void) {
  const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_INT32, TN_UINT8, TN_BOOL};
  const int64_t rows[] = {0}, turned[] = {4, 3}, sizes[] = {5, 7};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; ++i) {
    const int is_float = dtypes[i] <= TN_FLOAT64;
    tn_tensor* x = sample(dtypes[i], 0);
    tn_tensor* y = sample(dtypes[i], is_float);
    tn_tensor* f = sample(TN_FLOAT32, 0);
    SAME("add", 0, of_tensor(x), of_tensor(y));
    SAME("mul", 0, of_tensor(x), of_tensor(f));
    SAME("mul", 0, of_tensor(x), of_int(100));
    SAME("div", 0, of_tensor(x), of_float(3));
    SAME("maximum", 0, of_tensor(x), of_tensor(y));
    SAME("lt", 0, of_tensor(x), of_tensor(y));
    SAME("exp", 1e-6, of_tensor(x));
    SAME("gelu", 1e-6, of_tensor(f));
    SAME("sum", 1e-6, of_tensor(x), of_ints(rows, 1), of_bool(1));
    SAME("mean", 1e-6, of_tensor(x));
    SAME("amax", 0, of_tensor(y), of_ints(rows, 1));
    SAME("argmax", 0, of_tensor(y));
    SAME("nonzero", 0, of_tensor(x));
    SAME("t", 0, of_tensor(x));
    SAME("reshape", 0, of_tensor(x), of_ints(turned, 2));
    SAME("zeros_like", 0, of_tensor(x));
    if (is_float) SAME("softmax", 1e-6, of_tensor(x), of_int(0));
    host->tensor_release(x);
    host->tensor_release(y);
    host->tensor_release(f);
  }
  SAME("arange", 0, of_int(3), of_int(9), of_int(2), of_tensor(NULL), of_device(cpu));
  SAME("arange", 0, of_float(0.5), of_int(9), of_float(0.25), of_dtype(TN_FLOAT64), of_device(cpu));
  SAME("full", 0, of_ints(sizes, 2), of_float(2.5), of_dtype(TN_FLOAT32), of_device(cpu));
  SAME("rand", 0, of_ints(sizes, 2), of_dtype(TN_FLOAT32), of_device(cpu));
  SAME("randn", 1e-6, of_ints(sizes, 2), of_dtype(TN_FLOAT64), of_device(cpu));
}

static tn_tensor* ints_of(const int64_t* values, int64_t n) {
  tn_tensor* t = NULL;
  must("empty", tensors->empty(1, &n, TN_INT64, cpu, &t));
  must("write", tensors->write(t, values, (uint64_t)n * sizeof *values));
  return t;
}

/* Matrices with strides, the index ops and their gradients. */
static void check_indices_and_matrices(void) {
  const int64_t picked[] = {2, 0, 1, 0}, out_of_range[] = {1, 7};
  tn_tensor *x = sample(TN_FLOAT32, 0), *index = ints_of(picked, 4),
            *bad = ints_of(out_of_range, 2);
  tn_tensor *there = on(x, acme), *bad_there = on(bad, acme);
  const tn_op *t = NULL, *embedding = NULL;
  tn_value turned = {0}, arg = of_tensor(x), result = {0}, bad_args[2];
  must("find_op", host->find_op("t", &t));
  must("find_op", host->find_op("embedding", &embedding));
  must("t", host->call(t, &arg, 1, &turned, 1));
  SAME("matmul", 1e-6, of_tensor(x), turned);
  SAME("matmul", 1e-6, turned, of_tensor(x));
  SAME("embedding", 0, of_tensor(x), of_tensor(index));
  bad_args[0] = of_tensor(there);
  bad_args[1] = of_tensor(bad_there);
  refused("embedding", host->call(embedding, bad_args, 2, &result, 1), "index 7|size 3|acme:0");
  host->value_release(&turned);
  host->tensor_release(x);
  host->tensor_release(index);
  host->tensor_release(bad);
  host->tensor_release(there);
  host->tensor_release(bad_there);
}

/* What the backend leaves out. */
static void check_refusals(void) {
  const tn_amp_api* amp = host->get_interface("amp/1");
  const tn_capture_api* capture = host->get_interface("capture/1");
  const int64_t many = 1 << 20;
  tn_tensor *x = sample(TN_FLOAT32, 0), *there = on(x, acme), *half = NULL, *large = NULL;
  tn_memory_stats stats = {.size = sizeof stats};
  refused("float16", tensors->to(there, acme, TN_FLOAT16, &half), "float16|acme");
  refused("autocast", amp->enter(acme, TN_DTYPE_NONE, NULL), "acme");
  refused("capture", capture->begin(acme), "acme|graph");
  must("set_memory_limit", devices->set_memory_limit(acme, 1 << 20));
  refused("empty", tensors->empty(1, &many, TN_FLOAT32, acme, &large), "acme:0|4");
  must("set_memory_limit", devices->set_memory_limit(acme, 0));
  must("empty", tensors->empty(1, &many, TN_FLOAT32, acme, &large));
  must("memory_stats", devices->memory_stats(acme, &stats));
  if (stats.allocated < (uint64_t)many * 4)
    fail("memory_stats", "what was allocated is not counted");
  host->tensor_release(large);
  host->tensor_release(there);
  host->tensor_release(x);
}

int main(void) {
  const tn_plugin_api* plugins;
  host = tenon_host(TN_ABI_VERSION, NULL);
  if (host == NULL) return printf("libtenon.so has another ABI\n"), 1;
  tensors = host->get_interface("tensor/1");
  devices = host->get_interface("device/1");
  random_state = host->get_interface("random/1");
  plugins = host->get_interface("plugin/1");
  must("load_all", plugins->load_all());
  must("parse", devices->parse("acme", &acme));
  if (failures > 0) return 1;
  check_ops();
  check_indices_and_matrices();
  check_refusals();
  must("shutdown", plugins->shutdown());
  printf("%d failures\n", failures);
  return failures > 0;
}
