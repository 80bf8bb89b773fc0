#include "state.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace optimizers {

static void check_number(const std::string& option, double value, double most) {
  if (value >= 0 && value <= most) return;
  fail(option + " is " + detail::number_text(value) + ", expected " +
       (most == 1 ? "0 to 1" : "at least 0"));
}
static void expect_number(Object& self, const std::string& option, double value, double most) {
  check_number(option, value, most);
  const std::string schema = "check_" + option + "(float " + option + ") -> ()";
  self.method(schema.c_str(),
              [option, most](Object&, double later) { check_number(option, later, most); });
}

void expect_not_negative(Object& self, const char* option, double value) {
  expect_number(self, option, value, INFINITY);
}

void expect_part(Object& self, const char* option, double value) {
  expect_number(self, option, value, 1);
}

static void check_betas(const Floats& betas) {
  bool fit = betas.size() == 2;
  for (const double beta : betas) fit = fit && beta >= 0 && beta < 1;
  if (fit) return;
  std::string found;
  for (const double beta : betas) found += (found.empty() ? "" : ", ") + detail::number_text(beta);
  fail("betas is [" + found + "], expected two numbers, each at least 0 and below 1");
}

// A step does not look at them: a recorded one would not.
void expect_betas(Object& self, const Floats& betas) {
  check_betas(betas);
  self.method("check_betas(float[] betas) -> ()",
              [](Object&, Floats later) { check_betas(later); });
}

void refuse_row_sparse(const Tensor& gradient, const char* who) {
  fail("a gradient of " + sizes_text(gradient) + " is row-sparse, which " + who +
       " not take; SparseAdam, Adagrad without weight_decay, and SGD without momentum and "
       "weight_decay take it");
}

double group_value(const Object& optimizer, uint32_t group, const char* name) {
  const Tensor holder = group_number(optimizer, group, name);
  return *static_cast<const double*>(holder.get()->data);
}

void expect_momentum(Object& optimizer, double value) {
  check_number("momentum", value, INFINITY);
  optimizer.method("check_momentum(float momentum) -> ()", [](Object& self, double later) {
    check_number("momentum", later, INFINITY);
    // Recorded functions lean on the optimizer's children.
    if (later == 0) self.child("state", self.get_submodule("state"));
  });
}

// The option itself, once it is read, is a constant of what is recorded.
Momentum momentum_of(const Object& optimizer, uint32_t group) {
  if (group_value(optimizer, group, "momentum") != 0)
    return {true, group_number(optimizer, group, "momentum")};
  return {group_option<double>(optimizer, group, "momentum") != 0, {}};
}

void expect_state(const std::string& path, const Tensor& value, const Sizes& expected,
                  const std::string& whose) {
  const Ints given = value.sizes();
  const bool same = std::equal(given.begin(), given.end(), expected.begin(), expected.end());
  if (same || (expected.empty() && value.numel() == 1)) return;
  fail("'" + path + "' is " + sizes_text(given) + " in the state_dict, expected " +
       sizes_text(expected) + " for " + whose);
}

States::States(Object& optimizer, std::vector<Entry> entries)
    : state_(Object::empty("State", TN_OBJECT_OTHER)), entries_(std::move(entries)) {
  optimizer.child("state", state_);
}

void States::add_group(Object& optimizer, uint32_t group) {
  for (const Tensor& parameter : group_parameters(optimizer, group)) {
    Object entries = Object::empty("State", TN_OBJECT_OTHER);
    for (const Entry& entry : entries_) entries.set(entry.name, Tensor(), TN_ENTRY_STATE);
    sizes_.emplace_back(parameter.sizes().begin(), parameter.sizes().end());
    state_.child(std::to_string(parameters_.size()).c_str(), entries);
    parameters_.push_back(std::move(entries));
  }
}

void States::expect_sizes(const std::string& path, const Tensor& value) const {
  constexpr std::string_view kState = "state.";
  size_t i = sizes_.size();
  const char* const end = path.data() + path.size();
  const char* name = end;
  if (path.starts_with(kState)) name = std::from_chars(path.data() + kState.size(), end, i).ptr;
  if (i >= sizes_.size() || name == end || *name++ != '.') return;
  for (const Entry& entry : entries_) {
    if (std::string_view(name, size_t(end - name)) != entry.name) continue;
    expect_state(path, value, entry.sizes(sizes_[i]),
                 "parameter " + std::to_string(i) + ", which is " + sizes_text(sizes_[i]));
  }
}

