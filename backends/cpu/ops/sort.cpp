// SORT, and the pairs of _top_places and _ranked_places: a row on one thread, as entries (ranked.h). Long rows are
// sorted digit by digit (sort_words.h). Of a few ranks in a long row only the neighbours are
// sorted.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <type_traits>

#include "cpu.h"
#include "ops/ranked.h"
#include "ops/rows.h"
#include "ops/sort_words.h"
#include "vector/convert.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 4096;
// Rows that are sorted at the same time, each with memory of its own.
constexpr int64_t kMostLanes = 64;
// Below it comparing is faster than counting digits.
constexpr int64_t kLongRow = 256;
// So many are selected by insertion.
constexpr int64_t kFew = 16;
// Of more those that may count are gathered where the row is so many times as long.
constexpr int64_t kLongForMany = 16;
// So many of a short row are found without a branch, which would go now this way and now that.
constexpr int kVeryFew = 4;
constexpr int64_t kShortRow = 64;
// So many ranks at once are compared with the greatest that counts.
constexpr int64_t kBlock = 32;
// Each rank costs a pass over the row, and sorting one of ten.
constexpr int64_t kFewRanks = 8;

// The k least in order, in front.
template <typename Entry>
void select(Entry* row, int64_t n, int64_t k) {
  if (k < n) std::nth_element(row, row + k, row + n);
  std::sort(row, row + k);
}

// The k least of what is offered in the order of places, by insertion.
template <typename Entry>
struct LeastFew {
  static int64_t room(int64_t k) { return k; }
  Entry* least;
  int64_t k, n = 0;
  bool takes(uint64_t rank) const { return n < k || rank < least[k - 1].key(); }
  void take(const Entry& entry) {
    n = std::min(n + 1, k);
    int64_t at = n - 1;
    for (; at > 0 && entry < least[at - 1]; --at) least[at] = least[at - 1];
    least[at] = entry;
  }
  void finish() {}
};
// The same for a larger k: those that may count are kept until there are twice as many as can, so that
// rows whose elements fall take no longer than others.
template <typename Entry>
struct LeastMany {
  static int64_t room(int64_t k) { return 2 * k; }
  Entry* least;
  int64_t k, n = 0;
  bool is_bounded = false;
  uint64_t bound = 0;
  bool takes(uint64_t rank) const { return !is_bounded || rank < bound; }
  void take(const Entry& entry) {
    least[n++] = entry;
    if (n < room(k)) return;
    std::nth_element(least, least + k - 1, least + n);
    n = k;
    is_bounded = true;
    bound = least[k - 1].key();
  }
  void finish() { select(least, n, k); }
};
// The K least of a short row in order: each pushes the greater ones on.
template <tn_dtype D, int K, typename Element, typename Rank>
void push_through(const Element* from, int64_t step, int64_t n, Rank flip, ShortEntry* least) {
  uint64_t best[K];
  std::fill_n(best, K, ~uint64_t{0});
  for (int64_t i = 0; i < n; ++i) {
    uint64_t entry = ShortEntry(rank_of<D>(from[i * step]) ^ flip, i).both;
    for (uint64_t& there : best) {
      // Swapped where it is less: g++ would make a branch of std::min.
      const uint64_t swapped = (there ^ entry) & (0 - static_cast<uint64_t>(entry < there));
      there ^= swapped;
      entry ^= swapped;
    }
  }
  for (int j = 0; j < K; ++j) least[j].both = best[j];
}
// Offers a row's elements, nearly all of which are too great where it is long. flip: all bits of the
// ranks, or none.
template <tn_dtype D, typename Entry, typename Element, typename Rank, typename Least>
void offer(const Element* from, int64_t step, int64_t n, Rank flip, Least* least) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Rank ranks[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) ranks[j] = rank_of<D>(from[(i + j) * step]) ^ flip;
    if (!least->takes(*std::min_element(ranks, ranks + kBlock))) continue;
    for (int64_t j = 0; j < kBlock; ++j) {
      if (least->takes(ranks[j])) least->take(Entry(ranks[j], i + j));
    }
  }
  for (; i < n; ++i) {
    const Rank rank = rank_of<D>(from[i * step]) ^ flip;
    if (least->takes(rank)) least->take(Entry(rank, i));
  }
}

