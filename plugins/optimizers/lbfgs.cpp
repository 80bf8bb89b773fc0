// L-BFGS (Nocedal, 1980; Nocedal and Wright, Numerical Optimization, algorithms 7.4, 7.5, 3.5 and
// 3.6), with PyTorch's options, limits and order of evaluations. It looks at numbers of each
// evaluation to decide where to go, so each waits for the device, and a compiled function that calls
// it runs eagerly.
#include <array>
#include <cmath>
#include <optional>

#include "state.h"

namespace optimizers::lbfgs {
namespace {

struct Options {
  double lr, tolerance_grad, tolerance_change;
  int64_t max_iter, max_eval, history_size;
  bool strong_wolfe, maximize;
};

// A place along the direction: how far it is, and loss, slope and gradient there.
struct Point {
  double t, loss, slope;
  Tensor gradient;
};

double product_of(const Tensor& a, const Tensor& b) { return sum(a * b).item<double>(); }
double greatest(const Tensor& x) { return amax(abs(x)).item<double>(); }

// Where the cubic through both points with their slopes is least, within the bounds (Nocedal and
// Wright, equation 3.59).
double least_of_cubic(const Point& a, const Point& b, double low, double high) {
  const Point &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double t = right.t - (right.t - left.t) *
                                 ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(t, low), high);
}

// The parameters as one vector, and what the closure says of them.
class Objective {
 public:
  Objective(std::vector<Tensor> parameters, Object closure, bool maximize)
      : parameters_(std::move(parameters)), closure_(std::move(closure)), maximize_(maximize) {}

  // The loss as the closure gives it; `loss` and `gradient` are what is to become smaller.
  Tensor evaluate() {
    Tensor given;
    {
      const EnableGrad grad;
      given = closure_.invoke<Tensor>("call");
    }
    ++evaluations;
    const auto value = given.item<double>();
    loss = maximize_ ? -value : value;
    std::vector<Tensor> flat;
    for (const Tensor& p : parameters_) {
      Tensor g = p.grad();
      if (g.defined() && g.is_row_sparse()) g = g.to_dense();
      flat.push_back(g.defined() ? g.reshape({-1}) : zeros({p.numel()}, p.dtype(), p.device()));
    }
    gradient = cat(flat, 0);
    if (maximize_) gradient = -gradient;
    return given;
  }
  void move(double t, const Tensor& direction) const {
    int64_t from = 0;
    for (const Tensor& p : parameters_) {
      Tensor part = direction.slice(0, from, from + p.numel()).reshape(p.sizes());
      Tensor own = p.detach();
      own += part * t;
      from += p.numel();
    }
  }
  // Goes there and comes back.
  Point at(double t, const Tensor& direction) {
    std::vector<Tensor> before;
    for (const Tensor& p : parameters_) before.push_back(p.detach().clone());
    move(t, direction);
    evaluate();
    for (size_t i = 0; i < before.size(); ++i) parameters_[i].detach().copy_(before[i]);
    return {t, loss, product_of(gradient, direction), gradient};
  }

  double loss = 0;
  Tensor gradient;
  int64_t evaluations = 0;

 private:
  const std::vector<Tensor> parameters_;
  const Object closure_;
  const bool maximize_;
};

// A line search for the strong Wolfe conditions: a bracket around a place that fulfils them
// (algorithm 3.5), which is then made smaller (3.6). At most `most` places after the first.
class LineSearch {
 public:
  LineSearch(Objective& objective, const Tensor& direction, Point start, double tolerance,
             int64_t most)
      : objective_(objective),
        direction_(direction),
        start_(std::move(start)),
        tolerance_(tolerance),
        most_(most) {}

  Point run(double t) {
    Point found = bracket(t);
    return done_ ? found : zoom();
  }

 private:
  bool too_high(const Point& p) const { return p.loss > start_.loss + 1e-4 * p.t * start_.slope; }
  bool flat(const Point& p) const { return std::abs(p.slope) <= -0.9 * start_.slope; }

