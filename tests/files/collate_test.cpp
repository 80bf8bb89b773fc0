// data/collate.hpp: samples within samples, and gradients from a batch to the tensors of its dataset.
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tenon/data/datasets.hpp>
#include <tenon/data/stream.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

struct Collate : testing::Test {
  static void SetUpTestSuite() { load_plugins(); }
};

// The gradient of the sum of the squares of all batches, the first field of each.
template <typename Loader>
void sum_of_squares(Loader&& loader) {
  for (auto& batch : loader) {
    const Tensor x = std::get<0>(batch);
    (x * x).sum().backward();
  }
}

TEST_F(Collate, GradientsReachTheTensorsOfADataset) {
  const Tensor p = randn({5, 2}).requires_grad_();
  const auto expect_twice = [&](const char* what) {
    EXPECT_TRUE(allclose(p.grad(), 2 * p.detach())) << what;
    p.grad().zero_();
  };
  sum_of_squares(data::DataLoader<data::TensorDataset<1>>(data::TensorDataset(p),
                                                          {.batch_size = 2, .shuffle = true}));
  expect_twice("TensorDataset");
  data::DataLoader pairs({p, arange(5)}, {.batch_size = 2});
  sum_of_squares(pairs);
  expect_twice("x and y");
  sum_of_squares(pairs);  // each pass has a graph of its own
  expect_twice("a second pass");
  data::DataLoader samples(data::Generated(5, [&](int64_t i) { return std::tuple(p[i]); }),
                           {.batch_size = 3});
  sum_of_squares(samples);
  expect_twice("stacked samples");
  data::TensorDataset columns(p.t());  // [2, 5], which is no row-major tensor
  const Tensor rows = stack({columns[0][0], columns[1][0]});
  (rows * rows).sum().backward();
  expect_twice("single items");
}

TEST_F(Collate, NothingIsRecordedWithinNoGrad) {
  const Tensor p = randn({4, 2}).requires_grad_();
  const NoGrad guard;
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader({p, arange(4)}, {.batch_size = 2, .num_workers = workers});
    for (auto& [x, y] : loader) EXPECT_FALSE(x.requires_grad());
  }
}

// As PyTorch's workers refuse to send a tensor with a history.
TEST_F(Collate, WorkersRefuseAHistory) {
  const Tensor p = randn({4, 2}).requires_grad_();
  data::DataLoader loader({p, arange(4)}, {.batch_size = 2, .num_workers = 1});
  EXPECT_SAYS(loader.begin(),
              "a tensor of the batch requires a gradient, and workers give no history; detach() "
              "what the dataset has, or make the batches with num_workers = 0");
  data::DataLoader detached({p.detach(), arange(4)}, {.batch_size = 2, .num_workers = 1});
  for (auto& [x, y] : detached) EXPECT_FALSE(x.requires_grad());
}

struct Pose {
  Tensor place;
  std::pair<Tensor, Tensor> angles;
};
struct Scene {
  Tensor image;
  Pose pose;
  std::map<std::string, Tensor> parts;
};

Scene scene(float i) {
  return {full({2}, i),
          {full({}, i), {full({}, -i), full({1}, 2 * i)}},
          {{"door", full({}, 3 * i)}, {"wall", zeros({2, 2})}}};
}

TEST_F(Collate, StructsPairsAndMapsWithinAStructAreStacked) {
  const Scene batch = data::default_collate(std::vector{scene(1), scene(2), scene(4)});
  EXPECT_EQ(batch.image.sizes(), (Ints{3, 2}));
  EXPECT_EQ(batch.pose.place.to_vector<float>(), (std::vector<float>{1, 2, 4}));
  EXPECT_EQ(batch.pose.angles.first.to_vector<float>(), (std::vector<float>{-1, -2, -4}));
  EXPECT_EQ(batch.pose.angles.second.sizes(), (Ints{3, 1}));
  EXPECT_EQ(batch.parts.at("door").to_vector<float>(), (std::vector<float>{3, 6, 12}));
  EXPECT_EQ(batch.parts.at("wall").sizes(), (Ints{3, 2, 2}));
}

struct Named {
  Tensor x;
  std::pair<std::string, int> name;
};

struct OfAPair {
  std::pair<Tensor, Tensor> pair;
};

TEST_F(Collate, OneWithinAnotherKeepsItsLevel) {
  const Tensor a = tensor({1, 2}), b = tensor({3, 4});
  using Tuple = std::tuple<std::pair<Tensor, Tensor>>;
  const Tuple tuple = data::default_collate(std::vector<Tuple>{{{a, b}}, {{b, a}}});
  EXPECT_TRUE(equal(std::get<0>(tuple).second, tensor({{3, 4}, {1, 2}})));
  using Array = std::array<std::array<Tensor, 2>, 1>;
  const Array array = data::default_collate(std::vector<Array>{Array{{{a, b}}}});
  EXPECT_TRUE(equal(array[0][1], tensor({{3, 4}})));
  using Inner = std::pair<std::tuple<std::tuple<Tensor>>, Tensor>;
  const Inner inner = data::default_collate(std::vector<Inner>{{{{a}}, b}});
  EXPECT_TRUE(equal(std::get<0>(std::get<0>(inner.first)), tensor({{1, 2}})));
  const OfAPair of_a_pair = data::default_collate(std::vector<OfAPair>{{{a, b}}, {{b, a}}});
  EXPECT_TRUE(equal(of_a_pair.pair.first, tensor({{1, 2}, {3, 4}})));
}

