// The plugin `images`: what PNG and JPEG files decode to, that damaged, cut or hostile ones are
// refused, and folders of them as data. PNG files are kept as hex, made after the format's
// description; JPEG files are made by the library's other half.
#include <functional>
#include <random>

#include <tenon/data.hpp>
#include <tenon/data/images.hpp>
#include <tenon/tenon.hpp>

#include "file_bytes.h"
#include "files_support.h"
#include "image.h"
#include "jpeg_bytes.h"

namespace tenon::images {
namespace {

class Images : public files::FilesTest {
 protected:
  static void SetUpTestSuite() { load_plugins(); }
};

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// 3 x 2 of RGB: red, green, blue; (10, 20, 30), (40, 50, 60), white.
const std::string kRgb = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d000000184944415478da63f8cf"
    "c0c000c15c22721a4636ffffff0700378706cdadb05a930000000049454e44ae426082");
// 2 x 1 of gray in 16 bits: 0x1234 and 0xffff.
const std::string kDeepGray = from_hex(
    "89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc150000000d4944415478da631032"
    "f9ff1f0003e60245f11c84650000000049454e44ae426082");
// 2 x 2 of a palette of 1 bit, (1, 2, 3) and (4, 5, 6): first, second; second, first.
const std::string kPalette = from_hex(
    "89504e470d0a1a0a0000000d494844520000000200000002010300000048789f6700000006504c54450102030405"
    "0695536f480000000c4944415478da637060680000014400c10487cffa0000000049454e44ae426082");

// `n` x `n` of one colour.
std::string jpeg(unsigned n, const std::vector<uint8_t>& colour, bool progressive = false) {
  return file_bytes::jpeg({.width = n,
                           .height = n,
                           .channels = static_cast<int>(colour.size()),
                           .progressive = progressive,
                           .quality = 95,
                           .colour = {colour.begin(), colour.end()}});
}
// The checksum of a chunk of PNG, as it stands behind it.
std::string checksum(const std::string& chunk) {
  return file_bytes::big(file_bytes::checksum(chunk), 4);
}

using Values = std::vector<uint8_t>;

TEST_F(Images, DecodesPngToPlanes) {
  const Image image = decode(write("a", kRgb), Mode::kRgb);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.values, (Values{255, 0, 0, 10, 40, 255,     // red
                                  0, 255, 0, 20, 50, 255,     // green
                                  0, 0, 255, 30, 60, 255}));  // blue
  // 0.299 * 255 = 76.2, 0.587 * 255 = 149.7, 0.114 * 255 = 29.1; 18.2, 48.2.
  EXPECT_EQ(decode(write("a", kRgb), Mode::kGray).values, (Values{76, 150, 29, 18, 48, 255}));
  EXPECT_EQ(decode(write("b", kDeepGray), Mode::kGray).values, (Values{0x12, 0xff}));
  EXPECT_EQ(decode(write("c", kPalette), Mode::kRgb).values,
            (Values{1, 4, 4, 1, 2, 5, 5, 2, 3, 6, 6, 3}));
}

TEST_F(Images, DecodesJpegOfOneColour) {
  for (const bool progressive : {false, true}) {
    const Image image = decode(write("a", jpeg(20, {200, 100, 50}, progressive)), Mode::kRgb);
    EXPECT_EQ(image.height, 20);
    EXPECT_EQ(image.width, 20);
    ASSERT_EQ(image.values.size(), 1200u);
    for (size_t i = 0; i < 1200; ++i)
      EXPECT_NEAR(image.values[i], i < 400 ? 200 : i < 800 ? 100 : 50, 2);
  }
  const Image gray = decode(write("a", jpeg(9, {90})), Mode::kGray);
  EXPECT_EQ(gray.channels, 1);
  for (const uint8_t value : gray.values) EXPECT_NEAR(value, 90, 1);
}

TEST_F(Images, RefusesWhatIsNone) {
  EXPECT_SAYS(decode(write("a.png", ""), Mode::kRgb), "a.png: is neither a PNG nor a JPEG file");
  EXPECT_SAYS(decode(write("a.png", "GIF89a"), Mode::kRgb), "is neither a PNG nor a JPEG file");
  EXPECT_SAYS(decode(path("absent.png"), Mode::kRgb), "absent.png: cannot be opened");
  EXPECT_SAYS(decode(write("a.jpg", jpeg(8, {1, 2, 3, 4})), Mode::kRgb), "colours are for print");
}

TEST_F(Images, RefusesFilesThatAreCut) {
  for (const std::string& good : {kRgb, kDeepGray, kPalette}) {
    for (size_t n = 8; n < good.size(); ++n) {
      EXPECT_SAYS(decode(write("a.png", good.substr(0, n)), Mode::kRgb),
                  "a.png: is no whole PNG file");
    }
  }
  for (const bool progressive : {false, true}) {
    const std::string good = jpeg(40, {200, 100, 50}, progressive);
    for (size_t n = 3; n < good.size(); n += 1 + n / 50) {
      EXPECT_SAYS(decode(write("a.jpg", good.substr(0, n)), Mode::kRgb),
                  "a.jpg: is no whole JPEG file");
    }
  }
}

