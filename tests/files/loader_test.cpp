// data/loader.hpp and data/datasets.hpp: datasets of one's own, batches of any fields, the place of
// a loader, what is refused. Threads are loader_threads_test.cpp's.
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tenon/data/datasets.hpp>
#include <tenon/data/samplers.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

using Order = std::vector<int64_t>;

struct Loader : testing::Test {
  static void SetUpTestSuite() { load_plugins(); }
};

struct Point {
  Tensor place, color, index;
};
// Item i: place [i, i + 1], color [-i], index i.
struct Points {
  int64_t n = 10;
  int64_t size() const { return n; }
  Point get(int64_t i) const {
    const auto f = static_cast<float>(i);
    return {tensor({f, f + 1}), tensor({-f}), tensor<int64_t>(i)};
  }
};

template <typename L>
Order indices_of(L& loader) {
  Order list;
  for (auto [place, color, index] : loader) {
    const Order own = index.template to_vector<int64_t>();
    list.insert(list.end(), own.begin(), own.end());
  }
  return list;
}

TEST_F(Loader, StructsOfTensorsAreStackedFieldByField) {
  data::DataLoader loader(Points(), {.batch_size = 4});
  EXPECT_EQ(loader.size(), 3);
  std::vector<Point> batches;
  for (auto batch : loader) batches.push_back(batch);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].place.sizes(), (Ints{4, 2}));
  EXPECT_EQ(batches[1].place.to_vector<float>(), (std::vector<float>{4, 5, 5, 6, 6, 7, 7, 8}));
  EXPECT_EQ(batches[1].color.to_vector<float>(), (std::vector<float>{-4, -5, -6, -7}));
  EXPECT_EQ(batches[2].index.to_vector<int64_t>(), (Order{8, 9}));
}

