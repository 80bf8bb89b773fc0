// What a definition of an op or kernel must be, and how the registry finds them. No plugins:
// definitions are staged by hand.
#include "registry/registry.h"

#include <gtest/gtest.h>

#include "registry/arguments.h"
#include "call/call.h"
#include "memory/memory.h"
#include "staging_support.h"

namespace tenon {
namespace {

tn_kernel_def kernel_def(const char* op, const char* device = "cpu") {
  tn_kernel_def def{};
  def.size = sizeof(def);
  def.op = op;
  def.device = device;
  def.launch = [](void*, const tn_call*) -> Status { return nullptr; };
  return def;
}
Status no_infer(void*, const tn_value*, uint32_t, tn_meta*, uint32_t) { return nullptr; }
Status no_decomposition(void*, const tn_value*, uint32_t, tn_value*, uint32_t) { return nullptr; }
Status no_view(void*, const tn_value*, uint32_t, tn_view*) { return nullptr; }
Status no_vjp(void*, const tn_vjp_call*) { return nullptr; }

std::string stage_text(const tn_op_def& def) {
  StagedOps staged;
  const std::string text = text_of(stage_op(def, "t", &staged));
  EXPECT_EQ(staged.ops.empty(), !text.empty()) << text;
  return text;
}
std::string stage_text(const tn_kernel_def& def) {
  StagedOps staged;
  return text_of(stage_kernel(def, "t", &staged));
}

std::string find_error(std::string_view name) {
  const Op* op = nullptr;
  return text_of(registry().find(name, &op));
}

TEST(RegistryA, EmptyOneSaysSo) {
  if (!registry().all_ops().empty()) GTEST_SKIP() << "not the first test";
  EXPECT_EQ(find_error("add"),
            "unknown op 'add': no plugin with ops is loaded; call load_plugins() first");
}

TEST(StageOp, IsExactlyOneOf) {
  tn_op_def def = op_def("f(Tensor x) -> Tensor", "x");
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def),
            "op 't.f' has an expression and a decomposition; it must be one of them");
  EXPECT_EQ(stage_text(op_def("f(Tensor x) -> Tensor", nullptr)),
            "op 't.f' has no meaning: give an expression, a primitive, a view, a decomposition, or "
            "infer where kernels alone compute it");
  def = op_def("f(Tensor x) -> Tensor", "x");
  def.infer = no_infer;
  EXPECT_EQ(stage_text(def), "op 't.f': infer follows from an expression; leave it out");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.infer = no_infer;
  EXPECT_EQ(stage_text(def), "");
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def), "");
}

