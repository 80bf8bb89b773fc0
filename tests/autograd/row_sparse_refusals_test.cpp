// What takes no row-sparse gradient, and what is no row-sparse tensor: each says so.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "row_sparse_support.h"

namespace {

// Its strides are those of a tensor that repeats one element, whose memory a replay would read.
TEST_P(RowSparse, ACompiledFunctionTakesNoneForAnExpandedGradient) {
  const Tensor w = table(), x = on(tn::ones({6, 2}));
  const auto twice = tn::compile([&](Tensor x) { return w.grad() * x * 2; });
  for (int i = 0; i < 3; ++i) {
    w.set_grad(on(tn::ones({1, 1})).expand({6, 2}));
    expect_near(twice(x), Values(12, 2));
  }
  EXPECT_NE(twice.describe().find("2 replays"), std::string::npos) << twice.describe();
  w.set_grad(tn::row_sparse(on(tn::tensor({int64_t(1)})), on(tn::ones({1, 2})), 6));
  EXPECT_EQ(message_of([&] { twice(x); }).substr(0, 20), "mul: x is [6, 2] flo");
}

TEST_P(RowSparse, OpsRefuseThem) {
  const Tensor w = table();
  tn::sum(tn::embedding(w, first(), {}, true)).backward();
  const Tensor grad = w.grad();
  const std::string is = "[6, 2] float32 on " + std::string(device().name()) + " (row-sparse)",
                    expected = "; expected one that is not row-sparse, as to_dense() makes it";
  EXPECT_EQ(message_of([&] { grad* grad; }), "mul: x is " + is + expected);
  EXPECT_EQ(message_of([&] { tn::cat({w.detach(), grad}); }), "cat: xs[1] is " + is + expected);
  EXPECT_EQ(message_of([&] { tn::clip_grad_norm_({grad}, 1); }),
            "clip_grad_norm_: grads[0] is " + is + expected);
  for (const auto& [what, call] : std::vector<std::pair<const char*, std::function<void()>>>{
           {"copy_", [&] { grad.copy_(w); }},
           {"copy_: src", [&] { w.detach().copy_(grad); }},
           {"read", [&] { grad.to_vector<float>(); }},
           {"requires_grad", [&] { grad.requires_grad_(); }},
           {"data", [&] { grad.to(tn::cpu).data<float>(); }},
           {"to_dlpack", [&] { tn::to_dlpack(grad); }}}) {
    EXPECT_NE(message_of(call).find(std::string(what) + ": the tensor is [6, 2]"),
              std::string::npos)
        << message_of(call);
  }
  EXPECT_NE(message_of([&] { tn::sum(w * 2).backward(grad); }).find("backward: "),
            std::string::npos);
  EXPECT_NE(message_of([&] { (w * 2).backward(grad); }).find("backward: the gradient is " + is),
            std::string::npos);
  EXPECT_EQ(message_of([&] { w.indices(); }).substr(0, 14), "rows: parts of");
}

// As PyTorch's sparse tensors: a clone has memory of its own, and what is detached is the same rows.
TEST_P(RowSparse, MayBeClonedAndDetached) {
  const Tensor w = table();
  tn::sum(tn::embedding(w, first(), {}, true)).backward();
  const Tensor grad = w.grad(), copy = grad.clone(), same = grad.detach();
  for (const Tensor& t : {copy, same}) {
    EXPECT_TRUE(t.is_row_sparse());
    EXPECT_FALSE(t.requires_grad());
    EXPECT_EQ(t.sizes(), grad.sizes());
    EXPECT_TRUE(tn::equal(t.to_dense(), grad.to_dense()));
  }
  EXPECT_FALSE(copy.values().same_storage(grad.values()));
  EXPECT_FALSE(copy.indices().same_storage(grad.indices()));
  EXPECT_TRUE(same.values().same_storage(grad.values()));
}

TEST_P(RowSparse, OnlyLeavesTakeThem) {
  const Tensor w = table();
  const Tensor y = tn::embedding(w * 2, first(), {}, true);
  EXPECT_NE(message_of([&] {
              tn::sum(y).backward();
            }).find("its gradient for input 0 is row-sparse, which only leaves take; mul made"),
            std::string::npos)
      << message_of([&] { tn::sum(y).backward(); });
  const Tensor x = tn::embedding(w, first(), {}, true);
  const std::string second_order =
      message_of([&] { tn::grad(tn::sum(x * x), w, {.create_graph = true}); });
  EXPECT_NE(second_order.find("a row-sparse tensor has none"), std::string::npos) << second_order;
}

TEST_P(RowSparse, HooksOfOthersThanLeavesGiveNone) {
  const Tensor rows = tn::row_sparse(on(tn::tensor({int64_t(1)})), on(tn::ones({1, 2})), 6);
  const Tensor w = table(), y = w * 2;
  y.register_hook([&](const Tensor&) { return rows; });
  EXPECT_NE(message_of([&] {
              tn::sum(y * y).backward();
            }).find("what a hook on a gradient of mul gave is [6, 2] float32"),
            std::string::npos);
  const Tensor z = tn::relu(w * 2);
  tn::grad_fn(z).register_hook([&](const Tensor&) { return rows; });
  EXPECT_NE(message_of([&] {
              tn::sum(z).backward();
            }).find("what a hook on a gradient of relu gave is [6, 2] float32"),
            std::string::npos);
  EXPECT_FALSE(w.grad().defined());
  w.register_hook([&](const Tensor&) { return rows; });
  tn::sum(w * w).backward();
  EXPECT_TRUE(w.grad().is_row_sparse());
}

struct Twice : tn::Function<Twice> {
  static inline Tensor saved, given;
  static Tensor forward(Context& context, Tensor x, Tensor) {
    if (saved.defined()) context.save({saved});
    return given.defined() ? given : x * 2;
  }
  static std::array<Tensor, 2> backward(Context&, Tensor g) { return {g * 2, Tensor()}; }
};

TEST_P(RowSparse, CustomFunctionsTakeNone) {
  const Tensor w = table(),
               rows = tn::row_sparse(on(tn::tensor({int64_t(1)})), on(tn::ones({1, 2})), 6);
  const auto message = [&](const Tensor& other) {
    return message_of([&] { Twice::apply(w, other); });
  };
  EXPECT_NE(message(rows).find("Twice: input 1 is [6, 2] float32"), std::string::npos);
  Twice::saved = rows;
  EXPECT_NE(message(w).find("Twice: saved tensor 0 is [6, 2] float32"), std::string::npos);
  Twice::saved = Tensor();
  Twice::given = rows;
  EXPECT_NE(message(w).find("Twice: output 0 is [6, 2] float32"), std::string::npos);
  Twice::given = Tensor();
}

TEST_P(RowSparse, AreNoParameters) {
  const Tensor rows = tn::row_sparse(on(tn::tensor({int64_t(1)})), on(tn::ones({1, 2})), 6);
  EXPECT_NE(message_of([&] {
              tn::optim::SGD({table(), rows});
            }).find("SGD: parameter 1 is [6, 2]"),
            std::string::npos);
}

// What fails on a device that computes later, is known too late.
TEST_P(RowSparse, AStepWithAWrongIndexIsNotCounted) {
  if (!device().is_cpu()) GTEST_SKIP() << "the device hears of a wrong index behind the step";
  const Tensor w = table();
  w.set_grad(tn::row_sparse(tn::tensor({int64_t(0), int64_t(6)}), tn::ones({2, 2}), 6));
  for (const tn::optim::Optimizer& optimizer : {tn::optim::Optimizer(tn::optim::Adagrad({w})),
                                                tn::optim::Optimizer(tn::optim::SparseAdam({w}))}) {
    const Values before = w.to_vector<float>();
    EXPECT_NE(message_of([&] { optimizer.step(); }).find("index 6"), std::string::npos);
    EXPECT_EQ(w.to_vector<float>(), before);
    bool counts = false;
    for (const auto& [name, value] : optimizer.state_dict()) {
      if (name != "state.0.step") continue;
      counts = true;
      EXPECT_EQ(value.item<float>(), 0);
    }
    EXPECT_TRUE(counts);
  }
}

TEST_P(RowSparse, OptimizersSayWhatTakesThem) {
  const Tensor w = table();
  tn::sum(tn::embedding(w, first(), {}, true)).backward();
  const auto refused = [&](const tn::optim::Optimizer& optimizer) {
    const Values before = w.to_vector<float>();
    const std::string message = message_of([&] { optimizer.step(); });
    EXPECT_EQ(w.to_vector<float>(), before);
    return message;
  };
  for (const auto& [message, who] : std::vector<std::pair<std::string, std::string>>{
           {refused(tn::optim::SGD({w}, {.momentum = 0.9})), "SGD with momentum or weight_decay"},
           {refused(tn::optim::SGD({w}, {.weight_decay = 0.1})),
            "SGD with momentum or weight_decay"},
           {refused(tn::optim::Adagrad({w}, {.weight_decay = 0.1})), "Adagrad with weight_decay"},
           {refused(tn::optim::Adam({w})), "Adam"},
           {refused(tn::optim::AdamW({w})), "AdamW"}}) {
    EXPECT_NE(message.find("a gradient of [6, 2] is row-sparse, which " + who +
                           " does not take; SparseAdam, Adagrad without weight_decay, and SGD "
                           "without momentum and weight_decay take it"),
              std::string::npos)
        << message;
  }
  const Tensor dense = table();
  tn::sum(dense * 2).backward();
  const std::string message = message_of([&] { tn::optim::SparseAdam({dense}).step(); });
  EXPECT_NE(message.find("a gradient of [6, 2] is not row-sparse, and SparseAdam takes no other; "
                         "Adam takes it"),
            std::string::npos)
      << message;
}

TEST_P(RowSparse, PartsMustFit) {
  const Tensor indices = on(tn::tensor(std::initializer_list<int64_t>{1, 2}));
  const auto message = [&](const Tensor& i, const Tensor& values, int64_t n) {
    return message_of([&] { tn::row_sparse(i, values, n); });
  };
  const std::string expected = "; expected int64 [n] and [n, ...] on one device";
  EXPECT_NE(message(indices, on(tn::zeros({3, 2})), 6).find(expected), std::string::npos);
  EXPECT_NE(message(indices.to(tn::int32), on(tn::zeros({2, 2})), 6).find(expected),
            std::string::npos);
  EXPECT_NE(message(indices.reshape({2, 1}), on(tn::zeros({2, 2})), 6).find(expected),
            std::string::npos);
  EXPECT_NE(message(indices, on(tn::zeros({})), 6).find(expected), std::string::npos);
  EXPECT_NE(message(indices, on(tn::zeros({2, 2})).requires_grad_(), 6).find("need a gradient"),
            std::string::npos);
  EXPECT_EQ(message(indices, on(tn::zeros({2, 2})), -1), "rows: negative size in [-1, 2]");
  EXPECT_NE(message(indices, on(tn::zeros({2, 2})), INT64_MAX).find("overflows"),
            std::string::npos);
  // An index beyond the table is found where it is used.
  const Tensor wrong = tn::row_sparse(indices, on(tn::ones({2, 2})), 2);
  EXPECT_NE(message_of([&] {
              wrong.to_dense();
              device().synchronize();
            }).find("index 2"),
            std::string::npos);
}

}  // namespace
