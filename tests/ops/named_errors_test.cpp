// An error begins with the name of the op that was called, whatever op, primitive or formula inside
// said it: every op of the registry is called with shapes, dtypes and devices that do not fit.
#include <map>

#include "torch_cases.h"

namespace {

using namespace torch_cases;

// The arguments of "name(Tensor x, int[] dims=[], ..) -> ..": each as text.
std::vector<std::string> arguments_of(const std::string& schema) {
  std::vector<std::string> list;
  std::string current;
  int depth = 0;
  bool text = false;
  for (size_t i = schema.find('(') + 1; i < schema.size(); ++i) {
    const char c = schema[i];
    if (c == '"' || c == '\'') text = !text;
    if (!text && (c == '(' || c == '[')) ++depth;
    if (!text && (c == ')' || c == ']') && depth-- == 0) break;
    if (c == ',' && depth == 0 && !text) {
      list.push_back(current);
      current.clear();
    } else if (c != ' ' || !current.empty()) {
      current += c;
    }
  }
  if (!current.empty()) list.push_back(current);
  return list;
}

struct Values {
  std::vector<tn_value> list;
  std::vector<std::unique_ptr<TensorList>> tensors;
};

// One for each argument without a default: tensors as `next` gives them, plain values else.
Values plain_values(const std::string& schema, const std::function<Tensor()>& next) {
  static const int64_t kOne = 1;
  static const double kHalf = 0.5;
  // Values borrow lists.
  static const tn::Ints kOnes = {kOne};
  static const tn::Floats kHalves = {kHalf};
  Values values;
  for (std::string a : arguments_of(schema)) {
    if (a.find('=') != std::string::npos) break;
    if (a.starts_with("dynamic ")) a = a.substr(8);
    const std::string type = a.substr(0, a.find(' '));
    tn_value v = tn::detail::to_value(tn::none);
    if (type.starts_with("Tensor")) {
      const bool list = type.find("[]") != std::string::npos;
      auto& tensors = *values.tensors.emplace_back(std::make_unique<TensorList>());
      for (int i = 0; i < (list ? 2 : 1); ++i) tensors.push_back(next());
      v = list ? tn::detail::to_value(tensors) : tn::detail::to_value(tensors[0]);
    } else if (type == "int" || type == "number") {
      v = tn::detail::to_value(kOne);
    } else if (type == "int[]") {
      v = tn::detail::to_value(kOnes);
    } else if (type == "float[]") {
      v = tn::detail::to_value(kHalves);
    } else if (type == "float") {
      v = tn::detail::to_value(kHalf);
    } else if (type == "bool") {
      v = tn::detail::to_value(false);
    } else if (type == "str") {
      v = tn::detail::to_value("ij,jk->ik");
    }
    values.list.push_back(v);
  }
  return values;
}

// The message of the call, or none.
std::string message_of(const std::string& op, const std::vector<tn_value>& values,
                       size_t n_results) {
  try {
    const tn_op* found = nullptr;
    tn::check(tn::host()->find_op(op.c_str(), &found));
    std::vector<tn_value> results(n_results);
    tn::check(tn::host()->call(found, values.data(), static_cast<uint32_t>(values.size()),
                               results.data(), static_cast<uint32_t>(n_results)));
    for (tn_value& v : results) tn::host()->value_release(&v);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

size_t results_of(const std::string& schema) {
  const std::string returns = schema.substr(schema.rfind("->") + 2);
  if (returns == " ()") return 0;
  return returns.find('(') == std::string::npos
             ? 1
             : static_cast<size_t>(std::ranges::count(returns, ',')) + 1;
}

class Messages : public testing::Test {
 protected:
  void expect_named(const std::string& op, const std::string& message) {
    if (message.empty()) return;
    ++refused_;
    EXPECT_TRUE(message.starts_with(op + ":")) << op << " says: " << message;
  }
  int refused_ = 0;
};

TEST_F(Messages, OfEveryOpBeginWithItsName) {
  const tn::Device other = devices().back();
  const std::vector<std::vector<int64_t>> shapes = {{2, 3}, {4, 5, 6}, {7}, {}, {2, 0, 3, 1, 2}};
  const std::vector<tn::Dtype> dtypes = {tn::float32, tn::int64, tn::bool_, tn::float16};
  for (const auto& op : json::parse(tn::ops_json())) {
    const std::string full = op.at("name"), schema = op.at("schema");
    const std::string name = schema.substr(0, schema.find('('));
    if (name.starts_with("_")) continue;  // parts of others, which nobody calls by name
    for (size_t shift = 0; shift < shapes.size(); ++shift) {
      for (size_t kind = 0; kind < dtypes.size(); ++kind) {
        for (int device : {0, 1}) {
          size_t i = 0;
          const Values values = plain_values(schema, [&] {
            const size_t at = i++;
            const auto& sizes = shapes[(shift + at * (kind % 2)) % shapes.size()];
            return tn::ones(sizes, dtypes[(kind + at * (shift % 2)) % dtypes.size()],
                            device == 1 && at == 1 ? other : tn::cpu);
          });
          SCOPED_TRACE(full);
          // As programs call it: with its pack, but for the standard one.
          expect_named(full.starts_with("ops.") ? name : full,
                       message_of(full, values.list, results_of(schema)));
        }
      }
    }
  }
  EXPECT_GT(refused_, 1000);
}

// The calls of torch_values.json, with one tensor that does not fit.
TEST_F(Messages, OfCallsWithOneMisfitBeginWithTheName) {
  const tn::Device other = devices().back();
  std::map<std::string, size_t> results;
  for (const auto& op : json::parse(tn::ops_json())) {
    const std::string schema = op.at("schema");
    results[schema.substr(0, schema.find('('))] = results_of(schema);
  }
  const std::vector<std::function<Tensor(const Tensor&)>> misfits = {
      [](const Tensor& t) {
        return tn::ones({3, 5, 7}, t.dtype());
      },
      [](const Tensor& t) { return t.to(tn::bool_); },
      [](const Tensor& t) { return t.to(t.dtype().is_float() ? tn::int32 : tn::float32); },
      [=](const Tensor& t) { return t.to(other); },
      // out of range where it is an index
      [](const Tensor& t) { return t.dtype().is_float() ? t : t + 1000; }};
  for (json c : all_cases()) {
    const std::string op = c.at("op");
    if (op.starts_with("_")) continue;  // shown by the name of what it stands for
    c.erase("grad");
    for (const auto& misfit : misfits) {
      for (size_t chosen = 0; chosen < 4; ++chosen) {
        size_t at = 0;
        const Arguments arguments(c, tn::cpu, [&](const Tensor& t) {
          Tensor x = t.dtype().is_float() ? t.to(tn::float32) : t;
          return at++ == chosen ? misfit(x) : x;
        });
        if (at <= chosen) continue;
        SCOPED_TRACE(c.at("args").dump().substr(0, 160));
        expect_named(op, message_of(op, arguments.values, results.at(op)));
      }
    }
  }
  EXPECT_GT(refused_, 500);
}

TEST_F(Messages, KeepWhatWasSaidInside) {
  const auto bools = [](std::vector<int64_t> sizes) { return tn::ones(sizes, tn::bool_); };
  expect_error(
      [&] {
        tn::conv2d(bools({1, 1, 4, 4}), bools({1, 1, 2, 2}));
      },
      "conv2d: matmul: a is [1, 1, 4] bool on cpu");
  expect_error(
      [&] {
        tn::conv2d(bools({1, 1, 4, 4}), bools({1, 1, 2, 2}));
      },
      "(x is [1, 1, 4, 4] bool on cpu, weight is [1, 1, 2, 2] bool on cpu)");
  expect_error(
      [] {
        tn::amax(tn::zeros({2, 0}), 1);
      },
      "amax: max: [2, 0] has no elements along the reduced dimensions");
  expect_error(
      [] {
        tn::embedding(tn::zeros({3, 2}), tn::full({1}, 7, tn::int64));
      },
      "embedding: gather: ");
}

}  // namespace
