// A plugin whose body fails half-way: nothing of it may stay. With FAILS_BY_STATUS the registrar
// refuses, else the body throws.
#include <tenon/plugin.hpp>

#include <stdexcept>

TENON_PLUGIN(face_fails) {
  op("stays_not(Tensor x) -> Tensor", "x + 1");
#ifdef FAILS_BY_STATUS
  op("broken(Tensor x) -> Tensor", "x + nothing");
  op("after(Tensor x) -> Tensor", "x");
#else
  throw std::runtime_error("no device here");
#endif
}
