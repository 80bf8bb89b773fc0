// An index that is out of range is reported once, and passed over.
#include "base.cuh"

// In memory of the host that the device writes; stream.h has the same.
struct Fault {
  int is_set, op;
  long long index, dim, size;
};
enum FaultOp { kGather, kScatter, kCrossEntropy };

// Is it an index of a dimension of this size? Else the fault is reported.
DEVICE bool is_within(long long index, long long size, long long dim, void* place, FaultOp op) {
  if (index >= 0 && index < size) return true;
  if (exchange_if(place, 0, 0, 1) == 0) {
    Fault& fault = at<Fault>(place, 0);
    fault.op = op;
    fault.index = index;
    fault.dim = dim;
    fault.size = size;
  }
  return false;
}
