# shellcheck shell=bash disable=SC2034
# The distribution's packages that Tenon is built from, and their installation. Sourced by quickstart, test and .ci/run.
# Debian 12; nothing is asked, nothing is done where all are present.

# oneDNN's CMake package looks for OpenCL, which its Debian package only recommends.
product_packages="g++ cmake ninja-build libboost-dev libboost-program-options-dev libdnnl-dev ocl-icd-opencl-dev libfmt-dev
  nlohmann-json3-dev zlib1g-dev libspng-dev libjpeg62-turbo-dev libicu-dev"
test_packages="libgtest-dev clang clang-format-14 python3"

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
