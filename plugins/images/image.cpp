#include "image.h"

#include <fmt/format.h>

namespace tenon::images {

using files::raise;

Image::Image(int64_t height, int64_t width, Mode mode)
    : channels(mode == Mode::kGray ? 1 : 3),
      height(height),
      width(width),
      values(static_cast<size_t>(channels * height * width)) {}

void Image::put_row(int64_t y, const uint8_t* rgb) {
  uint8_t* to = values.data() + y * width;
  const int64_t plane = height * width;
  for (int64_t x = 0; x < width; ++x, ++to, rgb += 3) {
    if (channels == 1) {  // in steps of 2^-16, rounded
      to[0] = static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >>
                                   16);
    } else {
      to[0] = rgb[0];
      to[plane] = rgb[1];
      to[2 * plane] = rgb[2];
    }
  }
}

void expect_fits(const std::string& path, uint64_t width, uint64_t height, Mode mode,
                 uint64_t beside) {
  // Of 64 MiB beside the file's bytes; the rest is for what decoders keep that is no picture.
  constexpr uint64_t kMiB = uint64_t{1} << 20, kMost = 58 * kMiB;
  if (width == 0 || height == 0) {
    raise(TN_DATA_LOSS, "{}: its picture of {} x {} has no pixels", path, width, height);
  }
  const uint64_t channels = mode == Mode::kGray ? 1 : 3;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(width * channels, height, &bytes) ||
      __builtin_add_overflow(bytes, beside, &bytes)) {
    bytes = UINT64_MAX;
  }
  if (bytes > kMost) {
    raise(TN_DATA_LOSS, "{}: claims {} x {} pixels, which need {} MiB; a picture may need {}", path,
          width, height, bytes / kMiB, kMost / kMiB);
  }
}

Image decode(const std::string& path, Mode mode) {
  const std::string bytes = files::InputFile(path).read_all();
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(path, bytes, mode);
  if (bytes.starts_with("\xff\xd8\xff")) return decode_jpeg(path, bytes, mode);
  raise(TN_DATA_LOSS, "{}: is neither a PNG nor a JPEG file", path);
}

}  // namespace tenon::images
