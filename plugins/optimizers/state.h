// What optimizers share: the state of each parameter as an object of named tensors, and the sorting
// of a group's parameters into batches that one call of a step op takes.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "optimizers.h"
#include "tenon/optim/optimizer.hpp"

namespace optimizers {

using Sizes = std::vector<int64_t>;
// The sizes that a state has for a parameter of such sizes.
using SizesOf = Sizes (*)(const Sizes& parameter);
inline Sizes as_parameter(const Sizes& parameter) { return parameter; }
inline Sizes one_number(const Sizes&) { return {}; }

struct Entry {
  const char* name;
  SizesOf sizes = as_parameter;
};

// The child `state` of an optimizer, whose children "0", "1", ... hold the state of each parameter,
// counted over all groups: so the state dict has "state.0.momentum_buffer". Entries are there, and
// empty, from the start, so that a state dict loads before the first step.
class States {
 public:
  States(Object& optimizer, std::vector<Entry> entries);
  // Declares the entries of the group's parameters.
  void add_group(Object& optimizer, uint32_t group);

  // Of the parameter with this index over all groups.
  const Object& of(size_t parameter) const { return parameters_[parameter]; }
  // The entry, moved to where the parameter is if it is elsewhere (a loaded file, a model that went
  // to another device); null when it is empty. In the parameter's dtype, unless one is given.
  Tensor get(size_t parameter, const char* name, const Tensor& like, Dtype dtype = {}) const;
  void set(size_t parameter, const char* name, const Tensor& value) const {
    parameters_[parameter].set(name, value, TN_ENTRY_STATE);
  }
  // An Error where a value of a state dict has other sizes than the state of that path
  // ("state.0.momentum_buffer") has.
  void expect_sizes(const std::string& path, const Tensor& value) const;

 private:
  Object state_;
  std::vector<Entry> entries_;
  std::vector<Object> parameters_;
  std::vector<Sizes> sizes_;  // of the parameters
};

// Gives the optimizer its states, which follow its groups from then on, and take what fits alone.
std::shared_ptr<States> make_states(Object& optimizer, std::vector<Entry> entries);
// An Error: "'state.0.exp_avg' is [3] in the state_dict, expected [4] for parameter 0, which is [4]".
// One number may have any sizes of one element.
void expect_state(const std::string& path, const Tensor& value, const Sizes& expected,
                  const std::string& whose);
// The first group.
void add_parameters(Object& optimizer, const Tensors& parameters);

std::vector<Tensor> group_parameters(const Object& optimizer, uint32_t group);

// An option of a group, as T.
template <typename T>
T group_option(const Object& optimizer, uint32_t group, const char* name) {
  tn_value value;
  check(detail::api.object->group_option(optimizer.get(), group, name, &value));
  return detail::Unpack<T>::borrow(value);
}

// A dynamic option of a group: a compiled function follows it.
inline Tensor group_number(const Object& optimizer, uint32_t group, const char* name) {
  return optim::ParamGroup(optimizer, group).number(name);
}

// A dynamic number of a group as it is now, for what the first step alone reads. A compiled function
// does not learn that it was read.
double group_value(const Object& optimizer, uint32_t group, const char* name);

// An option `momentum` that is dynamic. Whether there is one decides what a step does, so that a
// compiled function is recorded anew where it becomes 0 or is no longer: see `momentum_of`.
void expect_momentum(Object& optimizer, double value);
struct Momentum {
  bool is_there;
  Tensor number;
  Float get() const { return is_there ? dynamic(number) : Float(0.0); }
};
Momentum momentum_of(const Object& optimizer, uint32_t group);

// Parameters of one call: on one device and with one `key`.
struct Batch {
  Device device;
  int64_t key = 0;
  std::vector<size_t> indices;  // over all groups
  std::vector<Tensor> parameters, gradients;
  std::array<std::vector<Tensor>, 4> states;
};
class Batches {
 public:
  Batch& of(Device device, int64_t key);
  auto begin() { return batches_.begin(); }
  auto end() { return batches_.end(); }

 private:
  std::vector<Batch> batches_;
};

// A state that each parameter has, as a list of the step op.
struct Slot {
  const char* name = nullptr;  // none: this list stays empty
  Tensor (*make)(const Tensor& parameter, double lr) = [](const Tensor& p, double) {
    return zeros_like(p);
  };
  tn_dtype dtype = TN_DTYPE_NONE;  // none: the parameter's
  SizesOf sizes = as_parameter;
};
// On the parameter's device, which alone knows whether a step is passed over.
inline constexpr Slot kCount{"step",
                             [](const Tensor& p, double) { return zeros({}, float32, p.device()); },
                             TN_FLOAT32, one_number};

// The parameters of each group that have a gradient, with their states in the order of the slots.
// What a step needs memory for comes before any parameter changes: the state of a first step is
// there, and zero, should the step fail. Row-sparse gradients are refused. `key`: parameters of
// different keys come into different batches.
using SlotsOf = std::function<std::vector<Slot>(uint32_t group, const Tensor& parameter)>;
std::vector<Batches> collect(const Object& optimizer, const States& states, const SlotsOf& slots,
                             int64_t (*key)(const Tensor& parameter) = nullptr);
std::vector<Batches> collect(const Object& optimizer, const States& states,
                             std::initializer_list<Slot> slots);

// The last of making an optimizer: its states, its method `step`, and the first group.
using Step = void (*)(const Object& self, const States& states, const Tensor& found_inf);
void give_step(Object& optimizer, const Tensors& parameters, std::initializer_list<Slot> slots,
               Step step);

// Runs `update(group, batch)` for all of them, and `update_row(group, row)` for the parameters of
// each group whose gradients are row-sparse. Where one fails after others, the error says so.
template <typename Row, typename Update, typename UpdateRow>
void update_all(std::vector<Batches>& groups, const std::vector<std::vector<Row>>& rows,
                const Update& update, const UpdateRow& update_row) {
  size_t updated = 0;
  try {
    for (uint32_t group = 0; group < groups.size(); ++group) {
      for (const Batch& batch : groups[group]) {
        update(group, batch);
        updated += batch.parameters.size();
      }
    }
    for (uint32_t group = 0; group < rows.size(); ++group) {
      for (const Row& row : rows[group]) {
        update_row(group, row);
        ++updated;
      }
    }
  } catch (const Error& e) {
    if (updated == 0) throw;
    tenon::fail(
        std::to_string(updated) + " parameters were updated before this failed: " + e.what(),
        e.code());
  }
}

template <typename Update>
void update_all(std::vector<Batches>& groups, const Update& update) {
  update_all(groups, std::vector<std::vector<int>>(), update, [](uint32_t, int) {});
}

// What an optimizer keeps that is lr at first, in its states: that of the first step that is done.
// Steps that a GradScaler passes over come before it, and made the states with a rate of theirs.
void begin_at(const std::vector<Tensor>& states, const std::vector<Tensor>& counts,
              const Tensor& lr, const Tensor& found_inf);
// found_inf where the batch is; null stays null.
Tensor found_inf_on(Device device, const Tensor& found_inf);

}  // namespace optimizers
