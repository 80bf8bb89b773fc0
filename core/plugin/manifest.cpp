// Reads manifests: JSON that is not trusted, field by field.
#include "plugin/manifest.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "plugin/json_tree.h"
#include "tenon/disk.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxBytes = 64 * 1024;
constexpr size_t kMaxName = 64;
constexpr size_t kMaxDescription = 1024;

bool only(std::string_view text, std::string_view extra, bool capitals) {
  return !text.empty() && text.size() <= kMaxName &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  (capitals && c >= 'A' && c <= 'Z') || extra.find(c) != std::string_view::npos;
         });
}
bool is_version(std::string_view text) {
  return only(text, ".+-_", true) && text[0] >= '0' && text[0] <= '9';
}
bool is_file_name(std::string_view text) { return only(text, ".+-_", true) && text[0] != '.'; }
bool is_feature(std::string_view text) { return only(text, "._-", false); }

std::string kind(const JsonTree& value) {
  switch (value.kind) {
    case JsonTree::Kind::kText:
      return "\"" + printable(value.text) + "\"";
    case JsonTree::Kind::kObject:
      return "an object";
    case JsonTree::Kind::kList:
      return "a list";
    default:
      return value.text;
  }
}

// Reads the fields of one file; the first refusal stays.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  template <typename... Args>
  Status refuse(fmt::format_string<Args...> format, Args&&... args) const {
    return invalid("{}: {}", file_, fmt::format(format, std::forward<Args>(args)...));
  }

  // An object without fields that look like misspelled ones; others are a younger format's.
  Status object(const JsonTree& value, const std::string& path,
                const std::vector<std::string>& known) const {
    if (value.kind != JsonTree::Kind::kObject) {
      return refuse("{} must be an object, found {}",
                    path.empty() ? "the manifest" : "'" + path + "'", kind(value));
    }
    for (const JsonTree& field : value.children) {
      if (std::find(known.begin(), known.end(), field.name) != known.end()) continue;
      const std::string nearest(messages::nearest(field.name, known));
      if (!nearest.empty() && value.find(nearest) == nullptr) {
        return refuse("unknown field '{}'; did you mean '{}'?", printable(field.name), nearest);
      }
    }
    return nullptr;
  }

  Status text(const JsonTree& object, const std::string& path, bool (*fits)(std::string_view),
              const char* expected, std::string* out) const {
    const JsonTree* value = nullptr;
    TN_TRY(find(object, path, &value));
    if (value->kind != JsonTree::Kind::kText || !fits(value->text)) {
      return refuse("'{}' must be {}, found {}", path, expected, kind(*value));
    }
    *out = value->text;
    return nullptr;
  }

  Status texts(const JsonTree& object, const std::string& path, bool (*fits)(std::string_view),
               const char* expected, std::vector<std::string>* out) const {
    const JsonTree* found = object.find(last(path));
    if (found == nullptr) return nullptr;
    if (found->kind != JsonTree::Kind::kList) {
      return refuse("'{}' must be a list, found {}", path, kind(*found));
    }
    for (const JsonTree& entry : found->children) {
      if (entry.kind != JsonTree::Kind::kText || !fits(entry.text)) {
        return refuse("'{}' must hold {}, found {}", path, expected, kind(entry));
      }
      out->push_back(entry.text);
    }
    return nullptr;
  }

  Status abi(const JsonTree& object, const std::string& path, uint32_t* version) const {
    const JsonTree* value = nullptr;
    TN_TRY(find(object, path, &value));
    if (value->kind == JsonTree::Kind::kText) {
      const std::string& text = value->text;
      const char* const end = text.data() + text.size();
      uint16_t major = 0, minor = 0;
      auto at = std::from_chars(text.data(), end, major);
      if (at.ec == std::errc() && at.ptr != end && *at.ptr == '.') {
        at = std::from_chars(at.ptr + 1, end, minor);
        if (at.ec == std::errc() && at.ptr == end) {
          *version = (uint32_t{major} << 16) | minor;
          return nullptr;
        }
      }
    }
    return refuse("'{}' must be a version as \"0.2\", found {}", path, kind(*value));
  }

  Status find(const JsonTree& object, const std::string& path, const JsonTree** value) const {
    *value = object.find(last(path));
    return *value == nullptr ? refuse("field '{}' is missing", path) : nullptr;
  }

 private:
  static std::string last(const std::string& path) {
    return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
  }
  std::string file_;
};

