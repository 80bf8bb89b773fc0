#!/usr/bin/env bash
# What the face refuses when a program is compiled: each case is an error in every compiler at hand, which names what to write
# instead; what stands beside the cases compiles.
#   refused_code_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/prelude.hpp" <<'CODE'
#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <vector>
#include <tenon/build.hpp>
#include <tenon/checkpoint_call.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train.hpp>
namespace tn = tenon;
using tn::Tensor;
struct AnyForward : tn::Module { template <typename T> T forward(T x) { return x; } };
#define INSIDE Tensor t, Tensor u, std::vector<Tensor> list
CODE
compilers=
for compiler in g++ clang++; do
  if command -v "$compiler" >/dev/null; then compilers="$compilers $compiler"; fi
done
failed() {
  echo "refused_code_test: $*" >&2
  exit 1
}
limit() { case $1 in clang*) echo -ferror-limit=0 ;; *) echo -fmax-errors=0 ;; esac; }
compile() { "$@" -std=c++20 -Wall -I"$source/sdk/include"; }
check() { compile "$@" -include "$work/prelude.hpp" -fsyntax-only; }
# What each case begins with is read once, by each compiler.
for compiler in $compilers; do
  case $compiler in clang*) ending=pch ;; *) ending=gch ;; esac
  compile "$compiler" -x c++-header "$work/prelude.hpp" -o "$work/prelude.hpp.$ending" || failed "$compiler refuses the headers"
done

# refused TEXT: the cases are lines of the standard input. Each is an error of its own, and each error says TEXT.
refused() {
  local text=$1 n=0 line compiler
  while read -r line; do
    n=$((n + 1))
    printf '#line 1 "case_%s"\nvoid case_%s(INSIDE) { %s }\n' "$n" "$n" "$line"
  done >"$work/cases.cpp"
  n=$(grep -c '^void case_' "$work/cases.cpp")
  for compiler in $compilers; do
    LC_ALL=C check "$compiler" $(limit "$compiler") "$work/cases.cpp" >"$work/$compiler.txt" 2>&1 && failed "$compiler: all compiles"
    for i in $(seq "$n"); do
      line=$(grep "^void case_$i(" "$work/cases.cpp")
      grep -qE "case_$i:1:[0-9]+: +(error|note)|case_$i:1:[0-9]+:   required from here" "$work/$compiler.txt" ||
        failed "$compiler compiles: $line"
    done
    [ "$(grep -cF -- "$text" "$work/$compiler.txt")" -ge "$n" ] ||
      failed "$compiler does not say '$text' of each: $(grep -E 'error|note' "$work/$compiler.txt")"
  done
}

# What a schema cannot say, and what has no one forward.
refused 'forward gives a Tensor' <<'CASES'
struct Text : tn::Module { std::string forward(Tensor) { return ""; } }; tn::make<Text>();
struct Both : tn::Module { std::tuple<Tensor, std::string> forward(Tensor x) { return {x, ""}; } }; tn::make<Both>();
struct Named { Tensor x; std::string name; }; struct Gives : tn::Module { Named forward(Tensor x) { return {x, ""}; } }; tn::make<Gives>();
struct Within { Tensor x; }; struct Nested : tn::Module { std::tuple<Tensor, Within> forward(Tensor x) { return {x, {x}}; } }; tn::make<Nested>();
struct Path : tn::Module { std::vector<int64_t> forward(Tensor) { return {}; } }; tn::make<Path>();
CASES
refused 'is public, no template and not overloaded' <<'CASES'
struct Two : tn::Module { Tensor forward(Tensor x) { return x; } Tensor forward(Tensor x, int64_t) { return x; } }; tn::make<Two>();
class Hidden : public tn::Module { Tensor forward(Tensor x) { return x; } }; tn::make<Hidden>();
tn::make<AnyForward>();
CASES

# A module is handed on as itself, and not by a pointer.
refused 'register_module takes a module and no std::shared_ptr' <<'CASES'
struct Part : tn::Module {}; struct Net : tn::Module { tn::Object a = register_module("a", std::make_shared<Part>()); }; tn::make<Net>();
struct Part : tn::Module {}; struct Net : tn::Module { tn::Object a = child("a", std::make_shared<Part>()); }; tn::make<Net>();
struct Part : tn::Module {}; tn::Object::empty("Net").register_module("a", std::make_shared<Part>());
CASES

