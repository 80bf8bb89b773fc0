#!/usr/bin/env bash
# Builds the programs of examples/ against an install, as their users do, without a warning. Without optimization, which would take
# most of the time and makes nothing faster that matters here.
#   examples_build.sh SOURCE INSTALL TARGET [SANITIZERS]
set -eu
source=$1 install=$2 target=$3 sanitizers=${4:-}
rm -rf "$target"
flags="-Wall -Wextra -Werror -Wno-missing-field-initializers"
cmake -S "$source/examples" -B "$target" -DCMAKE_PREFIX_PATH="$install" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
  -DCMAKE_CXX_FLAGS="$flags${sanitizers:+ -fsanitize=$sanitizers -fno-sanitize-recover=all}" >/dev/null
cmake --build "$target" --parallel 2
