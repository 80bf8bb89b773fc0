// Reductions: the shape of the launch. How values are shared out among threads and pieces depends
// on sizes, strides and the GPU's number of multiprocessors alone, so the same call has the same
// bits on one GPU.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kGroup = 8;  // as in kernels/reduce.cuh
constexpr int64_t kBlocksEach =
    4;  // of a multiprocessor; more leave more pieces to the second pass
constexpr int64_t kPiecesEach = 4;  // of a thread of the second pass

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

// `wanted`: blocks that keep the GPU busy.
Shape shape_of(const tn_reduction& r, int64_t n_reduced, int64_t wanted) {
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
  if (blocks < wanted && most_pieces > 1) shape.pieces = std::min(wanted / blocks, most_pieces);
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
           "BLOCK_KERNEL(combine_pieces, P, p) { combine<Reduction>(p); }\n";
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
  int64_t busy = 0;
  TN_CUDA_TRY(find_busy_blocks(stream, &busy));
  const Shape shape = shape_of(r, n_reduced, busy);
  Text* text = nullptr;
  TN_CUDA_TRY(find_text(r, dims, shape.in_columns, &text));
  void* partial = nullptr;
  if (shape.pieces > 1)
    TN_CUDA_TRY(
        host->workspace(call, static_cast<uint64_t>(r.n_kept * shape.pieces) * 16, &partial));

  // A kernel that folds `rows` outputs, or groups of them, by so many lanes each.
  const auto launch_lanes = [&](const char* kernel, int64_t rows, int64_t pieces, int64_t lanes) {
    Parameters parameters;
    for (int32_t k = 0; k < n; ++k) parameters.add(dims.data[k]);
    if (n_scalars(r.prologue) + n_scalars(r.epilogue) == 0) parameters.add(int64_t{0});
    if (r.prologue) add_scalars(parameters, *r.prologue, r.prologue_params);
    if (r.epilogue) add_scalars(parameters, *r.epilogue, r.epilogue_params);
    parameters.add(partial);
    add_strides(parameters, dims);
    for (const int64_t value : {r.n_kept, n_reduced, int64_t{r.ndim - r.n_reduced}, int64_t{r.ndim},
                                shape.pieces, shape.piece, lanes, int64_t{shape.is_across}})
      parameters.add_index(value, dims.is_wide());
    const int64_t threads = std::clamp(power_of_two(rows) * lanes, lanes, kThreads);
    const int64_t of_block = threads / lanes;
    const Grid grid = {(rows + of_block - 1) / of_block, pieces, static_cast<int32_t>(threads)};
    return launch(stream, *text, kernel, grid, parameters);
  };
  const char* kernel = shape.in_columns  ? "reduce_outputs"
                       : shape.in_groups ? "reduce_groups"
                                         : "reduce_pieces";
  const int64_t rows = shape.in_columns ? r.n_kept / kGroup : r.n_kept;
  TN_CUDA_TRY(launch_lanes(kernel, rows, shape.pieces, shape.lanes));
  if (shape.pieces == 1) return nullptr;
  const int64_t lanes = power_of_two((shape.pieces + kPiecesEach - 1) / kPiecesEach);
  return launch_lanes("combine_pieces", r.n_kept, 1, std::min(lanes, kThreads));
}

}  // namespace cuda