struct Wide {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
struct Widths {
  int64_t size() const { return 4; }
  Wide get(int64_t i) const {
    const Tensor x = tensor({float(i)});
    return {x, x, x, x, x, x, x, x, x + 8, x, x, x, x, x, x, x + 15};
  }
};
TEST_F(Loader, AStructMayHaveSixteenFields) {
  data::DataLoader loader(Widths(), {.batch_size = 4});
  for (auto batch : loader) {
    EXPECT_EQ(batch.i.to_vector<float>(), (std::vector<float>{8, 9, 10, 11}));
    EXPECT_EQ(batch.p.to_vector<float>(), (std::vector<float>{15, 16, 17, 18}));
  }
}

TEST_F(Loader, TuplesHaveTensorsNumbersAndOthers) {
  const data::Generated rows(3, [](int64_t i) {
    return std::tuple(tensor({float(i)}), i, 0.5f * float(i), i == 1, std::string(size_t(i), 'x'));
  });
  for (auto [t, integer, number, truth, text] : data::DataLoader(rows, {.batch_size = 3})) {
    EXPECT_EQ(t.sizes(), (Ints{3, 1}));
    EXPECT_EQ(integer.dtype(), int64);
    EXPECT_EQ(integer.to_vector<int64_t>(), (Order{0, 1, 2}));
    EXPECT_EQ(number.dtype(), float32);
    EXPECT_EQ(number.to_vector<float>(), (std::vector<float>{0, 0.5, 1}));
    EXPECT_EQ(truth.dtype(), bool_);
    EXPECT_EQ(text, (std::vector<std::string>{"", "x", "xx"}));
  }
}

TEST_F(Loader, OtherKindsOfSamples) {
  const data::Generated single(3, [](int64_t i) { return tensor({i}); });
  for (Tensor t : data::DataLoader(single, {.batch_size = 3})) {
    EXPECT_EQ(t.to_vector<int64_t>(), (Order{0, 1, 2}));
  }
  const data::Generated lists(2, [](int64_t i) { return std::vector{tensor({i}), tensor({-i})}; });
  for (std::vector<Tensor> t : data::DataLoader(lists, {.batch_size = 2})) {
    EXPECT_EQ(t[1].to_vector<int64_t>(), (Order{0, -1}));
  }
  const data::Generated pairs(2, [](int64_t i) { return std::pair(tensor({i}), i); });
  for (auto [x, y] : data::DataLoader(pairs, {.batch_size = 2})) {
    EXPECT_EQ(y.to_vector<int64_t>(), (Order{0, 1}));
  }
}

TEST_F(Loader, CollateMakesTheBatch) {
  const data::Generated words(4, [](int64_t i) { return std::string(size_t(i), 'a'); });
  data::DataLoader loader(words, {.batch_size = 3}, [](const std::vector<std::string>& samples) {
    size_t longest = 0;
    for (const std::string& s : samples) longest = std::max(longest, s.size());
    return std::pair(samples.size(), longest);
  });
  std::vector<std::pair<size_t, size_t>> found;
  for (auto batch : loader) found.push_back(batch);
  EXPECT_EQ(found, (std::vector<std::pair<size_t, size_t>>{{3, 2}, {1, 3}}));
}

TEST_F(Loader, TensorDatasetHasAnyNumberOfFields) {
  const Tensor a = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), b = tensor<int64_t>({7, 8, 9});
  const data::TensorDataset all(a.to("ref"), b, a.t().contiguous().t());
  EXPECT_EQ(all.get(1)[0].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(all.get(1)[1].item<int64_t>(), 8);
  for (auto [x, y, z] : data::DataLoader(all, {.batch_size = 2, .drop_last = true})) {
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(y.to_vector<int64_t>(), (Order{7, 8}));
    EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  }
  EXPECT_SAYS(data::TensorDataset(a, tensor({1.f})), "tensor 1 has 1 items, the first has 3");
  EXPECT_SAYS(data::TensorDataset(a, tensor(1.f)), "tensor 1 has no dimension of items");
  EXPECT_SAYS(all.get(3), "TensorDataset: index 3 of 3 items");
}

// Batches that have lost the dimension of items.
struct Flat {
  Tensor value;
  int64_t size() const { return 3; }
  Tensor get_batch(const std::vector<int64_t>&) const { return value; }
};
TEST_F(Loader, ABatchOfOneHasOneItem) {
  EXPECT_SAYS(data::Subset(Flat{tensor(1.f)}, {1})[0],
              "get_batch of one index gives a tensor of sizes [], expected 1 as the first of them");
  EXPECT_SAYS(data::Subset(Flat{zeros({2, 3})}, {1})[0],
              "gives a tensor of sizes [2, 3], expected 1");
  EXPECT_EQ(data::Subset(Flat{zeros({1, 3})}, {1})[0].sizes(), (Ints{3}));
}

TEST_F(Loader, DatasetsAreMadeOfOthers) {
  const data::Subset part(Points(), {9, 2, 4});
  data::DataLoader of_part(part, {.batch_size = 2});
  EXPECT_EQ(indices_of(of_part), (Order{9, 2, 4}));
  EXPECT_SAYS(data::Subset(Points(), {10}), "Subset: index 10 of 10 items");
  auto [train, test] = data::random_split(Points(), {0.75, 0.25}, 3);
  EXPECT_EQ(train.size(), 8);
  EXPECT_EQ(test.size(), 2);
  Order together = train.indices();
  together.insert(together.end(), test.indices().begin(), test.indices().end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, (Order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_SAYS(data::random_split(Points(), {0.75, 0.5}, 3),
              "the fractions together are 1.25, expected at most 1");
  EXPECT_SAYS(data::random_split(Points(), {-1.0}, 3), "fraction 0 is -1");
  data::DataLoader both(data::Concat(Points{2}, part), {.batch_size = 4});
  EXPECT_EQ(indices_of(both), (Order{0, 1, 9, 2, 4}));
  const data::Dataset table{tensor({{1.f}, {2.f}}), tensor<int64_t>({0, 1})};
  const auto doubled = data::map(table, [](std::pair<Tensor, Tensor> batch) {
    return std::pair(batch.first * 2, batch.second);
  });
  for (auto [x, y] : data::DataLoader(doubled, {.batch_size = 2})) {
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 4}));
  }
  auto pairs = data::map(Points(), [](Point p) { return std::pair(p.place, p.index); });
  for (auto [place, index] : data::DataLoader(pairs, {.batch_size = 10})) {
    EXPECT_EQ(place.sizes(), (Ints{10, 2}));
  }
}

struct Labelled {
  Tensor image;
  int64_t label;
  double weight;
  std::string name;
};