// The bucket of an entry, by the first bits in which entries of the row differ.
constexpr int kBucketBits = 11;
template <typename Entry>
struct Buckets {
  uint64_t least;
  int shift;
  Buckets(const Entry* row, int64_t n) {
    uint64_t greatest = row[0].key();
    least = greatest;
    for (int64_t i = 1; i < n; ++i) {
      least = std::min(least, row[i].key());
      greatest = std::max(greatest, row[i].key());
    }
    shift = std::max(0, static_cast<int>(std::bit_width(greatest - least)) - kBucketBits);
  }
  size_t of(const Entry& entry) const { return (entry.key() - least) >> shift; }
};

// f(i, entry of rank ranks[i * step]) for m ranks, few of a long row. `spare` has room for n.
template <typename Entry, typename F>
void at_ranks(Entry* row, Entry* spare, int64_t n, const int64_t* ranks, int64_t m, int64_t step,
              const F& f) {
  if (n < kLongRow && m <= 2) {  // a median; each costs a pass or two
    for (int64_t i = 0; i < m; ++i) {
      Entry* const found = row + ranks[i * step];
      std::nth_element(row, found, row + n);
      f(i, *found);
    }
    return;
  }
  if (n < kLongRow) {
    std::sort(row, row + n);
    for (int64_t i = 0; i < m; ++i) f(i, row[ranks[i * step]]);
    return;
  }
  const Buckets<Entry> buckets(row, n);
  int64_t ends[1 << kBucketBits] = {};
  for (int64_t i = 0; i < n; ++i) ++ends[buckets.of(row[i])];
  std::partial_sum(std::begin(ends), std::end(ends), ends);
  int64_t begin = 0, end = 0;  // the ranks of what is in `spare`
  for (int64_t i = 0; i < m; ++i) {
    const int64_t rank = ranks[i * step];
    if (rank < begin || rank >= end) {
      const int64_t* const bucket = std::upper_bound(std::begin(ends), std::end(ends), rank);
      const auto wanted = static_cast<size_t>(bucket - ends);
      begin = wanted == 0 ? 0 : bucket[-1];
      end = *bucket;
      Entry* to = spare;
      for (int64_t j = 0; j < n; ++j) {
        *to = row[j];
        to += buckets.of(row[j]) == wanted ? 1 : 0;
      }
    }
    Entry* const found = spare + (rank - begin);
    std::nth_element(spare, found, spare + (end - begin));
    f(i, *found);
  }
}

