// gather and scatter: the loop is over the index tensor, and the indexed side's stride along its
// dimension is left to the index.
#include "kernel.h"
#include "program_text.h"

namespace cuda {
namespace {

enum class Indexed { kGather, kScatter, kScatterAdd };

// `picked` is the side that is indexed, and `other` has an element for each index.
tn_status* run(const Stream& stream, Indexed which, const tn_tensor* index, int64_t dim,
               const tn_tensor* picked, const tn_tensor* other) {
  const bool is_gather = which == Indexed::kGather;
  int64_t strides[TN_MAX_RANK];
  std::copy(picked->strides, picked->strides + picked->ndim, strides);
  const int64_t stride = picked->ndim > 0 ? std::exchange(strides[dim], 0) : 0;
  const Side without_dim = {picked->data, strides}, elements = {other->data, other->strides};
  const Side sides[] = {is_gather ? elements : without_dim,
                        {index->data, index->strides},
                        is_gather ? without_dim : elements};
  const Dims dims = merged(index->ndim, index->sizes, sides, 3);
  const bool is_add = which == Indexed::kScatterAdd;
  static constinit Texts texts;
  Text& text = texts.get(
      TextKey(static_cast<int32_t>(which), picked->dtype, dims.max_dims(), dims.is_wide()), [&] {
        const char* const kind = is_gather ? "GATHER" : is_add ? "SCATTER_ADD" : "SCATTER";
        return std::string("#define ") + kind + "\n#include \"base.cuh\"\nusing Element = " +
               (is_add ? element_name(picked->dtype) : bits_name(picked->dtype)) +
               ";\nusing L = " + loop_type(dims) + ";\n#include \"index.cuh\"\n";
      });
  Parameters parameters;
  add_loop(parameters, dims);
  parameters.add(stream.fault);
  parameters.add(dim);
  parameters.add(picked->ndim > 0 ? picked->sizes[dim] : int64_t{1});
  parameters.add(stride);
  const char* kernel = is_gather ? "gather" : is_add ? "scatter_add" : "scatter";
  return launch(stream, text, kernel, grid_for(dims.n), parameters);
}

}  // namespace

tn_status* gather(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  return run(stream, Indexed::kGather, args[2].as.tensor, args[1].as.i, args[0].as.tensor,
             call->outputs[0]);
}

tn_status* scatter(const tn_call* call, const Stream& stream) {
  const tn_value* args = call->args;
  const Indexed which = args[3].as.i != 0 ? Indexed::kScatterAdd : Indexed::kScatter;
  return run(stream, which, args[0].as.tensor, args[1].as.i, call->outputs[0], args[2].as.tensor);
}

}  // namespace cuda
