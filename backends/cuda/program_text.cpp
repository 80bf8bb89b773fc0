#include "program_text.h"

#include <bit>
#include <cmath>

namespace cuda {
namespace {

// The sign or function that C++ text has for an instruction of two operands. NULL: there is none for
// the type.
const char* binary_sign(uint16_t opcode, tn_dtype type) {
  const bool is_float = type == TN_FLOAT32 || type == TN_FLOAT64, is_bool = type == TN_BOOL;
  // clang-format off
  switch (opcode) {
    case TN_I_ADD: return is_float ? "+" : nullptr;  // integers wrap: functions
    case TN_I_SUB: return is_float ? "-" : nullptr;
    case TN_I_MUL: return is_float ? "*" : nullptr;
    case TN_I_DIV: return is_float ? "/" : nullptr;
    case TN_I_AND: return is_float ? nullptr : is_bool ? "&&" : "&";
    case TN_I_OR: return is_float ? nullptr : is_bool ? "||" : "|";
    case TN_I_XOR: return is_float ? nullptr : is_bool ? "!=" : "^";
    case TN_I_EQ: return "==";  case TN_I_NE: return "!=";
    case TN_I_LT: return "<";   case TN_I_LE: return "<=";
    case TN_I_GT: return ">";   case TN_I_GE: return ">=";
    default: return nullptr;
  }
  // clang-format on
}

enum Types { kFloatsOnly, kIntsOnly, kNumbers };

struct Function {
  const char* name;  // without its prefix
  int operands;
  Types types;
};

// NULL name: no such instruction.
Function function_of(uint16_t opcode) {
  // clang-format off
  switch (opcode) {
    case TN_I_ABS: return {"abs", 1, kNumbers};       case TN_I_SIGN: return {"sign", 1, kNumbers};
    case TN_I_FLOOR: return {"floor", 1, kFloatsOnly};  case TN_I_CEIL: return {"ceil", 1, kFloatsOnly};
    case TN_I_ROUND: return {"round", 1, kFloatsOnly};  case TN_I_TRUNC: return {"trunc", 1, kFloatsOnly};
    case TN_I_SQRT: return {"sqrt", 1, kFloatsOnly};    case TN_I_EXP: return {"exp", 1, kFloatsOnly};
    case TN_I_EXP2: return {"exp2", 1, kFloatsOnly};    case TN_I_EXPM1: return {"expm1", 1, kFloatsOnly};
    case TN_I_LOG: return {"log", 1, kFloatsOnly};      case TN_I_LOG2: return {"log2", 1, kFloatsOnly};
    case TN_I_LOG10: return {"log10", 1, kFloatsOnly};  case TN_I_LOG1P: return {"log1p", 1, kFloatsOnly};
    case TN_I_SIN: return {"sin", 1, kFloatsOnly};      case TN_I_COS: return {"cos", 1, kFloatsOnly};
    case TN_I_TAN: return {"tan", 1, kFloatsOnly};      case TN_I_ASIN: return {"asin", 1, kFloatsOnly};
    case TN_I_ACOS: return {"acos", 1, kFloatsOnly};    case TN_I_ATAN: return {"atan", 1, kFloatsOnly};
    case TN_I_SINH: return {"sinh", 1, kFloatsOnly};    case TN_I_COSH: return {"cosh", 1, kFloatsOnly};
    case TN_I_TANH: return {"tanh", 1, kFloatsOnly};    case TN_I_ASINH: return {"asinh", 1, kFloatsOnly};
    case TN_I_ACOSH: return {"acosh", 1, kFloatsOnly};  case TN_I_ATANH: return {"atanh", 1, kFloatsOnly};
    case TN_I_ERF: return {"erf", 1, kFloatsOnly};      case TN_I_ERFC: return {"erfc", 1, kFloatsOnly};
    case TN_I_ISNAN: return {"isnan", 1, kFloatsOnly};  case TN_I_ISINF: return {"isinf", 1, kFloatsOnly};
    case TN_I_ATAN2: return {"atan2", 2, kFloatsOnly};  case TN_I_POW: return {"pow", 2, kNumbers};
    case TN_I_FMOD: return {"fmod", 2, kNumbers};       case TN_I_REM: return {"rem", 2, kNumbers};
    case TN_I_FLOORDIV: return {"floordiv", 2, kNumbers};
    case TN_I_MIN: return {"min", 2, kNumbers};         case TN_I_MAX: return {"max", 2, kNumbers};
    case TN_I_ADD: return {"add", 2, kIntsOnly};        case TN_I_SUB: return {"sub", 2, kIntsOnly};
    case TN_I_MUL: return {"mul", 2, kIntsOnly};        case TN_I_NEG: return {"neg", 1, kIntsOnly};
    case TN_I_SHL: return {"shl", 2, kIntsOnly};        case TN_I_SHR: return {"shr", 2, kIntsOnly};
    default: return {nullptr, 0, kNumbers};
  }
  // clang-format on
}

bool takes(Types types, tn_dtype type) {
  const bool is_float = type == TN_FLOAT32 || type == TN_FLOAT64;
  return types == kFloatsOnly ? is_float : type == TN_INT64 || (types == kNumbers && is_float);
}

bool is_register(tn_dtype type) {
  return type == TN_FLOAT32 || type == TN_FLOAT64 || type == TN_INT64 || type == TN_BOOL;
}

// By its bits, so that infinities and NaN are as any number.
std::string constant_text(tn_scalar value, tn_dtype type) {
  char text[80];
  if (type == TN_FLOAT32) {
    const auto number = static_cast<float>(value.f);
    std::snprintf(text, sizeof text, "bits_to_float(0x%08Xu) /* %.9g */",
                  std::bit_cast<uint32_t>(number), static_cast<double>(number));
  } else if (type == TN_FLOAT64) {
    std::snprintf(text, sizeof text, "bits_to_double(0x%016lXull) /* %.17g */",
                  std::bit_cast<uint64_t>(value.f), value.f);
  } else if (type == TN_INT64) {
    std::snprintf(text, sizeof text, "static_cast<long long>(0x%lXull) /* %ld */",
                  static_cast<uint64_t>(value.i), value.i);
  } else {
    std::snprintf(text, sizeof text, "%s", value.i ? "true" : "false");
  }
  return text;
}

// The statements of one program.
class Writer {
 public:
  Writer(std::string& text, const tn_program& program, const std::vector<std::string>& outputs)
      : text_(text), program_(program), outputs_(outputs), values_(program.n_registers) {}

