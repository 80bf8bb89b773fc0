// Event files that TensorBoard shows: numbers, histograms, pictures, texts and hyperparameters by
// name and step. tenon.hpp does not include it.
//
//   SummaryWriter writer("runs/a");
//   writer.add_scalar("loss", loss, step);
//   writer.add_histogram("weight", layer.tensor("weight"), step);
//   writer.add_images("input", batch, step);
//
// The parts are in tensorboard/: the file, and what is written for each kind of value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/messages.hpp"
#include "tenon/tensor.hpp"
#include "tenon/tensorboard/event_file.hpp"
#include "tenon/tensorboard/histogram.hpp"
#include "tenon/tensorboard/hparams.hpp"
#include "tenon/tensorboard/model_graph.hpp"
#include "tenon/tensorboard/picture.hpp"
#include "tenon/tensorboard/pr_curve.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// torch.utils.tensorboard's. One thread at a time. Tensors may lie on any device: what is written
// of them is copied to the host, and the writer keeps none. Tags with '/' are shown in groups.
// Errors name the method and the tag, or the file; one that is about the arguments is thrown before
// anything is written.
class SummaryWriter {
 public:
  // Makes the folder, and a file in it whose name no other writer has. What the folder's older
  // files have of steps from `purge_step` on is hidden: for a training that goes on from there.
  explicit SummaryWriter(const std::string& log_dir, int64_t purge_step = -1)
      : log_dir_(expect_folder(log_dir)), purge_step_(purge_step), file_(log_dir, purge_step) {}

  // Stored as float32, as TensorBoard does.
  void add_scalar(std::string_view tag, double value, int64_t step = 0) {
    expect_ready("add_scalar", tag);
    file_.add(tag, number(value), step);
  }
  // Of one element, which is waited for.
  void add_scalar(std::string_view tag, const Tensor& value, int64_t step = 0) {
    expect_ready("add_scalar", tag);
    if (!value.defined() || value.numel() != 1) {
      fail(detail::joined({"add_scalar: '", messages::printable(tag), "' is ",
                           value.defined() ? data::detail::shown(value) : "None",
                           ", expected a tensor of one element"}));
    }
    add_scalar(tag, value.item<double>(), step);
  }
  // Curves in one chart: add_scalars("loss", {{"train", a}, {"test", b}}, step). As in PyTorch,
  // each has a folder of its own, here runs/a/loss_train and runs/a/loss_test, and keeps a file
  // open there.
  void add_scalars(std::string_view main_tag,
                   const std::vector<std::pair<std::string, double>>& scalars, int64_t step = 0) {
    expect_ready("add_scalars", main_tag);
    detail::expect_names("add_scalars", "the name of a number", scalars);
    std::string prefix(main_tag);
    std::ranges::replace(prefix, '/', '_');
    for (const auto& [name, value] : scalars) {
      const std::string folder = detail::joined({log_dir_, "/", prefix, "_", name});
      series_.try_emplace(folder, folder, purge_step_)
          .first->second.add(main_tag, number(value), step);
    }
  }
  // How the elements of a tensor of any sizes and dtype are distributed. NaN and infinite ones are
  // left out, for TensorBoard draws from the least to the greatest one.
  void add_histogram(std::string_view tag, const Tensor& values, int64_t step = 0,
                     const HistogramBins& bins = "tensorflow") {
    expect_ready("add_histogram", tag);
    file_.add(tag, detail::histogram_summary(tag, values, bins), step);
  }
  // A picture, of uint8, or of floats or bools from 0 to 1, with 1 to 4 channels: gray, gray and
  // alpha, RGB, or RGBA. `dataformats` says which dimension is which: "CHW", "HWC", "HW". It is
  // stored without compression.
  void add_image(std::string_view tag, const Tensor& image, int64_t step = 0,
                 std::string_view dataformats = "CHW") {
    add_picture("add_image", tag, image, step, dataformats);
  }
  // The pictures of a batch as one, in rows of eight.
  void add_images(std::string_view tag, const Tensor& images, int64_t step = 0,
                  std::string_view dataformats = "NCHW") {
    add_picture("add_images", tag, images, step, dataformats);
  }
  // How precision and recall go with the threshold from which a prediction, from 0 to 1, counts as true.
  // Labels are 0 or 1, of any dtype, one for each prediction; weights, if there are any, too.
  void add_pr_curve(std::string_view tag, const Tensor& labels, const Tensor& predictions,
                    int64_t step = 0, const PrCurveOptions& options = {}) {
    expect_ready("add_pr_curve", tag);
    file_.add(tag, detail::pr_curve_summary(tag, labels, predictions, options), step);
  }
  // The calls of one forward in evaluation of a model on these inputs, in folders of its layers, with its
  // parameters. Shown is what backward would walk: nothing of frozen parameters and of indices alone.
  // The model, its buffers, its mode and the inputs are afterwards what they were.
  template <typename... Inputs>
  void add_graph(const Object& model, const Inputs&... inputs) {
    expect_open("add_graph");
    if (!model) fail("add_graph: the model is None");
    file_.add_graph(detail::ModelGraph(model).of({Tensor(inputs)...}));
  }
  // Shown as Markdown. Its tag has "/text_summary" at its end, as PyTorch's.
  void add_text(std::string_view tag, std::string_view text, int64_t step = 0) {
    expect_ready("add_text", tag);
    detail::expect_utf8("add_text", "the text", text);
    constexpr uint64_t kString = 7;  // DataType
    const detail::ProtoMessage size = detail::ProtoMessage().varint(1, 1);
    detail::ProtoMessage tensor, value;
    tensor.varint(1, kString).message(2, detail::ProtoMessage().message(2, size)).bytes(8, text);
    value.message(8, tensor).fields_of(detail::plugin_summary("text", {}));
    file_.add(detail::joined({tag, "/text_summary"}), value, step);
  }
  // A row of the table HPARAMS: the hyperparameters of a training and what came of it, as
  // add_hparams({{"lr", 0.1}, {"optimizer", "Adam"}}, {{"accuracy", 0.9}}). As in PyTorch it is a
  // run of its own, in a folder below the writer's.
  void add_hparams(const std::vector<std::pair<std::string, Hparam>>& hparams,
                   const std::vector<std::pair<std::string, double>>& metrics,
                   const HparamsOptions& options = {}) {
    expect_open("add_hparams");
    detail::expect_names("add_hparams", "the name of a hyperparameter", hparams);
    detail::expect_names("add_hparams", "the name of a metric", metrics);
    const auto summaries = detail::hparams_summaries(hparams, metrics);
    if (!options.run_name.empty()) detail::expect_name("add_hparams", "run_name", options.run_name);
    const std::string name =
        options.run_name.empty() ? detail::number_text(detail::wall_time()) : options.run_name;
    detail::EventFile file((std::filesystem::path(log_dir_) / name).string());
    for (const auto& [tag, value] : summaries) file.add(tag, value, options.global_step);
    for (const auto& [tag, value] : metrics) file.add(tag, number(value), options.global_step);
    file.close();
  }

