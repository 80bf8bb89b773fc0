// What compiled functions ask of kernels: a product that makes a plan once for calls that are
// repeated (`prepare`). And what they will ask, with the test in the host's place: that it runs a
// program over its output (`epilogue`).
#include <cstring>
#include <memory>
#include <vector>

#include "expression_support.h"

#include "call/call.h"
#include "capture/compiled.h"
#include "launch/launch.h"
#include "memory/memory.h"
#include "plugin/stage_ops.h"
#include "registry/arguments.h"

namespace tenon {
namespace {

// The backend's part: y [n, m] = x [n, k] times w [k, m], float32, row-major.
struct Plan {
  int64_t n, k, m;
  int uses = 0;
};
int plans_made = 0, plans_alive = 0;

Plan plan_of(const tn_call* call) {
  const tn_tensor &x = *call->args[0].as.tensor, &w = *call->args[1].as.tensor;
  return {x.sizes[0], x.sizes[1], w.sizes[1]};
}

tn_status* prepare(void*, const tn_call* call, void** prepared) {
  EXPECT_EQ(call->outputs, nullptr);
  EXPECT_NE(call->metas, nullptr);
  ++plans_made, ++plans_alive;
  *prepared = new Plan(plan_of(call));
  return nullptr;
}
void destroy_prepared(void*, void* prepared) {
  --plans_alive;
  delete static_cast<Plan*>(prepared);
}

float with_epilogue(const tn_loop& loop, float value, int64_t row, int64_t column) {
  const tn_program& program = *loop.program;
  std::vector<Cell> inputs{Cell(value)}, params;
  for (uint32_t i = 1; i < program.n_inputs; ++i) {
    const tn_operand& operand = loop.operands[program.n_outputs + i];
    const int64_t at = row * operand.strides[0] + column * operand.strides[1];
    const char* memory = static_cast<const char*>(operand.data) + operand.byte_offset;
    inputs.push_back(Cell(reinterpret_cast<const float*>(memory)[at]));
  }
  for (uint32_t i = 0; i < program.n_params; ++i) params.push_back(Cell(loop.params[i].f));
  CompiledProgram compiled{};
  compiled.program = program;
  compiled.output_dtypes = {TN_FLOAT32};
  compiled.params_are_float.assign(program.n_params, 1);
  const std::vector<tn_dtype> dtypes(inputs.size(), TN_FLOAT32);
  return static_cast<float>(run_program(compiled, dtypes, inputs, params)[0].f);
}

tn_status* launch_product(void*, const tn_call* call) {
  Plan own = plan_of(call);
  Plan& plan = call->prepared != nullptr ? *static_cast<Plan*>(call->prepared) : own;
  ++plan.uses;
  const auto* x = static_cast<const float*>(call->args[0].as.tensor->data);
  const auto* w = static_cast<const float*>(call->args[1].as.tensor->data);
  auto* y = static_cast<float*>(call->outputs[0]->data);
  for (int64_t i = 0; i < plan.n; ++i) {
    for (int64_t j = 0; j < plan.m; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < plan.k; ++k) sum += x[i * plan.k + k] * w[k * plan.m + j];
      y[i * plan.m + j] =
          call->epilogue == nullptr ? sum : with_epilogue(*call->epilogue, sum, i, j);
    }
  }
  return nullptr;
}

tn_status* infer_product(void*, const tn_value* args, uint32_t, tn_meta* metas, uint32_t) {
  metas[0] = {};
  metas[0].ndim = 2;
  metas[0].dtype = TN_FLOAT32;
  metas[0].sizes[0] = args[0].as.tensor->sizes[0];
  metas[0].sizes[1] = args[1].as.tensor->sizes[1];
  return nullptr;
}

struct Prepared : ::testing::Test {
  static void SetUpTestSuite() {
    StagedOps staged;
    tn_op_def op{};
    op.size = sizeof op;
    op.schema = "product(Tensor x, Tensor w) -> Tensor";
    op.infer = infer_product;
    ASSERT_EQ(stage_op(op, "fake", &staged), nullptr);
    tn_kernel_def kernel{};
    kernel.size = sizeof kernel;
    kernel.op = "fake.product";
    kernel.device = "cpu";
    kernel.traits = TN_KERNEL_EPILOGUE | TN_KERNEL_SAME_BITS | TN_KERNEL_CAPTURE_SAFE;
    kernel.layout = TN_LAYOUT_CONTIGUOUS;
    kernel.launch = launch_product;
    kernel.prepare = prepare;
    kernel.destroy_prepared = destroy_prepared;
    ASSERT_EQ(stage_kernel(kernel, "fake", &staged), nullptr);
    ASSERT_EQ(registry().check(staged), nullptr);
    registry().commit(std::move(staged));
  }

  void SetUp() override {
    ASSERT_EQ(registry().find("fake.product", &op), nullptr);
    x = filled(2, 3, 1);
    w = filled(3, 4, -5);
    y = filled(2, 4, 0);
    args[0] = tensor_value(x.get());
    args[1] = tensor_value(w.get());
    kernel = op->kernels.find(TN_DEVICE_CPU)->front();
    OutputMetas metas(op, args);
    const tn_meta* made = nullptr;
    ASSERT_EQ(metas.require(&made), nullptr);
    meta = made[0];
    call = call_before_outputs(*kernel, op, kCpu, args, &meta, 1);
  }

