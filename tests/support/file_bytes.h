// Bytes of files that tests make: numbers, checksums, PNG pictures without a library (after the format's
// third edition).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace tenon::file_bytes {

// ISO 3309, as PNG, gzip and zip have it.
inline uint32_t checksum(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}
// The lowest or highest `n` bytes of a number first.
inline std::string little(uint64_t number, int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) bytes.push_back(static_cast<char>(number >> 8 * i));
  return bytes;
}
inline std::string big(uint64_t number, int n) {
  std::string bytes = little(number, n);
  std::ranges::reverse(bytes);
  return bytes;
}
// A block of Deflate (RFC 1951) that is stored as it is, of less than 64 KiB.
inline std::string stored_block(const std::string& bytes) {
  return '\1' + little(bytes.size(), 2) + little(~bytes.size(), 2) + bytes;
}

inline std::string chunk(const std::string& kind, const std::string& data) {
  return big(data.size(), 4) + kind + data + big(checksum(kind + data), 4);
}

// zlib's form (RFC 1950) of bytes as they are.
inline std::string zlib(const std::string& bytes) {
  uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<uint8_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return "\x78\x01" + stored_block(bytes) + big(b << 16 | a, 4);
}

struct Png {
  uint32_t width, height;
  char depth, colours;      // 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
  std::string rows;         // each behind its filter
  std::string before = {};  // chunks in front of the pixels
  char interlaced = 0;
};
inline std::string png(const Png& p) {
  const std::string header = big(p.width, 4) + big(p.height, 4) + p.depth + p.colours +
                             std::string(2, '\0') + p.interlaced;
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + p.before + chunk("IDAT", zlib(p.rows)) +
         chunk("IEND", "");
}

}  // namespace tenon::file_bytes
