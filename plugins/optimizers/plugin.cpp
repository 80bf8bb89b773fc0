// The plugin `optimizers`.
#include "optimizers.h"

TENON_PLUGIN(optimizers) {
  group("optimizers");
  ::optimizers::add_sgd();
  ::optimizers::add_adam();
  ::optimizers::add_adagrad();
  ::optimizers::add_sparse_adam();
  ::optimizers::add_rmsprop();
  ::optimizers::add_adadelta();
  ::optimizers::add_adamax();
  ::optimizers::add_nadam();
  ::optimizers::add_radam();
  ::optimizers::add_lamb();
  ::optimizers::add_lion();
  ::optimizers::add_adafactor();
  ::optimizers::add_lbfgs();
  ::optimizers::add_muon();
  ::optimizers::add_rprop();
  ::optimizers::add_asgd();
}
