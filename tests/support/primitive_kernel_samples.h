// Samples of the kernels of primitives, and of products, which stand beside MATMUL.
#pragma once

#include "check_formulas.h"
#include "kernel_samples.h"

namespace kernel_samples {

inline void elementwise(Samples& list) {
  namespace conformance = tn::cli::conformance;
  using conformance::Takes;
  Tensor x = sample({37, 53}), y = sample({37, 53}, {}, 0.4);
  Tensor positive = tn::abs(x) + 0.05;
  for (const conformance::Formula& formula : conformance::kFormulas) {
    auto program =
        std::make_shared<tn::ExpressionRef>("_swept(Tensor x, Tensor y) -> Tensor", formula.text);
    const auto& dtypes = formula.takes == Takes::all       ? kAll
                         : formula.takes == Takes::numbers ? kNumbers
                         : formula.takes == Takes::floats  ? kFloats
                                                           : kInts;
    list.push_back(
        {"elementwise",
         formula.text,
         dtypes,
         {formula.positive == 'x' ? positive : x, formula.positive == 'y' ? positive : y},
         {0, 0},
         formula.tolerance,
         [program](const TensorList& in, Dtype, tn::Device) {
           return tn::prim::elementwise(*program, in[0], in[1]);
         }});
  }
}

inline void scan(Samples& list) {
  const Tensor x = sample({37, 53}), small = sample({5, 7});
  for (const bool reverse : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      const std::string where = std::to_string(dim) + (reverse ? " reverse" : "");
      list.push_back({"scan",
                      "sum " + where,
                      kAll,
                      {x},
                      {1 - dim},
                      sum_of(53),
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::scan(TN_REDUCE_SUM, in[0], dim, reverse);
                      }});
      list.push_back({"scan",
                      "prod " + where,
                      kFloats,
                      {small},
                      {1 - dim},
                      {7, 1},
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::scan(TN_REDUCE_PROD, in[0], dim, reverse);
                      }});
    }
    for (const auto kind : {TN_REDUCE_SUM, TN_REDUCE_PROD}) {
      const bool is_sum = kind == TN_REDUCE_SUM;
      list.push_back(
          {"scan",
           std::string(is_sum ? "sum" : "prod") + " of a line" + (reverse ? " reverse" : ""),
           is_sum ? kAll : kFloats,
           {is_sum ? sample({301}) : sample({6})},
           {-1},
           is_sum ? sum_of(301) : Error{7, 1},
           [=](const TensorList& in, Dtype, tn::Device) {
             return tn::prim::scan(kind, in[0], 0, reverse);
           }});
    }
  }
}

inline void sort(Samples& list) {
  // Few values, so that many are equal.
  const Tensor x = (sample({11, 29}) * 8.0).to(tn::int64).to(tn::float64) / 8.0;
  for (const bool descending : {false, true}) {
    for (const int64_t dim : {0, 1}) {
      const std::string where = std::to_string(dim) + (descending ? " descending" : "");
      const auto add = [&](const char* kernel, const std::string& what,
                           const std::function<Tensor(const Tensor&)>& f) {
        list.push_back({kernel,
                        what + " " + where,
                        kAll,
                        {x},
                        {1 - dim},
                        {},
                        [f](const TensorList& in, Dtype, tn::Device) { return f(in[0]); }});
      };
      add("sort", "values",
          [=](const Tensor& in) { return std::get<0>(tn::prim::sort(in, dim, descending)); });
      add("sort", "indices",
          [=](const Tensor& in) { return std::get<1>(tn::prim::sort(in, dim, descending)); });
      for (const int64_t k : {1, 2, 10}) {
        add("_top_places", std::to_string(k),
            [=](const Tensor& in) { return std::get<1>(tn::topk(in, k, dim, descending)); });
      }
      add("_ranked_places", "a rank",
          [=](const Tensor& in) { return std::get<1>(tn::kthvalue(in, descending ? 1 : 7, dim)); });
      add("_ranked_places", "quarters", [=](const Tensor& in) {
        const auto ranks = tn::tensor({6, 0, 10, 2, 2, 5, 3, 1, 9}, in.device());
        const int64_t m = descending ? 3 : 9;  // a few are looked for, for more the row is sorted
        auto sizes = std::vector<int64_t>(in.sizes().begin(), in.sizes().end());
        sizes[size_t(dim)] = m;
        const Tensor along =
            tn::slice(ranks, 0, 0, m)
                .reshape(dim == 0 ? std::vector<int64_t>{m, 1} : std::vector<int64_t>{1, m});
        return tn::call(tn::detail::op<"_ranked_places">, in, tn::expand(along, sizes), dim);
      });
    }
  }
}

