// The file is read through SAX events. Vocabulary and merges, nearly all of it, go to tables; a tree
// of them would take ten times the file's size.
#include "document.h"

#include <utility>

#include <fmt/format.h>

#include "file.h"

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;
using nlohmann::json;

constexpr uint64_t kMostFileBytes = uint64_t{128} << 20;
constexpr size_t kMostDepth = 32;
constexpr size_t kMostValues = size_t{1} << 19;  // in the tree
constexpr int64_t kMostId = INT32_MAX;

class Builder : public nlohmann::json_sax<json> {
 public:
  Document document;
  std::string problem;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (part_ != Part::kVocab) return add(value);
    if (value > kMostId) {
      return refuse(fmt::format("model.vocab: the id of '{}' is {}, expected at most {}",
                                printable(key_), value, kMostId));
    }
    document.tokens.add(key_);
    document.ids.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& text) override {
    if (part_ == Part::kMerges) return add_merge(text);
    if (part_ != Part::kMerge) return add(std::move(text));
    if (++in_merge_ > 2) return refuse_merge();
    document.merges.add(text);
    return true;
  }
  bool binary(binary_t&) override { return refuse("is not JSON"); }

  bool start_object(std::size_t) override {
    if (is_at_model("vocab")) {
      if (std::exchange(document.has_vocab, true)) return refuse("model.vocab: is there twice");
      part_ = Part::kVocab;
      return true;
    }
    return open(json::object());
  }
  bool end_object() override {
    if (part_ == Part::kVocab) {
      part_ = Part::kTree;
      return true;
    }
    return close();
  }
  bool start_array(std::size_t) override {
    if (part_ == Part::kMerges) {
      part_ = Part::kMerge;
      in_merge_ = 0;
      return true;
    }
    if (is_at_model("merges")) {
      if (std::exchange(document.has_merges, true)) return refuse("model.merges: is there twice");
      part_ = Part::kMerges;
      return true;
    }
    if (is_at_model("vocab")) {
      document.vocab_is_list = true;
      part_ = Part::kSkipped;
    }
    return open(json::array());
  }
  bool end_array() override {
    if (part_ == Part::kMerge) {
      if (in_merge_ != 2) return refuse_merge();
      part_ = Part::kMerges;
      return true;
    }
    if (part_ == Part::kMerges) {
      part_ = Part::kTree;
      return true;
    }
    return close();
  }
  bool key(string_t& text) override {
    key_ = std::move(text);
    if (part_ != Part::kTree) return true;
    if (stack_.size() == 1) root_key_ = key_;
    if (!stack_.back()->contains(key_)) return true;
    return refuse(fmt::format("the field '{}' is there twice", printable(key_)));
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem = fmt::format("is not JSON at byte {}", position);
    return false;
  }

 private:
  enum class Part { kTree, kVocab, kMerges, kMerge, kSkipped };

  bool refuse(std::string what) {
    problem = std::move(what);
    return false;
  }
  bool refuse_merge() {
    return refuse(fmt::format("model.merges[{}]: expected \"left right\" or [\"left\", \"right\"]",
                              document.merges.size() / 2));
  }
  bool is_at_model(const char* field) const {
    return part_ == Part::kTree && stack_.size() == 2 && stack_.back()->is_object() &&
           root_key_ == "model" && key_ == field;
  }

  bool add_merge(const std::string& text) {
    if (text.starts_with("#version")) return true;
    const size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) {
      return refuse_merge();
    }
    document.merges.add(std::string_view(text).substr(0, blank));
    document.merges.add(std::string_view(text).substr(blank + 1));
    return true;
  }

  // Where the next value of the tree goes.
  json* place() {
    if (stack_.empty()) return &document.tree.root;
    if (stack_.back()->is_object()) return &(*stack_.back())[key_];
    stack_.back()->push_back(nullptr);
    return &stack_.back()->back();
  }
  bool add(json value) {
    if (part_ == Part::kVocab) {
      return refuse(fmt::format("model.vocab: the id of '{}' is {}, expected a number from 0",
                                printable(key_), value.type_name()));
    }
    if (part_ == Part::kMerges || part_ == Part::kMerge) return refuse_merge();
    if (part_ == Part::kSkipped) return true;
    if (++values_ > kMostValues) {
      return refuse(fmt::format("has more than {} values beside vocab and merges", kMostValues));
    }
    *place() = std::move(value);
    return true;
  }
  bool open(json value) {
    if (part_ == Part::kSkipped) {
      if (++skipped_ > kMostDepth) return refuse("is nested too deep");
      return true;
    }
    if (stack_.size() == kMostDepth) return refuse("is nested too deep");
    if (part_ != Part::kTree || ++values_ > kMostValues) return add(std::move(value));
    json* here = place();
    *here = std::move(value);
    stack_.push_back(here);
    return true;
  }
  bool close() {
    if (part_ == Part::kSkipped) {
      if (--skipped_ == 0) part_ = Part::kTree;
      return true;
    }
    stack_.pop_back();
    return true;
  }

  Part part_ = Part::kTree;
  size_t in_merge_ = 0, skipped_ = 0, values_ = 0;
  std::string key_, root_key_;
  std::vector<json*> stack_;
};

}  // namespace

Document parse_document(const std::string& path, std::string_view text) {
  Builder builder;
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    raise(TN_DATA_LOSS, "{}: {}", path, builder.problem);
  }
  return std::move(builder.document);
}

Document read_document(const std::string& path) {
  const files::InputFile file(path);
  if (file.size() > kMostFileBytes) {
    raise(TN_DATA_LOSS, "{}: has {} bytes; a tokenizer may have {}", path, file.size(),
          kMostFileBytes);
  }
  return parse_document(path, file.read_all());
}

}  // namespace tenon::tokenizers
