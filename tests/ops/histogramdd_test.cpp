// Histograms of points. Values are those of torch.histogramdd.
#include <tenon/histogramdd.hpp>

#include <cmath>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

using tn::Tensor;
using Sizes = std::vector<int64_t>;

TEST(Histogramdd, CountsPoints) {
  load_all();
  for (const tn::Device device : devices()) {
    const Tensor
        x = tn::tensor({{0., 1.}, {1., 0.}, {2., 0.}, {2., 2.}}).to(tn::float32).to(device),
        weight = tn::tensor({1., 2., 4., 8.}).to(tn::float32).to(device);
    const tn::HistogramDD plain = tn::histogramdd(x, {3, 3});
    EXPECT_EQ(plain.hist.dtype(), tn::float32);
    EXPECT_EQ(plain.hist.sizes(), (Sizes{3, 3}));
    expect_near(plain.hist, {0, 1, 0, 1, 0, 0, 1, 0, 1});
    ASSERT_EQ(plain.bin_edges.size(), 2u);
    for (const Tensor& edges : plain.bin_edges) expect_near(edges, {0, 2. / 3, 4. / 3, 2}, 1e-6);
    expect_near(tn::histogramdd(x, {3, 3}, {.weight = weight}).hist, {0, 1, 0, 2, 0, 0, 4, 0, 8});
    expect_near(tn::histogramdd(x, {2, 2}, {.range = {0, 1, 0, 1}, .density = true}).hist,
                {0, 2, 2, 0});
    expect_near(tn::histogramdd(x, 2).hist, {0, 1, 2, 1});
    EXPECT_EQ(tn::histogramdd(x, {7}).hist.sizes(), tn::Ints(7, 7));
    const std::vector<Tensor> edges = {tn::tensor({0., 1., 3.}).to(tn::float32).to(device),
                                       tn::tensor({0., 1.5, 2.}).to(tn::float32).to(device)};
    const tn::HistogramDD between = tn::histogramdd(x, edges, {.weight = weight});
    expect_near(between.hist, {1, 0, 6, 8});
    EXPECT_EQ(between.bin_edges[1].get(), edges[1].get());
    const Tensor alike = tn::full({3, 2}, 2., {.dtype = tn::float32, .device = device});
    const tn::HistogramDD around = tn::histogramdd(alike, {2, 2});
    expect_near(around.hist, {0, 0, 0, 3});
    expect_near(around.bin_edges[0], {1.5, 2, 2.5});
    // Points in several dimensions are points in a row, and those outside are nowhere.
    expect_near(tn::histogramdd(x.view({2, 2, 2}), {1, 1}, {.range = {0, 1, 0, 1}}).hist, {2});
    EXPECT_EQ(tn::histogramdd(x.narrow(0, 0, 0), {2, 1}).hist.to_vector<double>(),
              (std::vector<double>{0, 0}));
  }
}

TEST(Histogramdd, SaysWhatDoesNotFit) {
  load_all();
  const Tensor x = tn::zeros({4, 2});
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, {3, 3, 3});
            }),
            "histogramdd: bins are given for 3 dimensions, and the points of x [4, 2] have 2");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x[0], {3, 3});
            }),
            "histogramdd: x is [2] float32, expected points of floats [.., D]");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x.to(tn::int64), {3, 3});
            }),
            "histogramdd: x is [4, 2] int64, expected points of floats [.., D]");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, {2, 2}, {.range = {0, 1}});
            }),
            "histogramdd: range has 2 numbers, expected 4, the least and the greatest of each "
            "dimension");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, {2, 2}, {.range = {0, 1, 3, 2}});
            }),
            "histogramdd: the range of dimension 1 is from 3 to 2, expected finite numbers, of "
            "which the second is not below the first");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, {2, 2}, {.weight = tn::ones({3})});
            }),
            "histogramdd: weight is [3], expected [4], a number for each point of x");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, {2, 0});
            }),
            "histogramdd: bins[1] is 0, expected 1 or more");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, std::vector<Tensor>{tn::ones({1}), tn::ones({2})});
            }),
            "histogramdd: bins[0] are [1] float32, expected two edges at least, in one dimension "
            "and as x of float32");
  EXPECT_EQ(message_of([&] {
              tn::histogramdd(x, std::vector<Tensor>{tn::ones({2}), tn::ones({2})},
                              {.range = {0, 1, 0, 1}});
            }),
            "histogramdd: range is given beside the edges of the bins, expected one of them");
}

}  // namespace
