// Pictures to begin with: PNG files made after the format's description (third edition), JPEG files
// by the other half of the library that reads them.
#include "file_formats.h"

#ifdef TENON_FUZZ_IMAGES

#include "jpeg_bytes.h"

namespace tenon::fuzz {

using namespace file_bytes;

namespace {

// The same file, whose header claims another size.
std::string claiming(std::string bytes, unsigned width, unsigned height) {
  for (size_t at = 0; at + 9 < bytes.size(); ++at) {
    const auto kind = static_cast<uint8_t>(bytes[at + 1]);
    if (bytes[at] != '\xff' || kind < 0xc0 || kind > 0xca || kind == 0xc4 || kind == 0xc8) continue;
    return bytes.replace(at + 5, 4, big(height, 2) + big(width, 2));
  }
  return bytes;
}

}  // namespace

std::vector<std::string> png_corpus() {
  const std::string four = std::string("\0abc\4def", 8), palette = chunk("PLTE", "abcdef");
  return {png({1, 2, 8, 2, four}),
          png({3, 1, 8, 0, std::string("\1", 1) + "abc", chunk("tRNS", std::string("\0a", 2))}),
          png({1, 1, 16, 6, std::string("\0", 1) + "01234567"}),
          png({2, 1, 8, 4, std::string("\2", 1) + "abcd",
               chunk("gAMA", big(45455, 4)) + chunk("tEXt", std::string("k\0v", 3))}),
          png({4, 1, 1, 3, std::string("\0\xa0", 2), palette + chunk("tRNS", "a")}),
          png({2, 2, 8, 0, std::string("\0a\0b\0cd", 7), "", 1}),
          // Sizes that no such file may claim: many pixels, and rows that are long.
          png({3300, 3300, 16, 6, four}), png({8000000, 1, 16, 6, four}),
          png({1, 8000000, 1, 0, four}), png({0, 1, 8, 2, four}),
          png({0x7fffffff, 0x7fffffff, 8, 2, four, "", 1})};
}

void mend_png(std::string* bytes) {
  for (size_t at = 8; at + 12 <= bytes->size();) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>((*bytes)[at + i]);
    if (length > bytes->size() - at - 12) return;
    bytes->replace(at + 8 + length, 4, big(checksum(bytes->substr(at + 4, length + 4)), 4));
    at += 12 + length;
  }
}

std::vector<std::string> jpeg_corpus() {
  return {jpeg({9, 17}), jpeg({8, 8, 1}), jpeg({17, 9, 3, true}),
          jpeg({16, 16, 3, false, false, false, 1}), jpeg({16, 16, 3, false, true}),
          jpeg({8, 8, 3, true, true, true}), jpeg({8, 8, 4}),
          // Coefficients of all pixels are kept, and rows are long.
          claiming(jpeg({8, 8, 3, true, false, true}), 3000, 3000),
          claiming(jpeg({8, 8, 3, true, false, true}), 3340, 3340),
          claiming(jpeg({8, 8}), 65500, 160), claiming(jpeg({8, 8}), 160, 65500),
          claiming(jpeg({8, 8}), 0, 8)};
}

}  // namespace tenon::fuzz

#endif
