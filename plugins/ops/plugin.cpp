// The standard op pack's entry.
#include "pack.h"

TENON_PLUGIN(ops) {
  group("elementwise");
  ops_pack::elementwise();
  group("reduce");
  ops_pack::reduce();
  group("matmul");
  ops_pack::matmul();
  group("shape");
  ops_pack::shape();
  ops_pack::rearrange();
  group("create");
  ops_pack::create();
  group("index");
  ops_pack::index();
  ops_pack::embedding();
  ops_pack::table_rows();
  group("norm");
  ops_pack::norm();
  group("loss");
  ops_pack::loss();
  ops_pack::windows();
  group("conv");
  ops_pack::conv();
  group("pool");
  ops_pack::pool();
  group("resize");
  ops_pack::resize();
  group("attention");
  ops_pack::attention();
  group("random");
  ops_pack::random();
  group("optim");
  ops_pack::optim();
  ops_pack::amp();
}
