#!/usr/bin/env bash
# Each public header compiles alone, without a warning, and all of them in clang where it is there; plugin.hpp leaves no symbol of
# the host undefined.
#   headers_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { "${CXX:-g++}" -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror -I"$source/sdk/include" "$@"; }
alone() {
  echo "#include <$1>" | compile -fsyntax-only -x c++ - || { echo "headers_test: $1 does not stand alone" >&2; return 1; }
}
export -f compile alone
export source

(cd "$source/sdk/include" && printf '%s\n' tenon/*.hpp tenon/object/*.hpp tenon/ops/*.hpp tenon/data/*.hpp) >"$work/headers"
xargs -P 2 -I '{}' bash -c 'alone "$1"' - '{}' <"$work/headers" || exit 1
if command -v clang++ >/dev/null; then
  sed 's/.*/#include <&>/' "$work/headers" >"$work/all.cpp"
  CXX=clang++ compile -fsyntax-only "$work/all.cpp" || { echo "headers_test: clang refuses a header" >&2; exit 1; }
fi

compile -fPIC -shared -Wl,--no-undefined -x c++ -o "$work/plugin.so" - <<'CODE'
#include <tenon/plugin.hpp>
TENON_PLUGIN(nothing_undefined) { op("twice(Tensor x) -> Tensor", "2 * x").inplace(); }
CODE
