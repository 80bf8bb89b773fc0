// A check of a shared library's file before it goes to dlopen: the dynamic loader trusts it, and
// one that is cut kills the process. For libtenon.so, which checks plugins so, and for plugins that
// open libraries of their own. Needs nothing of the host, maps nothing.
//
// Every number of the file is compared with the file's size before it is used, and no sum can
// overflow.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tenon/abi.h"

namespace tenon::elf {

#if defined(__x86_64__)
inline constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
inline constexpr uint16_t kMachine = EM_RISCV;
#else
#error "add this machine's ELF number"
#endif
static_assert(sizeof(void*) == 8 && std::endian::native == std::endian::little);

// Why a file is refused; TN_OK: it is not.
struct [[gnu::visibility("hidden")]] Verdict {
  tn_code code = TN_OK;
  std::string reason;
};

// The headers of one file. Each step is true when it found nothing wrong; else the verdict says
// what.
class [[gnu::visibility("hidden")]] Headers {
 public:
  explicit Headers(const char* path)
      : fd_(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)), open_errno_(errno) {}
  Headers(const Headers&) = delete;
  ~Headers() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool check() { return is_file() && has_identity() && has_segments() && has_sections(); }
  const Verdict& verdict() const { return verdict_; }

 protected:
  static std::string text(uint64_t number) { return std::to_string(number); }

  bool refuse(tn_code code, std::string reason) {
    verdict_ = {code, std::move(reason)};
    return false;
  }
  bool invalid(std::string reason) { return refuse(TN_INVALID_ARGUMENT, std::move(reason)); }
  bool damaged(std::string reason) { return refuse(TN_DATA_LOSS, std::move(reason)); }

