// What is checked before a plugin's init runs: the manifest, the ELF header, needs, symbols. Every
// message is asserted, and the process goes on.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "registry/registry.h"
#include "plugin/elf.h"
#include "plugin_support.h"

namespace tenon {
namespace {

using testing::Folder;
using testing::load;
using testing::read_file;
using ::testing::TestWithParam;
using testing::write_file;

TEST(PluginManifest, MissingOneIsNamed) {
  Folder folder;
  const auto library = folder.place("pack10");
  std::filesystem::remove(folder.path() / "libpack10.json");
  EXPECT_EQ(load(library), "plugin " + library.string() +
                               " was not loaded\n  because no manifest: " +
                               (folder.path() / "libpack10.json").string() +
                               " is not there (tenon_add_plugin makes it beside the library)");
}

struct BadManifest {
  const char* text;
  const char* message;
};

class PluginManifestFields : public TestWithParam<BadManifest> {};

TEST_P(PluginManifestFields, AreChecked) {
  Folder folder;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10", GetParam().text);
  const std::string expected =
      (folder.path() / "libpack10.json").string() + ": " + GetParam().message;
  const std::string message = load(library);
  EXPECT_NE(message.find(expected), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, PluginManifestFields,
    ::testing::Values(
        BadManifest{"", "not JSON: parse error at line 1, column 1"},
        BadManifest{"{\n\"id\": }", "not JSON: parse error at line 2, column 7"},
        BadManifest{"[1]", "the manifest must be an object, found a list"},
        BadManifest{"{}", "field 'id' is missing"},
        BadManifest{R"({"id": 7})", "'id' must be lower case letters, digits and '_', found 7"},
        BadManifest{R"({"id": "Pack"})",
                    "'id' must be lower case letters, digits and '_', found \"Pack\""},
        BadManifest{R"({"id": "../x"})",
                    "'id' must be lower case letters, digits and '_', found \"../x\""},
        BadManifest{R"({"id": "pack10"})", "field 'version' is missing"},
        BadManifest{R"({"id": "pack10", "version": null})",
                    "'version' must be a version as \"1.0.0\", found null"},
        BadManifest{R"({"id": "pack10", "version": "1", "description": []})",
                    "'description' must be a short text, found a list"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "/libpack10.so"})",
                    "'library' must be a file's name, found \"/libpack10.so\""},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libother.so"})",
                    "'library' is \"libother.so\", but the manifest lies beside libpack10.so"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so"})",
                    "field 'abi' is missing"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so", "abi": "0.2"})",
                    "'abi' must be an object, found \"0.2\""},
        BadManifest{
            R"({"id": "pack10", "version": "1", "library": "libpack10.so", "abi": {"min": "0.2"}})",
            "field 'abi.max' is missing"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "0.2", "max": "0.70000"}})",
                    "'abi.max' must be a version as \"0.2\", found \"0.70000\""},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "1.1", "max": "0.2"}})",
                    "'abi.min' is above 'abi.max': 1.1 to 0.2"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "0.2", "max": "0.2"}, "needs": []})",
                    "'needs' must be an object, found a list"},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "0.2", "max": "0.2"}, "needs": {"plugins": "ops"}})",
                    "'needs.plugins' must be a list, found \"ops\""},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "0.2", "max": "0.2"}, "needs": {"libraries": ["/lib/x.so"]}})",
                    "'needs.libraries' must hold sonames, without folders, found \"/lib/x.so\""},
        BadManifest{R"({"id": "pack10", "version": "1", "library": "libpack10.so",
                        "abi": {"min": "0.2", "max": "0.2"}, "need": {"cpu": []}})",
                    "unknown field 'need'; did you mean 'needs'?"}));

TEST(PluginManifest, IsReadUpToItsLimit) {
  Folder folder;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10", std::string(70000, ' '));
  EXPECT_NE(load(library).find("libpack10.json: the manifest is larger than 65536 bytes"),
            std::string::npos);
}

