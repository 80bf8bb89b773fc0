// A plugin over the C++ face: one of each thing that it can bring, used; what goes wrong in its
// lambdas, said.
#include <cstdlib>

#include "ops_support.h"

namespace {

void load(const char* id) {
  load_all();
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) + "/tests/face_plugins/lib" + id +
                  ".so");
}
void load_plugin_under_test() {
  static const bool loaded = (load("face_plugin"), true);
  (void)loaded;
}

TEST(FacePlugin, Ops) {
  load_plugin_under_test();
  Tensor x = tn::tensor({1.f, 2.f, 3.f});
  expect_near(tn::call("face_plugin.cube", x, 2), {2, 16, 54});
  tn::call("face_plugin.cube_", x);
  expect_near(x, {1, 8, 27});
  auto [a, b] =
      tn::call<std::tuple<Tensor, Tensor>>("face_plugin.sum_and_difference", x, tn::tensor(1.f));
  expect_near(a, {2, 9, 28});
  expect_near(b, {0, 7, 26});
  Tensor square = tn::arange(0, 9).view({3, 3});
  Tensor diagonal = tn::call("face_plugin.diagonal", square);
  expect_near(diagonal, {0, 4, 8});
  EXPECT_TRUE(diagonal.same_storage(square));
  expect_near(tn::call("face_plugin.joined", "four", tn::Ints{1, 2}, tn::Floats{0.5}, false),
              {7.5});
  EXPECT_EQ(tn::call("face_plugin.joined", "", tn::Ints{}, tn::Floats{}, true, tn::int64).dtype(),
            tn::int64);
}

// A decomposition of halves is computed in float32 and rounded once, unless it says otherwise.
TEST(FacePlugin, HalvesAreComputedInFloat32) {
  load_plugin_under_test();
  for (tn::Device d : devices()) {
    Tensor x = tn::full({1000}, 300.0, tn::float16, d);
    EXPECT_TRUE(std::isinf(tn::call("face_plugin.length_of_halves", x).item<double>()));
    for (bool gradient : {false, true}) {
      Tensor y = tn::call("face_plugin.length", x.requires_grad_(gradient));
      EXPECT_EQ(y.dtype(), tn::float16);
      EXPECT_NEAR(y.item<double>(), 300 * std::sqrt(1000.0), 4);
      if (!gradient) continue;
      y.backward();
      EXPECT_EQ(x.grad().dtype(), tn::float16);
      EXPECT_NEAR(x.grad()[0].item<double>(), 1 / std::sqrt(1000.0), 1e-5);
    }
  }
}

TEST(FacePlugin, StatedGradientsAreUsed) {
  load_plugin_under_test();
  Tensor x = tn::ones({2}).requires_grad_(), y = tn::ones({2}).requires_grad_();
  tn::call("face_plugin.wrong_gradient", x).sum().backward();
  expect_near(x.grad(), {100, 100});
  x.zero_grad();
  tn::call("face_plugin.wrong_gradient", x, y).sum().backward();
  expect_near(x.grad(), {100, 100});
  expect_near(y.grad(), {100, 100});
}

TEST(FacePlugin, KernelsAndPairs) {
  load_plugin_under_test();
  Tensor x = tn::tensor({1.f, 2.f, 3.f}).requires_grad_();
  Tensor y = tn::call("face_plugin.reversed", x);
  expect_near(y, {3, 2, 1});
  (y * tn::tensor({10.f, 20.f, 30.f})).sum().backward();
  expect_near(x.grad(), {30, 20, 10});
  expect_error(
      [&] {
        tn::call("face_plugin.reversed", tn::ones({2, 2}));
      },
      "reversed: 1 dimension is needed, x has 2");
  expect_error([&] { tn::call("face_plugin.reversed", x.detach().to(tn::float64)); }, "float64");
  expect_near(tn::call("face_plugin.longer_than", x, 1.5), {2, 3});

  x.zero_grad();
  Tensor z = tn::call("face_plugin.squared", x);
  expect_near(z, {1, 4, 9});
  z.sum().backward();
  expect_near(x.grad(), {2, 4, 6});
  // With create_graph the pair gives way to the decomposition.
  Tensor first = tn::grad(tn::call("face_plugin.squared", x).sum(), x, {.create_graph = true});
  expect_near(tn::grad(first.sum(), x), {2, 2, 2});
  // float64 has no kernel: the meaning runs.
  expect_near(tn::call("face_plugin.squared", tn::tensor({3.0})), {9});
}

