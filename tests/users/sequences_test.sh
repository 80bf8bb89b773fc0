#!/usr/bin/env bash
# examples/sequences compiles, learns, and says so.
#   sequences_test.sh BUILD SOURCE [SANITIZERS]
set -eu
build=$1 source=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
${CXX:-g++} -std=c++20 -O0 ${sanitizers:+-fsanitize=$sanitizers} -Wall -Wextra -Werror -Wno-missing-field-initializers "-I$source/sdk/include" \
  "$source/examples/sequences/sequences.cpp" -o "$work/sequences" "-L$build/lib" -ltenon "-Wl,-rpath,$build/lib"
TENON_PLUGIN_PATH=$build/lib/tenon/plugins "$work/sequences" 250 >"$work/output.txt"
accuracy=$(sed -n 's/^accuracy //p' "$work/output.txt")
awk -v a="$accuracy" 'BEGIN { exit !(a >= 0.9) }' || {
  echo "sequences_test: the accuracy is $accuracy, expected at least 0.9" >&2
  cat "$work/output.txt" >&2
  exit 1
}
