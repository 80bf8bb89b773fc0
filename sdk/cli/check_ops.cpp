// tenon check: every op of the loaded packs that takes arguments drawn by its schema, or that has
// arguments in check_given.cpp, and its gradients.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "check.h"
#include "check_arguments.h"
#include "check_given.h"

namespace tenon::cli::conformance {
namespace {

constexpr int kTries = 60, kCalls = 3;

struct Op {
  std::string name, plugin;
  FaceSchema schema;
  const tn_op* op = nullptr;
  bool is_random = false, has_gradient = false;
  std::vector<uint64_t> draws;  // calls that the other device takes
  Dtype dtype = float32;        // in which it takes them
};

uint64_t hash_of(const std::string& text, uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return seed;
}

// What an op leaves as memory had it is nobody's to compare, nor are signs of vectors that random
// ones give.
bool is_compared(const std::string& name) {
  return name.find("empty") == std::string::npos && !name.ends_with("_lowrank");
}

bool is_part(const std::string& name) { return name.find("._") != std::string::npos; }

TensorList forward(const Op& op, uint64_t draw, Place& place) {
  const Arguments arguments(op.schema, place, Draw(draw), op.plugin == "linalg", false);
  return arguments.call(op.op);
}

// Of the results that have one, with weights that differ, into the leaves.
TensorList gradients_of(const TensorList& results, const TensorList& leaves, const Place& place) {
  TensorList differentiable, weights;
  for (const Tensor& t : results) {
    if (!t.requires_grad()) continue;
    differentiable.push_back(t);
    const Sizes sizes(t.sizes().begin(), t.sizes().end());
    const Tensor host = Place(cpu, float64, false, t.numel() * 7 + 1).tensor(sizes);
    weights.push_back(host.to(float32).to(t.dtype()).to(place.device()));
  }
  if (differentiable.empty() || leaves.empty()) fail("no result has a gradient", TN_UNSUPPORTED);
  return grad(differentiable, leaves, {.grad_outputs = weights, .allow_unused = true});
}

TensorList gradients(const Op& op, uint64_t draw, Place& place) {
  const Arguments arguments(op.schema, place, Draw(draw), op.plugin == "linalg", true);
  return gradients_of(arguments.call(op.op), arguments.leaves(), place);
}

TensorList forward(const GivenCall& given, Place& place) {
  Given in(place, false);
  TensorList results = given.call(in);
  results.insert(results.end(), in.written_to().begin(), in.written_to().end());
  return results;
}

TensorList gradients(const GivenCall& given, Place& place) {
  Given in(place, true);
  const TensorList results = given.call(in);
  return gradients_of(results, in.leaves(), place);
}

// Calls of the op that the other device takes, the first ones of a few dozen.
void find_calls(const Checks& checks, Op* op) {
  const Settings& settings = checks.settings();
  for (const Dtype dtype : {float32, int64}) {
    for (int i = 0; i < kTries && op->draws.size() < kCalls; ++i) {
      const uint64_t draw = hash_of(op->name, settings.seed * 1000003 + static_cast<uint64_t>(i));
      try {
        Place place(settings.oracle, dtype, true, draw);
        const TensorList results = forward(*op, draw, place);
        const bool is_something = std::any_of(results.begin(), results.end(),
                                              [](const Tensor& t) { return t.numel() > 0; });
        if (is_something) op->draws.push_back(draw);
      } catch (const Error&) {
      }
    }
    op->dtype = dtype;
    if (!op->draws.empty()) return;
  }
}

std::vector<Op> ops_of_packs() {
  std::vector<Op> list;
  for (const auto& entry : nlohmann::json::parse(ops_json())) {
    Op op;
    op.name = entry.at("name");
    if (!is_compared(op.name)) continue;
    op.plugin = entry.at("plugin");
    op.schema = parse_face_schema(entry.at("schema").get<std::string>());
    const auto& flags = entry.at("flags");
    const auto flagged = [&](const char* flag) {
      return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    const bool is_written =
        std::any_of(op.schema.arguments.begin(), op.schema.arguments.end(),
                    [](const FaceArgument& argument) { return argument.written; });
    op.is_random = flagged("random");
    op.has_gradient = !flagged("no_gradient") && !is_written;
    tenon::check(detail::api.host->find_op(op.name.c_str(), &op.op));
    list.push_back(std::move(op));
  }
  return list;
}

const Op* find(const std::vector<Op>& ops, const std::string& name) {
  const auto op = std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return o.name == name; });
  return op == ops.end() ? nullptr : &*op;
}

}  // namespace

void check_ops(Checks& checks) {
  std::vector<Op> ops = ops_of_packs();
  const std::string& only = checks.settings().only;
  for (Op& op : ops) {
    const std::string names = "op " + op.name + " ", of_gradient = "gradient " + op.name + " ";
    const bool may_be_meant = only.empty() || names.find(only) != std::string::npos ||
                              of_gradient.find(only) != std::string::npos ||
                              only.find(names) != std::string::npos ||
                              only.find(of_gradient) != std::string::npos;
    if (may_be_meant) find_calls(checks, &op);
  }
  checks.begin("ops");
  for (const Op& op : ops) {
    for (size_t k = 0; k < op.draws.size(); ++k) {
      for (const Dtype dtype : kDtypes) {
        if (k > 0 && dtype != op.dtype) continue;
        checks.compare(fmt::format("op {} {} #{}", op.name, dtype.name(), k),
                       {.dtype = dtype,
                        .of_op = true,
                        .same_dtype = op.is_random,
                        .is_part = is_part(op.name)},
                       [&](Place& place) { return forward(op, op.draws[k], place); });
      }
    }
  }
  std::set<std::string> called;
  struct Case {
    std::string name;
    const GivenCall* call;
    bool has_gradient;
  };
  std::vector<Case> given;
  std::map<std::string, int> of_op;
  for (const GivenCall& call : given_calls()) {
    const Op* op = find(ops, call.ops[0]);
    if (op == nullptr) continue;  // its pack is not loaded
    called.insert(call.ops.begin(), call.ops.end());
    given.push_back({fmt::format("given {}", of_op[op->name]++), &call, op->has_gradient});
  }
  for (const Case& one : given) {
    for (const Dtype dtype : {float32, float64, float16, bfloat16}) {
      checks.compare(fmt::format("op {} {} {}", one.call->ops[0], dtype.name(), one.name),
                     {.dtype = dtype, .of_op = true},
                     [&](Place& place) { return forward(*one.call, place); });
    }
  }
  checks.begin("gradients");
  for (const Case& one : given) {
    if (!one.has_gradient) continue;
    checks.compare(fmt::format("gradient {} float32 {}", one.call->ops[0], one.name),
                   {.of_op = true, .n_values = 0},
                   [&](Place& place) { return gradients(*one.call, place); });
  }
  for (const Op& op : ops) {
    if (!op.has_gradient || op.dtype != float32) continue;
    for (size_t k = 0; k < op.draws.size(); ++k) {
      checks.compare(
          fmt::format("gradient {} float32 #{}", op.name, k),
          {.of_op = true, .same_dtype = op.is_random, .is_part = is_part(op.name), .n_values = 0},
          [&](Place& place) { return gradients(op, op.draws[k], place); });
    }
  }
  if (!only.empty()) return;
  for (const Op& op : ops)
    if (op.draws.empty() && !called.contains(op.name)) checks.uncalled.push_back(op.name);
}

}  // namespace tenon::cli::conformance