TEST(StageOp, ChecksItsSchemaAndFlags) {
  EXPECT_EQ(stage_text(op_def(nullptr, "x")), "op of plugin 't' has no schema");
  EXPECT_EQ(stage_text(op_def("ops.f(Tensor x) -> Tensor", "x")),
            "op 'ops.f': leave the prefix out; it is the plugin's id, 't'");
  tn_op_def def = op_def("f(Tensor x)", nullptr);
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def), "op 't.f' gives nothing and writes nothing: 'f(Tensor x)'");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.view = no_view;
  EXPECT_EQ(
      stage_text(def),
      "op 't.f': a view takes Tensor(a) first and returns Tensor(a), not 'f(Tensor x) -> Tensor'");
  def.schema = "f(Tensor(a) x) -> Tensor(a)";
  EXPECT_EQ(stage_text(def), "");
  def.flags = TN_OP_RANDOM;
  EXPECT_EQ(stage_text(def), "op 't.f': a view cannot be dynamic or random");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.decompose = no_decomposition;
  def.flags = TN_OP_INPLACE;
  EXPECT_EQ(stage_text(def), "op 't.f': TN_OP_INPLACE needs an expression");
  def.flags = TN_OP_LIBRARY;
  EXPECT_EQ(stage_text(def), "op 't.f': TN_OP_LIBRARY is for ops of kernels alone");
  def.flags = TN_OP_VJP_SKIPS_OUTPUTS;
  EXPECT_EQ(stage_text(def), "op 't.f': TN_OP_VJP_SKIPS_ARGS and _OUTPUTS are for ops with a vjp");
  def.flags = 1u << 20;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown flags 0x100000");
  def.flags = TN_OP_METHOD;
  def.schema = "f(int n) -> Tensor";
  EXPECT_EQ(stage_text(def),
            "op 't.f': TN_OP_METHOD needs a Tensor first, not 'f(int n) -> Tensor'");
  def = op_def("f(Tensor x) -> Tensor", "x");
  def.flags = TN_OP_FUSED;
  EXPECT_EQ(stage_text(def), "op 't.f': a fused op needs a decomposition");
  def.flags = 0;
  def.doc = "";
  EXPECT_EQ(stage_text(def), "op 't.f': its line of documentation has 0 bytes, expected 1 to 1000");
  def.doc = "two\nlines";
  EXPECT_EQ(stage_text(def),
            "op 't.f': its documentation is not one line of printable UTF-8: two\\x0alines");
  def.doc = "x itself.";
  def.group = "Conv";
  EXPECT_EQ(stage_text(def),
            "op 't.f': its group is 'Conv', expected lower case letters, digits and '_'");
  def.group = "conv2";
  EXPECT_EQ(stage_text(def), "");
  def.amp = 9;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown amp class 9");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.primitive = TN_N_PRIM_KERNELS;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown primitive 13");
  def = op_def("f(Tensor? x) -> Tensor", "x");
  EXPECT_NE(stage_text(def), "");
}

TEST(StageOp, FillsTheRecord) {
  StagedOps staged;
  tn_op_def def = op_def("scale(Tensor x, Tensor y, float k=2) -> Tensor", "x * y * exp(k)");
  def.flags = TN_OP_INPLACE;
  def.vjp = no_vjp;
  ASSERT_EQ(text_of(stage_op(def, "t", &staged)), "");
  ASSERT_EQ(staged.ops.size(), 2u);
  const Op& op = *staged.ops[0];
  EXPECT_EQ(op.name, "t.scale");
  EXPECT_EQ(op.amp, TN_AMP_FLOAT32);  // it has exp
  EXPECT_EQ(op.written, 0u);
  EXPECT_FALSE(op.inplace);
  ASSERT_EQ(op.defaults.size(), 3u);
  EXPECT_EQ(op.defaults[0].kind, static_cast<uint32_t>(TN_KIND_NONE));
  EXPECT_EQ(op.defaults[2].as.f, 2.0);
  const Op& inplace = *staged.ops[1];
  EXPECT_EQ(inplace.name, "t.scale_");
  EXPECT_EQ(schema_text(inplace.schema),
            "scale_(Tensor(a!) x, Tensor y, float k=2.0) -> Tensor(a!)");
  EXPECT_EQ(inplace.written, 1u);
  EXPECT_TRUE(inplace.inplace);
  EXPECT_EQ(inplace.amp, TN_AMP_NONE);
  EXPECT_EQ(inplace.flags & TN_OP_INPLACE, 0u);
  EXPECT_EQ(text_of(stage_op(def, "t", &staged)), "op 't.scale' is registered twice");
}

TEST(StageOp, APrimitiveUnderAnotherNameTakesWhatThePrimitiveDoes) {
  tn_op_def def = op_def("along(Tensor x, int dim, Tensor index) -> Tensor", nullptr);
  def.primitive = TN_PRIM_GATHER;
  EXPECT_EQ(stage_text(def), "");
  for (const char* schema :
       {"along(Tensor x, int dim) -> Tensor", "along(Tensor x, Tensor index, int dim) -> Tensor",
        "along(Tensor x, int dim, Tensor[] index) -> Tensor",
        "along(Tensor x, int dim, Tensor index) -> (Tensor, Tensor)"}) {
    def.schema = schema;
    EXPECT_EQ(stage_text(def),
              "op 't.along': '" + std::string(schema) +
                  "' does not take and give what primitive 'gather' does: 'gather(Tensor x, int "
                  "dim, Tensor index) -> Tensor'");
  }
  def.primitive = TN_PRIM_ELEMENTWISE;
  EXPECT_EQ(stage_text(def), "op 't.along': unknown primitive 1");
}

