// PNG by libspng.
#include <memory>

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

}  // namespace

Pixels decode_png(const std::string& path, const std::string& bytes) {
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
  expect(spng_get_ihdr(context.get(), &header));
  expect_fits(path, bytes.size(), header.width, header.height);
  Pixels pixels{header.height, header.width, {}};
  size_t size = 0;
  expect(spng_decoded_image_size(context.get(), SPNG_FMT_RGB8, &size));
  pixels.rgb.resize(size);
  expect(spng_decode_image(context.get(), pixels.rgb.data(), size, SPNG_FMT_RGB8, 0));
  return pixels;
}

}  // namespace tenon::images
