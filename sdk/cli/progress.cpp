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
  const int filled = static_cast<int>(kWidth * std::min(done_, total_) / total_);
  fmt::print(stderr, "\r\x1b[K{} [{:#<{}}{:.<{}}] {:3}%", label, "", filled, "", kWidth - filled,
             100 * std::min(done_, total_) / total_);
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