TEST(StageKernel, ChecksTheDefinition) {
  EXPECT_EQ(stage_text(kernel_def(nullptr)),
            "kernel names neither an op nor a primitive (primitive 0)");
  tn_kernel_def def = kernel_def("f");
  def.primitive = TN_PRIM_MATMUL;
  EXPECT_EQ(stage_text(def),
            "kernel for 'f' names primitive 'matmul' as well; it must be one of them");
  def = kernel_def(nullptr);
  def.primitive = TN_PRIM_SLICE;
  EXPECT_EQ(stage_text(def), "kernel: 'slice' is a view, which needs none");
  EXPECT_EQ(stage_text(kernel_def("f", nullptr)), "kernel for 'f' names no device");
  EXPECT_EQ(stage_text(kernel_def("f", "meta")),
            "kernel for 'f': meta has no memory and no kernels");
  def = kernel_def("f");
  def.launch = nullptr;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu' has no launch function");
  def = kernel_def("f");
  def.layout = 7;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': unknown layout 7");
  def = kernel_def(nullptr);
  def.layout = TN_LAYOUT_CONTIGUOUS;
  def.primitive = TN_PRIM_COPY;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'copy' on 'cpu': it is what layouts are changed with, so it must "
            "take any strides");
  def.primitive = TN_PRIM_ELEMENTWISE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'elementwise' on 'cpu': its operands are described by strides, "
            "so it must take any");
  def.layout = TN_LAYOUT_ROWS;
  def.primitive = TN_PRIM_REDUCE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': its operands are described by strides, so it "
            "must take any");
  def = kernel_def("f");
  def.prepare = [](void*, const tn_call*, void**) -> Status { return nullptr; };
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': prepare and destroy_prepared come together");
  def.destroy_prepared = [](void*, void*) {};
  def.traits = TN_KERNEL_SAME_BITS | TN_KERNEL_EPILOGUE;
  EXPECT_EQ(stage_text(def), "");
  def = kernel_def(nullptr);
  def.primitive = TN_PRIM_REDUCE;
  def.traits = TN_KERNEL_SAME_BITS;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_SAME_BITS is for kernels of ops: a "
            "primitive has no other bits");
  def.traits = TN_KERNEL_EPILOGUE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_EPILOGUE is for products and "
            "convolutions");
  def.traits = TN_KERNEL_STRIDED_OUTPUT;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_STRIDED_OUTPUT is for SCATTER with "
            "TN_LAYOUT_STRIDED");
  def.primitive = TN_PRIM_SCATTER;
  EXPECT_EQ(stage_text(def), "");
  def.layout = TN_LAYOUT_ROWS;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'scatter' on 'cpu': TN_KERNEL_STRIDED_OUTPUT is for SCATTER with "
            "TN_LAYOUT_STRIDED");
  def = kernel_def("f");
  def.dtypes = 1u << 30;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': unknown dtypes 0x40000000");
  EXPECT_NE(stage_text(kernel_def("f(Tensor")).find("the schema of a kernel"), std::string::npos);
}

TEST(StagePair, ChecksTheDefinition) {
  StagedOps staged;
  tn_kernel_pair_def def{};
  def.size = sizeof(def);
  const tn_kernel_def forward = kernel_def("f");
  def.forward = &forward;
  EXPECT_EQ(text_of(stage_pair(def, "t", &staged)),
            "kernel pair for 'f' on 'cpu' has no backward function");
  def.backward = forward.launch;
  def.n_private = 2;
  EXPECT_EQ(text_of(stage_pair(def, "t", &staged)),
            "kernel pair for 'f' on 'cpu' has 2 private outputs and no infer_private");
  def.infer_private = [](void*, const tn_call*, tn_meta*, uint32_t) -> Status { return nullptr; };
  def.saves_args = 5;
  ASSERT_EQ(text_of(stage_pair(def, "t", &staged)), "");
  EXPECT_TRUE(staged.kernels[0]->is_pair);
  EXPECT_EQ(staged.kernels[0]->n_private, 2u);
  EXPECT_EQ(staged.kernels[0]->saves_args, 5u);
  EXPECT_EQ(staged.kernels[0]->def.instruction_set, 1u);
}