  // False: there is no such instruction for the type.
  bool write(const tn_instruction& i) {
    if (i.opcode == TN_I_STORE) {
      text_ +=
          "  y" + std::to_string(i.b) + " = narrow<" + outputs_[i.b] + ">(" + value(i.a) + ");\n";
      return true;
    }
    const std::string right = expression(i);
    if (right.empty()) return false;
    const std::string name = "v" + std::to_string(n_values_++);
    text_ += std::string("  const ") + register_name(i.dtype) + " " + name + " = " + right + ";\n";
    values_[i.dst] = name;
    return true;
  }

 private:
  const std::string& value(uint16_t number) const { return values_[number]; }

  std::string expression(const tn_instruction& i) {
    switch (i.opcode) {
      case TN_I_LOAD:
        return std::string("narrow<") + register_name(i.dtype) + ">(widen(x" + std::to_string(i.a) +
               "))";
      case TN_I_PARAM:
        return scalar_text(i.dtype);
      case TN_I_CONST:
        return constant_text(program_.constants[i.a], i.dtype);
      case TN_I_CAST:
        return std::string("widen(narrow<") + element_name(i.dtype) + ">(" + value(i.a) + "))";
      case TN_I_MOVE:
        return value(i.a);
      case TN_I_WHERE:
        return value(i.a) + " ? " + value(i.b) + " : " + value(i.c);
      default:
        return computation(i);
    }
  }

  std::string scalar_text(tn_dtype type) {
    const std::string place = "s[" + std::to_string(n_scalars_++) + "].";
    if (type == TN_BOOL) return place + "i != 0";
    return place + (type == TN_FLOAT32 ? "f" : type == TN_FLOAT64 ? "d" : "i");
  }

