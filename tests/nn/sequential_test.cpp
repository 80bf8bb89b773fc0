// nn::Sequential as a list: it grows, is gone through, and is copied with what it got.
#include "layers_support.h"

namespace tn = tenon;
using tn::Object;
using tn::Tensor;
using tn::nn::Linear;
using tn::nn::ReLU;
using tn::nn::Sequential;

namespace {

class SequentialTest : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }
};

std::string types_of(const Sequential& model) {
  std::string types;
  for (const Object& layer : model) types += layer.type_name() + " ";
  return types;
}
std::vector<std::string> names_of(const Object& model) {
  std::vector<std::string> names;
  for (const auto& [name, child] : model.named_children()) names.push_back(name);
  return names;
}

TEST_F(SequentialTest, GrowsAtItsEnd) {
  Sequential model;
  EXPECT_TRUE(model.empty());
  for (int64_t i = 0; i < 2; ++i) model.append(Linear(4, 4)).append(ReLU());
  model.append([](Tensor x) { return x * 2; }).extend({Linear(4, 3), tn::nn::Tanh()});
  EXPECT_EQ(model.size(), 7u);
  EXPECT_EQ(types_of(model), "Linear ReLU Linear ReLU Lambda Linear Tanh ");
  EXPECT_EQ(model(tn::ones({1, 4})).sizes(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(model.parameters().size(), 6u);
  EXPECT_EQ(model[-2].tensor("weight").size(0), 3);
}

TEST_F(SequentialTest, TakesTheLayersOfAnother) {
  auto model = Sequential(Linear(2, 3));
  const auto more = Sequential(ReLU(), Linear(3, 1));
  model.extend(more);
  EXPECT_EQ(model.size(), 3u);
  EXPECT_EQ(model[1].get(), more[0].get());
  model.extend({ReLU()});  // a list of one
  EXPECT_EQ(model.size(), 4u);
  tn::nn::ModuleList list;
  list.extend(more).extend(std::vector<tn::Object>{ReLU()});
  EXPECT_EQ(list.size(), 3u);
}

TEST_F(SequentialTest, TakesALayerBeforeAnother) {
  const Sequential model(Linear(2, 3), Linear(3, 4));
  const Tensor last = model[1].tensor("weight");
  model.insert(1, ReLU()).insert(0, tn::nn::Flatten()).insert(4, tn::nn::Tanh());
  EXPECT_EQ(types_of(model), "Flatten Linear ReLU Linear Tanh ");
  EXPECT_EQ(names_of(model), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(model[3].tensor("weight").is_same(last));
  model.insert(-1, tn::nn::Dropout());
  EXPECT_EQ(types_of(model), "Flatten Linear ReLU Linear Dropout Tanh ");
  EXPECT_EQ(model(tn::ones({1, 2})).sizes(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(message_of([&] { model.insert(7, ReLU()); }),
            "Sequential: insert: place 7 is out of range for 6 modules");
  EXPECT_EQ(message_of([&] { model.insert(-7, ReLU()); }),
            "Sequential: insert: place -7 is out of range for 6 modules");
  EXPECT_EQ(model.size(), 6u);
}

TEST_F(SequentialTest, NamesOfOnesOwnStay) {
  const Sequential model({{"hidden", Linear(2, 3)}, {"act", ReLU()}});
  model.append(Linear(3, 1));
  EXPECT_EQ(names_of(model), (std::vector<std::string>{"hidden", "act", "2"}));
  model.insert(3, tn::nn::Tanh());  // moves none
  EXPECT_EQ(message_of([&] { model.insert(1, ReLU()); }),
            "Sequential: insert: the module at place 1 has the name 'act', and only numbered ones "
            "can move");
  EXPECT_EQ(types_of(model), "Linear ReLU Linear Tanh ");

  const Sequential taken({{"1", Linear(2, 3)}});
  EXPECT_EQ(message_of([&] { taken.append(ReLU()); }),
            "Sequential: the module at place 0 has the name '1', which one more would get");
  EXPECT_EQ(taken.size(), 1u);
}

TEST_F(SequentialTest, AnOptimizerIsNoLayer) {
  const Sequential model(Linear(2, 3));
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1});
  EXPECT_EQ(message_of([&] { model.append(optimizer); }),
            "Sequential: '1' is the optimizer SGD, expected a layer");
  EXPECT_EQ(message_of([&] { model.insert(0, optimizer); }),
            "Sequential: '0' is the optimizer SGD, expected a layer");
  EXPECT_EQ(message_of([&] {
              Sequential({{"sgd", optimizer}});
            }),
            "Sequential: 'sgd' is the optimizer SGD, expected a layer");
  EXPECT_EQ(model.size(), 1u);
}

TEST_F(SequentialTest, NothingChangesWhereAnErrorIsSaid) {
  const Sequential model(Linear(2, 3), ReLU());
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 0.1});
  EXPECT_EQ(message_of([&] {
              model.extend({tn::nn::Tanh(), optimizer});
            }),
            "Sequential: '3' is the optimizer SGD, expected a layer");
  EXPECT_EQ(types_of(model), "Linear ReLU ");
  EXPECT_NE(message_of([&] { model.insert(0, Sequential(model, ReLU())); }).find("contains this"),
            std::string::npos);
  EXPECT_EQ(types_of(model), "Linear ReLU ");
  model.buffer("2", tn::zeros({1}));  // the name that one more module would get
  EXPECT_NE(message_of([&] { model.insert(0, tn::nn::Tanh()); }), "");
  EXPECT_EQ(types_of(model), "Linear ReLU ");
}

TEST_F(SequentialTest, AListOfModulesTakesOneBeforeAnother) {
  const tn::nn::ModuleList list(Linear(2, 3), ReLU());
  list.insert(-1, tn::nn::Tanh()).append(Linear(3, 1));
  std::string types;
  for (const Object& layer : list) types += layer.type_name() + " ";
  EXPECT_EQ(types, "Linear Tanh ReLU Linear ");
}

TEST_F(SequentialTest, TheHandleOfOneThatIsThere) {
  const Object net = Sequential(Sequential(Linear(2, 3)), ReLU());
  Sequential::of(net[0]).append(Linear(3, 1));
  EXPECT_EQ(net.parameters().size(), 4u);
  EXPECT_EQ(message_of([&] { Sequential::of(net[1]); }),
            "Sequential::of: the object is a ReLU, expected a Sequential");
  // Handles of temporaries live as long as they are used.
  std::string types;
  for (const Object& layer : Sequential(ReLU()).append(tn::nn::Tanh())) types += layer.type_name();
  EXPECT_EQ(types, "ReLUTanh");
}

TEST_F(SequentialTest, ACopyHasWhatTheOriginalGot) {
  Sequential model(Linear(2, 3));
  model.append(ReLU()).insert(0, tn::nn::Flatten()).append(Linear(3, 2));
  const Sequential copy = model.clone();
  EXPECT_EQ(types_of(copy), "Flatten Linear ReLU Linear ");
  EXPECT_FALSE(copy[1].tensor("weight").is_same(model[1].tensor("weight")));
  const Tensor x = tn::randn({4, 2});
  EXPECT_TRUE(tn::equal(copy(x), model(x)));
  copy.append(ReLU());
  EXPECT_EQ(model.size(), 4u);
}

// A module whose Sequential gets more layers after the constructor.
struct Tower : tn::Module {
  Sequential layers = child("layers", Sequential(Linear(2, 2)));
  Tensor forward(Tensor x) { return layers(x); }
};

TEST_F(SequentialTest, AModulesCopyHasWhatItGot) {
  const auto model = tn::make<Tower>();
  model->layers.append(Linear(2, 5)).insert(1, ReLU());
  EXPECT_EQ(model.parameters().size(), 4u);
  const auto copy = model.clone();
  EXPECT_EQ(copy->layers.size(), 3u);
  const Tensor x = tn::randn({4, 2});
  EXPECT_TRUE(tn::equal(copy(x), model(x)));
}

TEST_F(SequentialTest, ItIsAnObjectAsAnyOther) {
  const std::vector<Object> list = {Sequential(Linear(2, 2)), ReLU()};
  const Sequential nested(list);
  Sequential same = nested;  // the handle
  same.append(Linear(2, 1));
  EXPECT_EQ(nested.size(), 3u);
  Object any = nested;
  any = Sequential();
  EXPECT_EQ(any.n_children(), 0u);
  const Sequential within(nested, ReLU());
  EXPECT_EQ(types_of(within), "Sequential ReLU ");
  EXPECT_EQ(Sequential(any).size(), 1u);  // an object is a module, whatever it is
  const auto first = nested.begin();
  EXPECT_EQ(std::distance(first, nested.end()), 3);
}

}  // namespace
