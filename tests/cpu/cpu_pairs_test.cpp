// Programs whose instructions are taken two at a time (programs/pairs.h) have the bits of one
// instruction at a time: random programs over floats, against an interpreter of the test's own. CTest
// runs it once for each instruction set (TENON_CPU_ISA).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "cpu_host.h"

#include <gtest/gtest.h>

namespace cpu_test {
namespace {

// A function of its own: nothing is contracted over a call.
[[gnu::noinline]] float apply(int opcode, float a, float b) {
  switch (opcode) {
    case TN_I_ADD:
      return a + b;
    case TN_I_SUB:
      return a - b;
    case TN_I_MUL:
      return a * b;
    case TN_I_DIV:
      return a / b;
    case TN_I_MAX:
      return a > b || a != a ? a : b;
    case TN_I_MIN:
      return a < b || a != a ? a : b;
    case TN_I_EQ:
      return a == b;
    case TN_I_NE:
      return a != b;
    case TN_I_LT:
      return a < b;
    case TN_I_LE:
      return a <= b;
    case TN_I_GT:
      return a > b;
    case TN_I_GE:
      return a >= b;
    case TN_I_NEG:
      return -a;
    default:
      return std::abs(a);
  }
}

class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {}

  // One program on n elements; its text where a bit is wrong.
  std::string try_one(int64_t n) {
    code_.clear();
    floats_.clear();
    n_outputs_ = 1 + pick(4) / 3;
    for (int k = 0; k < kInputs; ++k) push_float(in(TN_I_LOAD, TN_FLOAT32, next(), k));
    push_float(in(TN_I_CONST, TN_FLOAT32, next(), 0));
    push_float(in(TN_I_PARAM, TN_FLOAT32, next(), 0));
    const int count = 2 + pick(12);
    for (int i = 0; i < count; ++i) add_instruction();
    for (uint32_t o = 0; o < n_outputs_; ++o) {
      const int value =
          o == 0 ? floats_.back() : floats_[static_cast<size_t>(pick(int(floats_.size())))];
      code_.push_back(in(TN_I_STORE, TN_FLOAT32, 0, value, static_cast<int>(o)));
    }
    return run_on(n);
  }

 private:
  static constexpr int kInputs = 4;  // the last two are one element for all

  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  int next() const { return static_cast<int>(code_.size()); }
  void push_float(tn_instruction i) {
    floats_.push_back(i.dst);
    code_.push_back(i);
  }
  // Most of the time what was just computed.
  int operand() {
    const int n = static_cast<int>(floats_.size());
    return floats_[static_cast<size_t>(pick(3) != 0 ? n - 1 - pick(std::min(n, 3)) : pick(n))];
  }
  int as_double(int value) {
    code_.push_back(in(TN_I_CAST, TN_FLOAT64, next(), value, 0, 0, TN_FLOAT32));
    return code_.back().dst;
  }
  void add_instruction() {
    constexpr int kBinary[] = {TN_I_ADD, TN_I_SUB, TN_I_MUL, TN_I_MAX, TN_I_MIN, TN_I_DIV};
    const int kind = pick(10);
    if (kind == 0) {
      push_float(in(pick(2) ? TN_I_NEG : TN_I_ABS, TN_FLOAT32, next(), operand()));
    } else if (kind < 4) {
      const bool wide = pick(4) == 0;  // doubles are compared, which is no pair
      const int a = wide ? as_double(operand()) : operand();
      const int b = wide ? as_double(operand()) : operand();
      const int condition = next();
      code_.push_back(
          in(TN_I_EQ + pick(6), TN_BOOL, condition, a, b, 0, wide ? TN_FLOAT64 : TN_FLOAT32));
      if (pick(3) == 0) push_float(in(TN_I_SUB, TN_FLOAT32, next(), operand(), operand()));
      push_float(in(TN_I_WHERE, TN_FLOAT32, next(), condition, operand(), operand()));
    } else {
      push_float(in(kBinary[pick(6)], TN_FLOAT32, next(), operand(), operand()));
    }
  }
  float value() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float special[] = {0.f, -0.f, 1.f, -1.f, kInf, -kInf, 1e-40f, 3e38f, std::nanf("")};
    const int i = pick(40);
    if (i >= 34)
      return std::ldexp(pick(2) ? 1.f : -1.f, pick(278) - 149);  // and what is divided by it
    return i < 9 ? special[i] : std::ldexp(static_cast<float>(pick(2001) - 1000), pick(20) - 14);
  }