// f(room, row) for each row of x, with room for so many entries.
template <typename Entry, typename F>
void with_room(const tn_host* host, const RowsAlong& rows, int64_t n_entries, const F& f) {
  const int64_t n_rows = rows.count(), rows_of_piece = 1 + kPieceElements / rows.length();
  const int64_t lanes = std::min((n_rows + rows_of_piece - 1) / rows_of_piece, kMostLanes);
  // What may fail to be allocated is allocated before the threads begin.
  const auto all = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(lanes * n_entries));
  parallel_for(host, 0, lanes, 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first * n_rows / lanes; row < last * n_rows / lanes; ++row)
      f(all.get() + first * n_entries, row);
  });
}
template <typename Element>
const Element* begin_of(const RowsAlong& rows, int64_t row) {
  return static_cast<const Element*>(rows.t.data) + rows.offset(rows.t, row);
}
// f(entries, row) for each row of x, whose entries have room for `copies` times as many. `descending`: the
// greatest is the least entry.
template <tn_dtype D, typename Entry, typename F>
void each_row(const tn_host* host, const RowsAlong& rows, int64_t copies, bool descending,
              const F& f) {
  const int64_t n = rows.length(), step = rows.stride(rows.t);
  with_room<Entry>(host, rows, copies * n, [&](Entry* entries, int64_t row) {
    const auto* from = begin_of<typename Format<D>::Element>(rows, row);
    for (int64_t i = 0; i < n; ++i) {
      const auto rank = rank_of<D>(from[i * step]);
      entries[i] = Entry(descending ? ~rank : rank, i);
    }
    f(entries, row);
  });
}
// f(elements in order, row) for each row of x, which is long.
template <tn_dtype D, typename F>
void each_ordered(const tn_host* host, const RowsAlong& rows, bool descending, const F& f) {
  using Rank = decltype(rank_of<D>({}));
  const int64_t n = rows.length(), step = rows.stride(rows.t);
  const Rank flip = descending ? static_cast<Rank>(~Rank{0}) : Rank{0};
  with_room<uint64_t>(host, rows, 2 * n, [&](uint64_t* words, int64_t row) {
    const auto* from = begin_of<typename Format<D>::Element>(rows, row);
    f(OrderedWords::of<D>(from, step, n, flip, words), row);
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
  const RowsAlong rows = {x, call->args[1].as.i};
  const bool descending = call->args[2].as.i != 0;
  with_entries(rows, [&]<tn_dtype D, typename Entry>() {
    using Element = typename Format<D>::Element;
    const int64_t n = rows.length();
    // at(i): the place of the element that comes i-th. value(i, place): that element.
    const auto write = [&](int64_t row, const auto& at, const auto& value) {
      auto* to = static_cast<Element*>(values.data) + rows.offset(values, row);
      auto* where = static_cast<int64_t*>(indices.data) + rows.offset(indices, row);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = at(i);
        to[i * rows.stride(values)] = value(i, place);
        where[i * rows.stride(indices)] = place;
      }
    };
    const auto reading = [&](int64_t row) {
      return [from = begin_of<Element>(rows, row), step = rows.stride(x)](int64_t, int64_t place) {
        return from[place * step];
      };
    };
    if (n >= kLongRow) {
      return each_ordered<D>(call->host, rows, descending,
                             [&](const OrderedWords& ordered, int64_t row) {
                               const auto at = [&](int64_t i) { return ordered.at(i); };
                               if constexpr (!dtype_table::is_float(D)) {
                                 // From the word itself: places lie all over the row.
                                 if (ordered.has_ranks()) {
                                   return write(row, at, [&](int64_t i, int64_t) {
                                     return static_cast<Element>(of_rank<D>(ordered.rank(i)));
                                   });
                                 }
                               }
                               write(row, at, reading(row));
                             });
    }
    each_row<D, Entry>(call->host, rows, 1, descending, [&](Entry* entries, int64_t row) {
      std::sort(entries, entries + n);
      write(
          row, [&](int64_t i) { return entries[i].at(); }, reading(row));
    });
  });
}

void launch_top(const tn_call* call) {
  const tn_tensor& places = *call->outputs[0];
  const int64_t k = call->args[1].as.i, dim = call->args[2].as.i;
  const tn_tensor& x = *call->args[0].as.tensor;
  const RowsAlong rows = {x, dim};
  const bool largest = call->args[3].as.i != 0;
  with_entries(rows, [&]<tn_dtype D, typename Entry>() {
    using Element = typename Format<D>::Element;
    using Rank = decltype(rank_of<D>({}));
    const int64_t n = rows.length(), step = rows.stride(x);
    const auto write = [&](const Entry* least, int64_t row) {
      auto* to = static_cast<int64_t*>(places.data) + rows.offset(places, row);
      for (int64_t i = 0; i < k; ++i) to[i * rows.stride(places)] = least[i].at();
    };
    const Rank flip = largest ? static_cast<Rank>(~Rank{0}) : Rank{0};
    if constexpr (std::is_same_v<Entry, ShortEntry>) {
      if (k <= kVeryFew && n <= kShortRow) {
        const auto find = k == 1   ? push_through<D, 1, Element, Rank>
                          : k == 2 ? push_through<D, 2, Element, Rank>
                          : k == 3 ? push_through<D, 3, Element, Rank>
                                   : push_through<D, kVeryFew, Element, Rank>;
        return with_room<Entry>(call->host, rows, k, [&](Entry* room, int64_t row) {
          find(begin_of<Element>(rows, row), step, n, flip, room);
          write(room, row);
        });
      }
    }
    const auto few_of_many = [&]<typename Least>() {
      with_room<Entry>(call->host, rows, Least::room(k), [&](Entry* room, int64_t row) {
        Least least{room, k};
        offer<D, Entry>(begin_of<Element>(rows, row), step, n, flip, &least);
        least.finish();
        write(room, row);
      });
    };
    if (k <= kFew) return few_of_many.template operator()<LeastFew<Entry>>();
    if (k <= n / kLongForMany) return few_of_many.template operator()<LeastMany<Entry>>();
    if (n >= kLongRow) {
      return each_ordered<D>(
          call->host, rows, largest, [&](const OrderedWords& ordered, int64_t row) {
            auto* to = static_cast<int64_t*>(places.data) + rows.offset(places, row);
            for (int64_t i = 0; i < k; ++i) to[i * rows.stride(places)] = ordered.at(i);
          });
    }
    each_row<D, Entry>(call->host, rows, 1, largest, [&](Entry* entries, int64_t row) {
      select(entries, n, k);
      write(entries, row);
    });
  });
}

void launch_ranked(const tn_call* call) {
  const tn_tensor& places = *call->outputs[0];
  const tn_tensor& ranks = *call->args[1].as.tensor;
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t dim = call->args[2].as.i;
  const RowsAlong rows = {x, dim};
  const RowsAlong wanted = {ranks, rows.dim};
  const int64_t n = rows.length(), m = wanted.length();
  const int64_t step = wanted.stride(ranks), out_step = wanted.stride(places);
  const auto ranks_of = [&](int64_t row) {
    return static_cast<const int64_t*>(ranks.data) + wanted.offset(ranks, row);
  };
  for (int64_t i = 0; i < ranks.numel; ++i) {
    const int64_t rank = ranks_of(i / m)[i % m * step];
    if (rank >= 0 && rank < n) continue;
    check(error(call->host, TN_INVALID_ARGUMENT,
                "_ranked_places: rank %lld is out of range for dimension %d of size %lld (cpu)",
                static_cast<long long>(rank), rows.dim, static_cast<long long>(n)));
  }
  with_entries(rows, [&]<tn_dtype D, typename Entry>() {
    const auto begin_of_places = [&](int64_t row) {
      return static_cast<int64_t*>(places.data) + wanted.offset(places, row);
    };
    if (n >= kLongRow && m > kFewRanks) {
      return each_ordered<D>(call->host, rows, false,
                             [&](const OrderedWords& ordered, int64_t row) {
                               int64_t* const to = begin_of_places(row);
                               const int64_t* const of = ranks_of(row);
                               for (int64_t i = 0; i < m; ++i)
                                 to[i * out_step] = ordered.at(of[i * step]);
                             });
    }
    each_row<D, Entry>(call->host, rows, 2, false, [&](Entry* entries, int64_t row) {
      int64_t* const to = begin_of_places(row);
      at_ranks(entries, entries + n, n, ranks_of(row), m, step,
               [&](int64_t i, const Entry& entry) { to[i * out_step] = entry.at(); });
    });
  });
}

bool supports_top(const tn_call* call, Refusal why) {
  return (call->args[0].as.tensor->numel > 0 && call->args[1].as.i > 0) ||
         why("takes no empty tensors");
}
bool supports_ranked(const tn_call* call, Refusal why) {
  return (call->args[0].as.tensor->numel > 0 && call->args[1].as.tensor->numel > 0) ||
         why("takes no empty tensors");
}

}  // namespace

void add_sort() {
  kernel(TN_PRIM_SORT, "cpu", {.traits = kUsualPromises}, fn<launch>);
  kernel("_top_places", "cpu", {.traits = kUsualPromises}, fn<launch_top>)
      .supports(fn<supports_top>);
  kernel("_ranked_places", "cpu", {.traits = kUsualPromises}, fn<launch_ranked>)
      .supports(fn<supports_ranked>);
}

}  // namespace tenon::cpu_backend
