#!/usr/bin/env bash
# `tenon header` and `tenon ops NAME`: what they write of the bundled plugins, and what they refuse.
#   header_test.sh BUILD SOURCE
set -eu
build=$1 source=$2
export TENON_PLUGIN_PATH="$build/lib/tenon/plugins"
tenon=$build/bin/tenon
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed() {
  echo "header_test: $*" >&2
  exit 1
}
# has FILE LINE: the line stands in the file.
has() { grep -qxF -- "$2" "$1" || failed "$(basename "$1") has no line: $2"; }
# refused TEXT ARGUMENTS: exit code 2, and stderr says TEXT.
refused() {
  local text=$1 code=0
  shift
  "$tenon" "$@" >/dev/null 2>"$work/error" || code=$?
  [ "$code" = 2 ] || failed "tenon $* gives code $code"
  grep -qF -- "$text" "$work/error" || failed "tenon $* does not say '$text': $(cat "$work/error")"
}

# Numbers in the place of tensors, options by name, optional tensors that may be left out as a whole, results.
"$tenon" header ops -o "$work/ops.hpp"
has "$work/ops.hpp" 'inline Tensor add(Operand x, Operand y) { return detail::call<Tensor>(detail::op<"add">, {x, y}); }'
has "$work/ops.hpp" 'inline Tensor add_(const Tensor& x, Operand y) { return detail::call<Tensor>(detail::op<"add_">, {x, y}); }'
has "$work/ops.hpp" 'inline Tensor softmax(const Tensor& x, Int dim = -1, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"softmax">, {x, dim, dtype}); }'
has "$work/ops.hpp" 'inline results::ValuesIndices max(const Tensor& x, Int dim, Bool keepdim = false) { return detail::call<results::ValuesIndices>(detail::op<"max">, {x, dim, keepdim}); }'
has "$work/ops.hpp" 'struct Conv1dOptions {'
has "$work/ops.hpp" 'using Conv2dOptions = Conv1dOptions;'
has "$work/ops.hpp" '  KeptInts stride = 1;'
has "$work/ops.hpp" '  Tensor bias = {};'
has "$work/ops.hpp" 'template <std::same_as<Conv2dOptions> O = Conv2dOptions>'
has "$work/ops.hpp" 'inline Tensor conv2d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }'
has "$work/ops.hpp" '// x + alpha * y. Operands broadcast and promote as PyTorch'"'"'s.'
grep -q '_batch_norm' "$work/ops.hpp" && failed "a private op has a function"

# A plugin by its path, which needs another; defaults that are no literals of C++.
"$tenon" header "$build/tests/face_plugins/libface_plugin.so" -o "$work/face.hpp"
grep -q 'Float least = -std::numeric_limits<double>::infinity()' "$work/face.hpp" || failed "no default of -inf"
has "$work/face.hpp" '  tenon::Dtype to = tenon::float64;'
has "$work/face.hpp" 'template <tenon::detail::Placed<tenon::Int> P1>'
has "$work/face.hpp" '  tenon::Int static_cast_ = 1;'
grep -q 'results_(const tenon::Tensor& by_name_, ' "$work/face.hpp" || failed "names of its own are not written otherwise"
has "$work/face.hpp" '// x in another dtype, as in C:\.'
${CXX:-c++} -std=c++20 -fsyntax-only -I"$source/sdk/include" -x c++ "$work/face.hpp" || failed "what it writes does not compile"

# Results by their names, in a pack's own namespace; two groups of it, which would define them twice, give tuples.
if [ -e "$build/lib/tenon/plugins/libtenon_linalg.so" ]; then
  "$tenon" header linalg --namespace other >"$work/linalg.hpp"
  has "$work/linalg.hpp" 'struct QR : tenon::detail::NamedResults<2> {'
  "$tenon" header linalg --namespace other --results >"$work/results.hpp"
  for header in linalg results; do
    ${CXX:-c++} -std=c++20 -fsyntax-only -I"$source/sdk/include" -x c++ "$work/$header.hpp" || failed "tenon header linalg: $header.hpp does not compile"
  done
fi

# A group, a namespace, layers.
"$tenon" header layers --namespace tenon::nn >"$work/nn.hpp"
has "$work/nn.hpp" 'namespace nn {'
has "$work/nn.hpp" 'Object Linear(Int in_features, Int out_features, const P& bias) { return Object::create("Linear", {in_features, out_features, Bool(bias)}); }'
has "$work/nn.hpp" 'inline Object Linear(Int in_features, Int out_features, const LinearOptions& options = {}) { return Object::create("Linear", {in_features, out_features, options.bias}); }'
"$tenon" header ops --group matmul >"$work/matmul.hpp"
grep -q 'inline Tensor add(' "$work/matmul.hpp" && failed "the group matmul has add"

refused "no plugin 'opps' is loaded; did you mean 'ops'?" header opps
refused "plugin 'ops' brings nothing of the group 'convs'" header ops --group convs
refused "plugin 'cpu' brings no op, layer or optimizer" header cpu
refused "--results are of all groups; expected no --group and no --methods" header ops --results --group matmul
refused "--methods is 'both', expected declarations or definitions" header ops --methods both
refused "no op, layer or optimizer is named 'softmaxx'; did you mean 'softmax'?" ops softmaxx

"$tenon" ops softmax >"$work/softmax"
has "$work/softmax" 'softmax(Tensor x, int dim=-1, dtype? dtype=None) -> Tensor'
has "$work/softmax" 'gradient  vjp'
has "$work/softmax" 'autocast  float32'
grep -q '^  cpu: kernel' "$work/softmax" || failed "ops softmax names no kernel of cpu"
"$tenon" ops Linear >"$work/linear"
has "$work/linear" 'kind      layer'

# Every public op of the pack, every layer and every optimizer says what it is.
"$tenon" ops --json >"$work/ops.json"
if grep -A 12 '"name": "ops\.[a-z]' "$work/ops.json" | grep -q '"doc": ""'; then failed "an op has no line of documentation"; fi