TEST(PluginManifest, IsNestedUpToItsLimit) {
  Folder folder;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10", std::string(30000, '['));
  EXPECT_NE(load(library).find("libpack10.json: lists and objects are nested deeper than 32"),
            std::string::npos);
  folder.write_manifest("pack10", R"({"id": {"a": [true, null, -1.50, 18446744073709551615]}})");
  EXPECT_NE(load(library).find("'id' must be lower case letters, digits and '_', found an object"),
            std::string::npos);
  folder.write_manifest("pack10", R"({"id": -1.50})");
  EXPECT_NE(load(library).find("found -1.50"), std::string::npos);
  folder.write_manifest("pack10", R"({"id": "", "id": "pack10"})");
  EXPECT_NE(load(library).find("field 'version' is missing"), std::string::npos);
}

TEST(PluginManifest, OfAnotherAbiIsRefused) {
  Folder folder;
  const auto library = folder.place("pack10");
  std::string text = Folder::manifest("pack10", "pack10");
  for (size_t at; (at = text.find("0.2")) != std::string::npos;) text.replace(at, 3, "0.9");
  folder.write_manifest("pack10", text);
  EXPECT_NE(load(library).find(
                "because built for ABI 0.9, this host has 0.2 alone (before 1.0 each is another): "
                "rebuild it"),
            std::string::npos);
}

TEST(PluginSymbols, OfAnotherAbiAreRefused) {
  Folder folder;
  EXPECT_NE(load(folder.place("other_abi"))
                .find("built for ABI 0.9, this host has 0.2 alone (before 1.0 each is another): "
                      "rebuild it"),
            std::string::npos);
}

TEST(PluginSymbols, MissingOnesAreNamed) {
  Folder folder;
  EXPECT_NE(load(folder.place("no_init"))
                .find("symbol 'tenon_plugin_init' is missing: a plugin exports it"),
            std::string::npos);
  EXPECT_NE(load(folder.place("no_manifest"))
                .find("symbol 'tenon_manifest' is missing: a plugin exports it"),
            std::string::npos);
}

TEST(PluginSymbols, IdAgreesWithTheManifest) {
  Folder folder;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10", Folder::manifest("pack11", "pack10"));
  EXPECT_NE(load(library).find("the manifest file says id 'pack11', the library 'pack10'"),
            std::string::npos);
}

TEST(PluginSymbols, UndefinedOnesAreNamed) {
  Folder folder;
  const std::string message = load(folder.place("undefined"));
  EXPECT_NE(message.find("the dynamic loader refuses it"), std::string::npos) << message;
  EXPECT_NE(message.find("undefined symbol: no_library_has_this"), std::string::npos) << message;
}

TEST(PluginNeeds, NativeLibraryThatIsMissingIsNamed) {
  Folder folder;
  std::string message = load(folder.place("lost"));
  EXPECT_NE(message.find("libtenon_test_gone.so: cannot open shared object file"),
            std::string::npos)
      << message;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10",
                        Folder::manifest("pack10", "pack10", "[]", R"(["libabsent.so.3"])"));
  message = load(library);
  EXPECT_NE(message.find("needs the library 'libabsent.so.3', which does not load"),
            std::string::npos)
      << message;
}

TEST(PluginNeeds, CpuFeatureThatIsUnknownIsRefused) {
  Folder folder;
  const auto library = folder.place("pack10");
  folder.write_manifest("pack10",
                        Folder::manifest("pack10", "pack10", "[]", "[]", R"(["avx5121"])"));
  EXPECT_NE(load(library).find(
                "needs the CPU feature 'avx5121', which this host does not know; did you mean"),
            std::string::npos);
}

TEST(PluginNeeds, CpuFeatureThatIsMissingIsRefused) {
  const std::string info = read_file("/proc/cpuinfo");
  // Those that no machine has missing or there by rule; the kernel's names are given.
  const std::pair<const char*, const char*> features[] = {
#if !defined(__clang__) || !defined(TENON_SANITIZE)  // a core by clang, which knows fewer
    {"amx-tile", " amx_tile"},
    {"avx512fp16", " avx512_fp16"},
#endif
    {"avx512bf16", " avx512_bf16"},
    {"avx512f", " avx512f"}
  };
  for (const auto& [name, kernel_name] : features) {
    if (info.find(kernel_name) != std::string::npos) continue;
    Folder folder;
    const auto library = folder.place("pack10");
    folder.write_manifest("pack10", Folder::manifest("pack10", "pack10", "[]", "[]",
                                                     std::string("[\"") + name + "\"]"));
    EXPECT_NE(load(library).find(std::string("needs the CPU feature '") + name +
                                 "', which this machine lacks"),
              std::string::npos);
    return;
  }
  GTEST_SKIP() << "this machine has all of them";
}

