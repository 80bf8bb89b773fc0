// Running sums and products along a dimension.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kThreads = 256;

// Few long rows are cut, so that more blocks than these work on them. The cut depends on the sizes
// alone, and with it the bits of sums of floats.
int64_t count_pieces(int64_t n_rows, int64_t n) {
  const int64_t of_2048 = n / 2048, wanted = 512 / n_rows;
  return std::clamp<int64_t>(std::min(of_2048, wanted), 1, kThreads);
}

}  // namespace

tn_status* scan(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[1].as.tensor;
  const tn_tensor* y = call->outputs[0];
  const tn_tensor* const both[] = {y, x};
  const Rows rows = rows_along(call->args[2].as.i, x, both, 2);
  const bool is_product = call->args[0].as.i == TN_REDUCE_PROD;
  static constinit Texts texts;
  Text& text =
      texts.get(TextKey(x->dtype, is_product, rows.dims.max_dims(), rows.dims.is_wide()), [&] {
        const char* value = x->dtype == TN_BOOL ? "long long" : register_name(x->dtype);
        return std::string("#include \"base.cuh\"\nusing Element = ") + element_name(x->dtype) +
               ";\nusing Value = " + value +
               ";\nconstexpr bool is_product = " + (is_product ? "true" : "false") +
               ";\nusing L = " + loop_type(rows.dims) + ";\n#include \"scan.cuh\"\n";
      });
  const int64_t wanted = count_pieces(rows.dims.n, rows.n);
  const int64_t piece = (rows.n + wanted - 1) / wanted, pieces = (rows.n + piece - 1) / piece;
  void* totals = nullptr;
  if (pieces > 1)
    TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(rows.dims.n * pieces) * 8, &totals));
  Parameters parameters;
  add_loop(parameters, rows.dims);
  for (const int64_t value :
       {rows.n, rows.strides[0], rows.strides[1], call->args[3].as.i, pieces, piece})
    parameters.add(value);
  parameters.add(totals);
  const auto threads = static_cast<int32_t>(
      std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(rows.n, kThreads))));
  const Grid grid = {std::min<int64_t>(rows.dims.n, 65535), pieces, threads};
  if (pieces > 1) TN_CUDA_TRY(launch(stream, text, "fold_pieces", grid, parameters));
  return launch(stream, text, "scan", grid, parameters);
}

}  // namespace cuda
