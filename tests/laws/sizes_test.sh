#!/usr/bin/env bash
# What Tenon promises to be small is small: libtenon.so as it is shipped, the backend ref, the snippets that README.md
# begins with, and what the public header costs a compiler. With sanitizers the built and the compiled are not measured.
#   sizes_test.sh BUILD SOURCE [SANITIZERS]
set -eu
build=$1 source=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
# at_most WHAT MEASURED LIMIT
at_most() {
  echo "sizes_test: $1: $2, at most $3"
  awk -v measured="$2" -v limit="$3" 'BEGIN { exit !(measured != "" && measured + 0 > 0 && measured + 0 <= limit + 0) }' || {
    echo "sizes_test: $1 is $2, expected above 0 and at most $3" >&2
    bad=1
  }
}
# The lines of README's C++ block below the heading "## $1".
snippet_lines() {
  awk -v heading="## $1" '
    /^## / { here = $0 == heading }
    here && /^```cpp$/ { on = 1; next }
    on && /^```/ { exit }
    on { ++lines }
    END { print lines + 0 }' "$source/README.md"
}

at_most "backends/ref, lines" "$(cat "$source"/backends/ref/*.cpp "$source"/backends/ref/*.h | wc -l)" 1200
at_most "README.md's training, lines" "$(snippet_lines Train)" 20
at_most "README.md's plugin, lines" "$(snippet_lines "Make a plugin")" 20

if [ -z "$sanitizers" ]; then
  strip -o "$work/libtenon.so" "$build/lib/libtenon.so"
  at_most "libtenon.so stripped, bytes" "$(stat -c %s "$work/libtenon.so")" 1100000

  # Seconds differ from run to run on a busy machine, so they are told, and the lines that a compiler has to read are held: 60,000
  # of them took 0.9 s where 1.5 s are promised.
  printf '#include <tenon/tenon.hpp>\nint main() {}\n' >"$work/empty.cpp"
  compile_empty() {
    "${CXX:-g++}" -std=c++20 -O0 -I"$source/sdk/include" "$@" "$work/empty.cpp" -o "$work/empty.o"
  }
  TIMEFORMAT=%U
  seconds=$({ time compile_empty -c 2>"$work/log"; } 2>&1) || { cat "$work/log" >&2; exit 1; }
  echo "sizes_test: an empty program with tenon.hpp took $seconds seconds of a compiler"
  compile_empty -E
  at_most "an empty program with tenon.hpp, lines" "$(grep -vc '^#\|^[[:space:]]*$' "$work/empty.o")" 75000
fi
exit $bad
