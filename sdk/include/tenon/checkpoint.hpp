// A training that can be taken up where it was: model, optimizer, scaler, schedule, loader, random
// numbers and the step in one file, and a folder of the last few of these. tenon.hpp does not include
// it.
//
//   Checkpoint checkpoint{.model = model, .optimizer = optimizer, .schedule = schedule};
//   CheckpointFolder folder("run", {.keep = 3});
//   for (int64_t step = folder.resume(checkpoint); step < steps; ++step) {
//     ...
//     if ((step + 1) % 100 == 0) folder.save(checkpoint, step + 1);
//   }
//
// A training that goes on from a checkpoint gives the bits of one that was never interrupted. Files
// are in the safetensors format, and each is there whole or not at all, whenever the process is killed.
#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <concepts>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/amp.hpp"
#include "tenon/disk.hpp"
#include "tenon/io.hpp"
#include "tenon/messages.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/optim.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// What has named tensors as its state. Handles of objects are kept; of others, as a GradScaler or a
// DataLoader, the address, so they have to outlive this.
class CheckpointPart {
 public:
  CheckpointPart() = default;
  template <typename T>
  requires std::is_base_of_v<Object, T> CheckpointPart(const T& object) {
    if (!object.defined()) return;
    get_ = [object] { return object.state_dict(); };
    set_ = [object](const NamedTensors& state) { object.load_state_dict(state); };
  }
  template <typename T>
  requires requires(T& x, const NamedTensors& state) {
    { x.state_dict() } -> std::convertible_to<NamedTensors>;
    x.load_state_dict(state);
  } &&(!std::is_base_of_v<Object, T>)CheckpointPart(T& x)
      : get_([&x] { return x.state_dict(); }),
        set_([&x](const NamedTensors& state) { x.load_state_dict(state); }) {
  }
  CheckpointPart(GradScaler& scaler)
      : get_([&scaler] {
          const auto state = scaler.state();
          return NamedTensors{{"scale", Tensor::from<double>({state.scale}, Ints())},
                              {"good_steps", Tensor::from<int64_t>({state.good_steps}, Ints())}};
        }),
        set_([&scaler](const NamedTensors& state) {
          scaler.load_state({scaler_entry(state, "scale").item<double>(),
                             scaler_entry(state, "good_steps").item<int64_t>()});
        }) {}

  bool defined() const { return get_ != nullptr; }
  NamedTensors get() const { return get_(); }
  void set(const NamedTensors& state) const { set_(state); }

 private:
  static Tensor scaler_entry(const NamedTensors& state, const char* name) {
    for (const auto& [key, tensor] : state) {
      if (key == name) return tensor;
    }
    fail(joined({"'", name, "' is missing in the state of a GradScaler"}));
  }
  std::function<NamedTensors()> get_;
  std::function<void(const NamedTensors&)> set_;
};

}  // namespace detail

// What a training is made of; parts that are not given are not saved. The model and the optimizer are
// handles; the other parts have to outlive this. Any class with `NamedTensors state_dict()` and
// `load_state_dict(NamedTensors)` is one. Not thread-safe.
struct Checkpoint {
  Object model = {};
  detail::CheckpointPart optimizer = {}, scaler = {}, schedule = {}, loader = {};
  // Others, by name: a second optimizer, weights on average.
  std::vector<std::pair<std::string, detail::CheckpointPart>> more = {};
  bool rng = true;  // the state of the process's random numbers

  // Writes the file, with the number of the step. Waits for the devices.
  void save(const std::string& path, int64_t step = 0) const {
    if (step < 0) {
      fail(tenon::detail::joined(
          {"Checkpoint: step is ", std::to_string(step), ", expected 0 or more"}));
    }
    NamedTensors all = {{"step", Tensor::from<int64_t>({step}, Ints())}};
    if (rng) {
      const RandomState state = random_state();
      all.emplace_back("rng", Tensor::from<int64_t>({std::bit_cast<int64_t>(state.seed),
                                                     std::bit_cast<int64_t>(state.offset)}));
    }
    for (const auto& [name, part] : parts()) {
      for (auto& [key, tensor] : part.get()) all.emplace_back(name + "." + key, tensor);
    }
    tenon::save(all, path);
  }

