// SummaryWriter: its files, read as their format says and by the package tensorboard where it is
// there. Numbers and bytes are those that PyTorch 2.15 and NumPy 2.4 write of the same values.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <tenon/data/images.hpp>
#include <tenon/tenon.hpp>
#include <tenon/tensorboard.hpp>

#include "event_files.h"
#include "files_support.h"

namespace tenon {
namespace {

using event_files::Events, event_files::events_of, event_files::field_of;

constexpr double kNan = NAN, kInf = INFINITY;

struct Tensorboard : files::FilesTest {
  static void SetUpTestSuite() { load_plugins(); }

  // The event files of a folder below this test's, of which there is one.
  Events only(const std::string& folder) const {
    const std::vector<std::string> files = event_files::files_in(path(folder));
    EXPECT_EQ(files.size(), 1u) << folder;
    return events_of(files.at(0));
  }
};

// RFC 3720, B.4.
TEST(SummaryWriter, Crc32cHasTheValuesOfTheStandard) {
  EXPECT_EQ(detail::crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(detail::crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(detail::crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST_F(Tensorboard, NumbersAreWrittenByNameAndStep) {
  SummaryWriter writer(path("runs/a"), 7), other(path("runs/a"));
  EXPECT_NE(writer.path(), other.path());
  EXPECT_EQ(writer.get_logdir(), path("runs/a"));
  writer.add_scalar("loss/train", 0.5, 300);
  writer.add_scalar("x", -1e30, INT64_MAX);
  writer.add_scalar("x", 2, -3);
  writer.flush();
  const Events events = events_of(writer.path());
  EXPECT_EQ(events.version, "brain.Event:2");
  EXPECT_EQ(events.starts, std::vector<int64_t>{7});
  ASSERT_EQ(events.values.size(), 3u);
  EXPECT_EQ(events.values[0].tag, "loss/train");
  EXPECT_EQ(events.values[0].step, 300);
  EXPECT_EQ(events.values[0].number(), 0.5f);
  EXPECT_EQ(events.values[1].step, INT64_MAX);
  EXPECT_EQ(events.values[1].number(), -1e30f);
  EXPECT_EQ(events.values[2].step, -3);
  EXPECT_TRUE(events_of(other.path()).starts.empty());
}

TEST_F(Tensorboard, SeriesHaveFoldersOfTheirOwn) {
  SummaryWriter writer(path("run"), 5);
  for (int step : {5, 6}) {
    writer.add_scalars("loss/all", {{"train", 0.5 * step}, {"test", step}}, step);
  }
  writer.close();
  for (const double factor : {0.5, 1.0}) {
    const Events events = only(factor < 1 ? "run/loss_all_train" : "run/loss_all_test");
    EXPECT_EQ(events.starts, std::vector<int64_t>{5}) << "what is older is hidden there, too";
    ASSERT_EQ(events.values.size(), 2u);
    EXPECT_EQ(events.values[1].tag, "loss/all");
    EXPECT_EQ(events.values[1].step, 6);
    EXPECT_EQ(events.values[1].number(), static_cast<float>(6 * factor));
  }
  EXPECT_TRUE(only("run").values.empty());
}

struct Histogram {
  double min, max, num, sum, squares;
  std::vector<double> limits, counts;
};
struct Histograms : Tensorboard {
  Histogram of(const Tensor& values, const HistogramBins& bins = "tensorflow") const {
    SummaryWriter writer(path("histogram"));
    writer.add_histogram("w", values, 3, bins);
    writer.close();
    const std::string histogram = field_of(events_of(writer.path()).values.at(0).message, 5).bytes;
    const auto number = [&](uint64_t field) {
      return event_files::number_at<double>(field_of(histogram, field).bytes, 0);
    };
    const auto list = [&](uint64_t field) {
      const std::string bytes = field_of(histogram, field).bytes;
      std::vector<double> numbers;
      for (size_t at = 0; at < bytes.size(); at += 8) {
        numbers.push_back(event_files::number_at<double>(bytes, at));
      }
      return numbers;
    };
    return {number(1), number(2), number(3), number(4), number(5), list(6), list(7)};
  }
};
using Numbers = std::vector<double>;

TEST_F(Histograms, HaveTheBinsOfPyTorch) {
  Histogram h = of(Tensor::from({1.f, 1.05f, 1.25f, 1.4f}));
  EXPECT_EQ(h.min, 1);
  EXPECT_EQ(h.max, double(1.4f));
  EXPECT_EQ(h.num, 4);
  EXPECT_DOUBLE_EQ(h.sum, 4.699999928474426);
  EXPECT_DOUBLE_EQ(h.squares, 5.6249998331069975);
  EXPECT_EQ(h.limits, (Numbers{0.917246389039776, 1.0089710279437536, 1.109868130738129,
                               1.220854943811942, 1.3429404381931362, 1.47723448201245}));
  EXPECT_EQ(h.counts, (Numbers{0, 1, 1, 0, 1, 1}));
  h = of(Tensor::from({-2e-12f, 0.f, 0.f, 1e-12f, -1e-12f}));
  EXPECT_EQ(h.limits,
            (Numbers{-2.1435888100000016e-12, -1.9487171000000014e-12, -1.771561000000001e-12,
                     -1.6105100000000008e-12, -1.4641000000000006e-12, -1.3310000000000005e-12,
                     -1.2100000000000003e-12, -1.1000000000000002e-12, -1e-12, 0, 1e-12}));
  EXPECT_EQ(h.counts, (Numbers{0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 3}));
}

TEST_F(Histograms, HaveTheBinsThatAreAskedFor) {
  const Tensor x = Tensor::from({0.5f, -1.f, 2.f, 0.f, 3.f, 0.25f}, {2, 3});
  Histogram h = of(x, 4);
  EXPECT_EQ(h.limits, (Numbers{-1, 0, 1, 2, 3}));
  EXPECT_EQ(h.counts, (Numbers{0, 1, 3, 0, 2}));
  EXPECT_EQ(h.sum, 4.75);
  EXPECT_EQ(h.squares, 14.3125);
  h = of(x, {-1.0, 0.0, 0.5, 2.0});
  EXPECT_EQ(h.limits, (Numbers{-1, 0, 0.5, 2}));
  EXPECT_EQ(h.counts, (Numbers{0, 1, 2, 2}));
  EXPECT_EQ(h.num, 6) << "what is in no bin counts, too";
  h = of(x, Numbers{0, 0, 1, 1});
  EXPECT_EQ(h.limits, (Numbers{0, 1}));
  EXPECT_EQ(h.counts, (Numbers{0, 3}));
  h = of(Tensor::from({2.f, 2.f, 2.f}), 2);
  EXPECT_EQ(h.limits, (Numbers{2, 2.5}));
  EXPECT_EQ(h.counts, (Numbers{0, 3}));
}

// Any dtype, layout and device; of what is not finite nothing is kept.
TEST_F(Histograms, TakeAnyTensor) {
  const Tensor x = Tensor::from({0.5f, -1.f, 2.f, 0.f, 3.f, 0.25f}, {2, 3});
  const Numbers counts{0, 1, 3, 0, 2};
  const Tensor leaf = x.detach().requires_grad_();
  for (const Tensor& same :
       {x.t(), x.to("ref"), x.to(float16), x.to("ref").to(bfloat16).t(), leaf}) {
    EXPECT_EQ(of(same, 4).counts, counts);
  }
  EXPECT_EQ(of(Tensor::from({true, false, true}), 2).counts, (Numbers{0, 1, 2}));
  EXPECT_EQ(of(Tensor::from<int64_t>({-5, 7, 7}), 2).counts, (Numbers{0, 1, 2}));
  const Histogram h = of(Tensor::from({kNan, 1.0, kInf, -kInf, 3.0}), 2);
  EXPECT_EQ(h.num, 2);
  EXPECT_EQ(h.min, 1);
  EXPECT_EQ(h.max, 3);
  EXPECT_EQ(h.sum, 4);
}

struct Pictures : Tensorboard {
  void SetUp() override {
    Tensorboard::SetUp();
    try {
      Object::create("ImageFile", "none");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();  // its plugin is left out where its libraries are not there
    }
  }
  // What the plugin images, another library, reads of the PNG file of an event.
  Tensor decoded(const event_files::Value& value, const char* mode = "RGB") const {
    const std::string image = field_of(value.message, 4).bytes;
    const Tensor picture = data::load_image(write("picture.png", field_of(image, 4).bytes), mode);
    EXPECT_EQ(static_cast<int64_t>(field_of(image, 1).varint), picture.size(1));
    EXPECT_EQ(static_cast<int64_t>(field_of(image, 2).varint), picture.size(2));
    return picture;
  }
  Tensor one(const Tensor& image, const char* dataformats = "CHW") const {
    SummaryWriter writer(path("pictures"));
    if (std::string(dataformats).size() == 4) {
      writer.add_images("x", image, 1, dataformats);
    } else {
      writer.add_image("x", image, 1, dataformats);
    }
    writer.close();
    return decoded(events_of(writer.path()).values.at(0));
  }
};
using Bytes = std::vector<uint8_t>;

TEST_F(Pictures, AreDecodedToTheirPixels) {
  Bytes all(3 * 120 * 250);  // more than one block of the file has
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i * i / 7);
  const Tensor image = Tensor::from(all, {3, 120, 250});
  EXPECT_EQ(one(image).to_vector<uint8_t>(), all);
  EXPECT_EQ(one(image.permute({1, 2, 0}), "HWC").to_vector<uint8_t>(), all);
  EXPECT_EQ(one(image.permute({2, 0, 1}).contiguous().to("ref"), "WCH").to_vector<uint8_t>(), all);
  const Tensor alpha = cat({image, image.slice(0, 0, 1)});
  EXPECT_EQ(one(alpha).to_vector<uint8_t>(), all) << "transparency is left out there";
}

TEST_F(Pictures, OfFloatsAreScaledAndClipped) {
  const Tensor x = Tensor::from({0.0, 1.0, 0.5, 0.999, -3.0, 7.0, kNan, 1 / 255.0}, {2, 4});
  const Bytes row{0, 255, 127, 254, 0, 255, 0, 1};
  Bytes gray;
  for (int channel = 0; channel < 3; ++channel) gray.insert(gray.end(), row.begin(), row.end());
  EXPECT_EQ(one(x, "HW").to_vector<uint8_t>(), gray);
  EXPECT_EQ(one(x.t(), "WH").to_vector<uint8_t>(), gray);
  EXPECT_EQ(one(x.unsqueeze(0)).to_vector<uint8_t>(), gray);
  EXPECT_EQ(one(Tensor::from({0.5f, 1.f}, {1, 2}).to(bfloat16), "HW").to_vector<uint8_t>(),
            (Bytes{127, 255, 127, 255, 127, 255}));
  EXPECT_EQ(one(Tensor::from({true, false}, {1, 2}), "HW").to_vector<uint8_t>(),
            (Bytes{255, 0, 255, 0, 255, 0}));
}

TEST_F(Pictures, OfABatchStandInRowsOfEight) {
  const Tensor x =
      Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f}, {9, 1, 1, 1}) / 255.f;
  const Tensor wide = (x + 0.1f / 255).expand({9, 1, 1, 2}).contiguous();
  const Tensor picture = one(wide, "NCHW");
  EXPECT_EQ(picture.sizes(), (Ints{3, 2, 16}));
  const Bytes first{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8}, second{9, 9, 0, 0};
  const Bytes bytes = picture.to_vector<uint8_t>();
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 16), first);
  EXPECT_EQ(Bytes(bytes.begin() + 16, bytes.begin() + 20), second);
  EXPECT_EQ(one(wide.permute({0, 2, 3, 1}), "NHWC").to_vector<uint8_t>(), bytes);
}

std::string to_hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[c & 15];
  }
  return text;
}

