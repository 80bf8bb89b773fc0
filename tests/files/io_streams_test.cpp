// io.hpp: one tensor, lists of them and models' states, in files, streams and memory; what a file has;
// unsigned integers without a dtype.
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

class IoStreams : public files::FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }
};

// A safetensors file.
std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + data;
}
std::string entry(const std::string& dtype, int64_t n, size_t bytes) {
  return R"({"x":{"dtype":")" + dtype + R"(","shape":[)" + std::to_string(n) +
         R"(],"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
}
template <typename T>
std::string bytes_of_values(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_F(IoStreams, OneTensorAndAListGoThroughAFile) {
  const Tensor x = randn({2, 3});
  save(x, path("x"));
  Tensor read;
  load(read, path("x"));
  EXPECT_TRUE(equal(read, x));
  EXPECT_TRUE(equal(load(path("x"), "tensor"), x));
  std::vector<Tensor> list;
  for (int i = 0; i < 12; ++i) list.push_back(full({i}, i, i % 2 == 0 ? float32 : int64));
  save(list, path("list"));
  std::vector<Tensor> again;
  load(again, path("list"));
  ASSERT_EQ(again.size(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_TRUE(equal(again[i], list[i])) << i;
    EXPECT_EQ(again[i].dtype(), list[i].dtype());
  }
  save(std::vector<Tensor>(), path("none"));
  load(again, path("none"));
  EXPECT_TRUE(again.empty());
  EXPECT_SAYS(load(read, path("list")), "load: 12 tensors are there, expected one");
  EXPECT_SAYS(load(again, path("x")),
              "load: a tensor is named 'tensor', expected the places of a list, '0' to '0'");
}

TEST_F(IoStreams, StreamsAndMemoryHaveTheBytesOfAFile) {
  const NamedTensors named = {{"a", randn({3})}, {"b", arange(4)}};
  save(named, path("f"));
  std::stringstream stream;
  save(named, stream);
  EXPECT_EQ(stream.str(), bytes_of(path("f")));
  EXPECT_EQ(save_bytes(named), bytes_of(path("f")));
  for (const NamedTensors& read : {load(stream), load_bytes(bytes_of(path("f")))}) {
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].first, "b");  // the widest elements come first
    EXPECT_TRUE(equal(read[1].second, named[0].second));
  }
  const Tensor x = randn({5});
  std::stringstream one;
  save(x, one);
  Tensor y;
  load(y, one);
  EXPECT_TRUE(equal(x, y));
  std::vector<Tensor> list;
  load_bytes(list, save_bytes(std::vector{x, y}));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(equal(list[1], y));
}

TEST_F(IoStreams, AStreamThatThrowsIsReadToItsEnd) {
  std::stringstream stream;
  save(ones({2}), stream);
  stream.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
  Tensor read;
  load(read, stream);
  EXPECT_TRUE(equal(read, ones({2})));
  EXPECT_EQ(stream.exceptions(), std::ios::failbit | std::ios::badbit | std::ios::eofbit);
}

TEST_F(IoStreams, OneBehindTheOther) {
  const std::string odd = "a \"data_offsets\":[0,99999] \\";
  const NamedTensors named = {{odd, arange(3)}, {"b", zeros({0, 2})}};
  std::stringstream stream;
  save(ones({2}), stream);
  save(NamedTensors(), stream);
  save(named, stream);
  save(std::vector{full({3}, 7), randn({40, 50})}, stream);
  stream << "more";
  Tensor first;
  load(first, stream);
  EXPECT_TRUE(equal(first, ones({2})));
  EXPECT_TRUE(load(stream).empty());
  NamedTensors read = load(stream);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].first, odd);
  std::vector<Tensor> list;
  load(list, stream);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(equal(list[0], full({3}, 7)));
  std::string rest;
  stream >> rest;
  EXPECT_EQ(rest, "more");
}

