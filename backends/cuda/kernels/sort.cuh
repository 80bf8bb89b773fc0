// Sorting rows, stably. `sort_tile` sorts tiles of a row in shared memory by a bitonic network whose
// keys are the values and then the positions. `merge_runs` merges neighbouring sorted runs: each
// element finds its rank in the other run, and no thread waits for another. A text states Element
// and L, a Loop of four operands over the rows: the values and indices that are written, and those
// that are read.
#include "base.cuh"

constexpr int kTile = 1024;

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

KERNEL(merge_runs, Sort, p) {
  EACH(long long, e, static_cast<long long>(p.rows.n) * p.n) {
    const auto o = offsets(p.rows, static_cast<L::I>(e / p.n));
    const long long i = e % p.n, left = i / (2 * p.run) * 2 * p.run;
    const long long middle = left + p.run < p.n ? left + p.run : p.n;
    const long long end = middle + p.run < p.n ? middle + p.run : p.n;
    const bool is_left = i < middle, descending = p.descending != 0;
    const Element key = at<Element>(p.rows.data[2], o.at[2] + i * p.strides[2]);
    // How many of the other run come before it: equal elements of the left run do.
    long long low = is_left ? middle : left, high = is_left ? end : middle;
    const long long first = low;
    while (low < high) {
      const long long half = (low + high) / 2;
      const Element other = at<Element>(p.rows.data[2], o.at[2] + half * p.strides[2]);
      const bool before =
          is_left ? precedes(other, key, descending) : !precedes(key, other, descending);
      (before ? low : high) = before ? half + 1 : half;
    }
    const long long rank = (i - (is_left ? left : middle)) + (low - first) + left;
    at<Element>(p.rows.data[0], o.at[0] + rank * p.strides[0]) = key;
    at<long long>(p.rows.data[1], o.at[1] + rank * p.strides[1]) =
        at<long long>(p.rows.data[3], o.at[3] + i * p.strides[3]);
  }
}
