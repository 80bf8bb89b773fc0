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
    for (const Dtype to : kDtypes) {
      if (!dtype.is_float() || to.is_float()) continue;
      checks.compare(fmt::format("copy {} of nan and inf to {}", dtype.name(), to.name()),
                     {.dtype = dtype, .same_dtype = true}, [&](Place& place) -> TensorList {
                       return {prim::copy(place.put(Tensor::from(kOdd, {12}).to(dtype)), to)};
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
  // Each from its place, so that errors do not add up.
  for (const Dtype dtype : kDtypes) {
    if (!dtype.is_float()) continue;
    const int64_t n = dtype.itemsize() < 4 ? 100 : 1000003;
    checks.compare(fmt::format("iota {} in tenths", dtype.name()),
                   {.dtype = dtype, .tolerance = {2}}, [&](Place& place) -> TensorList {
                     return {prim::iota(n, 0, 0.1, place.dtype(), place.device())};
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
  struct Answer {
    const char* what;
    RandomState state;
    std::vector<uint32_t> bits;
  };
  // Those of abi.h; the first is of Random123's kat_vectors: counters 0 and key 0.
  const Answer answers[] = {
      {"known answers", {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0xf8e4cca4}},
      {"far on in a sequence",
       {0x0123456789abcdef, 0x0000000100000002},
       {0x20f4d595, 0xe9627d16, 0x7bbaeeb8, 0xdf7a77a7, 0x57d0d554, 0x3250ff87}}};
  for (const Answer& answer : answers) {
    checks.expect(fmt::format("random_bits {}", answer.what), [&](Place& place) {
      set_random_state(answer.state);
      std::vector<int64_t> expected;
      for (const uint32_t bits : answer.bits) expected.push_back(static_cast<int32_t>(bits));
      const auto n = static_cast<int64_t>(expected.size());
      expect_equal(prim::random_bits({n}, place.device()), Tensor::from(expected, {n}).to(int32),
                   fmt::format("the first {} of seed {:#018x} and offset {:#x}", n,
                               answer.state.seed, answer.state.offset));
    });
  }
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
