// Every op of the registry that writes an argument: under gradient it is the other spelling of its
// op, to second order, also where it writes a view; it keeps nothing alive, also where what it
// writes comes a second time; and it refuses numbers in place of what it writes.
#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

using nlohmann::json;

struct Parameter {
  std::string type, name;
  bool has_default = false;
  bool written() const { return type.find('!') != std::string::npos; }
  bool list() const { return type.find("[]") != std::string::npos; }
  bool tensor() const { return type.starts_with("Tensor"); }
};
struct OpText {
  std::string name;
  std::vector<Parameter> parameters;
};

// "lerp(Tensor x, Tensor end=3) -> Tensor" in parts; no default has a comma.
OpText parsed(const std::string& schema) {
  OpText op{schema.substr(0, schema.find('(')), {}};
  std::string inside = schema.substr(op.name.size() + 1);
  inside = inside.substr(0, inside.find(") -> "));
  for (size_t at = 0; at < inside.size();) {
    const size_t end = std::min(inside.find(", ", at), inside.size());
    std::string text = inside.substr(at, end - at);
    Parameter p;
    if (const size_t equals = text.find('='); equals != std::string::npos) {
      p.has_default = true;
      text.resize(equals);
    }
    p.name = text.substr(text.rfind(' ') + 1);
    p.type = text.substr(0, text.rfind(' '));
    if (p.type.starts_with("dynamic ")) p.type = p.type.substr(8);
    op.parameters.push_back(p);
    at = end + 2;
  }
  return op;
}

std::vector<OpText> ops(const std::function<bool(const json&)>& wanted) {
  load_all();
  std::vector<OpText> list;
  for (const json& op : json::parse(tn::ops_json())) {
    if (op.at("name").get<std::string>().starts_with("ops.") && wanted(op))
      list.push_back(parsed(op.at("schema")));
  }
  return list;
}
// Those that have a second op, which writes its first argument.
std::vector<OpText> with_inplace() {
  return ops([](const json& op) {
    return std::count(op.at("flags").begin(), op.at("flags").end(), "inplace") != 0;
  });
}

tn_status* call_raw(const std::string& name, const std::vector<tn_value>& values,
                    std::vector<tn_value>* results) {
  const tn_op* op = nullptr;
  tn::check(tn::host()->find_op(name.c_str(), &op));
  return tn::host()->call(op, values.data(), uint32_t(values.size()), results->data(),
                          uint32_t(results->size()));
}

std::string message_of(tn_status* status) {
  const std::string message = tn::host()->status_message(status);
  tn::host()->status_free(status);
  return message;
}

// The op of tensors, numbers where its schema wants numbers. Empty: it refuses these.
Tensor called(const OpText& op, const std::string& name, const TensorList& tensors) {
  std::vector<tn_value> values;
  size_t next = 0;
  for (const Parameter& p : op.parameters) {
    const double number = p.name == "max" || p.name == "max_val" ? 0.8 : 0.4;
    values.push_back(p.tensor() ? tn::detail::to_value(tensors[next++])
                                : tn::detail::to_value(number));
  }
  std::vector<tn_value> results(1);
  if (tn_status* refused = call_raw(name, values, &results)) {
    tn::host()->status_free(refused);
    return {};
  }
  return Tensor::take(results[0].as.tensor);
}

// A leaf for each tensor argument; a mask for `mask`. Values differ by argument.
TensorList leaves_for(const OpText& op, tn::Device device, double scale, double shift) {
  TensorList list;
  for (const Parameter& p : op.parameters) {
    if (!p.tensor()) continue;
    Tensor t = sample({2, 3}, device, 0.7 * double(list.size())) * scale + shift;
    list.push_back(p.name == "mask" ? t > shift : t.detach().requires_grad_());
  }
  return list;
}

std::vector<std::vector<double>> gradients_of(const Tensor& result, const TensorList& leaves) {
  std::vector<std::vector<double>> values{result.to_vector<double>()};
  const auto note = [&](const TensorList& list) {
    for (const Tensor& t : list)
      values.push_back(t.get() != nullptr ? t.to_vector<double>() : std::vector<double>(6));
  };
  const TensorList inputs = floats_of(leaves);
  if (!result.requires_grad()) return values;
  const TensorList first =
      tn::grad({weigh(result)}, inputs, {.create_graph = true, .allow_unused = true});
  note(first);
  Tensor total = (inputs[0] * 0.0).sum();
  for (const Tensor& g : first) {
    if (g.get() != nullptr) total = total + weigh(g, 0.9);
  }
  note(tn::grad({total}, inputs, {.allow_unused = true}));
  return values;
}

void expect_same(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t k = 0; k < expected[i].size(); ++k) {
      // outside of its domain, where 0 * inf may stand for either
      if (std::isnan(expected[i][k])) continue;
      EXPECT_NEAR(found[i][k], expected[i][k], 1e-12 * (1 + std::fabs(expected[i][k])))
          << i << ", " << k;
    }
  }
}