  Point bracket(double t) {
    Point before = start_, now = objective_.at(t, direction_);
    for (; taken_ < most_; ++taken_) {
      const bool rises = too_high(now) || (taken_ > 1 && now.loss >= before.loss);
      if (!rises && flat(now)) {
        done_ = true;
        return now;
      }
      if (rises || now.slope >= 0) {
        ends_ = {before, now};
        return now;
      }
      const double next =
          least_of_cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::move(now);
      now = objective_.at(next, direction_);
    }
    ends_ = {start_, now};
    return now;
  }

  Point zoom() {
    const double size = greatest(direction_);
    bool close = false;  // the place before was near an end
    size_t low = lower();
    for (; taken_ < most_; ++taken_) {
      const double from = std::min(ends_[0].t, ends_[1].t), to = std::max(ends_[0].t, ends_[1].t);
      if ((to - from) * size < tolerance_) break;
      double t = least_of_cubic(ends_[0], ends_[1], from, to);
      const double margin = 0.1 * (to - from);
      if (std::min(to - t, t - from) >= margin) {
        close = false;
      } else if (close || t >= to || t <= from) {
        t = std::abs(t - to) < std::abs(t - from) ? to - margin : from + margin;
        close = false;
      } else {
        close = true;
      }
      Point now = objective_.at(t, direction_);
      const size_t high = 1 - low;
      if (too_high(now) || now.loss >= ends_[low].loss) {
        ends_[high] = std::move(now);
        low = lower();
        continue;
      }
      const bool fulfils = flat(now);
      if (!fulfils && now.slope * (ends_[high].t - ends_[low].t) >= 0) ends_[high] = ends_[low];
      ends_[low] = std::move(now);
      if (fulfils) break;
    }
    return ends_[low];
  }
  size_t lower() const { return ends_[0].loss <= ends_[1].loss ? 0 : 1; }

  Objective& objective_;
  const Tensor& direction_;
  const Point start_;
  const double tolerance_;
  const int64_t most_;
  int64_t taken_ = 0;
  bool done_ = false;
  std::array<Point, 2> ends_;
};

// The state, which is the first parameter's, as in PyTorch. Of the history the pair number n lies in
// place n % history_size.
constexpr const char* kEntries[] = {"func_evals", "n_iter", "n_updates",      "d",
                                    "t",          "H_diag", "prev_flat_grad", "prev_loss"};
std::string pair_name(const char* what, int64_t place) {
  return std::string(what) + "_" + std::to_string(place);
}

class Memory {
 public:
  Memory(const Object& entries, Tensor like, int64_t history_size)
      : entries_(entries), like_(std::move(like)), size_(history_size) {}

  int64_t count(const char* name) const {
    const Tensor t = entries_.tensor(name);
    return t.defined() ? t.item<int64_t>() : 0;
  }
  double number(const char* name) const { return entries_.tensor(name).item<double>(); }
  Tensor vector(const std::string& name) const {
    return entries_.tensor(name.c_str()).to(like_.device(), like_.dtype());
  }
  void set(const std::string& name, const Tensor& t) const {
    entries_.set(name.c_str(), t, TN_ENTRY_STATE);
  }
  void set(const char* name, int64_t n) const { set(name, Tensor::from<int64_t>({n}, Ints())); }
  void set(const char* name, double x) const { set(name, Tensor::from<double>({x}, Ints())); }

  // How the gradient changed by a step; `ys` is their product.
  void add(const Tensor& y, const Tensor& s, double ys) const {
    const int64_t n = count("n_updates");
    set(pair_name("old_dirs", n % size_), y);
    set(pair_name("old_stps", n % size_), s);
    set(pair_name("ro", n % size_).c_str(), 1 / ys);
    set("n_updates", n + 1);
  }
  // The approximate inverse of the Hessian times -gradient, by two loops over the pairs.
  Tensor direction(const Tensor& gradient) const {
    const int64_t end = count("n_updates"), begin = std::max<int64_t>(0, end - size_);
    Tensor q = -gradient;
    std::vector<double> al(size_t(end - begin));
    for (int64_t n = end; n-- > begin;) {
      const double a = product_of(vector(pair_name("old_stps", n % size_)), q) *
                       number(pair_name("ro", n % size_).c_str());
      al[size_t(n - begin)] = a;
      q = q - vector(pair_name("old_dirs", n % size_)) * a;
    }
    Tensor r = q * number("H_diag");
    for (int64_t n = begin; n < end; ++n) {
      const double be = product_of(vector(pair_name("old_dirs", n % size_)), r) *
                        number(pair_name("ro", n % size_).c_str());
      r = r + vector(pair_name("old_stps", n % size_)) * (al[size_t(n - begin)] - be);
    }
    return r;
  }