  // Sets all parts as they were, and gives the step. Where an Error is thrown, which says the part,
  // everything is as before. What the file has of parts that are not given here is left.
  int64_t load(const std::string& path) const { return load_of(path, -1); }
  // The same, where the file has to be of this step; -1: of any.
  int64_t load_of(const std::string& path, int64_t expected) const {
    const NamedTensors all = tenon::load(path);
    const Tensor step = entry(path, all, "step", 1);
    if (const auto at = step.item<int64_t>(); at < 0) {
      fail(detail::joined(
          {messages::printable(path), ": step is ", std::to_string(at), ", expected 0 or more"}));
    } else if (expected >= 0 && at != expected) {
      fail(detail::joined({messages::printable(path), ": step is ", std::to_string(at),
                           ", expected ", std::to_string(expected), ", which its name says"}));
    }
    const Tensor random = rng ? entry(path, all, "rng", 2) : Tensor();
    const auto given = parts();
    std::vector<NamedTensors> before;
    for (const auto& [name, part] : given) before.push_back(copied(part.get()));
    size_t done = 0;
    const auto restore = [&] {
      for (size_t i = 0; i <= done; ++i) {
        try {
          given[i].second.set(before[i]);
        } catch (...) {
          // The error that is told is the first one.
        }
      }
    };
    const auto refuse = [&](const char* what, tn_code code) {
      restore();
      fail(detail::joined({messages::printable(path), ": ", given[done].first, ": ", what}), code);
    };
    try {
      for (; done < given.size(); ++done) {
        const NamedTensors state = part_of(all, given[done].first);
        if (state.empty() && !before[done].empty()) fail("the file has nothing of it");
        given[done].second.set(state);
      }
    } catch (const Error& error) {
      refuse(error.what(), error.code());
    } catch (const std::bad_alloc&) {
      refuse("out of memory", TN_OUT_OF_MEMORY);
    } catch (const std::exception& error) {  // of a part of the program's own
      refuse(error.what(), TN_EXCEPTION);
    } catch (...) {
      restore();
      throw;
    }
    if (rng) {
      const auto state = random.to_vector<int64_t>();
      set_random_state({std::bit_cast<uint64_t>(state[0]), std::bit_cast<uint64_t>(state[1])});
    }
    return step.item<int64_t>();
  }

 private:
  std::vector<std::pair<std::string, detail::CheckpointPart>> parts() const {
    std::vector<std::pair<std::string, detail::CheckpointPart>> list;
    const std::pair<const char*, detail::CheckpointPart> named[] = {{"model", model},
                                                                    {"optimizer", optimizer},
                                                                    {"scaler", scaler},
                                                                    {"schedule", schedule},
                                                                    {"loader", loader}};
    for (const auto& [name, part] : named) {
      if (part.defined()) list.emplace_back(name, part);
    }
    for (const auto& [name, part] : more) {
      const auto same = [&name = name](const auto& other) { return other.first == name; };
      if (name.empty() || name.find('.') != name.npos || name == "step" || name == "rng" ||
          std::any_of(list.begin(), list.end(), same)) {
        fail(detail::joined({"Checkpoint: '", messages::printable(name),
                             "' is no name of a part: it is empty, has a point, or is taken"}));
      }
      if (part.defined()) list.emplace_back(name, part);
    }
    return list;
  }
  // Of what writes in place a copy is kept.
  static NamedTensors copied(NamedTensors state) {
    for (auto& [name, tensor] : state) tensor = tensor.detach().to(cpu).clone();
    return state;
  }
  static NamedTensors part_of(const NamedTensors& all, const std::string& name) {
    NamedTensors state;
    for (const auto& [key, tensor] : all) {
      if (key.starts_with(name + ".")) state.emplace_back(key.substr(name.size() + 1), tensor);
    }
    return state;
  }
  static Tensor entry(const std::string& path, const NamedTensors& all, const char* name,
                      int64_t elements) {
    for (const auto& [key, tensor] : all) {
      if (key == name && tensor.dtype() == int64 && tensor.numel() == elements) return tensor;
    }
    fail(detail::joined({messages::printable(path), ": is no checkpoint: it has no '", name,
                         "' of ", std::to_string(elements), " int64"}));
  }
};

