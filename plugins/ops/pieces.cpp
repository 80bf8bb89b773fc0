// Tensors taken apart and put together by PyTorch's convenient names: views of pieces, stacks along
// the first dimensions, and what lists of tensors make together.
#include <algorithm>
#include <numeric>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

using OneList = std::tuple<std::vector<Tensor>>;  // one result, which is a list

constexpr int64_t kMostPlaces = int64_t(1) << 30;  // elements of a list of combinations

void expect_pieces(const char* op, int64_t count) {
  if (count <= kMostPieces) return;
  fail(std::string(op) + ": " + std::to_string(count) + " pieces, at most " +
       std::to_string(kMostPieces) + " are made");
}

OneList unbound(const Tensor& x, int64_t dim) {
  if (x.dim() == 0) fail("unbind: x has no dimensions, expected at least 1");
  const int64_t d = wrap_dim("unbind", dim, x.dim()), n = x.size(d);
  expect_pieces("unbind", n);
  std::vector<Tensor> list;
  for (int64_t i = 0; i < n; ++i) list.push_back(select(x, d, i));
  return {list};
}

int64_t split_dim(const char* op, const Tensor& x, int64_t dim) {
  if (x.dim() == 0) fail(std::string(op) + ": x has no dimensions, expected at least 1");
  return wrap_dim(op, dim, x.dim());
}
// The first pieces have one element more where they do not come out even.
OneList sections_of(const char* op, const Tensor& x, int64_t sections, int64_t dim) {
  const int64_t d = split_dim(op, x, dim);
  if (sections <= 0) {
    fail(std::string(op) + ": sections is " + std::to_string(sections) + ", at least 1 is needed");
  }
  expect_pieces(op, sections);
  const int64_t least = x.size(d) / sections, longer = x.size(d) % sections;
  std::vector<Tensor> list;
  for (int64_t i = 0, at = 0; i < sections; ++i) {
    const int64_t length = least + (i < longer ? 1 : 0);
    list.push_back(prim::slice(x, d, at, at + length));
    at += length;
  }
  return {list};
}
// As slices of Python: each piece ends where the next begins.
OneList parts_at(const char* op, const Tensor& x, Ints indices, int64_t dim) {
  const int64_t d = split_dim(op, x, dim), n = x.size(d);
  std::vector<Tensor> list;
  auto place = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  int64_t from = 0;
  for (const int64_t index : indices) {
    const int64_t to = place(index);
    list.push_back(prim::slice(x, d, from, std::max(from, to)));
    from = to;
  }
  list.push_back(prim::slice(x, d, from, n));
  return {list};
}

// hsplit, vsplit and dsplit: along which dimension, and how many x needs.
struct Side {
  const char* op;
  int64_t least;
  int64_t dim(const Tensor& x) const {
    if (x.dim() < least) {
      fail(std::string(op) + ": x is " + sizes_text(x.sizes()) + ", expected at least " +
           std::to_string(least) + " dimension" + (least > 1 ? "s" : ""));
    }
    return least == 1 ? (x.dim() == 1 ? 0 : 1) : least == 2 ? 0 : 2;
  }
};

OneList side_sections(const Side& side, const Tensor& x, int64_t sections) {
  const int64_t d = side.dim(x);
  if (sections <= 0 || x.size(d) % sections != 0) {
    fail(std::string(side.op) + ": dimension " + std::to_string(d) + " of size " +
         std::to_string(x.size(d)) + " is not divisible into " + std::to_string(sections) +
         " sections");
  }
  return sections_of(side.op, x, sections, d);
}

void pieces_of_tensors() {
  op("unbind(Tensor(a) x, int dim=0) -> Tensor(a)[]")
      .doc("A view of x at each index along dim, which goes.")
      .meaning(unbound);
  op("tensor_split(Tensor(a) x, int sections, int dim=0) -> Tensor(a)[]")
      .method()
      .doc(
          "So many views side by side along dim; the first are one longer where the size is not "
          "divisible.")
      .meaning([](Tensor x, int64_t sections, int64_t dim) {
        return sections_of("tensor_split", x, sections, dim);
      });
  op("tensor_split_at(Tensor(a) x, int[] indices, int dim=0) -> Tensor(a)[]")
      .doc("Views side by side along dim, which end at these indices and at the end of x.")
      .meaning([](Tensor x, Ints indices, int64_t dim) {
        return parts_at("tensor_split_at", x, indices, dim);
      });
  op("hsplit(Tensor(a) x, int sections) -> Tensor(a)[]")
      .method()
      .doc("So many equal views along dimension 1, or 0 where there is no other.")
      .meaning([](Tensor x, int64_t sections) {
        return side_sections({"hsplit", 1}, x, sections);
      });
  op("vsplit(Tensor(a) x, int sections) -> Tensor(a)[]")
      .method()
      .doc("So many equal views along dimension 0 of x, which has at least 2.")
      .meaning([](Tensor x, int64_t sections) {
        return side_sections({"vsplit", 2}, x, sections);
      });
  op("dsplit(Tensor(a) x, int sections) -> Tensor(a)[]")
      .method()
      .doc("So many equal views along dimension 2 of x, which has at least 3.")
      .meaning([](Tensor x, int64_t sections) {
        return side_sections({"dsplit", 3}, x, sections);
      });
}

