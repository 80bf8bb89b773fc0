#!/usr/bin/env bash
# A user's program that prints, indexes, builds by name and trains compiles without a warning, optimized, in every compiler at hand. Warnings of
# g++ 12 that come with optimization have shown up in the programs of users, whose headers are not ours to compile without them.
# The default form compiles with -O2 in g++ and reads it in clang, whose warnings do not need more; the long form compiles in each
# with -O2 and with -O3.
#   user_program_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/program.cpp" <<'CODE'
#include <iostream>
#include <tenon/build.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train.hpp>
namespace tn = tenon;
using tn::Tensor;

struct Net : tn::Module {
  tn::Object hidden = child("hidden", tn::nn::Linear(4, 8)), last = child("last", tn::nn::Linear(8, 2));
  Tensor forward(Tensor x, std::optional<Tensor> mask, double scale = 1) {
    const Tensor y = last(tn::relu(hidden(x))) * scale;
    return mask ? y * *mask : y;
  }
};
struct Twice : tn::Function<Twice> {
  static Tensor forward(Context& context, Tensor x) { return context.save({x}), x * 2; }
  static Tensor backward(Context&, Tensor g) { return g * 2; }
};

int main() {
  tn::load_plugins();
  tn::manual_seed(0);
  const Tensor x = tn::randn({16, 4}), y = tn::randint(0, 2, {16});
  auto net = tn::make<Net>();
  auto optimizer = tn::optim::Adam(net.parameters(), {.lr = 1e-2});
  tn::data::DataLoader batches({x, y}, {.batch_size = 4, .shuffle = true});
  for (const auto& [input, target] : batches) {
    optimizer.zero_grad();
    const Tensor loss = tn::cross_entropy(Twice::apply(net(input)), target);
    loss.backward();
    optimizer.step();
    if (loss.item<float>() < 0.5f) std::cout << loss << '\n';
  }
  const tn::Object other = tn::build_layer({.name = "Sequential", .children = {{"Linear", {{"in_features", 4}, {"out_features", 2}}}, {"ReLU"}}});
  tn::Trainer trainer(other, tn::build_optimizer({"SGD", {{"lr", 1}}}, other.parameters()), tn::nn::CrossEntropyLoss(),
                      {.schedule = tn::optim::Warmup(2, tn::optim::OneCycleLR(0.1, 6)), .clip_grad_norm = 1});
  trainer.fit(batches, {.epochs = 2, .on_report = [](const tn::Trainer::Report& report) { std::cout << report.loss << '\n'; }});
  std::cout << tn::accuracy(other, batches) << '\n';
  Tensor z = tn::zeros({3, 4}, tn::float64);
  z[0] = 1;
  z[{tn::slice(1, 3), 0}] += z[0][1];
  z[z > 0.5] *= 2;
  tn::Ints sizes = {2, 6};
  sizes = z.sizes();
  for (const Tensor& row : z) std::cout << row << row.sizes() << '\n';
  auto [values, indices] = tn::max(z, 1);
  std::cout << net << z.reshape(sizes) << values << indices << optimizer << tn::cat({z, z, z[0].unsqueeze(0)}, 0)
            << tn::grad({(x * x).sum()}, {x}, {.allow_unused = true}).size() << tn::Device::best().name() << '\n';
  for (const auto& [name, tensor] : net.state_dict()) std::cout << name << tensor.sizes() << tensor.strides() << '\n';
}
CODE
compiled=0
# compiles COMPILER OPTION...: without a warning.
compiles() {
  "$@" -std=c++20 -Wall -Wextra -Werror -I"$source/sdk/include" -c "$work/program.cpp" -o "$work/program.o" || {
    echo "user_program_test: $1 $2 warns" >&2
    exit 1
  }
  compiled=$((compiled + 1))
}
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  if [ "${TENON_TEST_LONG:-}" = 1 ]; then
    compiles "$compiler" -O2
    compiles "$compiler" -O3
  elif [ "$compiler" = g++ ]; then
    compiles "$compiler" -O2
  else
    compiles "$compiler" -fsyntax-only
  fi
done
[ "$compiled" -gt 0 ]
