#include "file_formats.h"

#include <algorithm>

#include "cifar.h"
#include "config.h"
#include "csv.h"
#include "idx.h"
#include "npy.h"
#include "safetensors.h"
#include "tenon/dtype_table.hpp"
#include "text_file.h"

#ifdef TENON_FUZZ_IMAGES
#include "image.h"
#endif

namespace tenon::fuzz {
namespace {

// The values of an array, in memory as a tensor would have.
template <typename Reader>
void read_values(const Reader& reader) {
  uint64_t bytes = dtype_table::item_size(reader.dtype());
  for (const int64_t size : reader.shape()) bytes *= static_cast<uint64_t>(size);
  std::vector<char> memory(bytes);
  if (bytes > 0) reader.read(memory.data());
}

void read_csv_file(const std::string& path) {
  for (const char separator : {',', ';'}) {
    for (const bool header : {false, true}) {
      try {
        const files::CsvTable table(path, {.header = header, .separator = separator});
        using Kind = files::CsvTable::Kind;
        for (const Kind kind : {Kind::kText, Kind::kNumber}) {
          try {
            table.read({.kinds = std::vector(static_cast<size_t>(table.columns()), kind),
                        .number = [](int64_t, int64_t, double) {},
                        .missing = 0,
                        .text = [](int64_t, int64_t, const std::string&) {}});
          } catch (const Error&) {  // texts, or zero bytes
          }
        }
        table.is_number(table.columns() - 1);
        table.line(table.rows() - 1);
      } catch (const Error&) {  // it may be of the other kind
      }
    }
  }
}
void read_idx(const std::string& path) { read_values(files::IdxReader(path)); }
void read_npy(const std::string& path) { read_values(files::NpyReader(path)); }
void read_npz(const std::string& path) {
  const files::NpzReader archive(path);
  for (const std::string& name : archive.names()) {
    try {
      read_values(archive.array(name));
    } catch (const Error&) {  // the others may be whole
    }
  }
}
void read_cifar(const std::string& path) {
  for (const int64_t classes : {10, 100}) {
    try {
      const files::CifarReader reader(path, classes);
      const auto n = static_cast<size_t>(reader.size());
      std::vector<uint8_t> images(n * 3 * 32 * 32);
      reader.read_images(images.data());
      std::vector<int64_t> labels(n);
      reader.read_labels(labels.data(), false);
      if (reader.has_coarse()) reader.read_labels(labels.data(), true);
    } catch (const Error&) {  // it may be of the other kind
    }
  }
}
void read_safetensors(const std::string& path) {
  const files::SafetensorsReader reader(path);
  for (const files::TensorEntry& entry : reader.entries()) {
    std::vector<char> memory(files::bytes_in_memory(entry));
    if (!memory.empty()) reader.read(entry, memory.data());
  }
  static_cast<void>(reader.mapping());
}
void read_text(const std::string& path) {
  const files::TextReader reader(path);
  for (int64_t i = 0; i < reader.lines(); ++i) static_cast<void>(reader.line(i));
}
void read_training(const std::string& path) { cli::read_config(path, true); }
#ifdef TENON_FUZZ_IMAGES
void read_picture(const std::string& path) {
  images::decode(path, images::Mode::kRgb);
  images::decode(path, images::Mode::kGray);
}
#endif

}  // namespace

const std::vector<FileFormat>& file_formats() {
  static const std::vector<FileFormat> formats = {
      {"csv", read_csv_file, csv_corpus},
      {"idx", read_idx, idx_corpus},
      {"npy", read_npy, npy_corpus},
      {"npz", read_npz, npz_corpus},
      {"cifar", read_cifar, cifar_corpus},
      {"safetensors", read_safetensors, safetensors_corpus},
      {"text", read_text, text_corpus},
      {"training", read_training, training_corpus},
#ifdef TENON_FUZZ_IMAGES
      {"png", read_picture, png_corpus, mend_png},
      {"jpeg", read_picture, jpeg_corpus},
#endif
  };
  return formats;
}

}  // namespace tenon::fuzz