  // The values of all registers for one element.
  std::vector<float> interpret(const float* inputs) const {
    std::vector<float> r(code_.size());
    for (const tn_instruction& i : code_) {
      switch (i.opcode) {
        case TN_I_LOAD:
          r[i.dst] = inputs[i.a];
          break;
        case TN_I_CONST:
          r[i.dst] = constant_;
          break;
        case TN_I_PARAM:
          r[i.dst] = param_;
          break;
        case TN_I_WHERE:
          r[i.dst] = r[i.a] != 0 ? r[i.b] : r[i.c];
          break;
        case TN_I_CAST:
          r[i.dst] = r[i.a];
          break;
        case TN_I_STORE:
          break;
        default:
          r[i.dst] = apply(i.opcode, r[i.a], r[i.b]);
      }
    }
    return r;
  }

  std::string run_on(int64_t n) {
    constant_ = value();
    param_ = value();
    tn_scalar constant = {}, param = {};
    constant.f = constant_;
    param.f = param_;
    const Program& program = Program::make(n_outputs_, kInputs, code_, {constant}, /*n_params=*/1);
    std::vector<std::unique_ptr<Tensor>> inputs, outputs;
    const int64_t step = pick(4) == 0 ? 3 : 1;  // of the second operand
    for (int k = 0; k < kInputs; ++k) {
      inputs.push_back(std::make_unique<Tensor>(std::vector<int64_t>{k < 2 ? n : 1}, TN_FLOAT32,
                                                std::vector<int64_t>{k == 1 ? step : 1}));
      inputs.back()->fill([&](int64_t) { return value(); });
    }
    std::vector<Tensor*> operands;
    const bool in_place = pick(3) == 0;
    for (uint32_t o = 0; o < n_outputs_; ++o) {
      outputs.push_back(std::make_unique<Tensor>(std::vector<int64_t>{n}, TN_FLOAT32));
      operands.push_back(in_place && o == 0 ? inputs[0].get() : outputs[o].get());
    }
    std::vector<float> expected;
    for (int64_t i = 0; i < n; ++i) {
      float element[kInputs];
      for (int k = 0; k < kInputs; ++k)
        element[k] = inputs[static_cast<size_t>(k)]->data<float>()[k == 0   ? i
                                                                   : k == 1 ? i * step
                                                                            : 0];
      const std::vector<float> r = interpret(element);
      for (const tn_instruction& store : code_)
        if (store.opcode == TN_I_STORE) expected.push_back(r[store.a]);
    }
    std::vector<std::vector<int64_t>> strides(n_outputs_, {1});
    for (int k = 0; k < kInputs; ++k) {
      operands.push_back(inputs[static_cast<size_t>(k)].get());
      strides.push_back({k == 0 ? 1 : k == 1 ? step : 0});
    }
    EXPECT_EQ(run(program, operands, {n}, strides, {param}), "");
    for (int64_t i = 0; i < n; ++i) {
      for (uint32_t o = 0; o < n_outputs_; ++o) {
        const float got = operands[o]->data<float>()[i];
        const float want = expected[static_cast<size_t>(i) * n_outputs_ + o];
        if (Tensor::float_bits(got) == Tensor::float_bits(want) ||
            (std::isnan(got) && std::isnan(want)))
          continue;
        return text_of(i, o, got, want);
      }
    }
    return "";
  }
  std::string text_of(int64_t i, uint32_t output, float got, float want) const {
    std::string text = "element " + std::to_string(i) + " of output " + std::to_string(output) +
                       " is " + std::to_string(got) + ", expected " + std::to_string(want);
    for (const tn_instruction& line : code_) {
      text += "\n  r" + std::to_string(line.dst) + " = " + std::to_string(line.opcode) + " " +
              std::to_string(line.a) + " " + std::to_string(line.b) + " " + std::to_string(line.c);
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<tn_instruction> code_;
  std::vector<int> floats_;  // registers
  uint32_t n_outputs_ = 1;
  float constant_ = 0, param_ = 0;
};

TEST(CpuPairs, HaveTheBitsOfOneInstructionAtATime) {
  constexpr int64_t kSizes[] = {1, 3, 8, 15, 16, 17, 31, 64, 100, 511, 512, 513, 700};
  Programs programs(20261130);
  for (int i = 0; i < 3000; ++i) {
    const std::string wrong = programs.try_one(kSizes[i % std::size(kSizes)]);
    ASSERT_EQ(wrong, "") << "program " << i;
  }
}

}  // namespace
}  // namespace cpu_test
