// io.hpp: named tensors saved and loaded through the plugin `files`.
#include <cstring>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>

#include "files_support.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

class IoTest : public files::FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }
};

std::vector<int64_t> sizes(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

const Tensor& find(const NamedTensors& list, const std::string& name) {
  for (const auto& [key, tensor] : list) {
    if (key == name) return tensor;
  }
  throw Error("no tensor " + name);
}

TEST_F(IoTest, GivesBackNamesShapesDtypesAndValues) {
  const std::string file = path("a.safetensors");
  save({{"0.weight", Tensor::from({1.5f, -2.f, 0.f, 1e-40f, 3e38f, 0.1f}, {2, 3})},
        {"count", tensor(int64_t{-7})},
        {"mask", Tensor::from({true, false})},
        {"wide", Tensor::from({0.1, 1e300})},
        {"bytes", Tensor::from<uint8_t>({0, 255})},
        {"small", Tensor::from({1, -2, 3})},
        {"smaller", Tensor::from<int16_t>({-32768, 300})},
        {"smallest", Tensor::from<int8_t>({-128, 127, 5})},
        {"half", Tensor::from({1.f, 0.5f}).to(float16)},
        {"none", Tensor::empty({0, 4})}},
       file);
  const NamedTensors loaded = load(file);
  EXPECT_EQ(loaded.size(), 10u);
  const Tensor& weight = find(loaded, "0.weight");
  EXPECT_EQ(sizes(weight), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(weight.to_vector<float>(), (std::vector<float>{1.5f, -2.f, 0.f, 1e-40f, 3e38f, 0.1f}));
  EXPECT_EQ(find(loaded, "count").item<int64_t>(), -7);
  EXPECT_EQ(find(loaded, "count").dim(), 0);
  EXPECT_EQ(find(loaded, "mask").dtype(), bool_);
  EXPECT_EQ(find(loaded, "mask").to_vector<int>(), (std::vector<int>{1, 0}));
  EXPECT_EQ(find(loaded, "wide").to_vector<double>(), (std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(find(loaded, "bytes").to_vector<int>(), (std::vector<int>{0, 255}));
  EXPECT_EQ(find(loaded, "small").dtype(), int32);
  EXPECT_EQ(find(loaded, "smaller").dtype(), int16);
  EXPECT_EQ(find(loaded, "smaller").to_vector<int>(), (std::vector<int>{-32768, 300}));
  EXPECT_EQ(find(loaded, "smallest").dtype(), int8);
  EXPECT_EQ(find(loaded, "smallest").to_vector<int>(), (std::vector<int>{-128, 127, 5}));
  EXPECT_EQ(find(loaded, "half").dtype(), float16);
  EXPECT_EQ(find(loaded, "half").to_vector<float>(), (std::vector<float>{1.f, 0.5f}));
  EXPECT_EQ(sizes(find(loaded, "none")), (std::vector<int64_t>{0, 4}));
}

TEST_F(IoTest, SavesViewsAndOtherDevicesByTheirValues) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  save({{"t", x.t()}, {"ref", x.to("ref")}, {"slice", x.slice(1, 1, 2)}}, path("a.safetensors"));
  const NamedTensors loaded = load(path("a.safetensors"));
  EXPECT_EQ(find(loaded, "t").to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(sizes(find(loaded, "t")), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(find(loaded, "ref").to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(find(loaded, "slice").to_vector<float>(), (std::vector<float>{2, 5}));
}

TEST_F(IoTest, AListInBracesIsLoadedAsAVector) {
  const Tensor x = tensor({1.f, 2.f}), y = tensor({3.f});
  save({x, y}, path("a.safetensors"));
  std::vector<Tensor> list;
  load(list, path("a.safetensors"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(list[1].to_vector<float>(), (std::vector<float>{3}));
  save({x}, path("a.safetensors"));
  EXPECT_EQ(load(path("a.safetensors")).keys(), std::vector<std::string>{"0"});
  save({}, path("a.safetensors"));
  EXPECT_TRUE(load(path("a.safetensors")).empty());
}

TEST_F(IoTest, AModelLoadsWhatItSaved) {
  const Object a = nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  const Object b = nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  save(a.state_dict(), path("a.safetensors"));
  b.load_state_dict(load(path("a.safetensors")));
  const Tensor x = Tensor::from({1.f, -2.f, 3.f}, {1, 3});
  EXPECT_EQ(b(x).to_vector<float>(), a(x).to_vector<float>());
}

TEST_F(IoTest, ErrorsSayWhatAndWhere) {
  EXPECT_SAYS(load(""), "'': the path is empty, expected a file's");
  EXPECT_SAYS(load(path("absent")), "absent: cannot be opened: No such file");
  EXPECT_EQ(files::message_of([&] { load(path("absent")); }).find(path("absent")), 0u);
  EXPECT_SAYS(load(write("cut", "abc")), "cut: 3 bytes, a safetensors file has at least 8");
  EXPECT_SAYS(save({{"x", tensor(1.f)}, {"x", tensor(2.f)}}, path("a")),
              "a tensor cannot be named 'x': there is one already");
  EXPECT_SAYS(save({{"x", tensor(1.f)}}, path("no/a")), "cannot be written in");
  const std::string header = R"({"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})";
  const uint64_t length = header.size();
  EXPECT_SAYS(load(write("c64", std::string(reinterpret_cast<const char*>(&length), 8) + header +
                                    "abcdefgh")),
              "tensor 'x' is of dtype C64, which Tenon has not");
  EXPECT_EQ(files_in_folder(), 2u);
}

// The first bytes of what torch.save of PyTorch 2.5 writes, and of 1.5.
TEST_F(IoTest, AFileOfTorchSaveIsRecognised) {
  const std::string zip =
      std::string("PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0", 16) + "archive/data.pkl";
  const std::string pickle("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02", 17);
  const std::string says =
      ", as torch.save writes it, and no safetensors file; Python converts it: "
      "safetensors.torch.save_file({name: t.contiguous().clone() for name, t in torch.load('";
  EXPECT_SAYS(load(write("m.pt", zip)), "m.pt: a zip archive" + says);
  EXPECT_SAYS(load(write("m.pt", pickle)), "m.pt: a pickle" + says);
  const std::string numpy =
      std::string("PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0", 30) + "w.npy";
  EXPECT_SAYS(
      load(write("w.npz", numpy)),
      "w.npz: an archive of NumPy, and no safetensors file: load_npz reads it; Python converts it: "
      "safetensors.numpy.save_file(dict(numpy.load('");
  EXPECT_SAYS(load(write("w.npy", std::string("\x93NUMPY\1\0", 8))),
              "w.npy: an array of NumPy, and no safetensors file: load_npy reads it");
  EXPECT_SAYS(load(write("w.gguf", std::string("GGUF\3\0\0\0", 8))),
              "w.gguf: a GGUF file, and no safetensors file");
  EXPECT_SAYS(load(path("m.pt"), "weight"), "map_location='cpu', weights_only=True).items()}, ");
}

// As numpy's dtypes int8 and int16 are written there, the latter with its high byte first.
TEST_F(IoTest, IdxOfSmallIntegers) {
  const Tensor bytes = load_idx(write("b", std::string("\0\0\x09\1\0\0\0\2\x7f\xff", 10)));
  EXPECT_EQ(bytes.dtype(), int8);
  EXPECT_EQ(bytes.to_vector<int>(), (std::vector<int>{127, -1}));
  const Tensor shorts = load_idx(write("s", std::string("\0\0\x0b\1\0\0\0\2\1\0\xff\xfe", 12)));
  EXPECT_EQ(shorts.dtype(), int16);
  EXPECT_EQ(shorts.to_vector<int>(), (std::vector<int>{256, -2}));
}

// A size of zero makes each of these files whole, whatever the others are.
TEST_F(IoTest, WhatATensorRefusesNamesTheFile) {
  std::string idx("\0\0\x08\4\0\0\0\0", 8);
  idx += std::string(12, '\xff');
  EXPECT_SAYS(load_idx(write("i", idx)),
              "/i: empty: the shape [0, 4294967295, 4294967295, 4294967295]");
  const std::string header =
      R"({"x":{"dtype":"F32","shape":[0,4294967295,4294967295,4294967295],"data_offsets":[0,0]}})";
  const uint64_t length = header.size();
  EXPECT_SAYS(load(write("s", std::string(reinterpret_cast<const char*>(&length), 8) + header)),
              "/s: tensor 'x': empty: the shape [0, 4294967295, 4294967295, 4294967295]");
}

// Links, modes and what is left by kills are in disk_test.
TEST_F(IoTest, ASaveKeepsLinkAndMode) {
  write("real", "old");
  fs::permissions(path("real"), fs::perms(0600));
  fs::create_symlink("real", path("link"));
  save({{"x", tensor(1.f)}}, path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms(0600));
  EXPECT_EQ(load(path("real")).size(), 1u);
  EXPECT_EQ(files_in_folder(), 2u);
}

TEST_F(IoTest, MappedTensorsAreTheFile) {
  const std::string file = path("a.safetensors");
  const Tensor big = arange(1 << 16).to(float32);
  save({{"big", big}, {"mask", Tensor::from({true, false})}, {"none", Tensor::empty({0, 4})}},
       file);
  Tensor kept;
  {
    const NamedTensors loaded = load_mapped(file);
    kept = find(loaded, "big");
    EXPECT_EQ(kept.to_vector<float>(), big.to_vector<float>());
    EXPECT_EQ(find(loaded, "mask").to_vector<int>(), (std::vector<int>{1, 0}));
    EXPECT_EQ(sizes(find(loaded, "none")), (std::vector<int64_t>{0, 4}));
  }
  // Lives on without the reader and the name; writing stays in this process.
  EXPECT_NE(
      std::string(std::istreambuf_iterator<char>(std::ifstream("/proc/self/maps").rdbuf()), {})
          .find(file),
      std::string::npos);
  kept.mutable_data<float>()[5] = -1;
  EXPECT_EQ(load(file, "big").to_vector<float>(), big.to_vector<float>());
  fs::remove(file);
  EXPECT_EQ(kept.sum().item<float>(), (big.sum() - 6).item<float>());
  kept = {};
  EXPECT_EQ(
      std::string(std::istreambuf_iterator<char>(std::ifstream("/proc/self/maps").rdbuf()), {})
          .find(file),
      std::string::npos);
  EXPECT_SAYS(load_mapped(path("absent")), "absent: cannot be opened");
}

TEST_F(IoTest, LoadsArraysOfNumpy) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += std::string(1, static_cast<char>(header.size())) + '\0' + header;
  const float values[] = {1.5f, -2.f};
  bytes.append(reinterpret_cast<const char*>(values), sizeof(values));
  EXPECT_EQ(load_npy(write("a.npy", bytes)).to_vector<float>(), (std::vector<float>{1.5, -2}));
  EXPECT_SAYS(load_npy(write("b.npy", "abc")), "b.npy: is no .npy file");
  EXPECT_SAYS(load_npz(write("b.npz", "abc")), "b.npz: ");
  EXPECT_SAYS(load_npz(write("b.npz", "abc"), "x"), "b.npz: ");
}

TEST_F(IoTest, SavesArraysForNumpy) {
  const Tensor whole = Tensor::from(std::vector<float>{0, 0.5, 1, 1.5, 2, 2.5}, {2, 3});
  save_npy(whole, path("a.npy"));
  std::string bytes("\x93NUMPY\1\0", 8);  // numpy.save of the same
  bytes += std::string("\x76\0", 2) + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  bytes.resize(127, ' ');
  bytes += '\n';
  for (const float value : {0.f, 0.5f, 1.f, 1.5f, 2.f, 2.5f})
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  std::ifstream file(path("a.npy"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);

  NamedTensors all;
  for (const Dtype dtype : {float64, float32, float16, int64, int32, int16, int8, uint8, bool_})
    all.emplace_back(dtype.name(), whole.to(dtype).t());
  all.emplace_back("none", zeros({0, 3}));
  all.emplace_back("one", tensor(7.f));
  all.emplace_back("line", tensor({1.f, 2.f}));
  save_npz(all, path("a.npz"));
  const NamedTensors read = load_npz(path("a.npz"));
  ASSERT_EQ(read.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [name, tensor] = all[i];
    save_npy(tensor, path("b.npy"));
    for (const Tensor& t : {read[i].second, load_npy(path("b.npy"))}) {
      EXPECT_EQ(read[i].first, name);
      EXPECT_EQ(t.dtype(), tensor.dtype()) << name;
      EXPECT_EQ(t.sizes(), tensor.sizes()) << name;
      EXPECT_EQ(t.to_vector<double>(), tensor.to_vector<double>()) << name;
    }
  }
  save_npz({}, path("empty.npz"));
  EXPECT_TRUE(load_npz(path("empty.npz")).empty());
}

TEST_F(IoTest, WhatNumpyHasNotIsRefused) {
  EXPECT_SAYS(save_npy(zeros({2}, bfloat16), path("c.npy")),
              "c.npy: NumPy has no bfloat16; expected another dtype, as float32");
  EXPECT_SAYS(save_npz({{"x", zeros({2})}, {"y", zeros({2}, bfloat16)}}, path("c.npz")),
              "c.npz: array 'y': NumPy has no bfloat16");
  EXPECT_SAYS(save_npz({{"x", zeros({2})}, {"x", zeros({2})}}, path("c.npz")),
              "c.npz: an array cannot be named 'x': there is one already");
  EXPECT_SAYS(save_npz({{"", zeros({2})}}, path("c.npz")), "an array cannot be named ''");
  EXPECT_SAYS(save_npz({{"\xff", zeros({2})}}, path("c.npz")), "an array cannot be named");
  EXPECT_FALSE(std::filesystem::exists(path("c.npz")));
  EXPECT_SAYS(save_npy(zeros({2}), path("absent/c.npy")), "absent/c.npy: ");
  EXPECT_SAYS(save_npy(Tensor(), path("c.npy")), "None");
}

}  // namespace
}  // namespace tenon
