// SummaryWriter::add_pr_curve, whose numbers and bytes are those that PyTorch 2.15 writes of the same
// values, and what SummaryWriter refuses by name.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>
#include <tenon/tensorboard.hpp>

#include "event_files.h"
#include "files_support.h"

namespace tenon {
namespace {

using event_files::events_of, event_files::field_of;

struct PrCurve : files::FilesTest {
  static void SetUpTestSuite() { load_plugins(); }

  const Tensor labels = Tensor::from({1, 0, 1, 1, 0, 1, 0}),
               predictions = Tensor::from({0.9, 0.8, 0.7, 0.5, 0.25, 0.1, 0.0});
};

std::vector<float> floats_of(const std::string& message) {
  const std::string bytes = field_of(field_of(message, 8).bytes, 5).bytes;
  std::vector<float> list;
  for (size_t at = 0; at < bytes.size(); at += 4)
    list.push_back(event_files::number_at<float>(bytes, at));
  return list;
}

TEST_F(PrCurve, HasTheNumbersOfPyTorch) {
  SummaryWriter writer(path("run"));
  writer.add_pr_curve("c", labels, predictions, 3, {.num_thresholds = 5});
  writer.add_pr_curve(
      "c", labels.to(float32), predictions.to(float32), 4,
      {.num_thresholds = 5, .weights = Tensor::from({1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 1.0})});
  writer.add_pr_curve("all", labels > 0, predictions);
  writer.close();
  const event_files::Events events = events_of(writer.path());
  ASSERT_EQ(events.values.size(), 3u);
  EXPECT_EQ(events.values[0].step, 3);
  EXPECT_EQ(floats_of(events.values[0].message), (std::vector<float>{4,
                                                                     3,
                                                                     3,
                                                                     1,
                                                                     0,
                                                                     3,
                                                                     2,
                                                                     1,
                                                                     1,
                                                                     0,
                                                                     0,
                                                                     1,
                                                                     2,
                                                                     2,
                                                                     3,
                                                                     0,
                                                                     1,
                                                                     1,
                                                                     3,
                                                                     4,
                                                                     0.5714285969734192f,
                                                                     0.6000000238418579f,
                                                                     0.75f,
                                                                     0.5f,
                                                                     0,
                                                                     1,
                                                                     0.75f,
                                                                     0.75f,
                                                                     0.25f,
                                                                     0}));
  EXPECT_EQ(floats_of(events.values[1].message), (std::vector<float>{4,
                                                                     3,
                                                                     3,
                                                                     1,
                                                                     0,
                                                                     3.5f,
                                                                     2.5f,
                                                                     2,
                                                                     2,
                                                                     0,
                                                                     0,
                                                                     1,
                                                                     1.5f,
                                                                     1.5f,
                                                                     3.5f,
                                                                     0,
                                                                     1,
                                                                     1,
                                                                     3,
                                                                     4,
                                                                     0.5333333611488342f,
                                                                     0.5454545617103577f,
                                                                     0.6000000238418579f,
                                                                     0.3333333432674408f,
                                                                     0,
                                                                     1,
                                                                     0.75f,
                                                                     0.75f,
                                                                     0.25f,
                                                                     0}));
  // Of what is no number: the dtype, the sizes [6, 5], and the plugin with its count.
  const std::string& message = events.values[0].message;
  EXPECT_EQ(message.substr(0, 20),
            std::string("\n\001cB\206\001\010\001\022\010\022\002\010\006\022\002\010\005*x"));
  EXPECT_EQ(message.substr(message.size() - 19),
            std::string("J\021\n\017\n\tpr_curves\022\002\020\005"));
  EXPECT_EQ(floats_of(events.values[2].message).size(), 6u * 127);
}

// numpy.histogram, by which PyTorch counts, leaves out what is beyond its range.
// Of float32 0.1, 0.2 .. the products with 10 are whole, as in PyTorch; in float64 0.7 is below 7.
TEST_F(PrCurve, FloatsAreCountedInFloats) {
  const Tensor p = arange(11).to(float32) / 10, l = (p > 0.45).to(float32);
  SummaryWriter writer(path("floats"));
  writer.add_pr_curve("c", l, p, 0, {.num_thresholds = 11});
  writer.close();
  const event_files::Events events = events_of(writer.path());
  ASSERT_EQ(events.values.size(), 1u);
  std::vector<float> positives = floats_of(events.values[0].message);
  positives.resize(11);
  EXPECT_EQ(positives, (std::vector<float>{6, 6, 6, 6, 6, 6, 5, 4, 3, 2, 1}));
}

TEST_F(PrCurve, PredictionsBeyondTheThresholdsAreLeftOut) {
  EXPECT_EQ(detail::pr_curve({1, 1, 1, 0}, {-0.5, 2.5, NAN, 1}, {}, 2),
            (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(PrCurve, TheWriterNamesWhatItRefuses) {
  SummaryWriter writer(path("run"));
  EXPECT_SAYS(writer.add_pr_curve("c", labels, zeros({2})),
              "add_pr_curve: 'c': labels is int32 [7], expected one for each prediction of "
              "float32 [2]");
  EXPECT_SAYS(writer.add_pr_curve("c", labels, predictions, 0, {.weights = zeros({2})}),
              "add_pr_curve: 'c': weights is float32 [2], expected one for each prediction");
  EXPECT_SAYS(writer.add_pr_curve("c", labels, predictions, 0, {.num_thresholds = 0}),
              "add_pr_curve: 'c': num_thresholds is 0, expected at least 1");
  EXPECT_SAYS(writer.add_pr_curve("c", Tensor(), predictions), "'c': labels is None");
  EXPECT_SAYS(writer.add_pr_curve("c", labels, Tensor()), "'c': predictions is None");
  EXPECT_SAYS(writer.add_scalar("a", zeros({2})),
              "add_scalar: 'a' is float32 [2], expected a tensor of one element");
  EXPECT_SAYS(writer.add_scalar("a", Tensor()), "add_scalar: 'a' is None");
  EXPECT_SAYS(SummaryWriter(""), "SummaryWriter: log_dir is empty, expected a folder");
  writer.close();
  EXPECT_TRUE(events_of(writer.path()).values.empty());
}

TEST_F(PrCurve, ThePackageReadsIt) {
  const char* python = ::getenv("TENON_TENSORBOARD_PYTHON");
  const std::string interpreter = python == nullptr ? "python3" : python;
  if (std::system((interpreter + " -c 'import tensorboard' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "the package tensorboard is not there (TENON_TENSORBOARD_PYTHON names a python "
                    "that has it)";
  SummaryWriter writer(path("run"));
  writer.add_pr_curve("c", labels, predictions, 3, {.num_thresholds = 5});
  writer.close();
  const std::string script = write("read.py", R"(
import sys
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.pr_curve import metadata
from tensorboard.util import tensor_util
events = event_accumulator.EventAccumulator(sys.argv[1])
events.Reload()
content = events.SummaryMetadata("c").plugin_data.content
print(metadata.parse_plugin_metadata(content).num_thresholds)
for e in events.Tensors("c"): print(e.step, tensor_util.make_ndarray(e.tensor_proto)[:2].tolist())
)");
  ASSERT_EQ(std::system((interpreter + " " + script + " " + path("run") + " >" + path("out") +
                         " 2>" + path("err"))
                            .c_str()),
            0)
      << bytes_of(path("err"));
  EXPECT_EQ(bytes_of(path("out")), "5\n3 [[4.0, 3.0, 3.0, 1.0, 0.0], [3.0, 2.0, 1.0, 1.0, 0.0]]\n");
}

}  // namespace
}  // namespace tenon