  std::string computation(const tn_instruction& i) const {
    const bool tests = i.opcode == TN_I_ISNAN || i.opcode == TN_I_ISINF || i.opcode >= TN_I_EQ;
    const tn_dtype type = tests ? i.flags : i.dtype;
    if (!is_register(type)) return "";
    if (const char* sign = binary_sign(i.opcode, type))
      return value(i.a) + " " + sign + " " + value(i.b);
    if (i.opcode == TN_I_NEG && type != TN_INT64 && type != TN_BOOL) return "-" + value(i.a);
    if (i.opcode == TN_I_NOT && type == TN_BOOL) return "!" + value(i.a);
    if (i.opcode == TN_I_NOT && type == TN_INT64) return "~" + value(i.a);
    const Function function = function_of(i.opcode);
    if (!function.name || !takes(function.types, type)) return "";
    const std::string second = function.operands == 2 ? ", " + value(i.b) : "";
    return std::string("i_") + function.name + "(" + value(i.a) + second + ")";
  }

  std::string& text_;
  const tn_program& program_;
  const std::vector<std::string>& outputs_;
  std::vector<std::string> values_;  // the variable that each register is now
  int n_values_ = 0, n_scalars_ = 0;
};

}  // namespace

const char* element_name(tn_dtype dtype) {
  // clang-format off
  switch (dtype) {
    case TN_FLOAT32: return "float";       case TN_FLOAT64: return "double";
    case TN_FLOAT16: return "Half";        case TN_BFLOAT16: return "BFloat";
    case TN_INT64: return "long long";     case TN_INT32: return "int";
    case TN_INT16: return "short";         case TN_INT8: return "signed char";
    case TN_UINT8: return "unsigned char"; default: return "Bool";
  }
  // clang-format on
}

const char* register_name(tn_dtype dtype) {
  const tn_dtype type = tenon::dtype_table::register_type(dtype);
  return type == TN_BOOL ? "bool" : element_name(type);
}

const char* bits_name(tn_dtype dtype) {
  // clang-format off
  switch (item_size(dtype)) {
    case 1: return "unsigned char";  case 2: return "unsigned short";
    case 4: return "unsigned";       default: return "unsigned long long";
  }
  // clang-format on
}

tn_status* append_function(std::string& text, const char* name, const tn_program& program,
                           const std::vector<std::string>& outputs,
                           const std::vector<std::string>& inputs) {
  text += std::string("DEVICE void ") + name + "(const Scalar* s";
  for (size_t k = 0; k < outputs.size(); ++k) text += ", " + outputs[k] + "& y" + std::to_string(k);
  for (size_t k = 0; k < inputs.size(); ++k) text += ", " + inputs[k] + " x" + std::to_string(k);
  text += ") {\n";
  Writer writer(text, program, outputs);
  for (uint32_t k = 0; k < program.n_instructions; ++k) {
    const tn_instruction& i = program.instructions[k];
    if (!writer.write(i))
      return error(host, TN_UNSUPPORTED, "cuda: opcode %d is not known for dtype %d", i.opcode,
                   i.dtype);
  }
  text += "}\n";
  return nullptr;
}

void append_live_scalars(std::string& text, const char* name, const tn_program& program) {
  text += std::string("DEVICE void ") + name + "(void* live, Scalar* s) {\n";
  int n = 0;
  for (uint32_t k = 0; k < program.n_instructions; ++k) {
    const tn_instruction& i = program.instructions[k];
    if (i.opcode != TN_I_PARAM) continue;
    const bool is_float = i.dtype == TN_FLOAT32, is_double = i.dtype == TN_FLOAT64;
    const std::string place = std::string(is_float || is_double ? "at<double>" : "at<long long>") +
                              "(live, " + std::to_string(i.a) + ")";
    text += "  s[" + std::to_string(n++) + "]." +
            (is_float    ? "f"
             : is_double ? "d"
                         : "i") +
            " = " + (is_float ? "static_cast<float>(" + place + ")" : place) + ";\n";
  }
  text += "}\n";
}

int32_t count_scalars(const tn_program& program) {
  int32_t n = 0;
  for (uint32_t k = 0; k < program.n_instructions; ++k)
    n += program.instructions[k].opcode == TN_I_PARAM;
  return n;
}

void add_scalars(Parameters& parameters, const tn_program& program, const tn_scalar* params) {
  for (uint32_t k = 0; k < program.n_instructions; ++k) {
    const tn_instruction& i = program.instructions[k];
    if (i.opcode != TN_I_PARAM) continue;
    const tn_scalar value = params[i.a];
    if (i.dtype == TN_FLOAT32) {
      parameters.add<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(value.f)));
    } else {
      parameters.add(value.i);  // the bits of a float64
    }
  }
}

}  // namespace cuda