 private:
  const Object entries_;
  const Tensor like_;
  const int64_t size_;
};

Options options_of(const Object& self, int64_t history_size) {
  const auto max_iter = group_option<int64_t>(self, 0, "max_iter");
  return {.lr = group_option<double>(self, 0, "lr"),
          .tolerance_grad = group_option<double>(self, 0, "tolerance_grad"),
          .tolerance_change = group_option<double>(self, 0, "tolerance_change"),
          .max_iter = max_iter,
          .max_eval =
              group_option<std::optional<int64_t>>(self, 0, "max_eval").value_or(max_iter * 5 / 4),
          .history_size = history_size,
          .strong_wolfe =
              group_option<std::optional<std::string>>(self, 0, "line_search_fn").has_value(),
          .maximize = group_option<bool>(self, 0, "maximize")};
}

// The next direction; of the first iteration down the gradient.
Tensor next_direction(const Memory& memory, const Tensor& gradient, bool first) {
  if (first) {
    memory.set("H_diag", 1.0);
    memory.set("n_updates", int64_t(0));
    return -gradient;
  }
  const Tensor y = gradient - memory.vector("prev_flat_grad");
  const Tensor s = memory.vector("d") * memory.number("t");
  const double ys = product_of(y, s);
  if (ys > 1e-10) {
    memory.add(y, s, ys);
    memory.set("H_diag", ys / product_of(y, y));
  }
  return memory.direction(gradient);
}

Tensor step_with(const Object& self, const States& states, int64_t history_size,
                 const Object& closure) {
  const NoGrad no_grad;
  const Options options = options_of(self, history_size);
  const std::vector<Tensor> parameters = group_parameters(self, 0);
  const Memory memory(states.of(0), parameters[0].detach(), history_size);
  Objective objective(parameters, closure, options.maximize);
  const int64_t evals_before = memory.count("func_evals");
  const Tensor first_loss = objective.evaluate();
  for (int64_t n = 1; n <= options.max_iter; ++n) {
    if (greatest(objective.gradient) <= options.tolerance_grad) break;
    const int64_t all = memory.count("n_iter") + 1;
    memory.set("n_iter", all);
    const Tensor gradient = objective.gradient, d = next_direction(memory, gradient, all == 1);
    const double loss = objective.loss, slope = product_of(gradient, d);
    double t =
        all == 1 ? std::min(1.0, 1 / sum(abs(gradient)).item<double>()) * options.lr : options.lr;
    memory.set("d", d);
    memory.set("t", t);
    memory.set("prev_flat_grad", gradient);
    memory.set("prev_loss", loss);
    if (slope > -options.tolerance_change) break;
    if (options.strong_wolfe) {
      LineSearch search(objective, d, {0, loss, slope, gradient}, options.tolerance_change,
                        options.max_eval - objective.evaluations);
      const Point found = search.run(t);
      objective.loss = found.loss;
      objective.gradient = found.gradient;
      memory.set("t", t = found.t);
      objective.move(t, d);
    } else {
      objective.move(t, d);
      if (n != options.max_iter) objective.evaluate();
    }
    if (objective.evaluations >= options.max_eval || greatest(d * t) <= options.tolerance_change)
      break;
    if (std::abs(objective.loss - loss) < options.tolerance_change) break;
  }
  memory.set("func_evals", evals_before + objective.evaluations);
  return first_loss;
}

void expect_whole(const char* option, int64_t value) {
  if (value < 1) {
    fail(std::string(option) + " is " + std::to_string(value) + ", expected at least 1");
  }
}

// Vectors have a number for each element of all parameters.
void expect_memory(Object& self, std::string path, Tensor value) {
  int64_t elements = 0;
  for (const Tensor& p : group_parameters(self, 0)) elements += p.numel();
  const std::string name = path.substr(path.rfind('.') + 1);
  const bool is_vector = name == "d" || name == "prev_flat_grad" || name.starts_with("old_");
  expect_state(path, value, is_vector ? Sizes{elements} : Sizes(),
               "parameters of " + std::to_string(elements) + " elements");
}

std::shared_ptr<States> make_memory(Object& self, int64_t history_size) {
  // The places of the history have names of their own, as many as there may be pairs.
  auto names = std::make_shared<std::vector<std::string>>(std::begin(kEntries), std::end(kEntries));
  for (int64_t i = 0; i < history_size; ++i) {
    for (const char* what : {"old_dirs", "old_stps", "ro"}) names->push_back(pair_name(what, i));
  }
  std::vector<Entry> entries;
  for (const std::string& name : *names) entries.push_back({name.c_str()});
  auto states = std::make_shared<States>(self, entries);
  self.method("accepts_state(str path, Tensor value) -> ()", expect_memory);
  self.method("group_added(int index) -> ()", [states, names](Object& self, int64_t index) {
    if (index > 0) fail("LBFGS takes one group of parameters, whose options are those of all");
    states->add_group(self, uint32_t(index));
  });
  return states;
}

}  // namespace

