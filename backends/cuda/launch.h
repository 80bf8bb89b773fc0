// How kernels are found and launched. A kernel is an entry of a text; texts are compiled when they
// are first launched, and loaded once for each device. What a kernel takes is one struct, which
// Parameters writes as kernels/base.cuh lays it out.
#pragma once

#include <cstring>
#include <string>

#include "driver.h"
#include "stream.h"
#include "tenon/dtype_table.hpp"

namespace cuda {

using tenon::backend::item_size;

// The bytes of a kernel's struct, member by member, each at its alignment.
class Parameters {
 public:
  template <class T>
  void add(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  // As the type I of a loop: int (false) or long long.
  void add_index(int64_t value, bool is_wide) {
    is_wide ? add(value) : add(static_cast<int32_t>(value));
  }
  // The end of a struct that has a member of eight bytes.
  void* data() {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return bytes_.data();
  }

 private:
  std::string bytes_;
};

struct Grid {
  int64_t blocks = 1, pieces = 1;  // in x and y
  int32_t threads = 256;
};
// For EACH over n: enough threads to fill a GPU, and no more than elements.
Grid grid_for(int64_t n);

// Compiles the text where that was not done yet, and launches one of its kernels on the stream.
tn_status* launch(const Stream& stream, const std::string& text, const char* kernel,
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
