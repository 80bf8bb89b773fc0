// tenon check: REDUCE over every subset of dimensions, SCAN and SORT.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

struct Kind {
  const char* name;
  tn_reduce_kind kind;
};
constexpr Kind kKinds[] = {{"sum", TN_REDUCE_SUM},       {"prod", TN_REDUCE_PROD},
                           {"max", TN_REDUCE_MAX},       {"min", TN_REDUCE_MIN},
                           {"argmax", TN_REDUCE_ARGMAX}, {"argmin", TN_REDUCE_ARGMIN}};

bool is_extreme(const Kind& kind) { return kind.kind > TN_REDUCE_PROD; }
bool is_place(const Kind& kind) { return kind.kind >= TN_REDUCE_ARGMAX; }

int64_t length_of(const Sizes& sizes, const Sizes& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= sizes[static_cast<size_t>(d)];
  return n;
}

std::vector<Sizes> subsets_of(int64_t rank) {
  std::vector<Sizes> subsets;
  for (unsigned bits = 1; bits < 1u << rank; ++bits) {
    Sizes dims;
    for (int64_t d = 0; d < rank; ++d)
      if (bits >> d & 1) dims.push_back(d);
    subsets.push_back(dims);
  }
  return subsets;
}

void one(Checks& checks, const Kind& kind, Dtype dtype, const Sizes& sizes, const Sizes& dims,
         Layout layout, bool must_be_there = false) {
  const auto length = static_cast<double>(length_of(sizes, dims));
  if (is_extreme(kind) && (dtype == bool_ || length == 0)) return;
  if (kind.kind == TN_REDUCE_PROD && length > 100) return;  // it would be 0
  if (is_place(kind) && dims.size() > 1 && dims.size() != sizes.size()) return;
  // Numbers that repeat have partial sums that are larger.
  const Tolerance sum = {2 * sum_of(length).relative, 2 * sum_of(length).absolute};
  const Tolerance tolerance = kind.kind == TN_REDUCE_SUM    ? sum
                              : kind.kind == TN_REDUCE_PROD ? Tolerance{length / 2}
                                                            : Tolerance{};
  checks.compare(fmt::format("reduce {} {} {} over {} {}", kind.name, dtype.name(),
                             sizes_text(sizes), sizes_text(dims), name_of(layout)),
                 {.dtype = dtype, .tolerance = tolerance, .must_be_there = must_be_there},
                 [&](Place& place) -> TensorList {
                   const Tensor x = place.tensor(sizes, layout, Range::unit);
                   const bool whole = dims.size() == sizes.size();
                   return {prim::reduce(kind.kind, x, whole && is_place(kind) ? Sizes() : dims)};
                 });
}

