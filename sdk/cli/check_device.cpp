// tenon check: memory, copies, streams and several devices of a backend.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "check.h"

namespace tenon::cli::conformance {
namespace {

// Bytes that are not the same anywhere nearby.
Tensor numbered(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = (i * 7 + i / 251) % 256;
  return Tensor::from(values, {n}).to(uint8);
}

std::vector<Device> of_type(Device device) {
  std::vector<Device> list;
  for (const Device& one : Device::all())
    if (one.value.type == device.value.type) list.push_back(one);
  return list;
}

constexpr int64_t kLengths[] = {0, 1, 3, 511, 512, 513, 4097, (int64_t{1} << 20) + 5};

void allocation(Checks& checks) {
  for (const int64_t n : kLengths) {
    checks.expect(fmt::format("device allocate {} bytes", n), [&](Place& place) {
      const uint64_t before = place.device().memory_allocated();
      {
        std::vector<Tensor> held;
        for (int i = 0; i < 4; ++i) held.push_back(empty({n}, uint8, place.device()));
        for (size_t i = 0; i < held.size(); ++i) {
          held[i].copy_(numbered(n).roll(static_cast<int64_t>(i), 0));
        }
        for (size_t i = 0; i < held.size(); ++i) {
          expect_equal(held[i], numbered(n).roll(static_cast<int64_t>(i), 0),
                       fmt::format("tensor {} of 4 that live together", i));
        }
        const uint64_t live = place.device().memory_allocated();
        if (live < before + uint64_t(4 * n))
          throw Wrong(fmt::format("{} bytes live, expected at least {}", live - before, 4 * n));
      }
      place.device().synchronize();
      const uint64_t after = place.device().memory_allocated();
      if (after != before)
        throw Wrong(fmt::format("{} bytes live at the end, {} did before", after, before));
    });
  }
  checks.expect("device allocate and free in turn", [&](Place& place) {
    for (int round = 0; round < 50; ++round) {
      const int64_t n = 1 + static_cast<int64_t>(place.draw() % 3000000);
      const Tensor x = numbered(std::min<int64_t>(n, 5000)).to(place.device());
      const Tensor rest = empty({n}, uint8, place.device());
      expect_equal(x, numbered(std::min<int64_t>(n, 5000)), fmt::format("round {}", round));
    }
    place.device().empty_cache();
  });
  checks.expect("device peak memory", [&](Place& place) {
    place.device().reset_peak_memory_stats();
    const uint64_t before = place.device().max_memory_allocated();
    { const Tensor x = empty({1 << 20}, uint8, place.device()); }
    if (place.device().max_memory_allocated() < before + (1 << 20))
      throw Wrong("a tensor of 1 MiB is not in the peak");
    place.device().synchronize();
    place.device().reset_peak_memory_stats();
    if (place.device().max_memory_allocated() != place.device().memory_allocated())
      throw Wrong("the peak is not what lives, behind reset_peak_memory_stats");
  });
}

void copies(Checks& checks) {
  for (const int64_t n : kLengths) {
    checks.expect(fmt::format("device copy {} bytes", n), [&](Place& place) {
      const Tensor x = numbered(n).to(place.device());
      expect_equal(x, numbered(n), "to the device and back");
      expect_equal(x.clone(), numbered(n), "cloned on the device");
    });
    if (n < 3) continue;
    checks.expect(fmt::format("device copy {} bytes at an offset", n), [&](Place& place) {
      const Tensor x = numbered(n).to(place.device());
      expect_equal(x.narrow(0, 1, n - 2), numbered(n).narrow(0, 1, n - 2), "a part, to the host");
      const Tensor y = numbered(n).to(place.device());
      y.narrow(0, 1, n - 2).copy_(numbered(n).narrow(0, 0, n - 2));
      expect_equal(y.narrow(0, 1, n - 2), numbered(n).narrow(0, 0, n - 2), "a part, from the host");
      expect_equal(y.narrow(0, 0, 1), numbered(n).narrow(0, 0, 1), "what lies before it");
      expect_equal(y.narrow(0, n - 1, 1), numbered(n).narrow(0, n - 1, 1), "what lies behind it");
    });
  }
  checks.expect("device copy a tensor without dimensions", [&](Place& place) {
    const Tensor x = tensor(2.5, float32);
    expect_equal(x.to(place.device()), x, "a number");
    if (x.to(place.device()).item<float>() != 2.5f) throw Wrong("item() is not 2.5");
  });
  for (const Layout layout : kLayouts) {
    if (layout == Layout::contiguous) continue;
    checks.expect(fmt::format("device copy {}", name_of(layout)), [&](Place& place) {
      const Tensor host =
          Tensor::from(numbered(3 * 5 * 70).to_vector<int64_t>(), {3, 5, 70}).to(float32);
      const Tensor x = place.put(host, layout);
      const Tensor expected =
          layout == Layout::expanded ? host.narrow(0, 0, 1).expand({3, 5, 70}) : host;
      expect_equal(x, expected, "to the host");
      expect_equal(x.contiguous(), expected, "made contiguous on the device");
      if (layout == Layout::expanded) return;
      x.copy_(host + 1);
      expect_equal(x, host + 1, "written from the host");
    });
  }
}

void streams(Checks& checks) {
  checks.expect("device streams in order", [&](Place& place) {
    const Device device = place.device();
    const Stream a(device), b(device);
    if (a.get()->handle == nullptr) fail("the backend has no streams", TN_UNSUPPORTED);
    for (int round = 0; round < 20; ++round) {
      const Tensor host = place.put(full({10000}, double(round)));
      Tensor x, y;
      {
        const StreamGuard guard(a);
        x = host;
        for (int i = 0; i < 10; ++i) x = x + 1;
      }
      {
        const StreamGuard guard(b);
        y = x * 2;
        x.add_(1);  // behind the work of stream b that reads it
      }
      expect_equal(y, full({10000}, 2.0 * (round + 10)), "read on another stream");
      expect_equal(x, full({10000}, double(round + 11)), "written on another stream");
    }
    a.synchronize();
    b.synchronize();
  });
  checks.expect("device streams with freed memory", [&](Place& place) {
    const Stream a(place.device());
    for (int round = 0; round < 20; ++round) {
      Tensor sum = place.put(zeros({50000}));
      {
        const StreamGuard guard(a);
        for (int i = 0; i < 5; ++i) sum = sum + place.put(full({50000}, 1.0 * i));
      }
      const Tensor other = place.put(full({50000}, -1.0));  // may lie where one of them was
      expect_equal(sum, full({50000}, 10.0), "a sum of tensors that are gone");
      expect_equal(other, full({50000}, -1.0), "a tensor that came later");
    }
  });
}

void several(Checks& checks) {
  const std::vector<Device> all = of_type(checks.device());
  if (all.size() < 2) return;
  checks.expect("device copy between two", [&](Place&) {
    for (const int64_t n : kLengths) {
      const Tensor x = numbered(n).to(all[0]), y = x.to(all[1]);
      expect_equal(y, numbered(n), fmt::format("{} bytes to {}", n, all[1].name()));
      expect_equal(y.to(all[0]), numbered(n), fmt::format("{} bytes back", n));
    }
  });
  checks.expect("device compute on two", [&](Place&) {
    Tensor x = zeros({1000}, float32, all[0]);
    for (int i = 0; i < 20; ++i) x = (x + 1).to(all[static_cast<size_t>((i + 1) % 2)]);
    expect_equal(x, full({1000}, 20.0), "a sum that goes to and fro");
  });
}

// Late errors come once, and the device goes on.
void errors(Checks& checks) {
  checks.expect("device an index that is not there", [&](Place& place) {
    const Tensor x = place.tensor({4, 3});
    for (const int64_t wrong : {int64_t{4}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
      const Tensor index = place.put(Tensor::from(std::vector<int64_t>{0, 1, wrong}, {1, 3}));
      bool is_refused = false;
      try {
        const Tensor y = prim::gather(x, 0, index);
        place.device().synchronize();
      } catch (const Error& error) {
        if (error.code() == TN_DEVICE_LOST) throw;
        is_refused = true;
        if (error.code() != TN_INVALID_ARGUMENT) {
          throw Wrong(
              fmt::format("gather of index {} is refused by code {}, expected {} "
                          "(TN_INVALID_ARGUMENT): {}",
                          wrong, error.code(), int(TN_INVALID_ARGUMENT), error.what()));
        }
        if (std::string(error.what()).find(std::to_string(wrong)) == std::string::npos) {
          throw Wrong(fmt::format("the error does not name the index {}: {}", wrong, error.what()));
        }
      }
      if (!is_refused) throw Wrong(fmt::format("gather takes the index {} of 4 rows", wrong));
      const Tensor y = zeros({4, 3}, float32, place.device());
      is_refused = false;
      bool is_late = false;
      try {
        prim::scatter_(y, 0, index, ones({1, 3}, float32, place.device()), false);
        is_late = true;
        place.device().synchronize();
      } catch (const Error& error) {
        if (error.code() == TN_DEVICE_LOST) throw;
        is_refused = true;
      }
      if (!is_refused) throw Wrong(fmt::format("scatter takes the index {} of 4 rows", wrong));
      // Who tells of it later may have written where the indices are right, and nowhere else.
      Tensor expected = zeros({4, 3});
      if (is_late && y[{0, 0}].item() == 1) expected[{0, 0}] = 1;
      if (is_late && y[{1, 1}].item() == 1) expected[{1, 1}] = 1;
      expect_equal(y, expected, "what a scatter that is refused leaves");
      place.device().synchronize();  // each comes once
      expect_equal(x + 1, x.to(cpu) + 1, "a call behind the error");
    }
  });
  checks.expect("device what lies behind a failed launch", [&](Place& place) {
    const Tensor x = place.tensor({4, 3}), ones_there = ones({5}, float32, place.device());
    const Tensor wrong = place.put(Tensor::from(std::vector<int64_t>{0, 4, 1}, {1, 3}));
    const Tensor added = zeros({5}, float32, place.device()), copied = added.clone(),
                 scattered = added.clone(),
                 index = place.put(Tensor::from(std::vector<int64_t>{0, 2, 3}, {3}));
    place.device().synchronize();
    // A device that tells of the index at the call, or at a later one, has done nothing behind it.
    bool is_told = false;
    try {
      prim::gather(x, 0, wrong);
      added.add_(ones_there);
      prim::scatter_(scattered, 0, index, ones_there.narrow(0, 0, 3), false);
      copied.copy_(ones_there);
      place.device().synchronize();
    } catch (const Error& error) {
      if (error.code() != TN_INVALID_ARGUMENT) throw;
      is_told = true;
    }
    if (!is_told) throw Wrong("gather takes the index 4 of 4 rows");
    place.device().synchronize();
    const char* const kAfter = "a launch behind a gather that failed is not passed over";
    expect_equal(added, zeros({5}), fmt::format("{}: add_", kAfter));
    expect_equal(scattered, zeros({5}), fmt::format("{}: scatter_", kAfter));
    expect_equal(copied, zeros({5}), fmt::format("{}: copy_", kAfter));
    added.add_(ones_there);
    expect_equal(added, ones({5}), "add_ when the error was told");
  });
  checks.expect("device more memory than there is", [&](Place& place) {
    try {
      const Tensor x = empty({int64_t{1} << 55}, uint8, place.device());
      throw Wrong("32 PiB were given");
    } catch (const Error& error) {
      if (error.code() != TN_OUT_OF_MEMORY)
        throw Wrong(fmt::format("expected that memory is exhausted: {}", error.what()));
    }
    expect_equal(ones({3}, float32, place.device()), ones({3}), "a call behind the error");
  });
}

}  // namespace

void check_device(Checks& checks) {
  checks.begin("device");
  allocation(checks);
  copies(checks);
  streams(checks);
  several(checks);
  errors(checks);
}

}  // namespace tenon::cli::conformance
