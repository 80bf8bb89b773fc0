// The device `cuda` as the host meets it: memory and copies here, streams in stream.h.
#pragma once

#include "tenon/abi.h"

namespace cuda {

// Registers the device. The driver is opened when somebody first asks for it.
tn_status* register_device(tn_registrar* registrar);

}  // namespace cuda
