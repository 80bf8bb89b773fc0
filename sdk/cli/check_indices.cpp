// tenon check: GATHER, SCATTER and NONZERO.
#include <fmt/format.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

struct Shape {
  Sizes x, index;
  int64_t dim;
};

std::vector<Shape> shapes_of_indices() {
  return {{{5}, {3}, 0},
          {{1}, {1}, 0},
          {{5}, {0}, 0},
          {{7, 13}, {20, 13}, 0},
          {{7, 13}, {7, 20}, 1},
          {{7, 13}, {3, 5}, 0},
          {{7, 13}, {3, 5}, 1},
          {{3, 4, 5}, {3, 9, 5}, 1},
          {{3, 4, 5}, {2, 3, 6}, 2},
          {{257, 33}, {1031, 33}, 0},
          {{2000}, {7001}, 0}};
}

void gather_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Shape& shape : shapes_of_indices()) {
      for (const Layout layout : kLayouts) {
        if (dtype != float32 && layout != Layout::contiguous && layout != Layout::stepped) continue;
        checks.compare(
            fmt::format("gather {} {} by {} along {} {}", dtype.name(), sizes_text(shape.x),
                        sizes_text(shape.index), shape.dim, name_of(layout)),
            {.dtype = dtype, .must_be_there = is_required(dtype)}, [&](Place& place) -> TensorList {
              const Tensor x = place.tensor(shape.x, layout);
              const int64_t n = shape.x[static_cast<size_t>(shape.dim)];
              return {prim::gather(x, shape.dim, place.indices(shape.index, n, layout))};
            });
      }
    }
    checks.compare(fmt::format("gather {} without dimensions", dtype.name()), {.dtype = dtype},
                   [](Place& place) -> TensorList {
                     return {prim::gather(place.tensor({}), 0, place.indices({}, 1)),
                             prim::gather(place.tensor({1}), 0, place.indices({1}, 1))};
                   });
    checks.compare(fmt::format("gather {} whole rows", dtype.name()), {.dtype = dtype},
                   [](Place& place) -> TensorList {
                     const Tensor index = place.indices({11, 1}, 37);
                     return {prim::gather(place.tensor({37, 9}), 0, index.expand({-1, 9}))};
                   });
  }
}

void scatter_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Shape& shape : shapes_of_indices()) {
      for (const bool is_added : {false, true}) {
        const int64_t n = shape.x[static_cast<size_t>(shape.dim)];
        const int64_t along = shape.index[static_cast<size_t>(shape.dim)];
        if (!is_added && along > n) continue;  // which of several is written is nobody's to say
        for (const Layout layout : {Layout::contiguous, Layout::permuted, Layout::offset}) {
          if (dtype != float32 && layout == Layout::permuted) continue;
          // So many numbers meet one, each stored.
          const Tolerance tolerance =
              is_added ? Tolerance{sum_of(double(along)).relative, 2 * double(along), true}
                       : Tolerance{};
          checks.compare(
              fmt::format("scatter {} {} by {} along {} {}{}", dtype.name(), sizes_text(shape.x),
                          sizes_text(shape.index), shape.dim, name_of(layout),
                          is_added ? " added" : ""),
              {.dtype = dtype, .tolerance = tolerance, .must_be_there = is_required(dtype)},
              [&](Place& place) -> TensorList {
                const Tensor x = place.tensor(shape.x, layout);
                const Tensor index =
                    place.indices(shape.index, n, layout, is_added ? -1 : shape.dim);
                const Tensor src = place.tensor(shape.index, layout);
                return {prim::scatter(x, shape.dim, index, src, is_added), x};
              });
        }
      }
    }
    checks.compare(
        fmt::format("scatter {} into a part", dtype.name()), {.dtype = dtype},
        [](Place& place) -> TensorList {
          const Tensor all = place.tensor({9, 8});
          const Tensor part = all.slice(1, 1, 8, 2);
          prim::scatter_(part, 0, place.indices({3, 4}, 9, {}, 0), place.tensor({3, 4}), false);
          return {all};
        });
    checks.compare(fmt::format("scatter {} without dimensions", dtype.name()), {.dtype = dtype},
                   [](Place& place) -> TensorList {
                     return {prim::scatter(place.tensor({}), 0, place.indices({}, 1),
                                           place.tensor({}), false)};
                   });
  }
}

void nonzero_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Sizes& sizes : {Sizes{}, Sizes{0}, Sizes{1}, Sizes{5}, Sizes{7, 13}, Sizes{3, 4, 5},
                               Sizes{0, 3}, Sizes{30011}}) {
      for (const Layout layout : kLayouts) {
        if (dtype != float32 && layout != Layout::contiguous) continue;
        checks.compare(
            fmt::format("nonzero {} {} {}", dtype.name(), sizes_text(sizes), name_of(layout)),
            {.dtype = dtype, .must_be_there = is_required(dtype)}, [&](Place& place) -> TensorList {
              const Tensor x = place.tensor(sizes, layout, Range::few);
              return {prim::nonzero(x)};
            });
      }
    }
    checks.compare(fmt::format("nonzero {} of zeros", dtype.name()), {.dtype = dtype},
                   [](Place& place) -> TensorList {
                     return {prim::nonzero(place.put(zeros({4, 5})).to(place.dtype()))};
                   });
  }
}

}  // namespace

void check_indices(Checks& checks) {
  checks.begin("gather");
  gather_cases(checks);
  checks.begin("scatter");
  scatter_cases(checks);
  checks.begin("nonzero");
  nonzero_cases(checks);
}

}  // namespace tenon::cli::conformance
