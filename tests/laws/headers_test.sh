#!/usr/bin/env bash
# Each public header compiles alone, without a warning, and all of them in GCC and in clang where that is there, which is faster at
# those that stand alone; plugin.hpp leaves no symbol of the host undefined.
#   headers_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${CXX:-g++}
alone=$compiler
if command -v clang++ >/dev/null; then alone=clang++; fi
compile() { "$compiler" -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror -I"$source/sdk/include" "$@"; }
# alone HEADER [BASE]: a BASE that HEADER includes, itself or through others, is read in its compiled form.
alone() {
  echo "#include <$1>" | compile ${2:+-include "$work/$2"} -fsyntax-only -x c++ - || { echo "headers_test: $1 does not stand alone" >&2; return 1; }
}
export -f compile alone
export source work compiler

cd "$source/sdk/include"
printf '%s\n' tenon/*.hpp tenon/object/*.hpp tenon/ops/*.hpp tenon/data/*.hpp >"$work/headers"

# Reading the same headers again for each one that includes them took most of the time: these are compiled once, the small ones first.
compiler=$alone
bases="tenon/op.hpp tenon/object.hpp tenon/ops.hpp"
for base in $bases; do
  mkdir -p "$work/$(dirname "$base")"
  echo "#include <$base>" >"$work/$base"
  compile -x c++-header "$work/$base" -o "$work/$base.gch" || { echo "headers_test: $base does not stand alone" >&2; exit 1; }
done
# The lines of a header: its own name and the last base that it includes.
grep -rE '^#include "tenon/.*"' tenon | sed -E 's/^([^:]+):#include "(.*)"/\1 \2/' >"$work/includes"
awk -v bases="$bases" '
  NR == FNR { includes[$1] = includes[$1] " " $2; next }
  function reach(header,  list, i, n) {
    if (header in seen) return
    seen[header]
    n = split(includes[header], list, " ")
    for (i = 1; i <= n; ++i) reach(list[i])
  }
  {
    delete seen
    reach($1)
    base = ""
    for (i = 1; i <= split(bases, each, " "); ++i) if (each[i] != $1 && each[i] in seen) base = each[i]
    print base ? $1 " " base : $1
  }' "$work/includes" "$work/headers" >"$work/pairs"
xargs -P 2 -L 1 bash -c 'alone "$@"' - <"$work/pairs" || exit 1
compiler=${CXX:-g++}
if [ "$alone" != "$compiler" ]; then
  sed 's/.*/#include <&>/' "$work/headers" >"$work/all.cpp"
  compile -fsyntax-only "$work/all.cpp" || { echo "headers_test: $compiler refuses a header" >&2; exit 1; }
fi

compile -fPIC -shared -Wl,--no-undefined -x c++ -o "$work/plugin.so" - <<'CODE'
#include <tenon/plugin.hpp>
TENON_PLUGIN(nothing_undefined) { op("twice(Tensor x) -> Tensor", "2 * x").inplace(); }
CODE
