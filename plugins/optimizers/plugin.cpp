// The plugin `optimizers`.
#include "optimizers.h"

TENON_PLUGIN(optimizers) {
  group("optimizers");
  ::optimizers::sgd::add();
  ::optimizers::adam::add();
  ::optimizers::adagrad::add();
  ::optimizers::sparse_adam::add();
  ::optimizers::rmsprop::add();
  ::optimizers::adadelta::add();
  ::optimizers::adamax::add();
  ::optimizers::nadam::add();
  ::optimizers::radam::add();
  ::optimizers::lamb::add();
  ::optimizers::lion::add();
  ::optimizers::adafactor::add();
  ::optimizers::lbfgs::add();
  ::optimizers::muon::add();
  ::optimizers::rprop::add();
  ::optimizers::asgd::add();
}
