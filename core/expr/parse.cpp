// The parser of formulas: statements here, expressions by precedence climbing.
#include "expr/parse.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "base/text.h"
#include "expr/functions.h"
#include "expr/lexer.h"

namespace tenon {
namespace {

struct Name {
  NodeId node;
  bool is_of_derivative;  // g, out, or a `let` that uses them: no part of an output
};

class FormulaParser {
 public:
  explicit FormulaParser(Formula* formula)
      : formula_(*formula), graph_(formula->graph), lexer_(formula->text) {}

  void define(std::string name, NodeId node, bool is_of_derivative = false) {
    names_.insert_or_assign(std::move(name), Name{node, is_of_derivative});
  }

  Status parse() {
    advance();
    while (token_.kind != Token::kEnd) {
      if (token_.kind == Token::kLineEnd) {
        advance();
        continue;
      }
      TN_TRY(statement());
      if (token_.kind != Token::kLineEnd && token_.kind != Token::kEnd)
        return unexpected("an operator or the end");
    }
    if (formula_.outputs.size() == formula_.inplace.size()) return nullptr;
    return invalid("{}: the schema has {} result{}, the expression {} formula{}", formula_.name,
                   formula_.inplace.size(), formula_.inplace.size() == 1 ? "" : "s",
                   formula_.outputs.size(), formula_.outputs.size() == 1 ? "" : "s");
  }

 private:
  template <typename... Args>
  Status refuse(size_t at, fmt::format_string<Args...> format, Args&&... args) {
    return invalid("{}: {}: {}", formula_.name, place_text(formula_.text, at),
                   fmt::format(format, std::forward<Args>(args)...));
  }
  std::string found() const {
    if (token_.kind == Token::kEnd) return "the end";
    if (token_.kind == Token::kLineEnd) return token_.text == ";" ? "';'" : "the end of the line";
    return fmt::format("'{}'", token_.text);
  }
  Status unexpected(std::string_view expected) {
    for (auto [wrong, right] : {std::pair{"&&", "and"}, {"||", "or"}, {"!", "not"}}) {
      if (token_.text == wrong) return refuse(token_.at, "'{}' is written '{}' here", wrong, right);
    }
    return refuse(token_.at, "expected {}, found {}", expected, found());
  }

  void advance() {
    token_ = ahead_.at == kNothing ? lexer_.next() : ahead_;
    ahead_.at = kNothing;
    const bool may_be = token_.kind == Token::kSymbol || token_.kind == Token::kName;
    operator_ = may_be ? find_operator(token_.text) : nullptr;
  }
  const Token& ahead() {
    if (ahead_.at == kNothing) ahead_ = lexer_.next();
    return ahead_;
  }
  static bool is_symbol(const Token& token, char symbol) {
    return token.kind == Token::kSymbol && token.text.size() == 1 && token.text[0] == symbol;
  }
  bool at_symbol(char symbol) const { return is_symbol(token_, symbol); }
  bool take(char symbol) {
    if (!at_symbol(symbol)) return false;
    advance();
    return true;
  }
  Status expect(char symbol) {
    if (take(symbol)) return nullptr;
    return unexpected(fmt::format("'{}'", symbol));
  }

  Status statement() {
    used_derivative_name_ = false;
    if (token_.kind == Token::kName && token_.text == "let") {
      advance();
      return assignment(/*is_let=*/true);
    }
    if (token_.kind == Token::kName && token_.text == "when")
      return refuse(token_.at, "'when' is for an op that has a name");
    if (token_.kind == Token::kName && is_symbol(ahead(), '=')) {
      return assignment(/*is_let=*/false);
    }
    in_output_ = true;
    NodeId node = kNoNode;
    TN_TRY(expression(kLoosest, &node));
    in_output_ = false;
    formula_.outputs.push_back(node);
    return nullptr;
  }

  Status assignment(bool is_let) {
    if (token_.kind != Token::kName) return unexpected("a name");
    const std::string_view name = token_.text;
    const size_t at = token_.at;
    size_t operand = 0;
    if (is_let) {
      if (!is_free_name(name)) return refuse(at, "'{}' is reserved", name);
      if (names_.contains(name)) return refuse(at, "'{}' is there already", name);
    } else {
      const std::vector<std::string>& operands = formula_.operands;
      while (operand < operands.size() && (name[0] != 'd' || operands[operand] != name.substr(1)))
        ++operand;
      if (operand == operands.size()) {
        std::vector<std::string> known;
        for (const std::string& argument : operands) known.push_back("d" + argument);
        return refuse(
            at, "'{}' is no derivative of a Tensor argument{}", name,
            known.empty() ? "" : fmt::format("; there is '{}'", fmt::join(known, "', '")));
      }
      if (formula_.stated[operand] != kNoNode) return refuse(at, "'{}' is stated already", name);
    }
    advance();
    TN_TRY(expect('='));
    NodeId node = kNoNode;
    TN_TRY(expression(kLoosest, &node));
    if (is_let) {
      define(std::string(name), node, used_derivative_name_);
    } else {
      formula_.stated[operand] = node;
    }
    return nullptr;
  }