# What a function gives is no place to assign to.
refused 'use x[{0}] = y, copy_, set_grad, parameter()' <<'CASES'
tn::nn::Linear(2, 2).tensor("weight") = t;
t.grad() = u;
t.grad() = t + u;
t.select(0, 1) = u;
t.slice(0, 0, 1) = t + u;
t.select(0, 1) = 0;
t.slice(0, 0, 1) = 0.5;
CASES
refused 'write x = x.detach()' <<'CASES'
t.detach_();
CASES
# Options by name are the last ones.
refused 'stand behind all options by their places' <<'CASES'
tn::nn::LSTM(6, 5, 2, {.bias = false}, true);
tn::nn::Conv2d(3, 4, 3, 1, {.padding = 1}, 2);
CASES
refused 'defined()' <<'CASES'
if (t) return;
if (t < 1.0) return;
if (t == u) return;
if (!t) return;
if (t[0]) return;
if (t && u) return;
if (t.grad() || true) return;
while (t > u) return;
assert(t);
assert(t > 0);
(void)(t ? 1 : 2);
(void)static_cast<bool>(t);
(void)bool(t);
(void)bool(t[0]);
bool b{t}; (void)b;
(void)std::max(t, u);
(void)std::min(t, u);
(void)std::clamp(t, u, t);
(void)std::find(list.begin(), list.end(), t);
std::sort(list.begin(), list.end());
std::sort(list.begin(), list.end(), [](const Tensor& a, const Tensor& b) { return a > b; });
(void)(t == nullptr);
(void)(t != nullptr);
(void)(nullptr == t);
if (Tensor g = t.grad()) return;
CASES

# What the messages tell to write.
cat >"$work/allowed.cpp" <<CODE
static_assert(!std::is_constructible_v<bool, Tensor> && !std::is_convertible_v<Tensor, bool>);
static_assert(!std::is_constructible_v<bool, tn::Indexed>);
bool allowed(INSIDE) {
  t.index({0}) = u;
  t.index({0, 1}) = 0;
  t = t.index({0});
  if (!t.defined() || t[0].defined()) return false;
  if (Tensor g = t.grad(); g.defined()) return (t < 1.0).item<bool>();
  return (t == 0).all().item<bool>() && (t != u).any().item<bool>() && (0 == t).item<bool>();
}
CODE
for compiler in $compilers; do check "$compiler" -Wall -Werror "$work/allowed.cpp" || failed "$compiler refuses what is allowed"; done

