// The standard op pack's entry.
#include "pack.h"

TENON_PLUGIN(ops) {
  ops_pack::elementwise();
  ops_pack::reduce();
  ops_pack::matmul();
  ops_pack::shape();
  ops_pack::rearrange();
  ops_pack::create();
  ops_pack::index();
  ops_pack::norm();
  ops_pack::loss();
  ops_pack::windows();
  ops_pack::conv();
  ops_pack::pool();
  ops_pack::resize();
  ops_pack::attention();
  ops_pack::random();
  ops_pack::optim();
  ops_pack::amp();
}
