// Values that are found by the bytes of a key, of which those that were used last are kept.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cuda {

// For one thread at a time. A value stays where it is until others push it out.
template <class Value>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  // Counts as a use. NULL: it is not there.
  Value* find(std::string_view key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    values_.splice(values_.begin(), values_, found->second);
    return &found->second->second;
  }
  // A value with a key that is not there. Where there are too many, the one that was not used for the
  // longest time goes.
  Value* add(std::string key, Value value) {
    Values made;
    made.emplace_front(std::move(key), std::move(value));
    places_.emplace(made.front().first, made.begin());
    values_.splice(values_.begin(), made);
    if (values_.size() > most_) {
      places_.erase(values_.back().first);
      values_.pop_back();
    }
    return &values_.front().second;
  }

 private:
  using Values = std::list<std::pair<const std::string, Value>>;

  const size_t most_;
  Values values_;  // what was used last is in front
  std::unordered_map<std::string_view, typename Values::iterator>
      places_;  // by the keys of the list
};

}  // namespace cuda
