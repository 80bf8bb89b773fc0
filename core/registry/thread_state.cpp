#include "registry/thread_state.h"

#include "tensor/slots.h"

namespace tenon {

TN_HOT constinit thread_local ThreadState thread_state{.modes = kModeUnsettled};

void settle_modes() {
  thread_state.modes &= ~uint32_t{kModeUnsettled};
  if (is_tracing()) thread_state.modes |= kModeTrace;
  if (is_synchronous()) thread_state.modes |= kModeSync;
}

}  // namespace tenon