Status read_text(const std::filesystem::path& file, std::string* text) {
  std::error_code ec;
  if (!std::filesystem::exists(file, ec)) {
    return error(TN_NOT_FOUND,
                 "no manifest: {} is not there (tenon_add_plugin makes it beside the library)",
                 file.string());
  }
  if (!std::filesystem::is_regular_file(file, ec)) {
    return invalid("{}: the manifest is not a plain file", file.string());
  }
  disk::Input in;
  disk::Problem problem = in.open(file.string());
  if (!problem && in.size() > kMaxBytes) {
    return invalid("{}: the manifest is larger than {} bytes", file.string(), kMaxBytes);
  }
  if (!problem) problem = in.read_all(text);
  return problem ? make_status(problem.code, std::move(problem.text)) : nullptr;
}

}  // namespace

bool is_plugin_id(std::string_view text) {
  return only(text, "_", false) && text[0] >= 'a' && text[0] <= 'z';
}

Status read_manifest(const std::filesystem::path& library, Manifest* manifest) {
  std::filesystem::path file = library;
  file.replace_extension(".json");
  std::string text;
  TN_TRY(read_text(file, &text));
  const Reader reader(file.string());
  JsonTree document;
  if (const std::string problem = read_json(text, &document); !problem.empty()) {
    return reader.refuse("{}", problem);
  }
  TN_TRY(reader.object(document, "", {"id", "version", "description", "library", "abi", "needs"}));
  TN_TRY(reader.text(document, "id", is_plugin_id, "lower case letters, digits and '_'",
                     &manifest->id));
  TN_TRY(
      reader.text(document, "version", is_version, "a version as \"1.0.0\"", &manifest->version));
  if (document.find("description") != nullptr) {
    const auto fits = [](std::string_view s) { return s.size() <= kMaxDescription; };
    TN_TRY(reader.text(document, "description", fits, "a short text", &manifest->description));
  }
  TN_TRY(reader.text(document, "library", is_file_name, "a file's name", &manifest->library));
  if (manifest->library != library.filename().string()) {
    return reader.refuse("'library' is \"{}\", but the manifest lies beside {}", manifest->library,
                         library.filename().string());
  }
  const JsonTree* abi = nullptr;
  TN_TRY(reader.find(document, "abi", &abi));
  TN_TRY(reader.object(*abi, "abi", {"min", "max"}));
  TN_TRY(reader.abi(*abi, "abi.min", &manifest->abi_min));
  TN_TRY(reader.abi(*abi, "abi.max", &manifest->abi_max));
  if (manifest->abi_min > manifest->abi_max) {
    return reader.refuse("'abi.min' is above 'abi.max': {}",
                         abi_text(manifest->abi_min, manifest->abi_max));
  }
  if (const JsonTree* needs = document.find("needs")) {
    TN_TRY(reader.object(*needs, "needs", {"plugins", "libraries", "cpu"}));
    TN_TRY(reader.texts(*needs, "needs.plugins", is_plugin_id, "ids of plugins",
                        &manifest->needs_plugins));
    TN_TRY(reader.texts(*needs, "needs.libraries", is_file_name, "sonames, without folders",
                        &manifest->needs_libraries));
    TN_TRY(reader.texts(*needs, "needs.cpu", is_feature, "CPU features", &manifest->needs_cpu));
  }
  return nullptr;
}

std::string abi_text(uint32_t min, uint32_t max) {
  const std::string low = fmt::format("{}.{}", min >> 16, min & 0xffff);
  return min == max ? low : fmt::format("{} to {}.{}", low, max >> 16, max & 0xffff);
}

Status check_abi(uint32_t min, uint32_t max) {
  const bool fits = TN_ABI_MAJOR == 0 ? min == TN_ABI_VERSION && max == TN_ABI_VERSION
                                      : min <= TN_ABI_VERSION && TN_ABI_VERSION <= max;
  if (fits) return nullptr;
  return error(TN_UNSUPPORTED, "built for ABI {}, this host has {}{}: rebuild it",
               abi_text(min, max), abi_text(TN_ABI_VERSION, TN_ABI_VERSION),
               TN_ABI_MAJOR == 0 ? " alone (before 1.0 each is another)" : "");
}

}  // namespace tenon