  // Everything added so far can be read by others afterwards.
  void flush() {
    file_.flush();
    for (auto& [folder, file] : series_) file.flush();
  }
  // Flushes, and ends the files: nothing can be added afterwards. A destructor does the same, but
  // tells of no error. A second time does nothing.
  void close() {
    file_.close();
    for (auto& [folder, file] : series_) file.close();
  }
  const std::string& path() const { return file_.path(); }
  const std::string& get_logdir() const { return log_dir_; }

 private:
  static const std::string& expect_folder(const std::string& log_dir) {
    if (log_dir.empty()) fail("SummaryWriter: log_dir is empty, expected a folder");
    return log_dir;
  }
  static detail::ProtoMessage number(double value) {
    return detail::ProtoMessage().number(2, float(value));
  }
  void expect_open(std::string_view method) const {
    if (file_.is_open()) return;
    fail(detail::joined({method, ": the writer of ", messages::printable(log_dir_),
                         " is closed, expected an open one"}),
         TN_FAILED_PRECONDITION);
  }
  void expect_ready(std::string_view method, std::string_view tag) const {
    expect_open(method);
    detail::expect_name(method, "the tag", tag);
  }
  void add_picture(std::string_view method, std::string_view tag, const Tensor& image, int64_t step,
                   std::string_view dataformats) {
    expect_ready(method, tag);
    const detail::Picture picture = detail::picture_of(method, tag, image, dataformats);
    file_.add(tag, detail::picture_summary(picture), step);
  }

  std::string log_dir_;
  int64_t purge_step_;
  detail::EventFile file_;
  std::map<std::string, detail::EventFile> series_;  // by folder
};

}  // namespace v0
}  // namespace tenon
