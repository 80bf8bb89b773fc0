// Elementwise programs. Where all operands are dense, a thread takes as many elements at once as fit
// into 16 bytes; else each finds its operands by their strides.
#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

struct Operands {
  const tn_loop& loop;
  const tn_program& program;
  uint32_t n;  // outputs, then inputs

  explicit Operands(const tn_loop& l)
      : loop(l), program(*l.program), n(program.n_outputs + program.n_inputs) {}

  // Inside a graph: parameters are read from the device, as they are when it runs.
  bool is_live() const { return loop.live_params && count_scalars(program) > 0; }
  bool is_output(uint32_t k) const { return k < program.n_outputs; }
  std::string element(uint32_t k) const { return element_name(loop.operands[k].dtype); }
  // An input that is one element for all of a dense loop.
  bool is_single(uint32_t k) const { return loop.operands[k].strides[0] == 0; }
};

// Elements that a thread takes at once; 0: some operand is not dense, or not aligned for it.
int32_t pack_size(const Operands& operands) {
  if (operands.loop.ndim != 1) return 0;
  uint32_t largest = 1;
  for (uint32_t k = 0; k < operands.n; ++k)
    largest = std::max(largest, item_size(operands.loop.operands[k].dtype));
  const int32_t size = static_cast<int32_t>(16 / largest);
  for (uint32_t k = 0; k < operands.n; ++k) {
    const tn_operand& operand = operands.loop.operands[k];
    const int64_t stride = operand.strides[0];
    const auto bytes = static_cast<uint64_t>(size) * item_size(operand.dtype);
    if (stride == 0 && !operands.is_output(k)) continue;
    if (stride != 1 || reinterpret_cast<uint64_t>(operand.data) % bytes != 0) return 0;
  }
  return size;
}

// The element of each operand in a call of the program: `place(k)` gives what stands for operand k.
template <class Place>
std::string program_call(const Operands& operands, const Place& place) {
  std::string text = operands.is_live() ? "program(s" : "program(loop.scalars";
  for (uint32_t k = 0; k < operands.n; ++k) text += ", " + place(k);
  return text + ");\n";
}

std::string element_at(const Operands& operands, uint32_t k, const std::string& where) {
  return "at<" + operands.element(k) + ">(loop.data[" + std::to_string(k) + "], " + where + ")";
}

std::string dense_text(const Operands& operands, int32_t size) {
  const std::string n = std::to_string(size);
  const auto pack = [&](uint32_t k) { return "Pack<" + operands.element(k) + ", " + n + ">"; };
  std::string text = "  EACH(Index, g, loop.n / " + n + ") {\n", stores;
  for (uint32_t k = 0; k < operands.n; ++k) {
    const std::string data = "(loop.data[" + std::to_string(k) + "], g)";
    const std::string name = "e" + std::to_string(k);
    if (operands.is_output(k)) {
      text += "    " + pack(k) + " " + name + ";\n";
      stores += "    at<" + pack(k) + ">" + data + " = " + name + ";\n";
    } else if (operands.is_single(k)) {
      text += "    const auto " + name + " = " + element_at(operands, k, "0") + ";\n";
    } else {
      text += "    const auto " + name + " = at<" + pack(k) + ">" + data + ";\n";
    }
  }
  text += "#pragma unroll\n    for (int k = 0; k < " + n + "; ++k)\n      ";
  text += program_call(operands, [&](uint32_t k) {
    const bool single = !operands.is_output(k) && operands.is_single(k);
    return "e" + std::to_string(k) + (single ? "" : ".v[k]");
  });
  text += stores + "  }\n  EACH(Index, r, loop.n % " + n + ") {\n    const Index i = loop.n / " +
          n + " * " + n + " + r;\n    ";
  text += program_call(operands, [&](uint32_t k) {
    const bool single = !operands.is_output(k) && operands.is_single(k);
    return element_at(operands, k, single ? "0" : "i");
  });
  return text + "  }\n";
}

std::string strided_text(const Operands& operands) {
  return "  EACH(Index, i, loop.n) {\n    const auto o = offsets(loop, i);\n    " +
         program_call(operands,
                      [&](uint32_t k) {
                        return element_at(operands, k, "o.at[" + std::to_string(k) + "]");
                      }) +
         "  }\n";
}

tn_status* make_text(const Operands& operands, const Dims& dims, int32_t size, std::string* text) {
  std::vector<std::string> outputs, inputs;
  for (uint32_t k = 0; k < operands.n; ++k)
    (operands.is_output(k) ? outputs : inputs).push_back(operands.element(k));
  *text = "#include \"instructions.cuh\"\n";
  TN_CUDA_TRY(append_function(*text, "program", operands.program, outputs, inputs));
  const int32_t scalars = count_scalars(operands.program);
  if (operands.is_live()) append_live_scalars(*text, "read_scalars", operands.program);
  *text += "using P = " + loop_type(dims, operands.is_live() ? 1 : std::max(1, scalars)) + ";\n";
  *text += "using Index = P::I;\nKERNEL(elementwise, P, loop) {\n";
  if (operands.is_live())
    *text +=
        "  Scalar s[" + std::to_string(scalars) + "];\n  read_scalars(loop.scalars[0].p, s);\n";
  *text += (size > 0 ? dense_text(operands, size) : strided_text(operands)) + "}\n";
  return nullptr;
}

tn_status* find_text(const Operands& operands, const Dims& dims, int32_t size, Text** text) {
  static constinit Texts texts;
  TextKey key(operands.program.id, size, dims.max_dims() * 2 + dims.is_wide());
  key.add(static_cast<uint8_t>(operands.is_live()));
  for (uint32_t k = 0; k < operands.n; ++k) {
    const bool single = size > 0 && operands.is_single(k);
    key.add(static_cast<uint8_t>(operands.loop.operands[k].dtype * 2 + single));
  }
  return texts.find(
      key, [&](std::string* source) { return make_text(operands, dims, size, source); }, text);
}

}  // namespace

tn_status* elementwise(const tn_call* call, const Stream& stream) {
  const Operands operands(*call->args[0].as.loop);
  Side sides[TN_MAX_OPERANDS];
  for (uint32_t k = 0; k < operands.n; ++k)
    sides[k] = {operands.loop.operands[k].data, operands.loop.operands[k].strides};
  const Dims dims =
      unmerged(operands.loop.ndim, operands.loop.sizes, sides, static_cast<int32_t>(operands.n));
  const int32_t size = pack_size(operands);
  Text* text = nullptr;
  TN_CUDA_TRY(find_text(operands, dims, size, &text));
  Parameters parameters;
  for (int32_t k = 0; k < dims.n_sides; ++k) parameters.add(dims.data[k]);
  if (operands.is_live()) {
    parameters.add(operands.loop.live_params->data);
  } else {
    if (count_scalars(operands.program) == 0) parameters.add(int64_t{0});
    add_scalars(parameters, operands.program, operands.loop.params);
  }
  add_dims(parameters, dims);
  return launch(stream, *text, "elementwise",
                grid_for(size > 0 ? (dims.n + size - 1) / size : dims.n), parameters);
}

}  // namespace cuda