// Parts of parts, joined; of datasets that give whole batches, too.
TEST_F(Loader, PartsOfDatasetsAreJoined) {
  const data::TensorDataset whole(arange(10), arange(10) * 2);
  const auto doubled = data::map(whole, [](std::array<Tensor, 2> batch) {
    return std::array<Tensor, 2>{batch[0], batch[1] * 10};
  });
  data::DataLoader joined(
      data::ConcatDataset(data::Subset(whole, {7, 1}), whole, data::Subset(doubled, {3})),
      {.batch_size = 100});
  for (auto [x, y] : joined) {
    EXPECT_EQ(x.to_vector<int64_t>(),
              (std::vector<int64_t>{7, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3}));
    EXPECT_EQ(y.to_vector<int64_t>(),
              (std::vector<int64_t>{14, 2, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 60}));
  }
  const auto [seventh, twice] = data::Subset(whole, {7, 1})[0];
  EXPECT_EQ(seventh.item<int64_t>(), 7);
  EXPECT_EQ(twice.item<int64_t>(), 14);
  EXPECT_EQ(data::ConcatDataset(whole, whole)[12][1].item<int64_t>(), 4);
  EXPECT_EQ(doubled[3][1].item<int64_t>(), 60);
  EXPECT_SAYS(data::Subset(whole, {7, 1})[2], "Subset: index 2 of 2 items");
  const auto noisy = data::map(data::Subset(whole, {7, 1}), [](auto item, data::Random& random) {
    item[1] = item[1] + random.uniform() + rand({});
    return item;
  });
  EXPECT_EQ(noisy[1][1].item<double>(), noisy[1][1].item<double>());
  data::DataLoader of_noisy(noisy, {.batch_size = 2});
  for (auto [x, y] : of_noisy) EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{7, 1}));
  manual_seed(9);
  const auto [left, right] = data::random_split(whole, {0.5, 0.5});
  EXPECT_EQ(left.indices(), data::random_split(whole, {0.5, 0.5}, 9)[0].indices());
  EXPECT_EQ(right.indices(), data::random_split(whole, {5, 5})[1].indices());
}

TEST_F(Loader, StructsMayHaveNumbersAndTexts) {
  const data::Generated dataset(3, [](int64_t i) {
    return Labelled{full({2}, double(i)), i, 0.5 * double(i), "n" + std::to_string(i)};
  });
  for (auto [image, label, weight, name] :
       data::DataLoader(dataset, {.batch_size = 3, .num_workers = 2})) {
    EXPECT_EQ(image.sizes(), (Ints{3, 2}));
    EXPECT_EQ(label.to_vector<int64_t>(), (Order{0, 1, 2}));
    EXPECT_EQ(weight.dtype(), float64);
    EXPECT_EQ(weight.to_vector<double>(), (std::vector<double>{0, 0.5, 1}));
    EXPECT_EQ(name[2], "n2");
  }
}

TEST_F(Loader, DatasetsAreSplitByLengthsAndJoined) {
  auto [train, test] = data::random_split(Points(), {7, 3}, 3);
  EXPECT_EQ(train.size(), 7);
  EXPECT_EQ(test.size(), 3);
  EXPECT_SAYS(data::random_split(Points(), {7, 4}, 3),
              "random_split: the lengths together are 11, the dataset has 10 items");
  EXPECT_SAYS(data::random_split(Points(), {-1, 11}, 3),
              "random_split: length 0 is -1, expected 0 to 10");
  const data::ConcatDataset three(Points{2}, data::Subset(Points(), {9, 4}), Points{1});
  data::DataLoader loader(three, {.batch_size = 5});
  EXPECT_EQ(indices_of(loader), (Order{0, 1, 9, 4, 0}));
  data::Random random(0);
  EXPECT_SAYS(three.get(5, random), "Concat: index 5 of 5 items");
  EXPECT_SAYS(three.get(-1, random), "Concat: index -1 of 5 items");
  const data::TensorDataset table(tensor({1.f, 2.f}), tensor({3, 4}));
  EXPECT_EQ(table[1][1].item<int64_t>(), 4);
}

struct Labels {
  int64_t size() const { return 3; }
  std::tuple<int, unsigned, int16_t, size_t> get(int64_t i) const {
    return {-int(i), unsigned(i), int16_t(i), size_t(i)};
  }
};

TEST_F(Loader, IntsAreInt64AsLabelsAre) {
  data::DataLoader loader(Labels(), {.batch_size = 3});
  for (auto [a, b, c, d] : loader) {
    EXPECT_EQ(a.to_vector<int64_t>(), (Order{0, -1, -2}));
    EXPECT_EQ(a.dtype(), int64);
    EXPECT_EQ(b.dtype(), int64);
    EXPECT_EQ(c.dtype(), int16);
    EXPECT_EQ(d.dtype(), int64);
  }
}

