// The headers by the face's check, and the tables that the dynamic segment names: strings, symbols,
// their hashes and versions, relocations. The dynamic loader goes through them without looking.
#include "plugin/elf.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "tenon/elf.hpp"

namespace tenon {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kRelative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
#elif defined(__riscv)
constexpr uint32_t kRelative = R_RISCV_RELATIVE;
#else
#error "add this machine's number of relocations by the base address"
#endif

class Tables : public elf::Headers {
 public:
  using Headers::Headers;
  bool check() { return Headers::check() && has_tables(); }

 private:
  bool has_tables() {
    std::vector<Elf64_Dyn> entries;
    if (!read_all(dynamic().p_offset, dynamic().p_filesz / sizeof(Elf64_Dyn),
                  "bytes of the dynamic segment", &entries)) {
      return false;
    }
    const auto end = std::find_if(entries.begin(), entries.end(),
                                  [](const Elf64_Dyn& entry) { return entry.d_tag == DT_NULL; });
    if (end == entries.end()) return damaged("the dynamic segment has no end");
    entries.erase(end, entries.end());
    for (const Elf64_Dyn& entry : entries) tags_[entry.d_tag] = entry.d_un.d_val;
    if (!has(DT_STRTAB) || !has(DT_SYMTAB) || (!has(DT_GNU_HASH) && !has(DT_HASH))) {
      return damaged("the dynamic segment names no strings, symbols or hashes");
    }
    return has_table("strings", DT_STRTAB, DT_STRSZ) && has_hashes() && has_symbols() &&
           has_versions() && names_libraries(entries) &&
           has_table("first functions", DT_INIT_ARRAY, DT_INIT_ARRAYSZ) &&
           has_table("last functions", DT_FINI_ARRAY, DT_FINI_ARRAYSZ) &&
           has_table("packed relocations", DT_RELR, DT_RELRSZ) && has_function(DT_INIT) &&
           has_function(DT_FINI) && has_relocations(DT_RELA, DT_RELASZ) &&
           has_relocations(DT_JMPREL, DT_PLTRELSZ);
  }

  bool has(int64_t tag) const { return tags_.contains(tag); }
  uint64_t value(int64_t tag) const { return has(tag) ? tags_.at(tag) : 0; }

