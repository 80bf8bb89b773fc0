// The policies of autocast, after NVIDIA Apex's optimization levels. Without a policy the ops' own classes rule.
#include "pack.h"

namespace tenon::ops_pack {

void amp() {
  // "Almost float16": everything in lower precision, but for what is wrong there.
  amp_policy("O2", [](string_view, Amp own, string_view) { return own == Amp::float32 ? own : Amp::lower; });
}

}  // namespace tenon::ops_pack
