#include "launch.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "nvrtc.h"

namespace cuda {
namespace {

// What one text became. Modules are never unloaded: work that is under way may need them, and the
// driver does so when the process ends.
struct Compiled {
  std::map<std::string, std::string> images;                        // by architecture
  std::map<int32_t, CUmodule> modules;                              // by device
  std::map<std::pair<int32_t, std::string>, CUfunction> functions;  // by device and name
};

std::mutex mutex;
auto& texts = *new std::unordered_map<std::string, Compiled>;  // the host may launch behind exit

// The context of the device is current.
tn_status* find(int32_t index, const std::string& text, const char* kernel, CUfunction* function) {
  const std::lock_guard lock(mutex);
  Compiled& compiled = texts[text];
  CUfunction& found = compiled.functions[{index, kernel}];
  if (!found) {
    const Gpu* gpu = nullptr;
    TN_CUDA_TRY(find_gpu(index, &gpu));
    std::string& image = compiled.images[gpu->architecture];
    if (image.empty()) TN_CUDA_TRY(compile(text, gpu->architecture, &image));
    CUmodule& module = compiled.modules[index];
    if (!module) TN_CUDA_CALL(index, cuModuleLoadData, &module, image.data());
    TN_CUDA_CALL(index, cuModuleGetFunction, &found, module, kernel);
  }
  *function = found;
  return nullptr;
}

constexpr int64_t kMaxBlocks = 4096;

}  // namespace

Grid grid_for(int64_t n) {
  const auto threads = static_cast<int32_t>(std::min<int64_t>((n + 31) / 32 * 32, 256));
  return {std::min((n + threads - 1) / threads, kMaxBlocks), 1, threads};
}

tn_status* launch(const Stream& stream, const std::string& text, const char* kernel,
                  const Grid& grid, Parameters& parameters) {
  CUfunction function = nullptr;
  TN_CUDA_TRY(find(stream.index, text, kernel, &function));
  void* arguments[] = {parameters.data()};
  TN_CUDA_CALL(stream.index, cuLaunchKernel, function, static_cast<unsigned>(grid.blocks),
               static_cast<unsigned>(grid.pieces), 1, static_cast<unsigned>(grid.threads), 1, 1, 0,
               stream.handle, arguments, nullptr);
  return nullptr;
}

bool Dims::is_wide() const {
  constexpr int64_t kMost = int64_t{1} << 30;  // a grid beyond the last element must fit, too
  if (n > kMost) return true;
  for (int32_t k = 0; k < n_sides; ++k) {
    int64_t reach = 0;
    for (int32_t d = 0; d < ndim; ++d) reach += (sizes[d] - 1) * std::abs(strides[k][d]);
    if (reach > kMost) return true;
  }
  return false;
}

Dims unmerged(int32_t ndim, const int64_t* sizes, const Side* sides, int32_t n_sides) {
  Dims dims;
  dims.ndim = ndim;
  dims.n_sides = n_sides;
  for (int32_t d = 0; d < ndim; ++d) dims.n *= dims.sizes[d] = sizes[d];
  for (int32_t k = 0; k < n_sides; ++k) {
    dims.data[k] = sides[k].data;
    std::copy(sides[k].strides, sides[k].strides + ndim, dims.strides[k]);
  }
  return dims;
}

Dims merged(int32_t ndim, const int64_t* sizes, const Side* sides, int32_t n_sides) {
  Dims dims = unmerged(0, sizes, sides, n_sides);
  for (int32_t d = 0; d < ndim; ++d) {
    if (sizes[d] == 1) continue;
    dims.n *= sizes[d];
    bool fits = dims.ndim > 0;  // one step of the dimension before is a whole run of this one
    for (int32_t k = 0; fits && k < n_sides; ++k)
      fits = dims.strides[k][dims.ndim - 1] == sides[k].strides[d] * sizes[d];
    const int32_t to = fits ? dims.ndim - 1 : dims.ndim++;
    dims.sizes[to] = fits ? dims.sizes[to] * sizes[d] : sizes[d];
    for (int32_t k = 0; k < n_sides; ++k) dims.strides[k][to] = sides[k].strides[d];
  }
  return dims;
}

Rows rows_along(int64_t dim, const tn_tensor* shape, const tn_tensor* const* tensors, int32_t n) {
  Rows rows;
  int64_t sizes[TN_MAX_RANK], strides[4][TN_MAX_RANK];
  Side sides[4];
  int32_t ndim = 0;
  for (int32_t d = 0; d < shape->ndim; ++d) {
    if (d == dim) continue;
    for (int32_t k = 0; k < n; ++k) strides[k][ndim] = tensors[k]->strides[d];
    sizes[ndim++] = shape->sizes[d];
  }
  for (int32_t k = 0; k < n; ++k) {
    sides[k] = {tensors[k]->data, strides[k]};
    rows.strides[k] = shape->ndim > 0 ? tensors[k]->strides[dim] : 0;
  }
  rows.n = shape->ndim > 0 ? shape->sizes[dim] : 1;
  rows.dims = merged(ndim, sizes, sides, n);
  return rows;
}

void add_loop(Parameters& parameters, const Dims& dims, int64_t scalar) {
  for (int32_t k = 0; k < dims.n_sides; ++k) parameters.add(dims.data[k]);
  parameters.add(scalar);
  add_dims(parameters, dims);
}

void add_strides(Parameters& parameters, const Dims& dims) {
  const bool is_wide = dims.is_wide();
  for (int32_t d = 0; d < dims.max_dims(); ++d)
    parameters.add_index(d < dims.ndim ? dims.sizes[d] : 1, is_wide);
  for (int32_t k = 0; k < dims.n_sides; ++k) {
    for (int32_t d = 0; d < dims.max_dims(); ++d)
      parameters.add_index(d < dims.ndim ? dims.strides[k][d] : 0, is_wide);
  }
}

void add_dims(Parameters& parameters, const Dims& dims) {
  add_strides(parameters, dims);
  parameters.add_index(dims.n, dims.is_wide());
  parameters.add_index(dims.ndim, dims.is_wide());
}

std::string loop_type(const Dims& dims, int32_t n_scalars) {
  return std::string("Loop<") + (dims.is_wide() ? "long long" : "int") + ", " +
         std::to_string(dims.n_sides) + ", " + std::to_string(dims.max_dims()) + ", " +
         std::to_string(n_scalars) + ">";
}

}  // namespace cuda
