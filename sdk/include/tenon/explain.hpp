// Why did it run so: what the calls of a function did, op by op, as JSON; and the counters of the
// process.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Runs f and gives a JSON document of the calls it made on this thread: shapes, dtypes, device, the
// kernel that ran and why each other did not, casts, copies, decompositions.
template <typename F>
std::string explain(F&& f) {
  struct End {
    const char* json = nullptr;
    bool ended = false;
    ~End() {
      if (ended) return;
      ignore(detail::api.explain->end(&json));
      detail::api.host->text_free(json);
    }
  } end;
  detail::api.explain->begin();
  std::forward<F>(f)();
  end.ended = true;
  check(detail::api.explain->end(&end.json));
  return detail::take_text(end.json);
}
// "fallbacks", "layout_copies" or "decompositions".
inline uint64_t counter(const char* name) { return detail::api.explain->counter(name); }

}  // namespace v0
}  // namespace tenon
