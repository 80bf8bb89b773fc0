// Values between devices, on every path, with streams that are slow and freed memory that is
// poisoned (both from CTest): what is freed, changed or read too early shows. Expected values are
// those of the same call on the cpu.
#include <cstdlib>
#include <functional>

#include "ops_support.h"
#include "plugin_folder.h"

namespace {

// Four places: the cpu, two devices of one type, and one of another type, the same machine below
// (tests/plugins/frail.cpp).
std::vector<tn::Device> places() {
  static const std::vector<tn::Device> all = [] {
    ::setenv("TENON_REF_SLOW_US", "100", 0);  // where the test is run by hand
    ::setenv("TENON_POISON", "1", 0);
    load_all();
    static tn::testing::Folder folder;
    tn::check(tn::detail::api.plugin->load(folder.place("frail").c_str()));
    const std::string second = second_device();
    return std::vector<tn::Device>{tn::cpu, tn::Device(second + ":0"), tn::Device(second + ":1"),
                                   tn::Device("frail0:0")};
  }();
  return all;
}

struct Transfer : testing::Test {
  static void SetUpTestSuite() { places(); }
};

struct Layout {
  const char* name;
  std::vector<int64_t> base;  // of the tensor that owns the memory
  std::function<Tensor(const Tensor&)> view;
};

// All of sizes [3, 4].
const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"row-major", {3, 4}, [](const Tensor& t) { return t; }},
      {"transposed", {4, 3}, [](const Tensor& t) { return t.t(); }},
      {"offset", {5, 4}, [](const Tensor& t) { return t.narrow(0, 2, 3); }},
      {"offset and stepped",
       {4, 9},
       [](const Tensor& t) { return t.narrow(0, 1, 3).slice(1, 1, 9, 2); }},
  };
  return all;
}

// Those that are no destination, and those that broadcast to [3, 4].
const std::vector<Layout>& sources() {
  static const std::vector<Layout> all = [] {
    std::vector<Layout> list = layouts();
    list.push_back({"expanded", {3, 1}, [](const Tensor& t) { return t.expand({3, 4}); }});
    list.push_back({"a row", {4}, [](const Tensor& t) { return t; }});
    list.push_back({"a column, transposed", {1, 3}, [](const Tensor& t) { return t.t(); }});
    list.push_back({"one number", {}, [](const Tensor& t) { return t; }});
    return list;
  }();
  return all;
}

// Values of its own, made with work that is still to be done on a device.
Tensor numbers(const std::vector<int64_t>& sizes, tn::Dtype dtype, tn::Device device) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(double(3 * i % 17));
  return tn::add(Tensor::from(values, sizes, device).to(dtype), 1);
}

// Takes what was freed just now, so that who still reads it reads this.
void fill_freed(tn::Device device) {
  if (device.type() == "cpu") return;
  for (int i = 0; i < 3; ++i) tn::full({3, 4}, -77, tn::float64, device);
  for (int i = 0; i < 3; ++i) tn::full({3, 4}, -77, tn::float32, device);
}

// The whole memory of the destination after the copy.
std::vector<double> copied(const Layout& from, tn::Dtype from_dtype, tn::Device from_device,
                           const Layout& to, tn::Dtype to_dtype, tn::Device to_device) {
  Tensor into = tn::full(tn::Ints(to.base), -5, to_dtype, to_device);
  {
    Tensor source = from.view(numbers(from.base, from_dtype, from_device));
    to.view(into).copy_(source);
  }
  fill_freed(from_device);
  fill_freed(to_device);
  return into.to(tn::cpu).to_vector<double>();
}

