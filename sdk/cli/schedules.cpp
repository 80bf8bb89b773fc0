#include "schedules.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "config.h"
#include "text.h"

namespace tenon::cli {
namespace {

// A number of at least 0 and at most `most`.
double from_zero(const std::string& file, Fields& fields, const char* name, double most,
                 double absent) {
  const double value = fields.number(name, -kMostFloat, most, absent);
  if (value >= 0) return value;
  fail_at(file, fields.require(name).line,
          fmt::format("schedule: {} is {}, expected 0 or more", name, value));
}

MakeSchedule read_constant(const std::string&, Fields&) {
  return [](int64_t) { return optim::Schedule(); };
}

MakeSchedule read_step(const std::string&, Fields& fields) {
  const int64_t step_size = fields.integer("step_size", 1, kMostCounted);
  const double gamma = fields.positive("gamma", kMostFactor, 0.1);
  return [=](int64_t) { return optim::StepLR(step_size, gamma); };
}

MakeSchedule read_multi_step(const std::string& file, Fields& fields) {
  const JsonMember& member = fields.require("milestones");
  std::vector<int64_t> milestones;
  bool fits = member.value.kind == Json::Kind::kArray;
  for (const Json& item : member.value.items) {
    fits = fits && item.kind == Json::Kind::kInt && item.integer >= 0;
    milestones.push_back(item.integer);
  }
  if (!fits) {
    fail_at(file, member.line, "schedule: milestones is a list of steps from 0, as [100, 200]");
  }
  const double gamma = fields.positive("gamma", kMostFactor, 0.1);
  return [=](int64_t) { return optim::MultiStepLR(milestones, gamma); };
}

MakeSchedule read_exponential(const std::string&, Fields& fields) {
  fields.require("gamma");
  const double gamma = fields.positive("gamma", kMostFactor, 1);
  return [=](int64_t) { return optim::ExponentialLR(gamma); };
}

MakeSchedule read_cosine(const std::string& file, Fields& fields) {
  const double min_lr = from_zero(file, fields, "min_lr", kMostFactor, 0);
  return
      [=](int64_t steps) { return optim::CosineAnnealingLR(std::max<int64_t>(steps, 1), min_lr); };
}

MakeSchedule read_warm_restarts(const std::string& file, Fields& fields) {
  const int64_t first = fields.integer("t_0", 1, kMostCounted);
  const int64_t factor = fields.integer("t_mult", 1, kMostCounted, 1);
  const double min_lr = from_zero(file, fields, "min_lr", kMostFactor, 0);
  return [=](int64_t) { return optim::CosineAnnealingWarmRestarts(first, factor, min_lr); };
}

MakeSchedule read_one_cycle(const std::string& file, Fields& fields) {
  fields.require("max_lr");
  const double max_lr = fields.positive("max_lr", kMostFactor, 1);
  const double up = from_zero(file, fields, "pct_start", 1, 0.3);
  const double div = fields.positive("div_factor", kMostFactor, 25);
  const double last = fields.positive("final_div_factor", kMostFactor, 1e4);
  return [=](int64_t steps) {
    return optim::OneCycleLR(max_lr, std::max<int64_t>(steps, 1),
                             {.pct_start = up, .div_factor = div, .final_div_factor = last});
  };
}

MakeSchedule read_linear(const std::string& file, Fields& fields) {
  const double first = fields.positive("start_factor", 1, 1);
  const double last = from_zero(file, fields, "end_factor", 1, 0);
  return [=](int64_t steps) {
    return optim::LinearLR(
        {.start_factor = first, .end_factor = last, .total_iters = std::max<int64_t>(steps, 1)});
  };
}

MakeSchedule read_polynomial(const std::string& file, Fields& fields) {
  const double power = from_zero(file, fields, "power", kMostFactor, 1);
  return [=](int64_t steps) {
    return optim::PolynomialLR({.total_iters = std::max<int64_t>(steps, 1), .power = power});
  };
}

optim::ReduceLROnPlateauOptions read_plateau(const std::string& file, Fields& fields) {
  optim::ReduceLROnPlateauOptions options;
  options.factor = fields.number("factor", -kMostFloat, kMostFloat, 0.1);
  if (!(options.factor > 0 && options.factor < 1)) {
    fail_at(file, fields.require("factor").line,
            fmt::format("schedule: factor is {}, expected more than 0 and below 1",
                        double(options.factor)));
  }
  options.patience = fields.integer("patience", 0, kMostCounted, 10);
  options.threshold = from_zero(file, fields, "threshold", kMostFactor, 1e-4);
  options.cooldown = fields.integer("cooldown", 0, kMostCounted, 0);
  options.min_lr = from_zero(file, fields, "min_lr", kMostFactor, 0);
  return options;
}

struct ScheduleKind {
  const char* name;
  // From the steps that the warm-up leaves to the schedule of these.
  MakeSchedule (*read)(const std::string& file, Fields& fields);
};
constexpr ScheduleKind kScheduleKinds[] = {
    {"constant", read_constant},       {"step", read_step},
    {"cosine", read_cosine},           {"multi_step", read_multi_step},
    {"exponential", read_exponential}, {"warm_restarts", read_warm_restarts},
    {"one_cycle", read_one_cycle},     {"linear", read_linear},
    {"polynomial", read_polynomial},   {"plateau", nullptr},
};

}  // namespace

ScheduleConfig read_schedule(const std::string& file, const JsonMember& member) {
  Fields fields(file, member.value, "schedule");
  const std::string name = fields.string("schedule");
  std::vector<std::string> names;
  for (const ScheduleKind& kind : kScheduleKinds) names.emplace_back(kind.name);
  const auto found = std::ranges::find(kScheduleKinds, name, &ScheduleKind::name);
  if (found == std::end(kScheduleKinds)) {
    fail_at(file, fields.require("schedule").line,
            fmt::format("schedule: there is no '{}'{} (known are {})", printable(name),
                        did_you_mean(name, names), joined(names)));
  }
  ScheduleConfig config{.line = member.line, .name = name, .make = {}, .plateau = {}};
  if (found->read == nullptr) {
    config.plateau = read_plateau(file, fields);
  } else {
    const int64_t warmup = fields.integer("warmup_steps", 0, kMostCounted, 0);
    const auto make = found->read(file, fields);
    config.make = [=](int64_t steps) { return optim::Warmup(warmup, make(steps - warmup)); };
  }
  fields.finish();
  return config;
}

}  // namespace tenon::cli
