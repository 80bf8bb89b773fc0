#include "image.h"

#include <fmt/format.h>

namespace tenon::images {

using files::raise;

namespace {

constexpr uint64_t kMost = uint64_t{64} << 20;

Image planes(const Pixels& pixels, Mode mode) {
  Image image{mode == Mode::kGray ? 1 : 3, pixels.height, pixels.width, {}};
  const auto n = static_cast<size_t>(pixels.height * pixels.width);
  image.values.resize(n * static_cast<size_t>(image.channels));
  const uint8_t* from = pixels.rgb.data();
  uint8_t* to = image.values.data();
  for (size_t i = 0; i < n; ++i, from += 3) {
    if (mode == Mode::kGray) {  // in steps of 2^-16, rounded
      to[i] = static_cast<uint8_t>(
          (from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
    } else {
      to[i] = from[0];
      to[n + i] = from[1];
      to[2 * n + i] = from[2];
    }
  }
  return image;
}

}  // namespace

// Pixels and planes are there at the same time: both together stay below the limit.
void expect_fits(const std::string& path, uint64_t file_bytes, uint64_t width, uint64_t height) {
  constexpr uint64_t kBytes = 6;  // of a pixel
  if (width == 0 || height == 0) {
    raise(TN_DATA_LOSS, "{}: its picture of {} x {} has no pixels", path, width, height);
  }
  const uint64_t most = (kMost + file_bytes) / kBytes;
  if (width > most / height) {
    raise(TN_DATA_LOSS, "{}: claims {} x {} pixels; a file of {} bytes may have {}", path, width,
          height, file_bytes, most);
  }
}

Image decode(const std::string& path, Mode mode) {
  const std::string bytes = files::InputFile(path).read_all();
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return planes(decode_png(path, bytes), mode);
  if (bytes.starts_with("\xff\xd8\xff")) return planes(decode_jpeg(path, bytes), mode);
  raise(TN_DATA_LOSS, "{}: is neither a PNG nor a JPEG file", path);
}

}  // namespace tenon::images
