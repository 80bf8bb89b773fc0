// Reductions: the shape of the launch. How values are shared out among threads and pieces depends on
// sizes and strides alone, so the same call has the same bits.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kGroup = 8;  // as in kernels/reduce.cuh

struct Shape {
  int64_t lanes;    // threads that fold one output
  bool is_across;   // neighbouring threads fold neighbouring outputs
  bool in_groups;   // a thread folds groups of neighbouring values
  bool in_columns;  // a thread folds groups of neighbouring outputs
  int64_t pieces, piece;
};

int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)));
}

int32_t count_inputs(const tn_reduction& r) {
  return r.prologue ? static_cast<int32_t>(r.prologue->n_inputs) : 1;
}

// Do the values of each output lie behind each other, in groups at least?
bool lies_in_groups(const tn_reduction& r) {
  const int32_t last = r.ndim - 1, n = count_inputs(r);
  if (n == 0 || r.sizes[last] < kGroup || (r.n_reduced > 1 && r.sizes[last] % kGroup != 0))
    return false;
  for (int32_t k = 1; k <= n; ++k) {
    const int64_t stride = r.operands[k].strides[last];
    if (stride != 1 && (k == 1 || stride != 0)) return false;
  }
  return true;
}

// Do those of neighbouring outputs, in groups?
bool lies_in_columns(const tn_reduction& r) {
  const int32_t last = r.ndim - r.n_reduced - 1;
  for (int32_t k = 2; k <= count_inputs(r); ++k) {
    const int64_t stride = r.operands[k].strides[last];
    if (stride != 0 && stride != 1) return false;
  }
  return r.sizes[last] % kGroup == 0;
}

Shape shape_of(const tn_reduction& r, int64_t n_reduced) {
  const int32_t n_kept_dims = r.ndim - r.n_reduced;
  // Which of the two do neighbouring threads read next to each other?
  const int64_t* strides = r.operands[count_inputs(r) > 0 ? 1 : 0].strides;
  const bool is_across =
      n_kept_dims > 0 && strides[n_kept_dims - 1] == 1 && strides[r.ndim - 1] != 1;
  const bool in_columns = is_across && lies_in_columns(r);
  Shape shape = {1, is_across, lies_in_groups(r), in_columns, 1, n_reduced};
  // Values that a thread should have, at least.
  const int64_t each = is_across ? 16 : shape.in_groups ? kGroup : 4;
  const int64_t most = in_columns ? 32 : is_across ? 8 : kThreads;
  shape.lanes = std::min(power_of_two((n_reduced + each - 1) / each), most);
  // Few outputs of many values are cut into pieces, so that more blocks than these work on them.
  const int64_t rows = in_columns ? r.n_kept / kGroup : r.n_kept;
  const int64_t blocks = (rows * shape.lanes + kThreads - 1) / kThreads;
  const int64_t most_pieces = n_reduced / (shape.lanes * 16);
  if (blocks < 256 && most_pieces > 1) shape.pieces = std::min<int64_t>(256 / blocks, most_pieces);
  shape.piece = (n_reduced + shape.pieces - 1) / shape.pieces;
  if (shape.in_groups) shape.piece = (shape.piece + kGroup - 1) / kGroup * kGroup;
  shape.pieces = (n_reduced + shape.piece - 1) / shape.piece;
  return shape;
}

int32_t n_scalars(const tn_program* program) { return program ? count_scalars(*program) : 0; }

// `struct Reduction` of kernels/reduce.cuh.
tn_status* reduction_text(const tn_reduction& r, uint32_t n_inputs, std::string* text) {
  const std::string value = register_name(r.accumulate);
  const std::string output = element_name(r.operands[0].dtype);
  static constexpr const char* kKinds[] = {"kSum", "kProduct", "kMax",
                                           "kMin", "kArgMax",  "kArgMin"};
  std::vector<std::string> inputs;
  for (uint32_t k = 1; k <= n_inputs; ++k) inputs.push_back(element_name(r.operands[k].dtype));
  if (r.prologue) TN_CUDA_TRY(append_function(*text, "prologue", *r.prologue, {value}, inputs));
  if (r.epilogue) TN_CUDA_TRY(append_function(*text, "epilogue", *r.epilogue, {output}, {value}));
  const auto input = [&](uint32_t k) {
    const std::string n = std::to_string(k);
    return "at<" + inputs[k - 1] + ">(p.data[" + n + "], o.at[" + n + "])";
  };
  *text += "struct Reduction {\n  using Value = " + value +
           ";\n  static constexpr int kind = " + kKinds[r.kind] +
           ";\n  template <class P, class O>\n" +
           "  static DEVICE Value load(const P& p, const O& o) {\n";
  if (r.prologue) {
    *text += "    Value y;\n    prologue(p.scalars, y";
    for (uint32_t k = 1; k <= n_inputs; ++k) *text += ", " + input(k);
    *text += ");\n    return y;\n  }\n";
  } else {
    *text += "    return narrow<Value>(widen(" + input(1) + "));\n  }\n";
  }
  *text +=
      "  template <class P, class O>\n"
      "  static DEVICE void load_group(const P& p, const O& o, Value (&y)[kGroup]) {\n";
  for (uint32_t k = 1; k <= n_inputs; ++k) {
    const std::string n = std::to_string(k);
    *text += "    const auto e" + n + " = read_group<" + inputs[k - 1] + ">(p, o, " + n + ");\n";
  }
  *text += "#pragma unroll\n    for (int k = 0; k < kGroup; ++k) ";
  if (r.prologue) {
    *text += "prologue(p.scalars, y[k]";
    for (uint32_t k = 1; k <= n_inputs; ++k) *text += ", e" + std::to_string(k) + ".v[k]";
    *text += ");\n  }\n";
  } else {
    *text += "y[k] = narrow<Value>(widen(e1.v[k]));\n  }\n";
  }
  const std::string place = "at<" + output + ">(p.data[0], o)";
  *text +=
      "  template <class P, class I, class V>\n  static DEVICE void store(const P& p, I o, V v) "
      "{\n";
  if (r.epilogue) {
    *text += "    epilogue(p.scalars + " + std::to_string(n_scalars(r.prologue)) + ", " + place +
             ", v);\n";
  } else {
    *text += "    " + place + " = narrow<" + output + ">(v);\n";
  }
  *text += "  }\n};\n";
  return nullptr;
}

