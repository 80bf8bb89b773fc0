#!/usr/bin/env bash
# What README.md and docs/*.md show is true: C++ and C snippets compile as they stand, plugins among them load, programs run, the
# lines `$ tenon ...` succeed, and files and headings that are named are there. Fences `cpp fragment`, `c fragment` and `python` are
# left out.
# Files that comments in core/ name are there, too, face.md has every public header, and architecture.md every file of ops.
#   docs_test.sh BUILD SOURCE [SANITIZERS]
# shellcheck disable=SC2016
set -eu
shopt -s nullglob
export build=$1 source=$2 sanitizers=${3:-}
export work
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/plugins" "$work/run"
ln -s "$source/examples" "$work/run/examples"
ln -s "$source/tests/data/tokenizers/bert.json" "$work/run/tokenizer.json"  # as the pages call it
mkdir -p "$work/run/reviews/bad" "$work/run/reviews/good"
echo "It fell apart." >"$work/run/reviews/bad/1.txt"
echo "It works." >"$work/run/reviews/good/7.txt"
seq 1 500 >"$work/run/book.txt"
failed() {
  echo "docs_test: $*" >&2
  exit 1
}

# ---- The pages: each block as a file PAGE.NUMBER.LANGUAGE, links, names of files.

# The headings of a page, as links name them.
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9_ -]//g; s/ /-/g'; }

for page in "$source"/README.md "$source"/docs/*.md; do
  prose=$work/$(basename "$page" .md).prose
  : >"$prose"
  awk -v start="${prose%.prose}" '
    on && /^```/ { on = 0; next }
    /^```/ {
      on = 1; language = substr($0, 4); file = start "." ++n "." language
      if (language !~ /^((cpp|c)( fragment)?|cmake|json|console|python|ebnf|)$/) { print FILENAME ": a block is " $0; exit 1 }
      next
    }
    on && language ~ /^(cpp|c|console)$/ { print > file }
    !on { print >> (start ".prose") }' "$page" || failed "a fence of another language"
  while read -r link; do
    [ -e "$(dirname "$page")/${link%%#*}" ] || failed "$page links to $link, which is not there"
  done < <(sed 's/`[^`]*`//g' "$prose" | grep -oE '\]\([^)#]+' | cut -c3- | grep -v '^http' || true)
  while read -r link; do
    file=${link%%#*}
    grep -qxF -- "${link#*#}" <(anchors "${file:+$(dirname "$page")/}${file:-$page}") ||
      failed "$page links to $link, and that page has no such heading"
  done < <(sed 's/`[^`]*`//g' "$prose" | grep -oE '\]\([^)]*#[^)]+' | cut -c3- | grep -v '^http' || true)
  while read -r path; do
    [ -e "$source/$path" ] || failed "$page names $path, which is not there"
  done < <(grep -oE '`(core|sdk|backends|plugins|tests|docs|examples|\.ci)/[A-Za-z0-9_./-]+`' "$prose" | tr -d '`' || true)
done

# ---- Every public header has its row in face.md.

for header in $(cd "$source/sdk/include" && ls tenon/*.hpp tenon/object/*.hpp tenon/ops/*.hpp tenon/data/*.hpp); do
  grep -qE "^(\| )?\`$header\` " "$source/docs/face.md" || failed "docs/face.md has no row of $header"
done

# ---- The table of families in architecture.md has every file of ops that is not named after its family.

for file in "$source"/plugins/ops/*.cpp; do
  name=$(basename "$file" .cpp)
  [ -e "$source/sdk/include/tenon/ops/$name.hpp" ] || [[ $name =~ ^(pack|plugin)$ ]] ||
    grep -qF "\`plugins/ops/$name.cpp\`" "$source/docs/architecture.md" || failed "docs/architecture.md says of plugins/ops/$name.cpp no family"
done

# ---- Comments in core/: a path as call/call.h is below core/, sdk/include/ or the root.

while IFS=: read -r file line comment; do
  while read -r path; do
    [ -e "$source/core/$path" ] || [ -e "$source/sdk/include/$path" ] || [ -e "$source/$path" ] ||
      failed "core/$file:$line names $path, which is not there"
  done < <(grep -oE '[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+\.(h|hpp|c|cpp|md|sh)\b' <<<"$comment" || true)
done < <(cd "$source/core" && grep -rnoE --include='*.h' --include='*.cpp' '//.*/.*\.(h|hpp|c|cpp|md|sh)\b.*' . | cut -c3-)

