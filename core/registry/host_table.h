// The table that plugins and applications get. host/ fills it; calls carry its address.
#pragma once

#include "tenon/abi.h"

namespace tenon {

const tn_host& host_table();

}  // namespace tenon
