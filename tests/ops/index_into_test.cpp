// Writing at indices: what is written to x is what the function beside it gives, and where x is
// row-major nothing of x is copied. Buffers of gigabytes are written so, a few rows at a time.
#include <nlohmann/json.hpp>

#include "compile_support.h"
#include "ops_support.h"

namespace {

using tn::none, tn::slice;

Tensor numbers(std::vector<int64_t> sizes, tn::Dtype dtype, tn::Device d) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return (tn::arange(0, n) * 7 % 23 - 11).view(sizes).to(dtype).to(d);
}
Tensor indices(std::vector<int64_t> values, tn::Device d) { return Tensor::from(values, -1, d); }

struct Way {
  const char* name;
  std::function<void(const Tensor& x)> into;
  std::function<Tensor(const Tensor& x)> beside;
};

// Of x [5, 4]; all indices differ where they are not added up.
std::vector<Way> ways(tn::Dtype dtype, tn::Device d) {
  const Tensor i = indices({3, 0, 4}, d), twice = indices({1, 3, 1}, d),
               at = i.view({3, 1}).expand({3, 4}), rows = numbers({3, 4}, dtype, d),
               columns = numbers({5, 2}, dtype, d), j = indices({2, 0}, d),
               back = indices({-1, -5, 2}, d), three = numbers({3}, dtype, d);
  const Tensor value = numbers({1}, dtype, d).view({});
  return {
      {"scatter_", [=](const Tensor& x) { x.scatter_(0, at, rows); },
       [=](const Tensor& x) { return x.scatter(0, at, rows); }},
      {"scatter_ of a part of src",
       [=](const Tensor& x) { x.scatter_(0, at.narrow(1, 0, 2), rows); },
       [=](const Tensor& x) { return x.scatter(0, at.narrow(1, 0, 2), rows); }},
      {"scatter_ of a number", [=](const Tensor& x) { x.scatter_(0, at, 3); },
       [=](const Tensor& x) { return x.scatter(0, at, 3); }},
      {"scatter_add_",
       [=](const Tensor& x) {
         x.scatter_add_(0, twice.view({3, 1}).expand({3, 4}), rows);
       },
       [=](const Tensor& x) {
         return x.scatter_add(0, twice.view({3, 1}).expand({3, 4}), rows);
       }},
      {"index_add_", [=](const Tensor& x) { x.index_add_(0, twice, rows, 2); },
       [=](const Tensor& x) { return x.index_add(0, twice, rows, 2); }},
      {"index_copy_", [=](const Tensor& x) { x.index_copy_(0, i, rows); },
       [=](const Tensor& x) { return x.index_copy(0, i, rows); }},
      {"index_copy_ of columns", [=](const Tensor& x) { x.index_copy_(1, j, columns); },
       [=](const Tensor& x) { return x.index_copy(1, j, columns); }},
      {"index_fill_", [=](const Tensor& x) { x.index_fill_(0, back, 5); },
       [=](const Tensor& x) { return x.index_fill(0, back, 5); }},
      {"index_fill_ of a tensor", [=](const Tensor& x) { x.index_fill_(1, j, value); },
       [=](const Tensor& x) { return x.index_fill(1, j, value); }},
      {"put_",
       [=](const Tensor& x) {
         x.put_(indices({-1, 7, 3}, d), three);
       },
       [=](const Tensor& x) {
         return x.put(indices({-1, 7, 3}, d), three);
       }},
      {"put_ adding",
       [=](const Tensor& x) {
         x.put_(indices({7, 7, 3}, d), three, true);
       },
       [=](const Tensor& x) {
         return x.put(indices({7, 7, 3}, d), three, true);
       }},
      {"x[i] =", [=](const Tensor& x) { x[back] = rows; },
       [=](const Tensor& x) { return tn::index_put(x, {back}, rows); }},
      {"x[i] = a row", [=](const Tensor& x) { x[i] = rows[0]; },
       [=](const Tensor& x) { return tn::index_put(x, {i}, rows[0]); }},
      {"x[:, j] =",
       [=](const Tensor& x) {
         x[{slice(), j}] = columns;
       },
       [=](const Tensor& x) {
         return tn::index_put(x, {Tensor(), j}, columns);
       }},
      {"x[i, k] =",
       [=](const Tensor& x) {
         x[{i, indices({1, 3, 2}, d)}] = three;
       },
       [=](const Tensor& x) {
         return tn::index_put(x, {i, indices({1, 3, 2}, d)}, three);
       }},
      {"x[i of two dimensions] =",
       [=](const Tensor& x) {
         x[indices({0, 1, 4, 2}, d).view({2, 2})] = 3;
       },
       [=](const Tensor& x) {
         return tn::index_put(x, {indices({0, 1, 4, 2}, d).view({2, 2})},
                              tn::full({}, 3, dtype, d));
       }},
      {"x[mask] =",
       [=](const Tensor& x) {
         x[indices({0, 1, 1, 0, 1}, d) != 0] = rows;
       },
       [=](const Tensor& x) {
         return tn::index_put(x, {indices({0, 1, 1, 0, 1}, d) != 0}, rows);
       }},
      {"x[none] =", [=](const Tensor& x) { x[indices({}, d)] = 1; },
       [=](const Tensor& x) { return x * 1; }},
      {"index_put_ adding", [=](const Tensor& x) { x.index_put_({twice}, rows, true); },
       [=](const Tensor& x) { return tn::index_put(x, {twice}, rows, true); }},
  };
}

