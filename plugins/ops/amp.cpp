// The policies of autocast, after NVIDIA Apex's optimization levels. Without a policy the ops' own
// classes rule.
#include "pack.h"

namespace tenon::ops_pack {

void amp() {
  // "Almost float16": what would take the widest type goes lower too. Norms, losses and ops that
  // write in place stay.
  amp_policy("O2", [](string_view, Amp own, string_view) {
    return own == Amp::widest ? Amp::lower : own;
  });
}

}  // namespace tenon::ops_pack
