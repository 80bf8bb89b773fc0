// How good a model is, by numbers that are told batch for batch: accuracy, top-k accuracy, F1 and the
// errors of regression. tenon.hpp does not include it.
//
//   metrics::Accuracy top5(5);
//   metrics::F1 f1;
//   evaluate(model, batches, {&top5, &f1});
//   std::printf("%.3f %.3f\n", top5.value(), f1.value());
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/reduce.hpp"
#include "tenon/ops/shape.hpp"
#include "tenon/train.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace metrics {

// A number over all that `update` was told since the last `reset`. One thread at a time. `update` reads
// results, so it waits for the device.
class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;
  // Of one batch: what the model gave and what was right.
  virtual void update(const Tensor& output, const Tensor& target) = 0;
  // An Error where nothing was told.
  virtual double value() const = 0;
  virtual void reset() = 0;
};

namespace detail {

using tenon::detail::joined;
using tenon::detail::sizes_text;

// Outputs [n, classes] and the class of each [n].
inline void expect_classes(const char* metric, const Tensor& output, const Tensor& target) {
  if (output.dim() == 2 && target.dim() == 1 && output.size(0) == target.size(0)) return;
  fail(joined({metric, ": the output has sizes ", sizes_text(output.sizes()), " and the target ",
               sizes_text(target.sizes()), ", expected [n, classes] and [n]"}));
}
// A sum over what was told, divided by how much that was.
class Mean : public Metric {
 public:
  double value() const override {
    if (n_ == 0) fail(joined({name(), ": there is no value yet, since nothing was told"}));
    return sum_ / double(n_);
  }
  void reset() override { sum_ = 0, n_ = 0; }

 protected:
  void add(double sum, int64_t n) { sum_ += sum, n_ += n; }

 private:
  double sum_ = 0;
  int64_t n_ = 0;
};
// Of numbers: a function of the differences, whose mean it is.
class DifferenceMean : public Mean {
 public:
  void update(const Tensor& output, const Tensor& target) override {
    if (output.sizes() != target.sizes()) {
      fail(joined({name(), ": the output has sizes ", sizes_text(output.sizes()),
                   " and the target ", sizes_text(target.sizes()), ", expected the same"}));
    }
    const NoGrad no_grad;
    const Tensor difference = sub(output.to(float64), target.to(output.device()).to(float64));
    add(sum(of(difference)).template item<double>(), output.numel());
  }

 private:
  virtual Tensor of(const Tensor& difference) const = 0;
};

}  // namespace detail

// The part of the items whose class is among the top_k that the model holds likeliest.
class Accuracy : public detail::Mean {
 public:
  explicit Accuracy(int64_t top_k = 1) : top_k_(top_k) {
    if (top_k < 1) {
      fail(detail::joined({"Accuracy: top_k is ", std::to_string(top_k), ", expected at least 1"}));
    }
  }
  std::string name() const override {
    return top_k_ == 1 ? "accuracy" : "top_" + std::to_string(top_k_);
  }
  void update(const Tensor& output, const Tensor& target) override {
    detail::expect_classes("Accuracy", output, target);
    const NoGrad no_grad;
    if (top_k_ > output.size(1)) {
      fail(detail::joined({"Accuracy: top_k is ", std::to_string(top_k_), ", the output has ",
                           std::to_string(output.size(1)), " classes"}));
    }
    const Tensor likeliest =
        top_k_ == 1 ? argmax(output, 1, true) : topk(output, top_k_, 1).indices();
    const Tensor hits = eq(likeliest, reshape(target.to(output.device()), {-1, 1}));
    add(double(sum(hits).template item<int64_t>()), target.size(0));
  }

 private:
  int64_t top_k_;
};

