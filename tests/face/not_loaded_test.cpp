// A program that forgot load_plugins(): each first call says so.
#include <sys/resource.h>

#include <string>

#include "in_a_fork.h"
#include "message_of.h"

#include <tenon/tenon.hpp>

#include <gtest/gtest.h>

namespace {

namespace tn = tenon;

TEST(NotLoaded, ErrorsNameTheCallThatIsMissing) {
  const tn::Tensor x = tn::tensor({1.0, 2.0});
  EXPECT_EQ(message_of([&] { tn::relu(x); }),
            "unknown op 'relu': no plugin with ops is loaded; call load_plugins() first");
  EXPECT_EQ(message_of([&] { x + 1; }),
            "unknown op 'add': no plugin with ops is loaded; call load_plugins() first");
  const std::string missing =
      ": no plugin with layers or optimizers is loaded; call load_plugins() first";
  EXPECT_EQ(message_of([&] { tn::nn::Linear(2, 3); }),
            "no layer or optimizer is named 'Linear'" + missing);
  EXPECT_EQ(message_of([&] { tn::optim::Adam({x}); }),
            "no layer or optimizer is named 'Adam'" + missing);
  EXPECT_EQ(message_of([&] { tn::load("weights.safetensors"); }),
            "no layer or optimizer is named 'SafetensorsFile'" + missing);
  EXPECT_EQ(message_of([&] { tn::Device("cuda"); }),
            "unknown device 'cuda'; devices here: cpu; load_plugins() loads what brings others");
  EXPECT_EQ(message_of([&] { tn::Device::best(); }),
            "Device::best: no plugin is loaded, and devices come with plugins; call load_plugins() "
            "first");
  EXPECT_NE(message_of([&] { x.to(tn::float64); }).find("load_plugins() loads the backends"),
            std::string::npos);
}

// Where plugins were looked for, and what was wrong there.
TEST(NotLoaded, ErrorsNameTheFoldersWhereThereIsNone) {
#ifdef TENON_SANITIZE
  GTEST_SKIP() << "the sanitizer opens a pipe to look at an address";
#endif
  const std::string found = in_a_fork([]() -> std::string {
    const tn::Tensor x = tn::tensor({1.0, 2.0});
    const rlimit none{3, 3};  // no file can be opened
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return "no limit";
    tn::load_plugins();
    return message_of([&] { tn::relu(x); }) + "\n" + message_of([&] { tn::nn::Linear(2, 3); });
  });
  const std::string where = "/lib/tenon/plugins (Too many open files)";
  EXPECT_EQ(found.find("unknown op 'relu': load_plugins() found no plugin with ops in /"), 0u)
      << found;
  EXPECT_NE(found.find(where + "\nno layer or optimizer is named 'Linear': load_plugins() found no "
                               "plugin with layers or optimizers in /"),
            std::string::npos)
      << found;
}

// Numbers of a program need no op.
TEST(NotLoaded, TensorsOfNumbersAreThere) {
  EXPECT_EQ(tn::tensor({{{1, 2}}, {{3, 4}}}).to_vector<int64_t>().back(), 4);
  EXPECT_EQ(tn::tensor({1, 2.5}).numel(), 2);
}

}  // namespace
