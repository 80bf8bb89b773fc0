#!/usr/bin/env bash
# The trial of the ABI: each project of this folder is copied out of the tree, built against an install by find_package, as a
# stranger builds it, and run through TENON_PLUGIN_PATH. docs/abi_trial.md says what was learnt.
#   abi_trial_test.sh BUILD SOURCE [SANITIZERS]
set -eu
build=$1 source=$2 sanitizers=${3:-}
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
tenon=$target/install/bin/tenon
flags=""
[ -z "$sanitizers" ] || flags="-fsanitize=$sanitizers -fno-sanitize-recover=all"
# A C program by clang has the runtime of C alone, and the library asks for more.
libraries=""
case "$sanitizers ${CC:-gcc}" in *undefined*clang*) flags="$flags -fsanitize-link-c++-runtime" libraries=-lstdc++ ;; esac

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# project NAME: copies it and builds it; what it was built with must name no path of the sources.
project() {
  cp -r "$source/tests/abi/$1" "$target/$1"
  cmake -S "$target/$1" -B "$target/$1/build" -DCMAKE_PREFIX_PATH="$target/install" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    --no-warn-unused-cli -DTENON_SANITIZE="$sanitizers" -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_EXE_LINKER_FLAGS="$libraries" >/dev/null
  cmake --build "$target/$1/build" -j2 >/dev/null
  ! grep -F "$source" "$target/$1/build/compile_commands.json" || fail "$1 is built with a path of the sources"
}

# reaches ACCURACY COMMAND...: what the last line says is at least that.
reaches() {
  local least=$1 line
  shift
  line=$("$@" 2>"$target/errors" | tail -n 1) || fail "$*: $(cat "$target/errors")"
  echo "$* -> $line"
  [ "${line%%:*}" = "test accuracy" ] || fail "$*: the last line is '$line'"
  awk -v found="${line##* }" -v least="$least" 'BEGIN { exit !(found >= least) }' || fail "$*: at least $least was expected"
}

# says WORDS COMMAND...: it succeeds and prints them.
says() {
  local words=$1 text
  shift
  text=$("$@" 2>&1) || fail "$*: $text"
  echo "$* -> $text"
  case $text in *"$words"*) ;; *) fail "$*: '$words' was expected" ;; esac
}

rm -rf "$target"
mkdir -p "$target"
cmake --install "$build" --prefix "$target/install" >/dev/null
cp "$source"/examples/digits/{mlp.json,digits.csv} "$target"

# A backend in C: no C++ anywhere, and the host's library is not needed.
project backend_c
export TENON_PLUGIN_PATH=$target/backend_c/build
# (The sanitizers' own libraries are C++.)
[ -n "$sanitizers" ] || ! ldd "$target/backend_c/build/libacme.so" | grep -E "stdc|libtenon" || fail "acme needs C++ or the host's library"
says "device acme, 8 kernels" "$tenon" plugins
says "a backend in C" "$tenon" devices
says "0 failures" "$target/backend_c/build/check"
says "0 failures" env TENON_KERNELS=primitives TENON_POISON=1 "$target/backend_c/build/check"
reaches 0.97 "$tenon" train "$target/mlp.json" --device acme
says "acme elementwise" "$tenon" explain "$target/mlp.json" --device acme

# A compiler of recorded functions in C, and what the host refuses of it: then the function runs eagerly, and says why.
project compiler_c
check=$target/compiler_c/build/check
export TENON_PLUGIN_PATH=$target/compiler_c/build
says "compiler fuser" "$tenon" plugins
says "0 failures" "$check"
says "0 failures" env TENON_POISON=1 "$check"
says "0 failures" "$check" $'bits: those of an eager call, on any number of threads\n'
says "0 failures" env FUSER_MODE=nested timeout 120 "$check"
refused() {
  says "0 failures" env FUSER_MODE="$1" "$check" "runs eagerly: the compiler fuser failed
  because replace: 'multiply_add' of fuser: $2"
}
refused rounds "the function is exact, and it does not promise TN_KERNEL_SAME_BITS"
refused twice "call 0 is gone already"
refused backwards "its calls are not in ascending order"
refused small "its size is 8"
refused launchless "launch is missing"
refused callless "it stands for no call"
refused listless "a list is NULL"
refused beyond "there are 3 calls, none 9"
refused over "it writes memory that its calls do not write"
refused stranger "a tensor is none of its calls'"
refused nothing "argument 1 is Tensor that is NULL"
refused loses "it does not write what its calls write and others read"
refused elsewhere "it does not write what its calls write and others read"
refused between "call 1 (neg) works on memory of call 0 (mul) before it"
says "call: a replay of the compiled function failed at call 1 of 2 (add | fuser multiply_add): gradients and tensors that it writes may \
be partly written, as where an eager call fails in the middle
  because multiply_add: not today" env FUSER_MODE=fails bash -c "! $check"
says "compiler has no name" env FUSER_MODE=unnamed "$tenon" plugins
says "compiler 'fuser': its device is missing" env FUSER_MODE=nowhere "$tenon" plugins
says "compiler 'fuser': compile is missing" env FUSER_MODE=idle "$tenon" plugins
says "compiler 'fuser' is registered twice" env FUSER_MODE=again "$tenon" plugins
export TENON_PLUGIN_PATH=$target/backend_c/build

# Op pack, layer pack, optimizer pack.
for pack in op_pack layer_pack optimizer_pack; do
  project $pack
  cp "$target/digits.csv" "$target/$pack"
  export TENON_PLUGIN_PATH=$TENON_PLUGIN_PATH:$target/$pack/build
done
says "unit by its kernel" "$target/op_pack/build/train" cpu
says "unit by its meaning" "$target/op_pack/build/train" ref
says "unit by its meaning" "$target/op_pack/build/train" acme
reaches 0.95 "$tenon" train "$target/layer_pack/gated.json"
reaches 0.95 "$tenon" train "$target/layer_pack/gated.json" --device acme
reaches 0.95 "$tenon" train "$target/optimizer_pack/lion.json"
reaches 0.95 "$tenon" train "$target/optimizer_pack/lion.json" --device acme
echo "the trial of the ABI passed"