// Of rows that are long enough that a few ranks are looked for in parts of them.
inline void ranks_of_long_rows(Samples& list) {
  for (const int64_t k : {1, 130, 260}) {
    list.push_back({"_ranked_places",
                    "rank " + std::to_string(k),
                    {tn::float32, tn::bfloat16, tn::int64, tn::uint8},
                    {sample({2, 260})},
                    {-1},
                    {},
                    [k](const TensorList& in, Dtype, tn::Device) {
                      return std::get<1>(tn::kthvalue(in[0], k, 1));
                    }});
  }
  list.push_back({"_ranked_places",
                  "quantiles",
                  {tn::float32},
                  {sample({2, 260})},
                  {-1},
                  {2, 2},
                  [](const TensorList& in, Dtype, tn::Device) {
                    const Tensor q = tn::tensor({0.125, 0.5, 0.75}, in[0].dtype(), in[0].device());
                    return tn::quantile(in[0], q, 1);
                  }});
}

inline void reduce(Samples& list) {
  Tensor x = sample({37, 53});
  struct Kind {
    const char* name;
    tn_reduce_kind kind;
  };
  constexpr Kind kinds[] = {{"sum", TN_REDUCE_SUM},       {"prod", TN_REDUCE_PROD},
                            {"max", TN_REDUCE_MAX},       {"min", TN_REDUCE_MIN},
                            {"argmax", TN_REDUCE_ARGMAX}, {"argmin", TN_REDUCE_ARGMIN}};
  for (const Kind& k : kinds) {
    for (int dim : {-1, 0, 1}) {  // -1: all
      const std::vector<int64_t> dims =
          dim < 0 ? std::vector<int64_t>{} : std::vector<int64_t>{dim};
      const double length = dim < 0 ? 37 * 53 : dim == 0 ? 37 : 53;
      // A product has a rounding for each factor.
      Error error = k.kind == TN_REDUCE_SUM ? sum_of(length) : Error();
      if (k.kind == TN_REDUCE_PROD) error.relative = length / 2;
      const int64_t batch = k.kind <= TN_REDUCE_PROD || dim == 1 ? 0 : dim == 0 ? 1 : -1;
      list.push_back({"reduce",
                      std::string(k.name) + " of " + std::to_string(dim),
                      k.kind <= TN_REDUCE_PROD ? kAll : kNumbers,
                      {k.kind == TN_REDUCE_PROD ? x * 0.02 + 1 : x},
                      {batch},
                      error,
                      [kind = k.kind, dims](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::reduce(kind, in[0], dims, true);
                      }});
    }
  }
  // Sums of few columns in rows that lie behind each other, of values without a period, by which the sums in
  // between would be large.
  for (const int64_t columns : {2, 3, 4, 5, 7, 8, 12, 16, 17}) {
    for (const int64_t rows : {1, 2, 7, 40, 150, 1100}) {
      list.push_back({"reduce",
                      "sum of " + std::to_string(rows) + " rows of " + std::to_string(columns),
                      {tn::float32, tn::float64},
                      {tn::sin(sample({3, rows, columns}) * 1000)},
                      {0},
                      sum_of(4 * double(rows)),
                      [](const TensorList& in, Dtype, tn::Device) {
                        return tn::prim::reduce(TN_REDUCE_SUM, in[0], {1});
                      }});
    }
  }
  static constinit tn::ExpressionRef product{"_product(Tensor x, Tensor y) -> Tensor", "x * y"};
  static constinit tn::ExpressionRef root{"_root(Tensor x) -> Tensor", "sqrt(abs(x)) + 1"};
  list.push_back({"reduce",
                  "with a prologue",
                  kFloats,
                  {x, sample({37, 53}, {}, 2)},
                  {0, 0},
                  sum_of(53),
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::reduce(TN_REDUCE_SUM, in, {1}, false, product);
                  }});
  list.push_back({"reduce",
                  "with an epilogue",
                  kFloats,
                  {tn::abs(x) + 0.5},
                  {0},
                  {4 + std::sqrt(53.0)},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::reduce_then(TN_REDUCE_SUM, in[0], {1}, false, root);
                  }});
}