  // Everything that binds at least as tightly as `loosest`.
  Status expression(uint8_t loosest, NodeId* node) {
    if (++depth_ > kMaxFormulaDepth)
      return refuse(token_.at, "nested deeper than {}", kMaxFormulaDepth);
    TN_TRY(prefix(loosest, node));
    bool compared = false;
    for (const Operator* op; (op = operator_) != nullptr && op->precedence >= loosest;) {
      if (op->precedence == kComparison && compared) {
        return refuse(token_.at, "comparisons do not chain: write (a {} b) and (b {} c)", op->text,
                      op->text);
      }
      compared = op->precedence == kComparison;
      const size_t at = token_.at;
      advance();
      NodeId right = kNoNode;
      TN_TRY(expression(op->precedence == kPower ? kUnary : op->precedence + 1, &right));
      if (op->precedence <= kAndPrecedence) {
        *node = graph_.make(kToBool, {*node}, at);
        right = graph_.make(kToBool, {right}, at);
      }
      *node = graph_.make(op->op, {*node, right}, at);
    }
    --depth_;
    return nullptr;
  }

  Status prefix(uint8_t loosest, NodeId* node) {
    const size_t at = token_.at;
    if (token_.kind == Token::kName && token_.text == "not") {
      if (loosest > kComparison) return refuse(at, "'not' needs parentheses here");
      advance();
      TN_TRY(expression(kComparison, node));
      *node = graph_.make(TN_I_NOT, {graph_.make(kToBool, {*node}, at)}, at);
      return nullptr;
    }
    for (auto [symbol, op] : {std::pair{'-', TN_I_NEG}, {'~', TN_I_NOT}, {'+', TN_I_MOVE}}) {
      if (!at_symbol(symbol)) continue;
      advance();
      TN_TRY(expression(kUnary, node));
      if (op != TN_I_MOVE) *node = graph_.make(static_cast<uint16_t>(op), {*node}, at);
      return nullptr;
    }
    return primary(node);
  }

  Status primary(NodeId* node) {
    if (token_.kind == Token::kNumber) return number(node);
    if (token_.kind == Token::kName) {
      if (operator_ != nullptr || token_.text == "let") return unexpected("a value");
      return is_symbol(ahead(), '(') ? call(node) : variable(node);
    }
    if (!take('(')) return unexpected("a value");
    TN_TRY(expression(kLoosest, node));
    return expect(')');
  }

  Status number(NodeId* node) {
    const std::string_view text = token_.text;
    const char* end = text.data() + text.size();
    std::from_chars_result result{};
    if (text.find_first_of(".eE") == std::string_view::npos) {
      int64_t value = 0;
      result = std::from_chars(text.data(), end, value);
      *node = graph_.integer(value);
    } else {
      double value = 0;
      result = std::from_chars(text.data(), end, value);
      *node = graph_.number(value);
    }
    if (result.ec == std::errc::result_out_of_range)
      return refuse(token_.at, "{} is out of range", text);
    if (result.ec != std::errc() || result.ptr != end)
      return refuse(token_.at, "'{}' is no number", text);
    advance();
    return nullptr;
  }

  Status variable(NodeId* node) {
    const std::string_view name = token_.text;
    const size_t at = token_.at;
    const auto found_name = names_.find(name);
    if (found_name == names_.end()) {
      std::vector<std::string> known;
      for (const auto& [candidate, unused] : names_) known.push_back(candidate);
      if (find_function(name) != nullptr)
        return refuse(at, "'{}' is a function; write {}(...)", name, name);
      return refuse(at, "unknown name '{}'{}", printable(name),
                    did_you_mean(std::string(name), known));
    }
    if (found_name->second.is_of_derivative) {
      if (in_output_) return refuse(at, "'{}' is for derivatives; an output cannot use it", name);
      used_derivative_name_ = true;
    }
    *node = found_name->second.node;
    advance();
    return nullptr;
  }

