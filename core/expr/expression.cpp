// The face of the expression language: parse, compile with a cache of programs, gradient with a
// cache of expressions.
#include "expr/expression.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "expr/differentiate.h"
#include "expr/flatten.h"
#include "expr/parse.h"

namespace tenon {
namespace {

// The types of all operands in seven bits each: nine in the first word, which nearly every call
// compares alone.
constexpr uint32_t kOperandsPerWord = 9;
constexpr uint32_t kMaxWords = 5;  // operands, and as many numbers as fit

struct Signature {
  uint64_t words[kMaxWords];
};

inline uint64_t pack(const OperandType* types, uint32_t n) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t bits = static_cast<uint64_t>(types[i].dtype & 15) |
                          static_cast<uint64_t>(types[i].category) << 4 |
                          static_cast<uint64_t>(types[i].as_param) << 6;
    word = word << 7 | bits;
  }
  return word;
}

struct CompiledEntry {
  CompiledEntry* next = nullptr;  // what a search reads comes first, in one line of the cache
  uint32_t n_types;
  Signature signature;
  CompiledProgram compiled;
  FlatProgram flat;
};

struct GradientEntry {
  uint64_t wanted;
  std::unique_ptr<Expression> expression;
  std::vector<GradientSource> sources;
  Expression::Gradient gradient{};  // the two above, as they are given out
  GradientEntry* next = nullptr;
};

std::atomic<uint64_t> next_program_id{1};

// The least version that knows what a program loads, casts to and stores.
uint32_t instruction_set_for(std::span<const OperandType> operands, const FlatProgram& flat,
                             std::span<const tn_dtype> outputs) {
  uint32_t least = 1;
  const auto needs = [&](tn_dtype dtype) { least = std::max(least, instruction_set_of(dtype)); };
  for (const OperandType& operand : operands) {
    if (!operand.as_param) needs(operand.dtype);
  }
  for (const tn_instruction& instruction : flat.instructions) {
    if (instruction.opcode == TN_I_CAST) needs(instruction.dtype);
  }
  for (const tn_dtype output : outputs) needs(output);
  return least;
}

// Lists that only grow, newest first: readers need no lock.
template <typename Entry>
void free_list(Entry* entry) {
  while (entry != nullptr) delete std::exchange(entry, entry->next);
}

