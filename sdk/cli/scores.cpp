#include "scores.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include <tenon/metrics.hpp>

#include "made.h"

namespace tenon::cli {
namespace {

using MetricList = std::vector<std::unique_ptr<metrics::Metric>>;

class LossMetric : public metrics::detail::Mean {
 public:
  explicit LossMetric(LossFunction loss) : loss_(std::move(loss)) {}
  std::string name() const override { return "loss"; }
  void update(const Tensor& output, const Tensor& target) override {
    const int64_t n = target.size(0);
    add(loss_(output, target).item<double>() * static_cast<double>(n), n);
  }

 private:
  LossFunction loss_;
};

// The mean over windows side by side.
double validation_loss(const Training& training) {
  const int64_t windows = training.validation.windows();
  const int64_t context = training.config.data.context, batch = training.config.batch_size;
  const auto batch_at = [&](int64_t i) {
    std::vector<int64_t> places;
    for (int64_t w = i * batch; w < std::min((i + 1) * batch, windows); ++w) {
      places.push_back(w * context);
    }
    return training.validation.at(places);
  };
  return mean_loss(training.model, training.loss, Made(0, (windows + batch - 1) / batch, batch_at));
}

// Those of the file that are not there yet.
void add_metrics(const Training& training, MetricList* list) {
  for (const std::string& name : training.config.metrics) {
    const auto same = [&](const auto& metric) { return metric->name() == name; };
    if (std::ranges::none_of(*list, same)) list->push_back(metrics::make_metric(name));
  }
}

// f(loader) of what is held out.
template <typename F>
auto with_held_out(const Training& training, F f) {
  constexpr int64_t kRows = 1024;
  if (training.pictures == nullptr) {
    data::DataLoader loader(training.test, {.batch_size = kRows});
    return f(loader);
  }
  const int64_t batch = std::min(training.config.batch_size, kRows);
  data::DataLoader loader(items_of(training, false), loader_options(training, batch, false));
  return f(loader);
}

std::vector<Score> scores_of(const Training& training, const MetricList& list) {
  std::vector<metrics::Metric*> all;
  for (const auto& metric : list) all.push_back(metric.get());
  const auto scope = training.scope();
  try {
    with_held_out(training, [&](auto& items) { evaluate(training.model, items, all); });
  } catch (const data::SampleError&) {
    throw;
  } catch (const Error& error) {
    if (training.config.metrics_line == 0) throw;
    fail_at(training.config.file, training.config.metrics_line,
            fmt::format("metrics: {}", error.what()));
  }
  std::vector<Score> scores;
  for (const auto& metric : list) scores.push_back({"test " + metric->name(), metric->value()});
  return scores;
}

}  // namespace

std::string Score::line() const { return fmt::format("{}: {:.3f}", name, value); }

std::string Score::json_key() const {
  std::string key = name;
  std::ranges::replace(key, ' ', '_');
  return key;
}

Score score(const Training& training) {
  const auto scope = training.scope();
  if (training.of_text()) return {"validation loss", validation_loss(training)};
  if (training.of_numbers()) {
    return {"test loss", with_held_out(training, [&](auto& items) {
              return mean_loss(training.model, training.loss, items);
            })};
  }
  return {"test accuracy",
          with_held_out(training, [&](auto& items) { return accuracy(training.model, items); })};
}

std::vector<Score> all_scores(const Training& training) {
  if (training.of_text()) return {score(training)};
  MetricList list;
  list.push_back(std::make_unique<LossMetric>(training.loss));
  if (!training.of_numbers()) list.push_back(metrics::make_metric("accuracy"));
  add_metrics(training, &list);
  return scores_of(training, list);
}

std::vector<Score> final_scores(const Training& training) {
  MetricList list;
  if (!training.of_text()) add_metrics(training, &list);
  std::vector<Score> scores;
  if (!list.empty()) scores = scores_of(training, list);
  const Score last = score(training);
  std::erase_if(scores, [&](const Score& s) { return s.name == last.name; });
  scores.push_back(last);
  return scores;
}

std::vector<Score> scores_of_trained(const Training& training) {
  const auto expect_finite = [](const Score& s) {
    if (std::isfinite(s.value)) return;
    fail(fmt::format("the {} is {} behind the last step: the training diverged; try a smaller lr",
                     s.name, s.value > 0 ? "infinite" : "NaN"),
         TN_FAILED_PRECONDITION);
  };
  if (training.of_text()) {
    const Score only = score(training);
    expect_finite(only);
    return {only};
  }
  // With the loss, also where it is not told: accuracy has a value for what diverged, too.
  MetricList list;
  list.push_back(std::make_unique<LossMetric>(training.loss));
  add_metrics(training, &list);
  if (!training.of_numbers()) {
    std::erase_if(list, [](const auto& metric) { return metric->name() == "accuracy"; });
    list.push_back(metrics::make_metric("accuracy"));
  }
  std::vector<Score> scores = scores_of(training, list);
  std::ranges::for_each(scores, expect_finite);
  if (training.of_numbers()) {
    std::rotate(scores.begin(), scores.begin() + 1, scores.end());  // the loss is told last
  } else {
    scores.erase(scores.begin());
  }
  return scores;
}

}  // namespace tenon::cli