inline void matmul(Samples& list) {
  auto product = [](const TensorList& in, Dtype, tn::Device) {
    return tn::prim::matmul(in[0], in[1]);
  };
  for (auto [m, k, n] : {std::array<int64_t, 3>{37, 53, 29}, {1, 64, 5}, {5, 130, 1}, {8, 1, 8}}) {
    const std::string sizes = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
    list.push_back({"matmul",
                    sizes,
                    kFloats,
                    {sample({m, k}), sample({k, n}, {}, 1)},
                    {0, -1},
                    sum_of(double(k)),
                    product});
  }
  list.push_back({"matmul",
                  "batched",
                  kFloats,
                  {sample({3, 1, 7, 9}), sample({2, 9, 5}, {}, 1)},
                  {0, 0},
                  sum_of(9),
                  product});
  TensorList layer = {sample({37, 53}), sample({29, 53}, {}, 1), sample({29}, {}, 2)};
  list.push_back(
      {"linear",
       "with a bias",
       kFloats,
       layer,
       {0, -1, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear(in[0], in[1], in[2]); }});
  list.push_back({"linear_relu",
                  "with a bias",
                  kFloats,
                  layer,
                  {0, -1, -1},
                  sum_of(53),
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::linear_relu(in[0], in[1], in[2]);
                  }});
  layer = {sample({3, 5, 53}), sample({29, 53}, {}, 1)};
  list.push_back(
      {"linear",
       "3 dimensions",
       kFloats,
       layer,
       {0, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear(in[0], in[1]); }});
  list.push_back(
      {"linear_relu",
       "3 dimensions",
       kFloats,
       layer,
       {0, -1},
       sum_of(53),
       [](const TensorList& in, Dtype, tn::Device) { return tn::linear_relu(in[0], in[1]); }});
  for (size_t i = 0; i < 2; ++i) {
    list.push_back({"linear",
                    "gradient " + std::to_string(i),
                    {tn::float32, tn::float64},
                    layer,
                    {i == 0 ? 0 : -1, -1},
                    products(i == 0 ? 29 : 15),
                    gradient_of([](const TensorList& in) { return tn::linear(in[0], in[1]); }, i)});
  }
}

inline void make_and_move(Samples& list) {
  Tensor x = sample({37, 53});
  for (Dtype to : kAll) {
    // Truncated or rounded once; what no uint8 is, is not asked for.
    list.push_back(
        {"copy",
         std::string("to ") + to.name(),
         kAll,
         {tn::abs(x) * 3},
         {0},
         {},
         [to](const TensorList& in, Dtype, tn::Device) { return tn::prim::copy(in[0], to); }});
    list.push_back(
        {"fill", to.name(), {to}, {}, {}, {}, [](const TensorList&, Dtype dtype, tn::Device d) {
           return tn::prim::fill({5, 7}, 2.75, dtype, d);
         }});
  }
  for (Dtype dtype : kNumbers) {
    list.push_back(
        {"iota", dtype.name(), {dtype}, {}, {}, {}, [](const TensorList&, Dtype as, tn::Device d) {
           return tn::prim::iota(100, 3, 1, as, d);
         }});
  }
  list.push_back(
      {"iota", "in quarters", kFloats, {}, {}, {}, [](const TensorList&, Dtype as, tn::Device d) {
         return tn::prim::iota(100, 1.5, 0.25, as, d);
       }});
  for (int64_t n : {0, 1, 3, 1000}) {
    list.push_back({"random_bits",
                    std::to_string(n),
                    {tn::int32},
                    {},
                    {},
                    {},
                    [n](const TensorList&, Dtype, tn::Device d) {
                      tn::manual_seed(5);
                      return tn::prim::random_bits({n}, d);
                    }});
  }
  list.push_back(
      {"nonzero",
       "about half",
       kAll,
       {tn::relu(x)},
       {0},
       {},
       [](const TensorList& in, Dtype, tn::Device) { return tn::prim::nonzero(in[0]); }});
}

