// What a profile looks like: shapes and floating point operations of an event, the table, the trace,
// and the page. Used by profiler.hpp alone.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/base.hpp"
#include "tenon/dtype.hpp"

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
  *text += Dtype(t->dtype).name();
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

// A multiplication and an addition are two. The gradients of a pair take what its forward takes, for
// each of its two factors that has one.
inline double profile_flops(const tn_profile_event& e) {
  const std::string_view name = e.name;
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

inline std::string profile_time(double ns) {
  char text[32];
  const char* const units[] = {"ns", "us", "ms", "s"};
  int unit = 0;
  while (ns >= 1000 && unit < 3) ns /= 1000, ++unit;
  std::snprintf(text, sizeof(text), "%.*f %s", unit == 0 ? 0 : 3, ns, units[unit]);
  return text;
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
    char rate[32] = "";
    if (r.flops > 0 && r.total_ns > 0)
      std::snprintf(rate, sizeof(rate), "%.1f", r.flops / static_cast<double>(r.total_ns));
    std::snprintf(line, sizeof(line), "%-40.120s %9llu %12s %12s %6.1f%% %10s", r.name.c_str(),
                  static_cast<unsigned long long>(r.count),
                  profile_time(static_cast<double>(r.self_ns)).c_str(),
                  profile_time(static_cast<double>(r.total_ns)).c_str(), share, rate);
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

// A text as JSON has it, in quotes. "</" is written so that no text ends a script of a page.
inline std::string profile_json(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (code < 0x20 || c == '<') {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", code);
      json += escaped;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

template <typename Events>
std::string profile_trace(const Events& events) {
  static constexpr const char* kKinds[] = {"call", "backward", "launch", "method", "range"};
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool first = true;
  for (const auto& e : events) {
    char times[96];
    std::snprintf(times, sizeof(times), "\"ts\":%.3f,\"dur\":%.3f",
                  static_cast<double>(e.begin_ns) / 1000, static_cast<double>(e.ns()) / 1000);
    json += joined(
        {first ? "\n" : ",\n", "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":", profile_json(e.name),
         ",\"cat\":\"", kKinds[static_cast<int>(e.kind)], "\",", times,
         ",\"args\":{\"shapes\":", profile_json(e.shapes), ",\"kernel\":", profile_json(e.kernel),
         ",\"bytes\":", std::to_string(e.bytes), ",\"flops\":", std::to_string(e.flops), "}}"});
    first = false;
  }
  return json + "\n]}\n";
}

template <typename Rows>
std::string profile_rows_json(const Rows& rows) {
  std::string json = "[";
  for (const auto& r : rows) {
    json += joined({json.size() > 1 ? ",\n[" : "[", profile_json(r.name), ",",
                    profile_json(r.shapes), ",", std::to_string(r.count), ",",
                    std::to_string(r.self_ns), ",", std::to_string(r.total_ns), ",",
                    std::to_string(r.bytes), ",", std::to_string(r.flops), "]"});
  }
  return json + "]";
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
table { border-collapse: collapse; margin-top: 16px; } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #eee; }
td:first-child, th:first-child, td:last-child, th:last-child { text-align: left; } th { cursor: pointer; }
</style></head><body>
<h1>Tenon profile</h1>
<p id="all"></p>
<div id="flame"></div><p id="about">A click on an event widens it; a click on the empty space shows all.</p>
<table><thead><tr><th>name</th><th>count</th><th>own ms</th><th>with inner ms</th><th>own %</th><th>bytes</th><th>GFLOP</th><th>shapes</th></tr></thead>
<tbody id="rows"></tbody></table>
<script>
const total = @TOTAL@, rows = @ROWS@;
const trace = @TRACE@;
const events = trace.traceEvents, flame = document.getElementById("flame"), open = [];
document.getElementById("all").textContent = (total / 1e6).toFixed(3) + " ms in " + events.length + " events";
for (const e of events) {
  while (open.length && e.ts >= open[open.length - 1].ts + open[open.length - 1].dur) open.pop();
  e.depth = open.length; open.push(e);
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
    for (const text of [r[0], r[2], (r[3] / 1e6).toFixed(3), (r[4] / 1e6).toFixed(3), (100 * r[3] / total).toFixed(1), r[5], (r[6] / 1e9).toFixed(3), r[1]])
      line.insertCell().textContent = text;
  }
}
document.querySelectorAll("th").forEach((head, i) => head.onclick = () => {
  rows.sort((a, b) => { const x = columns[i](a), y = columns[i](b); return typeof x === "string" ? x.localeCompare(y) : y - x; });
  fill();
});
fill(); draw(0, end); onresize = () => draw(0, end);
</script></body></html>
)html";

template <typename Rows>
std::string profile_page(const Rows& rows, uint64_t total_ns, const std::string& trace) {
  std::string page;
  std::string_view rest = kProfilePage;
  const std::pair<std::string_view, std::string> parts[] = {{"@TOTAL@", std::to_string(total_ns)},
                                                            {"@ROWS@", profile_rows_json(rows)},
                                                            {"@TRACE@", trace}};
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
