// A progress bar on a terminal, with rate and time left; nothing where stderr is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tenon::cli {

class Progress {
 public:
  explicit Progress(int64_t total);
  Progress(const Progress&) = delete;
  ~Progress() { clear(); }

  // Draws at most twenty times a second, so that it costs nothing.
  void step(const std::string& label);
  // Wipes the bar, so that a line can be printed.
  void clear();

 private:
  const int64_t total_;
  int64_t done_ = 0;
  const bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_{}, next_{};  // start_: of the second step
};

}  // namespace tenon::cli
