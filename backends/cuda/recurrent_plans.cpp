#include "recurrent_plans.h"

#include <list>
#include <string_view>
#include <unordered_map>

namespace cuda {
namespace {

// Of all devices. A program has as many shapes as layers and lengths, and packed sequences may have new
// lengths in each batch, so not all can stay.
constexpr size_t kMostPlans = 256;

struct Kept {
  using Plans = std::list<std::pair<const std::string, std::shared_ptr<RecurrentPlan>>>;

  std::mutex mutex;
  Plans plans;                                                   // what was used last is in front
  std::unordered_map<std::string_view, Plans::iterator> places;  // by the keys of the list
};
auto& kept = *new Kept;

// The bytes of all that decides a plan.
std::string key_of(int32_t index, const Recurrent& of) {
  const int32_t parts[] = {index,       of.mode,   of.type,  of.has_biases, of.is_exact,
                           of.features, of.hidden, of.width, of.steps,      of.n};
  std::string key(reinterpret_cast<const char*>(parts), sizeof parts);
  key.append(reinterpret_cast<const char*>(of.lengths.data()), of.lengths.size() * sizeof(int32_t));
  return key;
}

std::shared_ptr<RecurrentPlan> make(cudnnHandle_t handle, const Recurrent& of, std::string* why) {
  auto plan = std::make_shared<RecurrentPlan>(of);
  Checks checks = plan->d.checks();
  plan->inference = plan->d.find_sizes(handle, /*is_training=*/false, &checks);
  plan->training = plan->d.find_sizes(handle, /*is_training=*/true, &checks);
  if (checks.is_whole()) return plan;
  *why = checks.why();
  return nullptr;
}

}  // namespace

std::shared_ptr<RecurrentPlan> find_recurrent(int32_t index, cudnnHandle_t handle,
                                              const Recurrent& of, std::string* why) {
  std::string key = key_of(index, of);
  const std::lock_guard lock(kept.mutex);
  if (const auto found = kept.places.find(key); found != kept.places.end()) {
    kept.plans.splice(kept.plans.begin(), kept.plans, found->second);
    return found->second->second;
  }
  std::shared_ptr<RecurrentPlan> plan = make(handle, of, why);
  if (!plan) return nullptr;
  if (kept.plans.size() == kMostPlans) {
    kept.places.erase(kept.plans.back().first);
    kept.plans.pop_back();
  }
  Kept::Plans made;
  made.emplace_front(std::move(key), plan);
  kept.places.emplace(made.front().first, made.begin());
  kept.plans.splice(kept.plans.begin(), made);
  return plan;
}

}  // namespace cuda
