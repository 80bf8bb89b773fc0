// What folders of classes have in common: each folder in `root` is a class, by name from 0, and its
// files are the samples, by name. Of ImageFolder (images.hpp) and TextFolder (text.hpp); the plugins
// list the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// Files are read when they are asked for. Copies share one list.
class ClassFolder {
 public:
  int64_t size() const { return size_; }
  int64_t label(int64_t index) const { return folder_.invoke<int64_t>("label", index); }
  std::string path(int64_t index) const { return folder_.invoke<std::string>("path", index); }
  std::vector<std::string> classes() const {
    tn_value given = folder_.invoke<tn_value>("classes");
    const tenon::detail::ValueReleaser releaser{given};
    return {given.as.strings, given.as.strings + given.count};
  }

 protected:
  ClassFolder(const char* factory, const std::string& root)
      : folder_(Object::create(factory, root)), size_(folder_.invoke<int64_t>("size")) {}
  const Object& folder() const { return folder_; }

 private:
  Object folder_;
  int64_t size_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
