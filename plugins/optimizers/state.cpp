#include "state.h"

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

std::string sizes_text(const Tensor& t) {
  std::string sizes;
  for (const int64_t size : t.sizes()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return "[" + sizes + "]";
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

States::States(Object& optimizer, std::vector<const char*> names)
    : state_(Object::empty("State", TN_OBJECT_OTHER)), names_(std::move(names)) {
  optimizer.child("state", state_);
}

void States::add_group(Object& optimizer, uint32_t group) {
  for (size_t n = group_parameters(optimizer, group).size(); n > 0; --n) {
    Object entries = Object::empty("State", TN_OBJECT_OTHER);
    for (const char* name : names_) entries.set(name, Tensor(), TN_ENTRY_STATE);
    state_.child(std::to_string(parameters_.size()).c_str(), entries);
    parameters_.push_back(std::move(entries));
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

std::shared_ptr<States> make_states(Object& optimizer, std::vector<const char*> names) {
  auto states = std::make_shared<States>(optimizer, std::move(names));
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
        Tensor state = states.get(i, slot.name, parameter, Dtype(slot.dtype));
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
  std::vector<const char*> names;
  for (const Slot& slot : slots) names.push_back(slot.name);
  auto states = make_states(optimizer, std::move(names));
  optimizer.method(
      "step(Tensor? found_inf=None) -> ()",
      [states, step](Object& self, Tensor found_inf) { step(self, *states, found_inf); });
  add_parameters(optimizer, parameters);
}

Tensor found_inf_on(Device device, const Tensor& found_inf) {
  return found_inf.defined() ? found_inf.to(device) : Tensor();
}

}  // namespace optimizers
