// Whatever orders or waits for the work of slow streams is needed: with the calls of one entry of the
// driver left out, ref_slow_test finds wrong values, or the fake driver finds memory that changed too
// early. With none left out it passes.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace {

int result_without(const std::string& entry) {
  ::setenv("TENON_FAKE_CUDA_LEAVE_OUT", entry.c_str(), 1);
  const std::string command =
      "'" + std::string(::getenv("TENON_BUILD_DIR")) + "/bin/ref_slow_test' >/dev/null 2>&1";
  const int result = std::system(command.c_str());
  ::unsetenv("TENON_FAKE_CUDA_LEAVE_OUT");
  return result;
}

TEST(CudaOrder, NeedsEachEntryThatOrdersOrWaits) {
  EXPECT_EQ(result_without("none"), 0);
  for (const char* entry :
       {"cuStreamWaitEvent", "cuStreamSynchronize", "cuEventRecord", "cuEventQuery"})
    EXPECT_NE(result_without(entry), 0) << entry;
}

}  // namespace