TEST_F(IoStreams, MessagesNameTheCall) {
  std::stringstream stream;
  EXPECT_SAYS(save(Tensor(), stream), "save: tensor 'tensor' is None");
  EXPECT_SAYS(save_bytes(std::vector<Tensor>(1)), "save_bytes: tensor '0' is None");
  EXPECT_SAYS(save(Tensor(), path("f")), "save: tensor 'tensor' is None");
  EXPECT_SAYS(load(stream), "load: 0 bytes");
  std::istringstream damaged(save_bytes(ones({4})).substr(0, 80));
  EXPECT_SAYS(load(damaged), "load: ");
}

TEST_F(IoStreams, ModelsAndOptimizersGoThroughStreams) {
  Object model = nn::Linear(4, 2), other = nn::Linear(4, 2);
  std::stringstream stream;
  save(model, stream);
  load(other, stream);
  const Tensor x = randn({3, 4});
  EXPECT_TRUE(equal(model(x), other(x)));
  const Object handle = nn::Linear(4, 2);  // a handle that does not change itself
  load_bytes(handle, save_bytes(model));
  EXPECT_TRUE(equal(handle(x), model(x)));
  Object wrong = nn::Linear(4, 3);
  EXPECT_SAYS(load_bytes(wrong, save_bytes(model)), "weight");
}

TEST_F(IoStreams, WhatIsNoSafetensorsIsRefused) {
  EXPECT_SAYS(load_bytes("abc"), "load_bytes: 3 bytes, a safetensors file has at least 8");
  EXPECT_SAYS(load_bytes(""), "load_bytes: 0 bytes");
  EXPECT_SAYS(load_bytes(std::string(8, '\x7f')), "is no safetensors file");
  EXPECT_SAYS(load_bytes(std::string("\xff\xff\0\0\0\0\0\0{}", 10)),
              "claims a header of 65535 bytes, 2 follow");
  EXPECT_SAYS(load_bytes(file_of(entry("F32", int64_t{1} << 40, 4), "abcd")),
              "does not fill the 4 bytes");
  const std::string whole = save_bytes(tensor(1.f));
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(files::message_of([&] { load_bytes(std::string_view(whole).substr(0, n)); }), "")
        << n;
  }
  std::stringstream empty;
  EXPECT_SAYS(load(empty), "0 bytes");
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  EXPECT_SAYS(save(tensor(1.f), full), "save: the stream did not take all bytes");
  std::istringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_SAYS(load(broken), "load: the stream cannot be read to its end");
}

TEST_F(IoStreams, TheObjectTakesBytesAlone) {
  EXPECT_SAYS(Object::create("SafetensorsBytes", zeros({4})),
              "SafetensorsBytes: expected bytes [n] of uint8 on the cpu");
}

