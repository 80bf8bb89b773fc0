#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace tenon::cli {

namespace {

// The first step is not counted: it makes what later ones find.
std::string pace_text(double seconds, int64_t done, int64_t left) {
  if (done < 1 || !(seconds > 0)) return "";
  const double rate = static_cast<double>(done) / seconds;
  const auto rest = static_cast<int64_t>(static_cast<double>(left) / rate + 0.5);
  const std::string hours = rest >= 3600 ? fmt::format("{}:", rest / 3600) : "";
  return fmt::format("  {:.3g} steps/s  {}{:02}:{:02} left", rate, hours, rest / 60 % 60,
                     rest % 60);
}

// Of the terminal: a longer line would stay in parts.
size_t columns() {
  winsize size = {};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col : 1000;
}

}  // namespace

Progress::Progress(int64_t total)
    : total_(std::max<int64_t>(total, 1)), shown_(::isatty(STDERR_FILENO) == 1) {}

void Progress::step(const std::string& label) {
  ++done_;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (done_ == 1) start_ = now;
  if (now < next_ && done_ < total_) return;
  next_ = now + std::chrono::milliseconds(50);
  constexpr int kWidth = 30;
  const double part = static_cast<double>(std::min(done_, total_)) / static_cast<double>(total_);
  const int filled = static_cast<int>(kWidth * part);
  std::string line = fmt::format("{} [{:#<{}}{:.<{}}] {:3}%{}", label, "", filled, "",
                                 kWidth - filled, static_cast<int>(100 * part),
                                 pace_text(std::chrono::duration<double>(now - start_).count(),
                                           done_ - 1, std::max<int64_t>(total_ - done_, 0)));
  line.resize(std::min(line.size(), columns() - 1));
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tenon::cli
