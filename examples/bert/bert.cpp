// BERT (Devlin et al., arXiv:1810.04805) from a file of weights as Hugging Face keeps them: the
// children have its names, so that the file loads as it is, with the sizes that its tensors have. It
// prints what BERT makes of two sentences, and learns words that are masked, in five steps. Without
// dropout, so that PyTorch gives the same numbers: tiny_bert.py writes a small file and prints them.
//
//   bert model.safetensors HEADS
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tenon/tenon.hpp>
namespace tn = tenon;
using tn::Tensor;

struct Sizes {
  int64_t words, width, places, kinds, inner, layers, heads;
};

tn::Object norm(int64_t width) { return tn::nn::LayerNorm(width, {.eps = 1e-12}); }

// The end of both halves of a layer.
struct Output : tn::Module {
  tn::Object dense, layer_norm;
  Output(int64_t in, int64_t out)
      : dense(child("dense", tn::nn::Linear(in, out))), layer_norm(child("LayerNorm", norm(out))) {}
  Tensor forward(Tensor x, Tensor before) { return layer_norm(dense(x) + before); }
};

struct SelfAttention : tn::Module {
  tn::Object query, key, value;
  int64_t heads;
  explicit SelfAttention(const Sizes& s)
      : query(child("query", tn::nn::Linear(s.width, s.width))),
        key(child("key", tn::nn::Linear(s.width, s.width))),
        value(child("value", tn::nn::Linear(s.width, s.width))),
        heads(s.heads) {}
  Tensor forward(Tensor x, Tensor mask) {
    const auto split = [&](const Tensor& t) {
      return t.unflatten(-1, {heads, -1}).transpose(1, 2);
    };
    const Tensor seen =
        tn::scaled_dot_product_attention(split(query(x)), split(key(x)), split(value(x)), mask);
    return seen.transpose(1, 2).flatten(2);
  }
};

struct Layer : tn::Module {
  tn::Made<SelfAttention> self;
  tn::Made<Output> attended, output;
  tn::Object inner;
  explicit Layer(const Sizes& s)
      : self(tn::make<SelfAttention>(s)),
        attended(tn::make<Output>(s.width, s.width)),
        output(tn::make<Output>(s.inner, s.width)),
        inner(tn::nn::Linear(s.width, s.inner)) {
    child("attention", tn::nn::ModuleDict({{"self", self}, {"output", attended}}));
    child("intermediate", tn::nn::ModuleDict({{"dense", inner}}));
    child("output", output);
  }
  Tensor forward(Tensor x, Tensor mask) {
    x = attended(self(x, mask), x);
    return output(tn::gelu(inner(x)), x);
  }
};

struct Bert : tn::Module {
  tn::Object words, places, kinds, embedded, pooler, transform, transform_norm;
  tn::nn::ModuleList layers;
  Tensor bias;
  explicit Bert(const Sizes& s)
      : words(tn::nn::Embedding(s.words, s.width)),
        places(tn::nn::Embedding(s.places, s.width)),
        kinds(tn::nn::Embedding(s.kinds, s.width)),
        embedded(norm(s.width)),
        pooler(tn::nn::Linear(s.width, s.width)),
        transform(tn::nn::Linear(s.width, s.width)),
        transform_norm(norm(s.width)) {
    using tn::nn::ModuleDict;
    for (int64_t i = 0; i < s.layers; ++i) layers.append(tn::make<Layer>(s));
    const ModuleDict embeddings({{"word_embeddings", words},
                                 {"position_embeddings", places},
                                 {"token_type_embeddings", kinds},
                                 {"LayerNorm", embedded}});
    child("bert", ModuleDict({{"embeddings", embeddings},
                              {"encoder", ModuleDict({{"layer", layers}})},
                              {"pooler", ModuleDict({{"dense", pooler}})}}));
    const ModuleDict predictions(
        {{"transform", ModuleDict({{"dense", transform}, {"LayerNorm", transform_norm}})}});
    bias = predictions.parameter("bias", tn::zeros({s.words}));
    child("cls", ModuleDict({{"predictions", predictions}}));
  }
  // Of words and their sentences [n, t], and which of them are no padding: what stands for each word
  // [n, t, width], for each pair of sentences [n, width], and logits of the words [n, t, words].
  std::tuple<Tensor, Tensor, Tensor> forward(Tensor ids, Tensor sentence, Tensor is_word) {
    Tensor x = embedded(words(ids) + places(tn::arange(ids.size(1))) + kinds(sentence));
    const Tensor mask = is_word.unsqueeze(1).unsqueeze(1);  // of keys, for all heads and queries
    for (const tn::Object& layer : layers) x = layer(x, mask);
    const Tensor transformed = transform_norm(tn::gelu(transform(x)));
    // The words' own vectors are the weights of the last layer, too.
    const Tensor logits = tn::linear(transformed, words.tensor("weight"), bias);
    return {x, pooler(x.select(1, 0)).tanh(), logits};
  }
};

void print(const char* name, const Tensor& numbers) {
  std::printf("%s", name);
  for (const double number : numbers.flatten().to_vector<double>()) std::printf(" %.6f", number);
  std::printf("\n");
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "bert model.safetensors HEADS\n"), 2;
  tn::load_plugins();
  const tn::NamedTensors file = tn::load(argv[1]);
  Sizes s{.heads = std::atoi(argv[2])};
  for (const auto& [name, tensor] : file) {
    if (name.ends_with("word_embeddings.weight"))
      s.words = tensor.size(0), s.width = tensor.size(1);
    if (name.ends_with("position_embeddings.weight")) s.places = tensor.size(0);
    if (name.ends_with("token_type_embeddings.weight")) s.kinds = tensor.size(0);
    if (name.ends_with("0.intermediate.dense.weight")) s.inner = tensor.size(0);
    if (name.ends_with("intermediate.dense.weight")) ++s.layers;
  }
  auto model = tn::make<Bert>(s);
  model.load_state_dict(file);

  // Two sentences each; the second row is shorter, and 0 behind it is padding.
  const Tensor ids = tn::tensor({{2, 17, 25, 9, 3, 31, 40, 3}, {2, 8, 44, 3, 19, 3, 0, 0}});
  const Tensor sentence = tn::tensor({{0, 0, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 0, 0}});
  const Tensor is_word = ids != 0;
  {
    const tn::NoGrad off;
    auto [hidden, pooled, logits] = model(ids, sentence, is_word);
    print("hidden", hidden[{1, tn::slice(0, 6)}].norm(2, {-1}));
    print("pooled", pooled.slice(1, 0, 8));
    print("logits", logits[{0, 2}].slice(0, 0, 8));
  }
  // Two words are hidden by the word 4, and have to be found.
  const Tensor hidden_at = tn::tensor({{0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 1, 0, 0, 0}}) == 1;
  const Tensor masked = ids.masked_fill(hidden_at, 4), target = ids.masked_fill(~hidden_at, -100);
  auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 1e-3});
  for (int step = 0; step < 5; ++step) {
    auto [hidden, pooled, logits] = model(masked, sentence, is_word);
    const Tensor loss = tn::cross_entropy(logits.flatten(0, 1), target.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    print("loss", loss);
  }
}