  static TensorRef filled(int64_t rows, int64_t columns, float from) {
    const int64_t sizes[] = {rows, columns};
    Tensor* t = nullptr;
    EXPECT_EQ(empty_tensor(sizes, TN_FLOAT32, kCpu, &t), nullptr);
    for (int64_t i = 0; i < t->numel; ++i)
      static_cast<float*>(t->data)[i] = from + static_cast<float>(i);
    return TensorRef(t);
  }
  // As the replay of a graph would: outputs and what was prepared, the rest stands.
  std::vector<float> launched(void* prepared, const tn_loop* epilogue) {
    tn_call repeated = call;
    tn_tensor* const outputs[] = {y.get()};
    repeated.outputs = outputs;
    repeated.prepared = prepared;
    repeated.epilogue = epilogue;
    EXPECT_EQ(kernel->def.launch(kernel->def.self, &repeated), nullptr);
    const auto* values = static_cast<const float*>(y->data);
    return {values, values + y->numel};
  }

  const Op* op = nullptr;
  const Kernel* kernel = nullptr;
  TensorRef x, w, y;
  tn_value args[2];
  tn_meta meta;
  tn_call call;
};

// 1 2 3 / 4 5 6 times -5 -4 -3 -2 / -1 0 1 2 / 3 4 5 6.
const std::vector<float> kProduct{2, 8, 14, 20, -7, 8, 23, 38};

TEST_F(Prepared, APlanServesTheCallsThatAreRepeated) {
  EXPECT_EQ(launched(nullptr, nullptr), kProduct) << "launch works without a plan";
  const int before = plans_made;
  void* plan = nullptr;
  ASSERT_EQ(kernel->def.prepare(kernel->def.self, &call, &plan), nullptr);
  EXPECT_EQ(launched(plan, nullptr), kProduct);
  static_cast<float*>(x->data)[0] = 2;  // values may change, shapes may not
  EXPECT_EQ(launched(plan, nullptr), (std::vector<float>{-3, 4, 11, 18, -7, 8, 23, 38}));
  EXPECT_EQ(static_cast<Plan*>(plan)->uses, 2);
  EXPECT_EQ(plans_made, before + 1);
  kernel->def.destroy_prepared(kernel->def.self, plan);
  EXPECT_EQ(plans_alive, 0);
}

TEST_F(Prepared, AnEpilogueRunsOverTheOutputOfAProduct) {
  const auto expression =
      parsed("e(Tensor v, Tensor bias, float s) -> Tensor", "max(v + s * bias, 0)");
  const CompiledProgram& fused = compiled(*expression, {dims(TN_FLOAT32), dims(TN_FLOAT32)});
  const TensorRef bias = filled(1, 4, -10);
  const int64_t sizes[] = {2, 4}, dense[] = {4, 1}, broadcast[] = {0, 1};
  const tn_operand operands[] = {
      {y->data, dense, y->storage, 0, TN_FLOAT32, 0},
      {nullptr, dense, nullptr, 0, TN_FLOAT32, 0},  // what the kernel has for the element
      {bias->data, broadcast, bias->storage, 0, TN_FLOAT32, 0}};
  tn_scalar two;
  two.f = 2;
  const tn_loop loop{sizeof(tn_loop), 2, 8, sizes, &fused.program, operands, &two};
  // The bias is -20 -18 -16 -14.
  EXPECT_EQ(launched(nullptr, &loop), (std::vector<float>{0, 0, 0, 6, 0, 0, 7, 24}));
  void* plan = nullptr;
  ASSERT_EQ(kernel->def.prepare(kernel->def.self, &call, &plan), nullptr);
  EXPECT_EQ(launched(plan, &loop), (std::vector<float>{0, 0, 0, 6, 0, 0, 7, 24}));
  kernel->def.destroy_prepared(kernel->def.self, plan);
}

// A function that is replayed asks once, and gives what it got back when it goes.
TEST_F(Prepared, ACompiledFunctionPreparesItsCalls) {
  const int before = plans_made;
  {
    const tn_function_fn product = [](void* self, tn_tensor* const* given, uint32_t,
                                      tn_tensor** results, uint32_t) -> tn_status* {
      const tn_value of[] = {tensor_value(given[0]), tensor_value(given[1])};
      tn_value result{};
      TN_TRY(tenon::call(static_cast<Prepared*>(self)->op, of, 2, &result, 1));
      results[0] = result.as.tensor;
      return nullptr;
    };
    const Ref<Compiled> compiled(new Compiled(product, this, nullptr, /*is_exact=*/true));
    tn_tensor* const given[] = {x.get(), w.get()};
    for (int i = 0; i < 3; ++i) {
      tn_tensor* result = nullptr;
      ASSERT_EQ(compiled->call(given, {&result, 1}), nullptr);
      const auto* values = static_cast<const float*>(result->data);
      EXPECT_EQ(std::vector<float>(values, values + 8), kProduct);
      as_tensor(result)->release();
    }
    EXPECT_EQ(plans_made, before + 1);
    EXPECT_EQ(plans_alive, 1);
  }
  EXPECT_EQ(plans_alive, 0);
}

// Eager calls ask for neither.
TEST_F(Prepared, AnEagerCallNeedsNoPlan) {
  const int before = plans_made;
  tn_value result{};
  ASSERT_EQ(tenon::call(op, args, 2, &result, 1), nullptr);
  const auto* values = static_cast<const float*>(result.as.tensor->data);
  EXPECT_EQ(std::vector<float>(values, values + 8), kProduct);
  release_value(&result);
  EXPECT_EQ(plans_made, before);
}

}  // namespace
}  // namespace tenon
