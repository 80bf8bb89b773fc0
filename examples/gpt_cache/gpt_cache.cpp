// A GPT of characters that keeps the keys and values of what it has read: each new character costs one
// row of the attention instead of the whole text again. It learns from nine tenths of a text,
// says its loss on the rest, and writes on with the cache and without, which is the same.
//
//   gpt_cache [--small] [text file]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

constexpr int64_t kHeads = 4;

struct Block : tn::Module {
  tn::Object norm1, qkv, out, norm2, mlp;
  explicit Block(int64_t width)
      : norm1(child("norm1", tn::nn::LayerNorm(width))),
        qkv(child("qkv", tn::nn::Linear(width, 3 * width))),
        out(child("out", tn::nn::Linear(width, width))),
        norm2(child("norm2", tn::nn::LayerNorm(width))),
        mlp(child("mlp", tn::nn::Sequential(tn::nn::Linear(width, 4 * width), tn::nn::GELU(),
                                            tn::nn::Linear(4 * width, width)))) {}
  // x [n, t, width] behind what `keys` and `values` [n, heads, before, width / heads] are of. Gives
  // those with x's own behind them, too.
  std::tuple<Tensor, Tensor, Tensor> forward(Tensor x, std::optional<Tensor> keys,
                                             std::optional<Tensor> values) {
    auto [q, k, v] = qkv(norm1(x)).chunk<3>(-1);
    const auto heads = [](const Tensor& t) {
      return t.unflatten(-1, {kHeads, -1}).transpose(1, 2);
    };
    k = keys ? tn::cat({*keys, heads(k)}, 2) : heads(k);
    v = values ? tn::cat({*values, heads(v)}, 2) : heads(v);
    // A first text looks at what stands before each of its places; one place looks at all there is.
    const Tensor seen = tn::scaled_dot_product_attention(heads(q), k, v, {.is_causal = !keys});
    x = x + out(seen.transpose(1, 2).flatten(2));
    return {x + mlp(norm2(x)), k, v};
  }
};

struct GPT : tn::Module {
  tn::Object tokens, places, norm, head;
  std::vector<tn::Made<Block>> blocks;
  GPT(int64_t letters, int64_t width, int layers, int64_t context)
      : tokens(child("tokens", tn::nn::Embedding(letters, width))),
        places(child("places", tn::nn::Embedding(context, width))),
        norm(child("norm", tn::nn::LayerNorm(width))),
        head(child("head", tn::nn::Linear(width, letters))) {
    const auto list = child("blocks", tn::nn::ModuleList());
    for (int i = 0; i < layers; ++i) list.append(blocks.emplace_back(tn::make<Block>(width)));
  }
  // Logits [n, t, letters] of ids [n, t], and the cache: keys and values of each block.
  std::tuple<Tensor, std::vector<Tensor>> forward(Tensor ids, std::vector<Tensor> cache = {}) {
    const int64_t before = cache.empty() ? 0 : cache[0].size(2);
    Tensor x = tokens(ids) + places(tn::arange(before, before + ids.size(1)));
    std::vector<Tensor> grown;
    for (size_t i = 0; i < blocks.size(); ++i) {
      auto [y, k, v] = cache.empty() ? blocks[i](x) : blocks[i](x, cache[2 * i], cache[2 * i + 1]);
      x = y;
      grown.insert(grown.end(), {k, v});
    }
    return {head(norm(x)), grown};
  }
};

// The likeliest letters behind `ids` [1, t], one by one, n of them.
Tensor write_on(const tn::Made<GPT>& model, Tensor ids, int64_t n, bool cached) {
  const tn::NoGrad off;
  std::vector<Tensor> cache;
  Tensor next = ids;
  for (int64_t i = 0; i < n; ++i) {
    auto [logits, grown] = cached ? model(next, cache) : model(ids);
    cache = grown;
    next = logits[{tn::slice(), -1}].argmax(-1, /*keepdim=*/true);
    ids = tn::cat({ids, next}, 1);
  }
  return ids;
}

int main(int argc, char** argv) {
  tn::load_plugins();
  tn::manual_seed(0);
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool small = std::erase(files, "--small") > 0;
  const std::string path = files.empty() ? "LICENSE" : files[0];
  std::ifstream file(path);
  if (!file) return std::fprintf(stderr, "gpt_cache: there is no file %s\n", path.c_str()), 1;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string letters = text;
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  std::vector<int64_t> numbers;
  for (const char c : text) numbers.push_back(int64_t(letters.find(c)));
  const Tensor all = Tensor::from(numbers);
  const int64_t n_train = all.size(0) * 9 / 10;
  const Tensor ids = all.slice(0, 0, n_train), held_out = all.slice(0, n_train);

  const int64_t context = small ? 64 : 256, batch = small ? 8 : 16, steps = small ? 60 : 1000;
  auto model = tn::make<GPT>(int64_t(letters.size()), small ? 32 : 128, small ? 2 : 4, context);
  auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = small ? 1e-2 : 1e-3});
  auto step = tn::compile([&](Tensor x, Tensor y) {
    auto [logits, cache] = model(x);
    const Tensor loss = tn::cross_entropy(logits.flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss;
  });
  const Tensor windows = ids.unfold(0, context + 1, 1);
  const auto held_out_loss = [&] {
    const tn::NoGrad off;
    const Tensor rows = held_out.unfold(0, context + 1, context).slice(0, 0, 64);
    auto [logits, cache] = model(rows.slice(1, 0, -1));
    return tn::cross_entropy(logits.flatten(0, 1), rows.slice(1, 1).flatten()).item<double>();
  };
  std::printf("loss_before %.3f\n", held_out_loss());
  for (int64_t i = 1; i <= steps; ++i) {
    const Tensor rows = windows.index_select(0, tn::randint(windows.size(0), {batch}));
    const Tensor loss = step(rows.slice(1, 0, -1).contiguous(), rows.slice(1, 1).contiguous());
    if (i % 100 == 0) std::printf("step %d: loss %.3f\n", int(i), loss.item<double>());
  }
  std::printf("loss_after %.3f\n", held_out_loss());

  model.eval();
  const Tensor start = held_out.slice(0, 0, 16).unsqueeze(0);
  Tensor written[2];
  for (const bool cached : {false, true}) {
    const auto begin = std::chrono::steady_clock::now();
    written[cached] = write_on(model, start, context - 16, cached);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::printf("%s a cache: %.2f ms per letter\n", cached ? "with" : "without",
                1e3 * taken.count() / double(context - 16));
  }
  std::printf("same_letters %d\n", int(written[0].equal(written[1])));
  // The logits behind a text read at once, and read in two parts.
  const tn::NoGrad off;
  auto [whole, cache] = model(start);
  auto [first, half] = model(start.slice(1, 0, 15));
  auto [last, rest] = model(start.slice(1, 15), half);
  std::printf("logits_differ_by %.1e\n", (whole.slice(1, 15) - last).abs().max().item<double>());
  for (const int64_t id : written[1].to_vector<int64_t>()) std::putchar(letters[size_t(id)]);
  std::putchar('\n');
}
