#!/usr/bin/env bash
# backends/cuda as a stranger builds it: its folder alone, by find_package against an install, with no path into the sources. The install
# then finds it by TENON_PLUGIN_PATH, and it opens the driver of the tests' own.
#   cuda_project_test.sh BUILD SOURCE TOOLKIT [SANITIZE]
set -eu
build=$1 source=$2 toolkit=$3 sanitize=${4:-}
[ -z "$sanitize" ] || exit 0 # a sanitized install loads no plugin without it
target=$build/cuda_project
rm -rf "$target"
cmake --install "$build" --prefix "$target/install" >/dev/null
rm "$target"/install/lib/tenon/plugins/libtenon_cuda.* # what is found is the stranger's
cp -r "$source/backends/cuda" "$target/source"

fail() {
  echo "cuda_project_test: $1" >&2
  exit 1
}
configure() { cmake -S "$target/source" -B "$target/build" -DCMAKE_PREFIX_PATH="$target/install" "$@" 2>&1; }
# Who asks for the plugin gets an error where its headers are not found.
out=$(configure -DCUDAToolkit_ROOT=/nowhere) && fail "configured without headers"
[[ $out == *"cuda.h, nvrtc.h, cublasLt.h not found (say -DCUDAToolkit_ROOT=...)"* ]] || fail "$out"

if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
rm -rf "$target/build"
out=$(configure -DCUDAToolkit_ROOT="$toolkit" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -Wall -Wextra -Wno-missing-field-initializers -Werror") || fail "$out"
! grep -rqE "$source/(backends|core|sdk)" "$target/build" || fail "the project has a path into the sources"
cmake --build "$target/build" >"$target/log" || fail "$(cat "$target/log")"

devices() { env TENON_PLUGIN_PATH="$target/build" "$@" "$target/install/bin/tenon" devices; }
out=$(devices LD_LIBRARY_PATH="$build/tests/cuda/fake")
[[ $out == *$'\ncuda:0  NVIDIA GPUs\ncuda:1  NVIDIA GPUs'* ]] || fail "$out"
out=$(devices TENON_FAKE_CUDA_GPUS=0 LD_LIBRARY_PATH="$build/tests/cuda/fake")
[[ $out == *$'\ncuda    not available: no NVIDIA GPU (cuInit found none)' ]] || fail "$out"
