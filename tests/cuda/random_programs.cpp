// random_programs N: calls N random formulas on the device `cuda`, for cuda_nvrtc_test, which compiles
// the kernel texts that come of it (TENON_FAKE_CUDA_RECORD). Operands have random dtypes and lie
// dense, transposed, broadcast or as one element; some formulas stand around a reduction.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "tenon/ops/primitive.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;

namespace {

constexpr const char* kUnary[] = {
    "abs",   "sign",  "floor",    "ceil",        "round",   "trunc", "sqrt",       "exp",
    "exp2",  "expm1", "log",      "log2",        "log10",   "log1p", "sin",        "cos",
    "tan",   "asin",  "acos",     "atan",        "sinh",    "cosh",  "tanh",       "asinh",
    "acosh", "atanh", "erf",      "erfc",        "sigmoid", "rsqrt", "reciprocal", "square",
    "isnan", "isinf", "isfinite", "logical_not", "float",   "int",   "bool"};
constexpr const char* kBinary[] = {"pow",       "atan2",     "fmod", "remainder",
                                   "floor_div", "trunc_div", "min",  "max"};
constexpr const char* kOperators[] = {"+",  "-",  "*", "/", "//", "%",  "<",  "<=",  ">", ">=",
                                      "==", "!=", "&", "|", "^",  "<<", ">>", "and", "or"};

class Random {
 public:
  explicit Random(unsigned seed) : bits_(seed) {}
  int below(int n) { return static_cast<int>(bits_() % static_cast<unsigned>(n)); }
  template <class T, size_t n>
  T one_of(const T (&list)[n]) {
    return list[below(static_cast<int>(n))];
  }

 private:
  std::mt19937 bits_;
};

struct Formula {
  int operands, scalars, results;
  std::string schema, text;
};

// An expression of that many levels. Which functions take which dtypes the core knows: what does not
// fit is refused, and another formula is tried.
std::string expression(Random& random, const Formula& f, int levels) {
  if (levels == 0 || random.below(8) == 0) {
    if (f.scalars > 0 && random.below(6) == 0) return "s" + std::to_string(random.below(f.scalars));
    if (random.below(6) == 0) return random.below(2) ? "3" : "0.75";
    return "x" + std::to_string(random.below(f.operands));
  }
  const auto part = [&] { return expression(random, f, levels - 1); };
  switch (random.below(8)) {
    case 0:
    case 1:
      return std::string(random.one_of(kUnary)) + "(" + part() + ")";
    case 2: {
      const std::string name = random.one_of(kBinary), first = part();
      return name + "(" + first + ", " + part() + ")";
    }
    case 3: {
      const std::string condition = part(), yes = part();
      return "where(bool(" + condition + "), " + yes + ", " + part() + ")";
    }
    default: {
      const std::string left = part(), sign = random.below(2) ? random.one_of(kOperators)
                                                              : kOperators[random.below(4)];
      return "(" + left + " " + sign + " " + part() + ")";
    }
  }
}

Formula make_formula(Random& random, bool is_prologue) {
  Formula f = {1 + random.below(4), random.below(3), is_prologue ? 1 : 1 + random.below(2), "", ""};
  f.schema = "f(";
  for (int k = 0; k < f.operands; ++k)
    f.schema += (k ? ", Tensor x" : "Tensor x") + std::to_string(k);
  for (int k = 0; k < f.scalars; ++k) f.schema += ", float s" + std::to_string(k);
  f.schema += f.results == 2 ? ") -> (Tensor, Tensor)" : ") -> Tensor";
  for (int k = 0; k < f.results; ++k)
    f.text += (k ? "; " : "") + expression(random, f, 1 + random.below(5));
  return f;
}

// Of [6, 8] when it is broadcast.
tn::Tensor operand(Random& random, tn::Device device) {
  static const tn::Dtype kDtypes[] = {tn::float32, tn::float32, tn::float16, tn::bfloat16,
                                      tn::float64, tn::int64,   tn::int32,   tn::int16,
                                      tn::int8,    tn::uint8,   tn::bool_};
  const tn::Dtype dtype = random.one_of(kDtypes);
  const auto make = [&](tn::Ints sizes) { return tn::empty(sizes, dtype, device); };
  switch (random.below(6)) {
    case 0:
      return make({8, 6}).t();
    case 1:
      return random.below(2) ? make({8}) : make({6, 1});
    case 2:
      return make({1}).reshape({});
    default:
      return make({6, 8});
  }
}

// Host-owned, as calls borrow it.
std::deque<std::string>& texts() {
  static auto& all = *new std::deque<std::string>;
  return all;
}

void call(const Formula& f, Random& random, bool is_prologue, tn::Device device) {
  const tn::ExpressionRef reference(texts().emplace_back(f.schema).c_str(),
                                    texts().emplace_back(f.text).c_str());
  std::vector<tn::Tensor> xs;
  for (int k = 0; k < f.operands; ++k) xs.push_back(operand(random, device));
  if (is_prologue) {
    const std::vector<double> scalars(static_cast<size_t>(f.scalars), 1.25);
    tn::prim::reduce(random.below(4), xs, {random.below(2)}, false, reference, scalars);
    return;
  }
  std::vector<tn_value> values;
  for (const tn::Tensor& x : xs) values.push_back(tn::detail::to_value(x));
  for (int k = 0; k < f.scalars; ++k) values.push_back(tn::detail::to_value(1.25));
  tn_value results[2] = {};
  tn::check(tn::host()->call(reference.get(), values.data(), static_cast<uint32_t>(values.size()),
                             results, static_cast<uint32_t>(f.results)));
  for (tn_value& result : results) tn::host()->value_release(&result);
}

}  // namespace

int main(int argc, char** argv) {
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 100;
  tn::load_plugins();
  const tn::Device device("cuda:0");
  int done = 0;
  for (unsigned seed = 0; done < wanted && seed < static_cast<unsigned>(wanted) * 40; ++seed) {
    Random random(seed);
    const bool is_prologue = random.below(6) == 0;
    const Formula formula = make_formula(random, is_prologue);
    try {
      call(formula, random, is_prologue, device);
      ++done;
    } catch (const std::exception& e) {
      if (std::getenv("TENON_RANDOM_REFUSALS"))
        std::printf("%s: %s\n", formula.text.c_str(), e.what());
    }
  }
  std::printf("%d formulas\n", done);
  return done == wanted ? 0 : 1;
}
