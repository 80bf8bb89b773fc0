// A folder with a folder of files for each class. Used for pictures, by the plugin images, and for
// texts; opens no file.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "file.h"

namespace tenon::files {

// The endings of the files that are taken, as ".png", and what these are called in errors.
struct ClassFolderKind {
  const char* item;
  std::vector<std::string> endings;
};

// Classes and files by name: those in the first folder of `root` are of class 0. What is not in a
// folder of a class is left out, and so is what has another ending.
class ClassFolder {
 public:
  ClassFolder(const std::string& root, const ClassFolderKind& kind) : root_(root), kind_(kind) {
    std::error_code ignored;
    for (const std::filesystem::path& of_class : entries_of(root)) {
      if (!std::filesystem::is_directory(of_class, ignored)) continue;
      for (const std::filesystem::path& file : entries_of(of_class.string())) {
        if (!takes(file)) continue;
        items_.emplace_back(file.string(), static_cast<int64_t>(classes_.size()));
      }
      classes_.push_back(of_class.filename().string());
    }
    if (!items_.empty()) return;
    std::string endings = kind.endings[0];
    for (size_t i = 1; i < kind.endings.size(); ++i)
      endings += (i + 1 == kind.endings.size() ? " or " : ", ") + kind.endings[i];
    raise(TN_NOT_FOUND, "{}: has no {} in folders of its own, one for each class", root, endings);
  }

  int64_t size() const { return static_cast<int64_t>(items_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::string& path(int64_t index) const { return at(index).first; }
  int64_t label(int64_t index) const { return at(index).second; }

 private:
  using Item = std::pair<std::string, int64_t>;

  const Item& at(int64_t index) const {
    if (index >= 0 && index < size()) return items_[static_cast<size_t>(index)];
    raise(TN_INVALID_ARGUMENT, "{}: {} {} of {}", root_, kind_.item, index, size());
  }
  bool takes(const std::filesystem::path& path) const {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return std::ranges::find(kind_.endings, ending) != kind_.endings.end();
  }
  // What is in a folder, sorted by name.
  static std::vector<std::filesystem::path> entries_of(const std::string& path) {
    std::error_code error;
    std::vector<std::filesystem::path> list;
    for (std::filesystem::directory_iterator at(path, error);
         !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      list.push_back(at->path());
    }
    if (error) raise(TN_NOT_FOUND, "{}: cannot be read as a folder: {}", path, error.message());
    std::ranges::sort(list);
    return list;
  }

  std::string root_;
  ClassFolderKind kind_;
  std::vector<std::string> classes_;
  std::vector<Item> items_;
};

}  // namespace tenon::files