  Status call(NodeId* node) {
    const std::string_view name = token_.text;
    const size_t at = token_.at;
    const Function* function = find_function(name);
    if (function == nullptr) {
      if (names_.contains(name)) return refuse(at, "'{}' is no function", name);
      return refuse(at, "unknown function '{}'{}", printable(name),
                    did_you_mean(std::string(name), function_names()));
    }
    advance();
    TN_TRY(expect('('));
    std::vector<NodeId> args;
    if (!at_symbol(')')) {
      do {
        args.push_back(kNoNode);
        TN_TRY(expression(kLoosest, &args.back()));
      } while (take(','));
    }
    TN_TRY(expect(')'));
    if (args.size() < function->min_args || args.size() > function->max_args) {
      return refuse(at, "{} takes {}{} argument{}, got {}", name,
                    function->max_args == kAnyNumber ? "at least " : "", function->min_args,
                    function->min_args == 1 ? "" : "s", args.size());
    }
    *node = apply(function->op, args, at);
    return nullptr;
  }

  NodeId apply(uint16_t op, std::vector<NodeId>& args, size_t at) {
    const auto make = [&](uint16_t inner, std::initializer_list<NodeId> inner_args) {
      return graph_.make(inner, inner_args, static_cast<uint32_t>(at));
    };
    switch (op) {
      case TN_I_MIN:
      case TN_I_MAX: {
        NodeId best = args[0];
        for (size_t i = 1; i < args.size(); ++i) best = make(op, {best, args[i]});
        return best;
      }
      case kRsqrt:
        return make(TN_I_DIV, {graph_.integer(1), make(TN_I_SQRT, {args[0]})});
      case kReciprocal:
        return make(TN_I_DIV, {graph_.integer(1), args[0]});
      case kSquare:
        return make(TN_I_MUL, {args[0], args[0]});
      case kIsFinite:
        return make(TN_I_NOT,
                    {make(TN_I_OR, {make(TN_I_ISNAN, {args[0]}), make(TN_I_ISINF, {args[0]})})});
      case kLogicalNot:
        return make(TN_I_NOT, {make(kToBool, {args[0]})});
      case TN_I_WHERE:
        args[0] = make(kToBool, {args[0]});
        [[fallthrough]];
      default:
        return graph_.make(op, args, static_cast<uint32_t>(at));
    }
  }

  static constexpr size_t kNothing = SIZE_MAX;
  Formula& formula_;
  Graph& graph_;
  Lexer lexer_;
  Token token_;
  const Operator* operator_ = nullptr;  // that token_ is
  Token ahead_{Token::kEnd, {}, kNothing};
  std::map<std::string, Name, std::less<>> names_;
  int depth_ = 0;
  bool in_output_ = false;
  bool used_derivative_name_ = false;
};

}  // namespace

Status parse_formula(const Schema& schema, std::string_view text, Formula* formula) {
  formula->name = schema.name;
  if (text.size() > kMaxFormulaText) {
    return invalid("{}: the expression has {} characters, at most {} are taken", schema.name,
                   text.size(), kMaxFormulaText);
  }
  formula->text = text;
  TN_TRY(read_schema(schema, formula));
  FormulaParser parser(formula);
  Graph& graph = formula->graph;
  uint32_t operand = 0, scalar = 0;
  for (const Argument& argument : schema.arguments) {
    parser.define(argument.name, argument.type == Type::kTensor ? graph.operand(operand++)
                                                                : graph.scalar(scalar++));
  }
  const uint32_t n_outputs = static_cast<uint32_t>(schema.returns.size());
  for (uint32_t i = 0; i < n_outputs; ++i) {
    const std::string number = n_outputs == 1 ? "" : std::to_string(i);
    parser.define("g" + number, graph.operand(formula->n_operands + i), true);
    parser.define("out" + number, graph.operand(formula->n_operands + n_outputs + i), true);
  }
  parser.define("True", graph.constant(Kind::kBool, tn_scalar{.i = 1}));
  parser.define("False", graph.constant(Kind::kBool, tn_scalar{.i = 0}));
  parser.define("inf", graph.number(std::numeric_limits<double>::infinity()));
  parser.define("nan", graph.number(std::numeric_limits<double>::quiet_NaN()));
  parser.define("pi", graph.number(std::numbers::pi));
  TN_TRY(parser.parse());
  formula->settle();
  return nullptr;
}

}  // namespace tenon
