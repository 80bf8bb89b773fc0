// Numbers that may change from one launch of a graph to the next.
#include "base.cuh"

// A dynamic argument: the number, or where the device has it.
struct Number {
  double value;
  void* live;  // float64 or int64
  long long is_integer;
};
DEVICE double value_of(const Number& number) {
  if (!number.live) return number.value;
  return number.is_integer ? static_cast<double>(at<long long>(number.live, 0))
                           : at<double>(number.live, 0);
}
