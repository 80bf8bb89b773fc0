/* A compiler of recorded functions: a product and the sum that reads it become one call of a kernel
 * of its own, on the cpu, in float32. FUSER_MODE makes it wrong in one way or another, for the host
 * to refuse. */
#include <stdlib.h>
#include <string.h>

#include <tenon/abi.h>

static const tn_host* host;

static int is(const char* mode) {
  const char* asked = getenv("FUSER_MODE");
  return asked != NULL && strcmp(asked, mode) == 0;
}

/* out = a * b + c, rounded after each: the bits of the two calls. */
static tn_status* multiply_add(void* self, const tn_call* call) {
  const tn_tensor* out = call->outputs[0];
  const float *a = call->args[0].as.tensor->data, *b = call->args[1].as.tensor->data,
              *c = call->args[2].as.tensor->data;
  (void)self;
  if (is("fails")) return host->status(TN_INTERNAL, "multiply_add: not today", NULL);
  for (int64_t i = 0; i < out->numel; ++i) {
    const float product = a[i] * b[i];
    ((float*)out->data)[i] = product + c[i];
  }
  return NULL;
}

static void count_down(void* self) { --*(int*)self; }
TN_EXPORT int fuser_kernels;
int fuser_kernels; /* that functions hold */

/* The loop of a call of that formula with two dense inputs in float32; NULL: it is none. */
static const tn_loop* binary_loop(const tn_recorded_call* call, const char* name) {
  const tn_loop* loop;
  if (call->call == NULL || strcmp(call->name, name) != 0 || call->flags != 0 ||
      call->call->n_args != 1 || call->call->args[0].kind != TN_KIND_LOOP)
    return NULL;
  loop = call->call->args[0].as.loop;
  if (loop->ndim != 1 || loop->program->n_outputs != 1 || loop->program->n_inputs != 2 ||
      loop->program->n_params > 1)
    return NULL;
  for (int i = 0; i < 3; ++i) {
    if (loop->operands[i].dtype != TN_FLOAT32 || loop->operands[i].strides[0] != 1) return NULL;
  }
  return loop;
}

static int same_place(const tn_operand* a, const tn_operand* b) {
  return a->storage == b->storage && a->byte_offset == b->byte_offset;
}

static tn_tensor tensor_of(const tn_operand* operand, const tn_loop* loop, tn_device device) {
  return (tn_tensor){.sizes = loop->sizes,
                     .strides = operand->strides,
                     .numel = loop->numel,
                     .ndim = 1,
                     .dtype = TN_FLOAT32,
                     .device = device,
                     .flags = TN_TENSOR_CONTIGUOUS,
                     .storage = operand->storage,
                     .byte_offset = operand->byte_offset};
}

/* `sum` reads what `product` gives, and something else. */
static tn_status* fuse(const tn_recorded_list* list, uint32_t product, uint32_t sum) {
  const tn_loop *first = binary_loop(&list->calls[product], "mul"),
                *second = binary_loop(&list->calls[sum], "add");
  const tn_device device = list->calls[sum].call->device;
  const int other = same_place(&second->operands[1], &first->operands[0]) ? 2 : 1;
  const uint32_t calls[] = {is("backwards") ? sum : product,
                            is("beyond") ? 9 : (is("backwards") ? product : sum)};
  tn_tensor inputs[] = {tensor_of(&first->operands[1], first, device),
                        tensor_of(&first->operands[2], first, device),
                        tensor_of(&second->operands[other], second, device)};
  tn_value args[3];
  tn_tensor* output = list->calls[is("elsewhere") ? product : sum].call->outputs[0];
  for (int i = 0; i < 3; ++i) args[i] = (tn_value){.kind = TN_KIND_TENSOR, .as.tensor = &inputs[i]};
  if (is("nothing")) args[1].as.tensor = NULL;
  if (is("over")) output = &inputs[0];
  if (is("stranger")) inputs[1].storage = (tn_storage*)&host;
  const tn_replacement replacement = {.size = is("small") ? 8 : sizeof replacement,
                                      .traits = is("rounds") ? 0 : TN_KERNEL_SAME_BITS,
                                      .name = "multiply_add",
                                      .calls = calls,
                                      .n_calls = is("callless") ? 0 : 2,
                                      .args = is("listless") ? NULL : args,
                                      .n_args = 3,
                                      .outputs = &output,
                                      .n_outputs = 1,
                                      .launch = is("launchless") ? NULL : multiply_add,
                                      .self = &fuser_kernels,
                                      .destroy = count_down};
  tn_status* refused = list->replace(list, &replacement);
  if (refused != NULL) return refused;
  ++fuser_kernels;
  return is("twice") ? list->replace(list, &replacement) : NULL;
}

