// Values that are slow to make again and outlive the process: compiled kernels, and plans of NVIDIA's
// libraries. Each is a file in $XDG_CACHE_HOME/tenon, or else in ~/.cache/tenon. A disk that refuses,
// and a file that is damaged or not ours, is noted in the log once and never an error. Safe among
// threads and processes; nothing is kept between calls, so a fork may go on.
#pragma once

#include <string>

namespace cuda {

// The key says all that the value depends on, but for the version of the plugin, which is added. It
// is stored and compared, so no key gets the value of another. False: there is no such entry.
bool find_cached(const std::string& key, std::string* value);
void keep_cached(const std::string& key, const std::string& value);

}  // namespace cuda
