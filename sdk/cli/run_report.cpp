#include "run_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tenon::cli {
namespace {

using nlohmann::ordered_json;

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // step, value
};
struct Chart {
  std::string title;
  std::vector<Series> series;
};

constexpr std::array<const char*, 6> kColors = {"#1f6feb", "#d1242f", "#1a7f37",
                                                "#9a6700", "#8250df", "#57606a"};

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// Losses in one chart, parts between 0 and 1 in another, each other number in its own.
std::string chart_of(const std::string& name) {
  if (name.ends_with("loss")) return "loss";
  if (name.ends_with("accuracy") || name.ends_with("f1") || name.find("top_") != name.npos)
    return "metrics";
  if (name == "items_per_second") return "items per second";
  if (name == "peak_memory") return "peak memory, bytes";
  return name;
}

std::vector<Chart> charts_of(const std::vector<ordered_json>& log) {
  std::vector<Chart> charts;
  for (const ordered_json& line : log) {
    for (const auto& [name, value] : line.items()) {
      if (name == "step" || name == "seconds" || !value.is_number()) continue;
      const double number = value.get<double>();
      if (!std::isfinite(number)) continue;
      const std::string title = chart_of(name);
      auto chart = std::ranges::find(charts, title, &Chart::title);
      if (chart == charts.end()) chart = charts.insert(charts.end(), {title, {}});
      auto series = std::ranges::find(chart->series, name, &Series::name);
      if (series == chart->series.end())
        series = chart->series.insert(chart->series.end(), {name, {}});
      series->points.emplace_back(line["step"].get<double>(), number);
    }
  }
  return charts;
}

// Where numbers lie on the page.
struct Axis {
  double low = INFINITY, high = -INFINITY, from, to;

  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
  double at(double v) const {
    const double half = high / 2 - low / 2;  // the whole may be more than the largest number
    return half > 0 ? from + (v / 2 - low / 2) / half * (to - from) : (from + to) / 2;
  }
};

std::string svg_of(const Chart& chart) {
  Axis x{.from = 76, .to = 470}, y{.from = 170, .to = 12};
  for (const Series& s : chart.series) {
    for (const auto& [step, value] : s.points) x.add(step), y.add(value);
  }
  std::string svg = "<svg viewBox=\"0 0 480 200\" role=\"img\">\n";
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>\n", x.from, y.to, y.from, x.to);
  for (const double v : {y.low, y.high}) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.4g}</text>\n", x.from - 6,
                       y.at(v) + 4, v);
    if (y.low == y.high) break;
  }
  svg += fmt::format("<text x=\"{}\" y=\"188\">step {:g}</text>\n", x.from, x.low);
  svg += fmt::format("<text x=\"{}\" y=\"188\" text-anchor=\"end\">{:g}</text>\n", x.to, x.high);
  size_t color = 0;
  for (const Series& s : chart.series) {
    std::string path, dots;
    for (const auto& [step, value] : s.points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(step), y.at(value));
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"><title>{} {:.6g} at step "
          "{:g}</title></circle>",
          x.at(step), y.at(value), escaped(s.name), value, step);
    }
    svg += fmt::format("<g style=\"--c:{}\"><path class=\"line\" d=\"{}\"/>{}</g>\n",
                       kColors[color++ % kColors.size()], path, dots);
  }
  return svg + "</svg>";
}

std::string legend_of(const Chart& chart) {
  std::string html;
  size_t color = 0;
  for (const Series& s : chart.series) {
    html += fmt::format("<span style=\"--c:{}\">{} {:.6g}</span>",
                        kColors[color++ % kColors.size()], escaped(s.name), s.points.back().second);
  }
  return html;
}

constexpr const char* kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 68em; padding: 0 1em; overflow-wrap: anywhere }}
main {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22em, 100%), 1fr)); gap: 1.5em }}
h1 {{ font-size: 1.3em }} h2 {{ font-size: 1em; margin: 0 }}
svg {{ width: 100% }} svg text {{ font-size: 11px; fill: currentColor; opacity: .7 }}
.axis {{ fill: none; stroke: currentColor; opacity: .3 }}
.line {{ fill: none; stroke: var(--c); stroke-width: 1.5 }} circle {{ fill: var(--c) }}
.legend span {{ color: var(--c); margin-right: 1em; font-size: 13px }}
td, th {{ padding: .1em 1em .1em 0; text-align: left }}
</style></head><body>
<h1>{0}</h1>
)html";

}  // namespace

std::string run_report(const std::string& title, const std::string& device,
                       const std::vector<ordered_json>& log) {
  std::string html = fmt::format(kHead, escaped(title));
  html += fmt::format("<p>on {}</p>\n", escaped(device));
  for (const ordered_json& line : log) {
    if (!line.contains("final") || !line["final"].is_object()) continue;
    html += "<table id=\"final\">";
    for (const auto& [name, value] : line["final"].items())
      html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(value.dump()));
    html += "</table>\n";
  }
  html += "<main>\n";
  for (const Chart& chart : charts_of(log)) {
    html += fmt::format("<section><h2>{}</h2>{}\n<div class=\"legend\">{}</div></section>\n",
                        escaped(chart.title), svg_of(chart), legend_of(chart));
  }
  return html + "</main></body></html>\n";
}

}  // namespace tenon::cli
