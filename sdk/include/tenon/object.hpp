// Objects: layers, optimizers and modules, which the host owns; a handle to any of them, and their
// methods from C++ lambdas. All of it is in the folder object/, a header for each topic. Classes
// that become objects are in module.hpp. Objects are not locked: one thread at a time changes one.
#pragma once

#include "tenon/object/handle.hpp"
#include "tenon/object/hooks.hpp"
#include "tenon/object/methods.hpp"
#include "tenon/object/named_tensors.hpp"
#include "tenon/object/state.hpp"
#include "tenon/object/tree.hpp"
#include "tenon/object/values.hpp"