std::vector<Tensor> each_of(const char* op, Tensors xs, Tensor (*f)(const Tensor&)) {
  if (xs.size() == 0) fail(std::string(op) + ": the list of tensors is empty");
  std::vector<Tensor> list;
  for (uint32_t i = 0; i < xs.size(); ++i) list.push_back(f(xs[i]));
  return list;
}
Tensor line(const Tensor& x) { return x.dim() > 0 ? x : prim::reshape(x, {1}); }
Tensor row(const Tensor& x) { return x.dim() > 1 ? x : prim::reshape(x, {1, x.numel()}); }
Tensor column(const Tensor& x) { return x.dim() > 1 ? x : prim::reshape(x, {x.numel(), 1}); }
Tensor deep(const Tensor& x) {
  if (x.dim() > 2) return x;
  return x.dim() == 2 ? prim::reshape(x, {x.size(0), x.size(1), 1})
                      : prim::reshape(x, {1, x.numel(), 1});
}

Tensor blocks(Tensors xs) {
  const std::vector<Tensor> list = each_of("block_diag", xs, row);
  int64_t columns = 0, before = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].dim() > 2) {
      fail("block_diag: tensor " + std::to_string(i) + " is " + sizes_text(list[i].sizes()) +
           ", expected at most 2 dimensions");
    }
    columns = checked_add("block_diag", columns, list[i].size(1));
  }
  std::vector<Tensor> rows;
  for (const Tensor& x : list) {
    rows.push_back(pad(x, {before, columns - before - x.size(1)}));
    before += x.size(1);
  }
  return cat(rows, 0);
}

Tensor product_of_sets(Tensors xs) {
  for (uint32_t i = 0; i < xs.size(); ++i) {
    if (xs[i].dim() == 1) continue;
    fail("cartesian_prod: tensor " + std::to_string(i) + " is " + sizes_text(xs[i].sizes()) +
         ", expected 1 dimension");
  }
  if (xs.size() == 1) return prim::copy(xs[0]);
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(xs)) columns.push_back(flatten(grid));
  return stack(columns, 1);
}

// How many: n over r, or n + r - 1 over r with replacement.
int64_t count_of_combinations(int64_t n, int64_t r, bool with_replacement) {
  const int64_t from = with_replacement && r > 0 ? checked_add("combinations", n, r - 1) : n;
  if (r > from || (n == 0 && r > 0)) return 0;
  int64_t count = 1;
  for (int64_t i = 1; i <= std::min(r, from - r); ++i) {
    const __int128 next = __int128(count) * (from - std::min(r, from - r) + i) / i;
    if (next > kMostPlaces) {
      fail("combinations: " + std::to_string(r) + " of " + std::to_string(n) + " are more than " +
           std::to_string(kMostPlaces));
    }
    count = int64_t(next);
  }
  return count;
}

// Their places follow from the sizes alone, so they are made here and copied.
Tensor places_of_combinations(int64_t n, int64_t r, bool with_replacement, Device device) {
  const int64_t count = count_of_combinations(n, r, with_replacement);
  if (__int128(count) * r > kMostPlaces) {
    fail("combinations: " + std::to_string(count) + " rows of " + std::to_string(r) + ", at most " +
         std::to_string(kMostPlaces) + " elements are made");
  }
  if (device.value.type == TN_DEVICE_META) return Tensor::empty({count, r}, int64, device);
  Tensor y = Tensor::empty({count, r}, int64);
  if (count == 0) return device.is_cpu() ? y : y.to(device);  // r may be beyond all memory
  int64_t* to = y.mutable_data<int64_t>();
  const int64_t step = with_replacement ? 0 : 1;
  Sizes now = counting(0, r);
  if (with_replacement) std::fill(now.begin(), now.end(), 0);
  for (int64_t i = 0; i < count; ++i) {
    to = std::copy(now.begin(), now.end(), to);
    int64_t d = r - 1;
    while (d >= 0 && now[size_t(d)] == n - 1 - step * (r - 1 - d)) --d;
    if (d < 0) break;
    ++now[size_t(d)];
    for (int64_t k = d + 1; k < r; ++k) now[size_t(k)] = now[size_t(k - 1)] + step;
  }
  return device.is_cpu() ? y : y.to(device);
}

