// Reads ELF headers that are not trusted: every number is checked against the size of the file.
#include "plugin/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/ranges.h>

namespace tenon {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#else
#error "add this machine's ELF number"
#endif
static_assert(sizeof(void*) == 8 && std::endian::native == std::endian::little);

std::string machine_name(uint16_t machine) {
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
      return fmt::format("machine {}", machine);
  }
}

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status open() {
    struct stat info;
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      return error(TN_NOT_FOUND, "cannot be opened: {}", std::strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) return invalid("not a plain file");
    size_ = static_cast<uint64_t>(info.st_size);
    return nullptr;
  }
  uint64_t size() const { return size_; }

  // Reads bytes that `what` needs. No sum here can overflow.
  Status read(uint64_t offset, uint64_t bytes, const std::string& what, void* into) {
    TN_TRY(holds(offset, bytes, what));
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t n = ::pread(fd_, static_cast<char*>(into) + done, bytes - done,
                                static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return error(TN_DATA_LOSS, "{} cannot be read", what);
      done += static_cast<uint64_t>(n);
    }
    return nullptr;
  }
  Status holds(uint64_t offset, uint64_t bytes, const std::string& what) const {
    uint64_t end = 0;
    if (__builtin_add_overflow(offset, bytes, &end)) {
      return error(TN_DATA_LOSS, "{} at {} with {} bytes: no file is that long", what, offset,
                   bytes);
    }
    if (end > size_) return error(TN_DATA_LOSS, "file ends at {}, {} need {}", size_, what, end);
    return nullptr;
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

Status check_identity(File& file, Elf64_Ehdr* header) {
  unsigned char ident[EI_NIDENT] = {};
  const size_t shown = file.size() < 4 ? file.size() : 4;
  TN_TRY(file.read(0, shown, "its first bytes", ident));
  if (shown < 4 || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    if (shown == 0) return error(TN_DATA_LOSS, "the file is empty");
    return invalid("not an ELF file: it starts with {:02x}", fmt::join(ident, ident + shown, " "));
  }
  TN_TRY(file.read(0, EI_NIDENT, "ELF headers", ident));
  if (ident[EI_CLASS] != ELFCLASS64) return invalid("not a 64-bit library");
  if (ident[EI_DATA] != ELFDATA2LSB) return invalid("not a little-endian library");
  TN_TRY(file.read(0, sizeof(*header), "ELF headers", header));
  if (header->e_machine != kMachine) {
    return invalid("built for {}, this machine is {}", machine_name(header->e_machine),
                   machine_name(kMachine));
  }
  if (header->e_type != ET_DYN) {
    return invalid("not a shared library (ELF type {})", header->e_type);
  }
  if (header->e_version != EV_CURRENT) return invalid("unknown ELF version {}", header->e_version);
  return nullptr;
}

Status check_segments(File& file, const Elf64_Ehdr& header) {
  if (header.e_phnum == 0 || header.e_phnum == PN_XNUM) {
    return invalid("an ELF header with {} program headers", header.e_phnum);
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return invalid("program headers of {} bytes, expected {}", header.e_phentsize,
                   sizeof(Elf64_Phdr));
  }
  TN_TRY(
      file.holds(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), "program headers"));
  bool dynamic = false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    TN_TRY(file.read(header.e_phoff + i * sizeof(segment), sizeof(segment), "program headers",
                     &segment));
    if (segment.p_type == PT_NULL) continue;
    dynamic |= segment.p_type == PT_DYNAMIC;
    TN_TRY(file.holds(segment.p_offset, segment.p_filesz, fmt::format("bytes of segment {}", i)));
    if (segment.p_type == PT_LOAD && segment.p_memsz < segment.p_filesz) {
      return error(TN_DATA_LOSS, "segment {} has {} bytes in the file and {} in memory", i,
                   segment.p_filesz, segment.p_memsz);
    }
  }
  if (!dynamic) return invalid("not a shared library: it has no dynamic segment");
  return nullptr;
}

Status check_sections(File& file, const Elf64_Ehdr& header) {
  if (header.e_shoff == 0) return nullptr;  // stripped of them: the loader needs none
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return invalid("section headers of {} bytes, expected {}", header.e_shentsize,
                   sizeof(Elf64_Shdr));
  }
  uint64_t count = header.e_shnum;
  if (count == 0) {  // too many for its field: the first section's size says how many
    Elf64_Shdr first;
    TN_TRY(file.read(header.e_shoff, sizeof(first), "section headers", &first));
    count = first.sh_size;
  }
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, uint64_t{sizeof(Elf64_Shdr)}, &bytes)) {
    return error(TN_DATA_LOSS, "{} section headers: no file is that long", count);
  }
  return file.holds(header.e_shoff, bytes, "section headers");
}

}  // namespace

Status check_elf(const std::filesystem::path& path) {
  File file(path);
  Elf64_Ehdr header;
  TN_TRY(file.open());
  TN_TRY(check_identity(file, &header));
  TN_TRY(check_segments(file, header));
  return check_sections(file, header);
}

}  // namespace tenon
