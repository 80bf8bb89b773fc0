#include "schedules.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "config.h"
#include "formula_schedule.h"
#include "text.h"

namespace tenon::cli {
namespace {

// An object of the file that describes a schedule.
struct Source {
  const std::string& file;
  const Json& value;
  std::string what;  // "schedule", or "schedule: schedules[1]" within another
  Fields fields;
  Source(const std::string& f, const Json& v, std::string w)
      : file(f), value(v), what(std::move(w)), fields(f, v, what) {}

  [[noreturn]] void fail(int line, const std::string& message) const {
    fail_at(file, line, fmt::format("{}: {}", what, message));
  }
  // A number of at least 0 and at most `most`.
  double from_zero(const char* name, double most, double absent) {
    const double given = fields.number(name, -kMostFloat, kMostFloat, absent);
    if (given >= 0 && given <= most) return given;
    fail(fields.require(name).line,
         fmt::format("{} is {}, expected a number from 0 to {}", name, given, most));
  }
  double required_positive(const char* name, double most) {
    fields.require(name);
    return fields.positive(name, most, 1);
  }
  // One of these texts, of which the first stands for none.
  std::string one_of(const char* name, const std::vector<std::string>& known) {
    if (fields.find(name) == nullptr) return known[0];
    std::string given = fields.string(name);
    if (std::ranges::find(known, given) != known.end()) return given;
    fail(fields.require(name).line,
         fmt::format("{} is '{}'{}, expected one of {}", name, printable(given),
                     did_you_mean(given, known), joined(known)));
  }
  std::vector<int64_t> milestones() {
    const JsonMember& member = fields.require("milestones");
    std::vector<int64_t> list;
    bool fits = member.value.kind == Json::Kind::kArray;
    for (const Json& item : member.value.items) {
      fits = fits && item.kind == Json::Kind::kInt && item.integer >= 0;
      list.push_back(item.integer);
    }
    if (!fits) fail(member.line, "milestones is a list of steps from 0, as [100, 200]");
    return list;
  }
};

// With the warm-up; for one that is `within` another, too.
MakeSchedule read_any(Source& source, bool within);

MakeSchedule read_constant(Source&) {
  return [](int64_t) { return optim::Schedule(); };
}

MakeSchedule read_step(Source& source) {
  const int64_t step_size = source.fields.integer("step_size", 1, kMostCounted);
  const double gamma = source.fields.positive("gamma", kMostFactor, 0.1);
  return [=](int64_t) { return optim::StepLR(step_size, gamma); };
}

MakeSchedule read_multi_step(Source& source) {
  const std::vector<int64_t> milestones = source.milestones();
  const double gamma = source.fields.positive("gamma", kMostFactor, 0.1);
  return [=](int64_t) { return optim::MultiStepLR(milestones, gamma); };
}

MakeSchedule read_exponential(Source& source) {
  const double gamma = source.required_positive("gamma", kMostFactor);
  return [=](int64_t) { return optim::ExponentialLR(gamma); };
}

MakeSchedule read_cosine(Source& source) {
  const double min_lr = source.from_zero("min_lr", kMostFactor, 0);
  return
      [=](int64_t steps) { return optim::CosineAnnealingLR(std::max<int64_t>(steps, 1), min_lr); };
}

MakeSchedule read_warm_restarts(Source& source) {
  const int64_t first = source.fields.integer("t_0", 1, kMostCounted);
  const int64_t factor = source.fields.integer("t_mult", 1, kMostCounted, 1);
  const double min_lr = source.from_zero("min_lr", kMostFactor, 0);
  return [=](int64_t) { return optim::CosineAnnealingWarmRestarts(first, factor, min_lr); };
}

// A rate of a cycle may be 0, but is there.
double required_rate(Source& source, const char* name) {
  source.fields.require(name);
  return source.from_zero(name, kMostFactor, 0);
}

MakeSchedule read_cyclic(Source& source) {
  const double low = required_rate(source, "base_lr"), high = required_rate(source, "max_lr");
  optim::CyclicLROptions options;
  options.step_size_up = source.fields.integer("step_size_up", 1, kMostCounted, 2000);
  options.step_size_down = source.fields.integer("step_size_down", 0, kMostCounted, 0);
  options.mode = source.one_of("mode", {"triangular", "triangular2", "exp_range"});
  options.gamma = source.fields.positive("gamma", kMostFactor, 1);
  options.cycle_momentum = source.fields.boolean("cycle_momentum", true);
  options.base_momentum = source.from_zero("base_momentum", 1, options.base_momentum);
  options.max_momentum = source.from_zero("max_momentum", 1, options.max_momentum);
  return [=](int64_t) { return optim::CyclicLR(low, high, options); };
}

MakeSchedule read_one_cycle(Source& source) {
  const double max_lr = source.required_positive("max_lr", kMostFactor);
  optim::OneCycleLROptions options;
  options.pct_start = source.from_zero("pct_start", 1, options.pct_start);
  options.anneal_strategy = source.one_of("anneal_strategy", {"cos", "linear"});
  options.cycle_momentum = source.fields.boolean("cycle_momentum", true);
  options.base_momentum = source.from_zero("base_momentum", 1, options.base_momentum);
  options.max_momentum = source.from_zero("max_momentum", 1, options.max_momentum);
  options.div_factor = source.fields.positive("div_factor", kMostFactor, options.div_factor);
  options.final_div_factor =
      source.fields.positive("final_div_factor", kMostFactor, options.final_div_factor);
  options.three_phase = source.fields.boolean("three_phase", false);
  return [=](int64_t steps) {
    return optim::OneCycleLR(max_lr, std::max<int64_t>(steps, 1), options);
  };
}

MakeSchedule read_linear(Source& source) {
  const double first = source.fields.positive("start_factor", 1, 1);
  const double last = source.from_zero("end_factor", 1, 0);
  return [=](int64_t steps) {
    return optim::LinearLR(
        {.start_factor = first, .end_factor = last, .total_iters = std::max<int64_t>(steps, 1)});
  };
}

MakeSchedule read_polynomial(Source& source) {
  const double power = source.from_zero("power", kMostFactor, 1);
  return [=](int64_t steps) {
    return optim::PolynomialLR({.total_iters = std::max<int64_t>(steps, 1), .power = power});
  };
}

MakeSchedule read_function(Source& source) {
  const std::string formula = source.fields.string("rate");
  try {
    const FormulaSchedule schedule(formula);
    return [=](int64_t steps) { return optim::Schedule(schedule.of(steps)); };
  } catch (const Error& error) {
    source.fail(source.fields.require("rate").line, error.what());
  }
}

// The schedules of which another is made.
class Parts {
 public:
  explicit Parts(Source& source) {
    const JsonMember& member = source.fields.require("schedules");
    if (member.value.kind != Json::Kind::kArray || member.value.items.empty())
      source.fail(member.line, "schedules is a list of schedules, each an object as this one");
    for (const Json& item : member.value.items) {
      Source part(source.file, item, fmt::format("{}: schedules[{}]", source.what, list_.size()));
      list_.push_back(read_any(part, /*within=*/true));
      part.fields.finish();
    }
  }
  size_t size() const { return list_.size(); }
  // Made for so many steps; what refuses it says which it is.
  optim::Schedule make(size_t i, int64_t steps) const {
    try {
      return list_[i](steps);
    } catch (const Error& error) {
      tenon::fail(fmt::format("schedules[{}]: {}", i, error.what()));
    }
  }