  // The file is long enough for bytes that `what` needs.
  bool holds(uint64_t offset, uint64_t bytes, const std::string& what) {
    uint64_t end = 0;
    if (__builtin_add_overflow(offset, bytes, &end)) {
      return damaged(what + " at " + text(offset) + " with " + text(bytes) +
                     " bytes: no file is that long");
    }
    if (end > size_) {
      return damaged("file ends at " + text(size_) + ", " + what + " need " + text(end));
    }
    return true;
  }
  bool read(uint64_t offset, uint64_t bytes, const std::string& what, void* into) {
    if (!holds(offset, bytes, what)) return false;
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t n = ::pread(fd_, static_cast<char*>(into) + done, bytes - done,
                                static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return damaged(what + " cannot be read");
      done += static_cast<uint64_t>(n);
    }
    return true;
  }
  template <typename T>
  bool read_all(uint64_t offset, uint64_t count, const std::string& what, std::vector<T>* into) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, uint64_t{sizeof(T)}, &bytes)) {
      return damaged(text(count) + " " + what + ": no file is that long");
    }
    if (!holds(offset, bytes, what)) return false;  // before memory is taken for it
    into->resize(count);
    return read(offset, bytes, what, into->data());
  }

  // The load that has these addresses and flags, NULL if none has. `memory`: beyond the file's
  // bytes, too.
  const Elf64_Phdr* find(uint64_t address, uint64_t bytes, uint32_t flags = 0, bool memory = false)
      const {
    for (const Elf64_Phdr& load : loads_) {
      const uint64_t size = memory ? load.p_memsz : load.p_filesz;
      if (address < load.p_vaddr || address - load.p_vaddr > size) continue;
      if (bytes <= size - (address - load.p_vaddr) && (load.p_flags & flags) == flags) return &load;
    }
    return nullptr;
  }

  const Elf64_Phdr& dynamic() const { return dynamic_; }

 private:
  bool is_file() {
    struct stat info;
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      const int why = fd_ < 0 ? open_errno_ : errno;
      return refuse(TN_NOT_FOUND, std::string("cannot be opened: ") + std::strerror(why));
    }
    if (!S_ISREG(info.st_mode)) return invalid("not a plain file");
    size_ = static_cast<uint64_t>(info.st_size);
    return true;
  }

  static std::string machine_name(uint16_t machine) {
    switch (machine) {
      case EM_386:
        return "x86";
      case EM_X86_64:
        return "x86-64";
      case EM_ARM:
        return "arm";
      case EM_AARCH64:
        return "aarch64";
      case EM_RISCV:
        return "risc-v";
      case EM_PPC64:
        return "ppc64";
      case EM_S390:
        return "s390";
      default:
        return "machine " + std::to_string(machine);
    }
  }

  bool has_identity() {
    unsigned char ident[EI_NIDENT] = {};
    const size_t shown = std::min<uint64_t>(size_, 4);
    if (shown == 0) return damaged("the file is empty");
    if (!read(0, shown, "its first bytes", ident)) return false;
    if (shown < 4 || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
      std::string bytes;
      for (size_t i = 0; i < shown; ++i) {
        char hex[8];
        std::snprintf(hex, sizeof(hex), " %02x", ident[i]);
        bytes += hex;
      }
      return invalid("not an ELF file: it starts with" + bytes);
    }
    if (!read(0, EI_NIDENT, "ELF headers", ident)) return false;
    if (ident[EI_CLASS] != ELFCLASS64) return invalid("not a 64-bit library");
    if (ident[EI_DATA] != ELFDATA2LSB) return invalid("not a little-endian library");
    if (!read(0, sizeof(header_), "ELF headers", &header_)) return false;
    if (header_.e_machine != kMachine) {
      return invalid("built for " + machine_name(header_.e_machine) + ", this machine is " +
                     machine_name(kMachine));
    }
    if (header_.e_type != ET_DYN) {
      return invalid("not a shared library (ELF type " + text(header_.e_type) + ")");
    }
    if (header_.e_version != EV_CURRENT) {
      return invalid("unknown ELF version " + text(header_.e_version));
    }
    return true;
  }

  // ---- Segments: what is mapped where.

  bool has_segments() {
    if (header_.e_phnum == 0 || header_.e_phnum == PN_XNUM) {
      return invalid("an ELF header with " + text(header_.e_phnum) + " program headers");
    }
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
      return invalid("program headers of " + text(header_.e_phentsize) + " bytes, expected " +
                     text(sizeof(Elf64_Phdr)));
    }
    std::vector<Elf64_Phdr> segments;
    if (!read_all(header_.e_phoff, header_.e_phnum, "program headers", &segments)) return false;
    for (size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].p_type == PT_NULL) continue;
      const std::string name = "segment " + text(i);
      if (!holds(segments[i].p_offset, segments[i].p_filesz, "bytes of " + name)) return false;
      if (segments[i].p_type == PT_LOAD && !is_load(segments[i], name)) return false;
      if (segments[i].p_type == PT_DYNAMIC) dynamic_ = segments[i];
    }
    if (dynamic_.p_type != PT_DYNAMIC) {
      return invalid("not a shared library: it has no dynamic segment");
    }
    for (size_t i = 0; i < segments.size(); ++i) {
      if (!lies_in_loads(segments[i], "segment " + text(i))) return false;
    }
    return true;
  }

  // Loads are mapped side by side in the order of their addresses.
  bool is_load(const Elf64_Phdr& load, const std::string& name) {
    if (load.p_memsz < load.p_filesz) {
      return damaged(name + " has " + text(load.p_filesz) + " bytes in the file and " +
                     text(load.p_memsz) + " in memory");
    }
    if (load.p_vaddr > kHighest || load.p_memsz > kHighest) {
      return damaged(name + " at address " + text(load.p_vaddr) + " with " + text(load.p_memsz) +
                     " bytes: no memory is that large");
    }
    if (load.p_memsz > load.p_filesz && (load.p_flags & PF_W) == 0) {
      return damaged(name + " has " + text(load.p_filesz) + " bytes in the file and " +
                     text(load.p_memsz) + " in memory, which is not to be written");
    }
    if (!std::has_single_bit(load.p_align) || (load.p_vaddr - load.p_offset) % load.p_align != 0) {
      return damaged(name + " at " + text(load.p_offset) + " and address " + text(load.p_vaddr) +
                     " is not aligned to " + text(load.p_align));
    }
    if (!loads_.empty() && load.p_vaddr < loads_.back().p_vaddr + loads_.back().p_memsz) {
      return damaged(name + " begins before the one ahead of it ends");
    }
    loads_.push_back(load);
    return true;
  }

  // The loader protects whole pages, of which a linker may name the last one to its end.
  bool protects_data(const Elf64_Phdr& segment) const {
    constexpr uint64_t kPage = 4096;
    const Elf64_Phdr* load = find(segment.p_vaddr, segment.p_filesz, PF_W, true);
    if (load == nullptr || segment.p_memsz > kHighest) return false;
    const uint64_t end = segment.p_vaddr + segment.p_memsz;
    const uint64_t data_end = load->p_vaddr + load->p_memsz;
    return end / kPage <= (data_end + kPage - 1) / kPage;
  }

  // What is read through an address must be the bytes that were meant.
  bool lies_in_loads(const Elf64_Phdr& segment, const std::string& name) {
    switch (segment.p_type) {
      case PT_DYNAMIC:
      case PT_NOTE:
      case PT_GNU_PROPERTY:
      case PT_GNU_EH_FRAME:
      case PT_TLS:
        break;
      case PT_GNU_RELRO:  // made read-only when relocations are done
        return segment.p_memsz == 0 || protects_data(segment) ||
               damaged(name + " protects what is no data");
      default:
        return true;
    }
    if (segment.p_filesz == 0) return true;
    const Elf64_Phdr* load = find(segment.p_vaddr, segment.p_filesz, segment.p_flags & PF_W);
    if (load == nullptr || segment.p_vaddr - load->p_vaddr + load->p_offset != segment.p_offset) {
      return damaged(name + " at " + text(segment.p_offset) + " and address " +
                     text(segment.p_vaddr) + " is no part of what is mapped");
    }
    const bool sized = segment.p_type == PT_TLS || segment.p_memsz == segment.p_filesz;
    return sized || damaged(name + " has " + text(segment.p_filesz) + " bytes in the file and " +
                            text(segment.p_memsz) + " in memory");
  }

  // ---- Sections: the loader needs none, but they come last in the file.

  bool has_sections() {
    if (header_.e_shoff == 0) return true;  // stripped of them
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return invalid("section headers of " + text(header_.e_shentsize) + " bytes, expected " +
                     text(sizeof(Elf64_Shdr)));
    }
    uint64_t count = header_.e_shnum;
    if (count == 0) {  // too many for its field: the first section's size says how many
      Elf64_Shdr first;
      if (!read(header_.e_shoff, sizeof(first), "section headers", &first)) return false;
      count = first.sh_size;
    }
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, uint64_t{sizeof(Elf64_Shdr)}, &bytes)) {
      return damaged(text(count) + " section headers: no file is that long");
    }
    return holds(header_.e_shoff, bytes, "section headers");
  }

  // Of addresses and sizes: the sum of two does not overflow.
  static constexpr uint64_t kHighest = uint64_t{1} << 46;

  const int fd_;
  const int open_errno_;
  uint64_t size_ = 0;
  Verdict verdict_;
  Elf64_Ehdr header_ = {};
  Elf64_Phdr dynamic_ = {};
  std::vector<Elf64_Phdr> loads_;
};

// A shared library for this machine, whose segments and section headers end within the file and fit
// to each other. Reads headers, maps nothing.
[[gnu::visibility("hidden")]] inline Verdict check_library(const char* path) {
  Headers file(path);
  return file.check() ? Verdict() : file.verdict();
}

}  // namespace tenon::elf