tn_status* make_text(const tn_reduction& r, const Dims& dims, bool in_columns, std::string* text) {
  *text = "#include \"instructions.cuh\"\n#include \"reduce.cuh\"\n";
  TN_CUDA_TRY(reduction_text(r, static_cast<uint32_t>(dims.n_sides - 1), text));
  const int32_t scalars = std::max(1, n_scalars(r.prologue) + n_scalars(r.epilogue));
  *text += (in_columns ? "using P = ReduceColumns" : "using P = Reduce") +
           loop_type(dims, scalars) + ";\n" +
           (in_columns ? "BLOCK_KERNEL(reduce_outputs, P, p) { reduce_columns<Reduction>(p); }\n"
                       : "BLOCK_KERNEL(reduce_pieces, P, p) { reduce<Reduction, false>(p); }\n"
                         "BLOCK_KERNEL(reduce_groups, P, p) { reduce<Reduction, true>(p); }\n") +
           "KERNEL(combine_pieces, P, p) { combine<Reduction>(p); }\n";
  return nullptr;
}

tn_status* find_text(const tn_reduction& r, const Dims& dims, bool in_columns, Text** text) {
  static constinit Texts texts;
  TextKey key(r.prologue ? r.prologue->id : 0, r.epilogue ? r.epilogue->id : 0, r.kind,
              r.accumulate, dims.max_dims() * 4 + in_columns * 2 + dims.is_wide());
  for (int32_t k = 0; k < dims.n_sides; ++k) key.add(static_cast<uint8_t>(r.operands[k].dtype));
  return texts.find(
      key, [&](std::string* source) { return make_text(r, dims, in_columns, source); }, text);
}

}  // namespace

tn_status* reduce(const tn_call* call, const Stream& stream) {
  return reduce_as_part(call, stream, *call->args[0].as.reduction);
}

tn_status* reduce_as_part(const tn_call* call, const Stream& stream, const tn_reduction& r) {
  const int32_t n = 1 + count_inputs(r);
  Side sides[TN_MAX_OPERANDS];
  for (int32_t k = 0; k < n; ++k) sides[k] = {r.operands[k].data, r.operands[k].strides};
  const Dims dims = unmerged(r.ndim, r.sizes, sides, n);
  const int64_t n_reduced = dims.n / r.n_kept;
  const Shape shape = shape_of(r, n_reduced);
  Text* text = nullptr;
  TN_CUDA_TRY(find_text(r, dims, shape.in_columns, &text));
  void* partial = nullptr;
  if (shape.pieces > 1)
    TN_CUDA_TRY(
        host->workspace(call, static_cast<uint64_t>(r.n_kept * shape.pieces) * 16, &partial));

  Parameters parameters;
  for (int32_t k = 0; k < n; ++k) parameters.add(dims.data[k]);
  if (n_scalars(r.prologue) + n_scalars(r.epilogue) == 0) parameters.add(int64_t{0});
  if (r.prologue) add_scalars(parameters, *r.prologue, r.prologue_params);
  if (r.epilogue) add_scalars(parameters, *r.epilogue, r.epilogue_params);
  parameters.add(partial);
  add_strides(parameters, dims);
  const int64_t last[] = {r.n_kept,     n_reduced,   r.ndim - r.n_reduced, r.ndim,
                          shape.pieces, shape.piece, shape.lanes,          shape.is_across};
  for (const int64_t value : last) parameters.add_index(value, dims.is_wide());

  const int64_t rows = shape.in_columns ? r.n_kept / kGroup : r.n_kept;
  const int64_t threads = std::clamp(power_of_two(rows) * shape.lanes, shape.lanes, kThreads);
  const int64_t of_block = threads / shape.lanes;
  const Grid grid = {(rows + of_block - 1) / of_block, shape.pieces, static_cast<int32_t>(threads)};
  const char* kernel = shape.in_columns  ? "reduce_outputs"
                       : shape.in_groups ? "reduce_groups"
                                         : "reduce_pieces";
  TN_CUDA_TRY(launch(stream, *text, kernel, grid, parameters));
  if (shape.pieces == 1) return nullptr;
  return launch(stream, *text, "combine_pieces", grid_for(r.n_kept), parameters);
}

}  // namespace cuda
