// data.hpp: CSV files as tensors, held-out items, batches and their order.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

class DataTest : public files::FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }
};

// n items: x [n, 2] = {10 i, 10 i + 1}, y [n] = i.
data::Dataset counted(int64_t n) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<float>(10 * i));
    x.push_back(static_cast<float>(10 * i + 1));
    y.push_back(i);
  }
  return {Tensor::from(x, {n, 2}), Tensor::from(y)};
}

std::vector<int64_t> labels_of_pass(data::DataLoader<data::Dataset>& loader) {
  std::vector<int64_t> labels;
  for (auto [x, y] : loader) {
    const std::vector<int64_t> batch = y.to_vector<int64_t>();
    const std::vector<float> features = x.to_vector<float>();
    for (size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(features[2 * i], 10.f * static_cast<float>(batch[i]));
      EXPECT_EQ(features[2 * i + 1], 10.f * static_cast<float>(batch[i]) + 1);
    }
    labels.insert(labels.end(), batch.begin(), batch.end());
  }
  return labels;
}

TEST_F(DataTest, CsvGivesFeaturesAndLabels) {
  const std::string file = write("a.csv", "1,2,7\n3,4,8\n");
  const data::Dataset d = data::csv(file, {.scale = 0.5});
  EXPECT_EQ(d.x.dtype(), float32);
  EXPECT_EQ(d.x.to_vector<float>(), (std::vector<float>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(std::vector<int64_t>(d.x.sizes().begin(), d.x.sizes().end()),
            (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(d.y.dtype(), int64);
  EXPECT_EQ(d.y.to_vector<int64_t>(), (std::vector<int64_t>{7, 8}));
  const data::Dataset first = data::csv(file, {.label = 0});
  EXPECT_EQ(first.y.to_vector<int64_t>(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(first.x.to_vector<float>(), (std::vector<float>{2, 7, 4, 8}));
}

TEST_F(DataTest, CsvErrorsNameTheLine) {
  EXPECT_SAYS(data::csv(write("a.csv", "1,2\n3\n")), "a.csv:2: 1 field, line 1 has 2");
  EXPECT_SAYS(data::csv(write("a.csv", "1,2\n3,-4\n")), "a.csv:2: column 2: -4 is not a class");
  EXPECT_SAYS(data::csv(write("a.csv", "1,2\n"), {.label = 2}), "there is no column 2 among its 2");
  EXPECT_SAYS(data::csv(path("absent.csv")), "absent.csv: cannot be opened");
}

TEST_F(DataTest, CsvGivesSeveralTargets) {
  const std::string file = write("a.csv", "1,2,0.5,7\n3,4,-1.5,8\n");
  const data::Dataset d = data::csv(file, {.scale = 2, .targets = {-1, 2}});
  EXPECT_EQ(d.x.to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(d.y.dtype(), float32);
  EXPECT_EQ(d.y.sizes(), (Ints{2, 2}));
  EXPECT_EQ(d.y.to_vector<float>(), (std::vector<float>{7, 0.5, 8, -1.5}));
  EXPECT_SAYS(data::csv(file, {.targets = {4}}), "a.csv: there is no column 4 among its 4");
  EXPECT_SAYS(data::csv(write("b.csv", "1,1e39\n"), {.targets = {1}}),
              "b.csv:1: column 2: 1e+39 is more than float32 holds");
}

// Tables as they are met: names, texts, what is missing.
TEST_F(DataTest, CsvTakesNamesAndTexts) {
  const std::string file = write("a.csv",
                                 "id;town;age;height;species\n"
                                 "a1;Rome;4;1.5;\"wolf\"\n"
                                 "a2;\"Oslo; N\";NA;2.5;fox\n"
                                 "a3;Rome;6;3.5;wolf\n");
  const data::CsvOptions options = {.label = "species",
                                    .header = true,
                                    .skip = {"id"},
                                    .one_hot = {"town"},
                                    .missing = -1,
                                    .separator = ';'};
  const data::Dataset d = data::csv(file, options);
  EXPECT_EQ(d.x.sizes(), (Ints{3, 4}));  // Oslo, Rome, age, height
  EXPECT_EQ(d.x.to_vector<float>(),
            (std::vector<float>{0, 1, 4, 1.5, 1, 0, -1, 2.5, 0, 1, 6, 3.5}));
  EXPECT_EQ(d.y.dtype(), int64);
  EXPECT_EQ(d.y.to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(data::csv_classes(file, options), (std::vector<std::string>{"fox", "wolf"}));
  data::CsvOptions numbers = options;
  numbers.targets = {"height", 2};
  numbers.skip = {0, "species"};
  numbers.missing = {};
  EXPECT_SAYS(data::csv(file, numbers), "a.csv:3: column 3 (age): 'NA' is not a number");
  numbers.targets = {"height"};
  numbers.missing = 0;
  const data::Dataset e = data::csv(file, numbers);
  EXPECT_EQ(e.x.to_vector<float>(), (std::vector<float>{0, 1, 4, 1, 0, 0, 0, 1, 6}));
  EXPECT_EQ(e.y.to_vector<float>(), (std::vector<float>{1.5, 2.5, 3.5}));
  EXPECT_TRUE(data::csv_classes(file, {.label = 3, .header = true, .separator = ';'}).empty());
}

TEST_F(DataTest, CsvErrorsNameTheColumn) {
  const std::string file = write("a.csv", "town,kind\nRome,a\nOslo,\n");
  const auto read = [&](const data::CsvOptions& options) { data::csv(file, options); };
  EXPECT_SAYS(
      read({.header = true, .one_hot = {0}}),
      "a.csv:3: column 2 (kind): '' stands for what is missing, expected the name of a class");
  EXPECT_SAYS(
      read({.label = "town", .header = true, .one_hot = {0}}),
      "a.csv: column 0 is among those of `one_hot`, and also the label, a target or one to skip");
  EXPECT_SAYS(read({.label = "twon", .header = true}), "did you mean 'town'?");
  EXPECT_SAYS(read({.label = "town"}), "columns have names where `header` says");
  EXPECT_SAYS(read({.label = "town", .header = true}),
              "a.csv:2: column 2 (kind): 'a' is not a number");
  // A label that is missing is no class, in the first line or a later one.
  for (const char* text : {"NA,1\n1,2\n", "1,1\nNA,2\n", "no,1\nNA,2\n"}) {
    EXPECT_SAYS(data::csv(write("m.csv", text), {.label = 0}), "column 1: 'NA' ");
  }
  EXPECT_SAYS(data::csv(write("m.csv", "1,\n"), {.label = 0, .missing = NAN}),
              "m.csv: missing is nan, expected a finite number");
  EXPECT_EQ(data::csv(write("m.csv", "1,2\n"), {.label = "no", .targets = {0}}).y.item<float>(), 1);
  std::string many = "x,0\n";
  for (int i = 0; i < 1001; ++i) many += "x" + std::to_string(i) + "," + std::to_string(i) + "\n";
  const std::string wide = write("b.csv", many);
  EXPECT_SAYS(
      data::csv(wide, {.one_hot = {0}}),
      "b.csv:1001: column 1: there are more than 1000 different texts up to here, expected at "
      "most that in a column of `one_hot`");
  EXPECT_SAYS(data::csv(wide, {.label = 0}), "expected at most that in a column of classes");
  // The first line says whether classes are numbers.
  EXPECT_SAYS(data::csv(write("c.csv", "1,2\n1,two\n")),
              "c.csv:2: column 2: 'two' is not a number");
}

TEST_F(DataTest, CifarGivesImagesAndClasses) {
  const std::string image(3072, '\x07');
  const data::Dataset d = data::cifar(write("a.bin", "\x03" + image + "\x09" + image));
  EXPECT_EQ(d.x.dtype(), uint8);
  EXPECT_EQ(d.x.sizes(), (Ints{2, 3, 32, 32}));
  EXPECT_EQ(d.y.to_vector<int64_t>(), (std::vector<int64_t>{3, 9}));
  EXPECT_EQ(data::cifar(write("b.bin", "\x13\x63" + image), {.classes = 100, .coarse = true})
                .y.item<int64_t>(),
            19);
}

TEST_F(DataTest, HoldOutTakesEveryNthFromTheFirst) {
  const auto [rest, held] = counted(13).hold_out(6);
  EXPECT_EQ(held.y.to_vector<int64_t>(), (std::vector<int64_t>{0, 6, 12}));
  EXPECT_EQ(rest.y.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 5, 7, 8, 9, 10, 11}));
  EXPECT_EQ(held.x.to_vector<float>(), (std::vector<float>{0, 1, 60, 61, 120, 121}));
  EXPECT_SAYS(counted(3).hold_out(1), "expected at least 2");
}

TEST_F(DataTest, BatchesComeInOrderUnlessShuffled) {
  data::DataLoader loader(counted(10), {.batch_size = 4});
  EXPECT_EQ(loader.size(), 3);
  std::vector<int64_t> sizes;
  for (auto [x, y] : loader) sizes.push_back(x.size(0));
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(labels_of_pass(loader), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  data::DataLoader full(counted(10), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(labels_of_pass(full).size(), 8u);
}

TEST_F(DataTest, EachPassHasEveryItemInAnOrderOfItsOwn) {
  data::DataLoader loader(counted(100), {.batch_size = 7, .shuffle = true, .seed = 3});
  const std::vector<int64_t> first = labels_of_pass(loader), second = labels_of_pass(loader);
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100u);
  EXPECT_EQ(std::set<int64_t>(second.begin(), second.end()).size(), 100u);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST_F(DataTest, TheSeedDecidesTheOrder) {
  const auto order = [](std::optional<uint64_t> seed) {
    data::DataLoader loader(counted(50), {.batch_size = 5, .shuffle = true, .seed = seed});
    return labels_of_pass(loader);
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  manual_seed(1);
  EXPECT_EQ(order({}), order(1));
}

// 3! orders of three items, each about as often as the others: 6000 passes, 1000 each, standard
// deviation 29.
TEST_F(DataTest, EveryOrderIsAsLikely) {
  data::DataLoader loader(counted(3), {.batch_size = 3, .shuffle = true, .seed = 5});
  std::map<std::vector<int64_t>, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[labels_of_pass(loader)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST_F(DataTest, LoaderTakesDataOfAnyDeviceAndLayout) {
  data::Dataset d = counted(4);
  d.x = d.x.to("ref");
  d.y = d.y.to("ref:1");
  data::DataLoader loader(d, {.batch_size = 3});
  EXPECT_EQ(labels_of_pass(loader), (std::vector<int64_t>{0, 1, 2, 3}));
  const Tensor columns = Tensor::from(std::vector<float>{0, 10, 20, 1, 11, 21}, {2, 3}).t();
  data::DataLoader transposed({columns, counted(3).y}, {.batch_size = 2});
  EXPECT_EQ(labels_of_pass(transposed), (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(DataTest, LoaderRefusesWhatDoesNotFit) {
  EXPECT_SAYS(data::DataLoader({counted(3).x, counted(4).y}), "x and y need one item each");
  EXPECT_SAYS(data::DataLoader(counted(3), {.batch_size = 0}),
              "batch_size is 0, expected at least 1");
  EXPECT_SAYS(counted(3).at({3}), "Dataset: index 3 of 3 items");
}

}  // namespace
}  // namespace tenon
