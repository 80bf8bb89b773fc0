#!/usr/bin/env bash
# examples/bert loads a file of weights and gives what PyTorch gives: examples/bert/outputs.txt.
#   bert_example_test.sh SOURCE PROGRAM
set -eu
source=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/examples/bert/tiny_bert.py" "$work/tiny.safetensors"
"$program" "$work/tiny.safetensors" 4 >"$work/output.txt"
# Line by line the same name, as many numbers, and each of them within 2e-5.
awk '
  NR == FNR { expected[FNR] = $0; next }
  {
    n = split(expected[FNR], e)
    if (NF != n || $1 != e[1]) { print "line " FNR " is \"" $0 "\", expected \"" expected[FNR] "\""; bad = 1; next }
    for (i = 2; i <= n; ++i)
      if ((d = $i - e[i]) > 2e-5 || d < -2e-5) { print "line " FNR ": " $1 " has " $i ", PyTorch has " e[i]; bad = 1 }
  }
  END { if (FNR != length(expected)) { print FNR " lines, expected " length(expected); bad = 1 } exit bad }' \
  "$source/examples/bert/outputs.txt" "$work/output.txt" >&2