TEST_F(Loader, WrongUseIsAnError) {
  data::DataLoader loader(Points(), {.batch_size = 4});
  auto place = loader.begin();
  while (place != loader.end()) ++place;
  EXPECT_SAYS(*place, "DataLoader: no batch is here: the pass has ended");
  const char* inner =
      "DataLoader: a loop over this loader began another pass of it, which ended this one; a loop "
      "within a loop needs a loader of its own";
  auto outer = loader.begin();
  for (auto batch : loader) EXPECT_EQ(batch.index.size(0) > 0, true);
  EXPECT_SAYS(*outer, inner);
  EXPECT_SAYS(++outer, inner);
  auto behind = loader.begin();  // of a loop that was left
  for (auto batch : loader) break;
  EXPECT_SAYS(++behind, inner);
  const data::DataLoader moved = std::move(loader);
  EXPECT_EQ(moved.size(), 3);
  const char* message = "DataLoader: the loader was moved from";
  EXPECT_SAYS(loader.size(), message);
  EXPECT_SAYS(loader.begin(), message);
  EXPECT_SAYS(loader.epoch(), message);
  EXPECT_SAYS(loader.state_dict(), message);

  EXPECT_SAYS(data::DataLoader(Points{-5}, {.batch_size = 4}),
              "DataLoader: the dataset's size() is -5, expected 0 or more");
  data::DataLoader none(
      data::Generated(4, [](int64_t i) { return i == 2 ? Tensor() : zeros({1}); }),
      {.batch_size = 4});
  EXPECT_SAYS(none.begin(), "sample 2 (batch 0): its tensor is None, expected a tensor");
  data::DataLoader lists(
      data::Generated(2, [](int64_t i) { return std::vector<Tensor>(size_t(i), zeros({1})); }),
      {.batch_size = 2});
  EXPECT_SAYS(lists.begin(), "sample 1 (batch 0): it has 1 tensors, the first of its batch 0");
}

TEST_F(Loader, SamplersDecideTheOrder) {
  data::DataLoader loader(Points(),
                          {.batch_size = 4, .sampler = data::SubsetRandomSampler({3, 6})});
  EXPECT_EQ(loader.size(), 1);
  Order order = indices_of(loader);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (Order{3, 6}));
  EXPECT_SAYS(data::DataLoader(Points(), {.shuffle = true, .sampler = data::RandomSampler()}),
              "shuffle and sampler are both given");
  data::DataLoader beyond(Points(), {.sampler = data::SubsetRandomSampler({3, 10})});
  EXPECT_SAYS(beyond.begin(), "the sampler gives index 10 of a dataset of 10 items");
}

TEST_F(Loader, BatchesComeToTheDevice) {
  for (auto [place, color, index] :
       data::DataLoader(Points(), {.batch_size = 5, .device = Device("ref")})) {
    EXPECT_EQ(place.device(), Device("ref"));
    EXPECT_EQ(index.device(), Device("ref"));
  }
}

// torchvision's normalize of x * scale: ((x * 0.5) - mean) / std.
TEST_F(Loader, NormalizeIsByChannels) {
  const Tensor bytes = arange(2 * 3 * 4 * 5).to(uint8).view({2, 3, 4, 5});
  const data::Normalize normal({1, 2, 3}, {2, 4, 8}, {.scale = 0.5});
  for (const Tensor& x : {bytes, bytes.to(float32)}) {
    const std::vector<float> y = normal(x).to_vector<float>();
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t c = i / 20 % 3;
      EXPECT_FLOAT_EQ(y[i], (0.5f * float(i) - float(c + 1)) / float(2 << c));
    }
  }
  EXPECT_EQ(data::Normalize({1}, {2})(tensor({5.f, 7.f})).to_vector<float>(),
            (std::vector<float>{2, 3}));
  EXPECT_SAYS(normal(zeros({4, 4, 4})),
              "it is for images [..., 3, height, width], got float32 [4, 4, 4]");
  EXPECT_SAYS(data::Normalize({1}, {2})(zeros({1}, float64)), "uint8 and float32, got float64 [1]");
  EXPECT_SAYS(data::Normalize({1, 2}, {2}), "2 means and 1 deviations");
  EXPECT_SAYS(data::Normalize({1}, {0}), "a deviation above 0");
}

// ---- The place of a loader

data::LoaderOptions shuffled() { return {.batch_size = 3, .shuffle = true, .seed = 5}; }

TEST_F(Loader, GoesOnInTheMiddleOfAnEpoch) {
  data::DataLoader whole(Points(), shuffled());
  const Order first = indices_of(whole), second = indices_of(whole), third = indices_of(whole);
  for (int64_t stop = 1; stop <= 8; ++stop) {
    data::DataLoader before(Points(), shuffled());
    Order given;
    NamedTensors state;
    for (int64_t n = 0; n < stop;) {
      for (auto [place, color, index] : before) {
        const Order own = index.to_vector<int64_t>();
        given.insert(given.end(), own.begin(), own.end());
        if (++n == stop) {
          state = before.state_dict();
          break;
        }
      }
    }
    data::DataLoader after(Points(), {.batch_size = 3, .shuffle = true, .seed = 77});
    after.load_state_dict(state);
    while (given.size() < 30) {
      const Order own = indices_of(after);
      given.insert(given.end(), own.begin(), own.end());
    }
    Order expected = first;
    expected.insert(expected.end(), second.begin(), second.end());
    expected.insert(expected.end(), third.begin(), third.end());
    EXPECT_EQ(given, expected) << "stopped after " << stop;
  }
}

