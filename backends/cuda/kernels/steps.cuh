// Work on many tensors in one launch. A table in the struct of the kernel says where its members lie:
// a member is a tensor, or several of one size whose elements belong together, as a parameter, its
// gradient and its state do. Each block takes one chunk of one member. A text states kMost, the
// members that the table has room for.
#include "base.cuh"
#include "number.cuh"

template <int lists>
struct Table {
  static constexpr int kLists = lists;
  void* data[lists][kMost];
  long long sizes[kMost];
  int first[kMost];  // the block that begins with the member; an empty one has none
  int n, chunk;      // members, and elements of a chunk: a multiple of 16
};

// The elements of this block: [begin, end) of a member. Those before `whole` may be read as packs of
// 16 bytes, since all tensors of the member are aligned.
struct Chunk {
  int member;
  long long begin, whole, end;
};

template <class T>
DEVICE Chunk chunk_of(const T& table, int lists, int pack) {
  const int block = static_cast<int>(blockIdx.x);
  int low = 0, high = table.n;  // the last member that begins at this block or before
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const bool is_before = table.first[middle] <= block;
    low = is_before ? middle : low;
    high = is_before ? high : middle;
  }
  Chunk chunk = {low, static_cast<long long>(block - table.first[low]) * table.chunk, 0, 0};
  const long long rest = table.sizes[low] - chunk.begin;
  chunk.end = chunk.begin + (rest < table.chunk ? rest : table.chunk);
  unsigned long long addresses = 0;
  for (int k = 0; k < lists; ++k)
    addresses |= reinterpret_cast<unsigned long long>(table.data[k][low]);
  chunk.whole = addresses % 16 == 0 ? chunk.end / pack * pack : chunk.begin;
  return chunk;
}

// Over the packs of a chunk, and over the elements that are left, for the threads of its block.
#define EACH_PACK(i, chunk, pack)                                    \
  ROLLED for (long long i = (chunk).begin / (pack) + threadIdx.x; \
              i < (chunk).whole / (pack); i += blockDim.x)
#define EACH_REST(i, chunk) \
  ROLLED for (long long i = (chunk).whole + threadIdx.x; i < (chunk).end; i += blockDim.x)

// Is the one element of a float dtype of so many bytes anything but 0? NULL: there is none.
DEVICE bool is_set(void* flag, int bytes) {
  if (!flag) return false;
  if (bytes == 2) return (at<unsigned short>(flag, 0) & 0x7FFF) != 0;
  if (bytes == 4) return (at<unsigned>(flag, 0) & 0x7FFFFFFFu) != 0;
  return (at<unsigned long long>(flag, 0) & 0x7FFFFFFFFFFFFFFFull) != 0;
}