TEST_F(Images, RefusesSidesThatNoPictureHas) {
  for (const auto& [side, shown] : {std::pair{std::string("\0\0\0\0", 4), "0 x 2"},
                                    {std::string("\1\0\0\1", 4), "16777217 x 2"}}) {
    std::string png = kRgb;
    png.replace(16, 4, side);
    png.replace(29, 4, checksum(png.substr(12, 17)));
    EXPECT_SAYS(
        decode(write("a.png", png), Mode::kRgb),
        (std::string("a.png: a PNG of ") + shown + " pixels, expected 1 to 16777216 on a side")
            .c_str());
  }
}

TEST_F(Images, RefusesPicturesThatAreTooLarge) {
  // 100,000 x 100,000 pixels in a file of 81 bytes, its checksum right.
  std::string png = kRgb;
  const std::string side = std::string("\0\x01\x86\xa0", 4);
  png.replace(16, 8, side + side);
  png.replace(29, 4, checksum(png.substr(12, 17)));
  EXPECT_SAYS(decode(write("a.png", png), Mode::kRgb),
              "a.png: claims 100000 x 100000 pixels, which need 28611 MiB; a picture may need 58");
  std::string jpg = jpeg(16, {200, 100, 50});
  const size_t frame = jpg.find("\xff\xc0");
  jpg.replace(frame + 5, 4, std::string("\xff\0\xff\0", 4));
  EXPECT_SAYS(decode(write("a.jpg", jpg), Mode::kRgb), "claims 65280 x 65280 pixels");
  // The coefficients of a progressive one are kept, at two bytes each; rows of a PNG too.
  std::string slow = jpeg(16, {200, 100, 50}, true);
  const size_t start = slow.find("\xff\xc2");
  slow.replace(start + 5, 4, std::string("\x0f\xa0\x0f\xa0", 4));
  EXPECT_SAYS(decode(write("a.jpg", slow), Mode::kGray), "claims 4000 x 4000 pixels, which need 6");
  std::string wide = kDeepGray;
  wide.replace(16, 8, std::string("\x01\0\0\0\0\0\0\x01", 8));
  wide[25] = 6;  // RGB and alpha, of eight bytes
  wide.replace(29, 4, checksum(wide.substr(12, 17)));
  EXPECT_SAYS(decode(write("a.png", wide), Mode::kGray),
              "claims 16777216 x 1 pixels, which need 4");
}

// Good files with random damage: an error that names the file, or a picture.
TEST_F(Images, SurvivesRandomDamage) {
  std::mt19937 random(7);
  const std::vector<std::string> good = {kRgb, kDeepGray, kPalette, jpeg(24, {200, 100, 50}),
                                         jpeg(24, {9}, true)};
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good[static_cast<size_t>(i) % good.size()];
    for (int n = static_cast<int>(random() % 6); n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      const Image image = decode(write("f", bytes), Mode::kGray);
      EXPECT_EQ(image.values.size(), static_cast<size_t>(image.height * image.width));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/f: "), std::string::npos) << error.what();
    }
  }
}

TEST_F(Images, FoldersAreData) {
  for (const char* name : {"dog", "dog/old", "cat"}) files::fs::create_directory(folder_ / name);
  write("cat/b.png", kRgb);
  write("cat/a.PNG", kRgb);
  write("cat/notes.txt", "no picture");
  write("dog/old/c.jpg", jpeg(2, {90, 90, 90}));
  write("loose.png", kRgb);
  const data::ImageFolder folder(folder_.string());
  EXPECT_EQ(folder.classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(folder.size(), 3);
  EXPECT_EQ(folder.path(0), path("cat/a.PNG"));
  auto [image, label] = folder.get(2);
  EXPECT_EQ(image.sizes(), (Ints{3, 2, 2}));
  EXPECT_EQ(label, 1) << "of a folder within that of the class";
  for (auto [images, labels] : data::DataLoader(folder, {.batch_size = 2, .num_workers = 2})) {
    EXPECT_EQ(images.dtype(), uint8);
    EXPECT_EQ(images.sizes(), (Ints{2, 3, 2, 3}));
    EXPECT_EQ(labels.to_vector<int64_t>(), (std::vector<int64_t>{0, 0}));
    break;
  }
  EXPECT_EQ(data::load_image(path("cat/b.png"), "L").sizes(), (Ints{1, 2, 3}));
  EXPECT_SAYS(folder.get(3), "picture 3 of 3");
  EXPECT_SAYS(data::load_image(path("cat/b.png"), "CMYK"), "mode is 'CMYK', expected 'RGB' or 'L'");
  files::fs::create_directory(folder_ / "empty");
  EXPECT_SAYS(data::ImageFolder(path("empty")), "has no .png, .jpg or .jpeg in folders of its own");
  EXPECT_SAYS(data::ImageFolder(path("absent")),
              "absent: cannot be read as a folder: No such file");
  write("empty/photo.webp", "of another format");
  EXPECT_SAYS(data::ImageFolder(folder_.string()),
              ": the class 'empty' has no picture, a file that ends in .png, .jpg or .jpeg");
  files::fs::remove_all(folder_ / "empty");
  write("dog/d.png", kRgb.substr(0, 50));
  data::DataLoader loader(data::ImageFolder(folder_.string()), {.num_workers = 2});
  EXPECT_SAYS(for (auto batch : loader){}, path("dog/d.png") + ": is no whole PNG file");
  EXPECT_SAYS(for (auto batch : loader){}, "DataLoader: sample 2 (batch 2): ");
}

}  // namespace
}  // namespace tenon::images
