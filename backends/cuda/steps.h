// Work on lists of tensors in few launches: the host's side of kernels/steps.cuh. For steps of
// optimizers and for what comes before them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "kernel.h"
#include "launch.h"
#include "number.h"

namespace cuda {

inline constexpr int kMostLists = 5;

// Lists of an op's arguments, whose i-th tensors belong together: they are one member.
struct Lists {
  const tn_value* values[kMostLists] = {};
  int n = 0;
  bool may_write[kMostLists] = {};  // does the work write this list?

  uint32_t count() const { return values[0]->count; }
  const tn_tensor& at(int list, uint32_t member) const { return *values[list]->as.tensors[member]; }
};

// Can the first `n_elements` lists be walked as if each tensor were a vector: of one shape within a
// member, without gaps, in one order? The lists behind them are counts of one float32. Also all are
// on the device of the call, and nothing that is written is shared. Gives the reason why not, or
// nothing. What stands `beside` are tensors of one float, or NULL.
std::string refusal(const tn_call* call, const Lists& lists, int n_elements,
                    std::initializer_list<const tn_tensor*> beside);

// As in kernels/steps.cuh.
template <int kLists_, int kMost_>
struct Table {
  static constexpr int kLists = kLists_, kMost = kMost_;
  void* data[kLists][kMost];
  int64_t sizes[kMost];
  int32_t first[kMost];
  int32_t n, chunk;
};
inline double float_of(const tn_value& value) {
  return value.kind == TN_KIND_FLOAT ? value.as.f : static_cast<double>(value.as.i);
}

// A kernel's struct may have 32,764 bytes, of which so many are left to what is no table. Most calls
// have few members: then the struct is a small one.
inline constexpr int kOtherBytes = 320;
constexpr int most_members(int lists, int bytes) {
  return (bytes - kOtherBytes) / (lists * 8 + 12) / 2 * 2;
}
constexpr int few_members(int lists) { return most_members(lists, 4096); }
constexpr int many_members(int lists) { return most_members(lists, 32764); }

// What decides the elements of a text: members of one kind go together.
struct Kind {
  tn_dtype first, last;  // of the first list, and of the state where there is one
};
inline Kind kind_of(const Lists& lists, uint32_t member) {
  return {lists.at(0, member).dtype, lists.at(lists.n > 2 ? 2 : 0, member).dtype};
}

// Members of a kind: how many there are, and the elements of a chunk, which is small where there
// would else be too few blocks to fill a GPU.
struct Group {
  uint32_t members = 0;
  int64_t elements = 0;
  int32_t chunk() const { return elements < (int64_t{1} << 21) ? 1024 : 4096; }
};
class Groups {
 public:
  explicit Groups(const Lists& lists) {
    for (uint32_t i = 0; i < lists.count(); ++i) {
      const Kind kind = kind_of(lists, i);
      Group& group = all_[kind.first][kind.last];
      ++group.members;
      group.elements += lists.at(0, i).numel;
    }
  }
  const Group& of(const Kind& kind) const { return all_[kind.first][kind.last]; }

  // body(kind, group) for each that there is.
  template <class Body>
  tn_status* each(const Body& body) const {
    for (tn_dtype first = 0; first < TN_N_DTYPES; ++first) {
      for (tn_dtype last = 0; last < TN_N_DTYPES; ++last) {
        const Group& group = all_[first][last];
        if (group.members > 0) TN_CUDA_TRY(body(Kind{first, last}, group));
      }
    }
    return nullptr;
  }

 private:
  Group all_[TN_N_DTYPES][TN_N_DTYPES] = {};
};

// The struct of a kernel: a table, and what else it takes.
template <int lists, int most, class Numbers>
struct Work {
  Table<lists, most> table;
  Numbers numbers;
};

// run(kind, work, blocks) for each table over the members of a kind, until all were there.
template <int n_lists, int most, class Numbers, class Run>
tn_status* each_table(const Lists& lists, const Kind& kind, const Group& group,
                      const Numbers& numbers, const Run& run) {
  using W = Work<n_lists, most, Numbers>;
  static_assert(sizeof(W) <= 32764);
  const auto work = std::make_unique<W>();
  work->table.chunk = group.chunk();
  work->numbers = numbers;
  int64_t blocks = 0;
  auto& table = work->table;
  for (uint32_t i = 0; i < lists.count(); ++i) {
    const Kind own = kind_of(lists, i);
    if (own.first != kind.first || own.last != kind.last) continue;
    for (int k = 0; k < n_lists; ++k)
      table.data[k][table.n] = k < lists.n ? lists.at(k, i).data : nullptr;
    table.sizes[table.n] = lists.at(0, i).numel;
    table.first[table.n] = static_cast<int32_t>(blocks);
    blocks += (table.sizes[table.n] + table.chunk - 1) / table.chunk;
    if (++table.n < most) continue;
    TN_CUDA_TRY(run(kind, *work, blocks));
    table.n = 0, blocks = 0;
  }
  return table.n > 0 ? run(kind, *work, blocks) : nullptr;
}

// The same for all kinds.
template <int n_lists, class Numbers, class Run>
tn_status* each_table(const Lists& lists, const Numbers& numbers, const Run& run) {
  constexpr int kFew = few_members(n_lists), kMany = many_members(n_lists);
  return Groups(lists).each([&](const Kind& kind, const Group& group) {
    return group.members <= kFew ? each_table<n_lists, kFew>(lists, kind, group, numbers, run)
                                 : each_table<n_lists, kMany>(lists, kind, group, numbers, run);
  });
}

}  // namespace cuda