struct CheckpointFolderOptions {
  int64_t keep = 3;  // the last ones; 0: all
};

// Files checkpoint-STEP.safetensors of a folder, which is made with the first one.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path, CheckpointFolderOptions options = {})
      : path_(std::move(path)), options_(options) {
    if (options.keep < 0) {
      fail(detail::joined(
          {"CheckpointFolder: keep is ", std::to_string(options.keep), ", expected 0 or more"}));
    }
  }

  // Writes that of the step, then removes those before the last `keep`, of whatever run.
  void save(const Checkpoint& checkpoint, int64_t step) const {
    if (step < 0) {
      fail(detail::joined(
          {"CheckpointFolder: step is ", std::to_string(step), ", expected 0 or more"}));
    }
    std::error_code failed;
    std::filesystem::create_directories(path_, failed);
    if (failed) {
      fail(detail::joined(
          {messages::printable(path_), ": the folder cannot be made: ", failed.message()}));
    }
    checkpoint.save(file_of(step), step);
    if (options_.keep == 0) return;
    std::vector<int64_t> all = steps();
    // The one just written stays, also where later ones of another run are there.
    std::erase(all, step);
    while (static_cast<int64_t>(all.size()) >= options_.keep) {
      std::filesystem::remove(file_of(all.front()), failed);
      all.erase(all.begin());
    }
  }
  // Loads the newest, if there is one, and gives its step; 0: there is none. An Error of one that
  // cannot be read, or does not fit, says which older one there is: that is a choice of the program's
  // user, who loses steps by it, and so is never taken silently.
  int64_t resume(const Checkpoint& checkpoint) const {
    const std::vector<int64_t> all = steps();
    if (all.empty()) return 0;
    try {
      return load(checkpoint, all.back());
    } catch (const Error& error) {
      if (all.size() == 1) throw;
      fail(detail::joined({error.what(), "\n  without it resume takes that of step ",
                           std::to_string(all[all.size() - 2])}),
           error.code());
    }
  }
  // That of a step, which is there. An Error where the file has another step than its name: then
  // nothing is loaded.
  int64_t load(const Checkpoint& checkpoint, int64_t step) const {
    return checkpoint.load_of(file_of(step), step);
  }
  std::optional<std::string> newest() const {
    const std::vector<int64_t> all = steps();
    return all.empty() ? std::nullopt : std::optional(file_of(all.back()));
  }
  // Of the checkpoints that are there, in order; of what has such a name and cannot be read, too.
  std::vector<int64_t> steps() const {
    std::vector<int64_t> found;
    std::vector<std::string> names;
    const int failed = disk::names_in(path_, names);
    // A folder that is not there has none.
    if (failed != 0 && failed != ENOENT) {
      fail(detail::joined({messages::printable(path_), ": the folder cannot be read: ",
                           std::generic_category().message(failed)}),
           disk::code_of(failed));
    }
    for (const std::string& name : names) {
      if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
      const std::string digits =
          name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
      std::error_code not_there;
      if (digits.empty() || digits.size() > 18 ||
          digits.find_first_not_of("0123456789") != digits.npos ||
          (digits[0] == '0' && digits.size() > 1) ||
          std::filesystem::is_directory(std::filesystem::path(path_) / name, not_there))
        continue;
      found.push_back(std::stoll(digits));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  static constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";
  std::string file_of(int64_t step) const {
    return (std::filesystem::path(path_) /
            (std::string(kPrefix) + std::to_string(step) + std::string(kSuffix)))
        .string();
  }

  std::string path_;
  CheckpointFolderOptions options_;
};

}  // namespace v0
}  // namespace tenon
