// Folders with small plugins in them, for tests that load. Needs nothing of the core.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tenon::testing {

namespace fs = std::filesystem;

inline std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

// A new empty folder, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tenon-plugins-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ec;
    fs::remove_all(path_, ec);
  }
  const fs::path& path() const { return path_; }

  // Copies the small plugin lib<name>.so here, as lib<as>.so, with a manifest that says id <name>.
  // `needs` is the JSON text of its needs.plugins.
  fs::path place(const std::string& name, const std::string& needs = "[]",
                 std::string as = "") const {
    if (as.empty()) as = name;
    const fs::path library = path_ / ("lib" + as + ".so");
    const char* built = std::getenv("TENON_BUILD_DIR");
    if (built == nullptr) throw std::runtime_error("TENON_BUILD_DIR is not set: run with ctest");
    fs::copy_file(fs::path(built) / "tests" / "small" / ("lib" + name + ".so"), library);
    write_manifest(as, manifest(name, as, needs));
    return library;
  }

  void write_manifest(const std::string& name, const std::string& text) const {
    write_file(path_ / ("lib" + name + ".json"), text);
  }

  static std::string manifest(const std::string& id, const std::string& library,
                              const std::string& needs = "[]", const std::string& libraries = "[]",
                              const std::string& cpu = "[]") {
    return R"({"id": ")" + id +
           R"(", "version": "1.2.0", "description": "small", "library": "lib)" + library +
           R"(.so", "abi": {"min": "0.2", "max": "0.2"}, "needs": {"plugins": )" + needs +
           R"(, "libraries": )" + libraries + R"(, "cpu": )" + cpu + "}}";
  }

 private:
  fs::path path_;
};

}  // namespace tenon::testing