TEST_F(Loader, TellsWhereItIs) {
  data::DataLoader loader(Points(), shuffled());
  EXPECT_EQ(loader.batch(), 0);
  int64_t n = 0;
  for (auto batch : loader) {
    EXPECT_EQ(loader.batch(), ++n);
    EXPECT_EQ(loader.epoch(), 0);
  }
  for (auto batch : loader) EXPECT_EQ(loader.epoch(), 1);
}

TEST_F(Loader, StatesOfOthersAreRefused) {
  data::DataLoader loader(Points(), shuffled()), other(Points{11}, shuffled());
  EXPECT_SAYS(loader.load_state_dict(other.state_dict()),
              "the state is of 11 items in batches of 3, this loader has 10 in batches of 3");
  EXPECT_SAYS(loader.load_state_dict({}), "the state has no 'epoch'");
  NamedTensors state = loader.state_dict();
  state[1].second = tensor<int64_t>(9);
  EXPECT_SAYS(loader.load_state_dict(state), "the state is at batch 9 of epoch 0, an epoch has 4");
}

// ---- Errors

TEST_F(Loader, OptionsAreChecked) {
  const auto says = [](const data::LoaderOptions& options, const char* part) {
    EXPECT_SAYS(data::DataLoader(Points(), options), part);
  };
  says({.batch_size = 0}, "batch_size is 0, expected at least 1");
  says({.num_workers = -1}, "num_workers is -1, expected 0 to 1024");
  says({.prefetch_factor = 0}, "prefetch_factor is 0, expected 1 to 1024");
  says({.pin_memory = Device("ref"), .device = Device("ref")},
       "DataLoader: device and pin_memory are both given; batches are on the device already");
}

TEST_F(Loader, ErrorsNameTheSample) {
  const data::Generated bad(10, [](int64_t i) {
    if (i == 7) throw std::runtime_error("it is rotten");
    return tensor({i});
  });
  data::DataLoader loader(bad, {.batch_size = 4});
  auto at = loader.begin();
  try {
    ++at;
    FAIL() << "the error of sample 7 is lost";
  } catch (const data::SampleError& error) {
    EXPECT_STREQ(error.what(), "DataLoader: sample 7 (batch 1): it is rotten");
    EXPECT_EQ(error.sample, 7);
    EXPECT_EQ(error.batch, 1);
    EXPECT_THROW(std::rethrow_exception(error.cause), std::runtime_error);
  }
  ++at;  // behind an error the pass is over
  EXPECT_EQ(at, loader.end());
  const data::Generated uneven(3, [](int64_t i) { return zeros({i == 1 ? 3 : 2}); });
  EXPECT_SAYS(data::DataLoader(uneven, {.batch_size = 3}).begin(),
              "sample 1 (batch 0): it is float32 [3], the first of its batch is float32 [2]");
  const auto none =
      data::map(data::Dataset{zeros({4, 1}), zeros({4})}, [](std::pair<Tensor, Tensor> batch) {
        if (batch.first.defined()) fail("no batch is good");
        return batch;
      });
  EXPECT_SAYS(data::DataLoader(none, {.batch_size = 3}).begin(),
              "DataLoader: batch 0 (sample 0 and 2 more): no batch is good");
}

// Each sample's numbers follow from seed, epoch and place alone.
TEST_F(Loader, SamplesDrawRandomNumbersOfTheirOwn) {
  const data::Generated noise(6, [](int64_t, data::Random& random) { return random.uniform(); });
  const auto pass = [&](uint64_t seed, int epochs) {
    data::DataLoader loader(noise, {.batch_size = 6, .seed = seed});
    std::vector<double> values;
    for (int i = 0; i < epochs; ++i) {
      for (Tensor t : loader) values = t.to_vector<double>();
    }
    return values;
  };
  EXPECT_EQ(pass(1, 1), pass(1, 1));
  EXPECT_NE(pass(1, 1), pass(1, 2));
  EXPECT_NE(pass(1, 1), pass(2, 1));
  const std::vector<double> values = pass(1, 1);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 6u);
}

}  // namespace
}  // namespace tenon
