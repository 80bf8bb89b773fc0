// Event files that TensorBoard shows: numbers by name and step. tenon.hpp does not include it.
//
//   SummaryWriter writer("runs/a");
//   writer.add_scalar("loss", loss, step);
//
// A file is a row of records (length, CRC-32C of it, an Event message of Protocol Buffers, its CRC), as
// TensorFlow's core/lib/io/record_writer.h and core/util/event.proto say.
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

// Castagnoli's polynomial, bits reversed (RFC 3720, appendix B.4).
inline uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1)));
      t[i] = crc;
    }
    return t;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ uint8_t(byte)) & 0xff];
  return ~crc;
}

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
  ProtoMessage& fixed(uint64_t value, int n) {  // little-endian, without a key
    for (int i = 0; i < n; ++i) text_ += char(value >> (8 * i) & 0xff);
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

}  // namespace detail

// torch.utils.tensorboard's, for numbers. One thread at a time. Errors name the file.
class SummaryWriter {
 public:
  // Makes the folder, and a file in it whose name no other writer has. What the folder's older files
  // have of steps from `purge_step` on is hidden: for a training that goes on from there.
  explicit SummaryWriter(const std::string& log_dir, int64_t purge_step = -1) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(log_dir, failed);
    if (failed) {
      fail(detail::joined(
          {messages::printable(log_dir), ": the folder cannot be made: ", failed.message()}));
    }
    static std::atomic<int> counter = 0;
    char host[256] = "localhost";
    ::gethostname(host, sizeof(host) - 1);
    path_ = (fs::path(log_dir) /
             detail::joined({"events.out.tfevents.", std::to_string(int64_t(now())), ".", host, ".",
                             std::to_string(::getpid()), ".", std::to_string(counter++)}))
                .string();
    file_.reset(std::fopen(path_.c_str(), "wbxe"));
    if (!file_) refuse("the file cannot be made", errno);
    record(event(0).bytes(3, "brain.Event:2"));
    constexpr uint64_t kStart = 1;  // SessionLog.SessionStatus
    if (purge_step >= 0) {
      const detail::ProtoMessage session = detail::ProtoMessage().varint(1, kStart);
      record(event(purge_step).bytes(7, session.text()));
    }
    flush();
  }

  // Names with '/' are shown in groups. Stored as float32, as TensorBoard does.
  void add_scalar(std::string_view name, double value, int64_t step) {
    const detail::ProtoMessage one = detail::ProtoMessage().bytes(1, name).number(2, float(value));
    record(event(step).bytes(5, detail::ProtoMessage().bytes(1, one.text()).text()));
  }
  // Everything added so far can be read by others afterwards.
  void flush() {
    if (std::fflush(file_.get()) != 0) refuse("it cannot be written", errno);
  }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  static detail::ProtoMessage event(int64_t step) {
    return detail::ProtoMessage().number(1, now()).varint(2, uint64_t(step));
  }
  void record(const detail::ProtoMessage& message) {
    const std::string& data = message.text();
    detail::ProtoMessage length, whole;
    length.fixed(data.size(), 8);
    whole.fixed(data.size(), 8).fixed(masked(length.text()), 4);
    const std::string head = whole.text(),
                      tail = detail::ProtoMessage().fixed(masked(data), 4).text();
    for (const std::string* part : {&head, &data, &tail}) {
      if (std::fwrite(part->data(), 1, part->size(), file_.get()) != part->size())
        refuse("it cannot be written", errno);
    }
  }
  // A CRC of data that has CRCs in it is no good, so records keep another number.
  static uint32_t masked(const std::string& data) {
    const uint32_t crc = detail::crc32c(data);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
  }
  [[noreturn]] void refuse(const char* what, int error) const {
    fail(detail::joined({messages::printable(path_), ": ", what, ": ", std::strerror(error)}));
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace v0
}  // namespace tenon
