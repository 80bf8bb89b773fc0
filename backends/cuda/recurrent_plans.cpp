#include "recurrent_plans.h"

#include "recent.h"

namespace cuda {
namespace {

// Of all devices. A program has as many shapes as layers and lengths, and packed sequences may have new
// lengths in each batch, so not all can stay.
constexpr size_t kMostPlans = 256;

std::mutex plans_mutex;
auto& plans = *new Recent<std::shared_ptr<RecurrentPlan>>(kMostPlans);

// The bytes of all that decides a plan.
std::string key_of(int32_t index, const Recurrent& of) {
  const int32_t parts[] = {index,       of.mode,   of.type,  of.has_biases, of.is_exact,
                           of.features, of.hidden, of.width, of.steps,      of.n};
  std::string key(reinterpret_cast<const char*>(parts), sizeof parts);
  key.append(reinterpret_cast<const char*>(of.lengths.data()), of.lengths.size() * sizeof(int32_t));
  return key;
}

std::shared_ptr<RecurrentPlan> make(cudnnHandle_t handle, const Recurrent& of, Checks* checks) {
  auto plan = std::make_shared<RecurrentPlan>(of);
  *checks = plan->d.checks();
  plan->inference = plan->d.find_sizes(handle, /*is_training=*/false, checks);
  plan->training = plan->d.find_sizes(handle, /*is_training=*/true, checks);
  return checks->is_whole() ? plan : nullptr;
}

}  // namespace

std::shared_ptr<RecurrentPlan> find_recurrent(int32_t index, cudnnHandle_t handle,
                                              const Recurrent& of, Checks* checks) {
  std::string key = key_of(index, of);
  const std::lock_guard lock(plans_mutex);
  if (const std::shared_ptr<RecurrentPlan>* found = plans.find(key)) return *found;
  std::shared_ptr<RecurrentPlan> plan = make(handle, of, checks);
  return plan ? *plans.add(std::move(key), std::move(plan)) : nullptr;
}

}  // namespace cuda
