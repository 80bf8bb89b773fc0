// nonzero, the dynamic op: how many rows it gives depends on values, and the host allocates them
// before the launch returns. So the launch waits for the count.
#include "kernel.h"
#include "program_text.h"

namespace cuda {

tn_status* nonzero(const tn_call* call, const Stream& stream) {
  constexpr int64_t kEach = 1024;  // elements of a block: kThreads * kEach of kernels/nonzero.cuh
  const tn_tensor* x = call->args[0].as.tensor;
  const Side side = {x->data, x->strides};
  const Dims dims = unmerged(x->ndim, x->sizes, &side, 1);
  const int64_t n_blocks = (x->numel + kEach - 1) / kEach;
  void* counts = nullptr;
  TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(n_blocks + 1) * 8, &counts));
  const std::string text = std::string("#include \"base.cuh\"\nusing Element = ") +
                           element_name(x->dtype) + ";\nusing L = " + loop_type(dims) +
                           ";\n#include \"nonzero.cuh\"\n";
  const auto run = [&](const char* kernel, int64_t blocks, const void* y) {
    Parameters parameters;
    add_loop(parameters, dims);
    parameters.add(counts);
    parameters.add(y);
    parameters.add(n_blocks);
    return launch(stream, text, kernel, {blocks, 1, 256}, parameters);
  };
  TN_CUDA_TRY(run("count", n_blocks, nullptr));
  TN_CUDA_TRY(run("add_counts", 1, nullptr));
  int64_t total = 0;
  const auto end = reinterpret_cast<CUdeviceptr>(static_cast<int64_t*>(counts) + n_blocks);
  TN_CUDA_CALL(stream.index, cuMemcpyDtoHAsync, &total, end, sizeof total, stream.handle);
  TN_CUDA_TRY(synchronize(*static_cast<Stream*>(call->stream->handle)));
  const int64_t sizes[] = {total, x->ndim};
  TN_CUDA_TRY(call->host->set_output(call, 0, 2, sizes));
  if (total == 0 || x->ndim == 0) return nullptr;
  return run("write_rows", n_blocks, call->outputs[0]->data);
}

}  // namespace cuda
