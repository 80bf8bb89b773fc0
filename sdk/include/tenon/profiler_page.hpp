// What a profile looks like: shapes and floating point operations of an event, the table, the trace,
// and the page. Used by profiler.hpp alone.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/dtype.hpp"
#include "tenon/messages.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

inline double count_of(const tn_tensor* t) {
  double count = 1;
  for (int32_t d = 0; d < t->ndim; ++d) count *= static_cast<double>(t->sizes[d]);
  return count;
}
// From the end on: 1 is the last dimension. 1 where there are fewer.
inline double size_from_end(const tn_tensor* t, int32_t d) {
  return t->ndim >= d ? static_cast<double>(t->sizes[t->ndim - d]) : 1;
}

inline void add_shape(std::string* text, const tn_tensor* t) {
  if (t == nullptr) return;
  if (!text->empty()) *text += ", ";
  *text += "[";
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (d > 0) *text += ", ";
    *text += std::to_string(t->sizes[d]);
  }
  *text += "] ";
  *text += Dtype{t->dtype}.name();
}
inline std::string profile_shapes(const tn_profile_event& e) {
  constexpr uint32_t kMost = 8;  // tensors of a list
  std::string text;
  for (uint32_t i = 0; i < e.n_args; ++i) {
    const tn_value& v = e.args[i];
    if (v.kind == TN_KIND_TENSOR) add_shape(&text, v.as.tensor);
    if (v.kind != TN_KIND_TENSORS) continue;
    for (uint32_t k = 0; k < std::min(v.count, kMost); ++k) add_shape(&text, v.as.tensors[k]);
    if (v.count > kMost) text += ", and " + std::to_string(v.count - kMost) + " more";
  }
  // Loops and reductions have no tensors among their arguments.
  if (text.empty() && e.n_outputs > 0) add_shape(&text, e.outputs[0]);
  return text;
}

// Of a layer of a recurrent net with so many states: each row of x takes part in one product with
// each of the two weights, and packed sequences have no rows of padding. The gradient always goes
// from step to step; the other products are there for what has a gradient.
inline double recurrent_flops(const tn_profile_event& e, uint32_t n_states) {
  const bool is_backward = e.backward != 0;
  const uint32_t weights = 1 + n_states, first = is_backward ? 1 + n_states : 0;
  if (e.n_args < first + weights + 2) return 0;
  const auto arg = [&](uint32_t i) {
    const tn_value& v = e.args[first + i];
    return v.kind == TN_KIND_TENSOR ? v.as.tensor : nullptr;
  };
  const tn_tensor *x = arg(0), *w_ih = arg(weights), *w_hh = arg(weights + 1);
  if (x == nullptr || w_ih == nullptr || w_hh == nullptr || count_of(x) == 0) return 0;
  const auto has = [&](uint32_t i) { return i < e.n_outputs && e.outputs[i] != nullptr; };
  const double of_input = is_backward ? has(0) + has(weights) : 1;
  const double of_state = is_backward ? 1 + has(weights + 1) : 1;
  const double rows = count_of(x) / size_from_end(x, 1);
  return 2 * rows * (of_input * count_of(w_ih) + of_state * count_of(w_hh));
}

