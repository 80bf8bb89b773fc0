#!/usr/bin/env bash
# Every C and C++ file of the tree is as clang-format lays it out (.clang-format), so that nobody has to think of it.
#   format_test.sh SOURCE
set -eu
cd "$1"
find core sdk backends plugins examples tests -name build -prune -o \
  \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
  xargs -0 -P 2 -n 40 clang-format-14 --dry-run -Werror --ferror-limit=1
