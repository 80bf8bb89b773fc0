#include "turn_rows.h"

#include <algorithm>

#include "launch.h"
#include "program_text.h"

namespace cuda {
namespace {

constexpr int64_t kStarts = 480;  // of a launch: the struct of a kernel has 4 KB

Text& text_for(tn_dtype dtype, int64_t pack, bool is_wide) {
  static constinit Texts texts;
  return texts.get(TextKey(item_size(dtype), pack, is_wide), [&] {
    return std::string("#include \"base.cuh\"\nusing Element = ") + bits_name(dtype) +
           ";\nusing Index = " + (is_wide ? "long long" : "int") +
           ";\nconstexpr int kPack = " + std::to_string(pack) +
           ";\nconstexpr int kMost = " + std::to_string(kStarts) +
           ";\n#include \"turn_rows.cuh\"\n";
  });
}

// The first row of each step, and of the step behind the last, in the workspace of the call.
tn_status* write_starts(const tn_call* call, const Stream& stream,
                        std::span<const int64_t> batch_sizes, Text& text, bool is_wide,
                        void** table) {
  const int64_t n = static_cast<int64_t>(batch_sizes.size()) + 1;
  TN_CUDA_TRY(host->workspace(call, static_cast<uint64_t>(n) * (is_wide ? 8 : 4), table));
  int64_t start = 0;
  for (int64_t first = 0; first < n; first += kStarts) {
    const int64_t count = std::min(kStarts, n - first);
    Parameters parameters;
    parameters.add(*table);
    parameters.add_index(first, is_wide);
    parameters.add_index(count, is_wide);
    for (int64_t k = 0; k < kStarts; ++k) {
      parameters.add_index(k < count ? start : 0, is_wide);
      if (first + k < n - 1) start += batch_sizes[static_cast<size_t>(first + k)];
    }
    TN_CUDA_TRY(launch(stream, text, "write_starts", grid_for(count), parameters));
  }
  return nullptr;
}

}  // namespace

tn_status* turn_rows(const tn_call* call, const Stream& stream, const Sequences& sequences,
                     const tn_tensor& like, void* to, const void* from) {
  const int64_t width = like.sizes[like.ndim - 1];
  int64_t pack = 16 / static_cast<int64_t>(item_size(like.dtype));
  while (width % pack != 0) pack /= 2;
  const int64_t packs = width / pack;
  const bool is_wide = sequences.rows * packs > int64_t{1} << 30;
  Text& text = text_for(like.dtype, pack, is_wide);
  void* starts = nullptr;
  if (!sequences.batch_sizes.empty())
    TN_CUDA_TRY(write_starts(call, stream, sequences.batch_sizes, text, is_wide, &starts));
  Parameters parameters;
  parameters.add(to);
  parameters.add(from);
  parameters.add(starts);
  for (const int64_t number : {sequences.rows, sequences.n, sequences.steps, packs})
    parameters.add_index(number, is_wide);
  return launch(stream, text, "turn", grid_for(sequences.rows * packs), parameters);
}

}  // namespace cuda