// Has the formula a function whose values or slopes leave the range of halves soon? docs/expressions.md
// lists them under AMP.
bool is_of_class_float32(const Formula& formula) {
  for (NodeId id : formula.order) {
    const GraphNode& node = formula.graph[id];
    switch (node.op) {
      case TN_I_EXP:
      case TN_I_EXP2:
      case TN_I_EXPM1:
      case TN_I_LOG:
      case TN_I_LOG2:
      case TN_I_LOG10:
      case TN_I_LOG1P:
      case TN_I_SINH:
      case TN_I_COSH:
      case TN_I_TAN:
      case TN_I_ASIN:
      case TN_I_ACOS:
        return true;
      case TN_I_POW:
        if (!is_simple_power(formula.graph.constant_or(node.args[1], 4))) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

// A gradient's, whose formula has no author.
Schema made_up_schema(const Formula& formula) {
  Schema schema;
  schema.name = formula.name;
  const auto add = [&](const std::string& name, Type type) {
    schema.arguments.emplace_back();
    schema.arguments.back().name = name;
    schema.arguments.back().type = type;
  };
  for (const std::string& operand : formula.operands) add(operand, Type::kTensor);
  for (size_t i = 0; i < formula.scalars.size(); ++i)
    add(formula.scalar_names[i], formula.scalars[i]);
  schema.returns.resize(formula.outputs.size());
  schema.has_returns = true;
  return schema;
}

}  // namespace

struct Expression::Impl {
  Schema schema;
  Formula formula;
  uint64_t differentiable = 0;
  tn_amp_class amp_class = TN_AMP_WIDEST;
  mutable std::mutex mutex;  // of additions to the lists
  mutable std::atomic<CompiledEntry*> programs{nullptr};
  mutable std::atomic<GradientEntry*> gradients{nullptr};

  ~Impl() {
    free_list(programs.load());
    free_list(gradients.load());
  }
  void settle() {
    differentiable = differentiable_operands(formula);
    amp_class = is_of_class_float32(formula) ? TN_AMP_FLOAT32 : TN_AMP_WIDEST;
  }

  const CompiledEntry* find(uint64_t first, const OperandType* types, uint32_t n) const {
    const CompiledEntry* entry = programs.load(std::memory_order_acquire);
    for (; entry != nullptr; entry = entry->next) {
      if (entry->signature.words[0] != first || entry->n_types != n) continue;
      if (n <= kOperandsPerWord) [[likely]]
        return entry;
      bool same = true;
      for (uint32_t i = kOperandsPerWord, word = 1; same && i < n; i += kOperandsPerWord, ++word) {
        same = entry->signature.words[word] == pack(types + i, std::min(kOperandsPerWord, n - i));
      }
      if (same) return entry;
    }
    return nullptr;
  }

  const GradientEntry* find_gradient(uint64_t wanted) const {
    const GradientEntry* entry = gradients.load(std::memory_order_acquire);
    while (entry != nullptr && entry->wanted != wanted) entry = entry->next;
    return entry;
  }

  Status check_types(std::span<const OperandType> types) const;
  Status add_program(std::span<const OperandType> types, const CompiledProgram** compiled) const;
  Status add_gradient(uint64_t wanted, const Gradient** gradient) const;
};

Status Expression::Impl::check_types(std::span<const OperandType> types) const {
  const uint32_t n = formula.n_operands;
  const auto n_numbers = static_cast<size_t>(
      std::count(formula.scalars.begin(), formula.scalars.end(), Type::kNumber));
  if (types.size() != n && types.size() != n + n_numbers) {
    return error(TN_INTERNAL, "{}: {} operand types for {} operands", formula.name, types.size(),
                 n);
  }
  if (types.size() > kOperandsPerWord * kMaxWords) {
    return error(TN_UNSUPPORTED, "{}: {} operands and numbers, at most {} fit", formula.name,
                 types.size(), kOperandsPerWord * kMaxWords);
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype >= 0 && types[i].dtype < TN_N_DTYPES) continue;
    return invalid("{}: argument '{}' has dtype {}, which elementwise operations do not know",
                   formula.name, i < n ? formula.operands[i] : "number", types[i].dtype);
  }
  return nullptr;
}

Status Expression::Impl::add_program(std::span<const OperandType> types,
                                     const CompiledProgram** compiled) const {
  TN_TRY(check_types(types));
  const uint32_t n = static_cast<uint32_t>(types.size());
  Typing typing;
  TN_TRY(type_formula(formula, types, &typing));
  Lowered lowered = lower(formula, types, typing);
  auto entry = std::make_unique<CompiledEntry>();
  TN_TRY(flatten(formula.name, lowered, &entry->flat));
  for (uint32_t i = 0, word = 0; i == 0 || i < n; i += kOperandsPerWord, ++word) {
    entry->signature.words[word] = pack(types.data() + i, std::min(kOperandsPerWord, n - i));
  }
  entry->n_types = n;
  const FlatProgram& flat = entry->flat;
  tn_program& program = entry->compiled.program;
  program.size = sizeof(tn_program);
  program.id = next_program_id.fetch_add(1, std::memory_order_relaxed);
  program.instructions = flat.instructions.data();
  program.n_instructions = static_cast<uint32_t>(flat.instructions.size());
  program.n_registers = flat.n_registers;
  program.constants = flat.constants.data();
  program.n_constants = static_cast<uint32_t>(flat.constants.size());
  program.n_inputs = lowered.n_inputs;
  program.n_outputs = static_cast<uint32_t>(formula.outputs.size());
  program.n_params = static_cast<uint32_t>(lowered.params_are_float.size());
  program.instruction_set =
      instruction_set_for(types.first(formula.n_operands), flat, typing.outputs);
  entry->compiled.output_dtypes = std::move(typing.outputs);
  entry->compiled.common_dtype = typing.common;
  entry->compiled.params_are_float = std::move(lowered.params_are_float);
  entry->compiled.checks = lowered.checks;

  const std::lock_guard lock(mutex);
  // Another thread may have been faster.
  if (const CompiledEntry* found = find(entry->signature.words[0], types.data(), n)) {
    *compiled = &found->compiled;
    return nullptr;
  }
  entry->next = programs.load(std::memory_order_relaxed);
  *compiled = &entry->compiled;
  programs.store(entry.release(), std::memory_order_release);
  return nullptr;
}

Status Expression::Impl::add_gradient(uint64_t wanted, const Gradient** gradient) const {
  if (wanted == 0 || (formula.n_operands < 64 && wanted >> formula.n_operands != 0)) {
    return error(TN_INTERNAL, "{}: gradient asked for operands {:#x} of {}", formula.name, wanted,
                 formula.n_operands);
  }
  const std::lock_guard lock(mutex);
  const GradientEntry* found = find_gradient(wanted);
  if (found == nullptr) {
    auto entry = std::make_unique<GradientEntry>();
    entry->wanted = wanted;
    auto impl = std::make_unique<Impl>();
    differentiate(formula, wanted, &impl->formula, &entry->sources);
    if (entry->sources.size() > kMaxFormulaOperands) {
      return error(TN_UNSUPPORTED, "{}: its gradient reads {} tensors, at most {} are possible",
                   formula.name, entry->sources.size(), kMaxFormulaOperands);
    }
    impl->schema = made_up_schema(impl->formula);
    impl->settle();
    entry->expression.reset(new Expression(std::move(impl)));
    entry->gradient = {entry->expression.get(), entry->sources};
    entry->next = gradients.load(std::memory_order_relaxed);
    found = entry.get();
    gradients.store(entry.release(), std::memory_order_release);
  }
  *gradient = &found->gradient;
  return nullptr;
}

Expression::Expression(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Expression::~Expression() = default;

Status Expression::parse(const Schema& schema, std::string_view text,
                         std::unique_ptr<Expression>* expression) {
  return guarded([&]() -> Status {
    auto impl = std::make_unique<Impl>();
    TN_TRY(parse_formula(schema, text, &impl->formula));
    impl->schema = schema.clone();
    impl->settle();
    // A formula that fits neither floats nor ints nor bools fits nobody: say so now, not at the
    // first call.
    std::unique_ptr<tn_status, decltype(&free_status)> first(nullptr, &free_status);
    for (tn_dtype dtype : {TN_FLOAT32, TN_INT64, TN_BOOL}) {
      const std::vector<OperandType> types(impl->formula.n_operands,
                                           {dtype, Category::kTensor, false});
      Typing typing;
      StatusHolder status(type_formula(impl->formula, types, &typing));
      if (!status) {
        expression->reset(new Expression(std::move(impl)));
        return nullptr;
      }
      if (first == nullptr) first.reset(status.take());
    }
    return first.release();
  });
}

uint32_t Expression::n_operands() const { return impl_->formula.n_operands; }
uint32_t Expression::n_outputs() const {
  return static_cast<uint32_t>(impl_->formula.outputs.size());
}
uint32_t Expression::n_scalars() const {
  return static_cast<uint32_t>(impl_->formula.scalars.size());
}
const std::string& Expression::text() const { return impl_->formula.text; }
const Schema& Expression::schema() const { return impl_->schema; }
tn_amp_class Expression::amp_class() const { return impl_->amp_class; }

bool Expression::differentiable(uint32_t operand) const {
  return operand < 64 && (impl_->differentiable >> operand & 1) != 0;
}

Status Expression::compile(std::span<const OperandType> types,
                           const CompiledProgram** compiled) const {
  const uint32_t n = static_cast<uint32_t>(types.size());
  const uint64_t first = pack(types.data(), std::min(n, kOperandsPerWord));
  if (const CompiledEntry* found = impl_->find(first, types.data(), n)) [[likely]] {
    *compiled = &found->compiled;
    return nullptr;
  }
  return guarded([&] { return impl_->add_program(types, compiled); });
}

Status Expression::gradient(uint64_t wanted, const Gradient** gradient) const {
  if (const GradientEntry* found = impl_->find_gradient(wanted)) [[likely]] {
    *gradient = &found->gradient;
    return nullptr;
  }
  return guarded([&] { return impl_->add_gradient(wanted, gradient); });
}

}  // namespace tenon