TEST(InPlaceSweep, GradientsAreThoseOfTheOtherSpelling) {
  size_t compared = 0;
  for (const tn::Device device : devices()) {
    for (const OpText& op : with_inplace()) {
      for (const auto& [scale, shift] : {std::pair{0.4, 0.5}, {0.4, 1.6}, {2.0, 0.0}}) {
        SCOPED_TRACE(device.name() + " " + op.name + " " + std::to_string(shift));
        TensorList x = leaves_for(op, device, scale, shift);
        const Tensor apart = called(op, op.name, x);
        if (apart.get() == nullptr) continue;  // of integers alone
        const auto expected = gradients_of(apart.to(tn::float64), x);
        TensorList with = leaves_for(op, device, scale, shift);
        const TensorList own = with;
        const auto expect_written = [&](const Tensor& target) {
          with[0] = target;
          const Tensor written = called(op, op.name + "_", with);
          ASSERT_TRUE(written.get() != nullptr);
          auto found = gradients_of(target, own);
          // Of what gives bools nothing requires a gradient; written over floats its gradient is 0.
          if (expected.size() == 1) {
            for (size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i], std::vector<double>(6));
            found.resize(1);
          }
          expect_same(found, expected);
          ++compared;
        };
        {
          SCOPED_TRACE("clone");
          expect_written(own[0].clone());
        }
        SCOPED_TRACE("view");
        Tensor view = tn::zeros({5, 8}, tn::float64, device).slice(0, 1, 5, 2).slice(1, 1, 4);
        view.copy_(own[0]);
        expect_written(view);
      }
    }
  }
  EXPECT_GT(compared, 300 * devices().size());
}

// Of the repetitions: what is written stands in another argument's place, by itself or as a view;
// all of them; and an op reads a tensor that is written later.
TEST(InPlaceSweep, NothingStaysAlive) {
  for (const tn::Device device : devices()) {
    const auto allocated = [&] { return device.memory_stats().allocated; };
    for (const OpText& op : with_inplace()) {
      SCOPED_TRACE(device.name() + " " + op.name);
      const TensorList x = leaves_for(op, device, 0.4, 0.5);
      const auto round = [&] {
        for (size_t k = 0; k <= x.size(); ++k) {
          for (const bool view : {false, true}) {
            TensorList with = x;
            with[0] = x[0].clone();
            for (size_t i = 1; i < x.size(); ++i) {
              if ((k == i || k == x.size()) && x[i].dtype().is_float())
                with[i] = view ? with[0].view({2, 3}) : with[0];
            }
            called(op, op.name + "_", with);
            with[0] = x[0] * 1.0;
            const Tensor read = called(op, op.name, with);
            if (read.get() != nullptr)
              tn::add_(with[0].view({6}), read.to(tn::float64).reshape({6}));
          }
        }
      };
      round();  // what is cached is cached
      const uint64_t before = allocated();
      round();
      EXPECT_EQ(allocated(), before);
    }
  }
}

TEST(InPlaceSweep, NumbersAreRefusedWhereATensorIsWritten) {
  const Tensor g = tn::ones({2, 3}).requires_grad_();
  const TensorList list{g};
  const std::vector<int64_t> none;
  size_t refused = 0;
  for (const OpText& op : ops([](const json& o) {
         return o.at("schema").get<std::string>().find("!)") != std::string::npos;
       })) {
    for (size_t at = 0; at < op.parameters.size(); ++at) {
      if (!op.parameters[at].written()) continue;
      for (const tn_value& wrong :
           {tn::detail::to_value(3), tn::detail::to_value(2.5), tn::detail::to_value(true)}) {
        std::vector<tn_value> values;
        for (size_t i = 0; i < op.parameters.size(); ++i) {
          const Parameter& p = op.parameters[i];
          if (i == at)
            values.push_back(wrong);
          else if (i > at && p.has_default)
            break;
          else if (p.tensor())
            values.push_back(p.list() ? tn::detail::to_value(list) : tn::detail::to_value(g));
          else
            values.push_back(p.type == "int"    ? tn::detail::to_value(1)
                             : p.type == "bool" ? tn::detail::to_value(true)
                                                : tn::detail::to_value(1.0));
        }
        std::vector<tn_value> results(op.parameters.size());
        const std::string text = op.name + "(" + op.parameters[at].name + ")";
        const tn_op* found = nullptr;
        tn::check(tn::host()->find_op(op.name.c_str(), &found));
        for (uint32_t n : {1u, 0u}) {  // as many results as it gives
          tn_status* status =
              tn::host()->call(found, values.data(), uint32_t(values.size()), results.data(), n);
          ASSERT_NE(status, nullptr) << text;
          const std::string message = message_of(status);
          if (message.find("results were asked for") != std::string::npos) continue;
          const Parameter& p = op.parameters[at];
          const std::string refusal = ": argument '" + p.name + "' must be " + p.type + ", got ";
          // A private op is shown by the name of the op that it is a part of.
          const size_t at_front = op.name.find('_') == 0 || op.name.find("._") != op.name.npos
                                      ? message.find(':')
                                      : op.name.size();
          EXPECT_EQ(message.find(refusal), at_front) << message;
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 300u);
}

// Where nothing but numbers is given, nothing gives a device: the cpu has the result.
TEST(CallSweep, FormulasOfNumbersAloneGiveScalarsOfTheCpu) {
  size_t given = 0;
  const auto formula = [](const json& op) {
    return op.at("kind") == "expression" &&
           op.at("schema").get<std::string>().find('!') == std::string::npos;
  };
  for (const OpText& op : ops(formula)) {
    for (const tn_value& number :
         {tn::detail::to_value(3), tn::detail::to_value(0.5), tn::detail::to_value(true)}) {
      std::vector<tn_value> results(1);
      if (tn_status* refused =
              call_raw(op.name, std::vector<tn_value>(op.parameters.size(), number), &results)) {
        const std::string message = message_of(refused);
        // shown by the name of the op that it is a part of
        const bool part = op.name.starts_with("_");
        EXPECT_EQ(message.find(part ? ": " : op.name + ": "), part ? message.find(':') : 0)
            << message;
        continue;
      }
      const Tensor y = Tensor::take(results[0].as.tensor);
      EXPECT_EQ(y.dim(), 0) << op.name;
      EXPECT_EQ(y.device(), tn::Device(tn::cpu)) << op.name;
      ++given;
    }
  }
  EXPECT_GT(given, 150u);
}

}  // namespace
