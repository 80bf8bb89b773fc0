// Datasets side by side and streams one after the other.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tenon/data/chain.hpp>
#include <tenon/data/datasets.hpp>
#include <tenon/tenon.hpp>

#include "files_support.h"
#include "ops_support.h"

namespace tenon {
namespace {

using Order = std::vector<int64_t>;

struct JoinedData : files::FilesTest {
  static void SetUpTestSuite() { load_plugins(); }
};

struct Words {
  int64_t n = 4;
  int64_t size() const { return n; }
  std::string get(int64_t i) const { return "word " + std::to_string(i); }
};
// A number of the sample's own random numbers beside its index.
struct Drawn {
  int64_t size() const { return 4; }
  std::pair<int64_t, double> get(int64_t i, data::Random& random) const {
    return {i, random.uniform()};
  }
};

TEST_F(JoinedData, SamplesStandSideBySide) {
  const Tensor x = arange(0, 8).reshape({4, 2}), y = arange(10, 14);
  const data::StackDataset all(data::TensorDataset(x, y), Words{}, Drawn{});
  EXPECT_EQ(all.size(), 4);
  const auto [a, b, word, index, draw] = all[2];
  EXPECT_EQ(a.to_vector<int64_t>(), (Order{4, 5}));
  EXPECT_EQ(b.item<int64_t>(), 12);
  EXPECT_EQ(word, "word 2");
  EXPECT_EQ(index, 2);
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(all, {.batch_size = 3, .num_workers = workers, .seed = 5});
    data::DataLoader alone(Drawn{}, {.batch_size = 3, .seed = 5});
    auto other = alone.begin();
    Order seen;
    for (const auto& [rows, labels, words, indices, draws] : loader) {
      EXPECT_EQ(rows.size(0), labels.size(0));
      EXPECT_EQ(words.size(), size_t(rows.size(0)));
      for (const int64_t i : indices.template to_vector<int64_t>()) seen.push_back(i);
      const auto& [of_alone, same] = *other;
      EXPECT_TRUE(draws.equal(same));  // the others draw nothing
      ++other;
    }
    EXPECT_EQ(seen, (Order{0, 1, 2, 3}));
  }
}

TEST_F(JoinedData, DatasetsSideBySideHaveAsManyItems) {
  const Words five{5};
  EXPECT_EQ(files::message_of([&] { data::StackDataset all(Words{}, Drawn{}, five); }),
            "StackDataset: dataset 2 has 5 items, the first has 4");
  const data::StackDataset two(Words{}, Drawn{});
  EXPECT_EQ(files::message_of([&] { two[4]; }), "StackDataset: index 4 of 4 items");
}

// The numbers from `begin` to `end` - 1, and how often they were opened.
struct Range {
  int64_t begin, end;
  std::shared_ptr<Order> opened = std::make_shared<Order>();
  auto open(int64_t epoch) const {
    opened->push_back(epoch);
    return [i = begin, end = end]() mutable -> std::optional<int64_t> {
      if (i == end) return std::nullopt;
      return i++;
    };
  }
};
struct Negated : Range {
  int64_t get(int64_t item) const { return -item; }
};

TEST_F(JoinedData, StreamsFollowOneAnother) {
  for (const int64_t workers : {0, 2}) {
    const Range first{0, 3}, none{5, 5}, last{7, 9};
    data::StreamLoader loader(data::ChainDataset(first, none, Negated{last}),
                              {.batch_size = 2, .num_workers = workers});
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      Order all;
      for (const Tensor& batch : loader) {
        for (const int64_t i : batch.to_vector<int64_t>()) all.push_back(i);
      }
      EXPECT_EQ(all, (Order{0, 1, 2, -7, -8}));
    }
    EXPECT_EQ(*first.opened, (Order{0, 1}));
    EXPECT_EQ(*none.opened, (Order{0, 1}));
    EXPECT_EQ(*last.opened, (Order{0, 1}));
  }
  // The second is not opened before its turn.
  const Range first{0, 2}, last{7, 9};
  data::StreamLoader loader(data::ChainDataset(first, last), {.batch_size = 1});
  auto it = loader.begin();
  EXPECT_EQ((*it).item<int64_t>(), 0);
  EXPECT_EQ(first.opened->size(), 1u);
  EXPECT_EQ(last.opened->size(), 0u);
}

}  // namespace
}  // namespace tenon