# A bool is no int and no float, by its name or by its place, no bool is made of a number by its place, and a list in braces is not the first option by its place. Each compiler says it in words of its own.
refused '' <<'CASES'
(void)t.sum(0, "keepdim");
(void)t.topk(2, 1, "largest");
(void)t.scatter(0, u, t, 0.5);
(void)tn::sort(t, 0, 1);
tn::nn::Conv2d(3, 64, 3, true);
tn::nn::Conv2d(3, 64, 3, 1, 1.5);
tn::nn::BatchNorm2d(3, true);
tn::nn::LSTM(3, 4, 1.5);
tn::nn::LSTM(3, 4, 2, 0.5);
tn::nn::Conv2d(3, 4, 3, 1, 1, 1, 1, "reflect");
tn::optim::Adam(list, true);
tn::nn::Conv2d(3, 64, {.stride = 2});
tn::nn::Conv2d(3, 64, 3, {2, 1});
tn::nn::LSTM(6, 5, 2, {.batchfirst = true});
tn::nn::LSTM(6, 5, 2.5, {.batch_first = true});
tn::nn::LSTM(6, 5, 2, 1, {.batch_first = true});
tn::optim::LinearLR(0.5, {.total_iter = 3});
tn::nn::Conv2d(3, 64, 3, {.stride = true});
tn::nn::Conv2d(3, 64, 3, {.stride = {2, true}});
tn::nn::Conv2d(3, 64, 3, {.groups = true});
tn::nn::Conv2d(3, 64, 3, {.groups = 1.5});
tn::nn::Conv2d(3, 64, 3, {.strides = 2});
tn::nn::Conv2d(true, 64, 3);
tn::nn::TransformerEncoderLayer(64, 4, 128, true);
tn::nn::TransformerEncoderLayer(64, 4, {.dropout = true});
tn::nn::Dropout(true);
tn::nn::Linear(3.5, 4);
tn::nn::Embedding(10, 3, true);
tn::conv2d(t, u, t, true);
tn::conv2d(t, u, t, 1.5);
tn::avg_pool2d(t, 2, 2, 1, 1);
tn::max_pool2d(t, {.stride = 2});
tn::softmax(t, true);
(void)t.softmax(true);
tn::sum(t, true);
(void)t.sum({0, true});
(void)t.sum({.dim = true});
tn::sum(t, {.dim = true});
tn::cross_entropy(t, u, {.weight = 2});
tn::dropout(t, true);
tn::optim::Adam(list, {.lr = true});
tn::optim::Adam(list, 1e-3, {0.9, 0.99}, true);
tn::optim::StepLR(0.1, 30);
tn::optim::StepLR(30, true);
tn::optim::LinearLR({0.5, 1.0});
tn::optim::OneCycleLR(0.1, 20.5);
tn::Trainer({}, {}, {}, {tn::optim::StepLR(30), 1.0});
tn::Trainer({}, {}, {}, {.clip_grad_norm = true});
tn::build_layer({"Dropout", {{"p", t}}});
CASES
cat >"$work/options.cpp" <<CODE
static_assert(std::is_aggregate_v<tn::Conv2dOptions> && std::is_aggregate_v<tn::nn::Conv2dOptions>);
tn::nn::Conv2dOptions kept() {
  const std::vector<int64_t> sides{2, 1};
  const std::string mode = "reflect";
  return {.stride = sides, .padding = {1, 2}, .groups = 2, .bias = false, .padding_mode = mode};
}
void options(INSIDE) {
  const size_t n = 3;
  tn::nn::Conv2d(3, 64, 3, {.stride = 2, .bias = false});
  tn::nn::Conv2d(n, 64, {3, 5}, kept());
  tn::nn::Linear(3, 4, false);
  tn::nn::Linear(3, 4, {.bias = false});
  tn::nn::TransformerEncoderLayer(64, 4, {.dim_feedforward = 128, .norm_first = true});
  tn::nn::CrossEntropyLoss({.label_smoothing = 0.1});
  tn::conv2d(t, u);
  tn::conv2d(t, u, t, 2);
  tn::conv2d(t, u, t, {.stride = 2});
  tn::conv2d(t, u, {.stride = 2});
  tn::max_pool2d(t, 2, {.stride = 2});
  tn::cross_entropy(t, u, {.label_smoothing = 0.1});
  tn::scaled_dot_product_attention(t, u, t, {.is_causal = true});
  tn::layer_norm(t, {64}, t, u, 1e-6);
  tn::softmax(t, -1);
  tn::sum(t, {.dim = {0, 1}, .keepdim = true});
  tn::cross_entropy(t, u, {.weight = t});
  tn::clamp(t, {.max = u});
  (void)t.sum({0}, true);
  (void)t.var(0, 1, true);
  (void)t.slice(0, 1, 3);
  tn::optim::Adam(list, {.lr = 1, .betas = {0.9, 0.99}});
  tn::optim::StepLR(30, 1);
  tn::optim::LinearLR({.end_factor = 2, .total_iters = 9});
  tn::Trainer({}, {}, {}, {.schedule = tn::optim::StepLR(30), .clip_grad_norm = 1});
  tn::build_layer({"Linear", {{"in_features", n}, {"out_features", 2}, {"bias", false}}});
  tn::randint(0, 10, {5});
  tn::randint(10, {5}, {}, tn::Device());
}
CODE
for compiler in $compilers; do check "$compiler" -Wall -Werror "$work/options.cpp" || failed "$compiler refuses options"; done

# A checkpointed function gives nothing with tensors in it that are not seen: they would lose their gradients.
refused 'a checkpointed function gives a Tensor, or a tuple, pair, array, struct or vector of them' <<'CASES'
struct Both { Tensor a; std::string b; }; tn::checkpoint_call([](Tensor x) { return Both{x, ""}; }, t);
tn::checkpoint_call([](Tensor x) { struct Both { Tensor a; std::string b; }; return std::tuple(x, Both{x, ""}); }, t);
tn::checkpoint_call([](Tensor) {}, t);
CASES
