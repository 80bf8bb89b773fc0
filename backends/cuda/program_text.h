// Programs as CUDA C++. A program becomes a function of elements: one statement an instruction, in
// the names of kernels/instructions.cuh.
#pragma once

#include <string>
#include <vector>

#include "launch.h"

namespace cuda {

// How kernel texts name the elements of a dtype, and the register that it is computed in.
const char* element_name(tn_dtype dtype);
const char* register_name(tn_dtype dtype);
// An integer of the size of an element, for kernels that move bits.
const char* bits_name(tn_dtype dtype);

// Appends `void NAME(const Scalar* s, OUT& y0, ..., IN x0, ...)`. Parameters of the program are s[0],
// s[1], ... in the order in which its instructions read them.
tn_status* append_function(std::string& text, const char* name, const tn_program& program,
                           const std::vector<std::string>& outputs,
                           const std::vector<std::string>& inputs);
// Appends `void NAME(void* live, Scalar* s)`, which reads them from the parameters of a graph.
void append_live_scalars(std::string& text, const char* name, const tn_program& program);
// How many s has, and their values.
int32_t count_scalars(const tn_program& program);
void add_scalars(Parameters& parameters, const tn_program& program, const tn_scalar* params);

}  // namespace cuda
