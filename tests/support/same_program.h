// A program that runs twice, with a function as it is and compiled, and says what it saw.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops_support.h"

using Function = std::function<Tensor(Tensor)>;
using Wrap = std::function<Function(std::function<Tensor(Tensor)>)>;
// What a program sees: values of tensors, flags, messages.
using Seen = std::vector<std::string>;

inline Tensor m() { return tn::linspace(1, 9, 9).view({3, 3}); }
inline std::string text(const Tensor& t) {
  if (!t.defined()) return "none";
  std::string all;
  for (double v : t.detach().to_vector<double>()) all += std::to_string(v) + " ";
  return all;
}
inline std::string flag(const char* name, bool on) {
  return std::string(name) + (on ? " yes" : " no");
}

inline void expect_same_program(const std::function<Seen(const Wrap&)>& program) {
  load_all();
  tn::manual_seed(1);
  const Seen eager = program([](Function f) { return f; });
  tn::manual_seed(1);
  const Seen compiled = program([](Function f) -> Function {
    return [g = tn::compile([f](Tensor x) { return f(x); })](Tensor x) { return g(x); };
  });
  EXPECT_EQ(compiled, eager);
}
