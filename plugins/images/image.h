// Pictures in files, decoded to bytes. Knows files, no tensors. Nothing in a file is believed before
// it was checked: a picture takes at most the file's size and 64 MiB of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file.h"

namespace tenon::images {

enum class Mode { kRgb, kGray };

// Planes of bytes, [channels, height, width].
struct Image {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<uint8_t> values;

  Image(int64_t height, int64_t width, Mode mode);
  // A row of pixels of three bytes.
  void put_row(int64_t y, const uint8_t* rgb);
};

// Decodes a PNG or JPEG file, by what it begins with and not by its name. Transparency is left out,
// 16 bits become 8, gray is 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601). Errors (Error) name
// the path: neither format, cut, damaged, too large. Thread-safe.
Image decode(const std::string& path, Mode mode);

// The two formats: of a whole file.
Image decode_png(const std::string& path, const std::string& bytes, Mode mode);
Image decode_jpeg(const std::string& path, const std::string& bytes, Mode mode);

// Throws where a picture needs more memory than any may: that of its planes, and `beside` while it is
// decoded.
void expect_fits(const std::string& path, uint64_t width, uint64_t height, Mode mode,
                 uint64_t beside);

}  // namespace tenon::images