/* What a compiler may do: call a compiled function of its own. */
static tn_status* negate(void* self, tn_tensor* const* args, uint32_t n_args, tn_tensor** results,
                         uint32_t n_results) {
  const tn_op* neg = NULL;
  const tn_value arg = {.kind = TN_KIND_TENSOR, .as.tensor = args[0]};
  tn_value result = {0};
  tn_status* failed = host->find_op("neg", &neg);
  (void)self, (void)n_args, (void)n_results;
  if (failed == NULL) failed = host->call(neg, &arg, 1, &result, 1);
  results[0] = result.as.tensor;
  return failed;
}

static tn_status* call_compiled(void) {
  const tn_capture_api* capture = host->get_interface("capture/1");
  const tn_tensor_api* tensors = host->get_interface("tensor/1");
  static const int64_t sizes[] = {4};
  tn_compiled* compiled = NULL;
  tn_tensor *arg = NULL, *result = NULL;
  tn_status* failed = tensors->empty(1, sizes, TN_FLOAT32, (tn_device){TN_DEVICE_CPU, 0}, &arg);
  if (failed == NULL) failed = capture->compile(negate, NULL, NULL, &compiled);
  for (int i = 0; i < 3 && failed == NULL; ++i) {
    failed = capture->call(compiled, &arg, 1, &result, 1);
    host->tensor_release(result);
  }
  if (compiled != NULL) capture->release(compiled);
  host->tensor_release(arg);
  return failed;
}

static tn_status* compile(void* self, const tn_recorded_list* list) {
  static int is_inside;
  (void)self;
  if (is("nested") && !is_inside) {
    tn_status* failed;
    is_inside = 1;
    failed = call_compiled();
    is_inside = 0;
    if (failed != NULL) return failed;
  }
  for (uint32_t i = 0; i < list->n_calls; ++i) {
    const tn_loop* first = binary_loop(&list->calls[i], "mul");
    for (uint32_t k = i + 1; first != NULL && k < list->n_calls; ++k) {
      const tn_loop* second = binary_loop(&list->calls[k], "add");
      if (second == NULL || second->numel != first->numel) continue;
      if (!same_place(&second->operands[1], &first->operands[0]) &&
          !same_place(&second->operands[2], &first->operands[0]))
        continue;
      tn_status* refused = fuse(list, i, k);
      if (refused != NULL) return refused;
      break;
    }
  }
  return NULL;
}

const tn_manifest tenon_manifest = {sizeof(tn_manifest), TN_ABI_VERSION, TN_ABI_VERSION, "fuser"};

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* given, tn_registrar* registrar, void** self) {
  const tn_compiler_def def = {.size = sizeof def,
                               .name = is("unnamed") ? "" : "fuser",
                               .device = is("nowhere") ? NULL : "cpu",
                               .compile = is("idle") ? NULL : compile};
  tn_status* refused;
  host = given;
  *self = NULL;
  refused = registrar->compiler(registrar, &def);
  return refused == NULL && is("again") ? registrar->compiler(registrar, &def) : refused;
}