 private:
  std::vector<MakeSchedule> list_;
};

MakeSchedule read_chained(Source& source) {
  const Parts parts(source);
  return [=](int64_t steps) {
    std::vector<optim::Schedule> list;
    for (size_t i = 0; i < parts.size(); ++i) list.push_back(parts.make(i, steps));
    return optim::ChainedScheduler(std::move(list));
  };
}

// Each is of the steps up to the next milestone, and the last of the rest.
MakeSchedule read_sequential(Source& source) {
  const Parts parts(source);
  const std::vector<int64_t> milestones = source.milestones();
  if (milestones.size() + 1 != parts.size() || !std::ranges::is_sorted(milestones)) {
    source.fail(source.fields.require("milestones").line,
                fmt::format("milestones is [{}], expected the steps at which the second of the {} "
                            "schedules begins, and so on",
                            fmt::join(milestones, ", "), parts.size()));
  }
  return [=](int64_t steps) {
    std::vector<optim::Schedule> list;
    int64_t begin = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t end = i < milestones.size() ? milestones[i] : steps;
      list.push_back(parts.make(i, end - begin));
      begin = end;
    }
    return optim::SequentialLR(std::move(list), milestones);
  };
}

optim::ReduceLROnPlateauOptions read_plateau(Source& source) {
  Fields& fields = source.fields;
  optim::ReduceLROnPlateauOptions options;
  options.factor = fields.number("factor", -kMostFloat, kMostFloat, 0.1);
  if (!(options.factor > 0 && options.factor < 1)) {
    source.fail(
        fields.require("factor").line,
        fmt::format("factor is {}, expected more than 0 and below 1", double(options.factor)));
  }
  options.patience = fields.integer("patience", 0, kMostCounted, 10);
  options.threshold = source.from_zero("threshold", kMostFactor, 1e-4);
  options.cooldown = fields.integer("cooldown", 0, kMostCounted, 0);
  options.min_lr = source.from_zero("min_lr", kMostFactor, 0);
  return options;
}

struct ScheduleKind {
  const char* name;
  // From the steps that the warm-up leaves to the schedule of these; NULL: the plateau.
  MakeSchedule (*read)(Source& source);
};
constexpr ScheduleKind kScheduleKinds[] = {
    {"constant", read_constant},       {"step", read_step},
    {"cosine", read_cosine},           {"multi_step", read_multi_step},
    {"exponential", read_exponential}, {"warm_restarts", read_warm_restarts},
    {"one_cycle", read_one_cycle},     {"cyclic", read_cyclic},
    {"linear", read_linear},           {"polynomial", read_polynomial},
    {"function", read_function},       {"chained", read_chained},
    {"sequential", read_sequential},   {"plateau", nullptr},
};

MakeSchedule read_any(Source& source, bool within) {
  const std::string name = source.fields.string("schedule");
  std::vector<std::string> names;
  for (const ScheduleKind& kind : kScheduleKinds)
    if (!within || kind.read != nullptr) names.emplace_back(kind.name);
  const auto found = std::ranges::find(kScheduleKinds, name, &ScheduleKind::name);
  const int line = source.fields.require("schedule").line;
  if (found == std::end(kScheduleKinds)) {
    source.fail(line, fmt::format("there is no '{}'{} (known are {})", printable(name),
                                  did_you_mean(name, names), joined(names)));
  }
  if (found->read == nullptr) {
    if (!within) return {};
    source.fail(line, fmt::format("a plateau goes by the loss and stands alone, expected one of {}",
                                  joined(names)));
  }
  const int64_t warmup = source.fields.integer("warmup_steps", 0, kMostCounted, 0);
  const MakeSchedule make = found->read(source);
  return [=](int64_t steps) { return optim::Warmup(warmup, make(steps - warmup)); };
}

}  // namespace

ScheduleConfig read_schedule(const std::string& file, const JsonMember& member) {
  Source source(file, member.value, "schedule");
  ScheduleConfig config{
      .line = member.line, .text = text_of(member.value), .make = {}, .plateau = {}};
  config.make = read_any(source, /*within=*/false);
  if (!config.make) config.plateau = read_plateau(source);
  source.fields.finish();
  return config;
}

}  // namespace tenon::cli