Tensor States::get(size_t parameter, const char* name, const Tensor& like, Dtype dtype) const {
  if (!dtype) dtype = like.dtype();
  Tensor value = parameters_[parameter].tensor(name);
  if (value.defined() && (value.device() != like.device() || value.dtype() != dtype)) {
    value = value.to(like.device(), dtype);
    set(parameter, name, value);
  }
  return value;
}

std::shared_ptr<States> make_states(Object& optimizer, std::vector<Entry> entries) {
  auto states = std::make_shared<States>(optimizer, std::move(entries));
  optimizer.method(
      "accepts_state(str path, Tensor value) -> ()",
      [states](Object&, std::string path, Tensor value) { states->expect_sizes(path, value); });
  optimizer.method("group_added(int index) -> ()", [states](Object& self, int64_t index) {
    states->add_group(self, uint32_t(index));
  });
  return states;
}

void add_parameters(Object& optimizer, const Tensors& parameters) {
  check(detail::api.object->add_group(optimizer.get(), parameters.data(), parameters.size(),
                                      nullptr, nullptr, 0));
}

std::vector<Tensor> group_parameters(const Object& optimizer, uint32_t group) {
  tn_tensor* const* tensors = nullptr;
  uint32_t n = 0;
  check(detail::api.object->group(optimizer.get(), group, &tensors, &n));
  return Tensors(tensors, n).to_vector();
}

Batch& Batches::of(Device device, int64_t key) {
  for (Batch& batch : batches_) {
    if (batch.device == device && batch.key == key) return batch;
  }
  return batches_.emplace_back(Batch{device, key, {}, {}, {}, {}});
}

std::vector<Batches> collect(const Object& optimizer, const States& states, const SlotsOf& slots,
                             int64_t (*key)(const Tensor& parameter)) {
  std::vector<Batches> groups;
  size_t index = 0;  // over all groups
  for (uint32_t group = 0; group < detail::api.object->n_groups(optimizer.get()); ++group) {
    Batches& batches = groups.emplace_back();
    const double lr = group_value(optimizer, group, "lr");
    for (const Tensor& parameter : group_parameters(optimizer, group)) {
      const size_t i = index++;
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.is_row_sparse())
        refuse_row_sparse(gradient, (optimizer.type_name() + " does").c_str());
      Batch& batch = batches.of(parameter.device(), key ? key(parameter) : 0);
      batch.parameters.push_back(parameter);
      batch.gradients.push_back(gradient);
      size_t list = 0;
      for (const Slot& slot : slots(group, parameter)) {
        std::vector<Tensor>& states_of_batch = batch.states[list++];
        if (!slot.name) continue;
        Tensor state = states.get(i, slot.name, parameter, Dtype{slot.dtype});
        if (!state.defined()) states.set(i, slot.name, state = slot.make(parameter, lr));
        states_of_batch.push_back(std::move(state));
      }
    }
  }
  return groups;
}

std::vector<Batches> collect(const Object& optimizer, const States& states,
                             std::initializer_list<Slot> slots) {
  return collect(optimizer, states,
                 [&](uint32_t, const Tensor&) { return std::vector<Slot>(slots); });
}

void give_step(Object& optimizer, const Tensors& parameters, std::initializer_list<Slot> slots,
               Step step) {
  std::vector<Entry> entries;
  for (const Slot& slot : slots) entries.push_back({slot.name, slot.sizes});
  auto states = make_states(optimizer, std::move(entries));
  optimizer.method(
      "step(Tensor? found_inf=None) -> ()",
      [states, step](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
  add_parameters(optimizer, parameters);
}

void begin_at(const std::vector<Tensor>& states, const std::vector<Tensor>& counts,
              const Tensor& lr, const Tensor& found_inf) {
  if (!found_inf.defined()) return;
  for (size_t i = 0; i < states.size(); ++i)
    detail::call<Tensor>(detail::op<"_begin_at_">, {states[i], counts[i], dynamic(lr)});
}

Tensor found_inf_on(Device device, const Tensor& found_inf) {
  return found_inf.defined() ? found_inf.to(device) : Tensor();
}

}  // namespace optimizers
