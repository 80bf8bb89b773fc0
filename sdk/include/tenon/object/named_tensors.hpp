// Tensors by name: what the state of an object is, what files of tensors hold, and what
// load_state_dict says of names that it did not find. Nothing of it knows objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
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
  // A std::map, or std::unordered_map, in its own order.
  template <typename M>
  requires std::is_convertible_v<typename M::key_type, std::string> &&
      std::is_convertible_v<typename M::mapped_type, Tensor>
      NamedTensors(const M& map) : Entries(map.begin(), map.end()) {}
  bool contains(std::string_view name) const {
    return std::any_of(begin(), end(), [&](const auto& entry) { return entry.first == name; });
  }
  size_t count(std::string_view name) const {
    return size_t(std::count_if(begin(), end(), [&](const auto& e) { return e.first == name; }));
  }
  // Where the name is, as a std::map gives it: the pair of name and tensor, or end().
  iterator find(std::string_view name) {
    return std::find_if(begin(), end(), [&](const auto& entry) { return entry.first == name; });
  }
  const_iterator find(std::string_view name) const {
    return std::find_if(begin(), end(), [&](const auto& entry) { return entry.first == name; });
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : *this) names.push_back(name);
    return names;
  }
  std::vector<Tensor> values() const {
    std::vector<Tensor> tensors;
    for (const auto& [name, tensor] : *this) tensors.push_back(tensor);
    return tensors;
  }
  bool is_empty() const { return empty(); }
  // In the place of the tensor of this name, or at the end where there is none.
  void set(std::string_view name, Tensor tensor) {
    for (auto& entry : *this) {
      if (entry.first == name) {
        entry.second = std::move(tensor);
        return;
      }
    }
    emplace_back(std::string(name), std::move(tensor));
  }
  // At the end; an Error where the name is there.
  using Entries::insert;
  Tensor& insert(std::string name, Tensor tensor) {
    if (contains(name)) {
      fail(detail::joined({"insert: there is a tensor '", messages::printable(name),
                           "'; set(name, tensor) replaces it"}));
    }
    return emplace_back(std::move(name), std::move(tensor)).second;
  }
  // How many there were of this name.
  using Entries::erase;
  size_t erase(std::string_view name) {
    return std::erase_if(*this, [&](const auto& entry) { return entry.first == name; });
  }
  // The tensor of this name, which is none of these any more; an Error where there is none.
  Tensor pop(std::string_view name) {
    const size_t place = place_of(name);
    Tensor tensor = std::move((*this)[place].second);
    erase(begin() + std::ptrdiff_t(place));
    return tensor;
  }
  // The tensor of this name; an Error that says the nearest where there is none. New ones come by set.
  using Entries::operator[];
  Tensor& operator[](std::string_view name) & {
    return (*this)[place_of(name, "; set(name, tensor) adds one")].second;
  }
  Tensor operator[](std::string_view name) && { return (*this)[place_of(name)].second; }
  const Tensor& operator[](std::string_view name) const& { return (*this)[place_of(name)].second; }
  using Entries::at;
  Tensor& at(std::string_view name) & { return (*this)[place_of(name)].second; }
  Tensor at(std::string_view name) && { return (*this)[place_of(name)].second; }
  const Tensor& at(std::string_view name) const& { return (*this)[place_of(name)].second; }

 private:
  size_t place_of(std::string_view name, const char* hint = "") const {
    std::vector<std::string> names;
    for (const auto& [known, tensor] : *this) {
      if (known == name) return names.size();
      names.push_back(known);
    }
    fail(detail::joined({"there is no tensor '", messages::printable(name), "' among ",
                         std::to_string(size()), messages::did_you_mean(name, names), hint}),
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
