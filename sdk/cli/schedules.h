// The field "schedule" of a training file: learning rates by name, made with the library's schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tenon/optim.hpp>

#include "json.h"

namespace tenon::cli {

// The learning rates: a schedule of so many steps. Without one the optimizer's options stay as they
// are.
using MakeSchedule = std::function<optim::Schedule(int64_t steps)>;
struct ScheduleConfig {
  int line = 0;
  MakeSchedule make;
  std::optional<optim::ReduceLROnPlateauOptions> plateau;  // instead of `make`

  bool changes_rates() const { return make != nullptr || plateau.has_value(); }
};

// Throws a tenon::Error with file and line.
ScheduleConfig read_schedule(const std::string& file, const JsonMember& member);

// What goes by the mean loss of each line of the result, where the file wants it. Its state has the
// losses since the last line, too, so that a training that goes on decides the same.
class Plateau {
 public:
  Plateau(const ScheduleConfig& config, const optim::Optimizer& optimizer) {
    if (config.plateau) scheduler_.emplace(optimizer, *config.plateau);
  }
  bool defined() const { return scheduler_.has_value(); }

  // After each step: its loss, a mean over so many items. It is read later.
  void add(const Tensor& loss, int64_t items) {
    if (scheduler_) unread_.emplace_back(loss, items);
  }
  void end_line();

  // Of one that is defined.
  NamedTensors state_dict();
  void load_state_dict(const NamedTensors& state);

 private:
  void read();

  std::optional<optim::ReduceLROnPlateau> scheduler_;
  std::vector<std::pair<Tensor, int64_t>> unread_;
  double sum_ = 0;
  int64_t items_ = 0;
};

}  // namespace tenon::cli
