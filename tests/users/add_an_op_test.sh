#!/usr/bin/env bash
# The lines that docs/add_an_op.md says an op of the standard pack takes are the whole of it: they stand in the files that it names,
# and put a second time into a copy of those files, under another name, they give an op that does on every device what the first does.
#   add_an_op_test.sh BUILD SOURCE [SANITIZERS]
set -eu
build=$1 source=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed() {
  echo "add_an_op_test: $*" >&2
  exit 1
}

# ---- The blocks: work/OP.N.path names the file of work/OP.N.block.

awk -v work="$work/" '
  /^## / { section = /^## What four ops take/ }
  !section { next }
  /^### / { op = $2; sub(/,$/, "", op); n = 0 }
  /^`[^`]+`/ { split($0, part, "`"); path = part[2] }
  on && /^```/ { on = 0; close(block); next }
  /^```cpp fragment/ { on = 1; block = work op "." ++n ".block"; print path > (work op "." n ".path"); printf "" > block; next }
  on { print > block }' "$source/docs/add_an_op.md"
shopt -s nullglob
paths=("$work"/*.path)
[ ${#paths[@]} -eq 9 ] || failed "${#paths[@]} blocks with a file, expected 9"

mkdir -p "$work/tree/plugins" "$work/tree/sdk" "$work/tree/tests/ops"
cp -r "$source/plugins/ops" "$work/tree/plugins/ops"
cp -r "$source/sdk/include" "$work/tree/sdk/include"
cp "$source/tests/ops/op_rows_test.cpp" "$work/tree/tests/ops/"
cp -r "$source/tests/support" "$work/tree/tests/support"
touched=""
for file in "${paths[@]}"; do
  op=$(basename "$file") op=${op%%.*}
  path=$(<"$file")
  block=$(<"${file%.path}.block")
  content=$(<"$work/tree/$path")
  [[ $content == *"$block"* ]] || failed "$path does not have these lines of $op: $block"
  # As the name of the op and of its function, not of the losses and activations that end in it.
  # Its options are a struct of that name.
  options=$(sed -E 's/(^|_)([a-z])/\U\2/g' <<<"$op")Options
  again=$(sed -E "s/([^_A-Za-z])$op\\b/\\1again_$op/g; s/tn::$op\\b/tn::again_$op/g; s/\\b$options\\b/Again$options/g" <<<"$block")
  [ "$again" != "$block" ] || failed "the lines of $op in $path do not name it"
  printf '%s\n' "${content/"$block"/"$block"$'\n'"$again"}" >"$work/tree/$path"
  case $path in plugins/ops/*) touched="$touched $path" ;; esac
done

# ---- The pack, with the objects of the files that nothing was added to.

flags="-std=c++20 -O0 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -I$work/tree/sdk/include"
case ${CXX:-g++} in *clang*) ;; *) flags="$flags -fno-gnu-unique" ;; esac
[ -z "$sanitizers" ] || flags="$flags -fsanitize=$sanitizers -fno-sanitize-recover=all"
objects=""
for object in "$build"/plugins/ops/CMakeFiles/tenon_ops.dir/*.o; do
  case "$touched " in *" plugins/ops/$(basename "$object" .o) "*) ;; *) objects="$objects $object" ;; esac
done
for path in $touched; do
  # shellcheck disable=SC2086
  ${CXX:-g++} $flags -DTENON_PLUGIN_ID='"ops"' -c "$work/tree/$path" -o "$work/$(basename "$path").o" &
done
for path in $touched; do wait -n || failed "a file of the pack does not compile"; done
mkdir "$work/plugins"
# shellcheck disable=SC2086
${CXX:-g++} $flags -shared -Wl,--version-script="$source/sdk/cmake/plugin.map" $objects "$work"/*.cpp.o \
  -o "$work/plugins/libtenon_ops.so"
cp "$build"/lib/tenon/plugins/libtenon_ops.json "$work/plugins/"

# ---- What the ops give, on every device: values, gradients, and the dtype under autocast.

cat >"$work/compare.cpp" <<'CPP'
#include <cstdio>
#include <tenon/tenon.hpp>
using namespace tenon;

template <typename F, typename G>
void compare(const char* name, F first, G second, const Tensor& x) {
  auto all = [&](auto op) -> std::vector<Tensor> {
    Tensor leaf = x.detach().requires_grad_();
    Tensor y = op(leaf), g = grad({y.sum()}, {leaf}, {.create_graph = true})[0];
    square(g).sum().backward();
    return {y.detach(), g.detach(), leaf.grad()};
  };
  const std::vector<Tensor> a = all(first), b = all(second);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].to_vector<double>() != b[i].to_vector<double>() || sum(abs(a[i])).item<double>() == 0)
      throw std::runtime_error(std::string(name) + " differs on " + x.device().name());
  }
}

int main() {
  load_plugins();
  for (const char* device : {"cpu", "ref"}) {
    Tensor x = tensor({{-2.0, 0.25, 3.0}, {1.0, -0.5, 0.75}}).to(Device(device)), y = sign(x);
    compare("softplus", [](Tensor t) { return softplus(t, 2); }, [](Tensor t) { return again_softplus(t, 2); }, x);
    compare("rms_norm", [](Tensor t) { return rms_norm(t); }, [](Tensor t) { return again_rms_norm(t); }, x);
    compare("soft_margin_loss", [&](Tensor t) { return soft_margin_loss(t, y); },
            [&](Tensor t) { return again_soft_margin_loss(t, y); }, x);
  }
  std::puts("the same");
}
CPP
# shellcheck disable=SC2086
${CXX:-g++} $flags "$work/compare.cpp" -o "$work/compare" -L"$build/lib" -ltenon "-Wl,-rpath,$build/lib"
TENON_PLUGIN_PATH=$work/plugins:$build/lib/tenon/plugins "$work/compare" || failed "the ops do not give the same"
# shellcheck disable=SC2086
${CXX:-g++} $flags -fsyntax-only -I"$work/tree/tests/support" "$work/tree/tests/ops/op_rows_test.cpp" || failed "the rows do not compile"
