// PNG by libspng.
#include <memory>
#include <vector>

#include <spng.h>

#include "image.h"

namespace tenon::images {

using files::raise;

namespace {

// libspng takes a file that ends early if it has all pixels. Chunks: length, kind, bytes, checksum
// (PNG, third edition, 5.3).
void expect_end(const std::string& path, const std::string& bytes) {
  constexpr uint64_t kSignature = 8, kAround = 12;
  for (uint64_t at = kSignature; bytes.size() - at >= kAround;) {
    uint64_t length = 0;
    for (uint64_t i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(bytes[at + i]);
    if (bytes.size() - at - kAround < length) break;
    if (bytes.compare(at + 4, 4, "IEND") == 0) return;
    at += kAround + length;
  }
  raise(TN_DATA_LOSS, "{}: is no whole PNG file: it ends before its last chunk", path);
}

// The number of four bytes, the highest first, as all are in a PNG; 0 where they are not there.
uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = at; at + 4 <= bytes.size() && i < at + 4; ++i)
    number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

// Of a row, as the file has it, without its filter.
uint64_t row_bytes(const spng_ihdr& header) {
  const uint64_t samples = header.color_type == SPNG_COLOR_TYPE_TRUECOLOR         ? 3
                           : header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                           : header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4
                                                                                  : 1;
  return (samples * header.bit_depth * header.width + 7) / 8;
}

}  // namespace

Image decode_png(const std::string& path, const std::string& bytes, Mode mode) {
  expect_end(path, bytes);
  constexpr uint32_t kMostSide = 1 << 24;
  constexpr size_t kMostChunk = size_t{1} << 20;  // of what is no picture: text, profiles
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(0), spng_ctx_free);
  if (context == nullptr) raise(TN_OUT_OF_MEMORY, "{}: no memory to decode it", path);
  const auto expect = [&](int error) {
    if (error == 0) return;
    const tn_code code = error == SPNG_EMEM ? TN_OUT_OF_MEMORY : TN_DATA_LOSS;
    raise(code, "{}: is no whole PNG file: {}", path, spng_strerror(error));
  };
  expect(spng_set_image_limits(context.get(), kMostSide, kMostSide));
  expect(spng_set_chunk_limits(context.get(), kMostChunk, 4 * kMostChunk));
  expect(spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
  expect(spng_set_png_buffer(context.get(), bytes.data(), bytes.size()));
  spng_ihdr header{};
  const int read = spng_get_ihdr(context.get(), &header);
  if (read == SPNG_EWIDTH || read == SPNG_EHEIGHT || read == SPNG_EUSER_WIDTH ||
      read == SPNG_EUSER_HEIGHT) {
    raise(TN_DATA_LOSS, "{}: a PNG of {} x {} pixels, expected 1 to {} on a side", path,
          number_at(bytes, 16), number_at(bytes, 20), kMostSide);
  }
  expect(read);
  // Rows come one by one but where the picture is interlaced, and libspng keeps up to three of them.
  const bool by_rows = header.interlace_method == 0;
  const uint64_t row = uint64_t{3} * header.width, rows = by_rows ? 1 : header.height;
  expect_fits(path, header.width, header.height, mode, row * rows + 3 * (row_bytes(header) + 64));
  std::vector<uint8_t> pixels(row * rows);
  Image image(header.height, header.width, mode);
  expect(spng_decode_image(context.get(), by_rows ? nullptr : pixels.data(),
                           by_rows ? 0 : pixels.size(), SPNG_FMT_RGB8,
                           by_rows ? SPNG_DECODE_PROGRESSIVE : 0));
  for (uint32_t y = 0; y < header.height; ++y) {
    if (by_rows) {
      const int end = spng_decode_row(context.get(), pixels.data(), pixels.size());
      if (end != SPNG_EOI || y + 1 != header.height) expect(end);
    }
    image.put_row(y, pixels.data() + (by_rows ? 0 : y * row));
  }
  return image;
}

}  // namespace tenon::images
