// The plugin `fakes`.
#include "fakes.h"

int fakes_pairs_refuse, fakes_privates, fakes_backwards, fakes_packed, fakes_unpacked,
    fakes_recorded;
uint64_t fakes_wanted;

TENON_PLUGIN(fakes) {
  ::fakes::add_tape();
  ::fakes::add_blank();
  ::fakes::add_conv();
  ::fakes::add_rnn();
  ::fakes::add_packed();
}
