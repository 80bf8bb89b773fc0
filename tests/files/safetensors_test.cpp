// The safetensors format of the plugin `files`: what is written comes back, and nothing that a file
// claims is believed. The same through the face is in io_test.cpp.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "files_support.h"
#include "safetensors.h"

namespace tenon::files {
namespace {

std::string safetensors(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

class Memory : public TensorSource {
 public:
  explicit Memory(std::vector<std::string> bytes) : bytes_(std::move(bytes)) {}
  const void* bytes_of(size_t i) override { return bytes_[i].data(); }

 private:
  std::vector<std::string> bytes_;
};

TensorEntry entry(const char* name, tn_dtype dtype, std::vector<int64_t> shape) {
  TensorEntry e;
  e.name = name;
  e.dtype = dtype;
  e.shape = std::move(shape);
  return e;
}

// ---- safetensors: writing and reading ----

using Safetensors = FilesTest;

TEST_F(Safetensors, GivesBackWhatWasWritten) {
  Memory memory({"abcd", std::string("\0\1\1", 3), "12345678abcdefgh", ""});
  const std::string file = path("a.safetensors");
  write_safetensors(file,
                    {entry("w", TN_FLOAT32, {1}), entry("mask", TN_BOOL, {3}),
                     entry("n\"\xc3\xa9", TN_INT64, {2, 1}), entry("none", TN_FLOAT16, {0, 7})},
                    memory);
  const SafetensorsReader reader(file);
  ASSERT_EQ(reader.entries().size(), 4u);
  char bytes[16];
  reader.read(reader.find("w"), bytes);
  EXPECT_EQ(std::memcmp(bytes, "abcd", 4), 0);
  reader.read(reader.find("n\"\xc3\xa9"), bytes);
  EXPECT_EQ(std::memcmp(bytes, "12345678abcdefgh", 16), 0);
  EXPECT_EQ(reader.find("mask").shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(reader.find("none").dtype, TN_FLOAT16);
  EXPECT_EQ(reader.find("none").shape, (std::vector<int64_t>{0, 7}));
  EXPECT_SAYS(reader.find("v"), "no tensor 'v' among its 4");
  for (const TensorEntry& e : reader.entries()) {
    EXPECT_EQ(e.begin % element_bytes(e.dtype), 0u) << e.name << " is not aligned";
  }
}

// The layout of the format's description, byte by byte.
TEST_F(Safetensors, ReadsTheFormatAsDescribed) {
  const std::string file = write(
      "a.safetensors",
      safetensors(
          R"({"__metadata__":{"by":"hand"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
          R"("s":{"shape":[],"data_offsets":[2,6],"dtype":"F32"}}   )",
          "\x05\x06wxyz"));
  const SafetensorsReader reader(file);
  uint8_t x[2];
  reader.read(reader.find("x"), x);
  EXPECT_EQ(x[0], 5);
  EXPECT_EQ(x[1], 6);
  EXPECT_TRUE(reader.find("s").shape.empty());
  EXPECT_EQ(SafetensorsReader(write("b.safetensors", safetensors("{}", ""))).entries().size(), 0u);
}

TEST_F(Safetensors, WritesTheFormatAsDescribed) {
  Memory memory({"\x05\x06"});
  write_safetensors(path("a.safetensors"), {entry("x", TN_UINT8, {2})}, memory);
  const std::string bytes = bytes_of(path("a.safetensors"));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  ASSERT_EQ(bytes.size(), 8 + length + 2);
  EXPECT_EQ(bytes.substr(8 + length), "\x05\x06");
  EXPECT_NE(bytes.find(R"("x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})"), bytes.npos);
}

TEST_F(Safetensors, NamesSmallIntegersAsTheFormatDoes) {
  Memory memory({"\x05\x06", "ab"});
  const std::string file = path("a.safetensors");
  write_safetensors(file, {entry("x", TN_INT8, {2}), entry("y", TN_INT16, {1})}, memory);
  const std::string bytes = bytes_of(file);
  EXPECT_NE(bytes.find(R"("x":{"dtype":"I8","shape":[2])"), bytes.npos);
  EXPECT_NE(bytes.find(R"("y":{"dtype":"I16","shape":[1])"), bytes.npos);
  EXPECT_EQ(SafetensorsReader(file).find("x").dtype, TN_INT8);
  EXPECT_EQ(SafetensorsReader(file).find("y").dtype, TN_INT16);
}

TEST_F(Safetensors, RefusesNamesThatCannotBeWritten) {
  Memory memory({"a", "b"});
  const std::string file = path("a.safetensors");
  EXPECT_SAYS(
      write_safetensors(file, {entry("x", TN_UINT8, {1}), entry("x", TN_UINT8, {1})}, memory),
      "a tensor cannot be named 'x': there is one already");
  EXPECT_SAYS(write_safetensors(file, {entry("__metadata__", TN_UINT8, {1})}, memory),
              "a tensor cannot be named '__metadata__'");
  EXPECT_SAYS(write_safetensors(file, {entry("\xff", TN_UINT8, {1})}, memory),
              "is not valid UTF-8");
  EXPECT_EQ(files_in_folder(), 0u);
}

// ---- safetensors: what a file claims ----

TEST_F(Safetensors, ChecksTheHeaderLengthBeforeAllocating) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff{}";
  EXPECT_SAYS(SafetensorsReader(write("a", huge)),
              "a: is no safetensors file: its first 8 bytes, read as the length of a header, say "
              "18446744073709551615, and the format allows 100000000");
  const std::string large("\x00\x00\x00\x00\x01\x00\x00\x00{}", 10);
  EXPECT_SAYS(SafetensorsReader(write("a", large)),
              "read as the length of a header, say 4294967296, and the format allows");
  const std::string cut("\x09\x00\x00\x00\x00\x00\x00\x00{}", 10);
  EXPECT_SAYS(SafetensorsReader(write("a", cut)), "claims a header of 9 bytes, 2 follow");
  EXPECT_SAYS(SafetensorsReader(write("a", "abc")), "3 bytes, a safetensors file has at least 8");
  EXPECT_SAYS(SafetensorsReader(write("a", "")), "0 bytes, a safetensors file has at least 8");
}

TEST_F(Safetensors, ChecksWhatTheHeaderSays) {
  const auto says = [&](const std::string& header, const std::string& data,
                        const std::string& part) {
    EXPECT_SAYS(SafetensorsReader(write("a", safetensors(header, data))), part.c_str());
  };
  says(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "abc",
       "tensor 'x': data_offsets [0, 4] are not within the 3 bytes of data");
  says(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[3,0]}})", "abc",
       "tensor 'x': data_offsets [3, 0] are not within");
  says(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "abcd",
       "tensor 'x': shape [2] of F32 does not fill the 4 bytes of its data_offsets");
  says(R"({"x":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "abcd",
       "does not fill the 4 bytes");  // 4 * that wraps to 4
  says(R"({"x":{"dtype":"U8","shape":[4294967296,4294967296,1],"data_offsets":[0,0]}})", "",
       "does not fill the 0 bytes");
  says(
      R"({"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
      "abc", "tensor 'y': overlaps at byte 1 of the data, the tensor before it ends at 2");
  says(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "ab",
       "tensor 'x': leaves a gap at byte 1 of the data");
  says(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "abc",
       "3 bytes of data, the header describes 1");
  says(
      R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
      "ab", "tensor 'x': the name is there twice");
  says(R"({"x":{"dtype":"U7","shape":[1],"data_offsets":[0,1]}})", "a",
       "tensor 'x': unknown dtype 'U7'");
  says(R"({"x":{"dtype":"U8","shape":[1]}})", "a",
       "not all of dtype, shape and data_offsets are given");
  says(R"({"x":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "a",
       "dtype is there twice");
  says(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1}})", "a",
       "unknown field 'more'");
  says(R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", "a",
       "a negative number is not expected at shape");
  says(R"({"x":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", "a",
       "a number that is no integer in range is not expected");
  says(R"({"x":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})", "a",
       "18446744073709551615 of shape is out of range");
  says(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", "a",
       "data_offsets has 1 numbers, not 2");
  says(R"({"x":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})",
       "a", "more than 16 dimensions");
  says(R"({"x":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", "a", "objects nested too deep");
  says(R"({"x":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", "a", "a list is not expected");
  says(R"({"x":3})", "a", "a number is not expected");
  says(R"({"x":"y"})", "a", "a string is not expected");
  says(R"([1])", "", "the header does not begin with '{'");
  says("", "", "the header does not begin with '{'");
  says(R"({"x":)", "", "the header is not JSON at byte 13");
  says("{}{}", "", "the header is not JSON");
  says("{\"\xff\":1}", "", "the header is not JSON");
}

