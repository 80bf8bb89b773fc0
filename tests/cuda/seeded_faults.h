// Mistakes that kernels could have, each put into a header of the plugin's in the place of what is
// there, with an op that meets it and what is then said of it. `kWrongValue` is said by the test,
// of mistakes that leave all memory in order.
#pragma once

#include "ops_support.h"

namespace faults {

inline const char* const kWrongValue = "wrong value";
inline const char* const kRace = "meets a race in memory of the device: it ";
inline const char* const kSharedRace = "meets a race in shared memory: it ";
inline const char* const kUnwritten = "meets shared memory that was not written";
inline const char* const kOutside = "meets an address outside of live memory";

// n numbers that are whole, in no order, each several times.
inline Tensor numbers(int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 7919 % 997) - 500.f);
  return Tensor::from(values, {n});
}

// What an op makes of its input on a device. Inputs are made on `cpu`.
struct Op {
  std::function<Tensor()> input;
  std::function<Tensor(const Tensor&)> run;
};
#define FAULT_OP(name, in, out) \
  inline const Op name = {[] { return in; }, [](const Tensor& x) { return out; }}
FAULT_OP(sum_of_rows, numbers(3000).reshape({3, 1000}), x.sum({1}));
FAULT_OP(sum_of_short_rows, numbers(100).reshape({5, 20}), x.sum({1}));
FAULT_OP(sum_of_all, numbers(40000), x.sum());
FAULT_OP(turned, numbers(1003).reshape({17, 59}), x.t().contiguous());
FAULT_OP(turned_strip, numbers(980).reshape({7, 140}), x.t().contiguous());
FAULT_OP(turned_halves, (numbers(1003) / 4).reshape({17, 59}).to(tn::float16), x.t().contiguous());
FAULT_OP(turned_each, numbers(4200 * 256).reshape({4200, 16, 16}), x.transpose(1, 2).contiguous());
FAULT_OP(sum_of_odd_rows, numbers(3003).reshape({3, 1001}), x.sum({1}));
FAULT_OP(int_of, numbers(1003), x.to(tn::int32));
FAULT_OP(int_of_every_other, numbers(2006), x.slice(0, 0, 2006, 2).to(tn::int32));
FAULT_OP(running_sum, numbers(600), tn::cumsum(x, 0));
FAULT_OP(long_running_sum, numbers(60000).to(tn::int64), tn::cumsum(x, 0));
FAULT_OP(sorted, numbers(900), std::get<0>(tn::sort(x, 0)));
FAULT_OP(sorted_in_runs, numbers(2500), std::get<1>(tn::sort(x, 0)));
FAULT_OP(where_not_zero, numbers(5000), tn::nonzero(x));
FAULT_OP(third_of_row, numbers(20).reshape({4, 5}),
         tn::gather(x, 1, tn::full({4, 1}, 3, tn::int64, x.device())));
FAULT_OP(gather_behind, numbers(20).reshape({4, 5}),
         tn::gather(x, 1, tn::full({4, 1}, 300, tn::int64, x.device())));
FAULT_OP(added_twice, numbers(64).to(tn::int64),
         tn::scatter_add(tn::zeros({8}, tn::int64, x.device()), 0,
                         tn::full({64}, 5, tn::int64, x.device()), x));
FAULT_OP(steps_of_2_to_30, numbers(1),
         tn::arange(0, int64_t{9} << 30, int64_t{1} << 30, tn::int64, x.device()));
FAULT_OP(drawn, numbers(1), (tn::manual_seed(3), tn::rand({1001}, tn::float32, x.device())));
FAULT_OP(softmax_of_rows, numbers(2000).reshape({50, 40}) / 500, tn::softmax(x, 1));
FAULT_OP(softmax_of_long_rows, numbers(20003).reshape({1, 20003}) / 500, tn::softmax(x, 1));
FAULT_OP(softmax_of_odd_rows, numbers(41 * 51).reshape({51, 41}) / 500, tn::softmax(x, 1));
FAULT_OP(norm_of_gradient, numbers(9000), tn::clip_grad_norm_({x.clone()}, 1e9));
FAULT_OP(added_in_runs, numbers(200),
         tn::index_add(tn::zeros({3}, tn::float32, x.device()), 0,
                       tn::full({200}, 1, tn::int64, x.device()), x));
FAULT_OP(dropped, numbers(1001), (tn::manual_seed(3), tn::dropout(x, 0.5)));
#undef FAULT_OP

