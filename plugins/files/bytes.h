// The bytes of a file or of a part of it, unpacked where they are packed. Used by the readers of
// formats; knows none of them. Where zlib was not there at the build, packed ones are refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "file.h"

namespace tenon::files {

enum class Packing { kNone, kGzip, kDeflate };

// How many bytes there are is known, and not believed: packed ones were unpacked once, piece by
// piece, before the constructor returns, so that a reader may allocate what they fill. Safe to read
// from several threads.
class Bytes {
 public:
  // A whole file, unpacked where it begins as gzip does.
  explicit Bytes(const std::string& path);
  // The part [begin, end) of an open file, called `name` in errors. `crc`: of the unpacked bytes, as
  // the file claims it.
  Bytes(std::shared_ptr<const InputFile> file, std::string name, uint64_t begin, uint64_t end,
        Packing packing, uint32_t crc);

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  // Exactly `bytes` at `offset`, both within size(). Of packed ones all before is unpacked again.
  void read_at(uint64_t offset, void* memory, uint64_t bytes) const;
  std::string read_all() const;
  // piece(data, n) of all bytes in order, until it gives false.
  using Piece = std::function<bool(const uint8_t* data, uint64_t n)>;
  void each_piece(const Piece& piece) const;

 private:
  void unpack(const Piece& piece) const;

  std::shared_ptr<const InputFile> file_;
  std::string name_;
  uint64_t begin_ = 0, end_ = 0, size_ = 0;
  Packing packing_ = Packing::kNone;
};

}  // namespace tenon::files
