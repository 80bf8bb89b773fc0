// IDX files of the plugin `files`: what is taken, and that a damaged file is refused with what is
// wrong before anything is allocated.
#include <random>

#include "files_support.h"
#include "idx.h"

namespace tenon::files {
namespace {

using Idx = FilesTest;

std::string idx(int type, const std::vector<uint32_t>& sizes, const std::string& data) {
  std::string bytes = {'\0', '\0', char(type), char(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(char(size >> shift & 0xff));
  }
  return bytes + data;
}

template <typename T>
std::vector<T> values(const IdxReader& reader) {
  size_t n = 1;
  for (const int64_t size : reader.shape()) n *= size_t(size);
  std::vector<T> list(n);
  reader.read(list.data());
  return list;
}

TEST_F(Idx, ReadsEachType) {
  const IdxReader bytes(write("a", idx(0x08, {2, 3}, std::string("\0\1\2\xfd\xfe\xff", 6))));
  EXPECT_EQ(bytes.dtype(), TN_UINT8);
  EXPECT_EQ(bytes.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values<uint8_t>(bytes), (std::vector<uint8_t>{0, 1, 2, 253, 254, 255}));
  EXPECT_EQ(values<int8_t>(IdxReader(write("a", idx(0x09, {2}, "\x7f\xff")))),
            (std::vector<int8_t>{127, -1}));
  EXPECT_EQ(values<int16_t>(IdxReader(write("a", idx(0x0b, {2}, std::string("\1\0\xff\xfe", 4))))),
            (std::vector<int16_t>{256, -2}));
  EXPECT_EQ(values<int32_t>(IdxReader(write("a", idx(0x0c, {1}, std::string("\0\1\2\3", 4))))),
            (std::vector<int32_t>{0x010203}));
  EXPECT_EQ(values<float>(IdxReader(write("a", idx(0x0d, {1}, std::string("\xbf\xc0\0\0", 4))))),
            (std::vector<float>{-1.5f}));
  EXPECT_EQ(values<double>(
                IdxReader(write("a", idx(0x0e, {1, 1}, std::string("\x40\x04\0\0\0\0\0\0", 8))))),
            (std::vector<double>{2.5}));
  EXPECT_EQ(IdxReader(write("a", idx(0x08, {0, 3}, ""))).shape(), (std::vector<int64_t>{0, 3}));
}

TEST_F(Idx, RefusesWhatIsDamaged) {
  const auto says = [&](const std::string& bytes, const char* part) {
    EXPECT_SAYS(IdxReader(write("a", bytes)), part);
  };
  const std::string good = idx(0x08, {2, 3}, "abcdef");
  says("", "a: 0 bytes, its header has 4");
  says(good.substr(0, 3), "a: 3 bytes, its header has 4");
  says(good.substr(0, 11), "a: 11 bytes, its header has 12");
  says(good.substr(0, 17), "a: shape [2, 3] of 1 bytes each does not fill the 5 bytes of data");
  says(good + "g", "does not fill the 7 bytes of data");
  says(idx(0x0d, {2, 3}, "abcdef"),
       "shape [2, 3] of 4 bytes each does not fill the 6 bytes of data");
  // Far more than there is memory; and a product beyond 64 bits, whose remainder would fit.
  says(idx(0x0e, {4294967295u, 1000000}, "abcdef"), "does not fill the 6 bytes of data");
  says(idx(0x08, {2147483648u, 2147483648u, 4}, ""), "does not fill the 0 bytes of data");
  says(idx(0x0a, {6}, "abcdef"),
       "begins with 00 00 0a, an IDX file with 00 00 and 08, 09, 0b, 0c, 0d or 0e");
  says("\x1f\x8b\x08 and more", "a: ");  // no gzip either
  says(idx(0x08, {}, ""), "has 0 dimensions, expected 1 to 16");
  says(idx(0x08, std::vector<uint32_t>(17, 1), "a"), "has 17 dimensions, expected 1 to 16");
  EXPECT_SAYS(IdxReader(path("absent")), "absent: cannot be opened: No such file");
  EXPECT_SAYS(IdxReader(folder_.string()), "is a folder, not a regular file");
}

// Random bytes, and good files with random damage: an error that names the file, or a reading
// within bounds.
TEST_F(Idx, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = idx(8 + int(random() % 7), {2, 3}, std::string(6 << (i % 4), 'x'));
    if (i % 8 == 0) bytes.resize(random() % 60);
    for (int n = int(random() % 4); n > 0 && !bytes.empty(); --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      const IdxReader reader(write("f", bytes));
      std::string memory(bytes.size(), '\0');
      reader.read(memory.data());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/f: "), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon::files
