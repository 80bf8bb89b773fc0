// A file of events, which TensorBoard reads: values by tag and step. Used by tensorboard.hpp; it
// knows no tensor.
//
// A file is a row of records (length, CRC-32C of it, an Event message of Protocol Buffers, its
// CRC), as TensorFlow's core/lib/io/record_writer.h and core/util/event.proto say.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tenon/base.hpp"
#include "tenon/messages.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// A CRC of 32 bits. The polynomial is given with its bits reversed.
template <uint32_t kPolynomial>
uint32_t crc_of(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (kPolynomial & (0u - (crc & 1)));
      t[i] = crc;
    }
    return t;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ uint8_t(byte)) & 0xff];
  return ~crc;
}
// Castagnoli's polynomial (RFC 3720, appendix B.4).
inline uint32_t crc32c(std::string_view bytes) { return crc_of<0x82f63b78u>(bytes); }

// Fields of a message of Protocol Buffers.
class ProtoMessage {
 public:
  ProtoMessage& varint(uint32_t field, uint64_t value) {
    key(field, 0);
    return raw_varint(value);
  }
  ProtoMessage& number(uint32_t field, double value) {
    key(field, 1);
    return fixed(std::bit_cast<uint64_t>(value), 8);
  }
  ProtoMessage& number(uint32_t field, float value) {
    key(field, 5);
    return fixed(std::bit_cast<uint32_t>(value), 4);
  }
  ProtoMessage& bytes(uint32_t field, std::string_view value) {
    key(field, 2);
    raw_varint(value.size());
    text_ += value;
    return *this;
  }
  ProtoMessage& message(uint32_t field, const ProtoMessage& value) {
    return bytes(field, value.text_);
  }
  ProtoMessage& fixed(uint64_t value, int n) {  // little-endian, without a key
    for (int i = 0; i < n; ++i) text_ += char(value >> (8 * i) & 0xff);
    return *this;
  }
  ProtoMessage& fields_of(const ProtoMessage& other) {
    text_ += other.text_;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void key(uint32_t field, uint32_t wire_type) { raw_varint(field << 3 | wire_type); }
  ProtoMessage& raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += char((value & 0x7f) | 0x80);
    text_ += char(value);
    return *this;
  }
  std::string text_;
};

// Protocol Buffers have strings of UTF-8 only, and a reader refuses a whole event because of
// another one. `what` is "the tag", for example.
inline void expect_utf8(std::string_view method, std::string_view what, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t bytes = messages::first_character(text.substr(at), &code);
    if (bytes == 0) {
      fail(joined({method, ": ", what, " '", messages::printable(text), "' is no UTF-8 at byte ",
                   std::to_string(at), "; expected UTF-8"}));
    }
    at += bytes;
  }
}
inline void expect_name(std::string_view method, std::string_view what, std::string_view name) {
  if (name.empty()) fail(joined({method, ": ", what, " is empty, expected a name"}));
  if (name.find('\0') != name.npos) {  // where readers of C end, and the system's calls
    fail(joined({method, ": ", what, " is '", messages::printable(name),
                 "', expected one without NUL bytes"}));
  }
  expect_utf8(method, what, name);
}

// Seconds since 1970, as events have them.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// One thread at a time. Errors name the file.
class EventFile {
 public:
  // Makes the folder, and a file in it whose name no other one has. What the folder's older files
  // have of steps from `purge_step` on is hidden; -1: nothing is.
  explicit EventFile(const std::string& folder, int64_t purge_step = -1) {
    namespace fs = std::filesystem;
    if (purge_step < -1) {
      fail(joined({messages::printable(folder), ": purge_step is ", std::to_string(purge_step),
                   ", expected a step from 0 on, or -1"}));
    }
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
      fail(
          joined({messages::printable(folder), ": the folder cannot be made: ", failed.message()}));
    }
    static std::atomic<int> counter = 0;
    char host[256] = "localhost";
    ::gethostname(host, sizeof(host) - 1);
    path_ = (fs::path(folder) /
             joined({"events.out.tfevents.", std::to_string(int64_t(wall_time())), ".", host, ".",
                     std::to_string(::getpid()), ".", std::to_string(counter++)}))
                .string();
    file_.reset(std::fopen(path_.c_str(), "wbxe"));
    if (!file_) refuse("the file cannot be made", errno);
    record(event(0).bytes(3, "brain.Event:2"));
    constexpr uint64_t kStart = 1;  // SessionLog.SessionStatus
    if (purge_step >= 0) {
      record(event(purge_step).message(7, ProtoMessage().varint(1, kStart)));
    }
    flush();
  }

  // `value` has the fields of a Summary.Value but for its tag.
  void add(std::string_view tag, const ProtoMessage& value, int64_t step) {
    const ProtoMessage tagged = ProtoMessage().bytes(1, tag).fields_of(value);
    record(event(step).message(5, ProtoMessage().message(1, tagged)));
  }
  void add_graph(std::string_view graph) { record(event(0).bytes(4, graph)); }
  void flush() {
    if (file_ && std::fflush(file_.get()) != 0) refuse("it cannot be written", errno);
  }
  // Nothing can be added afterwards. A second time does nothing.
  void close() {
    flush();
    if (file_ && std::fclose(file_.release()) != 0) refuse("it cannot be written", errno);
  }
  bool is_open() const { return file_ != nullptr; }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static ProtoMessage event(int64_t step) {
    return ProtoMessage().number(1, wall_time()).varint(2, uint64_t(step));
  }
  void record(const ProtoMessage& message) {
    const std::string& data = message.text();
    constexpr size_t kMost = (size_t(1) << 31) - 1;
    if (data.size() > kMost) {
      fail(joined({messages::printable(path_), ": an event has ", std::to_string(data.size()),
                   " bytes, expected less than 2 GiB, which is the limit of Protocol Buffers"}));
    }
    ProtoMessage length, whole;
    length.fixed(data.size(), 8);
    whole.fixed(data.size(), 8).fixed(masked(length.text()), 4);
    const std::string head = whole.text(), tail = ProtoMessage().fixed(masked(data), 4).text();
    for (const std::string* part : {&head, &data, &tail}) {
      if (std::fwrite(part->data(), 1, part->size(), file_.get()) != part->size())
        refuse("it cannot be written", errno);
    }
  }
  // A CRC of data that has CRCs in it is no good, so records keep another number.
  static uint32_t masked(const std::string& data) {
    const uint32_t crc = crc32c(data);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
  }
  [[noreturn]] void refuse(const char* what, int error) const {
    fail(joined({messages::printable(path_), ": ", what, ": ", std::strerror(error)}),
         error == ENOMEM ? TN_OUT_OF_MEMORY : TN_INVALID_ARGUMENT);
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
