# shellcheck shell=bash disable=SC2034
# The distribution's packages that Tenon is built from, and their installation. Sourced by quickstart, test and .ci/run.
# Debian 12; nothing is asked, nothing is done where all are present.

# oneDNN's CMake package looks for OpenCL, which its Debian package only recommends.
# `make` is what CMake builds with where nothing is said, as in the commands of the pages; CMake only recommends it.
# The reference LAPACK, with all that it brings, is a download of 8 MB; OpenBLAS, which may take its place at any time, is one of 12 MB and takes
# 103 MB of disk.
product_packages="g++ cmake make ninja-build libboost-dev libboost-program-options-dev libdnnl-dev ocl-icd-opencl-dev libfmt-dev
  nlohmann-json3-dev zlib1g-dev libspng-dev libjpeg62-turbo-dev libicu-dev liblapack-dev"
test_packages="libgtest-dev clang clang-format-14 python3"
# For the build under AddressSanitizer, which is clang's: its runtimes, which the package clang only recommends.
sanitizer_packages="libclang-rt-dev libomp-dev"
# For browser_test, which is left out without it: 190 MB to download, as much as all of the above. The long form of ./test has it.
browser_packages="chromium"

# install_packages NAME... : those of them that are missing.
install_packages() {
  local missing="" package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      missing="$missing $package"
    fi
  done
  [ -n "$missing" ] || return 0
  echo "installing from the distribution:$missing"
  local as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      echo "root is needed for it, and sudo does not give it without a password; please run" >&2
      echo "  apt-get install --no-install-recommends$missing" >&2
      return 1
    fi
    as_root="sudo -n"
  fi
  # No terminal and no questions; apt's progress would bury what follows, its errors would not.
  $as_root apt-get -qq update
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 $missing </dev/null >/dev/null
}
