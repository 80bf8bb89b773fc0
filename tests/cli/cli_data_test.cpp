// `tenon train` on IDX and safetensors files: the same digits learn the same, and what is wrong in
// a file is said.
#include "cli_support.h"

#include <nlohmann/json.hpp>

#include "tenon/tenon.hpp"

namespace cli {
namespace {

using nlohmann::json;

using ::tenon::Tensor;

class DataTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ::tenon::load_plugins();
  }
  // The digits' training with these fields in the place of the table's.
  std::string with(const std::string& fields) const {
    return training({{"\"csv\": \"digits.csv\",\n    \"label\": \"last\"", fields}});
  }
  std::string losses(const std::string& file) const {
    const Outcome run = tenon("train " + file + " --epochs 1 --json");
    EXPECT_EQ(run.code, 0) << run.err;
    if (run.code != 0) return "";
    const json result = json::parse(run.out);
    return result.at("epochs").dump() + result.at("test_accuracy").dump();
  }
  std::string refused(const std::string& file) const {
    const Outcome run = tenon("train " + file);
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(run.out, "");
    return run.err;
  }
};

std::string idx(std::vector<uint32_t> sizes, const std::string& data) {
  std::string bytes = {'\0', '\0', '\x08', char(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(char(size >> shift & 0xff));
  }
  return bytes + data;
}

TEST_F(DataTest, TheSameDigitsFromEachFormat) {
  const ::tenon::data::Dataset all = ::tenon::data::csv(digits() + "/digits.csv");
  const std::string expected = losses(training({}));
  ASSERT_NE(expected, "");

  std::string pixels, labels;
  for (const float v : all.x.to_vector<float>()) pixels.push_back(char(v));
  for (const int64_t v : all.y.to_vector<int64_t>()) labels.push_back(char(v));
  const auto n = uint32_t(labels.size());
  write("x-idx2-ubyte", idx({n, 64}, pixels));
  write("y-idx1-ubyte", idx({n}, labels));
  EXPECT_EQ(losses(with(R"("images": "x-idx2-ubyte", "labels": "y-idx1-ubyte")")), expected);

  ::tenon::save({{"pixels", all.x}, {"digit", all.y}}, path("d.safetensors"));
  EXPECT_EQ(losses(with(R"("safetensors": "d.safetensors", "input": "pixels", "target": "digit")")),
            expected);
}

TEST_F(DataTest, WhatIsWrongInIdxFilesIsNamed) {
  const std::string file = with(R"("images": "x", "labels": "y")");
  write("x", idx({3, 64}, std::string(3 * 64, 'a')));
  write("y", idx({3}, std::string("\0\1\xa", 3)));
  EXPECT_HAS(refused(file), "/y: item 2: the label is 10, but the model of " + file +
                                " has 10 outputs; expected 0 to 9");
  write("y", idx({2}, std::string("\0\1", 2)));
  const std::string shapes = refused(file);
  EXPECT_HAS(shapes, "t.json:3: data: ");
  EXPECT_HAS(shapes, "/x is [3, 64] (uint8), ");
  EXPECT_HAS(shapes, "/y is [2] (uint8); expected [n, ..] and [n] with the same n");
  write("y", idx({4}, std::string("\0\1", 2)));
  EXPECT_HAS(refused(file), "/y: shape [4] of 1 bytes each does not fill the 2 bytes of data");
  fs::remove(path("x"));
  EXPECT_HAS(refused(file), "/x: cannot be opened: No such file");
  EXPECT_HAS(refused(with(R"("images": "x")")), "t.json:2: data: the field 'labels' is missing");
  EXPECT_HAS(refused(with(R"("images": "", "labels": "y")")), "t.json:3: data: images is empty");
}

TEST_F(DataTest, WhatIsWrongInSafetensorsIsNamed) {
  const auto file = [&](const char* input, const char* target) {
    return with(std::string(R"("safetensors": "d", "input": ")") + input + R"(", "target": ")" +
                target + "\"");
  };
  const Tensor x = ::tenon::zeros({3, 64});
  ::tenon::save({{"x", x},
                 {"y", ::tenon::tensor({int64_t{0}, int64_t{-1}, int64_t{1}})},
                 {"f", ::tenon::zeros({3})},
                 {"none", ::tenon::zeros({0, 64})},
                 {"no", ::tenon::zeros({0}, ::tenon::int64)},
                 {"one", ::tenon::zeros({1, 64})},
                 {"1", ::tenon::zeros({1}, ::tenon::int64)}},
                path("d"));
  EXPECT_HAS(refused(file("x", "y")), "/d: item 1: the label is -1, but the model of ");
  EXPECT_HAS(
      refused(file("x", "f")),
      "t.json:7: model: gives a tensor of shape [2, 10] for targets of [2], expected the same");
  EXPECT_HAS(refused(file("y", "y")),
             "data: y is [3] (int64), y is [3] (int64); expected [n, ..] and [n]");
  EXPECT_HAS(refused(file("x", "z")), "/d: no tensor 'z' among its 7");
  EXPECT_HAS(refused(file("none", "no")), "data: none is [0, 64] (float32), no is [0] (int64)");
  EXPECT_HAS(refused(file("one", "1")), "/d has one item, and test_every keeps it for the test");
  fs::resize_file(path("d"), fs::file_size(path("d")) - 1);
  EXPECT_HAS(refused(file("x", "y")), "bytes of data");
  EXPECT_HAS(refused(with(R"("safetensors": "d", "input": "x")")),
             "t.json:2: data: the field 'target' is missing");
}

}  // namespace
}  // namespace cli