TEST(Registry, FindsByNameAndNamesTheNearest) {
  ASSERT_EQ(bring("ops", {op_def("linear(Tensor x) -> Tensor", "x"),
                          op_def("gelu(Tensor x) -> Tensor", "x")}),
            "");
  ASSERT_EQ(bring("pack", {op_def("squash(Tensor x) -> Tensor", "x")}), "");
  EXPECT_EQ(Registry::full_name("linear"), "ops.linear");
  EXPECT_EQ(find_op("linear"), find_op("ops.linear"));
  ASSERT_NE(find_op("linear"), nullptr);
  EXPECT_NE(find_op("pack.squash"), nullptr);
  EXPECT_EQ(find_error("lienar"), "unknown op 'lienar'; did you mean 'linear'?");
  EXPECT_EQ(find_error("squash"), "unknown op 'squash'; did you mean 'pack.squash'?");
  EXPECT_EQ(find_error("pack.sqush"), "unknown op 'pack.sqush'; did you mean 'pack.squash'?");
  EXPECT_EQ(find_error("xyzzy"), "unknown op 'xyzzy'");
}

TEST(Registry, RefusesASecondOpOfOneName) {
  ASSERT_EQ(bring("twin", {op_def("f(Tensor x) -> Tensor", "x")}), "");
  EXPECT_EQ(
      bring("twin", {op_def("g(Tensor x) -> Tensor", "x"), op_def("f(Tensor x) -> Tensor", "x")}),
      "op 'twin.f' is there already, from plugin 'twin'");
  EXPECT_EQ(find_op("twin.g"), nullptr) << "nothing of it stays";
}

TEST(Registry, KernelsWaitForTheirOp) {
  ASSERT_EQ(bring("early", {}, {kernel_def("tardy.f")}), "");
  ASSERT_EQ(registry().waiting_kernels().size(), 1u);
  EXPECT_EQ(registry().waiting_kernels()[0].reason, "op 'tardy.f' is not there");
  ASSERT_EQ(bring("tardy", {op_def("f(Tensor x) -> Tensor", "x")}), "");
  EXPECT_TRUE(registry().waiting_kernels().empty());
  ASSERT_NE(find_op("tardy.f")->kernels.find(TN_DEVICE_CPU), nullptr);
}

TEST(Registry, AKernelWithAnotherSchemaWaitsAndSaysWhy) {
  ASSERT_EQ(bring("stranger", {}, {kernel_def("moved.f(Tensor x, int n) -> Tensor")}), "");
  ASSERT_EQ(bring("moved", {op_def("f(Tensor x, float n=1) -> Tensor", "x * n")}), "");
  ASSERT_EQ(registry().waiting_kernels().size(), 1u);
  EXPECT_EQ(registry().waiting_kernels()[0].reason,
            "it states 'moved.f(Tensor x, int n) -> Tensor', the op is 'f(Tensor x, float n=1.0) "
            "-> Tensor'");
  EXPECT_EQ(find_op("moved.f")->kernels.find(TN_DEVICE_CPU), nullptr);
}