void add() {
  optimizer(
      "LBFGS(Tensor[] params, float lr=1, int max_iter=20, int? max_eval=None, float "
      "tolerance_grad=1e-7, float tolerance_change=1e-9, int history_size=100, str? "
      "line_search_fn=None, bool maximize=False)",
      "L-BFGS (Nocedal & Wright, Numerical Optimization, algorithm 7.5, as PyTorch has it): a step "
      "takes a closure that computes loss and gradients, and calls it up to max_eval times (None: "
      "max_iter * 5 / 4) in up to max_iter iterations. line_search_fn: None goes lr along each "
      "direction, 'strong_wolfe' searches. It waits for the device, is not compiled, and takes one "
      "group of parameters on one device. maximize: with -g.",
      [](Object& self, Tensors params, double lr, int64_t max_iter, std::optional<int64_t> max_eval,
         double tolerance_grad, double tolerance_change, int64_t history_size,
         std::optional<std::string> line_search_fn, bool) {
        expect_not_negative(self, "lr", lr);
        expect_whole("max_iter", max_iter);
        if (max_eval) expect_whole("max_eval", *max_eval);
        expect_not_negative(self, "tolerance_grad", tolerance_grad);
        expect_not_negative(self, "tolerance_change", tolerance_change);
        expect_whole("history_size", history_size);
        if (history_size > 10000) {
          fail("history_size is " + std::to_string(history_size) + ", expected at most 10000");
        }
        if (line_search_fn && *line_search_fn != "strong_wolfe")
          fail("line_search_fn is '" + *line_search_fn + "', expected None or strong_wolfe");
        auto states = make_memory(self, history_size);
        self.method("check_history_size(int history_size) -> ()",
                    [history_size](Object&, int64_t later) {
                      if (later == history_size) return;
                      fail("history_size is " + std::to_string(later) + " and was " +
                           std::to_string(history_size) + " when LBFGS was made, which stays");
                    });
        self.method("step(Tensor? found_inf=None) -> ()", [](Object&, Tensor) {
          fail(
              "LBFGS evaluates the loss several times in a step: call step(closure), with a "
              "function that clears the gradients, computes the loss, calls backward and gives the "
              "loss");
        });
        self.method("step_with(object closure) -> Tensor",
                    [states, history_size](Object& self, Object closure) {
                      return step_with(self, *states, history_size, closure);
                    });
        add_parameters(self, params);
      });
}

}  // namespace optimizers::lbfgs