# ---- Snippets.

flags="-O0 -fPIC -fvisibility=hidden -I$source/sdk/include -Wall -Wextra -Wno-missing-field-initializers -Werror"
[ -z "$sanitizers" ] || flags="$flags -fsanitize=$sanitizers -fno-sanitize-recover=all"
# By clang where it is there, which takes half of the time, with what the compiled headers use instantiated in them; with sanitizers by
# the compiler of the build, whose runtime it is.
compiler=${CXX:-g++}
[ -n "$sanitizers" ] || compiler=$(command -v clang++ || echo "$compiler")
case $compiler in
  *clang*) export cxx="$compiler -std=c++20 $flags" instantiated=-fpch-instantiate-templates ;;
  *) export cxx="$compiler -std=c++20 -fno-gnu-unique $flags" instantiated="" ;;
esac
export cc="${CC:-gcc} -std=c11 -pedantic $flags"
export shared="-shared -Wl,--version-script=$source/sdk/cmake/plugin.map"
[ -n "$sanitizers" ] || shared="$shared -Wl,--no-undefined"
abi=$(sed -nE 's/^#define TN_ABI_(MAJOR|MINOR) //p' "$source/sdk/include/tenon/abi.h" | paste -sd.)
export abi

# Reading the headers that nearly all of them include takes most of the time of a snippet: it is done once, and a snippet that includes
# one begins with it.
for header in tenon plugin; do
  echo "#include <tenon/$header.hpp>" >"$work/$header.hpp"
  # shellcheck disable=SC2086
  $cxx $instantiated -x c++-header "$work/$header.hpp" -o "$work/$header.hpp.gch" ||
    failed "tenon/$header.hpp does not compile"
done
precompiled() {
  local header
  header=$(sed -nE 's/^#include <tenon\/((tenon|plugin)\.hpp)>/\1/p' "$1" | head -n 1)
  [ -z "$header" ] || echo "-include $work/$header"
}

# A plugin goes to work/plugins with a manifest, a program becomes PAGE.NUMBER.program.
build_snippet() {
  local file=$1 compiler=$cxx id
  case $file in *.c) compiler=$cc ;; *) compiler="$cxx $(precompiled "$file")" ;; esac
  id=$(sed -nE 's/.*TENON_PLUGIN\(([a-z0-9_]+)\).*/\1/p; s/.*tenon_manifest = .*"([a-z0-9_]+)".*/\1/p' "$file" | head -n 1)
  if [ -n "$id" ]; then
    local library=$work/plugins/lib$id
    [ ! -e "$library.json" ] || { echo "two snippets are plugins of the id $id"; return 1; }
    cat >"$library.json" <<JSON
{"id": "$id", "version": "1.0", "library": "lib$id.so", "abi": {"min": "$abi", "max": "$abi"}}
JSON
    # shellcheck disable=SC2086
    $compiler $shared "$file" -o "$library.so"
  elif grep -q 'int main' "$file"; then
    $compiler "$file" -o "${file%.*}.program" -L"$build/lib" -ltenon "-Wl,-rpath,$build/lib"
  else
    $compiler -fsyntax-only "$file"
  fi
}
build_or_say() {
  build_snippet "$1" || {
    echo "docs_test: $(basename "$1") (page, number of the block) does not compile" >&2
    return 1
  }
}
export -f precompiled build_snippet build_or_say

find "$work" -maxdepth 1 \( -name '*.cpp' -o -name '*.c' \) -print0 | sort -z |
  xargs -0 -P 2 -I '{}' bash -c 'build_or_say "$1"' - '{}' || failed "a snippet does not compile"

