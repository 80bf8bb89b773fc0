/* An application in C whose function is recorded, compiled by the plugin `fuser`, and replayed.
 *   check [WORDS]  WORDS: what the function says of itself must hold them; else that it was fused
 * Prints each failure; exit status 1 if there was one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/abi.h>

enum { kNumbers = 8 };

static const tn_host* host;
static const tn_tensor_api* tensors;
static const tn_op *mul, *add, *neg;
static int failures;

static void must(const char* what, tn_status* status) {
  if (status == NULL) return;
  printf("%s: %s\n", what, host->status_message(status));
  host->status_free(status);
  ++failures;
}

static tn_tensor* call(const tn_op* op, tn_tensor* a, tn_tensor* b) {
  const tn_value args[] = {{.kind = TN_KIND_TENSOR, .as.tensor = a},
                           {.kind = TN_KIND_TENSOR, .as.tensor = b}};
  tn_value result = {0};
  must("call", host->call(op, args, b != NULL ? 2 : 1, &result, 1));
  return result.as.tensor;
}

static int is(const char* mode) {
  const char* asked = getenv("FUSER_MODE");
  return asked != NULL && strcmp(asked, mode) == 0;
}

/* a * b + c, and in some modes what stands in the way of one call. */
static tn_status* function(void* self, tn_tensor* const* args, uint32_t n_args, tn_tensor** results,
                           uint32_t n_results) {
  tn_tensor* product = call(mul, args[0], args[1]);
  (void)self, (void)n_args, (void)n_results;
  if (is("between")) {
    results[1] = call(neg, product, NULL);
    results[0] = call(add, product, results[1]);
  } else {
    results[0] = call(add, product, args[2]);
    results[1] = is("loses") ? product : call(neg, args[0], NULL);
  }
  if (results[1] != product) host->tensor_release(product);
  return NULL;
}

static tn_tensor* numbers(float from) {
  float values[kNumbers];
  const int64_t sizes[] = {kNumbers};
  tn_tensor* t = NULL;
  for (int i = 0; i < kNumbers; ++i) values[i] = from + 0.37f * (float)i;
  must("empty", tensors->empty(1, sizes, TN_FLOAT32, (tn_device){TN_DEVICE_CPU, 0}, &t));
  must("write", tensors->write(t, values, sizeof values));
  return t;
}

static void compare(tn_tensor* found, tn_tensor* expected) {
  float a[kNumbers], b[kNumbers];
  must("read", tensors->read(found, a, sizeof a));
  must("read", tensors->read(expected, b, sizeof b));
  if (memcmp(a, b, sizeof a) != 0) ++failures, printf("other bits than eagerly\n");
}

static void run(const tn_capture_api* capture, uint32_t flags, const char* words) {
  tn_compiled* compiled = NULL;
  const char* text = NULL;
  must("compile", capture->compile_with(function, NULL, NULL, flags, &compiled));
  if (compiled == NULL) return;
  for (int i = 0; i < 4; ++i) {
    tn_tensor* args[] = {numbers((float)i), numbers(2), numbers(-1.1f)};
    tn_tensor *found[2] = {0}, *expected[2] = {0};
    must("call", capture->call(compiled, args, 3, found, 2));
    must("function", function(NULL, args, 3, expected, 2));
    for (int k = 0; k < 2 && failures == 0; ++k) compare(found[k], expected[k]);
    for (int k = 0; k < 2; ++k) {
      host->tensor_release(found[k]);
      host->tensor_release(expected[k]);
    }
    for (int k = 0; k < 3; ++k) host->tensor_release(args[k]);
  }
  must("describe", capture->describe(compiled, &text));
  if (strstr(text, words) == NULL) ++failures, printf("'%s' was expected in\n%s", words, text);
  host->text_free(text);
  capture->release(compiled);
}

int main(int argc, char** argv) {
  const tn_plugin_api* plugins;
  const tn_capture_api* capture;
  host = tenon_host(TN_ABI_VERSION, NULL);
  if (host == NULL) return printf("libtenon.so has another ABI\n"), 1;
  tensors = host->get_interface("tensor/1");
  capture = host->get_interface("capture/1");
  plugins = host->get_interface("plugin/1");
  must("load_all", plugins->load_all());
  must("find_op", host->find_op("mul", &mul));
  must("find_op", host->find_op("add", &add));
  must("find_op", host->find_op("neg", &neg));
  if (failures > 0) return 1;
  {
    tn_compiled* none = NULL;
    tn_status* refused = capture->compile_with(function, NULL, NULL, 6, &none);
    if (refused == NULL || strcmp(host->status_message(refused), "compile: unknown flags 0x6") != 0)
      ++failures, printf("flags that there are none of are taken\n");
    host->status_free(refused);
  }
  run(capture, 0, argc > 1 ? argv[1] : "multiply_add");
  if (is("rounds")) {
    run(capture, TN_COMPILE_INEXACT, "multiply_add");
    run(capture, TN_COMPILE_INEXACT,
        ", but for 1 steps that are not deterministic and 1 that round otherwise\n");
  }
  must("shutdown", plugins->shutdown());
  printf("%d failures\n", failures);
  return failures > 0;
}