// A multiplication and an addition are two. The gradients of a pair take what its forward takes, for
// each of its two factors that has one.
inline double profile_flops(const tn_profile_event& e) {
  const std::string_view name = e.name;
  if (name == "_lstm_layer") return recurrent_flops(e, 2);
  if (name == "_gru_layer" || name == "_rnn_layer") return recurrent_flops(e, 1);
  std::vector<const tn_tensor*> tensors;
  for (uint32_t i = 0; i < e.n_args; ++i) {
    if (e.args[i].kind == TN_KIND_TENSOR) tensors.push_back(e.args[i].as.tensor);
  }
  const auto has = [&](size_t i) { return i < tensors.size() && tensors[i] != nullptr; };
  const tn_tensor* out = e.n_outputs > 0 ? e.outputs[0] : nullptr;
  double passes = 1;
  if (e.backward != 0) {  // the gradient of the output, then what the forward had
    if (!has(0)) return 0;
    out = tensors[0];
    tensors.erase(tensors.begin());
    passes = 0;
    for (uint32_t i = 0; i < std::min(e.n_outputs, 2u); ++i) passes += e.outputs[i] != nullptr;
  }
  if (out == nullptr || !has(0) || !has(1)) return 0;
  const tn_tensor *a = tensors[0], *b = tensors[1];
  if (name == "matmul") return 2 * passes * count_of(out) * size_from_end(a, 1);
  if (name == "linear" || name == "linear_relu")
    return 2 * passes * count_of(out) * size_from_end(b, 1);
  if (name == "conv1d" || name == "conv2d" || name == "conv3d") {
    return b->ndim == 0 || b->sizes[0] == 0
               ? 0
               : 2 * passes * count_of(out) * count_of(b) / static_cast<double>(b->sizes[0]);
  }
  if (name.starts_with("conv_transpose")) {
    return b->ndim == 0 || b->sizes[0] == 0
               ? 0
               : 2 * passes * count_of(a) * count_of(b) / static_cast<double>(b->sizes[0]);
  }
  if (name.find("attention") != name.npos) {  // the weights, and what they weigh
    const double forward = 4 * count_of(a) * size_from_end(b, 2);
    return e.backward != 0 ? 2.5 * forward : forward;  // five products instead of two
  }
  return 0;
}

// A name in a table: one line, and no longer than fits.
inline std::string profile_name(std::string_view name, size_t most) {
  std::string text = messages::escaped(name);
  if (text.size() > most) text.resize(messages::cut_before(text, most));
  return text;
}

// A number with a point, whatever the program's locale is.
inline std::string profile_number(double number, int decimals = 0) {
  char text[336];
  const auto end =
      std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed, decimals);
  return {text, end.ptr};
}

inline std::string profile_time(double ns) {
  const char* const units[] = {"ns", "us", "ms", "s"};
  int unit = 0;
  while (ns >= 1000 && unit < 3) ns /= 1000, ++unit;
  return profile_number(ns, unit == 0 ? 0 : 3) + " " + units[unit];
}

template <typename Rows>
std::string profile_table(const Rows& rows, uint64_t total_ns, size_t most, bool memory) {
  std::string text;
  char line[512];
  std::snprintf(line, sizeof(line), "%-40s %9s %12s %12s %7s %10s", "name", "count", "own time",
                "with inner", "own", "GFLOP/s");
  text += line + std::string(memory ? "          bytes" : "") + "  shapes\n";
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const auto& r = rows[i];
    const double share =
        total_ns == 0 ? 0 : 100 * static_cast<double>(r.self_ns) / static_cast<double>(total_ns);
    std::string rate;
    if (r.flops > 0 && r.total_ns > 0)
      rate = profile_number(r.flops / static_cast<double>(r.total_ns), 1);
    std::snprintf(line, sizeof(line), "%-40s %9llu %12s %12s %6s%% %10s",
                  profile_name(r.name, 120).c_str(), static_cast<unsigned long long>(r.count),
                  profile_time(static_cast<double>(r.self_ns)).c_str(),
                  profile_time(static_cast<double>(r.total_ns)).c_str(),
                  profile_number(share, 1).c_str(), rate.c_str());
    text += line;
    if (memory) {
      std::snprintf(line, sizeof(line), " %14lld", static_cast<long long>(r.bytes));
      text += line;
    }
    if (!r.shapes.empty()) text += "  " + r.shapes;
    text += "\n";
  }
  if (rows.size() > most) text += "and " + std::to_string(rows.size() - most) + " more rows\n";
  return text + "in all " + profile_time(static_cast<double>(total_ns)) + "\n";
}

