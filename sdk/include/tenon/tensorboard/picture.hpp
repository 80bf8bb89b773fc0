// What SummaryWriter::add_image and add_images write: the pictures of a tensor as a PNG file. Used
// by tensorboard.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/data/collate.hpp"
#include "tenon/messages.hpp"
#include "tenon/tensor.hpp"
#include "tenon/tensorboard/event_file.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

struct Picture {
  int64_t height, width, channels;  // channels: gray, gray and alpha, RGB, RGBA
  std::string bytes;                // [height, width, channels]
};

inline std::string big_endian(uint64_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += char(number >> shift & 0xff);
  return text;
}

// A PNG file (PNG, third edition) whose rows are not compressed: they stand in the stored blocks of
// RFC 1951, 3.2.4, which need no library.
inline std::string png_of(const Picture& picture) {
  const auto row = size_t(picture.width * picture.channels);
  std::string rows;
  rows.reserve((row + 1) * size_t(picture.height));
  for (size_t at = 0; at < picture.bytes.size(); at += row) {
    rows += '\0';  // no filter
    rows.append(picture.bytes, at, row);
  }
  uint32_t a = 1, b = 0;  // Adler-32 (RFC 1950, 9)
  for (const char byte : rows) {
    a = (a + uint8_t(byte)) % 65521;
    b = (b + a) % 65521;
  }
  constexpr size_t kMost = 65535;  // bytes of a block
  std::string stream = "\x78\x01";
  for (size_t at = 0; at < rows.size(); at += kMost) {
    const size_t n = std::min(kMost, rows.size() - at);
    stream += char(at + n == rows.size());
    stream += ProtoMessage().fixed(n, 2).fixed(~n, 2).text();
    stream.append(rows, at, n);
  }
  stream += big_endian(b << 16 | a);

  constexpr char kColours[] = {0, 4, 2, 6};  // by the number of channels
  std::string header =
      joined({big_endian(uint64_t(picture.width)), big_endian(uint64_t(picture.height))});
  header.append({8, kColours[picture.channels - 1], 0, 0, 0});
  std::string file = "\x89PNG\r\n\x1a\n";
  const auto chunk = [&](const char* kind, const std::string& data) {
    const std::string whole = joined({kind, data});
    file += joined({big_endian(data.size()), whole, big_endian(crc_of<0xedb88320u>(whole))});
  };
  chunk("IHDR", header);
  chunk("IDAT", stream);
  chunk("IEND", "");
  return file;
}

// Floats and bools from 0 to 1 become 0 to 255: what lies beyond is clipped, fractions are cut off
// as PyTorch cuts them, and NaN is 0.
inline std::vector<uint8_t> picture_bytes(const Tensor& image) {
  if (image.dtype() == uint8) return image.to_vector<uint8_t>();
  const std::vector<float> values = image.to_vector<float>();
  std::vector<uint8_t> bytes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    bytes[i] = values[i] > 0 ? uint8_t(std::min(values[i] * 255, 255.f)) : uint8_t(0);
  }
  return bytes;
}

// The picture of `image`, whose dimensions are the letters of `format`. Those of a batch stand in
// rows of eight, on black.
inline Picture picture_of(std::string_view method, std::string_view tag, const Tensor& image,
                          std::string_view format) {
  constexpr std::string_view kLetters = "NCHW";
  const auto is_named_once = [&](char c) { return std::ranges::count(format, c) == 1; };
  if (!std::ranges::all_of(format, [&](char c) { return kLetters.find(c) != kLetters.npos; }) ||
      !std::ranges::all_of(format, is_named_once) || !is_named_once('H') || !is_named_once('W')) {
    fail(joined({method, ": dataformats is '", messages::printable(format),
                 "', expected H, W and perhaps C and N in the order of the dimensions, as 'CHW', "
                 "'HWC', 'HW' or 'NCHW'"}));
  }
  const auto refuse = [&](std::string_view expected) {
    fail(joined({method, ": '", messages::printable(tag), "' is ", data::detail::shown(image),
                 " with the dataformats '", format, "', expected ", expected}));
  };
  if (image.dim() != int64_t(format.size())) refuse("a dimension for each letter");
  if (image.dtype() != uint8 && image.dtype() != bool_ && !image.dtype().is_float())
    refuse("uint8 from 0 to 255, or floats or bools from 0 to 1");
  if (image.numel() == 0) refuse("at least one pixel");

  int64_t size[4], stride[4];
  for (size_t i = 0; i < 4; ++i) {
    const size_t at = format.find(kLetters[i]);
    size[i] = at == format.npos ? 1 : image.size(int64_t(at));
    stride[i] = 1;  // of the elements in row-major order
    for (size_t d = at; d < format.size() - 1; ++d) stride[i] *= image.size(int64_t(d) + 1);
  }
  const auto [n, channels, height, width] = size;
  if (channels > 4) refuse("1 to 4 channels: gray, gray and alpha, RGB, or RGBA");
  constexpr int64_t kColumns = 8;
  const int64_t columns = std::min(n, kColumns), lines = (n + columns - 1) / columns;
  const std::vector<uint8_t> bytes = picture_bytes(image);
  Picture picture{lines * height, columns * width, channels, {}};
  picture.bytes.resize(size_t(picture.height * picture.width * channels));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t y = 0; y < height; ++y) {
      const int64_t row = i / columns * height + y, column = i % columns * width;
      char* to = picture.bytes.data() + (row * picture.width + column) * channels;
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t c = 0; c < channels; ++c) {
          *to++ =
              char(bytes[size_t(i * stride[0] + c * stride[1] + y * stride[2] + x * stride[3])]);
        }
      }
    }
  }
  return picture;
}

inline ProtoMessage picture_summary(const Picture& picture) {
  ProtoMessage image;
  image.varint(1, uint64_t(picture.height)).varint(2, uint64_t(picture.width));
  image.varint(3, uint64_t(picture.channels)).bytes(4, png_of(picture));
  return ProtoMessage().message(4, image);
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
