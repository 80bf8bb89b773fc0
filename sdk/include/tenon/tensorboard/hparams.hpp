// What SummaryWriter::add_hparams writes: the hyperparameters of a run, for the page HPARAMS of
// TensorBoard (its tensorboard/plugins/hparams/plugin_data.proto and api.proto). Used by
// tensorboard.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/lists.hpp"
#include "tenon/messages.hpp"
#include "tenon/tensorboard/event_file.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A hyperparameter: a bool, a number, or a text.
struct Hparam {
  std::variant<bool, double, std::string> held;

  template <typename T>
  requires std::is_arithmetic_v<T> Hparam(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      held = value;
    } else {
      held = double(value);
    }
  }
  Hparam(const char* value) : held(std::string(value)) {}
  Hparam(std::string value) : held(std::move(value)) {}
};

struct HparamsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string run_name = {};  // the folder below the writer's; "": the seconds since 1970
  int64_t global_step = 0;    // of the metrics
};

namespace detail {

// Each has a name, and each another one.
template <typename T>
void expect_names(std::string_view method, std::string_view what,
                  const std::vector<std::pair<std::string, T>>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    expect_name(method, what, list[i].first);
    for (size_t k = 0; k < i; ++k) {
      if (list[k].first != list[i].first) continue;
      fail(joined({method, ": ", what, " '", messages::printable(list[i].first),
                   "' is given twice, expected it once"}));
    }
  }
}

// Of Summary.Value the metadata, which say to which page of TensorBoard it belongs.
inline ProtoMessage plugin_summary(std::string_view plugin, const ProtoMessage& content) {
  ProtoMessage data;
  data.bytes(1, plugin);
  if (!content.text().empty()) data.message(2, content);
  return ProtoMessage().message(9, ProtoMessage().message(1, data));
}

// What the page needs, by tag: the experiment, which names the columns, and the session, which has
// the values. PyTorch writes bools as numbers, because they are ints in Python; here they are the
// bools that the page knows.
inline std::vector<std::pair<std::string, ProtoMessage>> hparams_summaries(
    const std::vector<std::pair<std::string, Hparam>>& hparams,
    const std::vector<std::pair<std::string, double>>& metrics) {
  constexpr uint64_t kString = 1, kBool = 2, kFloat64 = 3;  // DataType
  constexpr uint64_t kSuccess = 1;                          // Status
  ProtoMessage experiment, start;
  for (const auto& [name, hparam] : hparams) {
    uint64_t type = kFloat64;
    ProtoMessage value;  // a google.protobuf.Value
    if (const auto* text = std::get_if<std::string>(&hparam.held)) {
      expect_utf8("add_hparams", joined({"the text of '", messages::printable(name), "'"}), *text);
      type = kString;
      value.bytes(3, *text);
    } else if (const auto* flag = std::get_if<bool>(&hparam.held)) {
      type = kBool;
      value.varint(4, *flag);
    } else {
      const double number = std::get<double>(hparam.held);
      if (!std::isfinite(number)) {  // the page makes JSON of them, which has no such numbers
        fail(joined({"add_hparams: '", messages::printable(name), "' is ", number_text(number),
                     ", expected a finite number"}));
      }
      value.number(2, number);
    }
    experiment.message(4, ProtoMessage().bytes(1, name).varint(4, type));
    start.message(1, ProtoMessage().bytes(1, name).message(2, value));
  }
  for (const auto& metric : metrics) {
    const ProtoMessage name = ProtoMessage().bytes(2, metric.first);
    experiment.message(5, ProtoMessage().message(1, name));
  }
  const ProtoMessage end = ProtoMessage().varint(1, kSuccess);
  const auto summary = [](uint32_t field, const ProtoMessage& content) {
    return plugin_summary("hparams", ProtoMessage().message(field, content));
  };
  return {{"_hparams_/experiment", summary(2, experiment)},
          {"_hparams_/session_start_info", summary(3, start)},
          {"_hparams_/session_end_info", summary(4, end)}};
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