// F1 is the harmonic mean of precision and recall of a class; this is the mean over the classes that
// appear among outputs or targets ("macro" in other libraries; van Rijsbergen, Information Retrieval,
// 1979).
class F1 : public Metric {
 public:
  std::string name() const override { return "f1"; }
  void update(const Tensor& output, const Tensor& target) override {
    detail::expect_classes("F1", output, target);
    const NoGrad no_grad;
    const auto guesses = argmax(output, 1).to(Device()).to_vector<int64_t>();
    const auto classes = target.to(Device()).to(int64).to_vector<int64_t>();
    for (size_t i = 0; i < guesses.size(); ++i) {
      if (classes[i] < 0) fail("F1: the class " + std::to_string(classes[i]) + " is below 0");
      const auto most = static_cast<size_t>(std::max(guesses[i], classes[i])) + 1;
      // Classes of the model bound it, so a wild target takes no memory.
      if (most > static_cast<size_t>(output.size(1))) {
        fail(detail::joined({"F1: the class ", std::to_string(classes[i]),
                             " is none of the model's ", std::to_string(output.size(1))}));
      }
      if (counts_.size() < most) counts_.resize(most);
      ++counts_[static_cast<size_t>(guesses[i])].guessed;
      ++counts_[static_cast<size_t>(classes[i])].there;
      if (guesses[i] == classes[i]) ++counts_[static_cast<size_t>(classes[i])].right;
    }
  }
  double value() const override {
    double sum = 0;
    int64_t n = 0;
    for (const Count& c : counts_) {
      if (c.guessed + c.there == 0) continue;
      sum += 2 * double(c.right) / double(c.guessed + c.there);
      ++n;
    }
    if (n == 0) fail("f1: there is no value yet, since nothing was told");
    return sum / double(n);
  }
  void reset() override { counts_.clear(); }

 private:
  struct Count {
    int64_t guessed = 0, there = 0, right = 0;
  };
  std::vector<Count> counts_;
};

class MeanSquaredError : public detail::DifferenceMean {
 public:
  std::string name() const override { return "mse"; }

 private:
  Tensor of(const Tensor& difference) const override { return mul(difference, difference); }
};

class MeanAbsoluteError : public detail::DifferenceMean {
 public:
  std::string name() const override { return "mae"; }

 private:
  Tensor of(const Tensor& difference) const override { return abs(difference); }
};

// By its name: "accuracy", "top_5" or any other number, "f1", "mse", "mae".
inline std::unique_ptr<Metric> make_metric(std::string_view name) {
  if (name == "accuracy") return std::make_unique<Accuracy>();
  if (name == "f1") return std::make_unique<F1>();
  if (name == "mse") return std::make_unique<MeanSquaredError>();
  if (name == "mae") return std::make_unique<MeanAbsoluteError>();
  const std::string_view digits = name.starts_with("top_") ? name.substr(4) : "";
  if (!digits.empty() && digits.size() <= 9 &&
      digits.find_first_not_of("0123456789") == digits.npos) {
    return std::make_unique<Accuracy>(std::stoll(std::string(digits)));
  }
  const std::vector<std::string> known = {"accuracy", "f1", "mse", "mae", "top_5"};
  const std::string wanted(name);
  fail(detail::joined({"there is no metric '", messages::printable(wanted), "'",
                       messages::did_you_mean(wanted, known),
                       " (known are accuracy, top_K, f1, mse, mae)"}));
}

}  // namespace metrics

// Tells the metrics what the model makes of all batches, after a reset. The model is in evaluation
// meanwhile.
template <typename Batches>
void evaluate(const Object& model, Batches&& batches,
              const std::vector<metrics::Metric*>& metrics) {
  const detail::Evaluation scope(model);
  const Device device = detail::device_of(model);
  for (metrics::Metric* metric : metrics) metric->reset();
  for (auto&& [x, y] : batches) {
    const Tensor output = model(x.to(device)), target = y.to(device);
    for (metrics::Metric* metric : metrics) metric->update(output, target);
  }
}

}  // namespace v0
}  // namespace tenon
