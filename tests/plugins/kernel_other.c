/* A kernel that states another schema than its op has. */
#define KERNEL_OP "pack1.twice(Tensor y) -> Tensor"
#define KERNEL_DEVICE "cpu"
#define KERNEL_PRIORITY 0
#include "kernel.c"