TEST(PluginFile, ThatIsNotThereIsNamed) {
  EXPECT_EQ(load("/nowhere/libx.so"), "plugin /nowhere/libx.so: there is no such file");
  EXPECT_EQ(load(""), "load: the path is empty");
  Folder folder;
  EXPECT_EQ(load(folder.path()),
            "plugin " + folder.path().string() + ": this is a folder; name the library in it");
}

TEST(PluginFile, CutAtAnyPlaceIsRefused) {
  Folder folder;
  const auto library = folder.place("pack11");
  const std::string whole = read_file(library);
  for (int i = 0; i < 50; ++i) {
    const size_t bytes = whole.size() * i / 50;
    // A new file each time: a cut one that is mapped would end the process.
    std::filesystem::remove(library);
    write_file(library, whole.substr(0, bytes));
    const std::string message = load(library);
    const bool named =
        i == 0 ? message.find("the file is empty") != std::string::npos
               : message.find("file ends at " + std::to_string(bytes) + ", ") != std::string::npos;
    EXPECT_TRUE(named) << bytes << " of " << whole.size() << ": " << message;
  }
  std::filesystem::remove(library);
  write_file(library, whole);
  EXPECT_EQ(load(library), "");
}

// The libraries that are installed, oneDNN's adapter too. Only checked: the whole ones are loaded
// in other tests.
TEST(PluginFile, OfTheProductCutAtAnyPlaceIsRefused) {
  Folder folder;
  const auto copy = folder.path() / "libcut.so";
  int seen = 0;
  const auto plugins =
      std::filesystem::path(std::getenv("TENON_BUILD_DIR")) / "lib" / "tenon" / "plugins";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(plugins)) {
    if (entry.path().extension() != ".so") continue;
    SCOPED_TRACE(entry.path());
    ++seen;
    std::filesystem::copy_file(entry.path(), copy,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(testing::text_of(check_elf(copy)), "");
    const size_t whole = std::filesystem::file_size(copy);
    for (int i = 49; i >= 0; --i) {
      const size_t bytes = whole * i / 50;
      std::filesystem::resize_file(copy, bytes);
      const std::string message = testing::text_of(check_elf(copy));
      EXPECT_EQ(message.find(i == 0 ? "the file is empty"
                                    : "file ends at " + std::to_string(bytes) + ", "),
                0u)
          << bytes << " of " << whole << ": " << message;
    }
  }
  EXPECT_GE(seen, 6);
}