// Indices below n; with `along` all different along dimension 0.
inline Tensor indices(std::vector<int64_t> sizes, int64_t n, bool along = false) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) values.push_back((along ? i + j : 7 * i + j * j) % n);
  }
  return Tensor::from(values, sizes);
}

inline void index(Samples& list) {
  Tensor x = sample({37, 53}), src = sample({20, 53}, {}, 1);
  // Where one index is expanded, 20 numbers meet 1.
  const Error added = {sum_of(21).relative, sum_of(21).absolute, true};
  for (int64_t dim : {0, 1}) {
    list.push_back({"gather",
                    "along " + std::to_string(dim),
                    kAll,
                    {x, indices({20, 53}, dim == 0 ? 37 : 53)},
                    {-1, 0},
                    {},
                    [dim](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::gather(in[0], dim, in[1]);
                    }});
    list.push_back({"scatter",
                    "added along " + std::to_string(dim),
                    kAll,
                    {x, indices({20, 53}, dim == 0 ? 37 : 53), src},
                    {-1, 0, 0},
                    added,
                    [dim](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::scatter(in[0], dim, in[1], in[2], true);
                    }});
  }
  for (const char* reduce : {"amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      const int64_t dim = include_self ? 0 : 1;
      list.push_back({"_scatter_extreme",
                      reduce + std::string(include_self ? " with its own" : " without"),
                      kNumbers,
                      {x, indices({20, 53}, dim == 0 ? 37 : 53), src},
                      {-1, 0, 0},
                      {},
                      [=](const TensorList& in, Dtype, tn::Device) {
                        return tn::scatter_reduce(in[0], dim, in[1], in[2], reduce,
                                                  {.include_self = include_self});
                      }});
    }
  }
  list.push_back({"_bag_sums",
                  "bags of 0 to 8",
                  {tn::float32, tn::float64},
                  {x, indices({20, 1}, 37).reshape({20})},
                  {-1, -1},
                  sum_of(8),
                  [](const TensorList& in, Dtype, tn::Device) {
                    const Tensor offsets = tn::tensor({0, 3, 3, 11, 12}, in[0].device());
                    return tn::embedding_bag(in[0], in[1], offsets, {.mode = "sum"});
                  }});
  // Rows as a whole: the index is one along the last dimension.
  Tensor row = indices({20, 1}, 37);
  list.push_back(
      {"gather", "rows", kAll, {x, row}, {-1, 0}, {}, [](const TensorList& in, Dtype, tn::Device) {
         return tn::prim::gather(in[0], 0, in[1].expand({-1, 53}));
       }});
  // Short rows have copies of their own, and so have long ones that lie a few bytes behind what they copy.
  for (const int64_t columns : {4, 8, 16, 1500}) {
    list.push_back({"gather",
                    "rows of " + std::to_string(columns),
                    kAll,
                    {sample({37, columns}), row},
                    {-1, 0},
                    {},
                    [columns](const TensorList& in, Dtype, tn::Device) {
                      return tn::prim::gather(in[0], 0, in[1].expand({-1, columns}));
                    }});
  }
  list.push_back(
      {"gather",
       "one of each row",
       kAll,
       {sample({20, 53}), indices({20, 1}, 53)},
       {0, 0},
       {},
       [](const TensorList& in, Dtype, tn::Device) { return tn::prim::gather(in[0], 1, in[1]); }});
  list.push_back({"scatter",
                  "rows added",
                  kAll,
                  {x, row, src},
                  {-1, 0, 0},
                  added,
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::scatter(in[0], 0, in[1].expand({-1, 53}), in[2], true);
                  }});
  list.push_back({"scatter",
                  "set",
                  kAll,
                  {x, indices({20, 53}, 37, true), src},
                  {-1, 0, 0},
                  {},
                  [](const TensorList& in, Dtype, tn::Device) {
                    return tn::prim::scatter(in[0], 0, in[1], in[2], false);
                  }});
}

}  // namespace kernel_samples
