// A program that flushes denormals on its own thread alone, behind the first use of others: all of a result
// is as that thread computes.
#include "ops_support.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

namespace {

constexpr unsigned kFlushes = 0x8040;  // FTZ and DAZ

struct FloatModes : testing::Test {
  static void SetUpTestSuite() { load_all(); }
  // How many of the elements are 0.
  static int64_t zeros_of(const Tensor& t) { return (t == 0).sum().item<int64_t>(); }
};

TEST_F(FloatModes, AreTheCallersOnAllThreads) {
  const Tensor w = tn::ones({700, 700});
  tn::matmul(w, w);  // the threads are there
  const Tensor small = tn::full({700, 700}, 1e-30f), factor = tn::full({700, 700}, 1e-10f);
  const unsigned before = _mm_getcsr();
  for (const bool flushes : {false, true, false}) {
    SCOPED_TRACE(flushes);
    _mm_setcsr(flushes ? before | kFlushes : before);
    const Tensor all[] = {small * factor, tn::matmul(small, factor), tn::exp(w * -90)};
    _mm_setcsr(before);
    for (const Tensor& t : all) EXPECT_EQ(zeros_of(t), flushes ? t.numel() : 0);
  }
}

}  // namespace
#endif