TEST(PluginFile, OfRandomBytesIsRefused) {
  Folder folder;
  const auto library = folder.place("pack12");
  std::mt19937 random(7);
  std::string bytes(20000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  bytes[0] = '\x11';
  bytes[1] = '\x22';
  bytes[2] = '\x33';
  bytes[3] = '\x44';
  write_file(library, bytes);
  EXPECT_NE(load(library).find("not an ELF file: it starts with 11 22 33 44"), std::string::npos);
}

// The bytes of a library, to change in place.
class Image {
 public:
  explicit Image(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  Elf64_Ehdr* header() { return at<Elf64_Ehdr>(0); }
  Elf64_Phdr* segments() { return at<Elf64_Phdr>(header()->e_phoff); }
  Elf64_Phdr* segment(uint32_t type) {
    Elf64_Phdr* all = segments();
    return std::find_if(all, all + header()->e_phnum,
                        [&](const Elf64_Phdr& p) { return p.p_type == type; });
  }
  Elf64_Dyn* entry(int64_t tag) {
    Elf64_Dyn* dynamic = at<Elf64_Dyn>(segment(PT_DYNAMIC)->p_offset);
    while (dynamic->d_tag != tag && dynamic->d_tag != DT_NULL) ++dynamic;
    EXPECT_EQ(dynamic->d_tag, tag);
    return dynamic;
  }
  // What an entry points to.
  template <typename T>
  T* table(int64_t tag) {
    const uint64_t address = entry(tag)->d_un.d_ptr;
    for (Elf64_Phdr* p = segments();; ++p) {
      const bool has =
          p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz;
      if (has) return at<T>(address - p->p_vaddr + p->p_offset);
    }
  }

 private:
  template <typename T>
  T* at(uint64_t offset) {
    return reinterpret_cast<T*>(bytes_.data() + offset);
  }
  std::string bytes_;
};

// What the load of a good library says after a change.
template <typename Change>
std::string load_image(const char* plugin, Change change) {
  Folder folder;
  const auto library = folder.place(plugin);
  Image image(read_file(library));
  change(image);
  std::filesystem::remove(library);
  write_file(library, image.bytes());
  return load(library);
}
template <typename Change>
std::string load_changed(Change change) {
  return load_image("pack12", [&](Image& image) { change(image.header(), image.segments()); });
}

TEST(PluginFile, NumbersOfItsHeaderAreNotTrusted) {
  using H = Elf64_Ehdr;
  using P = Elf64_Phdr;
  const auto has = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(load_changed([](H* h, P*) { h->e_ident[EI_CLASS] = ELFCLASS32; }), "not a 64-bit library");
  has(load_changed([](H* h, P*) { h->e_ident[EI_DATA] = ELFDATA2MSB; }),
      "not a little-endian library");
  has(load_changed([](H* h, P*) { h->e_machine = EM_386; }), "built for x86, this machine is");
  has(load_changed([](H* h, P*) { h->e_type = ET_EXEC; }), "not a shared library (ELF type 2)");
  has(load_changed([](H* h, P*) { h->e_shoff = UINT64_MAX - 8; }), "no file is that long");
  has(load_changed([](H* h, P*) { h->e_shoff = uint64_t{1} << 40; }), "section headers need");
  has(load_changed([](H* h, P*) { h->e_shnum = 60000; }), "section headers need");
  has(load_changed([](H* h, P*) { h->e_shentsize = 1; }), "section headers of 1 bytes");
  has(load_changed([](H* h, P*) { h->e_phoff = UINT64_MAX; }), "no file is that long");
  has(load_changed([](H* h, P*) { h->e_phnum = 60000; }), "program headers need");
  has(load_changed([](H* h, P*) { h->e_phnum = 0; }), "an ELF header with 0 program headers");
  has(load_changed([](H* h, P*) { h->e_phentsize = 32; }), "program headers of 32 bytes");
  has(load_changed([](H*, P* p) { p[0].p_filesz = UINT64_MAX; }), "segment 0");
  has(load_changed([](H*, P* p) { p[1].p_offset = UINT64_MAX; }), "no file is that long");
}

TEST(PluginFile, SegmentsMustFitToEachOther) {
  const auto expect = [](const char* part, void (*change)(Image&)) {
    const std::string message = load_image("pack12", change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("segment 0 has ", [](Image& i) { i.segments()[0].p_memsz = 1; });
  expect("is not aligned to 12288", [](Image& i) { i.segments()[1].p_align = 12288; });
  expect("is not aligned to 4096", [](Image& i) { i.segments()[1].p_vaddr += 8; });
  expect("bytes: no memory is that large",
         [](Image& i) { i.segments()[1].p_memsz = uint64_t{1} << 62; });
  expect("segment 1 begins before the one ahead of it ends", [](Image& i) {
    i.segments()[0].p_memsz += 8192;
    i.segments()[0].p_flags |= PF_W;
  });
  expect("in memory, which is not to be written",
         [](Image& i) { i.segments()[0].p_memsz += 8192; });
  expect("is no part of what is mapped", [](Image& i) { i.segment(PT_DYNAMIC)->p_vaddr += 8; });
  expect("is no part of what is mapped", [](Image& i) { i.segment(PT_DYNAMIC)->p_vaddr = 0; });
  expect("is no part of what is mapped",
         [](Image& i) { i.segment(PT_NOTE)->p_vaddr = uint64_t{1} << 40; });
  expect("protects what is no data", [](Image& i) { i.segment(PT_GNU_RELRO)->p_vaddr = 0; });
  expect("protects what is no data",
         [](Image& i) { i.segment(PT_GNU_RELRO)->p_memsz += uint64_t{1} << 20; });
  expect("it has no dynamic segment", [](Image& i) { i.segment(PT_DYNAMIC)->p_type = PT_LOOS; });
}

TEST(PluginFile, TablesThatTheDynamicLoaderFollowsAreNotTrusted) {
  const auto expect = [](const char* plugin, const char* part, void (*change)(Image&)) {
    const std::string message = load_image(plugin, change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("pack12", "the dynamic segment has no end", [](Image& i) {
    Elf64_Phdr* dynamic = i.segment(PT_DYNAMIC);
    dynamic->p_filesz = dynamic->p_memsz = sizeof(Elf64_Dyn);
  });
  expect("pack12", "names no strings, symbols or hashes",
         [](Image& i) { i.entry(DT_SYMTAB)->d_tag = DT_DEBUG; });
  expect("pack12", "strings at address",
         [](Image& i) { i.entry(DT_STRSZ)->d_un.d_val = UINT64_MAX; });
  expect("pack12", "first functions at address",
         [](Image& i) { i.entry(DT_INIT_ARRAY)->d_un.d_ptr = uint64_t{1} << 40; });
  expect("pack12", "code at address 0 with 1 bytes: not in what is mapped",
         [](Image& i) { i.entry(DT_INIT)->d_un.d_ptr = 0; });
  expect("pack12", "hashes have 3 filters",
         [](Image& i) { i.table<uint32_t>(DT_GNU_HASH)[2] = 3; });
  expect("pack12", "hashes at address",
         [](Image& i) { i.table<uint32_t>(DT_GNU_HASH)[0] = UINT32_MAX; });
  expect("pack12", "hashes begin at symbol",
         [](Image& i) { i.table<uint32_t>(DT_GNU_HASH)[1] = UINT32_MAX; });
  expect("pack12", "symbols at address",
         [](Image& i) { i.entry(DT_SYMTAB)->d_un.d_ptr = UINT64_MAX; });
  expect("pack12", "symbol 1 has its name or place outside",
         [](Image& i) { i.table<Elf64_Sym>(DT_SYMTAB)[1].st_name = 100000; });
  expect("pack12", "relocations at address",
         [](Image& i) { i.entry(DT_RELASZ)->d_un.d_val = uint64_t{1} << 50; });
  expect("pack12", "there is no such place or symbol",
         [](Image& i) { i.table<Elf64_Rela>(DT_RELA)[0].r_offset = 0; });
  expect("pack12", "there is no such place or symbol",
         [](Image& i) { i.table<Elf64_Rela>(DT_RELA)[0].r_addend = -8; });
  expect("pack12", "there is no such place or symbol",
         [](Image& i) { i.table<Elf64_Rela>(DT_RELA)[0].r_info = ELF64_R_INFO(70000, 1); });
  // This one needs libraries, by name and version.
  expect("throws", "names what is not among its strings",
         [](Image& i) { i.entry(DT_NEEDED)->d_un.d_val = UINT64_MAX; });
  expect("throws", "versions at address",
         [](Image& i) { i.entry(DT_VERNEED)->d_un.d_ptr = UINT64_MAX; });
  expect("throws", "the versions of library 0 have no end or no name",
         [](Image& i) { i.table<Elf64_Verneed>(DT_VERNEED)->vn_file = UINT32_MAX; });
  expect("throws", "a symbol has a version above",
         [](Image& i) { i.table<uint16_t>(DT_VERSYM)[1] = 0x7fff; });
}

TEST(PluginFile, WithHashesOfTheOlderKindIsTaken) {
  const std::string message =
      load_image("sysv_hash", [](Image& i) { i.table<uint32_t>(DT_HASH)[1] = UINT32_MAX; });
  EXPECT_NE(message.find("hashes at address"), std::string::npos) << message;
  Folder folder;
  EXPECT_EQ(load(folder.place("sysv_hash")), "");
}

// Whatever the bytes are, the check itself comes to an end; it maps nothing that could be missing.
TEST(PluginFile, DamagedAnywhereIsCheckedWithoutHarm) {
  Folder folder;
  const auto library = folder.place("throws");
  const std::string whole = read_file(library);
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % 4096] = static_cast<char>(random());
    write_file(library, bytes);
    refused += !testing::text_of(check_elf(library)).empty();
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace tenon
