#!/usr/bin/env bash
# The bundle for a machine with a GPU is small enough, and its report is whole: on the driver of the tests' own, and where there is none.
#   bundle_test.sh BUILD SOURCE [SANITIZE]
set -eu
build=$1 source=$2 sanitize=${3:-}
[ -z "$sanitize" ] || exit 0 # nobody measures those
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "bundle_test: $1" >&2
  exit 1
}
has() { [[ $report == *"$1"* ]] || fail "the report lacks '$1':"$'\n'"$report"; }

out=$("$source/tests/gpu/bundle" "$build" "$work/bundle") || fail "$out"
[ "$(du -sm "$work/bundle" | cut -f1)" -le 60 ] || fail "$out"
! grep -rqs "$build" "$work/bundle/run" "$work/bundle/source" || fail "the bundle has a path of the build"
out=$("$source/tests/gpu/bundle" "$build" "$work/bundle" 2>&1) && fail "packed over another one"
[[ $out == "bundle: $work/bundle exists" ]] || fail "$out"

# Away from the build: none of its libraries is found by a path of it.
cd "$work"
run() { env -u TENON_PLUGIN_PATH -u TENON_BUILD_DIR -u TENON_SOURCE_DIR "$@" "$work/bundle/run" --small --suites cuda_device_test,scan_sort_test; }
# With one GPU, as most machines have.
report=$(run LD_LIBRARY_PATH="$build/tests/cuda/fake" TENON_FAKE_CUDA_MISSES=40 TENON_FAKE_CUDA_GPUS=1)
has "cuda:0  NVIDIA GPUs"
has "0 failed, "
for case in launch mlp resnet50 gpt2 decode chain softmax layer_norm cross_entropy adamw matmul; do has $'\n'"$case "; done
[[ $report != *failed:* && $report != *" ended "* ]] || fail "$report"
[[ $report != *[1-9]" failed, "* && $report != *"did not"* ]] || fail "$report"
[ "$report" = "$(cat "$work/bundle/report.txt")" ] || fail "report.txt differs"

if ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
  report=$(run LD_LIBRARY_PATH=)
  [[ $report == "There is no GPU here. cuda    not available: no NVIDIA driver (libcuda.so.1 was not found)"* ]] || fail "$report"
  has $'\n'"matmul_f32 "
  has $'\n'"cuda_device_test                   needs a GPU"
  [[ $report != *failed:* && $report != *" ended "* ]] || fail "$report"
fi
