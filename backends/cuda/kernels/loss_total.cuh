// The loss of all rows, from the sums that the blocks of loss.cuh left: one block adds them up. A text
// states Element and Weight.
using Value = decltype(widen(Element{}));
constexpr int kThreads = 256;
constexpr int kValues = 1;
#include "folds.cuh"

struct Totals {
  void* parts;
  void* loss;     // of Element; NULL: each row has its own
  void* totals;   // as in loss.cuh; NULL: nobody asks
  void* weights;  // likewise
  long long n_parts, n_classes, is_mean;
};
ROW_KERNEL(add_up_losses, Totals, p) {
  SHARED Two slots[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  Sum losses, counted, weights;
  for (long long i = thread; i < p.n_parts; i += kThreads) {
    const Two part = at<Two>(p.parts, i);
    losses.add(part.a);
    counted.add(part.b);
  }
  for (long long c = thread; p.weights && c < p.n_classes; c += kThreads)
    weights.add(static_cast<Value>(widen(at<Weight>(p.weights, c))));
  Two two = {losses.total(), counted.total()};
  Value of_classes = weights.total();
  for (int pass = 0; pass < 2; ++pass) {
    slots[thread] = pass == 0 ? two : Two{of_classes, 0};
    meet();
    for (int step = kThreads / 2; step > 0; step /= 2) {
      if (thread < step) slots[thread] = Plus{}(slots[thread], slots[thread + step]);
      meet();
    }
    if (pass == 0) two = slots[0];
    if (pass == 1) of_classes = slots[0].a;
    meet();
  }
  if (thread != 0) return;
  if (p.loss) at<Element>(p.loss, 0) = narrow<Element>(p.is_mean ? two.a / two.b : two.a);
  if (!p.totals) return;
  at<Value>(p.totals, 0) = two.b;
  at<Value>(p.totals, 1) = p.weights ? of_classes : static_cast<Value>(p.n_classes);
}
