#!/usr/bin/env bash
# Writes the headers of the bundled packs from what the packs register, docs/ops.md and docs/autocast.md with them. The packs include these headers,
# so this goes in two steps: the packs are built with the headers as they are, and again with those that they gave.
#   tools/generate_headers.sh BUILD          builds, writes into the tree, and builds again until nothing changes
#   tools/generate_headers.sh BUILD --check  builds nothing: fails where the tree differs from what the built packs give
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TENON_PLUGIN_PATH=$build/lib/tenon/plugins
headers=sdk/include/tenon

# A page without empty lines at its end, where sections of other plugins followed.
to_the_last_line() { awk '/^$/ { empty = empty "\n"; next } { printf "%s%s\n", empty, $0; empty = "" }'; }

# Each FILE below the folder that is given, as the packs would have it now.
write_all() {
  local to=$1 group
  mkdir -p "$to/$headers/ops" "$to/$headers/nn" "$to/$headers/optim" "$to/docs"
  for group in attention conv create distance elementwise index loss matmul norm optim pool random recurrent reduce resize shape; do
    "$build/bin/tenon" header ops --group $group -o "$to/$headers/ops/$group.hpp"
  done
  "$build/bin/tenon" header ops --results -o "$to/$headers/ops/results.hpp"
  "$build/bin/tenon" header ops --methods declarations -o "$to/$headers/ops/tensor_methods.hpp"
  "$build/bin/tenon" header ops --methods definitions -o "$to/$headers/ops/methods.hpp"
  for group in activation attention conv dropout embedding linear loss norm padding pool recurrent resize shape; do
    "$build/bin/tenon" header layers --namespace tenon::nn --group $group -o "$to/$headers/nn/$group.hpp"
  done
  "$build/bin/tenon" header optimizers --namespace tenon::optim -o "$to/$headers/optim/optimizers.hpp"
  # Without what a build may leave out, but for linear algebra, which has pages of its own where it is there.
  if [ -e "$TENON_PLUGIN_PATH/libtenon_linalg.so" ]; then
    "$build/bin/tenon" header linalg --namespace tenon::linalg -o "$to/$headers/linalg.hpp"
    {
      echo "# Ops of linear algebra"
      echo
      echo "What the plugin \`linalg\` brings, as it says it itself: \`tenon ops --markdown\` writes this page. [linalg.md](linalg.md) says more."
      echo
      "$build/bin/tenon" ops --markdown | awk '/^## / { on = /plugin `linalg`/ } on' | to_the_last_line
    } >"$to/docs/linalg_ops.md"
  fi
  "$build/bin/tenon" ops --markdown | awk '/^## / { left_out = /plugin `(images|linalg|tokenizers)`/ } !left_out' | to_the_last_line >"$to/docs/ops.md"
  "$build/bin/tenon" ops --autocast | awk '/^## / { left_out = /plugin `(images|linalg|tokenizers)`/ } !left_out' | to_the_last_line >"$to/docs/autocast.md"
}

# Says which files of the tree differ from those in `work`; copies them there with an argument.
differing() {
  local file bad=0
  while read -r file; do
    cmp -s "$work/$file" "$source/$file" && continue
    bad=1
    echo "generate_headers: $file is not what the packs give"
    if [ $# -gt 0 ]; then
      cp "$work/$file" "$source/$file"
    elif [ -e "$source/$file" ]; then
      diff "$source/$file" "$work/$file" | head -n 10 || true
    fi
  done < <(cd "$work" && find . -type f | sort)
  return $bad
}

if [ "${2:-}" = --check ]; then
  write_all "$work"
  differing >&2 || { echo "generate_headers: run tools/generate_headers.sh BUILD" >&2; exit 1; }
  exit 0
fi
for _ in 1 2 3 4; do
  cmake --build "$build" --target tenon_cli tenon_ops
  # What calls a new op cannot be built before the op's header is written.
  built=yes
  cmake --build "$build" --target tenon_layers tenon_optimizers tenon_amp || built=no
  if [ -e "$TENON_PLUGIN_PATH/libtenon_linalg.json" ]; then cmake --build "$build" --target tenon_linalg || built=no; fi
  write_all "$work"
  differing copy && [ $built = yes ] && exit 0
done
echo "generate_headers: the headers still change after four builds" >&2
exit 1