// A text as JSON has it, in quotes; what is no UTF-8 is U+FFFD there. "</" is written so that no text
// ends a script of a page.
inline std::string profile_json(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t bytes = messages::first_character(text, &code);
    if (bytes == 0) {
      json += "\\ufffd";
    } else if (code == '"' || code == '\\') {
      json += {'\\', text[0]};
    } else if (code < 0x20 || code == '<') {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", code);
      json += escaped;
    } else {
      json += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return json + "\"";
}
inline std::string profile_us(uint64_t ns) {
  return profile_number(static_cast<double>(ns) / 1000, 3);
}

// Events of the format's kinds X (with a duration), M (names of threads) and C (a counter).
template <typename Events, typename Samples>
std::string profile_trace(const Events& events, const Samples& samples) {
  static constexpr const char* kKinds[] = {"call", "backward", "launch", "method", "range"};
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* separator = "\n";
  const auto add = [&](const std::string& event) {
    json += separator + event;
    separator = ",\n";
  };
  int64_t last_thread = 0;
  for (const auto& e : events) {
    last_thread = std::max(last_thread, e.thread);
    const std::string times =
        joined({"\"ts\":", profile_us(e.begin_ns), ",\"dur\":", profile_us(e.ns())});
    add(joined({"{\"ph\":\"X\",\"pid\":1,\"tid\":", std::to_string(e.thread + 1),
                ",\"name\":", profile_json(e.name), ",\"cat\":\"", kKinds[static_cast<int>(e.kind)],
                "\",", times, ",\"args\":{\"shapes\":", profile_json(e.shapes),
                ",\"layer\":", profile_json(e.layer), ",\"kernel\":", profile_json(e.kernel),
                ",\"bytes\":", std::to_string(e.bytes), ",\"flops\":", profile_number(e.flops),
                "}}"}));
  }
  for (int64_t thread = 0; thread <= last_thread; ++thread) {
    const std::string number = std::to_string(thread + 1);
    add(joined({"{\"ph\":\"M\",\"pid\":1,\"tid\":", number,
                ",\"name\":\"thread_name\",\"args\":{\"name\":\"thread ", number, "\"}}"}));
  }
  for (const auto& sample : samples) {
    add(joined(
        {"{\"ph\":\"C\",\"pid\":1,\"tid\":1,\"name\":\"memory\",\"ts\":", profile_us(sample.ns),
         ",\"args\":{\"allocated\":", std::to_string(sample.bytes), "}}"}));
  }
  return json + "\n]}\n";
}

inline std::string profile_bytes(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  int unit = 0;
  while (number >= 1024 && unit < 4) number /= 1024, ++unit;
  return profile_number(number, unit == 0 ? 0 : 2) + " " + units[unit];
}

template <typename Rows>
std::string alive_table(const char* title, const Rows& rows, size_t most) {
  std::string text;
  char line[512];
  std::snprintf(line, sizeof(line), "%-40s %-28s %9s %14s  %s\n", title, "layer", "count", "bytes",
                "tensor");
  text += line;
  for (size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const auto& r = rows[i];
    std::snprintf(line, sizeof(line), "%-40s %-28s %9llu %14llu  %.120s\n",
                  profile_name(r.op, 120).c_str(), profile_name(r.layer, 80).c_str(),
                  static_cast<unsigned long long>(r.count),
                  static_cast<unsigned long long>(r.bytes), r.tensor.c_str());
    text += line;
  }
  if (rows.size() > most) text += "and " + std::to_string(rows.size() - most) + " more rows\n";
  return text;
}

template <typename Sample, typename Rows, typename Layers>
std::string memory_table(const Sample& peak, const Rows& at_peak, const Rows& at_end,
                         const Layers& layers, size_t most) {
  uint64_t known = 0;
  for (const auto& r : at_peak) known += r.bytes;
  std::string text = "memory: at most " + profile_bytes(peak.bytes) + " at " +
                     profile_time(static_cast<double>(peak.ns)) + ", of which " +
                     profile_bytes(peak.bytes - std::min(known, peak.bytes)) +
                     " is from before the start or of no launch\n";
  text += alive_table("alive at the peak", at_peak, most);
  text += alive_table("alive at the end", at_end, most);
  char line[256];
  std::snprintf(line, sizeof(line), "%-40s %14s %14s %14s\n", "made in layer", "its peak",
                "at the peak", "at the end");
  text += line;
  for (size_t i = 0; i < std::min(most, layers.size()); ++i) {
    const auto& r = layers[i];
    std::snprintf(line, sizeof(line), "%-40s %14llu %14llu %14llu\n",
                  r.layer.empty() ? "none" : profile_name(r.layer, 120).c_str(),
                  static_cast<unsigned long long>(r.peak_bytes),
                  static_cast<unsigned long long>(r.at_peak_bytes),
                  static_cast<unsigned long long>(r.at_end_bytes));
    text += line;
  }
  return text;
}

template <typename Rows>
std::string profile_rows_json(const Rows& rows) {
  std::string json = "[";
  for (const auto& r : rows) {
    json += joined({json.size() > 1 ? ",\n[" : "[", profile_json(r.name), ",",
                    profile_json(r.shapes), ",", std::to_string(r.count), ",",
                    std::to_string(r.self_ns), ",", std::to_string(r.total_ns), ",",
                    std::to_string(r.bytes), ",", profile_number(r.flops), "]"});
  }
  return json + "]";
}

template <typename Rows>
std::string alive_json(const Rows& rows) {
  std::string json = "[";
  for (const auto& r : rows) {
    json += joined({json.size() > 1 ? ",\n[" : "[", profile_json(r.op), ",", profile_json(r.layer),
                    ",", std::to_string(r.count), ",", std::to_string(r.bytes), ",",
                    profile_json(r.tensor), "]"});
  }
  return json + "]";
}
template <typename Sample, typename Rows, typename Layers>
std::string memory_json(const Sample& peak, const Rows& at_peak, const Rows& at_end,
                        const Layers& layers) {
  std::string json = joined(
      {"{\"peak\":", std::to_string(peak.bytes), ",\"ns\":", std::to_string(peak.ns),
       ",\"at_peak\":", alive_json(at_peak), ",\"at_end\":", alive_json(at_end), ",\"layers\":["});
  const char* separator = "";
  for (const auto& r : layers) {
    json += joined({separator, "[", profile_json(r.layer.empty() ? "none" : r.layer), ",",
                    std::to_string(r.peak_bytes), ",", std::to_string(r.at_peak_bytes), ",",
                    std::to_string(r.at_end_bytes), "]"});
    separator = ",\n";
  }
  return json + "]}";
}

// The flame graph shows what is in what, by time; a click makes an event as wide as the page.
inline constexpr const char* kProfilePage = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tenon profile</title>
<style>
body { font: 13px sans-serif; margin: 16px; color: #222; }
#flame { position: relative; overflow: hidden; border: 1px solid #ccc; }
#flame div { position: absolute; height: 17px; overflow: hidden; white-space: nowrap; font-size: 11px;
  line-height: 17px; padding-left: 2px; box-sizing: border-box; border-right: 1px solid #fff; cursor: pointer; }
.call { background: #f4b183; } .backward { background: #c5a5e0; } .launch { background: #9dc3e6; }
.method { background: #a9d18e; } .range { background: #ffd966; }
#memory { display: none; } #memory svg { width: 100%; height: 120px; border: 1px solid #ccc; }
#memory path { fill: #cfe2f3; stroke: #3d85c6; vector-effect: non-scaling-stroke; }
table { border-collapse: collapse; margin-top: 16px; } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #eee; }
td:first-child, th:first-child, td:last-child, th:last-child { text-align: left; } th { cursor: pointer; }
</style></head><body>
<h1>Tenon profile</h1>
<p id="all"></p>
<div id="flame"></div><p id="about">A click on an event widens it; a click on the empty space shows all.</p>
<table id="events"><thead><tr><th>name</th><th>count</th><th>own ms</th><th>with inner ms</th><th>own %</th><th>bytes</th><th>GFLOP</th><th>shapes</th></tr></thead>
<tbody id="rows"></tbody></table>
<div id="memory"><h2>Memory</h2><p id="peak"></p><svg viewBox="0 0 1000 100" preserveAspectRatio="none"><path/></svg>
<table><thead><tr><th>alive at the peak</th><th>layer</th><th>count</th><th>bytes</th><th>tensor</th></tr></thead><tbody id="at_peak"></tbody></table>
<table><thead><tr><th>alive at the end</th><th>layer</th><th>count</th><th>bytes</th><th>tensor</th></tr></thead><tbody id="at_end"></tbody></table>
<table><thead><tr><th>made in layer</th><th>its peak</th><th>at the peak</th><th>at the end</th></tr></thead><tbody id="layers"></tbody></table></div>
<script>
const total = @TOTAL@, rows = @ROWS@;
const trace = @TRACE@;
const memory = @MEMORY@;
const events = trace.traceEvents.filter(e => e.ph === "X"), flame = document.getElementById("flame"), open = [];
const counters = trace.traceEvents.filter(e => e.ph === "C");
document.getElementById("all").textContent = (total / 1e6).toFixed(3) + " ms in " + events.length + " events";
let thread = 0, first = 0, lowest = 0;  // each thread has its rows below those of the one before it
for (const e of events) {
  if (e.tid !== thread) { thread = e.tid; open.length = 0; first = lowest; }
  while (open.length && e.ts >= open[open.length - 1].ts + open[open.length - 1].dur) open.pop();
  e.depth = first + open.length; open.push(e); lowest = Math.max(lowest, e.depth + 1);
}
const end = events.reduce((m, e) => Math.max(m, e.ts + e.dur), 0);
function draw(from, to) {
  flame.replaceChildren();
  const width = flame.clientWidth, scale = width / Math.max(to - from, 1e-9); let deepest = 0;
  for (const e of events) {
    const x = (e.ts - from) * scale, w = e.dur * scale;
    if (x + w < 0 || x > width || w < 0.5) continue;
    const box = document.createElement("div");
    box.className = e.cat; box.textContent = e.name;
    box.title = e.name + (e.args.kernel ? " (" + e.args.kernel + ")" : "") + "\n" + e.dur.toFixed(3) + " us\n" + e.args.shapes;
    box.style.left = Math.max(x, 0) + "px"; box.style.width = Math.min(w, width - Math.max(x, 0)) + "px"; box.style.top = 18 * e.depth + "px";
    box.onclick = (click) => { click.stopPropagation(); draw(e.ts, e.ts + e.dur); };
    flame.append(box); deepest = Math.max(deepest, e.depth);
  }
  flame.style.height = 18 * (deepest + 1) + 20 + "px";
}
flame.onclick = () => draw(0, end);
const columns = [r => r[0], r => r[2], r => r[3], r => r[4], r => r[3], r => r[5], r => r[6], r => r[1]];
function fill() {
  const body = document.getElementById("rows"); body.replaceChildren();
  for (const r of rows) {
    const line = body.insertRow();
    for (const text of [r[0], r[2], (r[3] / 1e6).toFixed(3), (r[4] / 1e6).toFixed(3), (100 * r[3] / Math.max(total, 1)).toFixed(1), r[5], (r[6] / 1e9).toFixed(3), r[1]])
      line.insertCell().textContent = text;
  }
}
document.querySelectorAll("#events th").forEach((head, i) => head.onclick = () => {
  rows.sort((a, b) => { const x = columns[i](a), y = columns[i](b); return typeof x === "string" ? x.localeCompare(y) : y - x; });
  fill();
});
function fillMemory() {
  document.getElementById("memory").style.display = "block";
  document.getElementById("peak").textContent = "at most " + memory.peak + " bytes, at " + (memory.ns / 1e6).toFixed(3) + " ms";
  let path = "M0 100";
  for (const c of counters) path += "H" + (1000 * c.ts / Math.max(end, c.ts, 1e-3)).toFixed(2) + "V" + (100 - 95 * c.args.allocated / Math.max(memory.peak, 1)).toFixed(2);
  document.querySelector("#memory path").setAttribute("d", path + "H1000V100Z");
  for (const name of ["at_peak", "at_end", "layers"])
    for (const r of memory[name]) {
      const line = document.getElementById(name).insertRow();
      for (const text of r) line.insertCell().textContent = text;
    }
}
if (memory) fillMemory();
fill(); draw(0, end); onresize = () => draw(0, end);
</script></body></html>
)html";

template <typename Rows>
std::string profile_page(const Rows& rows, uint64_t total_ns, const std::string& trace,
                         const std::string& memory) {
  std::string page;
  std::string_view rest = kProfilePage;
  const std::pair<std::string_view, std::string> parts[] = {{"@TOTAL@", std::to_string(total_ns)},
                                                            {"@ROWS@", profile_rows_json(rows)},
                                                            {"@TRACE@", trace},
                                                            {"@MEMORY@", memory}};
  for (const auto& [mark, text] : parts) {
    const size_t place = rest.find(mark);
    page += rest.substr(0, place);
    page += text;
    rest.remove_prefix(place + mark.size());
  }
  return page.append(rest);
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
