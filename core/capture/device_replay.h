// A compiled function as one graph of its device, where the device has the graph slots: a replay is
// one launch, and a copy for each argument and each result. What the function does on the cpu, as
// with numbers for the device, comes first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/graph.h"

namespace tenon {

class DeviceReplay {
 public:
  // NULL: it has calls that no graph of a device takes, or no device.
  static std::unique_ptr<DeviceReplay> of(const LaunchGraph& graph);
  ~DeviceReplay();
  DeviceReplay(const DeviceReplay&) = delete;

  // As LaunchGraph::replay. `captured` says whether there is a graph of the device: without, nothing
  // has happened, and the calls can be launched one by one.
  [[nodiscard]] Status replay(LaunchGraph& graph, std::span<tn_tensor* const> arguments,
                              std::span<tn_tensor*> given, bool* captured);
  tn_device device() const { return device_; }

 private:
  // Seeds, offsets and numbers that change, as the work finds them on the device.
  struct Live {
    tn_tensor tensor;
    int64_t size, stride;
  };

  explicit DeviceReplay(tn_device device) : device_(device) {}
  // Bytes of a storage in which the arguments of the call lie.
  struct Span {
    uint64_t begin, end;
  };
  static Span span_of(const GraphStorage& s, std::span<tn_tensor* const> arguments);
  bool is_here(const Step& step) const;
  Status take_memory(LaunchGraph& graph, std::span<tn_tensor* const> arguments);
  Status copy_arguments(const LaunchGraph& graph, std::span<tn_tensor* const> arguments,
                        bool back) const;
  std::vector<const void*> addresses(const LaunchGraph& graph) const;
  Status take_own_memory(const LaunchGraph& graph);
  Status capture(LaunchGraph& graph);
  Status record_steps(LaunchGraph& graph);
  Live& live(uint64_t count, tn_dtype dtype);
  void attach_live(LaunchGraph& graph);
  void detach_live(LaunchGraph& graph);
  Status run_on_host(LaunchGraph& graph, const RandomState& random);
  Status upload(LaunchGraph& graph, const RandomState& random);
  Status order(const LaunchGraph& graph, Stream* stream) const;
  Status leave(LaunchGraph& graph, std::span<tn_tensor*> given);
  void destroy();

  const tn_device device_;
  struct DeviceGraph* handle_ = nullptr;
  std::vector<const void*> captured_at_;  // of each storage, then
  std::vector<StorageRef> inputs_;        // of each argument's storage: where it is copied to
  std::vector<StorageRef> constants_;     // of each write and upload of the list
  std::vector<uint64_t> block_;           // on the host, and on the device
  StorageRef device_block_;
  std::deque<Live> live_;
};

}  // namespace tenon