TEST_F(Safetensors, LimitsDepthWithoutRecursion) {
  const std::string deep =
      "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_SAYS(SafetensorsReader(write("a", safetensors(deep, ""))), "a list is not expected");
  const std::string objects = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "{\"shape\":";
    return text;
  }();
  EXPECT_SAYS(SafetensorsReader(write("a", safetensors(objects, ""))), "objects nested too deep");
}

TEST_F(Safetensors, RefusesBoolsThatAreNone) {
  const SafetensorsReader reader(write(
      "a", safetensors(R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\x02")));
  uint8_t values[2];
  EXPECT_SAYS(reader.read(reader.find("m"), values), "tensor 'm': byte 64 is 2, a bool is 0 or 1");
}

TEST_F(Safetensors, NoticesAFileThatBecameShorter) {
  const std::string file = path("a.safetensors");
  Memory memory({std::string(100, 'x')});
  write_safetensors(file, {entry("x", TN_UINT8, {100})}, memory);
  const SafetensorsReader reader(file);
  fs::resize_file(file, fs::file_size(file) - 10);
  char bytes[100];
  EXPECT_SAYS(reader.read(reader.find("x"), bytes), "bytes when it was opened");
}

TEST_F(Safetensors, RefusesAFileCutAnywhere) {
  const std::string file = path("a.safetensors");
  Memory memory({std::string(96, 'x'), std::string(5, '\1'), ""});
  write_safetensors(
      file, {entry("x", TN_FLOAT32, {4, 6}), entry("m", TN_BOOL, {5}), entry("e", TN_FLOAT32, {0})},
      memory);
  const std::string bytes = bytes_of(file);
  for (int i = 0; i < 50; ++i) {
    const std::string cut = bytes.substr(0, bytes.size() * i / 50);
    EXPECT_SAYS(SafetensorsReader(write("cut", cut)), "cut: ") << "at byte " << cut.size();
  }
  EXPECT_SAYS(SafetensorsReader(write("longer", bytes + "x")), "the header describes");
}

// Random bytes, and good files with random damage: an error or a reading within bounds (the
// sanitizers watch), never more.
TEST_F(Safetensors, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const auto try_to_read = [&](const std::string& bytes) {
    try {
      const SafetensorsReader reader(write("f", bytes));
      for (const TensorEntry& e : reader.entries()) {
        ASSERT_LE(e.end, bytes.size());
        std::string memory(e.end - e.begin, '\0');
        reader.read(e, memory.data());
      }
    } catch (const Error&) {
    }
  };
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 2 == 0 && bytes.size() > 9) {  // a length that fits, so that the header is looked at
      const uint64_t length = random() % (bytes.size() - 8);
      std::memcpy(bytes.data(), &length, 8);
      bytes[8] = '{';
    }
    try_to_read(bytes);
  }
  Memory memory({std::string(24, 'x'), std::string(5, '\1')});
  write_safetensors(path("good"), {entry("x", TN_FLOAT32, {2, 3}), entry("m", TN_BOOL, {5})},
                    memory);
  const std::string good = bytes_of(path("good"));
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (int n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try_to_read(bytes);
  }
}

// ---- Whole or not at all ----

class Failing : public TensorSource {
 public:
  const void* bytes_of(size_t i) override {
    if (i == 1) throw Error("the device is gone");
    return "abcd";
  }
};

TEST_F(Safetensors, LeavesTheOldFileWhenWritingFails) {
  const std::string file = write("a.safetensors", "the old one");
  Failing failing;
  EXPECT_SAYS(
      write_safetensors(file, {entry("x", TN_FLOAT32, {1}), entry("y", TN_FLOAT32, {1})}, failing),
      "the device is gone");
  EXPECT_EQ(bytes_of(file), "the old one");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Safetensors, ReplacesTheOldFileAtOnce) {
  const std::string file = write("a.safetensors", "the old one");
  Memory memory({"abcd"});
  write_safetensors(file, {entry("x", TN_FLOAT32, {1})}, memory);
  EXPECT_EQ(SafetensorsReader(file).entries().size(), 1u);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Safetensors, SaysWhereItCannotWrite) {
  Memory memory({"abcd"});
  EXPECT_SAYS(write_safetensors(path("no/a.safetensors"), {entry("x", TN_FLOAT32, {1})}, memory),
              "cannot be written in");
  EXPECT_SAYS(write_safetensors(folder_.string(), {entry("x", TN_FLOAT32, {1})}, memory),
              "is a folder, not a regular file");
  EXPECT_SAYS(write_safetensors("/dev/full", {entry("x", TN_FLOAT32, {1})}, memory),
              "is a device or pipe, not a regular file");
}

}  // namespace
}  // namespace tenon::files
