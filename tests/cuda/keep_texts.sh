#!/usr/bin/env bash
# Adds to tests/cuda/kept_texts.txt what the tests on the fake driver meet and the list lacks: keep_texts.sh BUILD [all]. With `all` what they
# do not meet any more is left out, too. Kernels that the list lacks compute nothing in the first round, so what they lead to is met in the second.
set -eu
build=$(realpath "$1")
list=$(dirname "$(realpath "$0")")/kept_texts.txt
met=$(mktemp)
trap 'rm -f "$met"' EXIT
for round in 1 2; do
  cmake --build "$build" --target fake_cuda >"$met.log"
  : >"$met"
  TENON_FAKE_CUDA_RECORD=$met ctest --timeout 300 --test-dir "$build" -j2 -R '_cuda$|^cuda_(device|check|copy|reduce|train|failures|faults|traces|steps|pool|index|random|linear|scan|attention|convolution|cudnn_attention|amp|images|rows|recurrent|cudnn_kept|order)_test$' >"$met.log" || true
  [ "$round ${2:-}" = "2 all" ] || cat "$list" >>"$met"
  awk 'BEGIN { RS = "////\n" } { printf "%s%c", $0, 0 }' "$met" | LC_ALL=C sort -zu | awk 'BEGIN { RS = "\0" } { printf "%s////\n", $0 }' >"$list"
  echo "round $round: $(grep -c '^////$' "$list") texts"
done
rm -f "$met.log"
cmake --build "$build" --target fake_cuda
