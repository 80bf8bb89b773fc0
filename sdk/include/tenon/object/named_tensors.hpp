// Tensors by name: what the state of an object is, what files of tensors hold, and what
// load_state_dict says of names that it did not find. Nothing of it knows objects.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Tensors by name, in order: a vector of pairs that finds its names.
class NamedTensors : public std::vector<std::pair<std::string, Tensor>> {
 public:
  using Entries = std::vector<std::pair<std::string, Tensor>>;
  using Entries::Entries;
  NamedTensors() = default;
  NamedTensors(Entries entries) : Entries(std::move(entries)) {}  // NOLINT: a list is one
  bool contains(std::string_view name) const {
    return std::any_of(begin(), end(), [&](const auto& entry) { return entry.first == name; });
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : *this) names.push_back(name);
    return names;
  }
  // The tensor of this name; an Error that says the nearest where there is none.
  using Entries::operator[];
  Tensor& operator[](std::string_view name) { return (*this)[place_of(name)].second; }
  const Tensor& operator[](std::string_view name) const { return (*this)[place_of(name)].second; }

 private:
  size_t place_of(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& [known, tensor] : *this) {
      if (known == name) return names.size();
      names.push_back(known);
    }
    fail(detail::joined({"there is no tensor '", messages::printable(name), "' among ",
                         std::to_string(size()), messages::did_you_mean(name, names)}),
         TN_NOT_FOUND);
  }
};
// What load_state_dict passed over where it is not strict, as PyTorch gives it.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     // of the object, and not in the state
  std::vector<std::string> unexpected_keys;  // of the state, and not in the object
};

}  // namespace v0
}  // namespace tenon