TEST_F(Collate, IntegersWithoutADtypeBecomeInt64) {
  using Sample = std::tuple<char, uint16_t, uint64_t, long double>;
  const auto [letters, shorts, longs, reals] =
      data::default_collate(std::vector<Sample>{{'a', 65535, 7, 0.5L}});
  EXPECT_EQ(letters.dtype(), int64);
  EXPECT_EQ(letters.item<int64_t>(), 'a');
  EXPECT_EQ(shorts.item<int64_t>(), 65535);
  EXPECT_EQ(longs.item<int64_t>(), 7);
  EXPECT_EQ(reals.dtype(), float64);
  EXPECT_SAYS((data::default_collate(std::vector<uint64_t>{1, UINT64_MAX})),
              "18446744073709551615 is no int64");
}

TEST_F(Collate, OfNoSamplesThereIsNoBatch) {
  EXPECT_SAYS(data::default_collate(std::vector<Tensor>{}),
              "default_collate: there are no samples, expected at least one");
  EXPECT_SAYS(data::default_collate(std::vector<std::vector<Tensor>>{}),
              "default_collate: there are no samples");
}

TEST_F(Collate, PinnedBatchesKeepTheirHistory) {
  const Tensor p = ones({4, 2}).requires_grad_();
  const Tensor pinned = (p * 2).pin_memory(Device("ref"));
  EXPECT_TRUE(pinned.requires_grad());
  pinned.sum().backward();
  EXPECT_TRUE(equal(p.grad(), full({4, 2}, 2.0)));
  p.grad().zero_();
  sum_of_squares(data::DataLoader<data::TensorDataset<1>>(
      data::TensorDataset(p), {.batch_size = 2, .pin_memory = Device("ref")}));
  EXPECT_TRUE(equal(p.grad(), full({4, 2}, 2.0)));
}

TEST_F(Collate, NumbersAndTextsWithinOthersAreCollatedToo) {
  using Sample = std::tuple<Named, std::unordered_map<int, double>, std::vector<Tensor>>;
  const std::vector<Sample> samples = {
      {{zeros({2}), {"a", 3}}, {{7, 0.5}}, {ones({1}), zeros({3})}},
      {{zeros({2}), {"b", 4}}, {{7, 1.5}}, {ones({1}), zeros({3})}}};
  auto [named, numbers, list] = data::default_collate(samples);
  auto& [x, name] = named;
  EXPECT_EQ(x.sizes(), (Ints{2, 2}));
  EXPECT_EQ(name.first, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(name.second.to_vector<int64_t>(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(name.second.dtype(), int64);
  EXPECT_EQ(numbers.at(7).to_vector<double>(), (std::vector<double>{0.5, 1.5}));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].sizes(), (Ints{2, 3}));
}

TEST_F(Collate, MapsOfOtherKeysAreRefusedWithTheSample) {
  using Sample = std::map<std::string, Tensor>;
  const std::vector<Sample> samples = {{{"a", zeros({})}, {"b", zeros({})}},
                                       {{"a", zeros({})}, {"c", zeros({})}},
                                       {{"a", zeros({})}}};
  for (const int64_t wrong : {1, 2}) {
    data::DataLoader loader(
        data::Generated(2, [&](int64_t i) { return samples[size_t(i == 0 ? 0 : wrong)]; }),
        {.batch_size = 2});
    EXPECT_SAYS(loader.begin(),
                wrong == 1
                    ? "DataLoader: sample 1 (batch 0): its keys are ['a', 'c'], those of the "
                      "first of its batch are ['a', 'b']"
                    : "its keys are ['a'], those of the first of its batch are ['a', 'b']");
  }
}

struct Count {
  auto open(int64_t) const {
    return [i = 0]() mutable { return i < 5 ? std::optional<int>(i++) : std::nullopt; };
  }
};

TEST_F(Collate, BatchesOfBothLoadersAreChangedInPlace) {
  data::StreamLoader stream(Count(), {.batch_size = 2});
  std::vector<int64_t> all;
  for (auto& batch : stream) {
    batch = batch + 1;
    for (const int64_t i : batch.to_vector<int64_t>()) all.push_back(i);
  }
  EXPECT_EQ(all, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(stream.begin()->size(0), 2);
  data::DataLoader loader({zeros({3}), ones({3})}, {.batch_size = 2});
  EXPECT_EQ(loader.begin()->second.numel(), 2);
}

TEST_F(Collate, AnIteratorBehindTheLastBatchGoesNoFurther) {
  data::StreamLoader stream(Count(), {.batch_size = 2});
  auto item = stream.begin();
  while (item != stream.end()) ++item;
  EXPECT_SAYS(++item, "StreamLoader: ++ of an iterator behind the last batch: the pass has ended");
  data::DataLoader loader({zeros({3}), ones({3})}, {.batch_size = 2});
  auto batch = loader.begin();
  while (batch != loader.end()) ++batch;
  EXPECT_SAYS(++batch, "DataLoader: ++ of an iterator behind the last batch: the pass has ended");
}

}  // namespace
}  // namespace tenon
