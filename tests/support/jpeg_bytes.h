// JPEG files that tests make, by the half of the library that writes them. Programs that include this
// link it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

namespace tenon::file_bytes {

struct Jpeg {
  unsigned width, height;
  int channels = 3;  // 1 gray, 3 RGB, 4 CMYK
  bool progressive = false, arithmetic = false;
  bool is_full = false;  // colours are not halved
  unsigned restart = 0;  // blocks between markers to go on from; 0: none
  int quality = 75;
  std::string colour = {};  // of all pixels, a byte for each channel; "": they differ
};
inline std::string jpeg(const Jpeg& j) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = j.width;
  encoder.image_height = j.height;
  encoder.input_components = j.channels;
  encoder.in_color_space = j.channels == 1 ? JCS_GRAYSCALE : j.channels == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, j.quality, TRUE);
  if (j.is_full) encoder.comp_info[0].h_samp_factor = encoder.comp_info[0].v_samp_factor = 1;
  if (j.progressive) jpeg_simple_progression(&encoder);
  encoder.arith_code = j.arithmetic ? TRUE : FALSE;
  encoder.restart_interval = j.restart;
  jpeg_start_compress(&encoder, TRUE);
  std::string row(size_t{j.width} * static_cast<size_t>(j.channels), '\0');
  for (unsigned y = 0; y < j.height; ++y) {
    for (size_t x = 0; x < row.size(); ++x) {
      row[x] =
          j.colour.empty() ? static_cast<char>(x * 11 + y * 29) : j.colour[x % j.colour.size()];
    }
    auto* at = reinterpret_cast<JSAMPLE*>(row.data());
    jpeg_write_scanlines(&encoder, &at, 1);
  }
  jpeg_finish_compress(&encoder);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&encoder);
  std::free(memory);
  return bytes;
}

}  // namespace tenon::file_bytes
