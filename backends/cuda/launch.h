// How kernels are found and launched. A kernel is an entry of a text; texts are compiled when they
// are first launched, and loaded once for each device. What a kernel takes is one struct, which
// Parameters writes as kernels/base.cuh lays it out.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "driver.h"
#include "stream.h"
#include "tenon/dtype_table.hpp"

namespace cuda {

// The bytes of a kernel's struct, member by member, each at its alignment. What is longer than
// kMost throws; the longest loop over TN_MAX_OPERANDS is within it.
class Parameters {
 public:
  static constexpr size_t kMost = 8192;

  template <class T>
  void add(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    const size_t at = (size_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (at + sizeof(T) > kMost) refuse_length();
    if (at > size_) std::memset(bytes_ + size_, 0, at - size_);
    std::memcpy(bytes_ + at, &value, sizeof(T));
    size_ = at + sizeof(T);
  }
  // As the type I of a loop: int (false) or long long.
  void add_index(int64_t value, bool is_wide) {
    is_wide ? add(value) : add(static_cast<int32_t>(value));
  }
  // The end of a struct that has a member of eight bytes.
  void* data() {
    if (size_ % 8 != 0) add(int32_t{0});
    return bytes_;
  }

 private:
  [[noreturn]] static void refuse_length();

  size_t size_ = 0;
  alignas(8) char bytes_[kMost];  // beyond size_ not initialized
};

struct Grid {
  int64_t blocks = 1, pieces = 1;  // in x and y
  int32_t threads = 256;
};
inline constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max(), kMostPieces = 65535;
// For EACH over n: enough threads to fill a GPU, and no more than elements.
Grid grid_for(int64_t n);
// Blocks that keep the GPU of a stream busy where each of them has much to read: some of each
// multiprocessor. What is cut into so many pieces has the same bits each time on one GPU.
tn_status* find_busy_blocks(const Stream& stream, int64_t* blocks);

// A kernel text, and what became of it on each device. It lives as long as the process: work that is
// under way may need its modules, and the driver unloads them when the process ends.
class Text {
 public:
  explicit Text(std::string source) : source_(std::move(source)) {}
  Text(const Text&) = delete;

  const std::string& source() const { return source_; }

  // One of its kernels. The text is compiled and loaded where that was not done yet; the context of
  // the device is current. From any thread; `name` is a literal.
  tn_status* find(int32_t index, const char* name, CUfunction* function);

 private:
  struct Loaded {
    int32_t index;
    const char* name;
    CUfunction function;
    const Loaded* next;
  };
  const CUfunction* look_up(int32_t index, const char* name) const;
  tn_status* load(int32_t index, CUmodule* module);

  const std::string source_;
  std::atomic<const Loaded*> loaded_ = nullptr;  // read without a lock, and only ever longer
  std::map<std::string, std::string> images_;    // by architecture
  std::map<int32_t, CUmodule> modules_;          // by device
};

// What decides a text of a family of kernels: some bytes.
class TextKey {
 public:
  template <class... Parts>
  explicit TextKey(const Parts&... parts) {
    (add(parts), ...);
  }
  template <class T>
  void add(const T& part) {
    static_assert(std::has_unique_object_representations_v<T>);
    if (size_ + sizeof part > sizeof bytes_) return spill();
    std::memcpy(bytes_ + size_, &part, sizeof part);
    size_ += sizeof part;
  }
  std::string_view bytes() const { return {bytes_, size_}; }

 private:
  [[noreturn]] static void spill();

  size_t size_ = 0;
  char bytes_[128];  // beyond size_ not initialized
};

// The texts of one family of kernels, which are made once and found without a lock.
class Texts {
 public:
  // `make` is a tn_status*(std::string* source).
  template <class Make>
  tn_status* find(const TextKey& key, const Make& make, Text** text) {
    const size_t bucket = bucket_of(key);
    if ((*text = look_up(bucket, key))) return nullptr;
    std::string source;
    if (tn_status* status = make(&source)) return status;
    *text = insert(bucket, key, std::move(source));
    return nullptr;
  }

  // For texts that can always be made: `make` is a std::string().
  template <class Make>
  Text& get(const TextKey& key, const Make& make) {
    const size_t bucket = bucket_of(key);
    Text* const found = look_up(bucket, key);
    return found ? *found : *insert(bucket, key, make());
  }

 private:
  static constexpr size_t kBuckets = 1024;
  struct Entry {
    std::string key;
    Text* text;
    const Entry* next;
  };
  static size_t bucket_of(const TextKey& key) {
    return std::hash<std::string_view>()(key.bytes()) % kBuckets;
  }
  Text* look_up(size_t bucket, const TextKey& key) const;
  Text* insert(size_t bucket, const TextKey& key, std::string source);

  std::array<std::atomic<const Entry*>, kBuckets> entries_ = {};
};

// The only text with that source.
Text& text_of(std::string source);

// Puts one of a text's kernels on the stream.
tn_status* launch(const Stream& stream, Text& text, const char* kernel, const Grid& grid,
                  Parameters& parameters);
// For a struct that the host has in the layout of the kernel's.
tn_status* launch(const Stream& stream, Text& text, const char* kernel, const Grid& grid,
                  const void* parameters);
// For texts without a family. It costs a look at each character.
tn_status* launch(const Stream& stream, const std::string& source, const char* kernel,
                  const Grid& grid, Parameters& parameters);

// ---- Operands of a loop

inline constexpr int32_t kFewDims = 4;  // most loops have no more, and their structs are shorter

// An operand of a loop over tensors.
struct Side {
  const void* data;
  const int64_t* strides;
};

// Dimensions with the strides of several operands: those of size 1 dropped and neighbours merged
// where all operands allow it.
struct Dims {
  static constexpr int32_t kMaxSides = TN_MAX_OPERANDS;
  int32_t ndim = 0, n_sides = 0;
  int64_t n = 1;
  int64_t reach = 0;  // how many elements further than the loop itself a kernel goes
  int64_t sizes[TN_MAX_RANK];
  const void* data[kMaxSides];
  int64_t strides[kMaxSides][TN_MAX_RANK];

  // Does int not suffice for the elements and for where operands lie?
  bool is_wide() const;
  int32_t max_dims() const { return ndim <= kFewDims ? kFewDims : TN_MAX_RANK; }
};
Dims merged(int32_t ndim, const int64_t* sizes, const Side* sides, int32_t n_sides);
// As they are, for kernels that write the coordinates.
Dims unmerged(int32_t ndim, const int64_t* sizes, const Side* sides, int32_t n_sides);

// The dimensions but one of at most four tensors, and their strides along that one. `shape` is one of
// them; a tensor without dimensions is one row of one element.
struct Rows {
  Dims dims;
  int64_t n;
  int64_t strides[4] = {};
};
Rows rows_along(int64_t dim, const tn_tensor* shape, const tn_tensor* const* tensors, int32_t n);

// A Loop of base.cuh with one scalar; its sizes and strides
// alone; these and what follows; its type as text.
void add_loop(Parameters& parameters, const Dims& dims, int64_t scalar = 0);
void add_strides(Parameters& parameters, const Dims& dims);
void add_dims(Parameters& parameters, const Dims& dims);
std::string loop_type(const Dims& dims, int32_t n_scalars = 1);

}  // namespace cuda
