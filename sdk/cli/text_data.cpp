#include "text_data.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "tenon/disk.hpp"
#include "text.h"

namespace tenon::cli {

namespace fs = std::filesystem;

TextData::TextData(std::string_view text, const Vocabulary& vocabulary, int64_t context)
    : context_(context) {
  std::vector<uint8_t> indices;
  indices.reserve(text.size());
  for (const char c : text) indices.push_back(static_cast<uint8_t>(vocabulary.index(c)));
  indices_ = std::move(indices);
}

int64_t TextData::size() const {
  return std::visit([](const auto& list) { return static_cast<int64_t>(list.size()); }, indices_);
}

std::pair<Tensor, Tensor> TextData::at(const std::vector<int64_t>& places) const {
  const auto n = static_cast<int64_t>(places.size());
  std::vector<int64_t> x, y;
  x.reserve(static_cast<size_t>(n * context_));
  y.reserve(x.capacity());
  std::visit(
      [&](const auto& list) {
        for (const int64_t place : places) {
          const auto first = list.begin() + place;
          x.insert(x.end(), first, first + context_);
          y.insert(y.end(), first + 1, first + 1 + context_);
        }
      },
      indices_);
  return {Tensor::from(x, {n, context_}), Tensor::from(y)};
}

uint64_t TextData::checksum() const {
  return std::visit(
      [](const auto& list) { return checksum_of(list.data(), list.size() * sizeof(list[0])); },
      indices_);
}

// Words of eight bytes, mixed as in splitmix64 (Steele, Lea and Flood, 2014).
uint64_t checksum_of(const void* data, size_t bytes, uint64_t before) {
  const auto* at = static_cast<const char*>(data);
  uint64_t sum = before ^ bytes;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at + i, std::min<size_t>(8, bytes - i));
    sum = (sum ^ word) + 0x9e3779b97f4a7c15u;
    sum = (sum ^ (sum >> 30)) * 0xbf58476d1ce4e5b9u;
    sum ^= sum >> 27;
  }
  return sum;
}

std::vector<std::string> first_text_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      std::vector<std::string> names, files;
      if (const int failed = disk::names_in(path, names)) {
        fail(fmt::format("{}: cannot be read: {}", shown(path),
                         std::generic_category().message(failed)));
      }
      for (const std::string& name : names) {
        // A link would be a text that is there twice.
        const fs::path file = fs::path(path) / name;
        std::error_code ignored;
        if (fs::is_regular_file(fs::symlink_status(file, ignored))) files.push_back(file);
      }
      return files;
    }
    if (fs::exists(path, error)) return {path};
  }
  fail(fmt::format("there is no file or folder {}", shown(joined(paths, " or "))), TN_NOT_FOUND);
}

}  // namespace tenon::cli