TEST_F(Transfer, CopiesBetweenAllDevicesLayoutsAndDtypes) {
  const std::vector<std::pair<tn::Dtype, tn::Dtype>> dtypes = {
      {tn::float32, tn::float32}, {tn::float32, tn::float64}, {tn::int64, tn::float32}};
  for (const auto& [from_dtype, to_dtype] : dtypes) {
    for (const Layout& from : sources()) {
      for (const Layout& to : layouts()) {
        const std::vector<double> expected =
            copied(from, from_dtype, tn::cpu, to, to_dtype, tn::cpu);
        for (tn::Device a : places()) {
          for (tn::Device b : places()) {
            if (a.type() == "cpu" && b.type() == "cpu") continue;
            EXPECT_EQ(copied(from, from_dtype, a, to, to_dtype, b), expected)
                << from.name << " of " << a.name() << " to " << to.name << " of " << b.name()
                << ", " << from_dtype.name() << " to " << to_dtype.name();
          }
        }
      }
    }
  }
}

TEST_F(Transfer, MakesNewTensorsOnAllDevices) {
  for (const Layout& from : sources()) {
    const std::vector<double> expected =
        from.view(numbers(from.base, tn::float32, tn::cpu)).to_vector<double>();
    for (tn::Device a : places()) {
      for (tn::Device b : places()) {
        for (tn::Dtype dtype : {tn::float32, tn::float64}) {
          Tensor made = from.view(numbers(from.base, tn::float32, a)).to(b, dtype);
          fill_freed(a);
          fill_freed(b);
          EXPECT_EQ(made.to_vector<double>(), expected)
              << from.name << " of " << a.name() << " to " << b.name();
        }
      }
    }
  }
}

TEST_F(Transfer, ReadsAndWritesWhatEveryLayoutHolds) {
  for (tn::Device device : places()) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(device.name() + std::string(", ") + layout.name);
      std::vector<float> values(12);
      for (size_t i = 0; i < 12; ++i) values[i] = float(i) * 3;
      const std::vector<float> expected = values;
      Tensor base = tn::full(tn::Ints(layout.base), -5, tn::float32, device),
             view = layout.view(base);
      tn::check(tn::detail::api.tensor->write(view.get(), values.data(), 48));
      std::ranges::fill(values, -1.f);  // the memory is the caller's again
      fill_freed(device);
      EXPECT_EQ(view.to_vector<float>(), expected);
      tn::check(tn::detail::api.tensor->read(view.get(), values.data(), 48));
      EXPECT_EQ(values, expected);
      EXPECT_EQ(view.slice(0, 2, 3).slice(1, 3, 4).item<float>(), 33);
      EXPECT_EQ(view.sum().item<double>() + 5 * (base.numel() - 12),
                base.sum().item<double>() + 10 * (base.numel() - 12));
    }
  }
}

// The source of an upload is the caller's again, however it came: memory, a tensor of the cpu, a
// list.
TEST_F(Transfer, UploadsWhatWasThereAtTheCall) {
  for (tn::Device device : places()) {
    if (device.type() == "cpu") continue;
    std::vector<Tensor> made;
    for (int i = 0; i < 20; ++i) {
      Tensor host = tn::full({64}, i, tn::float32);
      made.push_back(host.to(device));
      tn::fill_(host, -1);
      made.push_back(Tensor::from(std::vector<float>(64, float(i)), -1, device));
      made.push_back(tn::full({64}, -3, tn::float32, device));
      made.back().copy_(tn::full({64}, i, tn::float32));
    }
    for (size_t i = 0; i < made.size(); ++i)
      EXPECT_EQ(made[i].to_vector<float>(), std::vector<float>(64, float(i / 3)));
  }
}

TEST_F(Transfer, LargeUploadsToo) {
  for (tn::Device device : places()) {
    std::vector<float> values(500'000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 1000);
    Tensor x = Tensor::from(values, -1, device);
    const std::vector<float> expected = values;
    std::ranges::fill(values, 0.f);
    EXPECT_EQ(x.to_vector<float>(), expected) << device.name();
  }
}

// Last: the backend has seen no touch of memory that was not the toucher's.
TEST_F(Transfer, ShutdownFindsEverythingInOrder) {
  for (tn::Device device : places()) device.synchronize();
  tn_status* status = tn::detail::api.plugin->shutdown();
  EXPECT_EQ(status, nullptr) << tn::host()->status_message(status);
}

}  // namespace
