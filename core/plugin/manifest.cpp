// Reads manifests: JSON that is not trusted, field by field.
#include "plugin/manifest.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tenon/disk.hpp"

namespace tenon {
namespace {

// The type that listing.cpp writes: a second one would be compiled beside it, 30 KB.
using json = nlohmann::ordered_json;

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

std::string kind(const json& value) {
  switch (value.type()) {
    case json::value_t::string:
      return "\"" + printable(value.get_ref<const std::string&>()) + "\"";
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "a list";
    case json::value_t::null:
      return "null";
    default:
      return value.dump();  // a number or bool
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
  Status object(const json& value, const std::string& path,
                const std::vector<std::string>& known) const {
    if (!value.is_object()) {
      return refuse("{} must be an object, found {}",
                    path.empty() ? "the manifest" : "'" + path + "'", kind(value));
    }
    for (const auto& [key, unused] : value.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string nearest(messages::nearest(key, known));
      const bool there = !nearest.empty() && value.contains(nearest);
      if (!nearest.empty() && !there) {
        return refuse("unknown field '{}'; did you mean '{}'?", printable(key), nearest);
      }
    }
    return nullptr;
  }

  Status text(const json& object, const std::string& path, bool (*fits)(std::string_view),
              const char* expected, std::string* out) const {
    const json* value = nullptr;
    TN_TRY(find(object, path, &value));
    if (!value->is_string() || !fits(value->get_ref<const std::string&>())) {
      return refuse("'{}' must be {}, found {}", path, expected, kind(*value));
    }
    *out = value->get<std::string>();
    return nullptr;
  }

  Status texts(const json& object, const std::string& path, bool (*fits)(std::string_view),
               const char* expected, std::vector<std::string>* out) const {
    const auto found = object.find(last(path));
    if (found == object.end()) return nullptr;
    if (!found->is_array()) return refuse("'{}' must be a list, found {}", path, kind(*found));
    for (const json& entry : *found) {
      if (!entry.is_string() || !fits(entry.get_ref<const std::string&>())) {
        return refuse("'{}' must hold {}, found {}", path, expected, kind(entry));
      }
      out->push_back(entry.get<std::string>());
    }
    return nullptr;
  }

  Status abi(const json& object, const std::string& path, uint32_t* version) const {
    const json* value = nullptr;
    TN_TRY(find(object, path, &value));
    if (value->is_string()) {
      const auto& text = value->get_ref<const std::string&>();
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

  Status find(const json& object, const std::string& path, const json** value) const {
    const auto found = object.find(last(path));
    if (found == object.end()) return refuse("field '{}' is missing", path);
    *value = &*found;
    return nullptr;
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
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& e) {
    const std::string_view what =
        e.what();  // "[json.exception.parse_error.101] parse error at ..."
    const size_t end = what.find("] ");
    return reader.refuse("not JSON: {}", end == what.npos ? what : what.substr(end + 2));
  }
  TN_TRY(reader.object(document, "", {"id", "version", "description", "library", "abi", "needs"}));
  TN_TRY(reader.text(document, "id", is_plugin_id, "lower case letters, digits and '_'",
                     &manifest->id));
  TN_TRY(
      reader.text(document, "version", is_version, "a version as \"1.0.0\"", &manifest->version));
  if (document.contains("description")) {
    const auto fits = [](std::string_view s) { return s.size() <= kMaxDescription; };
    TN_TRY(reader.text(document, "description", fits, "a short text", &manifest->description));
  }
  TN_TRY(reader.text(document, "library", is_file_name, "a file's name", &manifest->library));
  if (manifest->library != library.filename().string()) {
    return reader.refuse("'library' is \"{}\", but the manifest lies beside {}", manifest->library,
                         library.filename().string());
  }
  const json* abi = nullptr;
  TN_TRY(reader.find(document, "abi", &abi));
  TN_TRY(reader.object(*abi, "abi", {"min", "max"}));
  TN_TRY(reader.abi(*abi, "abi.min", &manifest->abi_min));
  TN_TRY(reader.abi(*abi, "abi.max", &manifest->abi_max));
  if (manifest->abi_min > manifest->abi_max) {
    return reader.refuse("'abi.min' is above 'abi.max': {}",
                         abi_text(manifest->abi_min, manifest->abi_max));
  }
  if (const auto needs = document.find("needs"); needs != document.end()) {
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
