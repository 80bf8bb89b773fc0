// What a browser makes of the pages: the report of a run, and a profile. Each is opened as a file, and in
// frames of two widths, where its parts are measured; nothing may be written to the console.
//
// The browser is TENON_BROWSER, or the first of chromium, chromium-browser and google-chrome that there is.
// Without one these tests are left out.
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>
#include <tenon/data/images.hpp>
#include <tenon/profiler.hpp>
#include <tenon/tenon.hpp>

#include "cli_support.h"

namespace cli {
namespace {

namespace tn = ::tenon;
using nlohmann::json;

constexpr int kNarrow = 340, kWide = 1280, kHeight = 3000;

std::string browser() {
  if (const char* named = ::getenv("TENON_BROWSER")) return named;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0)
      return name;
  }
  return "";
}

// Says of a page in a frame: `parts` is a script that gives an object, of the document d.
std::string measuring_page(const std::string& page, const std::string& parts) {
  std::string quoted;
  for (const char c : page) {
    if (c == '&') {
      quoted += "&amp;";
    } else if (c == '"') {
      quoted += "&quot;";
    } else {
      quoted += c;
    }
  }
  std::string html = "<!doctype html><meta charset=\"utf-8\"><body>";
  for (const int width : {kNarrow, kWide})
    html += "<iframe width=\"" + std::to_string(width) +
            "\" height=\"2000\" style=\"border: 0; display: block\" srcdoc=\"" + quoted +
            "\"></iframe>";
  return html + R"(<pre id="result"></pre><script>
onload = () => {
  const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  const all = [...document.querySelectorAll("iframe")].map(f => {
    const d = f.contentDocument, found = ()" +
         parts + R"()(d, box);
    found.over = d.documentElement.scrollWidth - f.clientWidth;
    return found;
  });
  document.getElementById("result").textContent = "[[" + JSON.stringify(all) + "]]";
};
</script>)";
}

struct Browser : CliTest {
  std::string program;
  void SetUp() override {
    CliTest::SetUp();
    program = browser();
    if (program.empty()) {
      GTEST_SKIP() << "no browser is there: neither chromium nor another that TENON_BROWSER names "
                      "(apt-get install --no-install-recommends chromium)";
    }
    tn::load_plugins();
  }
  // What the browser writes; it may write nothing to a page's console.
  std::string opened(const std::string& file, const std::string& options) const {
    const std::string command = "timeout 120 " + program +
                                " --headless --no-sandbox --disable-gpu --hide-scrollbars "
                                "--user-data-dir=" +
                                path("browser") + " --enable-logging=stderr " + options +
                                " file://" + file + " >" + path("dom") + " 2>" + path("log");
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << read(path("log"));
    EXPECT_EQ(read(path("log")).find(":CONSOLE"), std::string::npos) << read(path("log"));
    return read(path("dom"));
  }
  json measured(const std::string& page, const std::string& parts) const {
    const std::string dom =
        opened(write("measure.html", measuring_page(page, parts)), "--dump-dom");
    const size_t begin = dom.find("[[[") + 2, end = dom.find("]]</pre>");
    EXPECT_NE(end, dom.npos) << dom.substr(dom.size() - std::min<size_t>(dom.size(), 500));
    if (end == dom.npos) return json();
    std::string text = dom.substr(begin, end - begin);
    const std::pair<std::string, char> escapes[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}};
    for (const auto& [escaped, plain] : escapes) {
      for (size_t at = 0; (at = text.find(escaped, at)) != text.npos; ++at)
        text.replace(at, escaped.size(), 1, plain);
    }
    return json::parse(text);
  }
  // A picture of the page: width and height are as asked for, and some of it is in each color.
  void expect_colors(const std::string& file, int width, const std::vector<int>& colors) const {
    opened(file, "--window-size=" + std::to_string(width) + "," + std::to_string(kHeight) +
                     " --screenshot=" + path("page.png"));
    const Tensor3 picture(tn::data::load_image(path("page.png")));
    EXPECT_EQ(picture.width, width);
    EXPECT_EQ(picture.height, kHeight);
    EXPECT_GT(picture.count([](int color) { return color != 0xffffff; }), width * 16)
        << "the page is blank";
    for (const int wanted : colors) {
      EXPECT_GT(picture.count([=](int color) { return color == wanted; }), 20)
          << "color " << std::hex << wanted;
    }
  }

 private:
  struct Tensor3 {
    int64_t width, height;
    std::vector<uint8_t> values;
    explicit Tensor3(const tn::Tensor& t)
        : width(t.size(2)), height(t.size(1)), values(t.to_vector<uint8_t>()) {}
    template <typename F>
    int64_t count(const F& f) const {
      int64_t n = 0;
      const auto plane = static_cast<size_t>(width * height);
      for (size_t i = 0; i < plane; ++i)
        n += f(values[i] << 16 | values[plane + i] << 8 | values[2 * plane + i]);
      return n;
    }
  };
};

void expect_within(const json& box, const json& outer, const std::string& what) {
  EXPECT_GE(box[0].get<double>(), outer[0].get<double>() - 1) << what;
  EXPECT_LE(box[2].get<double>(), outer[2].get<double>() + 1) << what;
  EXPECT_GE(box[1].get<double>(), outer[1].get<double>() - 1) << what;
  EXPECT_LE(box[3].get<double>(), outer[3].get<double>() + 1) << what;
}
double width_of(const json& box) { return box[2].get<double>() - box[0].get<double>(); }
double height_of(const json& box) { return box[3].get<double>() - box[1].get<double>(); }