TEST(FacePlugin, Objects) {
  load_plugin_under_test();
  tn::Object gated = tn::Object::create("Gated", 2, 0.0);
  Tensor y = gated(tn::tensor({{1.f, 2.f, 0.f, 0.f}}));
  expect_near(y, {0.5, 1});
  EXPECT_EQ(gated.option<double>("p"), 0);
  EXPECT_EQ(gated.option<int64_t>("dim"), 2);
  EXPECT_EQ(gated.tensor("calls").item<int>(), 1);
  EXPECT_EQ(gated.parameters().size(), 1u);
  auto halves = gated.invoke<std::tuple<Tensor, Tensor>>("halves", tn::ones({2, 4}));
  expect_sizes(std::get<1>(halves), {2, 2});
  y.sum().backward();
  tn::Object descent = tn::Object::create("Descent", gated.parameters(), 0.5);
  descent.invoke<void>("step");
  expect_near(gated.tensor("scale"), {1 - 0.25, 1 - 0.5});
  descent.zero_grad();
  EXPECT_FALSE(gated.parameters()[0].grad().defined());
}

TEST(FacePlugin, ScalerSkipsBadSteps) {
  load_plugin_under_test();
  Tensor p = tn::ones({1}).requires_grad_();
  tn::Object descent = tn::Object::create("Descent", std::vector<Tensor>{p}, 0.5);
  tn::GradScaler scaler({.init_scale = 8, .growth_interval = 2});
  for (int i = 0; i < 2; ++i) {
    p.zero_grad();
    scaler.scale((p * 0.5).sum()).backward();
    scaler.step(descent);
    scaler.update();
  }
  expect_near(p, {0.5});
  EXPECT_EQ(scaler.state().scale, 16);
  p.zero_grad();
  scaler.scale((p * INFINITY).sum()).backward();
  scaler.step(descent);
  EXPECT_TRUE(scaler.skipped());
  scaler.update();
  expect_near(p, {0.5});
  EXPECT_EQ(scaler.state().scale, 8);
}

TEST(FacePlugin, Policy) {
  load_plugin_under_test();
  Tensor x = tn::ones({2, 2});
  tn::Autocast guard(tn::cpu, tn::bfloat16, "all_lower");
  EXPECT_EQ((x + x).dtype(), tn::bfloat16);
  EXPECT_EQ(tn::softmax(x).dtype(), tn::float32);
}

TEST(FacePlugin, ErrorsOfLambdas) {
  load_plugin_under_test();
  Tensor x = tn::ones({2});
  try {
    tn::call("face_plugin.throws", x);
    FAIL();
  } catch (const tn::Error& e) {  // another shared object's exception: its text
    EXPECT_EQ(e.code(), TN_EXCEPTION);
    EXPECT_NE(std::string(e.what()).find("not today"), std::string::npos);
  }
  expect_error([&] { tn::call("face_plugin.diagonal", x); },
               "diagonal: 2 dimensions are needed, x has 1");
}

// An application's exception goes through the plugin's method, and comes out as itself.
TEST(FacePlugin, NoOpGivesARowSparseTensor) {
  expect_error([] { tn::call("face_plugin.gives_rows", tn::ones({1})); },
               "gives_rows: its decomposition gave a row-sparse tensor for output 0, expected a "
               "tensor");
}

TEST(FacePlugin, ExceptionsPassThrough) {
  load_plugin_under_test();
  struct Mine {
    int value;
  };
  tn::Object outer = tn::Object::create("Gated", 1, 0.0);
  Tensor scale = outer.tensor("scale");
  scale.register_hook([](Tensor) { throw Mine{7}; });
  Tensor y = outer(tn::ones({1, 2})).sum();
  try {
    outer.invoke<void>("learn", y);
    FAIL();
  } catch (const Mine& mine) {
    EXPECT_EQ(mine.value, 7);
  }
}

// The plugin's body registers what TENON_TEST_MISMATCH names.
void expect_mismatch(const char* which, const std::string& message) {
  ::setenv("TENON_TEST_MISMATCH", which, 1);
  expect_error([] { load("face_mismatch"); }, message);
}

