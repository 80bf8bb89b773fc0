#include "plugin/json_tree.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

namespace tenon {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostDepth = 32;

class Builder : public nlohmann::json_sax<Json> {
 public:
  using Kind = JsonTree::Kind;

  explicit Builder(JsonTree* root) : root_(root) {}

  std::string problem;

  bool null() override { return add(Kind::kOther, "null"); }
  bool boolean(bool value) override { return add(Kind::kOther, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return add(Kind::kOther, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(Kind::kOther, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return add(Kind::kOther, text);
  }
  bool string(string_t& text) override { return add(Kind::kText, std::move(text)); }
  bool binary(binary_t&) override { return true; }  // a text has none
  bool start_object(std::size_t) override { return open(Kind::kObject); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Kind::kList); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    name_ = std::move(text);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string_view what =
        error.what();  // "[json.exception.parse_error.101] parse error at ..."
    const size_t end = what.find("] ");
    problem = "not JSON: ";
    problem += end == what.npos ? what : what.substr(end + 2);
    return false;
  }

 private:
  JsonTree* place() {
    if (open_.empty()) return root_;
    std::vector<JsonTree>& siblings = open_.back()->children;
    const bool is_field = open_.back()->kind == Kind::kObject;
    const auto same = std::find_if(siblings.begin(), siblings.end(), [&](const JsonTree& other) {
      return is_field && other.name == name_;
    });
    if (same != siblings.end()) {
      same->children.clear();
      return &*same;
    }
    siblings.emplace_back();
    if (is_field) siblings.back().name = std::move(name_);
    return &siblings.back();
  }
  bool add(Kind kind, std::string text) {
    JsonTree* here = place();
    here->kind = kind;
    here->text = std::move(text);
    return true;
  }
  bool open(Kind kind) {
    if (open_.size() == kMostDepth) {
      problem = "lists and objects are nested deeper than " + std::to_string(kMostDepth);
      return false;
    }
    JsonTree* here = place();
    here->kind = kind;
    open_.push_back(here);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonTree* root_;
  std::string name_;  // of the field whose value comes next
  std::vector<JsonTree*> open_;
};

}  // namespace

const JsonTree* JsonTree::find(std::string_view field) const {
  for (const JsonTree& child : children) {
    if (child.name == field) return &child;
  }
  return nullptr;
}

std::string read_json(const std::string& text, JsonTree* tree) {
  Builder builder(tree);
  Json::sax_parse(text, &builder);
  return std::move(builder.problem);
}

}  // namespace tenon
