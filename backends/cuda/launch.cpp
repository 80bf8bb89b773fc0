#include "launch.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "nvrtc.h"

namespace cuda {
namespace {

std::mutex mutex;  // over what is compiled and loaded

constexpr int64_t kLoopBlocks = 4096;
constexpr int64_t kBusyBlocks = 4;  // of a multiprocessor; more leave more pieces to a second pass

}  // namespace

Grid grid_for(int64_t n) {
  const auto threads = static_cast<int32_t>(std::min<int64_t>((n + 31) / 32 * 32, 256));
  return {std::min((n + threads - 1) / threads, kLoopBlocks), 1, threads};
}

tn_status* find_busy_blocks(const Stream& stream, int64_t* blocks) {
  const Gpu* gpu = nullptr;
  TN_CUDA_TRY(find_gpu(stream.index, &gpu));
  *blocks = gpu->multiprocessors * kBusyBlocks;
  return nullptr;
}

void Parameters::refuse_length() {
  throw std::length_error("a kernel's parameters have more than 8192 bytes");
}

void TextKey::spill() { throw std::length_error("a text's key has more than 128 bytes"); }

const CUfunction* Text::look_up(int32_t index, const char* name) const {
  const Loaded* at = loaded_.load(std::memory_order_acquire);
  for (; at; at = at->next) {
    if (at->index == index && (at->name == name || std::strcmp(at->name, name) == 0))
      return &at->function;
  }
  return nullptr;
}

// `mutex` is held.
tn_status* Text::load(int32_t index, CUmodule* module) {
  CUmodule& found = modules_[index];
  if (!found) {
    const Gpu* gpu = nullptr;
    TN_CUDA_TRY(find_gpu(index, &gpu));
    std::string& image = images_[gpu->architecture];
    if (image.empty()) TN_CUDA_TRY(compile(source_, gpu->architecture, &image));
    const auto load = [&] { return driver.cuModuleLoadData(&found, image.data()); };
    TN_CUDA_TRY(status_of(with_room(index, load), "cuModuleLoadData", index));
  }
  *module = found;
  return nullptr;
}

tn_status* Text::find(int32_t index, const char* name, CUfunction* function) {
  const CUfunction* found = look_up(index, name);
  if (!found) {
    const std::lock_guard lock(mutex);
    found = look_up(index, name);  // another thread may have been here
    if (!found) {
      auto loaded = std::make_unique<Loaded>(Loaded{index, name, nullptr, loaded_.load()});
      CUmodule module = nullptr;
      TN_CUDA_TRY(load(index, &module));
      TN_CUDA_CALL(index, cuModuleGetFunction, &loaded->function, module, name);
      found = &loaded->function;
      loaded_.store(loaded.release(), std::memory_order_release);
    }
  }
  *function = *found;
  return nullptr;
}

Text* Texts::look_up(size_t bucket, const TextKey& key) const {
  const Entry* at = entries_[bucket].load(std::memory_order_acquire);
  for (; at; at = at->next) {
    if (at->key == key.bytes()) return at->text;
  }
  return nullptr;
}

Text* Texts::insert(size_t bucket, const TextKey& key, std::string source) {
  Text& text = text_of(std::move(source));
  const std::lock_guard lock(mutex);
  if (Text* other = look_up(bucket, key)) return other;
  entries_[bucket].store(new Entry{std::string(key.bytes()), &text, entries_[bucket].load()},
                         std::memory_order_release);
  return &text;
}

Text& text_of(std::string source) {
  static auto& all = *new std::unordered_map<std::string_view, std::unique_ptr<Text>>;
  const std::lock_guard lock(mutex);
  if (const auto found = all.find(source); found != all.end()) return *found->second;
  auto made = std::make_unique<Text>(std::move(source));
  return *all.emplace(made->source(), std::move(made)).first->second;
}

tn_status* launch(const Stream& stream, Text& text, const char* kernel, const Grid& grid,
                  Parameters& parameters) {
  return launch(stream, text, kernel, grid, static_cast<const void*>(parameters.data()));
}

tn_status* launch(const Stream& stream, Text& text, const char* kernel, const Grid& grid,
                  const void* parameters) {
  if (grid.blocks > kMostBlocks || grid.pieces > kMostPieces)
    return error(host, TN_UNSUPPORTED,
                 "%s: %ld by %ld blocks are wanted, and a launch has at most %ld by %ld (%s:%d)",
                 kernel, grid.blocks, grid.pieces, kMostBlocks, kMostPieces, kDeviceName,
                 stream.index);
  CUfunction function = nullptr;
  TN_CUDA_TRY(text.find(stream.index, kernel, &function));
  void* arguments[] = {const_cast<void*>(parameters)};
  TN_CUDA_CALL(stream.index, cuLaunchKernel, function, static_cast<unsigned>(grid.blocks),
               static_cast<unsigned>(grid.pieces), 1, static_cast<unsigned>(grid.threads), 1, 1, 0,
               stream.handle, arguments, nullptr);
  return nullptr;
}

tn_status* launch(const Stream& stream, const std::string& source, const char* kernel,
                  const Grid& grid, Parameters& parameters) {
  return launch(stream, text_of(source), kernel, grid, parameters);
}

bool Dims::is_wide() const {
  constexpr int64_t kMost = int64_t{1} << 30;  // a grid beyond the last element must fit, too
  if (n > kMost) return true;
  for (int32_t k = 0; k < n_sides; ++k) {
    int64_t end = reach;
    for (int32_t d = 0; d < ndim; ++d) end += (sizes[d] - 1) * std::abs(strides[k][d]);
    if (end > kMost) return true;
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
