// Running sums and products along a dimension.
#include <algorithm>
#include <bit>

#include "kernel.h"
#include "program_text.h"

namespace cuda {

tn_status* scan(const tn_call* call, const Stream& stream) {
  const tn_tensor* x = call->args[1].as.tensor;
  const tn_tensor* y = call->outputs[0];
  const tn_tensor* const both[] = {y, x};
  const Rows rows = rows_along(call->args[2].as.i, x, both, 2);
  const bool is_product = call->args[0].as.i == TN_REDUCE_PROD;
  const char* value = x->dtype == TN_BOOL ? "long long" : register_name(x->dtype);
  const std::string text = std::string("#include \"base.cuh\"\nusing Element = ") +
                           element_name(x->dtype) + ";\nusing Value = " + value +
                           ";\nconstexpr bool is_product = " + (is_product ? "true" : "false") +
                           ";\nusing L = " + loop_type(rows.dims) + ";\n#include \"scan.cuh\"\n";
  Parameters parameters;
  add_loop(parameters, rows.dims);
  for (const int64_t value : {rows.n, rows.strides[0], rows.strides[1], call->args[3].as.i})
    parameters.add(value);
  const auto threads =
      static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(rows.n, 256))));
  return launch(stream, text, "scan", {std::min<int64_t>(rows.dims.n, 65535), 1, threads},
                parameters);
}

}  // namespace cuda
