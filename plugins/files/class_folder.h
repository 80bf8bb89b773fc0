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

// Classes and files by name: those in the first folder of `root`, and in folders within it, are of
// class 0. What is not in a folder of a class is left out, and so is what has another ending; a class
// of which nothing is left is refused. As torchvision's ImageFolder, but for links to folders within
// a class, which are not followed.
class ClassFolder {
 public:
  ClassFolder(const std::string& root, const ClassFolderKind& kind) : root_(root), kind_(kind) {
    std::error_code ignored;
    for (const std::filesystem::path& of_class : entries_of(root)) {
      if (!std::filesystem::is_directory(of_class, ignored)) continue;
      const int64_t n = size();
      for (const std::filesystem::path& folder : folders_of(of_class)) {
        for (const std::filesystem::path& file : entries_of(folder.string())) {
          if (!takes(file) || std::filesystem::is_directory(file, ignored)) continue;
          items_.emplace_back(file.string(), static_cast<int64_t>(classes_.size()));
        }
      }
      if (size() == n)
        raise(TN_NOT_FOUND, "{}: the class '{}' has no {}, a file that ends in {}", root,
              of_class.filename().string(), kind.item, endings());
      classes_.push_back(of_class.filename().string());
    }
    if (items_.empty())
      raise(TN_NOT_FOUND, "{}: has no {} in folders of its own, one for each class", root,
            endings());
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
  // ".png, .jpg or .jpeg"
  std::string endings() const {
    std::string text = kind_.endings[0];
    for (size_t i = 1; i < kind_.endings.size(); ++i)
      text += (i + 1 == kind_.endings.size() ? " or " : ", ") + kind_.endings[i];
    return text;
  }
  // The folder and those within it, by path.
  static std::vector<std::filesystem::path> folders_of(const std::filesystem::path& folder) {
    std::error_code ignored;
    std::vector<std::filesystem::path> list = {folder};
    for (size_t i = 0; i < list.size(); ++i) {
      const std::filesystem::path from = list[i];
      for (const std::filesystem::path& entry : entries_of(from.string())) {
        const bool is_link = std::filesystem::is_symlink(entry, ignored);
        if (!is_link && std::filesystem::is_directory(entry, ignored)) list.push_back(entry);
      }
    }
    std::ranges::sort(list, {}, [](const auto& path) { return path.string(); });
    return list;
  }
  bool takes(const std::filesystem::path& path) const {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return std::ranges::find(kind_.endings, ending) != kind_.endings.end();
  }
  // What is in a folder, sorted by name.
  static std::vector<std::filesystem::path> entries_of(const std::string& path) {
    std::vector<std::string> names;
    if (const int error = disk::names_in(path, names)) {
      raise(disk::code_of(error), "{}: cannot be read as a folder: {}", path,
            std::generic_category().message(error));
    }
    std::vector<std::filesystem::path> list;
    for (const std::string& name : names) list.push_back(std::filesystem::path(path) / name);
    return list;
  }

  std::string root_;
  ClassFolderKind kind_;
  std::vector<std::string> classes_;
  std::vector<Item> items_;
};

}  // namespace tenon::files
