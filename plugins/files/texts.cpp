// Texts and folders of them as objects of the plugin `files`. The face over them is data/text.hpp.
#include <memory>
#include <string>

#include "class_folder.h"
#include "plugin_tensors.h"
#include "text_file.h"

namespace tenon::files {

void add_texts() {
  plugin::object("TextFile(str path)", [](Object& self, std::string path) {
    auto reader = std::make_shared<const TextReader>(path);
    self.method("text() -> str", [=] { return Text{reader->text()}; });
    self.method("size() -> int", [=] { return reader->lines(); });
    self.method("line(int index) -> str",
                [=](int64_t index) { return Text{std::string(reader->line(index))}; });
  });
  plugin::object("TextFolder(str root)", [](Object& self, std::string root) {
    auto folder = std::make_shared<const ClassFolder>(root, ClassFolderKind{"text", {".txt"}});
    self.method("classes() -> str[]", [=] { return StringList{folder->classes()}; });
    self.method("size() -> int", [=] { return folder->size(); });
    self.method("path(int index) -> str", [=](int64_t index) { return Text{folder->path(index)}; });
    self.method("label(int index) -> int", [=](int64_t index) { return folder->label(index); });
    self.method("text(int index) -> str",
                [=](int64_t index) { return Text{TextReader(folder->path(index)).text()}; });
  });
}

}  // namespace tenon::files
