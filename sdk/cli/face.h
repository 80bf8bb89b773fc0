// From what a plugin registered to the C++ that calls it: how a schema's arguments read as
// parameters of a function and members of an options struct. header.cpp puts the lines together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::cli {

// A list cut at its commas outside of brackets and strings.
std::vector<std::string_view> parts_of(std::string_view list);
// A name as C++ can have it: one that C++ or the face keeps for itself gets an underscore.
std::string spelled(std::string_view name);

// An argument of a schema, as its normalized text has it.
struct FaceArgument {
  std::string type;      // "int[]", "Tensor?": without "dynamic" and without "(a!)"
  std::string name;      // as C++ spells it: `class` becomes `class_`
  std::string fallback;  // the default's text; empty where the argument is required
  bool written = false;  // "Tensor(a!)"
};
struct FaceSchema {
  std::string name;
  std::vector<FaceArgument> arguments;
  std::string results;  // "(Tensor values, Tensor indices)"; empty for a factory
};
FaceSchema parse_face_schema(std::string_view text);
// A word that C++ keeps for itself.
bool is_keyword(std::string_view name);

// What one op, layer or optimizer is, whatever it is called through.
struct FaceEntry {
  enum class Kind { op, layer, optimizer };
  Kind kind;
  FaceSchema schema;
  std::string op;  // the name that finds the op: "add", "hello_ops.squash"
  std::string doc, group;
  bool operands = false;  // a number may stand where a Tensor is not written
  size_t plain =
      SIZE_MAX;  // a call that leaves out its options has so many arguments, and its own function
  bool method = false;  // of Tensor
};

// Writes entries as C++ in one namespace. `prefix` stands before the face's names: "tenon::" where
// the namespace is not Tenon's own.
class FaceWriter {
 public:
  // names_results: results that have names are structs, else tuples.
  explicit FaceWriter(std::string prefix, bool names_results = true);

  // The functions of an entry, with its options and its documentation. What is said twice in a row
  // is said once, and options that another entry before it has become another name of those.
  std::string functions(const FaceEntry& entry);
  // The method of Tensor that an op is, and its definition, where `functions` of the writer of its
  // group has written the op.
  std::string method_declaration(const FaceEntry& entry) const;
  std::string method_definition(const FaceEntry& entry) const;
  // The struct of an op whose results have names, in a namespace `results`; empty: they have none.
  static std::string results_struct(const FaceEntry& entry);
  std::string definition_of_results(const FaceEntry& entry) const;
  // The struct of options that a method takes, by no other name of it; empty: it takes none.
  std::string options_of(const FaceEntry& entry) const;

 private:
  struct Shape;
  bool is_incomplete(const FaceEntry& entry, size_t i) const;
  std::vector<size_t> method_forms(const FaceEntry& entry) const;
  std::string type(const FaceEntry& entry, const FaceArgument& argument) const;
  std::string member(const FaceEntry& entry, const FaceArgument& argument) const;
  std::string result(const FaceEntry& entry) const;
  std::string parameters(const FaceEntry& entry, size_t first, size_t last, bool defaults) const;
  std::string parameter(const FaceEntry& entry, size_t i, bool with_default) const;
  std::string by_place(const FaceEntry& entry, const std::string& options) const;
  std::string named_behind_placed(const FaceEntry& entry, const std::string& options) const;
  std::string optimizer_class(const FaceEntry& entry);
  std::string definition(const FaceEntry& entry, std::string_view before, const std::string& list,
                         const std::string& body) const;
  bool has_separate_sizes(const FaceEntry& entry, size_t place) const;
  std::string separate_sizes(const FaceEntry& entry, size_t place, const std::string& name) const;
  std::string named_parameters(const FaceEntry& entry, size_t first,
                               const std::string& options_type) const;
  std::vector<std::string> named_values(const FaceEntry& entry, const std::string& first) const;
  static std::pair<size_t, size_t> tensors_before_options(const FaceEntry& entry);
  std::string behind_tensors(const FaceEntry& entry, const std::string& options) const;
  std::vector<std::string> values_behind_tensors(const FaceEntry& entry, const std::string& first,
                                                 size_t n) const;
  static bool makes_a_tensor(const FaceEntry& entry);
  static bool takes_params(const FaceEntry& entry);
  std::string call(const FaceEntry& entry, const std::vector<std::string>& values,
                   bool by_name = false) const;
  std::string options(std::string* its_name, const FaceEntry& entry, size_t first);

  std::string prefix_, last_doc_;
  bool names_results_;
  std::vector<std::pair<std::string, std::string>> known_options_;  // members, name
  std::map<std::string, std::string> options_of_;                   // the struct by the op's name
};

// `text` as lines of a comment, at most 100 columns wide.
std::string comment_lines(std::string_view text, std::string_view indent = "");

}  // namespace tenon::cli
