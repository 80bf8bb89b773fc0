// How the registry keeps ops and kernels and finds them. No plugins: definitions are staged by hand
// (stage_ops_test.cpp has what these must be).
#include "registry/registry.h"

#include <gtest/gtest.h>

#include "registry/arguments.h"
#include "call/call.h"
#include "memory/memory.h"
#include "staging_support.h"

namespace tenon {
namespace {

Status no_decomposition(void*, const tn_value*, uint32_t, tn_value*, uint32_t) { return nullptr; }
Status no_vjp(void*, const tn_vjp_call*) { return nullptr; }

std::string find_error(std::string_view name) {
  const Op* op = nullptr;
  return text_of(registry().find(name, &op));
}

TEST(RegistryA, EmptyOneSaysSo) {
  if (!registry().all_ops().empty()) GTEST_SKIP() << "not the first test";
  EXPECT_EQ(find_error("add"),
            "unknown op 'add': no plugin with ops is loaded; call load_plugins() first");
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
  EXPECT_EQ(run(std::vector<int64_t>{3, 2}), "once.twice: x has 2 dimensions, expected 1");
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
  EXPECT_EQ(run({-1, TN_FLOAT32, kCpu, {}}), "careless.any: -1 dimensions, expected at most 16");
  EXPECT_EQ(run({TN_MAX_RANK + 1, TN_FLOAT32, kCpu, {}}),
            fmt::format("careless.any: {} dimensions, expected at most {}", TN_MAX_RANK + 1,
                        TN_MAX_RANK));
  EXPECT_EQ(run({1, TN_FLOAT32, kCpu, {-2}}), "careless.any: negative size in [-2]");
  EXPECT_EQ(run({1, 77, kCpu, {2}}), "careless.any: dtype 77 is reserved or unknown");
  EXPECT_EQ(run({2, TN_FLOAT32, kCpu, {kHuge, kHuge}}),
            "careless.any: the shape [2147483648, 2147483648] (float32) overflows: more bytes than "
            "63 bits "
            "hold");
  EXPECT_EQ(run({1, TN_FLOAT32, {TN_DEVICE_META, 0}, {2}}),
            "careless.any: infer of plugin 'careless' gives meta for a call on cpu");
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
            "vjp for 'v.h': there is no such op; load its pack first: a plugin says so by NEEDS v "
            "of tenon_add_plugin, or by \"needs\" in its manifest file");
  EXPECT_EQ(text_of(stage_vjp("v.g", nullptr, nullptr, "late", &absent)),
            "vjp for 'v.g' has no function");
}

}  // namespace
}  // namespace tenon
