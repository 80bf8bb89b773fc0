#include "cudnn_plans.h"

#include <atomic>
#include <map>
#include <vector>

#include "disk_cache.h"
#include "recent.h"

namespace cuda {
namespace {

std::mutex handles_mutex;
auto& free_handles = *new std::map<int32_t, std::vector<cudnnHandle_t>>;  // by device

// The handles of a thread; when it ends, another thread takes them. None is ever destroyed: that
// would call the driver where the process may be ending.
struct ThreadHandles {
  std::map<int32_t, cudnnHandle_t> held;

  ~ThreadHandles() {
    const std::lock_guard lock(handles_mutex);
    for (const auto& [index, handle] : held) free_handles[index].push_back(handle);
  }
};
thread_local ThreadHandles thread_handles;

constexpr int kMostSearches = 8;  // what has not passed by then is taken to stay
struct Found {
  std::shared_ptr<Plan> plan;
  std::string why;
  int searches_left = kMostSearches;
};
// A program has some plans for each of its layers; what has ever new shapes would fill the memory.
constexpr size_t kMostPlans = 1024;
struct Plans : Recent<Found> {
  Plans() : Recent(kMostPlans) {}
};
std::mutex plans_mutex;
auto& plans = *new std::map<int32_t, Plans>;  // by device

// Takes what a thread that ended has left, or makes one.
tn_status* make_handle(int32_t index, cudnnHandle_t* handle) {
  {
    const std::lock_guard lock(handles_mutex);
    std::vector<cudnnHandle_t>& unused = free_handles[index];
    if (!unused.empty()) {
      *handle = unused.back();
      unused.pop_back();
      return nullptr;
    }
  }
  const cudnnStatus_t result = with_room(index, [&] { return cudnn.cudnnCreate(handle); });
  if (result == CUDNN_STATUS_SUCCESS) return nullptr;
  const std::string why = "cuDNN failed: " + cudnn_words("cudnnCreate", result);
  static std::atomic<bool> is_said = false;
  if (!is_said.exchange(true)) log_no_cudnn(why);
  return error(host, lacks_memory(result) ? TN_OUT_OF_MEMORY : TN_UNSUPPORTED, "%s (%s:%d)",
               why.c_str(), kDeviceName, index);
}

// What a plan on the disk depends on beside its problem: heuristics know the GPU by its name, and parts
// of one have the same name and fewer multiprocessors. Empty: the driver does not say what
// the GPU is, so nothing is read or kept.
std::string device_key(int32_t index) {
  const Gpu* gpu = nullptr;
  if (tn_status* failure = find_gpu(index, &gpu)) {
    host->status_free(failure);
    return "";
  }
  char name[100] = "";
  if (driver.cuDeviceGetName(name, sizeof name, gpu->device) != CUDA_SUCCESS) return "";
  return "cudnn " + std::to_string(cudnn.cudnnGetVersion()) + " of CUDA " +
         std::to_string(cudnn.cudnnGetCudartVersion()) + "\n" + name + " " + gpu->architecture +
         " " + std::to_string(gpu->multiprocessors) + "\n";
}

// From the disk, where it is and still fits; else made, and kept there, but where a failure that may
// pass stood in the way of another one. That there is none is not kept there.
std::unique_ptr<Plan> find_or_make(int32_t index, const Target& target, const std::string& key,
                                   const MakePlan& make, Search* search) {
  const std::string of_device = device_key(index), disk_key = of_device + key;
  const bool may_keep = !of_device.empty();
  std::string json;
  if (may_keep && find_cached(disk_key, &json)) {
    if (std::unique_ptr<Plan> plan = Plan::read(json, target, search)) return plan;
  }
  std::unique_ptr<Plan> plan = make(target, search);
  json = plan && may_keep && !search->may_pass ? plan->json() : "";
  if (!json.empty()) keep_cached(disk_key, json);
  return plan;
}

}  // namespace

tn_status* find_cudnn(int32_t index, cudnnHandle_t* handle) {
  const std::string& why = why_no_cudnn();
  if (!why.empty()) return error(host, TN_NOT_FOUND, "%s", why.c_str());
  cudnnHandle_t& found = thread_handles.held[index];
  if (!found) TN_CUDA_TRY(make_handle(index, &found));
  *handle = found;
  return nullptr;
}

void prepare_cudnn(int32_t index) {
  cudnnHandle_t handle = nullptr;
  if (!is_cudnn_open()) return;
  if (tn_status* failure = find_cudnn(index, &handle)) host->status_free(failure);
}

std::shared_ptr<Plan> find_plan(int32_t index, std::string_view key, const MakePlan& make,
                                std::string* why) {
  Target target;
  if (tn_status* status = find_cudnn(index, &target.handle)) {
    *why = take_text(status);
    return nullptr;
  }
  const std::lock_guard lock(plans_mutex);
  Plans& of_device = plans[index];
  Found* const kept = of_device.find(key);
  Found& found = kept ? *kept : *of_device.add(std::string(key), {});
  if (!found.plan && found.searches_left > 0) {
    Search search;
    found.plan = find_or_make(index, target, std::string(key), make, &search);
    if (search.lacks_memory && empty_cache(index)) {
      search = {};
      found.plan = find_or_make(index, target, std::string(key), make, &search);
    }
    found.why = search.why;
    found.searches_left = search.may_pass ? found.searches_left - 1 : 0;
  }
  if (!found.plan) *why = found.why;
  return found.plan;
}

tn_status* execute(const tn_call* call, const Stream& stream, const char* op,
                   const std::shared_ptr<Plan>& plan, const GraphData& data) {
  cudnnHandle_t handle = nullptr;
  TN_CUDA_TRY(find_cudnn(stream.index, &handle));
  void* workspace = nullptr;
  if (plan->workspace > 0)
    TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(plan->workspace), &workspace));
  const cudnnStatus_t bound = cudnn.cudnnSetStream(handle, stream.handle);
  bool is_exhausted = lacks_memory(bound);
  std::string failure = bound == CUDNN_STATUS_SUCCESS
                            ? plan->execute(handle, data, workspace, &is_exhausted)
                            : cudnn_words("cudnnSetStream", bound);
  if (is_exhausted && bound == CUDNN_STATUS_SUCCESS && empty_cache(stream.index))
    failure = plan->execute(handle, data, workspace, &is_exhausted);
  if (failure.empty()) return hold(call->stream, plan), nullptr;
  return error(host, is_exhausted ? TN_OUT_OF_MEMORY : TN_INTERNAL, "%s: %s (%s:%d)", op,
               failure.c_str(), kDeviceName, stream.index);
}

}  // namespace cuda