TEST(Registry, AKernelThatStatesAnotherDefaultIsRefused) {
  ASSERT_EQ(bring("fixed", {op_def("f(Tensor x, float k=1, int n=2) -> Tensor", "x * k")}), "");
  EXPECT_EQ(bring("wrong", {}, {kernel_def("fixed.f(Tensor x, float k=2) -> Tensor")}),
            "kernel for 'fixed.f(Tensor x, float k=2) -> Tensor' on 'cpu': it states "
            "'fixed.f(Tensor x, float k=2.0) -> Tensor', the "
            "op is 'f(Tensor x, float k=1.0, int n=2) -> Tensor'");
  EXPECT_NE(
      bring("wrong_last", {}, {kernel_def("fixed.f(Tensor x, float k=1, int n=1) -> Tensor")}), "");
  // The op demands what the kernel calls optional.
  ASSERT_EQ(bring("strict", {op_def("f(Tensor x, float k) -> Tensor", "x * k")}), "");
  EXPECT_NE(bring("lax", {}, {kernel_def("strict.f(Tensor x, float k=1) -> Tensor")}), "");
  // The same, and left out.
  EXPECT_EQ(bring("right", {}, {kernel_def("fixed.f(Tensor x, float k=1, int n=2) -> Tensor")}),
            "");
  EXPECT_EQ(bring("without", {}, {kernel_def("fixed.f(Tensor x, float k) -> Tensor")}), "");
}

TEST(Registry, AKernelMayKnowAnOlderSchema) {
  ASSERT_EQ(bring("grown", {op_def("f(Tensor x, float k=1) -> Tensor", "x * k")}), "");
  ASSERT_EQ(bring("older", {}, {kernel_def("grown.f(Tensor x) -> Tensor")}), "");
  const KernelList* list = find_op("grown.f")->kernels.find(TN_DEVICE_CPU);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->front()->schema->arguments.size(), 1u);
}

TEST(Registry, AKernelMayTakeTheListAloneWhereAWordMayStandForIt) {
  ASSERT_EQ(bring("word", {op_def("f(Tensor x) -> Tensor", "x")}), "");
  tn_op_def def = op_def("g(Tensor x, int[]|str n=[0]) -> Tensor", nullptr);
  def.decompose = no_decomposition;
  EXPECT_EQ(bring("words", {def}, {kernel_def("g(Tensor x, int[] n=[0]) -> Tensor")}), "");
  EXPECT_TRUE(find_op("words.g")->kernels.any());
}

TEST(Registry, ADynamicPrimitiveTakesNoKernelsOfAnOp) {
  tn_op_def def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.primitive = TN_PRIM_NONZERO;
  EXPECT_EQ(bring("sparse", {def}, {kernel_def("f")}),
            "kernel for 'f' on 'cpu': op 'sparse.f' is the primitive 'nonzero', whose sizes depend "
            "on values: bring a kernel "
            "of the primitive");
}

TEST(Registry, ABareNameIsThePluginsOwnOpFirst) {
  ASSERT_EQ(bring("own", {op_def("linear(Tensor x) -> Tensor", "x")}, {kernel_def("linear")}), "");
  EXPECT_NE(find_op("own.linear")->kernels.find(TN_DEVICE_CPU), nullptr);
}

TEST(Registry, OrdersKernelsByPriorityAndKeepsOldLists) {
  ASSERT_EQ(bring("p", {op_def("f(Tensor x) -> Tensor", "x")}), "");
  tn_kernel_def low = kernel_def("p.f"), high = kernel_def("p.f");
  low.priority = -1;
  high.priority = 3;
  const auto order = [] {
    std::string text;
    for (const Kernel* kernel : *find_op("p.f")->kernels.find(TN_DEVICE_CPU)) {
      text += kernel->plugin + " ";
    }
    return text;
  };
  ASSERT_EQ(bring("low", {}, {low}), "");
  const KernelList* old = find_op("p.f")->kernels.find(TN_DEVICE_CPU);
  ASSERT_EQ(bring("usual", {}, {kernel_def("p.f")}), "");
  ASSERT_EQ(bring("high", {}, {high}), "");
  ASSERT_EQ(bring("second", {}, {kernel_def("p.f")}), "");
  EXPECT_EQ(order(), "high usual second low ");
  EXPECT_EQ(old->size(), 1u) << "a reader's list never changes";
}

