// Every op that has a case in tests/data/torch_values.json, in every dtype and layout and on every
// device, against `ref` in float64 (integers: `ref` in the same dtype) on the same values one
// behind the other; with sizes one and zero along dimension 0; with NaN and infinities. And every
// in-place op of the registry against its other spelling.
//
// The default form tries the first kSwept cases of each op in all of these, and the others as they
// are: in each dtype, whole and contiguous. The long form tries every case in everything.
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "check_tolerance.h"
#include "long_form.h"
#include "torch_cases.h"

namespace {

using namespace torch_cases;
using tn::Dtype;

const std::vector<Dtype> kAll = {tn::float32, tn::float64, tn::float16, tn::bfloat16, tn::int64,
                                 tn::int32,   tn::int16,   tn::int8,    tn::uint8,    tn::bool_};

// Repeated with another device, the default form has a dtype of each kind.
std::vector<Dtype> swept_dtypes() {
  const bool is_repeated = std::string(second_device()) != "ref";
  return is_repeated && !long_form()
             ? std::vector<Dtype>{tn::float32, tn::bfloat16, tn::int64, tn::bool_}
             : kAll;
}

Tensor converted(const Tensor& x, Dtype dtype) {
  if (!x.dtype().is_float() || x.dtype() == dtype) return x;
  if (dtype.is_float()) return x.to(dtype);
  if (dtype == tn::bool_) return x > 0;
  return tn::clamp(dtype == tn::uint8 ? tn::abs(x) * 20 : x * 20, -1000, 1000).to(dtype);
}

constexpr int kSwept = 4;

// Says of one case after the other whether it is tried in everything.
class Sweep {
 public:
  bool takes(const std::string& op) { return ++seen_[op] <= kSwept || long_form(); }

