// TensorBoard's event files, read as their format says: records with checksums, and messages of
// Protocol Buffers in them.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/tensorboard/event_file.hpp"

namespace event_files {

template <typename T>
T number_at(const std::string& data, size_t at) {
  T value;
  std::memcpy(&value, data.substr(at, sizeof(T)).data(), sizeof(T));
  return value;
}

// A field of a message: its number and contents.
struct Field {
  uint64_t number, varint = 0;
  std::string bytes;
};
inline uint64_t varint_at(const std::string& data, size_t* at) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(data.at((*at)++));
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}
inline std::vector<Field> fields_of(const std::string& message) {
  std::vector<Field> fields;
  for (size_t at = 0; at < message.size();) {
    const uint64_t key = varint_at(message, &at);
    Field field{key >> 3};
    const auto take = [&](size_t n) {
      field.bytes = message.substr(at, n);
      EXPECT_EQ(field.bytes.size(), n);
      at += n;
    };
    switch (key & 7) {
      case 0:
        field.varint = varint_at(message, &at);
        break;
      case 1:
        take(8);
        break;
      case 5:
        take(4);
        break;
      default: {
        EXPECT_EQ(key & 7, 2u);
        const uint64_t n = varint_at(message, &at);
        take(n);
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}
inline Field field_of(const std::string& message, uint64_t number) {
  for (const Field& field : fields_of(message)) {
    if (field.number == number) return field;
  }
  throw std::runtime_error("no field " + std::to_string(number));
}

// A value of a summary, under its tag.
struct Value {
  int64_t step;
  std::string tag;
  std::string message;  // Summary.Value
  float number() const { return number_at<float>(field_of(message, 2).bytes, 0); }
};
struct Events {
  std::string version;
  std::vector<Value> values;
  std::vector<int64_t> starts;  // steps of session logs
  std::vector<std::string> graphs;
};

inline void expect_crc(const std::string& data, uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  EXPECT_EQ(rotated >> 17 | rotated << 15, tenon::detail::crc32c(data));
}

inline Events events_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string data = text.str();
  Events events;
  for (size_t at = 0; at < data.size();) {
    const auto length = number_at<uint64_t>(data, at);
    expect_crc(data.substr(at, 8), number_at<uint32_t>(data, at + 8));
    const std::string message = data.substr(at + 12, length);
    expect_crc(message, number_at<uint32_t>(data, at + 12 + length));
    at += 16 + length;
    int64_t step = 0;
    for (const Field& field : fields_of(message)) {
      if (field.number == 2) step = static_cast<int64_t>(field.varint);
      if (field.number == 3) events.version = field.bytes;
      if (field.number == 4) events.graphs.push_back(field.bytes);
      if (field.number == 7) events.starts.push_back(step);
      if (field.number != 5) continue;
      const std::string value = field_of(field.bytes, 1).bytes;
      events.values.push_back({step, field_of(value, 1).bytes, value});
    }
  }
  return events;
}

// The event files right in a folder.
inline std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) files.push_back(entry.path().string());
  }
  return files;
}

}  // namespace event_files