TEST(FacePlugin, AFunctionThatDoesNotFitItsSchemaIsRefusedAtItsRegistration) {
  expect_mismatch("type",
                  "op 'face_mismatch.scale': meaning takes (Tensor, int64_t), the schema has "
                  "(Tensor x, float factor): float factor is no int64_t");
  expect_mismatch("count",
                  "op 'face_mismatch.scale': meaning takes (Tensor), the schema has (Tensor x, "
                  "float factor)");
  expect_mismatch("none",
                  "op 'face_mismatch.scale': meaning takes (Tensor, int64_t), the schema has "
                  "(Tensor x, int? n): int? n is no int64_t");
  expect_mismatch("list",
                  "op 'face_mismatch.join': meaning takes (Tensor), the schema has (Tensor[] xs): "
                  "Tensor[] xs is no Tensor");
  expect_mismatch("optional",
                  "op 'face_mismatch.scale': meaning takes (optional<Tensor>, string), the schema "
                  "has (Tensor x, dtype dtype): dtype dtype is no string");
  expect_mismatch("results", "op 'face_mismatch.scale': meaning gives 2 values, the schema has 1");
  expect_mismatch("infer",
                  "op 'face_mismatch.scale': infer takes (Tensor, bool), the schema has (Tensor x, "
                  "int n): int n is no bool");
  expect_mismatch("metas", "op 'face_mismatch.scale': infer gives 1 value, the schema has 2");
  expect_mismatch("view",
                  "op 'face_mismatch.rows': view takes (const tn_tensor*, Ints), the schema has "
                  "(Tensor(a) x, int n): int n is no Ints");
  expect_mismatch("vjp",
                  "op 'face_mismatch.scale': vjp takes (Tensor, Tensor), the schema has (Tensor x, "
                  "float factor): float factor is no Tensor");
  expect_mismatch("gradients",
                  "op 'face_mismatch.scale': vjp gives 1 value, the schema has 2 tensors among its "
                  "arguments");
}

// What the face compares functions with: schemas as the host reads them.
TEST(FacePlugin, TheHostReadsSchemas) {
  load_all();
  const auto* table = tn::detail::find_interface<tn_schema_api>(tn::host(), "schema/1");
  ASSERT_NE(table, nullptr);
  std::string seen;
  const auto see = [](void* context, const tn_schema* schema) {
    std::string& text = *static_cast<std::string*>(context);
    text = std::string(schema->name) + " " + std::to_string(schema->n_results);
    for (uint32_t i = 0; i < schema->n_arguments; ++i) {
      const tn_schema_argument& a = schema->arguments[i];
      text += std::string(", ") + a.type + " " + a.name + " " + std::to_string(a.kinds);
    }
  };
  tn::check(table->read("f(Tensor x, int? n=None, float[] w=[]) -> (Tensor, Tensor)", see, &seen));
  const auto bit = [](uint32_t kind) { return 1u << kind; };
  EXPECT_EQ(seen, "f 2, Tensor x " + std::to_string(bit(TN_KIND_TENSOR)) + ", int? n " +
                      std::to_string(bit(TN_KIND_INT) | bit(TN_KIND_NONE)) + ", float[] w " +
                      std::to_string(bit(TN_KIND_FLOATS) | bit(TN_KIND_INTS)));
  expect_error([&] { tn::check(table->read("f(Tensor", see, &seen)); }, "expected");
  expect_error([&] { tn::check(table->read(nullptr, see, &seen)); }, "read: the schema is NULL");
  expect_error([&] { tn::check(table->read("f() -> ()", nullptr, nullptr)); },
               "read: the function is NULL");
}

TEST(FacePlugin, AFactoryThatDoesNotFitItsSchemaIsRefusedAtItsRegistration) {
  expect_mismatch("layer",
                  "layer 'Wrong': factory takes (string), the schema has (int dim): int dim is no "
                  "string");
  expect_mismatch("optimizer",
                  "optimizer 'Wrong': factory takes (Tensors), the schema has (Tensor[] params, "
                  "float lr)");
}

TEST(FacePlugin, AMethodThatDoesNotFitItsSchemaIsRefusedWhereItIsAdded) {
  const tn::Object object = tn::Object::empty("Mine");
  expect_error(
      [&] { object.method("forward(Tensor x, int n) -> Tensor", [](Tensor x) { return x; }); },
      "Mine: method 'forward': function takes (Tensor), the schema has (Tensor x, int n)");
  expect_error(
      [&] {
        object.method("halves(Tensor x) -> (Tensor, Tensor)",
                      [](tn::Object&, Tensor x) { return x; });
      },
      "Mine: method 'halves': function gives 1 value, the schema has 2");
}

TEST(FacePlugin, OneThatFailsHalfWayLeavesNothing) {
  expect_error([] { load("face_fails"); }, "no device here");
  expect_error([] { load("face_refused"); }, "nothing");
  expect_error([] { tn::call("face_fails.stays_not", tn::ones({1})); }, "stays_not");
}

}  // namespace