TEST_F(Browser, TheReportOfARunShowsItsCurves) {
  const std::string folder = path("run");
  // Its title is the file's path: one word, wider than the narrow frame.
  const std::string file_of_training = path(std::string(60, 'W') + ".json");
  fs::rename(training({}), file_of_training);
  const Outcome run = tenon("train " + file_of_training + " --epochs 3 --run " + folder);
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string file = folder + "/report.html";
  const std::string dom = opened(file, "--dump-dom");
  for (const char* part : {"<h2>loss</h2>", "<h2>lr</h2>", "<table id=\"final\">", "</svg>"})
    EXPECT_NE(dom.find(part), dom.npos) << part;

  const json frames = measured(read(file), R"((d, box) => ({
    charts: [...d.querySelectorAll("section")].map(s => ({
      title: s.querySelector("h2").textContent, box: box(s), svg: box(s.querySelector("svg")),
      lines: [...s.querySelectorAll(".line")].map(l => ({box: box(l), stroke: d.defaultView.getComputedStyle(l).stroke})),
      texts: [...s.querySelectorAll("text")].map(box), legend: box(s.querySelector(".legend"))}))}))");
  ASSERT_EQ(frames.size(), 2u);
  for (const json& frame : frames) {
    EXPECT_EQ(frame["over"], 0) << "it is wider than its window";
    ASSERT_EQ(frame["charts"].size(), 5u);
    std::set<double> columns;
    for (const json& chart : frame["charts"]) {
      const std::string title = chart["title"];
      columns.insert(chart["box"][0].get<double>());
      EXPECT_GT(width_of(chart["svg"]), 250) << title;
      EXPECT_GT(height_of(chart["svg"]), 100) << title;
      expect_within(chart["svg"], chart["box"], title);
      expect_within(chart["legend"], chart["box"], title);
      for (const json& text : chart["texts"]) expect_within(text, chart["svg"], title + "'s text");
      EXPECT_EQ(chart["lines"].size(), title == "loss" || title == "metrics" ? 2u : 1u) << title;
      for (const json& line : chart["lines"]) {
        expect_within(line["box"], chart["svg"], title + "'s line");
        // From the first epoch to the last.
        EXPECT_GT(width_of(line["box"]), 0.8 * width_of(chart["svg"])) << title;
        EXPECT_EQ(line["stroke"].get<std::string>().substr(0, 4), "rgb(") << title;
      }
      for (const json& other : frame["charts"]) {
        if (other == chart) continue;
        const json &a = chart["box"], &b = other["box"];
        EXPECT_TRUE(a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1])
            << title << " and " << other["title"] << " lie on each other";
      }
    }
    EXPECT_EQ(columns.size(), &frame == &frames[0] ? 1u : 2u);
  }
  for (const int width : {500, kWide}) expect_colors(file, width, {0x1f6feb, 0xd1242f});
}

TEST_F(Browser, AProfileShowsItsEventsAndItsMemory) {
  const auto model =
      tn::nn::Sequential(tn::nn::Linear(64, 128), tn::nn::ReLU(), tn::nn::Linear(128, 10));
  const tn::Tensor x = tn::randn({32, 64});
  tn::Profiler profiler({.memory = true}, model);
  profiler.start();
  for (int step = 0; step < 2; ++step) {
    const tn::Profiler::Range range("step <1> & \"2\"");
    model.invoke<tn::Tensor>("forward", x).sum().backward();
  }
  profiler.stop();
  const std::string file = path("profile.html");
  profiler.save_html(file);

  const json frames = measured(read(file), R"((d, box) => ({
    flame: box(d.getElementById("flame")), events: [...d.querySelectorAll("#flame div")].map(box),
    names: [...d.querySelectorAll("#flame .range")].map(e => e.textContent),
    rows: d.getElementById("rows").rows.length, path: box(d.querySelector("#memory path")),
    svg: box(d.querySelector("#memory svg")), at_peak: d.getElementById("at_peak").rows.length,
    at_end: d.getElementById("at_end").rows.length, layers: d.getElementById("layers").textContent}))");
  ASSERT_EQ(frames.size(), 2u);
  for (const json& frame : frames) {
    EXPECT_GT(frame["events"].size(), 10u);
    for (const json& event : frame["events"]) expect_within(event, frame["flame"], "an event");
    EXPECT_EQ(frame["names"], json({"step <1> & \"2\"", "step <1> & \"2\""}));
    EXPECT_EQ(frame["rows"].get<size_t>(), profiler.rows(true).size());
    EXPECT_EQ(frame["at_peak"].get<size_t>(), profiler.alive_at_peak().size());
    EXPECT_EQ(frame["at_end"].get<size_t>(), profiler.alive_at_end().size());
    EXPECT_NE(frame["layers"].get<std::string>().find("0 (Linear)"), std::string::npos);
    expect_within(frame["path"], frame["svg"], "the memory");
    EXPECT_GT(width_of(frame["path"]), 0.9 * width_of(frame["svg"]));
    EXPECT_GT(height_of(frame["path"]), 0.5 * height_of(frame["svg"]));
  }
  EXPECT_EQ(frames[1]["over"], 0) << "it is wider than its window";
  for (const int width : {500, kWide}) expect_colors(file, width, {0xffd966, 0xcfe2f3});
}

}  // namespace
}  // namespace cli
