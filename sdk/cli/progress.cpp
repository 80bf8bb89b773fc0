#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace tenon::cli {

Progress::Progress(int64_t total)
    : total_(std::max<int64_t>(total, 1)), shown_(::isatty(STDERR_FILENO) == 1) {}

void Progress::step(const std::string& label) {
  ++done_;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_ && done_ < total_) return;
  next_ = now + std::chrono::milliseconds(50);
  constexpr int kWidth = 30;
  const double part = static_cast<double>(std::min(done_, total_)) / static_cast<double>(total_);
  const int filled = static_cast<int>(kWidth * part);
  fmt::print(stderr, "\r\x1b[K{} [{:#<{}}{:.<{}}] {:3}%", label, "", filled, "", kWidth - filled,
             static_cast<int>(100 * part));
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
