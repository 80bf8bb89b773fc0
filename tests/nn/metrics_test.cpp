// Metrics and early stopping. Values of F1 are those of its definition, by hand.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/early_stopping.hpp"
#include "tenon/metrics.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using tn::Tensor;

namespace {

class Metrics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }

  // Five items of three classes; the largest are 0, 1, 2, 0, 1.
  static Tensor outputs() {
    return tn::tensor({{3, 2, 1}, {0, 5, 4}, {1, 2, 6}, {9, 1, 8}, {2, 4, 3}}, tn::float32);
  }
};

TEST_F(Metrics, AccuracyCountsTheLikeliest) {
  for (const char* device : {"cpu", second_device()}) {
    const Tensor x = outputs().to(device), y = tn::tensor({0, 2, 2, 2, 0});
    tn::metrics::Accuracy first, second(2), all(3);
    for (tn::metrics::Accuracy* a : {&first, &second, &all}) {
      a->update(x.slice(0, 0, 2), y.slice(0, 0, 2));
      a->update(x.slice(0, 2, 5), y.slice(0, 2, 5));
    }
    EXPECT_DOUBLE_EQ(first.value(), 2.0 / 5);
    EXPECT_DOUBLE_EQ(second.value(), 4.0 / 5);  // 2 is second in items 1 and 3, 0 last in item 4
    EXPECT_DOUBLE_EQ(all.value(), 1.0);
    first.reset();
    EXPECT_EQ(message_of([&] { first.value(); }),
              "accuracy: there is no value yet, since nothing was told");
  }
}

TEST_F(Metrics, F1IsTheMeanOfTheClassesThatAppear) {
  tn::metrics::F1 f1;
  f1.update(outputs(), tn::tensor({0, 2, 2, 2, 0}));
  // class 0: 1 right, 2 guessed, 2 there; class 1: 0, 2, 0; class 2: 1, 1, 3.
  EXPECT_DOUBLE_EQ(f1.value(), (2.0 / 4 + 0.0 + 2.0 / 4) / 3);
  f1.reset();
  f1.update(outputs().slice(0, 0, 1), tn::tensor({0}));  // the others do not appear
  EXPECT_DOUBLE_EQ(f1.value(), 1.0);
}

TEST_F(Metrics, ErrorsOfNumbersAreMeansOverAllElements) {
  const Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 5.0}}), y = tn::tensor({{1.0, 0.0}, {4.0, 5.0}});
  const auto mse = tn::metrics::make_metric("mse"), mae = tn::metrics::make_metric("mae");
  mse->update(x, y);
  mae->update(x, y);
  EXPECT_DOUBLE_EQ(mse->value(), (0.0 + 4 + 1 + 0) / 4);
  EXPECT_DOUBLE_EQ(mae->value(), (0.0 + 2 + 1 + 0) / 4);
}

TEST_F(Metrics, EvaluateTellsThemAllBatchesInEvaluation) {
  const tn::Object model = tn::nn::Sequential(tn::nn::Dropout(0.9), tn::nn::Identity());
  const std::vector<std::pair<Tensor, Tensor>> batches = {{outputs(), tn::tensor({0, 1, 2, 0, 1})},
                                                          {outputs(), tn::tensor({1, 1, 1, 1, 1})}};
  tn::metrics::Accuracy accuracy;
  tn::evaluate(model, batches, {&accuracy});
  EXPECT_DOUBLE_EQ(accuracy.value(), 7.0 / 10);
  tn::evaluate(model, batches, {&accuracy});  // begins anew
  EXPECT_DOUBLE_EQ(accuracy.value(), 7.0 / 10);
  EXPECT_TRUE(model.training());
}

TEST_F(Metrics, SayWhatTheyRefuse) {
  const auto said = [](const char* name, const Tensor& x, const Tensor& y) {
    return message_of([&] { tn::metrics::make_metric(name)->update(x, y); });
  };
  EXPECT_EQ(said("accuracy", tn::zeros({2, 3}), tn::zeros({2, 3})),
            "Accuracy: the output has sizes [2, 3] and the target [2, 3], expected [n, classes] "
            "and [n]");
  EXPECT_EQ(said("f1", tn::zeros({1, 3}), tn::tensor({7})),
            "F1: the class 7 is none of the model's 3");
  EXPECT_EQ(said("f1", tn::zeros({1, 3}), tn::tensor({-1})), "F1: the class -1 is below 0");
  EXPECT_EQ(said("mse", tn::zeros({4, 1}), tn::zeros({4})),
            "mse: the output has sizes [4, 1] and the target [4], expected the same");
  EXPECT_EQ(said("top_5", tn::zeros({1, 3}), tn::tensor({0})),
            "Accuracy: top_k is 5, the output has 3 classes");
  EXPECT_EQ(message_of([] { tn::metrics::Accuracy(0); }),
            "Accuracy: top_k is 0, expected at least 1");
  EXPECT_EQ(message_of([] { tn::metrics::make_metric("acuracy"); }),
            "there is no metric 'acuracy'; did you mean 'accuracy'? (known are accuracy, top_K, "
            "f1, mse, mae)");
  EXPECT_EQ(tn::metrics::make_metric("top_3")->name(), "top_3");
}

TEST(EarlyStopping, CountsValuesThatAreNoBetter) {
  tn::EarlyStopping stopping({.patience = 1, .min_delta = 0.1});
  EXPECT_FALSE(stopping.step(NAN));
  EXPECT_FALSE(stopping.step(1.0));
  EXPECT_FALSE(stopping.step(0.95));  // not by 0.1
  EXPECT_FALSE(stopping.step(0.8));
  EXPECT_FALSE(stopping.step(NAN));
  EXPECT_TRUE(stopping.step(0.8));
  EXPECT_DOUBLE_EQ(stopping.best(), 0.8);
  EXPECT_EQ(stopping.bad(), 2);

  tn::EarlyStopping greater({.patience = 0, .maximize = true});
  EXPECT_FALSE(greater.step(0.5));
  EXPECT_FALSE(greater.step(0.6));
  EXPECT_TRUE(greater.step(0.6));
}

TEST(EarlyStopping, GoesOnFromItsState) {
  tn::EarlyStopping a({.patience = 2}), b({.patience = 2});
  a.step(1.0);
  a.step(2.0);
  b.load_state_dict(a.state_dict());
  EXPECT_DOUBLE_EQ(b.best(), 1.0);
  EXPECT_FALSE(b.step(2.0));
  EXPECT_TRUE(b.step(2.0));
  EXPECT_EQ(message_of([&] { b.load_state_dict({}); }),
            "EarlyStopping: the state has to be 'best' and 'bad', a number from 0");
  EXPECT_EQ(message_of([] { tn::EarlyStopping({.patience = -1}); }),
            "EarlyStopping: patience is -1, expected at least 0");
  EXPECT_EQ(message_of([] { tn::EarlyStopping({.min_delta = -0.5}); }),
            "EarlyStopping: min_delta is -0.5, expected 0 or more");
}

}  // namespace