TEST_F(Tensorboard, TextIsWrittenAsPyTorchDoes) {
  SummaryWriter writer(path("run"));
  writer.add_text("notes", "**bold** \xc3\xa4", 4);
  writer.close();
  const Events events = events_of(writer.path());
  EXPECT_EQ(events.values.at(0).step, 4);
  EXPECT_EQ(to_hex(events.values.at(0).message),
            "0a126e6f7465732f746578745f73756d6d61727942150807120412020801420b2a2a626f6c642a2a20c3a4"
            "4a080a060a0474657874");
}

TEST_F(Tensorboard, HyperparametersAreWrittenAsPyTorchDoes) {
  SummaryWriter writer(path("run"));
  writer.add_hparams({{"lr", 0.5}, {"opt", "Adam"}}, {{"accuracy", 0.75}},
                     {.run_name = "trial", .global_step = 9});
  const Events events = only("run/trial");
  ASSERT_EQ(events.values.size(), 4u);
  EXPECT_EQ(
      to_hex(events.values[0].message),
      "0a145f68706172616d735f2f6578706572696d656e744a2e0a2c0a0768706172616d731221121f22060a026c72"
      "200322070a036f707420012a0c0a0a12086163637572616379");
  EXPECT_EQ(
      to_hex(events.values[1].message),
      "0a1c5f68706172616d735f2f73657373696f6e5f73746172745f696e666f4a2f0a2d0a0768706172616d7312"
      "221a200a0f0a026c72120911000000000000e03f0a0d0a036f707412061a044164616d");
  EXPECT_EQ(
      to_hex(events.values[2].message),
      "0a1a5f68706172616d735f2f73657373696f6e5f656e645f696e666f4a110a0f0a0768706172616d73120422"
      "020801");
  EXPECT_EQ(events.values[3].tag, "accuracy");
  EXPECT_EQ(events.values[3].step, 9);
  EXPECT_EQ(events.values[3].number(), 0.75f);
  EXPECT_TRUE(only("run").values.empty());
}