void reduce_cases(Checks& checks) {
  for (const Kind& kind : kKinds) {
    for (const Dtype dtype : kDtypes) {
      for (const Sizes& dims : {Sizes{0}, Sizes{1}, Sizes{0, 1}})
        one(checks, kind, dtype, {7, 13}, dims, Layout::contiguous, is_required(dtype));
    }
    for (const Sizes& dims : subsets_of(4)) {
      for (const Layout layout : kLayouts) one(checks, kind, float32, {3, 5, 4, 7}, dims, layout);
      one(checks, kind, int64, {3, 5, 4, 7}, dims, Layout::permuted);
    }
    for (const Sizes& sizes :
         {Sizes{1}, Sizes{0}, Sizes{3, 0}, Sizes{0, 3}, Sizes{1, 1, 1}, Sizes{5, 1}, Sizes{1, 5},
          Sizes{100003}, Sizes{3, 40001}, Sizes{40001, 3}, Sizes{2, 257, 513}, Sizes{513, 257}}) {
      for (const Sizes& dims : subsets_of(static_cast<int64_t>(sizes.size())))
        one(checks, kind, float32, sizes, dims, Layout::contiguous);
    }
  }
  for (const Dtype dtype : kDtypes) {
    if (!dtype.is_float()) continue;
    for (const Kind& kind : kKinds) {
      checks.compare(fmt::format("reduce {} {} of nan and inf", kind.name, dtype.name()),
                     {.dtype = dtype, .tolerance = {2, 2}}, [&](Place& place) -> TensorList {
                       const Tensor x = Tensor::from(
                           std::vector<double>{1, NAN, 2, INFINITY, 0, 3, -INFINITY, 1, 2}, {3, 3});
                       return {prim::reduce(kind.kind, place.put(x.to(dtype)), {1})};
                     });
    }
  }
  checks.compare("reduce sum of equal extremes float32", {}, [](Place& place) -> TensorList {
    const Tensor x = place.tensor({9, 40}, Layout::contiguous, Range::few);
    return {prim::reduce(TN_REDUCE_ARGMAX, x, {1}), prim::reduce(TN_REDUCE_ARGMIN, x, {0}),
            prim::reduce(TN_REDUCE_MAX, x, {0})};
  });
  checks.compare("reduce sum with a prologue float32", {.tolerance = sum_of(53)},
                 [](Place& place) -> TensorList {
                   const ExpressionRef product("_checked(Tensor x, Tensor y) -> Tensor", "x * y");
                   const Tensor x = place.tensor({37, 53}), y = place.tensor({53});
                   return {prim::reduce(TN_REDUCE_SUM, {x, y}, {1}, false, product)};
                 });
  checks.compare("reduce sum with an epilogue float32", {.tolerance = {4 + std::sqrt(53.0), 4}},
                 [](Place& place) -> TensorList {
                   const ExpressionRef root("_checked(Tensor x) -> Tensor", "sqrt(abs(x)) + 1");
                   const Tensor x = place.tensor({37, 53}, {}, Range::positive);
                   return {prim::reduce_then(TN_REDUCE_SUM, x, {1}, false, root)};
                 });
}

void scan_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Sizes& sizes : {Sizes{0}, Sizes{1}, Sizes{5}, Sizes{7, 13}, Sizes{3, 4, 5},
                               Sizes{3, 0, 5}, Sizes{1, 3001}, Sizes{3001, 2}}) {
      for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim) {
        const auto length = static_cast<double>(sizes[static_cast<size_t>(dim)]);
        if (length > 100 && dtype != float32 && dtype != int64) continue;
        for (const bool reverse : {false, true}) {
          for (const Layout layout : {Layout::contiguous, Layout::permuted}) {
            checks.compare(fmt::format("scan {} {} along {} {}{}", dtype.name(), sizes_text(sizes),
                                       dim, name_of(layout), reverse ? " reverse" : ""),
                           {.dtype = dtype, .tolerance = products(length)},
                           [&](Place& place) -> TensorList {
                             const Tensor x = place.tensor(sizes, layout);
                             TensorList results = {prim::scan(TN_REDUCE_SUM, x, dim, reverse)};
                             return results;
                           });
          }
        }
      }
    }
  }
}

void sort_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Sizes& sizes : {Sizes{0}, Sizes{1}, Sizes{5}, Sizes{11, 29}, Sizes{2, 3, 4},
                               Sizes{0, 3}, Sizes{1, 700}, Sizes{130, 3}}) {
      for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim) {
        for (const bool descending : {false, true}) {
          checks.compare(fmt::format("sort {} {} along {}{}", dtype.name(), sizes_text(sizes), dim,
                                     descending ? " descending" : ""),
                         {.dtype = dtype}, [&](Place& place) -> TensorList {
                           const Tensor x = place.tensor(sizes, Layout::permuted, Range::few);
                           const auto [values, places] = prim::sort(x, dim, descending);
                           return {values, places};
                         });
        }
      }
    }
  }
  checks.compare("sort float32 of nan and inf", {}, [](Place& place) -> TensorList {
    const Tensor x =
        Tensor::from(std::vector<double>{1, NAN, 2, INFINITY, 0, -0.0, -INFINITY, NAN}, {8});
    const auto [values, places] = prim::sort(place.put(x.to(float32)), 0, false);
    return {values, places};
  });
}

}  // namespace

void check_reductions(Checks& checks) {
  checks.begin("reduce");
  reduce_cases(checks);
  checks.begin("scan");
  scan_cases(checks);
  checks.begin("sort");
  sort_cases(checks);
}

}  // namespace tenon::cli::conformance
