#!/usr/bin/env bash
# Each public header compiles alone, without a warning, and plugin.hpp leaves no symbol of the host undefined.
#   headers_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { "${CXX:-g++}" -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror -I"$source/sdk/include" "$@"; }

for header in $(cd "$source/sdk/include" && ls tenon/*.hpp tenon/ops/*.hpp); do
  echo "#include <$header>" >"$work/alone.cpp"
  compile -fsyntax-only "$work/alone.cpp" || { echo "headers_test: $header does not stand alone" >&2; exit 1; }
done

compile -fPIC -shared -Wl,--no-undefined -x c++ -o "$work/plugin.so" - <<'CODE'
#include <tenon/plugin.hpp>
TENON_PLUGIN(nothing_undefined) { op("twice(Tensor x) -> Tensor", "2 * x").inplace(); }
CODE
