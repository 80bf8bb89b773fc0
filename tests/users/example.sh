#!/usr/bin/env bash
# Runs a program of examples/ and looks at what it learned. It prints lines of a name and a number; CONDITION is an expression of awk
# over these names, which must hold. A name without a number, or with nan, is a failure: awk would take it for 0.
#   example.sh CONDITION PROGRAM [ARGUMENT...]
set -eu
condition=$1 program=$2
shift 2
output=$("$program" "$@")
assignments=$(awk 'NF == 2 && $1 ~ /^[a-z_]+$/ && $2 ~ /^[-+.e0-9]+$/ { printf "%s = %s; ", $1, $2 }' <<<"$output")
failed() {
  echo "$(basename "$program"): $*; it printed" >&2
  echo "$output" >&2
  exit 1
}
for name in $(grep -oE '[a-z_]{2,}' <<<"$condition"); do
  [[ " $assignments" == *" $name = "* ]] || failed "$name has no number"
done
awk "BEGIN { $assignments exit !($condition) }" || failed "expected $condition"