TEST_F(IoStreams, ZeroBytesInNamesAreRefused) {
  const std::string name("a\0b", 3);
  const Tensor x = tensor(1.f);
  EXPECT_SAYS(save({{"ok", x}, {name, x}}, path("f")),
              "save: the name of tensor 1 has a zero byte behind 'a'");
  EXPECT_SAYS(save_npz({{name, x}}, path("f")),
              "save_npz: the name of tensor 0 has a zero byte behind 'a'");
  EXPECT_SAYS(save_bytes({{name, x}}), "save_bytes: the name of tensor 0 has a zero byte");
  EXPECT_EQ(files_in_folder(), 0u);
  EXPECT_SAYS(
      load_bytes(file_of(R"({"a\u0000b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x")),
      "the name has a zero byte");
}

TEST_F(IoStreams, UnsignedIntegersBecomeWideEnough) {
  const auto read = [&](const char* dtype, int64_t n, const std::string& data) {
    const std::string bytes = file_of(entry(dtype, n, data.size()), data);
    const Tensor mapped = load_mapped(write("f", bytes))[0].second;
    const Tensor x = load_bytes(bytes)[0].second;
    EXPECT_TRUE(equal(x, mapped));
    return x;
  };
  const Tensor of16 = read("U16", 3, bytes_of_values<uint16_t>({1, 40000, 65535}));
  EXPECT_EQ(of16.dtype(), int32);
  EXPECT_EQ(of16.to_vector<int64_t>(), (std::vector<int64_t>{1, 40000, 65535}));
  const Tensor of32 = read("U32", 2, bytes_of_values<uint32_t>({7, 4294967295u}));
  EXPECT_EQ(of32.dtype(), int64);
  EXPECT_EQ(of32.to_vector<int64_t>(), (std::vector<int64_t>{7, 4294967295}));
  const Tensor of64 = read("U64", 2, bytes_of_values<uint64_t>({7, uint64_t{1} << 62}));
  EXPECT_EQ(of64.dtype(), int64);
  EXPECT_EQ(of64.to_vector<int64_t>(), (std::vector<int64_t>{7, int64_t{1} << 62}));
  EXPECT_EQ(read("U16", 0, "").numel(), 0);
  EXPECT_SAYS(read("U64", 2, bytes_of_values<uint64_t>({7, uint64_t{1} << 63})),
              "tensor 'x': value 1 is 2^63 or more, and int64 ends before it");
  EXPECT_SAYS(read("U16", 2, "abc"), "shape [2] of U16 does not fill the 3 bytes");
}

// Values of PyTorch's float8_e4m3fn and float8_e5m2.
TEST_F(IoStreams, FloatsOf8BitsBecomeFloat32) {
  const auto read = [&](const char* dtype, const std::vector<uint8_t>& data) {
    const std::string bytes = file_of(entry(dtype, int64_t(data.size()), data.size()),
                                      std::string(data.begin(), data.end()));
    const Tensor x = load_bytes(bytes)[0].second;
    EXPECT_EQ(x.dtype(), float32);
    const std::vector<double> mapped = load_mapped(write("f", bytes))[0].second.to_vector<double>();
    const std::vector<double> values = x.to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(values[i] == mapped[i] || std::isnan(values[i])) << i;
    return values;
  };
  const std::vector<double> e4m3 =
      read("F8_E4M3", {0, 1, 0x38, 0x7e, 0x80, 0xb8, 0x07, 0x08, 0x7f, 0xff});
  EXPECT_EQ(std::vector(e4m3.begin(), e4m3.begin() + 8),
            (std::vector<double>{0, 0.001953125, 1, 448, 0, -1, 0.013671875, 0.015625}));
  EXPECT_TRUE(std::signbit(e4m3[4]));
  EXPECT_TRUE(std::isnan(e4m3[8]) && std::isnan(e4m3[9]));
  const std::vector<double> e5m2 =
      read("F8_E5M2", {0, 1, 0x38, 0x7b, 0x7c, 0xfc, 0x3c, 3, 4, 0x7d});
  EXPECT_EQ(std::vector(e5m2.begin(), e5m2.begin() + 9),
            (std::vector<double>{0, 1.52587890625e-05, 0.5, 57344, INFINITY, -INFINITY, 1,
                                 4.57763671875e-05, 6.103515625e-05}));
  EXPECT_TRUE(std::isnan(e5m2[9]));
  EXPECT_EQ(read("F8_E5M2", {}).size(), 0u);
}

TEST_F(IoStreams, ListsWhatAFileHas) {
  save({{"a", zeros({2, 3})}, {"b", zeros({4}, int64)}, {"c", tensor(1.f)}}, path("f"));
  const std::vector<StoredTensor> list = stored_tensors(path("f"));
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].name, "b");
  EXPECT_EQ(list[0].dtype, "I64");
  EXPECT_EQ(list[0].bytes, 32);
  EXPECT_EQ(list[1].sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(list[1].bytes, 24);
  EXPECT_TRUE(list[2].sizes.empty());
  const std::string of8 = file_of(entry("F8_E5M2", 2, 2), "ab");
  EXPECT_EQ(stored_tensors(write("g", of8))[0].dtype, "F8_E5M2");
}

}  // namespace
}  // namespace tenon