TEST(IndexInto, IsTheFunctionBesideIt) {
  load_all();
  for (const tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::float32, tn::float64, tn::bfloat16, tn::int64, tn::int8}) {
      for (const Way& way : ways(dtype, d)) {
        SCOPED_TRACE(d.name() + " " + dtype.name() + " " + way.name);
        const Tensor x = numbers({5, 4}, dtype, d), expected = way.beside(x);
        const Tensor whole = x.clone();
        way.into(whole);
        expect_same_bits(whole, expected);
        // Into views: columns of a table, and a table that lies the other way round.
        const Tensor table = numbers({5, 9}, dtype, d), other = table.clone(),
                     part = other.narrow(1, 3, 4);
        part.copy_(x);
        way.into(part);
        expect_same_bits(part.contiguous(), expected);
        expect_same_bits(other.narrow(1, 7, 2).contiguous(), table.narrow(1, 7, 2).contiguous());
        const Tensor turned = x.t().contiguous().t();
        way.into(turned);
        expect_same_bits(turned.contiguous(), expected);
      }
    }
  }
}

TEST(IndexInto, CopiesNothingOfX) {
  load_all();
  const tn::Device d = tn::cpu;
  for (const Way& way : ways(tn::float32, d)) {
    SCOPED_TRACE(way.name);
    const std::string name = way.name;
    if (name == "x[none] =") continue;
    const Tensor x = numbers({5, 4}, tn::float32, d);
    const std::string text = tn::explain([&] { way.into(x); });
    // A copy that a kernel makes has five rows of four, whatever it is for.
    for (size_t at = text.find("\"kernel\":\"copy\""); at != text.npos;
         at = text.find("\"kernel\":\"copy\"", at + 1)) {
      const size_t call = text.rfind("{\"call\":", at);
      EXPECT_EQ(text.substr(call, at - call).find("\"sizes\":[5, 4]"), std::string::npos) << text;
    }
    EXPECT_NE(text.find("\"call\":\"scatter_\""), std::string::npos) << text;
  }
}

// A large x of which little is written: no copy is as large, whatever its shape, and none is made for a
// parameter that is written without a gradient, or beside one.
TEST(IndexInto, CopiesNothingAsLargeAsX) {
  load_all();
  const tn::Device d = tn::cpu;
  const Tensor j = indices({2, 0}, d);
  const auto expect_few = [](const char* name, const std::function<void()>& write) {
    const std::function<void(const nlohmann::json&)> look = [&](const nlohmann::json& node) {
      for (const auto& call : node.value("calls", nlohmann::json::array())) {
        for (const auto& kernel : call.value("kernels", nlohmann::json::array())) {
          if (kernel.at("kernel") != "copy") continue;
          for (const auto& arg : call.at("args")) {
            int64_t n = 1;
            for (const int64_t size : arg.at("sizes")) n *= size;
            EXPECT_LT(n, 300) << name << ": " << call;
          }
        }
        look(call);
      }
    };
    look(nlohmann::json::parse(tn::explain(write)));
  };
  for (const bool is_leaf : {false, true}) {
    const Tensor x = numbers({30, 7, 4}, tn::float32, d).requires_grad_(is_leaf);
    const tn::NoGrad scope;
    const Tensor rows = numbers({2, 7, 4}, tn::float32, d),
                 columns = numbers({30, 2, 4}, tn::float32, d), value = tn::full({}, 3.0);
    expect_few("x[j] = y", [&] { x[{j}] = rows; });
    expect_few("x[:, j] = y", [&] { x[{slice(), j}] = columns; });
    expect_few("x[..., j] = y", [&] { x[{tn::ellipsis, j}] = 2.0; });
    EXPECT_EQ((x[{0, 2, 0}]).item<float>(), 2);
    expect_few("put_", [&] { x.put_(j, tn::ones({2})); });
    expect_few("index_fill_", [&] { x.index_fill_(1, j, value); });
    EXPECT_EQ((x[{9, 0, 1}]).item<float>(), 3);
  }
  const Tensor w = numbers({2, 7, 4}, tn::float32, d).requires_grad_();
  const Tensor buffer = tn::zeros({30, 7, 4});
  expect_few("index_copy_ with a gradient", [&] { buffer.index_copy_(0, j, w); });
  (buffer * 3).sum().backward();
  expect_near(w.grad(), std::vector<double>(56, 3), 0);
}