Tensor combined(const Tensor& x, int64_t r, bool with_replacement) {
  if (x.dim() != 1 || r < 0) {
    fail("combinations: " + std::to_string(r) + " of x " + sizes_text(x.sizes()) +
         ", expected x with 1 dimension, and r of at least 0");
  }
  if (r == 0) return Tensor::empty({0}, x.dtype(), x.device());
  const Tensor at = places_of_combinations(x.size(0), r, with_replacement, x.device());
  const Tensor chosen = prim::gather(x, 0, prim::reshape(at, {at.numel()}));
  return prim::reshape(chosen, at.sizes());
}

Tensor turned(const Tensor& x, int64_t k, Ints dims) {
  const Sizes plane = distinct_dims("rot90", dims, x.dim());
  if (plane.size() != 2 || x.dim() < 2) {
    fail("rot90: dims are " + sizes_text({dims.data(), dims.size()}) + " for x of " +
         sizes_text(x.sizes()) + ", expected two different dimensions");
  }
  const int64_t quarters = (k % 4 + 4) % 4;
  if (quarters == 0) return prim::copy(x);
  if (quarters == 2) return flip(x, plane);
  return flip(transpose(x, plane[0], plane[1]), plane[quarters == 1 ? 0 : 1]);
}

Tensor shuffled_channels(const Tensor& x, int64_t groups) {
  if (x.dim() < 3 || groups <= 0 || x.size(1) % groups != 0) {
    fail("channel_shuffle: x is " + sizes_text(x.sizes()) + " and groups " +
         std::to_string(groups) + "; expected [n, channels, ..] with channels divisible by groups");
  }
  const Sizes behind = last_sizes(x, x.dim() - 2);
  Tensor y = prim::reshape(x, joined_sizes({{x.size(0), groups, x.size(1) / groups}, behind}));
  y = prim::copy(transpose(y, 1, 2));
  return prim::reshape(y, x.sizes());
}

void stacks() {
  op("hstack(Tensor[] xs) -> Tensor")
      .doc("Tensors side by side along dimension 1; those of fewer along dimension 0.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensors xs) {
        const std::vector<Tensor> list = each_of("hstack", xs, line);
        return cat(list, list[0].dim() == 1 ? 0 : 1);
      });
  op("vstack(Tensor[] xs) -> Tensor")
      .doc("Tensors along dimension 0; those of fewer than 2 dimensions as rows.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensors xs) { return cat(each_of("vstack", xs, row), 0); });
  op("dstack(Tensor[] xs) -> Tensor")
      .doc("Tensors along dimension 2, with the dimensions that they lack: [n] as [1, n, 1].")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensors xs) { return cat(each_of("dstack", xs, deep), 2); });
  op("column_stack(Tensor[] xs) -> Tensor")
      .doc("Tensors along dimension 1; those of fewer than 2 dimensions as columns.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning([](Tensors xs) { return cat(each_of("column_stack", xs, column), 1); });
}

void sets_and_turns() {
  op("block_diag(Tensor[] xs) -> Tensor")
      .doc("A matrix with the matrices xs along its diagonal and zeros elsewhere.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(blocks);
  op("cartesian_prod(Tensor[] xs) -> Tensor")
      .doc("Each choice of an element of every x [n_i], as rows [n_0 * n_1 .., len(xs)].")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(product_of_sets);
  op("combinations(Tensor x, int r=2, bool with_replacement=False) -> Tensor")
      .doc("Each choice of r elements of x [n], in the order of x, as rows [count, r].")
      .keeps_halves()
      .meaning(combined);
  op("rot90(Tensor x, int k=1, int[] dims=[0, 1]) -> Tensor")
      .method()
      .doc("A copy of x, turned k times by 90 degrees from the first of dims to the second.")
      .keeps_halves()
      .meaning(turned);
  op("channel_shuffle(Tensor x, int groups) -> Tensor")
      .doc(
          "x [n, groups * c, ..] with the channels of all groups taken in turn. Zhang et al., "
          "arXiv:1707.01083.")
      .amp(Amp::widest)
      .keeps_halves()
      .meaning(shuffled_channels);
}

}  // namespace

void pieces() {
  pieces_of_tensors();
  stacks();
  sets_and_turns();
}

}  // namespace tenon::ops_pack
