// object/1: the table of C functions over object/.
#pragma once

#include "tenon/abi.h"

namespace tenon {

const tn_object_api* object_api();

}  // namespace tenon