// Two parameters, the second of which begins `offset` elements behind an aligned address.
inline Tensor stepped(const Tensor& x, int64_t offset) {
  const Tensor a = x.narrow(0, 0, 1001).clone();
  const Tensor b = x.narrow(0, 0, 2000 + offset).clone().narrow(0, offset, 2000);
  tn::sgd_step({a, b}, {a * 2, b * 3}, {}, 0.5);
  return tn::cat({a, b});
}
// The count of a parameter of several blocks, after two steps.
inline Tensor counted(const Tensor& x) {
  const Tensor p = x.clone(), m = tn::zeros_like(p), v = tn::zeros_like(p);
  const Tensor count = tn::zeros({1}, tn::float32, x.device());
  for (int i = 0; i < 2; ++i)
    tn::adam_step({p}, {x}, {m}, {v}, 0.01, 0, {.steps = TensorList{count}});
  return count;
}
inline const Op counted_twice = {[] { return numbers(3000); }, counted};
inline const Op two_stepped = {[] { return numbers(3000); },
                               [](const Tensor& x) { return stepped(x, 0); }};
inline const Op one_stepped_aside = {[] { return numbers(3000); },
                                     [](const Tensor& x) { return stepped(x, 1); }};
inline const Op pooled = {[] {
                            return numbers(99).reshape({1, 1, 9, 11});
                          },
                          [](const Tensor& x) {
                            const Tensor leaf = x.detach().requires_grad_();
                            tn::max_pool2d(leaf, 3, {.stride = 1}).sum().backward();
                            return leaf.grad();
                          }};

struct Fault {
  const char* name;
  const char* file;
  std::string from, to;
  const Op* op;
  std::string says;  // in this order, with anything between parts that "..." divides

  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.file; }
};

