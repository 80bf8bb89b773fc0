/* ELEMENTWISE: the program over rows along the last dimension, tile by tile. */
#include "acme.h"

tn_status* acme_lane_at(const tn_operand* operand, int32_t ndim, const int64_t* index,
                        acme_lane* lane) {
  const int64_t bytes = acme_itemsize(operand->dtype);
  int64_t offset = 0;
  if (bytes == 0) {
    const tn_tensor_api* tensors = acme_host->get_interface("tensor/1");
    return acme_error(TN_UNSUPPORTED, "acme does not have %s", tensors->dtype_name(operand->dtype));
  }
  for (int32_t d = 0; d < ndim; ++d) offset += index[d] * operand->strides[d];
  lane->at = acme_real(operand->data) + offset * bytes;
  lane->stride = operand->strides[ndim - 1] * bytes;
  lane->dtype = operand->dtype;
  return NULL;
}

tn_status* acme_elementwise(void* self, const tn_call* call) {
  const tn_loop* loop = call->args[0].as.loop;
  const tn_program* program = loop->program;
  const uint32_t n_lanes = program->n_outputs + program->n_inputs;
  const int32_t last = loop->ndim - 1;
  int64_t index[TN_MAX_RANK] = {0};
  acme_register* registers;
  acme_lane* lanes;
  void* memory;
  tn_status* status;
  (void)self;
  if ((status = call->host->workspace(
           call, program->n_registers * sizeof(acme_register) + n_lanes * sizeof(acme_lane),
           &memory)) != NULL)
    return status;
  registers = (acme_register*)(void*)acme_real(memory);
  lanes = (acme_lane*)(void*)(registers + program->n_registers);
  do {
    for (index[last] = 0; index[last] < loop->sizes[last]; index[last] += ACME_TILE) {
      const int64_t left = loop->sizes[last] - index[last];
      for (uint32_t k = 0; k < n_lanes; ++k) {
        if ((status = acme_lane_at(&loop->operands[k], loop->ndim, index, &lanes[k])) != NULL)
          return status;
      }
      if ((status = acme_evaluate(program, loop->params, registers, lanes + program->n_outputs,
                                  lanes, left < ACME_TILE ? left : ACME_TILE)) != NULL)
        return status;
    }
    index[last] = 0;
  } while (acme_next(index, loop->sizes, 0, last));
  return NULL;
}