  bool is_mapped(const std::string& what, uint64_t address, uint64_t bytes, uint32_t flags = 0) {
    return find(address, bytes, flags) != nullptr ||
           damaged(what + " at address " + text(address) + " with " + text(bytes) +
                   " bytes: not in what is mapped");
  }
  bool has_table(const char* what, int64_t address, int64_t bytes) {
    return !has(address) || is_mapped(what, value(address), value(bytes));
  }
  // Whether a load has these addresses in memory: `*last`, which had the ones before, or another,
  // which it becomes then. A library has tens of thousands of relocations, most of them in one load.
  bool is_in_memory(const Elf64_Phdr** last, uint64_t address, uint64_t bytes,
                    uint32_t flags) const {
    const Elf64_Phdr* const load = *last;
    if (load != nullptr && address >= load->p_vaddr && bytes <= load->p_memsz &&
        address - load->p_vaddr <= load->p_memsz - bytes)
      return true;
    *last = find(address, bytes, flags, true);
    return *last != nullptr;
  }
  bool has_function(int64_t tag) { return !has(tag) || is_mapped("code", value(tag), 1, PF_X); }
  template <typename T>
  bool read_table(const char* what, uint64_t address, uint64_t count, std::vector<T>* into) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, uint64_t{sizeof(T)}, &bytes)) bytes = UINT64_MAX;
    if (!is_mapped(what, address, bytes)) return false;
    const Elf64_Phdr* load = find(address, bytes);
    return read_all(address - load->p_vaddr + load->p_offset, count, what, into);
  }

  // The GNU hash table counts the symbols: its last chain ends with the last of them.
  bool has_gnu_hashes() {
    std::vector<uint32_t> head, buckets, link;
    std::vector<uint64_t> bloom;
    const uint64_t hash = value(DT_GNU_HASH);
    if (!read_table("hashes", hash, 4, &head)) return false;
    const uint64_t n_buckets = head[0], first = head[1], n_bloom = head[2];
    if (!std::has_single_bit(n_bloom)) return damaged("hashes have " + text(n_bloom) + " filters");
    const uint64_t at = hash + 16 + 8 * n_bloom;
    if (!read_table("hashes", hash + 16, n_bloom, &bloom) ||
        !read_table("hashes", at, n_buckets, &buckets)) {
      return false;
    }
    uint64_t last = 0;
    for (const uint32_t bucket : buckets) {
      if (bucket != 0 && bucket < first) return damaged("hashes begin at symbol " + text(bucket));
      last = std::max<uint64_t>(last, bucket);
    }
    if (last == 0) return true;  // exports nothing, and how much it asks for stands nowhere
    for (n_symbols_ = last; true; ++n_symbols_) {
      if (!read_table("hashes", at + 4 * (n_buckets + n_symbols_ - first), 1, &link)) return false;
      if (link[0] % 2 == 1) break;
    }
    ++n_symbols_;
    return true;
  }

  bool has_hashes() {
    std::vector<uint32_t> head;  // buckets, symbols
    if (has(DT_GNU_HASH)) return has_gnu_hashes();
    if (!read_table("hashes", value(DT_HASH), 2, &head)) return false;
    n_symbols_ = head[1];
    return is_mapped("hashes", value(DT_HASH), 4 * (uint64_t{2} + head[0] + head[1]));
  }

  bool has_symbols() {
    std::vector<Elf64_Sym> symbols;
    if (!read_table("symbols", value(DT_SYMTAB), n_symbols_, &symbols)) return false;
    const uint64_t names = value(DT_STRSZ);
    for (const Elf64_Sym& symbol : symbols) {
      const bool is_code = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      const bool elsewhere = symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS ||
                             ELF64_ST_TYPE(symbol.st_info) == STT_TLS;
      if (symbol.st_name >= names ||
          (!elsewhere && find(symbol.st_value, 0, is_code ? PF_X : 0, true) == nullptr)) {
        return damaged("symbol " + text(uint64_t(&symbol - symbols.data())) +
                       " has its name or place outside of what is mapped");
      }
    }
    return true;
  }

  // The versions that are asked of other libraries, a list of lists, and each symbol's own.
  bool has_versions() {
    if (!has(DT_VERSYM)) return true;
    uint16_t highest = static_cast<uint16_t>(value(DT_VERDEFNUM) + 1);
    uint64_t at = value(DT_VERNEED);
    for (uint64_t i = 0; i < value(DT_VERNEEDNUM); ++i) {
      std::vector<Elf64_Verneed> library;
      if (!read_table("versions", at, 1, &library)) return false;
      uint64_t next = at + library[0].vn_aux;
      const bool is_last = i + 1 == value(DT_VERNEEDNUM);
      bool good = library[0].vn_file < value(DT_STRSZ) && is_last == (library[0].vn_next == 0);
      for (uint16_t k = 0; good && k < library[0].vn_cnt; ++k) {
        std::vector<Elf64_Vernaux> version;
        if (!read_table("versions", next, 1, &version)) return false;
        highest = std::max<uint16_t>(highest, version[0].vna_other & 0x7fff);
        next += version[0].vna_next;
        good = version[0].vna_name < value(DT_STRSZ) &&
               (version[0].vna_next == 0) == (k + 1 == library[0].vn_cnt);
      }
      if (!good) return damaged("the versions of library " + text(i) + " have no end or no name");
      at += library[0].vn_next;
    }
    std::vector<uint16_t> of_symbols;
    if (!read_table("versions", value(DT_VERSYM), n_symbols_, &of_symbols)) return false;
    const auto above = [&](uint16_t version) { return (version & 0x7fff) > highest; };
    return std::none_of(of_symbols.begin(), of_symbols.end(), above) ||
           damaged("a symbol has a version above " + text(highest));
  }

  bool names_libraries(const std::vector<Elf64_Dyn>& entries) {
    for (const Elf64_Dyn& entry : entries) {
      const bool is_name = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                           entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
      if (is_name && entry.d_un.d_val >= value(DT_STRSZ)) {
        return damaged("the dynamic segment names what is not among its strings");
      }
    }
    return true;
  }

  bool has_relocations(int64_t address, int64_t bytes) {
    if (!has(address)) return true;
    std::vector<Elf64_Rela> all;
    if (!read_table("relocations", value(address), value(bytes) / sizeof(Elf64_Rela), &all)) {
      return false;
    }
    const uint32_t written = has(DT_TEXTREL) || value(DT_FLAGS) & DF_TEXTREL ? 0 : PF_W;
    const uint64_t n_relative = address == DT_RELA ? value(DT_RELACOUNT) : 0;
    const Elf64_Phdr *place = nullptr, *meant = nullptr;
    for (const Elf64_Rela& one : all) {
      const bool is_relative = ELF64_R_TYPE(one.r_info) == kRelative;
      const bool must_be = uint64_t(&one - all.data()) < n_relative;
      const bool is_beyond = n_symbols_ != 0 && ELF64_R_SYM(one.r_info) >= n_symbols_;
      if (is_beyond || (must_be && !is_relative) ||
          !is_in_memory(&place, one.r_offset, 8, written) ||
          (is_relative && !is_in_memory(&meant, uint64_t(one.r_addend), 0, 0))) {
        return damaged("a relocation at address " + text(one.r_offset) + " of symbol " +
                       text(ELF64_R_SYM(one.r_info)) + ": there is no such place or symbol");
      }
    }
    return true;
  }

  std::map<int64_t, uint64_t> tags_;  // of the dynamic segment
  uint64_t n_symbols_ = 0;            // 0: not known
};

}  // namespace

Status check_elf(const std::filesystem::path& path) {
  Tables file(path.c_str());
  if (file.check()) return nullptr;
  return make_status(file.verdict().code, file.verdict().reason);
}

}  // namespace tenon