inline std::vector<Fault> all() {
  return {
      // ---- Meetings
      {"NoMeetingBetweenStepsOfATree", "reduce.cuh", "slots[place + step]);\n    meet();",
       "slots[place + step]);", &sum_of_rows,
       std::string("reduce_groups ") + kSharedRace + "...thread"},
      {"NoMeetingBetweenReadAndWrite", "nonzero.cuh", "slots[thread - step] : 0;\n    meet();",
       "slots[thread - step] : 0;", &where_not_zero, kSharedRace},
      {"NoMeetingBeforeSlotsAreUsedAgain", "scan.cuh", "slots + turn * kWarps);\n      turn",
       "slots);\n      turn", &long_running_sum, kSharedRace},
      {"NoMeetingBeforeOtherWarpsAreRead", "scan.cuh", "row[warp] = up_to;\n    meet();",
       "row[warp] = up_to;", &running_sum, kUnwritten},
      {"NoMeetingBetweenWarps", "rows.cuh", "slots[thread / 32] = of_warp;\n    meet();",
       "slots[thread / 32] = of_warp;", &softmax_of_long_rows, kUnwritten},
      {"NoMeetingBehindTheLoad", "sort.cuh", "    }\n    meet();\n    for (int size = 2;",
       "    }\n    for (int size = 2;", &sorted, kUnwritten},
      {"ABarrierInABranch", "sort.cuh", "first + places[i];\n    }\n    meet();",
       "first + places[i];\n    }\n    if (thread < 3) meet();", &sorted,
       "meets a barrier that not all threads reach, at ...sort.cuh:"},
      {"ABarrierInEachBranch", "reduce.cuh",
       "slots[place] = fold<kind>(slots[place], slots[place + step]);\n    meet();",
       "{ slots[place] = fold<kind>(slots[place], slots[place + step]); meet(); }\n else meet();",
       &sum_of_rows, "meets a barrier that others pass elsewhere"},
      {"AReturnBeforeABarrier", "reduce.cuh", "const Folded<Value> mine =",
       "if (kept >= p.n_kept) return;\n  const Folded<Value> mine =", &sum_of_short_rows,
       "meets a barrier that not all threads reach"},
      {"NoMeetingBehindTheTile", "copy.cuh", "    meet();\n    {\n      const int y",
       "    {\n      const int y", &turned, kUnwritten},
      {"NoMeetingBeforeTheNextTile", "copy.cuh", "values);\n      }\n    }\n    meet();",
       "values);\n      }\n    }", &turned_each, kSharedRace},
      {"ABarrierOfAKernelWithoutMeetings", "copy.cuh", "    const auto o = offsets(p, i);",
       "    meet();\n    const auto o = offsets(p, i);", &int_of_every_other,
       "copy meets a barrier, and is no BLOCK_KERNEL"},
      // ---- Shared memory
      {"TheFirstSlotIsNotWritten", "reduce.cuh", "slots[place] = mine;",
       "if (lane > 0) slots[place] = mine;", &sum_of_rows, kUnwritten},
      {"TheTailIsNotWritten", "sort.cuh", "    places[i] = is_in ? i : kTile;",
       "    if (is_in) places[i] = i;", &sorted, kUnwritten},
      {"SlotsOfHalfABlock", "reduce.cuh", "slots[kBlock];", "slots[kBlock / 2];", &sum_of_rows,
       "meets an address outside of its variable at ...reduce.cuh:"},
      {"AnArrayThatIsTooSmall", "sort.cuh", "int places[kTile];", "int places[kTile / 2];", &sorted,
       "meets an index outside of its array at ...sort.cuh:"},
      {"ATileOfLongerRows", "copy.cuh",
       "tile[y][x + j] =", "(&tile[0][0])[y * 3 * kSide + x + j] =", &turned,
       "meets an address outside of its variable at ...copy.cuh:"},
      {"SlotsOfTheNeighbour", "scan.cuh", "row[warp] = up_to;", "row[warp / 2] = up_to;",
       &running_sum, kSharedRace},
      // ---- Lanes
      {"AMaskOfHalfAWarp", "folds.cuh", "shuffle_down(~0u,", "shuffle_down(0xFFFFu,",
       &softmax_of_rows, "exchange of lanes whose mask does not name its own, at ...folds.cuh:"},
      {"AMaskOfLanesThatDoNotCome", "folds.cuh", "mine = fold(mine, from_next(mine, step));",
       "if (static_cast<int>(threadIdx.x) % 32 < 16) mine = fold(mine, from_next(mine, step));",
       &softmax_of_rows, "exchange of lanes that its mask names, and of which some do not come"},
      {"AValueOfALaneThatDoesNotCome", "folds.cuh",
       "DEVICE Value from_lane(Value value, int lane) { return shuffle_from(~0u, value, lane); }",
       "DEVICE Value from_lane(Value value, int lane) {\n"
       "  if (threadIdx.x % 32 == 0) return value;\n"
       "  return shuffle_from(~1u, value, lane);\n}",
       &softmax_of_rows, "meets a value of lane 0, which the mask does not name"},
      // ---- Memory of the device
      {"BlocksWithoutTheirNumber", "base.cuh",
       "static_cast<I>(blockIdx.x) * static_cast<I>(blockDim.x) +", "static_cast<I>(0) +",
       &int_of_every_other, std::string(kRace) + "writes what thread ...block 0 0"},
      {"AStepOfBlocks", "base.cuh", "static_cast<I>(gridDim.x) * static_cast<I>(blockDim.x))",
       "static_cast<I>(gridDim.x))", &int_of, kRace},
      {"OneElementTooMany", "base.cuh",
       "i < static_cast<I>(n); i +=", "i <= static_cast<I>(n); i +=", &int_of,
       std::string(kOutside) + ": ..., 0 bytes behind a live block of 4012"},
      {"NoTail", "base.cuh", "i < static_cast<I>(n); i +=", "i < static_cast<I>(n) / 32 * 32; i +=",
       &int_of, kWrongValue},
      {"TheTailBehindPacks", "copy.cuh", "p.n / kPack * kPack + r;", "p.n / kPack * kPack + r + 1;",
       &int_of, kOutside},
      {"AGroupBeyondTheEnd", "reduce.cuh", "g < whole; g +=", "g < end; g +=", &sum_of_odd_rows,
       kOutside},
      {"AGroupThatIsNotAligned", "reduce.cuh", "is_aligned && first % kPack == 0", "is_aligned",
       &sum_of_odd_rows, kWrongValue},
      {"PiecesInOnePlace", "reduce.cuh", "kept * p.n_pieces + static_cast<I>(blockIdx.y)",
       "kept * p.n_pieces", &sum_of_all, kRace},
      {"PiecesBehindTheirPlace", "reduce.cuh", "kept * p.n_pieces + static_cast<I>(blockIdx.y)",
       "kept * p.n_pieces + static_cast<I>(blockIdx.y) + 1", &sum_of_all, kOutside},
      {"TheTailOfARow", "sort.cuh", "const bool is_in = first + i < p.n;",
       "const bool is_in = first + i <= p.n;", &sorted, kOutside},
      {"GroupsThatOverlap", "sort.cuh", "e % n_groups * kGroup,", "e % n_groups * (kGroup - 1),",
       &sorted_in_runs, kRace},
      {"EqualElementsOfTheRightRunFirst", "sort.cuh", "!precedes(b_key, a_key, descending)",
       "precedes(a_key, b_key, descending)", &sorted_in_runs, kWrongValue},
      {"AKeyBehindTheLastRun", "sort.cuh", "if (++b < end) b_key = key(b);", "b_key = key(++b);",
       &sorted_in_runs, kOutside},
      {"PiecesThatAllLanesAdd", "reduce.cuh", "k < p.n_pieces; k += lanes", "k < p.n_pieces; ++k",
       &sum_of_all, kWrongValue},
      {"TheEdgeOfATile", "copy.cuh", "x >= x_left || y >= y_left", "y >= y_left", &turned,
       kUnwritten},
      {"ARunThatIsNotAligned", "copy.cuh", "i % kRun<E> == 0 &&", "", &turned_halves, kRace},
      {"TheLanesBehindTheLast", "random.cuh", "if (4 * block + lane < p.n) at", "at", &drawn,
       kOutside},
      {"AnIndexThatNobodyChecks", "fault.cuh", "index >= 0 && index < size", "index >= 0",
       &gather_behind, kOutside},
      {"AddsWithoutAtomics", "index.cuh", "add_atomically(memory, i, value);",
       "at<E>(memory, i) += value;", &added_twice, kRace},
      {"TheStrideOfTheDimensionBefore", "base.cuh", "to.at[k] += q.rest * loop.strides[k][d];",
       "to.at[k] += q.rest * loop.strides[k][d - 1];", &turned_strip, kRace},
      {"AShiftOfPacksIsForgotten", "rows.cuh",
       "shift = kPack > 1 ? (start.at[0] + rows.phase) % kPack : 0;", "shift = 0;",
       &softmax_of_odd_rows, kRace},
      {"APackThatIsNotAligned", "rows.cuh",
       "at<Pack<Element, kPack>>(data, (start + first) / kPack);",
       "at<Pack<Element, kPack>>(&at<Element>(data, start + first + 1), 0);", &softmax_of_odd_rows,
       "meets a misaligned address"},
      {"AProductOfInts", "copy.cuh",
       "static_cast<unsigned long long>(i) * static_cast<unsigned long long>(p.step)",
       "static_cast<int>(i) * static_cast<int>(p.step)", &steps_of_2_to_30,
       "meets a product that overflows at ...copy.cuh:"},
      {"ChunksWithoutAnEnd", "steps.cuh", "(rest < table.chunk ? rest : table.chunk)",
       "table.chunk", &two_stepped, kOutside},
      {"PacksOfWhatIsNotAligned", "steps.cuh", "addresses % 16 == 0", "true", &one_stepped_aside,
       "meets a misaligned address"},
      {"TheBlockOfTheTensorBefore", "steps.cuh", "table.first[middle] <= block",
       "table.first[middle] < block", &two_stepped, kRace},
      {"ANormWithoutMeeting", "clip.cuh", "slots[thread] = mine;\n  meet();",
       "slots[thread] = mine;", &norm_of_gradient, kUnwritten},
      // ---- The count of the blocks of a launch
      {"ACountThatOthersStillRead", "optim.cuh",
       "counts = p.arrivals && is_last_to_come(p.arrivals);",
       "counts = p.arrivals && blockIdx.x == 0;", &counted_twice,
       std::string(kRace) + "reads what thread 0 of block 0 0 wrote"},
      {"ABlockThatComesBeforeItHasWritten", "clip.cuh",
       "at<double>(p.partial, blockIdx.x) = all;\n"
       "    is_last = p.arrivals && is_last_to_come(p.arrivals);",
       "is_last = p.arrivals && is_last_to_come(p.arrivals);\n"
       "    at<double>(p.partial, blockIdx.x) = all;",
       &norm_of_gradient, std::string(kRace) + "reads what thread 0 of block"},
      {"AThreadThatDoesNotMeetTheOneThatComes", "clip.cuh",
       "if (threadIdx.x == 0) {\n    at<double>(p.partial, blockIdx.x) = all;",
       "if (threadIdx.x == 1) at<double>(p.partial, blockIdx.x) = all;\n"
       "  if (threadIdx.x == 0) {",
       &norm_of_gradient, std::string(kRace) + "reads what thread 1 of block"},
      {"ALastBlockThatDoesNotWaitForItsOwnThread", "clip.cuh",
       "  meet();\n  if (is_last) finish(p);", "  if (is_last) finish(p);", &norm_of_gradient,
       kSharedRace},
      {"ARunThatTwoThreadsAdd", "index.cuh",
       "if (begin > 0 && row.index(begin - 1) == index) continue;", "", &added_in_runs, kRace},
      {"AWindowTooMany", "pool.cuh", "end < a.out ? end : a.out", "end", &pooled, kOutside},
      {"TheTailOfDropout", "dropout.cuh", "4 * block + 4 <= p.n", "4 * block < p.n", &dropped,
       kOutside},
      {"TheInputIsWritten", "copy.cuh", "at<To>(p.data[0], o.at[0]) =",
       "at<To>(p.data[1], o.at[1]) =", &int_of_every_other, kWrongValue},
  };
}

}  // namespace faults