TEST_F(Tensorboard, AWriterThatIsClosedSaysSo) {
  SummaryWriter writer(path("run"));
  const Tensor x = zeros({3, 2, 2});
  writer.add_scalars("loss", {{"a", 1}}, 0);
  writer.close();
  writer.close();
  writer.flush();
  const std::string closed = "run is closed, expected an open one";
  EXPECT_SAYS(writer.add_scalar("x", 1, 0), "add_scalar: the writer of ");
  EXPECT_SAYS(writer.add_scalar("x", 1, 0), closed);
  EXPECT_SAYS(writer.add_scalars("loss", {{"a", 1}}, 0), closed);
  EXPECT_SAYS(writer.add_histogram("x", x, 0), closed);
  EXPECT_SAYS(writer.add_image("x", x, 0), closed);
  EXPECT_SAYS(writer.add_images("x", x.unsqueeze(0), 0), closed);
  EXPECT_SAYS(writer.add_text("x", "", 0), closed);
  EXPECT_SAYS(writer.add_hparams({{"lr", 1}}, {}), closed);
}

TEST_F(Tensorboard, WhatCannotBeWrittenIsRefusedWithItsReason) {
  write("file", "");
  EXPECT_SAYS(SummaryWriter(path("file")), "file: the folder cannot be made: ");
  EXPECT_SAYS(SummaryWriter(path("run"), -2),
              "run: purge_step is -2, expected a step from 0 on, or -1");
  SummaryWriter writer(path("run"));
  const Tensor x = zeros({3, 2, 2});
  EXPECT_SAYS(writer.add_scalar("", 1, 0), "add_scalar: the tag is empty, expected a name");
  EXPECT_SAYS(writer.add_scalar("a\xff", 1, 0),
              "add_scalar: the tag 'a\\xff' is no UTF-8 at byte 1; expected UTF-8");
  EXPECT_SAYS(writer.add_text("", "text", 0), "add_text: the tag is empty, expected a name");
  EXPECT_SAYS(writer.add_scalar(std::string("a\0b", 3), 1, 0), "expected one without NUL bytes");
  EXPECT_SAYS(writer.add_hparams({{"lr", 1.0}}, {}, {.run_name = std::string("a\0b", 3)}),
              "add_hparams: run_name is '");
  EXPECT_SAYS(writer.add_text("x", "\xc3", 0),
              "add_text: the text '\\xc3' is no UTF-8 at byte 0; expected UTF-8");
  EXPECT_SAYS(writer.add_scalars("", {{"a", 1}}, 0), "add_scalars: the tag is empty");
  EXPECT_SAYS(writer.add_scalars("x", {{"a", 1}, {"", 1}}, 0),
              "add_scalars: the name of a number is empty, expected a name");
  EXPECT_SAYS(writer.add_scalars("x", {{"a", 1}, {"a", 2}}, 0),
              "add_scalars: the name of a number 'a' is given twice, expected it once");
  EXPECT_SAYS(writer.add_hparams({{"lr", 1}, {"lr", 2}}, {}),
              "add_hparams: the name of a hyperparameter 'lr' is given twice");
  EXPECT_SAYS(writer.add_hparams({}, {{"", 1}}), "add_hparams: the name of a metric is empty");
  EXPECT_SAYS(writer.add_hparams({{"lr", kNan}}, {}),
              "add_hparams: 'lr' is nan, expected a finite number");
  EXPECT_SAYS(writer.add_hparams({{"a", "\xff"}}, {}),
              "add_hparams: the text of 'a' '\\xff' is no");

  EXPECT_SAYS(writer.add_histogram("w", zeros({0, 2}), 0),
              "add_histogram: 'w' is float32 [0, 2] and has no values, expected at least one");
  EXPECT_SAYS(
      writer.add_histogram("w", Tensor::from({kNan, kInf}), 0),
      "add_histogram: 'w' is float64 [2] and all its values are NaN or infinite, expected a "
      "finite one");
  EXPECT_SAYS(
      writer.add_histogram("w", Tensor::from({1e25, 1e30}), 0),
      "'w' is float64 [2] with values from 1e+25 to 1e+30, none of which is in the bins from -");
  EXPECT_SAYS(writer.add_histogram("w", x, 0, "fd"),
              "add_histogram: bins is 'fd', expected \"tensorflow\", a count of bins, or a list of "
              "edges");
  EXPECT_SAYS(writer.add_histogram("w", x, 0, 0),
              "add_histogram: bins is 0, expected from 1 to 1048576");
  EXPECT_SAYS(writer.add_histogram("w", x, 0, Numbers{1}),
              "add_histogram: bins has 1 edges, expected at least 2");
  EXPECT_SAYS(writer.add_histogram("w", x, 0, {0.0, 2.0, 1.0}),
              "add_histogram: edge 2 of bins is 1 behind 2, expected edges in order");
  EXPECT_SAYS(writer.add_histogram("w", x, 0, {0.0, kNan}), "edge 1 of bins is nan behind 0");
  EXPECT_SAYS(writer.add_histogram("w", Tensor(), 0), "the tensor is None");

  EXPECT_SAYS(
      writer.add_image("x", x.to(int64), 0),
      "add_image: 'x' is int64 [3, 2, 2] with the dataformats 'CHW', expected uint8 from 0 to "
      "255, or floats or bools from 0 to 1");
  EXPECT_SAYS(
      writer.add_image("x", x.unsqueeze(0), 0),
      "add_image: 'x' is float32 [1, 3, 2, 2] with the dataformats 'CHW', expected a dimension "
      "for each letter");
  EXPECT_SAYS(writer.add_image("x", zeros({8, 8, 3}), 0),
              "expected 1 to 4 channels: gray, gray and alpha, RGB, or RGBA");
  EXPECT_SAYS(
      writer.add_images("x", zeros({0, 3, 2, 2}), 0),
      "add_images: 'x' is float32 [0, 3, 2, 2] with the dataformats 'NCHW', expected at least "
      "one pixel");
  for (const char* format : {"", "CWX", "CHH", "HHW", "CH", "chw"}) {
    EXPECT_SAYS(
        writer.add_image("x", x, 0, format),
        std::string("add_image: dataformats is '") + format +
            "', expected H, W and perhaps C and N in the order of the dimensions, as 'CHW', "
            "'HWC', 'HW' or 'NCHW'");
  }
  writer.close();
  EXPECT_TRUE(only("run").values.empty()) << "what is refused leaves nothing";
  EXPECT_EQ(std::distance(files::fs::directory_iterator(path("run")), {}), 1);
}

