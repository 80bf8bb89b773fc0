// tenon check: MATMUL, COPY, FILL, IOTA and RANDOM_BITS.
#include <fmt/format.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

void matmul_cases(Checks& checks) {
  struct Shapes {
    Sizes a, b;
  };
  const Shapes pairs[] = {
      {{2, 3}, {3, 4}},          {{1, 1}, {1, 1}},        {{1, 64}, {64, 5}},
      {{5, 130}, {130, 1}},      {{8, 1}, {1, 8}},        {{37, 53}, {53, 29}},
      {{65, 33}, {33, 129}},     {{130, 257}, {257, 67}}, {{0, 3}, {3, 4}},
      {{3, 0}, {0, 4}},          {{3, 4}, {4, 0}},        {{3, 7, 9}, {3, 9, 5}},
      {{3, 1, 7, 9}, {2, 9, 5}}, {{1, 7, 9}, {4, 9, 5}},  {{0, 2, 3}, {0, 3, 2}},
      {{17, 4, 6}, {6, 3}}};
  for (const Shapes& pair : pairs) {
    const auto length = static_cast<double>(pair.a.back());
    for (const Dtype dtype : kDtypes) {
      if (!dtype.is_float()) continue;
      for (const Layout layout : kLayouts) {
        if (dtype != float32 && layout != Layout::contiguous && layout != Layout::permuted)
          continue;
        checks.compare(
            fmt::format("matmul {} {} {} {}", dtype.name(), sizes_text(pair.a), sizes_text(pair.b),
                        name_of(layout)),
            {.dtype = dtype, .tolerance = products(length), .must_be_there = is_required(dtype)},
            [&](Place& place) -> TensorList {
              const Tensor a = place.tensor(pair.a, layout), b = place.tensor(pair.b, layout);
              return {prim::matmul(a, b)};
            });
      }
    }
  }
}

void copy_cases(Checks& checks) {
  for (const Dtype dtype : kDtypes) {
    for (const Layout layout : kLayouts) {
      for (const Sizes& sizes :
           {Sizes{0}, Sizes{1}, Sizes{5}, Sizes{7, 13}, Sizes{3, 4, 5, 2}, Sizes{257, 129}}) {
        checks.compare(
            fmt::format("copy {} {} {}", dtype.name(), sizes_text(sizes), name_of(layout)),
            {.dtype = dtype, .must_be_there = is_required(dtype)},
            [&](Place& place) -> TensorList { return {prim::copy(place.tensor(sizes, layout))}; });
      }
    }
    for (const Dtype to : kDtypes) {
      checks.compare(fmt::format("copy {} to {}", dtype.name(), to.name()),
                     {.dtype = dtype, .same_dtype = true}, [&](Place& place) -> TensorList {
                       return {prim::copy(place.tensor({7, 13}, {}, Range::positive), to)};
                     });
    }
    checks.compare(fmt::format("copy {} into a part", dtype.name()), {.dtype = dtype},
                   [&](Place& place) -> TensorList {
                     const Tensor all = place.tensor({9, 8});
                     all.slice(1, 1, 8, 3).copy_(place.tensor({9, 3}, Layout::permuted));
                     all.narrow(0, 2, 1).copy_(place.tensor({8}));
                     return {all};
                   });
  }
}

void makers(Checks& checks) {
  checks.begin("fill");
  for (const Dtype dtype : kDtypes) {
    double value = 2;
    for (const Sizes& sizes : {Sizes{}, Sizes{0}, Sizes{1}, Sizes{7, 13}, Sizes{100003}}) {
      value += 1;  // memory that is used again has another value
      checks.compare(fmt::format("fill {} {}", dtype.name(), sizes_text(sizes)),
                     {.dtype = dtype, .must_be_there = is_required(dtype)},
                     [&](Place& place) -> TensorList {
                       return {prim::fill(sizes, value, place.dtype(), place.device()),
                               prim::fill(sizes, 0, place.dtype(), place.device())};
                     });
    }
  }
  checks.begin("iota");
  for (const Dtype dtype : kDtypes) {
    if (dtype == bool_) continue;
    for (const int64_t n : {0, 1, 5, 100, 100003}) {
      const bool is_small = dtype.itemsize() < 4;
      if (is_small && n > 100) continue;
      checks.compare(fmt::format("iota {} {}", dtype.name(), n),
                     {.dtype = dtype, .must_be_there = dtype == int64 || dtype == float32},
                     [&](Place& place) -> TensorList {
                       return {prim::iota(n, 3, 1, place.dtype(), place.device())};
                     });
    }
    if (!dtype.is_float()) continue;
    checks.compare(fmt::format("iota {} in quarters", dtype.name()), {.dtype = dtype},
                   [&](Place& place) -> TensorList {
                     return {prim::iota(100, 1.5, 0.25, place.dtype(), place.device())};
                   });
  }
  checks.begin("random_bits");
  for (const int64_t n : {0, 1, 3, 4, 5, 1000, 100003}) {
    checks.compare(fmt::format("random_bits {}", n), {.dtype = int32, .must_be_there = true},
                   [&](Place& place) -> TensorList {
                     return {prim::random_bits({n}, place.device()),
                             prim::random_bits({n, 2}, place.device())};  // behind the first
                   });
  }
  checks.expect("random_bits known answers", [](Place& place) {
    // philox4x32_10 of counters 0 and key 0, of Random123's kat_vectors.
    manual_seed(0);
    set_random_state({0, 0});
    expect_equal(prim::random_bits({4}, place.device()).to(cpu),
                 Tensor::from(std::vector<int64_t>{int32_t(0x6627e8d5), int32_t(0xe169c58d),
                                                   int32_t(0xbc57ac4c), int32_t(0x9b00dbd8)},
                              {4})
                     .to(int32),
                 "the first four");
  });
}

}  // namespace

void check_moves(Checks& checks) {
  checks.begin("matmul");
  matmul_cases(checks);
  checks.begin("copy");
  copy_cases(checks);
  makers(checks);
}

}  // namespace tenon::cli::conformance
