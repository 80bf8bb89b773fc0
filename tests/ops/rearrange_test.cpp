// Ops that rearrange elements into new tensors or give parts of one: values of PyTorch, and what
// they make of nothing and of one element.
#include "ops_support.h"

namespace {

// PyTorch's values for x = [[0, 1, 2], [3, 4, 5]].
struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> op;
  std::vector<double> values;
  std::vector<int64_t> sizes;
};
const std::vector<Row>& new_tensors() {
  static const std::vector<Row> list = {
      {"stack",
       [](const Tensor& x) {
         return tn::stack({x, x}, 1);
       },
       {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5},
       {2, 2, 3}},
      {"stack last",
       [](const Tensor& x) {
         return tn::stack({x[0], x[1]}, -1);
       },
       {0, 3, 1, 4, 2, 5},
       {3, 2}},
      {"contiguous",
       [](const Tensor& x) { return tn::contiguous(x.t()); },
       {0, 3, 1, 4, 2, 5},
       {3, 2}},
      {"flip", [](const Tensor& x) { return tn::flip(x, -1); }, {2, 1, 0, 5, 4, 3}, {2, 3}},
      {"flip both",
       [](const Tensor& x) {
         return tn::flip(x, {0, 1});
       },
       {5, 4, 3, 2, 1, 0},
       {2, 3}},
      {"flip none", [](const Tensor& x) { return tn::flip(x, {}); }, {0, 1, 2, 3, 4, 5}, {2, 3}},
      {"roll", [](const Tensor& x) { return tn::roll(x, 1); }, {5, 0, 1, 2, 3, 4}, {2, 3}},
      {"roll along",
       [](const Tensor& x) {
         return tn::roll(x, {-1, 1}, {1, 0});
       },
       {4, 5, 3, 1, 2, 0},
       {2, 3}},
      {"roll around",
       [](const Tensor& x) { return tn::roll(x, 7, 1); },
       {2, 0, 1, 5, 3, 4},
       {2, 3}},
      {"repeat",
       [](const Tensor& x) {
         return tn::repeat(x, {1, 2});
       },
       {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5},
       {2, 6}},
      {"repeat in front",
       [](const Tensor& x) {
         return tn::repeat(x, {2, 1, 1});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {2, 2, 3}},
      {"repeat in 9 dimensions",
       [](const Tensor& x) {
         return tn::repeat(x, {1, 1, 1, 1, 1, 1, 1, 2, 1});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {1, 1, 1, 1, 1, 1, 1, 4, 3}},
      {"triu", [](const Tensor& x) { return tn::triu(x); }, {0, 1, 2, 0, 4, 5}, {2, 3}},
      {"triu above", [](const Tensor& x) { return tn::triu(x, 1); }, {0, 1, 2, 0, 0, 5}, {2, 3}},
      {"tril", [](const Tensor& x) { return tn::tril(x); }, {0, 0, 0, 3, 4, 0}, {2, 3}},
      {"tril below", [](const Tensor& x) { return tn::tril(x, -1); }, {0, 0, 0, 3, 0, 0}, {2, 3}},
      {"pad",
       [](const Tensor& x) {
         return tn::pad(x, {1, 0}, "constant", 9);
       },
       {9, 0, 1, 2, 9, 3, 4, 5},
       {2, 4}},
      {"pad and cut",
       [](const Tensor& x) {
         return tn::pad(x, {-1, 1, 1, -1});
       },
       {0, 0, 0, 1, 2, 0},
       {2, 3}},
      {"pad reflect",
       [](const Tensor& x) {
         return tn::pad(x, {2, 1}, "reflect");
       },
       {2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4},
       {2, 6}},
      {"pad replicate",
       [](const Tensor& x) {
         return tn::pad(x, {2, 1}, "replicate");
       },
       {0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5},
       {2, 6}},
      {"pad circular",
       [](const Tensor& x) {
         return tn::pad(x, {1, 2}, "circular");
       },
       {2, 0, 1, 2, 0, 1, 5, 3, 4, 5, 3, 4},
       {2, 6}},
      // PyTorch closes the circle over what is left.
      {"pad circular, cut behind",
       [](const Tensor& x) {
         return tn::pad(x, {2, -1}, "circular");
       },
       {0, 1, 0, 1, 3, 4, 3, 4},
       {2, 4}},
      {"pad circular and cut",
       [](const Tensor& x) {
         return tn::pad(x, {-1, 2}, "circular");
       },
       {1, 2, 1, 2, 4, 5, 4, 5},
       {2, 4}},
      {"pad replicate in two",
       [](const Tensor& x) {
         return tn::pad(x, {0, 1, 1, 0}, "replicate");
       },
       {0, 1, 2, 2, 0, 1, 2, 2, 3, 4, 5, 5},
       {3, 4}},
      {"diagonal beyond", [](const Tensor& x) { return tn::diagonal(x, INT64_MIN); }, {}, {0}},
      {"unfold",
       [](const Tensor& x) { return tn::unfold(x, 1, 2, 1); },
       {0, 1, 1, 2, 3, 4, 4, 5},
       {2, 2, 2}},
      {"meshgrid",
       [](const Tensor& x) {
         return tn::meshgrid({x[0], x.select(1, 0)})[1];
       },
       {0, 3, 0, 3, 0, 3},
       {3, 2}},
      {"meshgrid xy",
       [](const Tensor& x) {
         return tn::meshgrid({x[0], x.select(1, 0)}, "xy")[0];
       },
       {0, 1, 2, 0, 1, 2},
       {2, 3}},
      {"movedim", [](const Tensor& x) { return tn::movedim(x, 1, 0); }, {0, 3, 1, 4, 2, 5}, {3, 2}},
      {"unflatten",
       [](const Tensor& x) {
         return tn::unflatten(x, 1, {3, 1});
       },
       {0, 1, 2, 3, 4, 5},
       {2, 3, 1}},
      {"diagonal", [](const Tensor& x) { return tn::diagonal(x, 1); }, {1, 5}, {2}},
      {"broadcast_to",
       [](const Tensor& x) {
         return tn::broadcast_to(x, {2, 2, 3});
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
       {2, 2, 3}},
      {"split", [](const Tensor& x) { return tn::split(x, 2, 1)[1]; }, {2, 5}, {2, 1}},
      {"split_with_sizes",
       [](const Tensor& x) {
         return tn::split_with_sizes(x, {1, 2}, 1)[1];
       },
       {1, 2, 4, 5},
       {2, 2}},
      {"chunk", [](const Tensor& x) { return tn::chunk(x, 2)[1]; }, {3, 4, 5}, {1, 3}},
  };
  return list;
}

TEST(Shape, EachOpHasPyTorchsValuesAndGradient) {
  for (tn::Device d : devices()) {
    Tensor x = tn::tensor<double>({{0, 1, 2}, {3, 4, 5}}, d);
    for (const Row& row : new_tensors()) {
      SCOPED_TRACE(d.name() + " " + row.name);
      expect_near(row.op(x), row.values, 0);
      expect_sizes(row.op(x), row.sizes);
      expect_near(row.op(x.t().contiguous().t().to(tn::uint8)), row.values, 0);
      EXPECT_EQ(row.op(x.to(tn::uint8)).dtype(), tn::uint8);
      gradcheck([&](const TensorList& in) { return tn::square(row.op(in[0])); },
                {sample({2, 3}, d)});
    }
  }
}

TEST(Shape, NothingAndOne) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor none = tn::zeros({0, 2}, {}, d), one = tn::full({}, 3.0, {}, d);
    expect_sizes(tn::stack({none, none}), {2, 0, 2});
    expect_near(tn::stack({one, one}), {3, 3});
    expect_sizes(tn::flip(none, {0, 1}), {0, 2});
    expect_near(tn::flip(one, {}), {3});
    expect_near(tn::flip(one, 0), {3});
    expect_sizes(tn::roll(none, 1, 0), {0, 2});
    expect_near(tn::roll(one, 1), {3});
    expect_sizes(tn::repeat(none, {2, 2}), {0, 4});
    expect_sizes(tn::repeat(tn::ones({2}, {}, d), 0), {0});
    expect_near(tn::repeat(one, {2, 1}), {3, 3});
    expect_near(tn::repeat(one, {}), {3});
    expect_sizes(tn::triu(none), {0, 2});
    const Tensor yes = tn::ones({2, 2}, tn::bool_, d);
    EXPECT_EQ(tn::triu(yes).dtype(), tn::bool_);
    expect_near(tn::triu(yes), {1, 1, 0, 1});
    expect_near(tn::tril(yes, -1), {0, 0, 1, 0});
    expect_near(tn::pad(none, {0, 0, 1, 0}), {0, 0});
    expect_near(tn::pad(one, {}), {3});
    expect_sizes(tn::unfold(one, 0, 1, 1), {1});
    expect_sizes(tn::split(none, 2)[0], {0, 2});
    expect_sizes(tn::chunk(none, 3)[0], {0, 2});
    expect_sizes(tn::diagonal(none), {0});
    expect_sizes(tn::meshgrid({one, tn::ones({2}, {}, d)})[0], {1, 2});
    expect_sizes(tn::movedim(one, {}, {}), {});
    EXPECT_FALSE(tn::flip(one, {}).same_storage(one));
    EXPECT_FALSE(tn::roll(one, 0).same_storage(one));
    // Writing into a piece writes the whole.
    Tensor x = tn::zeros({4}, {}, d);
    tn::chunk(x, 2)[1].fill_(1);
    tn::diagonal(x.view({2, 2})).fill_(7);
    expect_near(x, {7, 0, 1, 7});
  }
}

// PyTorch's values: what is cut beyond the dimension goes into the other side's new elements.
TEST(Shape, PadsThatCutMoreThanThereIs) {
  struct Row {
    std::vector<int64_t> pad;
    const char* mode;
    std::vector<double> values;
  };
  const Row rows[] = {
      {{5, -4}, "replicate", {1, 1, 1, 1}},
      {{3, -3}, "replicate", {1, 1, 1}},
      {{-4, 5}, "replicate", {3, 3, 3, 3}},
      {{2, -4}, "replicate", {1}},
      {{-4, 2}, "replicate", {3}},
      {{1, -3}, "replicate", {1}},
      {{2, -1}, "replicate", {1, 1, 1, 2}},
      {{-1, 2}, "replicate", {2, 3, 3, 3}},
      {{2, -4}, "reflect", {3}},
      {{-4, 2}, "reflect", {1}},
      {{1, -3}, "reflect", {2}},
      {{2, -2}, "reflect", {3, 2, 1}},
      {{-1, 2}, "reflect", {2, 3, 2, 1}},
  };
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({{{1.0, 2.0, 3.0}}}, d);
    for (const Row& row : rows) expect_near(tn::pad(x, row.pad, row.mode), row.values);
    expect_error([&] { tn::pad(x, {-4, 0}, "replicate"); }, "it would have a negative size");
    expect_error([&] { tn::pad(x, {INT64_MAX, INT64_MAX}, "replicate"); }, "would overflow");
  }
}