# Each line of face.md in a scope of its own, but for the plugin's entry, which stands outside of functions.
{
  cat <<'CPP'
#include <iostream>
#include <tenon/adaptive_softmax.hpp>
#include <tenon/averaged_model.hpp>
#include <tenon/backend.hpp>
#include <tenon/build.hpp>
#include <tenon/checkpoint.hpp>
#include <tenon/checkpoint_call.hpp>
#include <tenon/compiling.hpp>
#include <tenon/data/augment.hpp>
#include <tenon/data/chain.hpp>
#include <tenon/data/datasets.hpp>
#include <tenon/data/images.hpp>
#include <tenon/data/mixup.hpp>
#include <tenon/data/samplers.hpp>
#include <tenon/data/stream.hpp>
#include <tenon/data/text.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/disk.hpp>
#include <tenon/distributions.hpp>
#include <tenon/early_stopping.hpp>
#include <tenon/elf.hpp>
#include <tenon/functional.hpp>
#include <tenon/functional_call.hpp>
#include <tenon/fusion.hpp>
#include <tenon/gradcheck.hpp>
#include <tenon/graph.hpp>
#include <tenon/halves.hpp>
#include <tenon/histogramdd.hpp>
#include <tenon/linalg.hpp>
#include <tenon/masked.hpp>
#include <tenon/messages.hpp>
#include <tenon/metrics.hpp>
#include <tenon/orthogonal.hpp>
#include <tenon/parametrizations.hpp>
#include <tenon/parametrize.hpp>
#include <tenon/plugin.hpp>
#include <tenon/precision.hpp>
#include <tenon/profiler.hpp>
#include <tenon/prune.hpp>
#include <tenon/saved_tensors.hpp>
#include <tenon/sequences.hpp>
#include <tenon/signal.hpp>
#include <tenon/special.hpp>
#include <tenon/summary.hpp>
#include <tenon/tenon.hpp>
#include <tenon/tensorboard.hpp>
#include <tenon/tokenizer.hpp>
#include <tenon/train.hpp>
#include <tenon/triplet_loss.hpp>
using namespace tenon;
using namespace tenon::plugin;
void twice(const Call&);
void make_gated(Object&, int64_t dim);
auto f = [](Tensor x) { return x; };
void lines(Tensor x, Tensor y, Tensor image, Tensor weight, Tensor bias, Tensor logits, Tensor classes, Tensor q, Tensor k, Tensor v,
           std::vector<Tensor> parameters, std::vector<Tensor> gradients, Device device, const Object& model, const Call& call,
           void* managed, const tn_op* found) {
CPP
  sed -nE '/TENON_PLUGIN/d; s/^\| `tenon\/.*\| `(.*)` \|$/  { \1 }/p' "$source/docs/face.md"
  echo "}"
} >"$work/face_lines.cpp"
[ "$(grep -c '^  { ' "$work/face_lines.cpp")" -gt 40 ] || failed "docs/face.md has fewer lines of code than headers"
$cxx -Wno-unused -Wno-unused-parameter -Wno-shadow -fsyntax-only "$work/face_lines.cpp" || failed "a line of docs/face.md does not compile"

# ---- What was built runs, where the repository's data is and nothing else.

export TENON_PLUGIN_PATH=$work/plugins:$build/lib/tenon/plugins PATH=$build/bin:$PATH
cd "$work/run"
tenon plugins >plugins.txt || failed "tenon plugins"
for manifest in "$work"/plugins/*.json; do
  id=$(basename "$manifest" .json)
  grep -E "^${id#lib} " plugins.txt | grep -vq 'not loaded' || failed "a plugin does not load: $(grep "/$id.so" plugins.txt)"
done
for program in "$work"/*.program; do
  "$program" >output.txt 2>&1 || failed "$(basename "$program" .program) fails: $(cat output.txt)"
done
for console in "$work"/*.console; do
  while read -r line; do
    eval "$line" >output.txt 2>&1 </dev/null || failed "$(basename "$console"): $line: $(cat output.txt)"
  done < <(sed -n 's/^\$ \(tenon .*\)/\1/p' "$console")
done
echo "docs_test: $(find "$work/plugins" -name '*.so' | wc -l) plugins, $(find "$work" -name '*.program' | wc -l) programs"
