// Frames that AddressSanitizer keeps to find uses after a return.
#pragma once

// Gives back those of calls that have ended below this one. The sanitizer does so itself where a
// function returns; after an exception it does once, for what is below the call that comes next; and
// GCC 12 forgets some (.ci/run). Without it a test that is refused thousands of times has none left,
// and each call looks through all of them for one.
#if defined(__SANITIZE_ADDRESS__)
extern "C" void __asan_handle_no_return();  // NOLINT
namespace fake_frames {
[[gnu::noinline]] inline void ask_for_one() {
  char local = 0;
  asm volatile("" : : "r"(&local) : "memory");
}
}  // namespace fake_frames
inline void give_back_fake_frames() {
  __asan_handle_no_return();
  fake_frames::ask_for_one();
}
#else
inline void give_back_fake_frames() {}
#endif