// An op of kernels, its inference counted, and what its kernels saw of it.
struct Inferred {
  int infers = 0, launches = 0;
  std::vector<int64_t> supports_saw, launch_saw;
};
std::vector<int64_t> sizes_of(const tn_call* call) {
  if (call->metas == nullptr) return {-1};
  return {call->metas[0].sizes, call->metas[0].sizes + call->metas[0].ndim};
}

TEST(Registry, InferenceRunsOnceBeforeTheKernelsAreAsked) {
  static Inferred seen;
  tn_op_def op = op_def("twice(Tensor x) -> Tensor", nullptr);
  op.infer = [](void*, const tn_value* args, uint32_t, tn_meta* outputs, uint32_t) -> Status {
    ++seen.infers;
    const tn_tensor* x = args[0].as.tensor;
    if (x->ndim != 1) return invalid("twice: x has {} dimensions, expected 1", x->ndim);
    outputs[0] = {1, x->dtype, x->device, {2 * x->sizes[0]}};
    return nullptr;
  };
  tn_kernel_def refuses = kernel_def("once.twice"), takes = kernel_def("once.twice");
  refuses.priority = 1;
  refuses.supports = [](void*, const tn_call* call, char*, size_t) -> int32_t {
    seen.supports_saw = sizes_of(call);
    return 0;
  };
  takes.supports = [](void*, const tn_call* call, char*, size_t) -> int32_t {
    return sizes_of(call) == seen.supports_saw ? 1 : 0;
  };
  takes.launch = [](void*, const tn_call* call) -> Status {
    ++seen.launches;
    seen.launch_saw = sizes_of(call);
    return nullptr;
  };
  ASSERT_EQ(bring("once", {op}, {refuses, takes}), "");
  const auto run = [](std::span<const int64_t> sizes) {
    Tensor* x;
    free_status(empty_tensor(sizes, TN_FLOAT32, kCpu, &x));
    const TensorRef hold(x);
    const tn_value arg = tensor_value(x);
    tn_value result{};
    const std::string failed = text_of(call(find_op("once.twice"), &arg, 1, &result, 1));
    if (failed.empty()) {
      EXPECT_EQ(result.as.tensor->sizes[0], 2 * sizes[0]);
    }
    release_value(&result);
    return failed;
  };
  EXPECT_EQ(run(std::vector<int64_t>{3}), "");
  EXPECT_EQ(seen.infers, 1);
  EXPECT_EQ(seen.launches, 1);
  EXPECT_EQ(seen.supports_saw, std::vector<int64_t>{6});
  EXPECT_EQ(seen.launch_saw, std::vector<int64_t>{6});
  EXPECT_EQ(run(std::vector<int64_t>{3, 2}), "twice: x has 2 dimensions, expected 1");
  EXPECT_EQ(seen.infers, 2);
  EXPECT_EQ(seen.launches, 1) << "an op that refuses a call asks no kernel";
}

// Another kernel would do, and its values might have other bits.
TEST(Registry, AKernelThatHasNoMemoryToAnswerFailsTheCall) {
  tn_kernel_def kernel = kernel_def("forgetful.any");
  kernel.supports = [](void*, const tn_call*, char*, size_t) -> int32_t { return -1; };
  const tn_op_def op = op_def("any(Tensor x) -> Tensor", "x + 1");
  ASSERT_EQ(bring("forgetful", {op}, {kernel}), "");
  Tensor* x;
  free_status(empty_tensor({}, TN_FLOAT32, kCpu, &x));
  const TensorRef hold(x);
  const tn_value arg = tensor_value(x);
  tn_value result{};
  const StatusHolder failed(call(find_op("forgetful.any"), &arg, 1, &result, 1));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed.get()->code, TN_OUT_OF_MEMORY);
}