// The reader of the package itself, where it is there.
TEST_F(Tensorboard, ThePackageReadsIt) {
  const char* python = ::getenv("TENON_TENSORBOARD_PYTHON");
  const std::string interpreter = python == nullptr ? "python3" : python;
  if (std::system((interpreter + " -c 'import tensorboard' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "the package tensorboard is not there (TENON_TENSORBOARD_PYTHON names a python "
                    "that has it)";
  SummaryWriter writer(path("run"));
  writer.add_scalar("loss", 0.5, 3);
  writer.add_scalar("loss", 0.25, -4);
  writer.add_scalars("both", {{"a", 1}, {"b", 2}}, 1);
  writer.add_histogram("w", Tensor::from({1.f, 1.05f, 1.25f, 1.4f}), 2, {1.0, 1.1, 1.2, 1.5});
  writer.add_image("rgba", Tensor::from<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 1, 2}), 6);
  writer.add_text("notes", "a *b*", 7);
  writer.add_graph(nn::Sequential(nn::Linear(2, 3), nn::ReLU()), randn({1, 2}));
  writer.add_hparams({{"lr", 0.5}, {"opt", "Adam"}, {"nesterov", true}}, {{"accuracy", 0.75}},
                     {.run_name = "trial"});
  writer.close();
  const std::string script = write("read.py", R"(
import sys
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2

def run(name):
    events = event_accumulator.EventAccumulator(sys.argv[1] + name)
    events.Reload()
    return events

events = run("")
for e in events.Scalars("loss"): print(e.step, e.value)
for name in "ab":
    for e in run("/both_" + name).Scalars("both"): print(name, e.step, e.value)
for e in events.Histograms("w"):
    h = e.histogram_value
    print(e.step, h.min, h.num, h.bucket_limit, h.bucket)
for e in events.Images("rgba"):
    print(e.step, e.width, e.height, e.encoded_image_string[:8])
    try:
        import io
        from PIL import Image
        pixels = Image.open(io.BytesIO(e.encoded_image_string))
        assert pixels.mode == "RGBA", pixels.mode
        assert pixels.tobytes() == bytes([1, 3, 5, 7, 2, 4, 6, 8]), pixels.tobytes()
    except ImportError:
        pass
for e in events.Tensors("notes/text_summary"): print(e.step, e.tensor_proto.string_val[:])
print(dict(events.summary_metadata)["notes/text_summary"].plugin_data.plugin_name)
for node in events.Graph().node: print(node.name, node.op, *node.input, *[d.size for s in node.attr["_output_shapes"].list.shape for d in s.dim])
trial = run("/trial")
for tag in trial.PluginTagToContent("hparams"):
    data = plugin_data_pb2.HParamsPluginData.FromString(trial.PluginTagToContent("hparams")[tag])
    print(tag, data.WhichOneof("data"), sorted((k, v.WhichOneof("kind")) for k, v in data.session_start_info.hparams.items()))
print(trial.Scalars("accuracy")[0].value)
)");
  ASSERT_EQ(std::system((interpreter + " " + script + " " + path("run") + " >" + path("out") +
                         " 2>" + path("err"))
                            .c_str()),
            0)
      << bytes_of(path("err"));
  EXPECT_EQ(bytes_of(path("out")), R"(3 0.5
-4 0.25
a 1 1.0
b 1 2.0
2 1.0 4.0 [1.0, 1.1, 1.2, 1.5] [0.0, 2.0, 0.0, 2.0]
6 2 1 b'\x89PNG\r\n\x1a\n'
7 [b'a *b*']
text
output/0 Output Sequential/1/relu 1 3
Sequential/1/relu relu Sequential/0/linear
Sequential/0/linear linear input/0 Sequential/0/weight Sequential/0/bias
Sequential/0/bias Parameter 3
Sequential/0/weight Parameter 3 2
input/0 Input 1 2
_hparams_/experiment experiment []
_hparams_/session_start_info session_start_info [('lr', 'number_value'), ('nesterov', 'bool_value'), ('opt', 'string_value')]
_hparams_/session_end_info session_end_info []
0.75
)");
}

}  // namespace
}  // namespace tenon
