// Kernel texts that were compiled for the host, and how they are run. Most are in a library that is
// built with the tests, from a kept list; a text that is not in the list is compiled when it is met.
#pragma once

#include <string>

#include "compiled.h"

namespace fake {

// The entry of a kernel of this text; NULL: the text has none of the name, or does not compile
// (stderr has the compiler's words).
const Entry* find_kernel(const std::string& text, const std::string& kernel);

// What runs kernels, and what texts that were compiled know of it.
Machine& the_machine();

// Runs all threads of all blocks, on memory of this device. One kernel of the process at a time.
void run_kernel(const Entry& entry, const void* parameters, Triple grid, Triple block, int device);

}  // namespace fake