 private:
  std::map<std::string, int> seen_;
};

using Values = std::function<Tensor(const Tensor&)>;

// What a case's tensors are replaced by before they get a dtype: on the cpu, the same for the
// device and for the reference.
struct Variant {
  const char* name;
  Values values;
  bool floats_only = false;
};

Tensor first(const Tensor& x, int64_t n) {
  return x.dim() > 0 ? x.narrow(0, 0, std::min(n, x.size(0))) : x;
}

Tensor repeated(const Tensor& x) {
  return x.dim() > 0 && x.size(0) > 0 ? first(x, 1).expand(x.sizes()) : x;
}

std::vector<Variant> variants() {
  const auto with = [](double special) {
    return [=](const Tensor& t) {
      if (!t.dtype().is_float() || t.numel() == 0) return t;
      Tensor x = t.clone();
      x.mutable_data<double>()[x.numel() / 2] = special;
      return x;
    };
  };
  return {{"whole", [](const Tensor& t) { return t; }},
          {"expanded", repeated},
          {"size one", [](const Tensor& t) { return first(t, 1); }},
          {"size zero", [](const Tensor& t) { return first(t, 0); }},
          {"nan", with(NAN), true},
          {"inf", with(INFINITY), true},
          {"-inf", with(-INFINITY), true}};
}

struct Result {
  TensorList outputs;   // on the cpu: the op's, what it wrote to, and gradients
  size_t n_values = 0;  // before the gradients
  std::string refusal;
};

// `as` gives each of the case's tensors, which it gets on the cpu, its values, dtype, layout and
// device.
Result run(const json& c, const std::string& op, const Values& as) {
  Result result;
  try {
    const Arguments arguments(c, tn::cpu, as);
    const TensorList outputs = called(op, arguments.values, c.at("out"));
    for (const Tensor& t : outputs) result.outputs.push_back(t.detach().to(tn::cpu));
    if (c.contains("after")) {
      for (const auto& after : c.at("after").items())
        result.outputs.push_back(arguments.list[std::stoul(after.key())]->tensors[0].to(tn::cpu));
    }
    result.n_values = result.outputs.size();
    if (!c.contains("grad")) return result;
    TensorList differentiable, weights;
    for (const Tensor& t : outputs) {
      if (!t.requires_grad()) continue;
      differentiable.push_back(t);
      weights.push_back(weight_like(t));
    }
    if (differentiable.empty()) return result;
    for (const Tensor& g : tn::grad(differentiable, arguments.leaves,
                                    {.grad_outputs = weights, .allow_unused = true}))
      if (g.defined()) result.outputs.push_back(g.to(tn::cpu));
  } catch (const std::exception& e) {
    result.outputs.clear();
    result.refusal = e.what();
  }
  return result;
}

json without_gradients(json c) {
  c.erase("grad");
  return c;
}

double largest(const std::vector<double>& values) {
  double top = 0;
  for (double v : values) top = std::isfinite(v) ? std::max(top, std::fabs(v)) : top;
  return top;
}
double largest_of(Dtype dtype) {
  return dtype == tn::float16    ? 65504
         : dtype == tn::bfloat16 ? 3.3895313892515355e38
         : dtype == tn::float32  ? 3.4028234663852886e38
                                 : 1.7976931348623157e308;
}

// By the rule of sdk/cli/check_tolerance.h. The cases' sums have up to 60 terms, whose roundings go
// both ways: about sqrt(60) / 2 units. What inf - inf is in a gradient depends on the order of its
// terms: there both are infinite or NaN.
void expect_close(const Tensor& found, const Tensor& expected, double inputs, Dtype dtype,
                  double beyond, bool gradient) {
  expect_sizes(found, {expected.sizes().begin(), expected.sizes().end()});
  if (!found.dtype().is_float()) {
    EXPECT_EQ(found.dtype(), expected.dtype());
    EXPECT_EQ(found.to_vector<int64_t>(), expected.to_vector<int64_t>());
    return;
  }
  const std::vector<double> a = found.to_vector<double>(), b = expected.to_vector<double>();
  const double bound = tn::cli::conformance::bound_of_op(dtype, std::max(inputs, largest(b)));
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (gradient && !std::isfinite(b[i])) {
      EXPECT_FALSE(std::isfinite(a[i])) << "at " << i << ": " << a[i];
    } else if (std::isnan(b[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << "at " << i << ": " << a[i];
    } else if (std::fabs(b[i]) >= largest_of(found.dtype())) {
      EXPECT_EQ(a[i], b[i] > 0 ? beyond : -beyond) << "at " << i;
    } else {
      EXPECT_NEAR(a[i], b[i], bound) << "at " << i;
    }
  }
}

// cuDNN does not say what its relu makes of NaN, nor whether its gradient where relu gave 0 is a
// product with 0, which is NaN beside an infinity. So of `rnn_relu` on `cuda` these elements are taken as
// expected: those that are NaN in the meaning, the gradients behind such a one, and gradients that are
// not finite. All others are compared.
void take_what_is_open(Result* found, const Result& expected) {
  bool has_nan = false;
  for (size_t i = 0; i < std::min(found->outputs.size(), expected.outputs.size()); ++i) {
    const bool is_gradient = i >= expected.n_values;
    Tensor& t = found->outputs[i];
    std::vector<double> a = t.to_vector<double>();
    const std::vector<double> b = expected.outputs[i].to_vector<double>();
    for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
      if (!is_gradient) has_nan = has_nan || std::isnan(b[k]);
      if (is_gradient ? has_nan || !std::isfinite(a[k]) : std::isnan(b[k])) a[k] = b[k];
    }
    t = Tensor::from(a, t.sizes()).to(t.dtype());
  }
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

TEST(OpSweep, DtypesAndLayoutsAgreeWithTheReference) {
  if (devices().size() < 2) GTEST_SKIP() << "no device ref";
  const tn::Device ref("ref");
  Sweep sweep;
  for (const json& c : all_cases()) {
    const std::string op = c.at("op"), shown = op + c.at("args").dump().substr(0, 160);
    const json c_without_gradients = without_gradients(c);
    const bool everything = sweep.takes(op);
    for (const Variant& v : variants()) {
      for (const Dtype dtype : swept_dtypes()) {
        if (v.floats_only && !dtype.is_float()) continue;
        const bool whole = v.name == std::string("whole"),
                   expanded = v.name == std::string("expanded");
        if (!whole && !everything) continue;
        // What is expanded is not written to, and shares out its gradient among its repetitions.
        // Probabilities are looked at where that waits for nothing.
        if (expanded && c.contains("after")) continue;
        // Kernels pass over padding and what is masked, where the meaning has 0 * inf;
        // kernel_sweep_test has infinite images.
        if ((op.starts_with("conv") || op == "scaled_dot_product_attention") && v.floats_only)
          continue;
        if (op == "nextafter") continue;  // neighbours are those of a dtype: special_test
        if (op == "binary_cross_entropy" && (!dtype.is_float() || v.floats_only)) continue;
        if (op == "gaussian_nll_loss" && v.floats_only) continue;
        // places along a dimension, which are floats too, and squares of distances
        double inputs = op == "interpolate" ? 8 : is_one_of(op, {"grid_sample", "cdist"}) ? 16 : 0;
        const auto values = [&](const Tensor& t) {
          Tensor x = converted(v.values(t), dtype);
          inputs = std::max(inputs, largest(x.to_vector<double>()));
          return x;
        };
        const json& call = expanded ? c_without_gradients : c;
        const Result expected = run(call, op, [&](const Tensor& t) {
          const Tensor x = values(t).clone();
          return x.dtype().is_float() ? x.to(ref, tn::float64) : x.to(ref);
        });
        if (whole && dtype.is_float()) {
          EXPECT_EQ(expected.refusal, "") << op << c.at("args");
        }
        for (const Layout& layout : layouts()) {
          const bool contiguous = layout.name == std::string("contiguous");
          if (!contiguous && (!whole || !everything)) continue;
          // they look at memory itself
          if ((!contiguous || expanded) && is_one_of(op, {"view", "view_as", "as_strided"}))
            continue;
          for (tn::Device device : devices()) {
            const bool same_call = device == ref && contiguous && !expanded &&
                                   (dtype == tn::float64 || !dtype.is_float());
            if (same_call) continue;
            SCOPED_TRACE(device.name() + " " + dtype.name() + " " + layout.name + " " + v.name +
                         " " + shown);
            Result found = run(call, op, [&](const Tensor& t) {
              const Tensor x = values(t).to(device);
              return expanded ? repeated(x) : layout.of(x);
            });
            EXPECT_EQ(found.refusal.empty(), expected.refusal.empty())
                << found.refusal << " | " << expected.refusal;
            if (!found.refusal.empty() || !expected.refusal.empty()) continue;
            EXPECT_EQ(found.outputs.size(), expected.outputs.size());
            if (op == "rnn_relu" && device.type() == "cuda" && v.floats_only)
              take_what_is_open(&found, expected);
            for (size_t i = 0; i < std::min(found.outputs.size(), expected.outputs.size()); ++i) {
              SCOPED_TRACE("result " + std::to_string(i));
              expect_close(found.outputs[i], expected.outputs[i], inputs, dtype,
                           op == "nan_to_num" ? largest_of(dtype) : INFINITY,
                           i >= expected.n_values);
            }
          }
        }
      }
    }
  }
}

// Calls that move no element, of which the result is a tensor of its own all the same.
std::vector<json> calls_that_change_nothing() {
  const auto tensor = [](std::vector<int64_t> sizes) {
    json values = json::array();
    const int64_t n = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
    for (int64_t i = n; i > 0; --i) values.push_back(double(i));
    return json{{"s", sizes}, {"v", values}};
  };
  const json image = tensor({1, 2, 2, 2}), matrix = tensor({2, 3}), column = tensor({2, 1}),
             number = tensor({});
  std::vector<json> list;
  const auto add = [&](const char* op, std::initializer_list<json> args, size_t outputs = 1) {
    list.push_back({{"op", op}, {"args", json::array_t(args)}, {"out", json::array()}});
    for (size_t i = 0; i < outputs; ++i) list.back()["out"].push_back(json::object());
  };
  const json none = json::array(), one = json::array({1}), zero = json::array({0}),
             ones = json::array({1, 1});
  add("pixel_shuffle", {image, 1});
  add("pixel_unshuffle", {image, 1});
  add("interpolate", {image, json::array({2, 2})});
  add("im2col", {image, ones});
  add("fold", {tensor({1, 2, 4}), json::array({2, 2}), ones});
  for (const char* op : {"max_pool2d", "avg_pool2d"}) add(op, {image, ones});
  for (const char* op : {"adaptive_max_pool2d", "adaptive_avg_pool2d"})
    add(op, {image, json::array({2, 2})});
  for (const char* mode : {"constant", "reflect", "replicate", "circular"})
    add("pad", {matrix, json::array({0, 0}), mode});
  add("repeat", {matrix, ones});
  add("roll", {matrix, zero, one});
  add("roll", {matrix, json::array({3}), one});
  add("flip", {matrix, none});
  add("flip", {column, one});
  const json matrices = {{"l", json::array({matrix})}};
  add("cat", {matrices, 0});
  add("stack", {matrices, 0});
  add("triu", {matrix, -5});
  add("nan_to_num", {matrix});
  add("clone", {matrix});
  add("topk", {tensor({3}), 3}, 2);
  add("sort", {tensor({3})}, 2);
  for (const char* op : {"sum", "mean", "prod", "amax", "amin", "logsumexp"})
    add(op, {column, one, true});
  for (const char* op : {"cumsum", "cumprod", "softmax"}) add(op, {column, 1});
  for (const char* op : {"max", "min"}) add(op, {number, 0}, 2);
  for (const char* op : {"sum", "mean", "prod", "amax", "logsumexp"}) add(op, {number, zero});
  for (const char* op : {"cumsum", "cumprod", "softmax", "log_softmax"}) add(op, {number, 0});
  add("flip", {number, zero});
  add("roll", {number, one});
  add("softmax", {tensor({0, 3}), 1});
  add("addmm", {tensor({2, 2}), tensor({2, 2}), tensor({2, 2}), 0.0, 1.0});
  return list;
}

// Only what a schema calls a view of an argument, or the argument itself, shares its memory. In
// PyTorch, too, einsum, meshgrid and broadcast_tensors may give views that their schemas are silent
// about.
TEST(OpSweep, NewTensorsShareNoMemoryWithArguments) {
  load_all();
  std::set<std::string> views;
  for (const auto& op : json::parse(tn::ops_json())) {
    const std::string schema = op.at("schema"), name = op.at("name");
    if (schema.find("(a", schema.find("->")) != std::string::npos) views.insert(name.substr(4));
  }
  EXPECT_TRUE(views.count("reshape") && views.count("add_"));
  int compared = 0;
  std::vector<json> cases = calls_that_change_nothing();
  for (const json& c : all_cases()) cases.push_back(c);
  for (const json& c : cases) {
    const std::string op = c.at("op");
    if (views.count(op) || is_one_of(op, {"einsum", "meshgrid", "broadcast_tensors"})) continue;
    for (tn::Device device : devices()) {
      SCOPED_TRACE(device.name() + " " + op + c.at("args").dump().substr(0, 160));
      const Arguments arguments(c, device);
      for (const Tensor& y : called(op, arguments.values, c.at("out"))) {
        for (const auto& argument : arguments.list) {
          for (const Tensor& x : argument->tensors) {
            EXPECT_FALSE(x.defined() && y.same_storage(x));
            ++compared;
          }
        }
        // Nor is it a view of what the op made on the way: it may be written.
        if (y.requires_grad()) EXPECT_NO_THROW(y.add_(0.0));
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

// Of every case with a gradient, in each floating dtype, of whole, expanded and empty tensors.
TEST(OpSweep, GradientsAreAsTheirTensors) {
  size_t compared = 0;
  Sweep sweep;
  for (const json& c : all_cases()) {
    if (!c.contains("grad")) continue;
    const std::string op = c.at("op");
    if (!sweep.takes(op)) continue;
    for (tn::Device device : devices()) {
      for (const Dtype dtype : {tn::float32, tn::float16, tn::bfloat16}) {
        for (const Variant& variant : variants()) {
          if (variant.floats_only) continue;
          SCOPED_TRACE(device.name() + " " + dtype.name() + " " + variant.name + " " + op +
                       c.at("args").dump().substr(0, 160));
          std::optional<Arguments> arguments;
          TensorList differentiable, weights;
          try {
            arguments.emplace(c, tn::cpu, [&](const Tensor& t) {
              return converted(variant.values(t), dtype).to(device);
            });
            for (const Tensor& t : called(op, arguments->values, c.at("out"))) {
              if (!t.requires_grad()) continue;
              differentiable.push_back(t);
              weights.push_back(weight_like(t));
            }
          } catch (const tn::Error&) {
            continue;  // it refuses these sizes or this dtype
          }
          if (differentiable.empty()) continue;
          const TensorList grads = tn::grad(differentiable, arguments->leaves,
                                            {.grad_outputs = weights, .allow_unused = true});
          for (size_t i = 0; i < grads.size(); ++i) {
            if (grads[i].get() == nullptr) continue;
            const Tensor& x = arguments->leaves[i];
            EXPECT_EQ(grads[i].dtype(), x.dtype());
            EXPECT_EQ(grads[i].device(), x.device());
            EXPECT_TRUE(std::ranges::equal(grads[i].sizes(), x.sizes()));
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 1000u);
  // An index that an empty tensor does not have is refused late on a device with streams; the next
  // test should not hear of it.
  for (const tn::Device device : devices()) {
    try {
      device.synchronize();
    } catch (const tn::Error&) {
    }
  }
}

// A new op needs a case in tests/data/torch_values*.py. Without one are parts of ops ('_'), random
// ones, and these.
TEST(OpSweep, EveryOpHasACase) {
  load_all();
  std::set<std::string> names, have;
  for (const json& c : all_cases()) have.insert(c.at("op"));
  for (const auto& op : json::parse(tn::ops_json())) {
    const std::string full = op.at("name");
    const auto& flags = op.at("flags");
    if (full.starts_with("ops._") || !full.starts_with("ops.") ||
        std::count(flags.begin(), flags.end(), "random"))
      continue;
    names.insert(full.substr(4));
  }
  for (const std::string& name : names) {
    if (name.ends_with("_") && have.count(name.substr(0, name.size() - 1))) continue;
    // create_test, shape_test
    const bool elsewhere = is_one_of(
        name,
        {"empty", "empty_like", "contiguous",
         // attention_layers_test
         "embedding_renorm_",
         // optim_test, amp_test
         "sgd_step", "adam_step", "clip_grad_norm_", "unscale_", "update_scale_",
         // optim_test, row_sparse_test
         "adagrad_step", "adagrad_rows_step", "sparse_adam_step", "add_rows_", "coalesce_rows",
         // optimizers_torch_test
         "rmsprop_step", "adadelta_step", "adamax_step", "nadam_step", "radam_step", "lamb_step",
         "lion_step", "adafactor_step", "muon_step", "rprop_step", "asgd_step", "amsgrad_step"});
    EXPECT_NE(have.count(name) != 0, elsewhere) << name;
  }
}

// Exactly, in each dtype; where the result does not fit its first argument, it is refused. True and
// false are written as 1 and 0.
TEST(OpSweep, InPlaceIsOutOfPlace) {
  std::map<std::string, std::vector<json>> cases;
  for (const json& c : all_cases()) cases[c.at("op")].push_back(c);
  std::set<std::string> names, in_place;
  for (const auto& op : json::parse(tn::ops_json())) {
    const std::string name = op.at("name");
    const auto& flags = op.at("flags");
    // random_test has those
    const bool random = std::count(flags.begin(), flags.end(), "random") != 0;
    if (name.starts_with("ops.") && !random) names.insert(name.substr(4));
  }
  for (const std::string& name : names) {
    if (name.ends_with("_") && names.count(name.substr(0, name.size() - 1))) in_place.insert(name);
  }
  EXPECT_GT(in_place.size(), 50u);
  for (const std::string& name : in_place) {
    const std::string op = name.substr(0, name.size() - 1);
    int compared = 0;
    Sweep sweep;
    for (const json& c : cases[op]) {
      if (!sweep.takes(op)) continue;
      const json plain = without_gradients(c);
      const std::string shown = name + c.at("args").dump().substr(0, 160);
      for (tn::Device device : devices()) {
        for (const Dtype dtype : swept_dtypes()) {
          SCOPED_TRACE(device.name() + " " + dtype.name() + " " + shown);
          Tensor x;
          const auto values = [&](const Tensor& t) {
            Tensor y = stepped_layout(converted(t, dtype).to(device));
            if (!x.defined()) x = y;
            return y;
          };
          const Result expected = run(plain, op, values);
          const Tensor before = x;
          x = {};
          const Result found = run(plain, name, values);
          const bool fits = expected.refusal.empty() &&
                            (expected.outputs[0].dtype() == before.dtype() ||
                             expected.outputs[0].dtype() == tn::bool_) &&
                            std::ranges::equal(expected.outputs[0].sizes(), before.sizes());
          EXPECT_EQ(found.refusal.empty(), fits) << found.refusal << " | " << expected.refusal;
          if (!found.refusal.empty() || !fits) continue;
          ++compared;
          for (const Tensor& y : {found.outputs[0], x.to(tn::cpu)}) {
            const std::vector<double> a = y.to_vector<double>(),
                                      b = expected.outputs[0].to_vector<double>();
            EXPECT_EQ(y.dtype(), before.dtype());
            for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
              EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
                  << a[i] << " for " << b[i] << " at " << i;
          }
        }
      }
    }
    EXPECT_GT(compared, 0) << name << " has no case";
  }
}

}  // namespace
