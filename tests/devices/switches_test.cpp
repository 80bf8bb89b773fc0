// TENON_TRACE=launches and TENON_SYNC=1, which CTest sets for this program: each slot and launch is
// printed, and a late error comes at the call that it is about.
#include <cstdlib>

#include "ops_support.h"

namespace {

struct Switches : testing::Test {
  static void SetUpTestSuite() {
    ::setenv("TENON_TRACE", "launches", 0);  // where the test is run by hand
    ::setenv("TENON_SYNC", "1", 0);
    load_all();
  }
  // Lines, of which `parts` are to be in one, in this order.
  static void expect_line(const std::string& text, const std::vector<std::string>& parts) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      size_t at = 0;
      for (const std::string& part : parts) at = at == std::string::npos ? at : line.find(part, at);
      if (at != std::string::npos) return;
    }
    ADD_FAILURE() << "no line with '" << parts.front() << "' and so on in\n" << text;
  }
};

TEST_F(Switches, TracePrintsLaunchesAndSlots) {
  testing::internal::CaptureStderr();
  Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}, "ref:1");
  Tensor y = x + x.t().contiguous().t(), s = tn::matmul(x, x.t()).sum();
  EXPECT_EQ(s.item<float>(), 155);
  const std::string text = testing::internal::GetCapturedStderr();
  expect_line(text, {"tenon trace: ref:1 stream_create"});
  expect_line(text, {"tenon trace: ref:1 allocate ", " bytes: 0x"});
  expect_line(text, {"tenon trace: ref:1 stream ", " copy 24 bytes: cpu 0x", " to ref:1 0x"});
  expect_line(text,
              {"tenon trace: ref:1 stream ",
               " launch add (elementwise of ref): float32[2, 3], float32[2, 3] -> float32[2, 3]"});
  expect_line(text, {"tenon trace: ref:1 stream ",
                     " launch matmul (matmul of ref): float32[1, 2, 3], float32[1, 3, 2] -> "});
  expect_line(text, {"tenon trace: ref:1 stream_synchronize "});
}

TEST_F(Switches, TracePrintsLaunchesOnTheCpu) {
  testing::internal::CaptureStderr();
  Tensor x = tn::ones({4});
  Tensor y = tn::exp(x * 2);
  expect_line(testing::internal::GetCapturedStderr(),
              {"tenon trace: cpu launch exp (elementwise of cpu): float32[4] -> float32[4]"});
}

TEST_F(Switches, SyncBringsALateErrorToItsCall) {
  Tensor x = tn::ones({2, 3}, tn::float32, "ref"), index = tn::full({2, 1}, 9, tn::int64, "ref");
  Tensor y = x * 2;
  expect_error([&] { tn::gather(x, 1, index); },
               "'gather', the only launch since the stream was last waited for");
  EXPECT_EQ(y.sum().item<float>(), 12);
}

TEST_F(Switches, SyncBringsALateErrorToTheReplayOfAGraph) {
  const Tensor x = tn::ones({3}, tn::float32, "ref"), good = tn::arange(0, 3).to("ref");
  auto f = tn::compile([](Tensor t, Tensor index) { return tn::gather(t, 0, index) * 2; });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(f(x, good).sum().item<float>(), 6);
  expect_error([&] { f(x, good + 1); },
               "a replay of the compiled function failed as one graph of ref:0: gradients and "
               "tensors that it writes may be partly written");
  EXPECT_EQ(f(x, good).sum().item<float>(), 6);
  EXPECT_NE(f.describe().find("1 recordings, 4 replays"), std::string::npos) << f.describe();
}

}  // namespace
