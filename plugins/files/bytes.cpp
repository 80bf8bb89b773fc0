#include "bytes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#ifdef TENON_FILES_ZLIB
#include <zlib.h>
#endif

namespace tenon::files {
namespace {

constexpr uint64_t kPiece = 1 << 16;

bool begins_as_gzip(const InputFile& file) {
  uint8_t magic[2];
  if (file.size() < sizeof(magic)) return false;
  file.read_at(0, magic, sizeof(magic));
  return magic[0] == 0x1f && magic[1] == 0x8b;
}

}  // namespace

Bytes::Bytes(const std::string& path)
    : file_(std::make_shared<const InputFile>(path)), name_(path), end_(file_->size()) {
  size_ = end_;
  if (!begins_as_gzip(*file_)) return;
  packing_ = Packing::kGzip;
  size_ = 0;
  each_piece([this](const uint8_t*, uint64_t n) {
    size_ += n;
    return true;
  });
}

#ifdef TENON_FILES_ZLIB

namespace {

struct Stream : z_stream {
  Stream() : z_stream{} {}
  Stream(const Stream&) = delete;
  ~Stream() { inflateEnd(this); }
};

}  // namespace

Bytes::Bytes(std::shared_ptr<const InputFile> file, std::string name, uint64_t begin, uint64_t end,
             Packing packing, uint32_t crc)
    : file_(std::move(file)), name_(std::move(name)), begin_(begin), end_(end), packing_(packing) {
  uLong found = crc32(0, nullptr, 0);
  each_piece([&](const uint8_t* data, uint64_t n) {
    found = crc32(found, data, static_cast<uInt>(n));
    size_ += n;
    return true;
  });
  if (found != crc) {
    raise(TN_DATA_LOSS, "{}: its checksum is {:08x}, the file claims {:08x}: it is damaged", name_,
          found, crc);
  }
}

void Bytes::unpack(const Piece& piece) const {
  constexpr int kRaw = -15, kGzip = 15 + 16;  // zlib's numbers for windows of 32 KiB
  Stream stream;
  if (inflateInit2(&stream, packing_ == Packing::kGzip ? kGzip : kRaw) != Z_OK) {
    raise(TN_OUT_OF_MEMORY, "{}: no memory to unpack it", name_);
  }
  std::vector<uint8_t> in(kPiece), out(kPiece);
  uint64_t at = begin_;
  bool ended = false;  // a member of the file; gzip allows several
  bool padded = false;
  while (true) {
    if (stream.avail_in == 0 && at < end_) {
      const uint64_t n = std::min(kPiece, end_ - at);
      file_->read_at(at, in.data(), n);
      at += n;
      stream.next_in = in.data();
      stream.avail_in = static_cast<uInt>(n);
    }
    if (ended) {
      if (stream.avail_in == 0) return;
      if (packing_ != Packing::kGzip) {
        raise(TN_DATA_LOSS, "{}: {} bytes follow behind its end", name_,
              end_ - at + stream.avail_in);
      }
      // Zeros behind a member are padding, as of tapes; gunzip passes over them, too.
      padded |= *stream.next_in == 0;
      while (padded && stream.avail_in > 0 && *stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
      }
      if (padded && stream.avail_in == 0) continue;
      if (padded) {
        raise(TN_DATA_LOSS, "{}: behind its end and zeros there is byte {} at {}", name_,
              *stream.next_in, at - stream.avail_in);
      }
      inflateReset(&stream);
      ended = false;
    }
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(kPiece);
    const int result = inflate(&stream, Z_NO_FLUSH);
    const uint64_t n = kPiece - stream.avail_out;
    if (n > 0 && !piece(out.data(), n)) return;
    ended = result == Z_STREAM_END;
    if (result == Z_BUF_ERROR && stream.avail_in == 0 && at == end_) {
      raise(TN_DATA_LOSS, "{}: its packed bytes end before what they pack does: it is cut", name_);
    }
    if (result != Z_OK && !ended && result != Z_BUF_ERROR) {
      raise(TN_DATA_LOSS, "{}: cannot be unpacked at byte {}: {}", name_, at - stream.avail_in,
            stream.msg != nullptr ? stream.msg : "it is damaged");
    }
  }
}

#else

Bytes::Bytes(std::shared_ptr<const InputFile>, std::string name, uint64_t, uint64_t, Packing,
             uint32_t) {
  raise(TN_UNSUPPORTED, "{}: this build of Tenon has no zlib, which archives need", name);
}

void Bytes::unpack(const Piece&) const {
  raise(TN_UNSUPPORTED, "{}: it is packed, and this build of Tenon has no zlib to unpack it",
        name_);
}

#endif

void Bytes::each_piece(const Piece& piece) const {
  if (packing_ != Packing::kNone) return unpack(piece);
  std::vector<uint8_t> buffer(kPiece);
  for (uint64_t at = begin_; at < end_;) {
    const uint64_t n = std::min(kPiece, end_ - at);
    file_->read_at(at, buffer.data(), n);
    at += n;
    if (!piece(buffer.data(), n)) return;
  }
}

void Bytes::read_at(uint64_t offset, void* memory, uint64_t bytes) const {
  if (packing_ == Packing::kNone) return file_->read_at(begin_ + offset, memory, bytes);
  auto* to = static_cast<uint8_t*>(memory);
  uint64_t at = 0, done = 0;
  if (bytes == 0) return;
  unpack([&](const uint8_t* data, uint64_t n) {
    const uint64_t from = std::max(at, offset) - at;  // of this piece
    if (from < n) {
      const uint64_t used = std::min(n - from, bytes - done);
      std::memcpy(to + done, data + from, used);
      done += used;
    }
    at += n;
    return done < bytes;
  });
  if (done < bytes) {
    raise(TN_DATA_LOSS, "{}: it is changed while it is read", name_);
  }
}

std::string Bytes::read_all() const {
  std::string text;
  try {
    text.resize(size_);
  } catch (const std::bad_alloc&) {
    raise(TN_OUT_OF_MEMORY, "{}: host memory is exhausted: it has {} bytes", name_, size_);
  } catch (const std::length_error&) {
    raise(TN_OUT_OF_MEMORY, "{}: host memory is exhausted: it has {} bytes", name_, size_);
  }
  read_at(0, text.data(), size_);
  return text;
}

}  // namespace tenon::files
