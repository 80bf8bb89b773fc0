// The field "schedule" of a training file: learning rates by name, made with the library's schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <tenon/optim.hpp>

#include "json.h"

namespace tenon::cli {

// The learning rates: a schedule of so many steps. Without one the optimizer's options stay as they
// are.
using MakeSchedule = std::function<optim::Schedule(int64_t steps)>;
struct ScheduleConfig {
  int line = 0;
  std::string text = "none";  // the whole of it
  MakeSchedule make;
  std::optional<optim::ReduceLROnPlateauOptions> plateau;  // instead of `make`

  bool changes_rates() const { return make != nullptr || plateau.has_value(); }
};

// Throws a tenon::Error with file and line.
ScheduleConfig read_schedule(const std::string& file, const JsonMember& member);

}  // namespace tenon::cli