// PyTorch's: the value fills once however often an index is there, and may lie on the cpu.
TEST(IndexInto, AFillCountsItsValueOnce) {
  load_all();
  for (const tn::Device d : devices()) {
    for (const bool in_place : {true, false}) {
      const Tensor value = tn::full({}, 2.0, tn::float64, d).requires_grad_();
      const Tensor x = tn::zeros({3}, tn::float64, d), i = indices({1, 1}, d);
      const Tensor y = in_place ? x.index_fill_(0, i, value) : x.index_fill(0, i, value);
      expect_near(y, {0, 2, 0}, 0);
      y.sum().backward();
      EXPECT_EQ(value.grad().item<double>(), 1);
    }
    const Tensor x = tn::zeros({3}, tn::float32, d);
    x.index_fill_(0, indices({1}, d), tn::full({}, 3.0));
    expect_near(x, {0, 3, 0}, 0);
  }
}

// Nothing was written, so what a gradient has kept is as it was. (Other devices tell of it later.)
TEST(IndexInto, ARefusedWriteIsNone) {
  load_all();
  const Tensor w = tn::ones({3}).requires_grad_(), kept = tn::full({3}, 2.0);
  const Tensor loss = (w * kept).sum();
  expect_error([&] { kept.index_add_(0, tn::tensor({9}), tn::ones({1})); },
               "index 9 (element 0 of index) is out of range");
  loss.backward();
  expect_near(w.grad(), {2, 2, 2}, 0);
}

TEST(IndexInto, GradientsSeeTheWrite) {
  load_all();
  for (const tn::Device d : devices()) {
    for (const Way& way : ways(tn::float64, d)) {
      SCOPED_TRACE(d.name() + " " + way.name);
      const Tensor w = numbers({5, 4}, tn::float64, d).requires_grad_(),
                   slope = numbers({5, 4}, tn::float64, d) + 0.5;
      const Tensor y = w * 2;
      way.into(y);
      const Tensor z = way.beside(w * 2);
      const auto a = tn::grad({(y * y * slope).sum()}, {w}),
                 b = tn::grad({(z * z * slope).sum()}, {w});
      expect_same_bits(a[0], b[0]);
      // One that a gradient still needs is not written unseen.
      const Tensor kept = numbers({5, 4}, tn::float64, d), loss = (w * kept).sum();
      way.into(kept);
      if (std::string(way.name) != "x[none] =")
        expect_error([&] { loss.backward(); }, "was changed in place");
      // A leaf is written without a gradient alone.
      expect_error([&] { way.into(w); }, "leaf");
      const Tensor expected = way.beside(w.detach());
      {
        const tn::NoGrad scope;
        way.into(w);
      }
      expect_same_bits(w.detach(), expected);
    }
  }
}

TEST(IndexInto, WhatIsWrittenMayBeX) {
  load_all();
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = numbers({4, 3}, tn::float32, d), turn = indices({1, 2, 3, 0}, d);
    const Tensor expected = x.index_copy(0, turn, x);
    x.index_copy_(0, turn, x);
    expect_same_bits(x, expected);
    const Tensor i = indices({2, 0, 1, 3}, d), by_itself = i.scatter(0, i, i * 1);
    i.scatter_(0, i, i);
    expect_same_bits(i, by_itself);
  }
}

TEST(IndexInto, WhatIsWrongLeavesXAsItIs) {
  load_all();
  for (const tn::Device d : {tn::Device("cpu"), tn::Device("ref")}) {
    SCOPED_TRACE(d.name());
    const Tensor x = numbers({4, 3}, tn::float32, d), before = x.clone(),
                 rows = tn::ones({3, 3}, {}, d);
    expect_error(
        [&] {
          x.index_copy_(0, indices({0, 1, 4}, d), rows), d.synchronize();
        },
        "index 4");
    expect_same_bits(x, before);
  }
  const Tensor x = tn::zeros({1, 3}).expand({4, 3}), rows = tn::ones({2, 3});
  expect_error(
      [&] {
        x.index_copy_(0, tn::tensor({0, 1}), rows);
      },
      "scatter_: x ([4, 3]) has elements that share memory");
  expect_error(
      [&] {
        tn::zeros({4, 3}).scatter_(0, tn::zeros({2, 3}, tn::int64), tn::zeros({1, 3}));
      },
      "scatter_: src is [1, 3], index is [2, 3]; expected src to be as large along each dimension");
}

// A ring of the last rows, as agents and language models keep them.
TEST(IndexInto, ACompiledStepWritesABuffer) {
  load_all();
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor eager = tn::zeros({6, 2}, {}, d), compiled = tn::zeros({6, 2}, {}, d);
    const auto write = [](const Tensor& buffer, const Tensor& at, const Tensor& row) {
      buffer.index_copy_(0, at, row);
      buffer.index_add_(0, at, row * 0.5);
      return buffer.sum(0);
    };
    auto f = tn::compile([&](Tensor at, Tensor row) { return write(compiled, at, row); });
    for (int64_t step = 0; step < 9; ++step) {
      const Tensor at = indices({step % 6}, d),
                   row = numbers({1, 2}, tn::float32, d) + double(step);
      expect_same_bits(f(at, row), write(eager, at, row));
      expect_same_bits(compiled, eager);
    }
    EXPECT_NE(f.describe().find("1 recordings, 8 replays"), std::string::npos) << f.describe();
  }
}

}  // namespace
