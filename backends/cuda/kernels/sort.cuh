// Sorting rows, stably. `sort_tile` sorts tiles of a row in shared memory by a bitonic network
// whose keys are the values and then the positions. `merge_runs` merges neighbouring sorted runs: a
// thread writes a group of neighbours of what comes of two runs, having found where in both of them
// it begins (Green, McColl & Bader, GPU Merge Path, 2012), and no thread waits for another. A text
// states Element and L, a Loop of four operands over the rows: the values and indices that are
// written, and those that are read.
#include "base.cuh"

constexpr int kTile = 1024;
constexpr int kGroup = 8;  // divides a tile

struct Sort {
  L rows;
  long long strides[4];  // of the operands, along a row
  long long n, run;      // elements of a row, and of a tile or a run
  long long n_runs;      // tiles or pairs of runs of a row
  long long descending;
};

DEVICE bool precedes(Element x, Element y, bool descending) {
  const auto a = widen(x), b = widen(y);
  const bool a_is_nan = a != a, b_is_nan = b != b;  // the greatest
  if (descending) return a_is_nan ? !b_is_nan : !b_is_nan && a > b;
  return b_is_nan ? !a_is_nan : !a_is_nan && a < b;
}

BLOCK_KERNEL(sort_tile, Sort, p) {
  SHARED Element keys[kTile];
  SHARED int places[kTile];  // within the tile; kTile: none
  const int tile = static_cast<int>(p.run), thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const bool descending = p.descending != 0;
  const long long n = p.rows.n * p.n_runs;
  ROLLED for (long long block = blockIdx.x; block < n; block += gridDim.x) {
    const auto o = offsets(p.rows, static_cast<L::I>(block / p.n_runs));
    const long long first = block % p.n_runs * p.run;
    for (int i = thread; i < tile; i += threads) {
      const bool is_in = first + i < p.n;
      places[i] = is_in ? i : kTile;
      keys[i] = is_in ? at<Element>(p.rows.data[2], o.at[2] + (first + i) * p.strides[2]) : Element{};
    }
    meet();
    for (int size = 2; size <= tile; size *= 2) {
      for (int step = size / 2; step > 0; step /= 2) {
        for (int i = thread; i < tile / 2; i += threads) {
          const int low = i / step * step * 2 + i % step, high = low + step;
          const bool ascends = (low & size) == 0;
          bool swap;  // does the element at `high` come before the one at `low`?
          if (places[low] == kTile || places[high] == kTile) {
            swap = places[high] != kTile;
          } else {
            swap = precedes(keys[high], keys[low], descending) ||
                   (!precedes(keys[low], keys[high], descending) && places[high] < places[low]);
          }
          if (swap != ascends) continue;
          const Element key = keys[low];
          const int place = places[low];
          keys[low] = keys[high], places[low] = places[high];
          keys[high] = key, places[high] = place;
        }
        meet();
      }
    }
    for (int i = thread; i < tile && first + i < p.n; i += threads) {
      at<Element>(p.rows.data[0], o.at[0] + (first + i) * p.strides[0]) = keys[i];
      at<long long>(p.rows.data[1], o.at[1] + (first + i) * p.strides[1]) = first + places[i];
    }
    meet();
  }
}

// Writes the first `count` of a group to a row whose elements lie `stride` apart, from `start` on.
template <class E>
DEVICE void write_group(void* data, long long start, long long stride, long long count,
                        const E (&v)[kGroup]) {
  constexpr int kWide = 16 / static_cast<int>(sizeof(E));
  constexpr int kPack = kWide < kGroup ? kWide : kGroup;
  using Some = Pack<E, kPack>;
  if (stride == 1 && count == kGroup && start % kPack == 0 &&
      reinterpret_cast<unsigned long long>(data) % sizeof(Some) == 0) {
#pragma unroll
    for (int k = 0; k < kGroup; k += kPack) {
      Some some;
#pragma unroll
      for (int j = 0; j < kPack; ++j) some.v[j] = v[k + j];
      at<Some>(data, (start + k) / kPack) = some;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (k < count) at<E>(data, start + k * stride) = v[k];
    }
  }
}

KERNEL(merge_runs, Sort, p) {
  const bool descending = p.descending != 0;
  const long long n_groups = (p.n + kGroup - 1) / kGroup;  // of a row
  EACH(long long, e, static_cast<long long>(p.rows.n) * n_groups) {
    const auto o = offsets(p.rows, static_cast<L::I>(e / n_groups));
    const long long first = e % n_groups * kGroup, left = first / (2 * p.run) * 2 * p.run;
    const long long middle = left + p.run < p.n ? left + p.run : p.n;
    const long long end = middle + p.run < p.n ? middle + p.run : p.n;
    const auto key = [&](long long i) {
      return at<Element>(p.rows.data[2], o.at[2] + i * p.strides[2]);
    };
    // Of what comes before the group, how much is of the left run, whose elements come before equal
    // ones of the right?
    const long long before = first - left;
    long long low = before > end - middle ? before - (end - middle) : 0;
    long long high = before < middle - left ? before : middle - left;
    while (low < high) {
      const long long half = (low + high) / 2;
      const bool is_right = precedes(key(middle + before - 1 - half), key(left + half), descending);
      (is_right ? high : low) = is_right ? half : half + 1;
    }
    long long a = left + low, b = middle + before - low;
    Element a_key = {}, b_key = {};
    if (a < middle) a_key = key(a);
    if (b < end) b_key = key(b);
    const long long count = end - first < kGroup ? end - first : kGroup;
    Element keys[kGroup];
    long long places[kGroup];
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (k >= count) continue;
      const bool is_left = b >= end || (a < middle && !precedes(b_key, a_key, descending));
      keys[k] = is_left ? a_key : b_key;
      places[k] = at<long long>(p.rows.data[3], o.at[3] + (is_left ? a : b) * p.strides[3]);
      if (is_left) {
        if (++a < middle) a_key = key(a);
      } else {
        if (++b < end) b_key = key(b);
      }
    }
    write_group(p.rows.data[0], o.at[0] + first * p.strides[0], p.strides[0], count, keys);
    write_group(p.rows.data[1], o.at[1] + first * p.strides[1], p.strides[1], count, places);
  }
}
