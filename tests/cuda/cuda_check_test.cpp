// `tenon check cuda` on the tests' own driver: memory, streams, errors, and the primitives whose
// texts are kept, but for few.
#include "cli_support.h"

namespace {

struct CudaCheck : cli::CliTest {};

TEST_F(CudaCheck, ThePrimitivesPass) {
  for (const std::string cases : {"scan ", "sort float32", "matmul ", "copy float32", "copy bool",
                                  "fill ", "iota ", "random_bits", " by [", "nonzero float32 ["}) {
    const cli::Outcome run = tenon("check cuda --only '" + cases + "'");
    EXPECT_EQ(run.code, 0) << cases << run.out << run.err;
    EXPECT_EQ(cli::last_line(run.out), "nothing failed") << cases;
    EXPECT_EQ(run.out.find("not there, which"), run.out.npos) << run.out;
  }
}

// A stream of the driver's passes over nothing; all else of a device is as it should be.
TEST_F(CudaCheck, WorkBehindAWrongIndexIsTheOnlyFailure) {
  const cli::Outcome run = tenon("check cuda --only 'device '");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_HAS(run.out, "\ndevice what lies behind a failed launch\n");
  EXPECT_EQ(cli::last_line(run.out), "1 case failed") << run.out;
}

}  // namespace
