// The plugin `optimizers`.
#include "optimizers.h"

TENON_PLUGIN(optimizers) {
  group("optimizers");
  ::optimizers::add_sgd();
  ::optimizers::add_adam();
  ::optimizers::add_adagrad();
  ::optimizers::add_sparse_adam();
}
