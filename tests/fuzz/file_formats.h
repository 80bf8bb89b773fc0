// The formats of files that users have from others, for the fuzzer (file_fuzz.cpp) and the test that
// tries the corpus (file_corpus_test.cpp): how each is read to its end, and files to begin with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_bytes.h"

namespace tenon::fuzz {

// More than a file's size a reader may not have at a time.
inline constexpr uint64_t kMostBeside = uint64_t{64} << 20;

struct FileFormat {
  const char* name;
  // All that the file has; throws a tenon::Error where it is refused, and nothing else.
  void (*read)(const std::string& path);
  // Small files, most of them good, made when they are asked for.
  std::vector<std::string> (*corpus)();
  // NULL, or makes the checksums of a file right that was changed.
  void (*mend)(std::string* bytes) = nullptr;
};

// Those that this build has libraries for.
const std::vector<FileFormat>& file_formats();

// The corpora: tables and arrays in file_corpus.cpp, pictures in picture_corpus.cpp.
std::vector<std::string> csv_corpus();
std::vector<std::string> idx_corpus();
std::vector<std::string> npy_corpus();
std::vector<std::string> npz_corpus();
std::vector<std::string> cifar_corpus();
std::vector<std::string> safetensors_corpus();
std::vector<std::string> text_corpus();
std::vector<std::string> training_corpus();
std::vector<std::string> png_corpus();
std::vector<std::string> jpeg_corpus();
void mend_png(std::string* bytes);

}  // namespace tenon::fuzz