// Sizes that no tensor has are refused before a kernel computes with them.
TEST(Registry, WhatInferenceGivesIsLookedAtBeforeTheKernelsAreAsked) {
  static tn_meta given;
  static int asked;
  asked = 0;
  tn_op_def op = op_def("any(Tensor x) -> Tensor", nullptr);
  op.infer = [](void*, const tn_value*, uint32_t, tn_meta* outputs, uint32_t) -> Status {
    outputs[0] = given;
    return nullptr;
  };
  tn_kernel_def kernel = kernel_def("careless.any");
  kernel.supports = [](void*, const tn_call*, char*, size_t) -> int32_t {
    ++asked;
    return 1;
  };
  ASSERT_EQ(bring("careless", {op}, {kernel}), "");
  const auto run = [](const tn_meta& meta) {
    given = meta;
    Tensor* x;
    free_status(empty_tensor({}, TN_FLOAT32, kCpu, &x));
    const TensorRef hold(x);
    const tn_value arg = tensor_value(x);
    tn_value result{};
    const std::string failed = text_of(call(find_op("careless.any"), &arg, 1, &result, 1));
    release_value(&result);
    return failed;
  };
  constexpr int64_t kHuge = int64_t(1) << 31;
  EXPECT_EQ(run({-1, TN_FLOAT32, kCpu, {}}), "any: -1 dimensions, expected at most 16");
  EXPECT_EQ(run({TN_MAX_RANK + 1, TN_FLOAT32, kCpu, {}}),
            fmt::format("any: {} dimensions, expected at most {}", TN_MAX_RANK + 1, TN_MAX_RANK));
  EXPECT_EQ(run({1, TN_FLOAT32, kCpu, {-2}}), "any: negative size in [-2]");
  EXPECT_EQ(run({1, 77, kCpu, {2}}), "any: dtype 77 is reserved or unknown");
  EXPECT_EQ(run({2, TN_FLOAT32, kCpu, {kHuge, kHuge}}),
            "any: the shape [2147483648, 2147483648] (float32) overflows: more bytes than 63 bits "
            "hold");
  EXPECT_EQ(run({1, TN_FLOAT32, {TN_DEVICE_META, 0}, {2}}),
            "any: infer of plugin 'careless' gives meta for a call on cpu");
  EXPECT_EQ(asked, 0);
}

TEST(Registry, GivesAVjpToAnOpThatHasNone) {
  tn_op_def made = op_def("f(Tensor x) -> Tensor", nullptr);
  made.decompose = no_decomposition;
  ASSERT_EQ(bring("v", {made, op_def("g(Tensor x) -> Tensor", "x")}), "");
  StagedOps derived;
  ASSERT_EQ(text_of(stage_vjp("v.g", no_vjp, nullptr, "helper", &derived)), "");
  EXPECT_EQ(
      text_of(registry().check(derived)),
      "vjp for 'v.g', of another plugin: its gradient follows from what it is, a formula, view "
      "or primitive");
  StagedOps first, second, absent;
  int self = 0;
  ASSERT_EQ(text_of(stage_vjp("v.f", no_vjp, &self, "helper", &first)), "");
  ASSERT_EQ(text_of(registry().check(first)), "");
  registry().commit(std::move(first));
  EXPECT_EQ(find_op("v.f")->vjp, &no_vjp);
  EXPECT_EQ(find_op("v.f")->vjp_self, &self);
  EXPECT_EQ(find_op("v.f")->vjp_plugin, "helper");
  ASSERT_EQ(text_of(stage_vjp("v.f", no_vjp, nullptr, "late", &second)), "");
  EXPECT_EQ(text_of(registry().check(second)),
            "vjp for 'v.f': the op has one, from plugin 'helper'");
  ASSERT_EQ(text_of(stage_vjp("v.h", no_vjp, nullptr, "late", &absent)), "");
  EXPECT_EQ(text_of(registry().check(absent)),
            "vjp for 'v.h': there is no such op; load its pack first");
  EXPECT_EQ(text_of(stage_vjp("v.g", nullptr, nullptr, "late", &absent)),
            "vjp for 'v.g' has no function");
}

}  // namespace
}  // namespace tenon
