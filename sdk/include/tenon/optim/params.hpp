// What an optimizer is made for: parameters, or groups of them with options of their own.
//
//   auto optimizer = optim::AdamW({{decayed, {{"weight_decay", 0.1}}}, {others, {{"weight_decay", 0}}}},
//                                 {.lr = 1e-3});
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/optim/optimizer.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// The first argument of the functions that make optimizers.
class Params {
 public:
  // The options that a group does not have are those of the call.
  struct Group {
    std::vector<Tensor> params;
    std::vector<GroupOption> options = {};
  };

  Params() : groups_(1) {}
  template <typename List>
  requires(std::is_convertible_v<const List&, Tensors>) Params(const List& list)
      : groups_{{Tensors(list).to_vector()}} {}
  Params(std::initializer_list<Tensors::Item> list) : groups_{{Tensors(list).to_vector()}} {}
  Params(std::initializer_list<Group> groups) : Params(std::vector<Group>(groups)) {}
  Params(std::vector<Group> groups) : groups_(std::move(groups)) {
    if (groups_.empty()) groups_.emplace_back();  // which the optimizer refuses
  }

  // The parameters of the first group, with which an optimizer begins.
  const std::vector<Tensor>& first() const { return groups_[0].params; }
  // An optimizer of all groups, by its factory's name; `arguments` begin with first().
  Optimizer made(const char* factory, std::initializer_list<detail::Argument> arguments) const {
    const Optimizer optimizer = Optimizer(Object::create(factory, arguments)).expect_step();
    for (size_t i = 1; i < groups_.size(); ++i)
      optimizer.add_group(groups_[i].params, groups_[i].options);
    for (const GroupOption& option : groups_[0].options)
      optimizer.set_group_value(0, option.name(), option.value());
    return optimizer;
  }

 private:
  std::vector<Group> groups_;
};

}  // namespace optim
}  // namespace v0
}  // namespace tenon
