// The entry of the pack `linalg`.
#include "matrices.h"
#include "pack.h"

TENON_PLUGIN(linalg) {
  linalg_pack::factors();
  linalg_pack::reflections();
  linalg_pack::triangles();
  linalg_pack::equations();
  linalg_pack::indefinite();
  linalg_pack::determinants();
  linalg_pack::spectra();
  linalg_pack::measures();
  linalg_pack::exponentials();
  linalg_pack::tensors();
  linalg_pack::low_rank();
  linalg_pack::factor_kernels();
  linalg_pack::indefinite_kernels();
  linalg_pack::solve_kernels();
  linalg_pack::spectral_kernels();
  linalg_pack::exponential_kernels();
}
