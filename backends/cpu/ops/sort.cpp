// SORT, and the pair of _top_places: a row on one thread, as entries (ranked.h). Long rows are sorted digit by
// digit (a radix sort, from the lowest digit up: Knuth, The Art of Computer Programming, volume 3, 5.2.5).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "cpu.h"
#include "ops/ranked.h"
#include "ops/rows.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 4096;
// Rows that are sorted at the same time, each with memory of its own.
constexpr int64_t kMostLanes = 64;
// Below it comparing is faster than counting digits.
constexpr int64_t kLongRow = 256;
constexpr int kMostDigits = 4;
// Up to this part of a row is selected by a heap.
constexpr int64_t kFew = 64;

// Gives where the sorted entries are: in `row`, or in `spare`, which has room for n.
template <typename Entry>
const Entry* sorted(Entry* row, Entry* spare, int64_t n) {
  if (n < kLongRow) {
    std::sort(row, row + n);
    return row;
  }
  const auto digit = [](const Entry& entry, int d) { return entry.prefix(d) & 0xFF; };
  int64_t counts[Entry::kDigits][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < Entry::kDigits; ++d) ++counts[d][digit(row[i], d)];
  }
  // By the highest digits that are not the same in all; few entries have those in common.
  int lowest = Entry::kDigits, n_digits = 0;
  const auto differs = [&](int d) { return counts[d][digit(row[0], d)] != n; };
  while (lowest > 0 && n_digits < kMostDigits) n_digits += differs(--lowest) ? 1 : 0;
  for (int d = lowest; d < Entry::kDigits; ++d) {
    if (!differs(d)) continue;
    int64_t next[256], sum = 0;
    for (int k = 0; k < 256; ++k) next[k] = std::exchange(sum, sum + counts[d][k]);
    for (int64_t i = 0; i < n; ++i) spare[next[digit(row[i], d)]++] = row[i];
    std::swap(row, spare);
  }
  bool has_more = false;
  for (int d = 0; d < lowest; ++d) has_more = has_more || differs(d);
  for (int64_t i = 0, end; has_more && i < n; i = end) {
    const uint64_t prefix = row[i].prefix(lowest);
    for (end = i + 1; end < n && row[end].prefix(lowest) == prefix;) ++end;
    if (end - i > 1) std::sort(row + i, row + end);
  }
  return row;
}

// The k least in order, in front.
template <typename Entry>
void select(Entry* row, int64_t n, int64_t k) {
  if (k < n / kFew) return std::partial_sort(row, row + k, row + n);
  if (k < n) std::nth_element(row, row + k, row + n);
  std::sort(row, row + k);
}

// f(entries, row) for each row of x, whose entries have room for `copies` times as many. `descending`: the
// greatest is the least entry.
template <tn_dtype D, typename Entry, typename F>
void each_row(const tn_host* host, const RowsAlong& rows, int64_t copies, bool descending,
              const F& f) {
  using Element = typename Format<D>::Element;
  const tn_tensor& x = rows.t;
  const int64_t n = rows.length(), n_rows = rows.count(), step = rows.stride(x);
  const int64_t rows_of_piece = 1 + kPieceElements / n;
  const int64_t lanes = std::min((n_rows + rows_of_piece - 1) / rows_of_piece, kMostLanes);
  // What may fail to be allocated is allocated before the threads begin.
  const auto all = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(copies * lanes * n));
  parallel_for(host, 0, lanes, 1, [&](int64_t first, int64_t last) {
    Entry* const entries = all.get() + copies * first * n;
    for (int64_t row = first * n_rows / lanes; row < last * n_rows / lanes; ++row) {
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      for (int64_t i = 0; i < n; ++i) {
        const auto rank = rank_of<D>(from[i * step]);
        entries[i] = Entry(descending ? ~rank : rank, i);
      }
      f(entries, row);
    }
  });
}
// f.operator()<D, Entry>() for the dtype and the entries that rows of this length need.
template <typename F>
void with_entries(const RowsAlong& rows, const F& f) {
  dtype_table::visit(rows.t.dtype, [&]<typename Tag>(Tag) {
    constexpr tn_dtype D = Tag::dtype;
    if constexpr (sizeof(rank_of<D>({})) == sizeof(uint32_t)) {
      if (rows.length() < int64_t{1} << 32) return f.template operator()<D, ShortEntry>();
    }
    f.template operator()<D, LongEntry>();
  });
}

void launch(const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& values = *call->outputs[0];
  const tn_tensor& indices = *call->outputs[1];
  const RowsAlong rows = {x, static_cast<int32_t>(call->args[1].as.i)};
  const bool descending = call->args[2].as.i != 0;
  with_entries(rows, [&]<tn_dtype D, typename Entry>() {
    using Element = typename Format<D>::Element;
    const int64_t n = rows.length();
    each_row<D, Entry>(call->host, rows, 2, descending, [&](Entry* entries, int64_t row) {
      const Entry* const ordered = sorted(entries, entries + n, n);
      const auto* from = static_cast<const Element*>(x.data) + rows.offset(x, row);
      auto* to = static_cast<Element*>(values.data) + rows.offset(values, row);
      auto* where = static_cast<int64_t*>(indices.data) + rows.offset(indices, row);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = ordered[i].at();
        to[i * rows.stride(values)] = from[at * rows.stride(x)];
        where[i * rows.stride(indices)] = at;
      }
    });
  });
}

void launch_top(const tn_call* call) {
  const tn_tensor& places = *call->outputs[0];
  const int64_t k = call->args[1].as.i, dim = call->args[2].as.i;
  const tn_tensor& x = *call->args[0].as.tensor;
  const RowsAlong rows = {x, static_cast<int32_t>(dim < 0 ? dim + x.ndim : dim)};
  with_entries(rows, [&]<tn_dtype D, typename Entry>() {
    each_row<D, Entry>(call->host, rows, 1, call->args[3].as.i != 0,
                       [&](Entry* entries, int64_t row) {
                         select(entries, rows.length(), k);
                         auto* to = static_cast<int64_t*>(places.data) + rows.offset(places, row);
                         for (int64_t i = 0; i < k; ++i)
                           to[i * rows.stride(places)] = entries[i].at();
                       });
  });
}

bool supports_top(const tn_call* call, Refusal why) {
  return (call->args[0].as.tensor->numel > 0 && call->args[1].as.i > 0) ||
         why("takes no empty tensors");
}

}  // namespace

void add_sort() {
  kernel(TN_PRIM_SORT, "cpu", {.traits = kUsualPromises}, fn<launch>);
  kernel("_top_places", "cpu", {.traits = kUsualPromises}, fn<launch_top>)
      .supports(fn<supports_top>);
}

}  // namespace tenon::cpu_backend
