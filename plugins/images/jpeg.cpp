// JPEG by libjpeg-turbo. Its warnings, of data that is cut or wrong, are errors here: it would give a
// picture that is half gray.
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include "image.h"

namespace tenon::images {

using files::raise;

namespace {

// What the library calls on errors: it may not return, and no exception may cross C.
struct Failure : jpeg_error_mgr {
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void fail_with(j_common_ptr info) {
  auto* failure = static_cast<Failure*>(info->err);
  failure->format_message(info, failure->message);
  std::longjmp(failure->back, 1);
}
void warn(j_common_ptr info, int level) {
  if (level < 0) fail_with(info);
}
void say_nothing(j_common_ptr) {}

// A picture of few bytes can have thousands of passes over all of its pixels.
void expect_few_scans(j_common_ptr info) {
  constexpr int kMostScans = 500;
  if (!info->is_decompressor) return;
  auto* decoder = reinterpret_cast<j_decompress_ptr>(info);
  if (decoder->input_scan_number <= kMostScans) return;
  auto* failure = static_cast<Failure*>(info->err);
  std::snprintf(failure->message, sizeof(failure->message), "more than %d scans", kMostScans);
  std::longjmp(failure->back, 1);
}

// The two steps, without objects that a jump would leave alive; false: failure->message says why.
bool read_header(jpeg_decompress_struct* decoder, Failure* failure, const std::string& bytes,
                 jpeg_progress_mgr* progress) {
  if (setjmp(failure->back) != 0) return false;
  jpeg_create_decompress(decoder);
  decoder->progress = progress;
  jpeg_mem_src(decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(decoder, TRUE);
  return true;
}
bool read_pixels(jpeg_decompress_struct* decoder, Failure* failure, uint8_t* row, Image* image) {
  if (setjmp(failure->back) != 0) return false;
  jpeg_start_decompress(decoder);
  while (decoder->output_scanline < decoder->output_height) {
    const int64_t y = decoder->output_scanline;
    jpeg_read_scanlines(decoder, &row, 1);
    image->put_row(y, row);
  }
  jpeg_finish_decompress(decoder);
  return true;
}

struct Decoder : jpeg_decompress_struct {
  Decoder() : jpeg_decompress_struct{} {}
  Decoder(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(this); }
};

// What libjpeg keeps while it decodes: some rows of blocks, and where a picture comes in several scans
// the coefficients of all of them.
uint64_t kept_bytes(jpeg_decompress_struct* decoder) {
  constexpr uint64_t kRows = 128;
  uint64_t bytes = kRows * decoder->image_width * static_cast<uint64_t>(decoder->num_components);
  if (!jpeg_has_multiple_scans(decoder)) return bytes;
  for (int i = 0; i < decoder->num_components; ++i) {
    const jpeg_component_info& component = decoder->comp_info[i];
    const auto up = [](uint64_t blocks, int factor) {
      const auto f = static_cast<uint64_t>(factor);
      return (blocks + f - 1) / f * f;
    };
    bytes += up(component.width_in_blocks, component.h_samp_factor) *
             up(component.height_in_blocks, component.v_samp_factor) * sizeof(JBLOCK);
  }
  return bytes;
}

}  // namespace

Image decode_jpeg(const std::string& path, const std::string& bytes, Mode mode) {
  Failure failure{};
  jpeg_progress_mgr progress{};
  progress.progress_monitor = expect_few_scans;
  Decoder decoder;
  decoder.err = jpeg_std_error(&failure);
  failure.error_exit = fail_with;
  failure.emit_message = warn;
  failure.output_message = say_nothing;
  const auto expect = [&](bool ok) {
    if (!ok) raise(TN_DATA_LOSS, "{}: is no whole JPEG file: {}", path, failure.message);
  };
  expect(read_header(&decoder, &failure, bytes, &progress));
  if (decoder.jpeg_color_space == JCS_CMYK || decoder.jpeg_color_space == JCS_YCCK) {
    raise(TN_UNSUPPORTED, "{}: its colours are for print (CMYK), expected RGB or gray", path);
  }
  decoder.out_color_space = JCS_RGB;
  const uint64_t kept = kept_bytes(&decoder), row_bytes = uint64_t{3} * decoder.image_width;
  expect_fits(path, decoder.image_width, decoder.image_height, mode, kept + row_bytes);
  decoder.mem->max_memory_to_use = static_cast<long>(kept + (uint64_t{1} << 20));
  std::vector<uint8_t> row(row_bytes);
  Image image(decoder.image_height, decoder.image_width, mode);
  expect(read_pixels(&decoder, &failure, row.data(), &image));
  return image;
}

}  // namespace tenon::images
