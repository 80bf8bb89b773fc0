// The container for recurrent layers by its name in C++. For applications; not part of tenon.hpp.
//
//   auto model = nn::Sequential(nn::Sequences({nn::Embedding(1000, 16), nn::LSTM(16, 32)}, {.padding = 0}), nn::Linear(32, 2));
//   Tensor y = model(ids);  // int64 [n, t], filled up with 0 at their ends
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/nn.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

struct SequencesOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  // x are ids [n, t], which end where only this id follows; no step of it is computed.
  std::optional<Int> padding = {};
  std::string output = "last";  // or "all"
};
// The modules in a row over sequences x [n, t, ..], step by step: [n, width], the state of the RNN, GRU or
// LSTM at the end behind each sequence's own last step, or ("all") [n, t, ..], zeros behind it. batch_first
// of the modules makes no difference. Children "0", "1", ...
inline Object Sequences(const std::vector<Object>& modules, const SequencesOptions& options = {}) {
  return Object::create("Sequences", detail::to_value(modules), options.padding, options.output);
}

}  // namespace nn
}  // namespace v0
}  // namespace tenon
