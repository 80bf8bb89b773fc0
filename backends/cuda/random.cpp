// Random bits: the number of an element alone decides its bits, which are the same on every backend.
#include "kernel.h"
#include "launch.h"

namespace cuda {

tn_status* random_bits(const tn_call* call, const Stream& stream) {
  static Text& text = text_of("#include \"random.cuh\"\n");
  const tn_tensor* y = call->outputs[0];
  Parameters parameters;
  const tn_tensor* live = call->random->state;  // inside a graph: on the device
  parameters.add(y->data);
  parameters.add(live ? live->data : nullptr);
  parameters.add(call->random->seed);
  parameters.add(call->random->offset);
  parameters.add(y->numel);
  return launch(stream, text, "random_bits", grid_for((y->numel + 3) / 4), parameters);
}

}  // namespace cuda