// Blocks of whole lines and what is left of them, elements of each width, rows whose distance is a power of
// two, backwards and with a distance between columns.
TEST(Rearrange, TransposedCopiesHaveEachElement) {
  for (tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::uint8, tn::int16, tn::float32, tn::int64}) {
      for (const auto& sizes : std::vector<std::pair<int64_t, int64_t>>{
               {4, 130}, {8, 8}, {16, 16}, {63, 65}, {64, 64}, {67, 129}, {128, 1024}, {200, 4}}) {
        const int64_t rows = sizes.first, columns = sizes.second;
        SCOPED_TRACE(d.name() + " " + dtype.name() + " " + std::to_string(rows) + " " +
                     std::to_string(columns));
        const Tensor x =
            (tn::arange(2 * rows * columns).reshape({2, rows, columns}) % 113).to(d, dtype);
        const auto from = x.to(tn::cpu, tn::int64).to_vector<int64_t>();
        const auto expect = [&](const Tensor& y, auto place) {
          const auto got = y.contiguous().to(tn::cpu, tn::int64).to_vector<int64_t>();
          ASSERT_EQ(int64_t(got.size()), 2 * rows * columns);
          int64_t wrong = 0, at = 0;
          for (int64_t b = 0; b < 2; ++b)
            for (int64_t j = 0; j < columns; ++j)
              for (int64_t i = 0; i < rows; ++i)
                wrong += got[size_t(at++)] != from[size_t(b * rows * columns + place(i, j))];
          EXPECT_EQ(wrong, 0);
        };
        expect(x.transpose(1, 2), [&](int64_t i, int64_t j) { return i * columns + j; });
        expect(tn::flip(x.transpose(1, 2), 1),
               [&](int64_t i, int64_t j) { return i * columns + columns - 1 - j; });
        expect(tn::flip(x.transpose(1, 2), {1, 2}),
               [&](int64_t i, int64_t j) { return (rows - 1 - i) * columns + columns - 1 - j; });
        // Into every second column.
        const Tensor wide = tn::zeros({2, columns, 2 * rows}, dtype, d);
        const Tensor every = wide[{tn::ellipsis, tn::slice(0, tn::none, 2)}];
        every.copy_(x.transpose(1, 2));
        expect(every, [&](int64_t i, int64_t j) { return i * columns + j; });
      }
    }
  }
}

}  // namespace
