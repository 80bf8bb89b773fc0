// Multi-head attention and the layers of transformers (Vaswani et al., 2017), with PyTorch's
// options and names. Masks are PyTorch's here too: true in a mask of bool is where attention may
// not look, while scaled_dot_product_attention's is where it may.
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

// Xavier uniform (Glorot and Bengio, 2010).
Tensor xavier_uniform(int64_t rows, int64_t columns) {
  const double bound = std::sqrt(6.0 / (double(rows) + double(columns)));
  return uniform({rows, columns}, -bound, bound);
}

// Two masks as one; either may be null. Bools stay bools, else numbers to add.
Tensor both_masks(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  const bool a_is_bool = a.dtype() == bool_, b_is_bool = b.dtype() == bool_;
  if (a_is_bool && b_is_bool) return logical_or(a, b);
  if (a_is_bool) return where(a, -INFINITY, b);
  if (b_is_bool) return where(b, -INFINITY, a);
  return a + b;
}

void expect_mask(const char* name, const Tensor& mask, bool fits, const std::string& expected) {
  if (!mask.defined() || fits) return;
  fail(std::string(name) + " is " + sizes_text(mask) + ", expected " + expected);
}

bool has_sizes(const Tensor& x, std::vector<int64_t> sizes) {
  return std::vector<int64_t>(x.sizes().begin(), x.sizes().end()) == sizes;
}

struct Masks {
  Tensor key_padding;  // [n, m], of keys
  Tensor attention;    // [t, m] or [n * heads, t, m]
  bool is_causal = false;
};

struct Attention {
  int64_t embed_dim, num_heads, kdim, vdim;
  double dropout;
  bool batch_first;
  bool add_bias_kv, add_zero_attn;

  bool packed() const { return kdim == embed_dim && vdim == embed_dim; }

  void check(const char* name, const Tensor& x, int64_t rank, int64_t features) const {
    if (x.dim() == rank && x.size(-1) == features) return;
    fail(std::string(name) + " is " + sizes_text(x) + ", expected " +
         (rank == 2     ? "[t, "
          : batch_first ? "[n, t, "
                        : "[t, n, ") +
         std::to_string(features) + "]");
  }

  // One batch does not broadcast to another.
  void check_batches(const Tensor& query, const Tensor& key, const Tensor& value) const {
    const int64_t d = batch_first ? 0 : 1, n = query.size(d);
    for (const auto& [name, t] : {std::pair("key", &key), std::pair("value", &value)}) {
      if (t->size(d) == n) continue;
      fail(std::string(name) + " is " + sizes_text(*t) + ", a batch of " +
           std::to_string(t->size(d)) + ", and query " + sizes_text(query) + ", a batch of " +
           std::to_string(n) + "; expected the same");
    }
  }

  std::vector<Tensor> projected(const Object& self, const Tensor& query, const Tensor& key,
                                const Tensor& value) const {
    const Tensor bias = self.tensor("in_proj_bias");
    const auto part_of = [&](const Tensor& t, int64_t first, int64_t n) {
      return t.defined() ? narrow(t, 0, first * embed_dim, n * embed_dim) : t;
    };
    if (!packed()) {
      return {linear(query, self.tensor("q_proj_weight"), part_of(bias, 0, 1)),
              linear(key, self.tensor("k_proj_weight"), part_of(bias, 1, 1)),
              linear(value, self.tensor("v_proj_weight"), part_of(bias, 2, 1))};
    }
    // What is the same tensor is multiplied once.
    const Tensor weight = self.tensor("in_proj_weight");
    if (key.is_same(value)) {
      if (query.is_same(key)) return chunk(linear(query, weight, bias), 3, -1);
      std::vector<Tensor> list =
          chunk(linear(key, part_of(weight, 1, 2), part_of(bias, 1, 2)), 2, -1);
      list.insert(list.begin(), linear(query, part_of(weight, 0, 1), part_of(bias, 0, 1)));
      return list;
    }
    return {linear(query, part_of(weight, 0, 1), part_of(bias, 0, 1)),
            linear(key, part_of(weight, 1, 1), part_of(bias, 1, 1)),
            linear(value, part_of(weight, 2, 1), part_of(bias, 2, 1))};
  }

  // [n, t, e] or [t, n, e] as [n, heads, t, e / heads], a view.
  Tensor heads_of(const Tensor& x) const {
    const Tensor split = reshape(x, {x.size(0), x.size(1), num_heads, x.size(2) / num_heads});
    return permute(split, batch_first ? Ints{0, 2, 1, 3} : Ints{1, 2, 0, 3});
  }

  // How many keys stand behind those of the call, which no mask hides.
  int64_t n_added() const { return int64_t(add_bias_kv) + int64_t(add_zero_attn); }

  // Keys or values, projected, with those that stand behind: `bias` or none, then zeros.
  Tensor with_added(const Tensor& x, const Tensor& bias) const {
    if (n_added() == 0) return x;
    const int64_t n = x.size(batch_first ? 0 : 1);
    std::vector<int64_t> one = {n, 1, embed_dim};
    if (!batch_first) std::swap(one[0], one[1]);
    std::vector<Tensor> list = {x};
    if (add_bias_kv) list.push_back(expand(bias, one).to(x.dtype()));
    if (add_zero_attn) list.push_back(zeros(one, x.dtype(), x.device()));
    return cat(list, batch_first ? 1 : 0);
  }

  // For scores of [n, heads, t, m], of which the keys of the call are the first; null where nothing
  // is masked but by is_causal alone.
  Tensor mask_of(const Masks& masks, const Tensor& scores_query, int64_t m) const {
    const Tensor mask = mask_of_given(masks, scores_query, m);
    if (n_added() == 0 || (!mask.defined() && !masks.is_causal)) return mask;
    const Tensor given =
        mask.defined() ? mask : tril(ones({scores_query.size(2), m}, bool_, scores_query.device()));
    // What is added may be looked at by all: true in a mask of bool here, and 0 to add.
    return pad(given, {0, n_added()}, "constant", given.dtype() == bool_ ? 1 : 0);
  }
  Tensor mask_of_given(const Masks& masks, const Tensor& scores_query, int64_t m) const {
    const int64_t n = scores_query.size(0), t = scores_query.size(2);
    Tensor padding = masks.key_padding, mask = masks.attention;
    expect_mask("key_padding_mask", padding, padding.defined() && has_sizes(padding, {n, m}),
                "[" + std::to_string(n) + ", " + std::to_string(m) + "]");
    const bool whole = mask.defined() && has_sizes(mask, {t, m});
    const bool by_head = mask.defined() && has_sizes(mask, {n * num_heads, t, m});
    expect_mask("attn_mask", mask, whole || by_head,
                "[" + std::to_string(t) + ", " + std::to_string(m) + "] or [" +
                    std::to_string(n * num_heads) + ", " + std::to_string(t) + ", " +
                    std::to_string(m) + "]");
    if (by_head) mask = reshape(mask, {n, num_heads, t, m});
    if (padding.defined()) mask = both_masks(mask, reshape(padding, {n, 1, 1, m}));
    if (!mask.defined()) return mask;
    if (masks.is_causal) {
      mask = both_masks(mask, triu(ones({t, m}, bool_, scores_query.device()), 1));
    }
    return mask.dtype() == bool_ ? logical_not(mask) : mask;
  }

  Tensor operator()(const Object& self, const Tensor& query, const Tensor& key, const Tensor& value,
                    const Masks& masks) const {
    return run(self, query, key, value, masks, nullptr);
  }

  // With the weights [n, heads, t, m], or without n: dropout included, as PyTorch's.
  Tensor run(const Object& self, Tensor query, Tensor key, Tensor value, Masks masks,
             Tensor* weights) const {
    const int64_t rank = query.dim() == 2 ? 2 : 3;
    check("query", query, rank, embed_dim);
    check("key", key, rank, kdim);
    check("value", value, rank, vdim);
    if (rank == 3) check_batches(query, key, value);
    std::vector<Tensor> list = projected(self, query, key, value);
    const int64_t m = key.size(rank == 3 && batch_first ? 1 : 0);
    if (rank == 2) {
      for (Tensor& x : list) x = unsqueeze(x, batch_first ? 0 : 1);
      if (masks.key_padding.defined()) masks.key_padding = unsqueeze(masks.key_padding, 0);
    }
    if (n_added() > 0) {
      list[1] = with_added(list[1], add_bias_kv ? self.tensor("bias_k") : Tensor());
      list[2] = with_added(list[2], add_bias_kv ? self.tensor("bias_v") : Tensor());
    }
    for (Tensor& x : list) x = heads_of(x);
    const Tensor mask = mask_of(masks, list[0], m);
    const double dropped = self.training() ? dropout : 0;
    const bool causal = masks.is_causal && !mask.defined();
    Tensor y;
    if (weights == nullptr) {
      y = scaled_dot_product_attention(list[0], list[1], list[2], mask,
                                       {.dropout_p = dropped, .is_causal = causal});
    } else {
      *weights = weights_of(list[0], list[1], mask, causal, dropped);
      y = matmul(*weights, list[2]);
      if (rank == 2) *weights = squeeze(*weights, 0);
    }
    y = permute(y, batch_first ? Ints{0, 2, 1, 3} : Ints{2, 0, 1, 3});
    y = flatten(y, 2, 3);
    if (rank == 2) y = squeeze(y, batch_first ? 0 : 1);
    return self.child("out_proj")(y);
  }

 private:
  // As scaled_dot_product_attention: a query that may look at nothing has the weights 0.
  Tensor weights_of(const Tensor& query, const Tensor& key, Tensor mask, bool causal,
                    double dropped) const {
    Tensor scores = matmul(query * (1 / std::sqrt(double(query.size(-1)))), transpose(key, -2, -1));
    if (causal) mask = tril(ones({query.size(-2), key.size(-2)}, bool_, query.device()));
    if (mask.defined())
      scores = mask.dtype() == bool_ ? where(mask, scores, -INFINITY) : scores + mask;
    Tensor weights;
    if (mask.defined() && scores.numel() > 0) {
      const Tensor reached = amax(scores.detach(), -1, true) != -INFINITY;
      weights = where(reached, softmax(where(reached, scores, 0), -1), 0);
    } else {
      weights = softmax(scores, -1);
    }
    // A mask of another dtype may have widened the scores.
    return tenon::dropout(weights.to(query.dtype()), dropped, dropped > 0);
  }
};

void define_attention() {
  layer(
      "MultiheadAttention(int embed_dim, int num_heads, float dropout=0, bool bias=True, bool "
      "add_bias_kv=False, bool add_zero_attn=False, int? kdim=None, int? vdim=None, bool "
      "batch_first=False)",
      "attention(query, key, value, key_padding_mask, attn_mask, is_causal) on [t, n, embed_dim], "
      "with batch_first on [n, t, embed_dim], or without n. forward_with_weights gives the weights "
      "[n, t, m] too, the mean of the heads, or of each. In masks of bool, "
      "true is where it may not look; others are added. add_bias_kv and add_zero_attn put a "
      "learned "
      "key and value and one of zeros behind those of the call, which all may look at. Vaswani et "
      "al., arXiv:1706.03762.",
      [](Object& self, int64_t embed_dim, int64_t num_heads, double dropout, bool bias,
         bool add_bias_kv, bool add_zero_attn, std::optional<int64_t> kdim,
         std::optional<int64_t> vdim, bool batch_first) {
        expect_positive("embed_dim", embed_dim);
        expect_positive("num_heads", num_heads);
        if (embed_dim % num_heads != 0) {
          fail("embed_dim is " + std::to_string(embed_dim) +
               ", expected it divisible by num_heads, " + std::to_string(num_heads));
        }
        expect_probability("dropout", dropout);
        int64_t triple;
        if (__builtin_mul_overflow(embed_dim, int64_t(3), &triple))
          fail("embed_dim is " + std::to_string(embed_dim) + ", of which three fit no tensor");
        const Attention attention{embed_dim,
                                  num_heads,
                                  kdim.value_or(embed_dim),
                                  vdim.value_or(embed_dim),
                                  dropout,
                                  batch_first,
                                  add_bias_kv,
                                  add_zero_attn};
        expect_positive("kdim", attention.kdim);
        expect_positive("vdim", attention.vdim);
        if (attention.packed()) {
          self.parameter("in_proj_weight", xavier_uniform(triple, embed_dim));
        } else {
          self.parameter("q_proj_weight", xavier_uniform(embed_dim, embed_dim));
          self.parameter("k_proj_weight", xavier_uniform(embed_dim, attention.kdim));
          self.parameter("v_proj_weight", xavier_uniform(embed_dim, attention.vdim));
        }
        self.parameter("in_proj_bias", bias ? zeros(triple) : Tensor());
        if (add_bias_kv) {  // Xavier normal
          const double deviation = std::sqrt(1 / double(embed_dim));
          for (const char* name : {"bias_k", "bias_v"})
            self.parameter(name, randn({1, 1, embed_dim}) * deviation);
        }
        const Object out_proj = self.child("out_proj", nn::Linear(embed_dim, embed_dim, bias));
        if (bias) out_proj.tensor("bias").detach().zero_();
        self.method(
            "forward(Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask=None, "
            "Tensor? attn_mask=None, bool is_causal=False) -> Tensor",
            [attention](Object& self, Tensor query, Tensor key, Tensor value,
                        Tensor key_padding_mask, Tensor attn_mask, bool is_causal) {
              return attention(self, query, key, value, {key_padding_mask, attn_mask, is_causal});
            });
        self.method(
            "forward_with_weights(Tensor query, Tensor key, Tensor value, Tensor? "
            "key_padding_mask=None, Tensor? attn_mask=None, bool average_attn_weights=True, bool "
            "is_causal=False) -> (Tensor output, Tensor weights)",
            [attention](Object& self, Tensor query, Tensor key, Tensor value,
                        Tensor key_padding_mask, Tensor attn_mask, bool average_attn_weights,
                        bool is_causal) {
              Tensor weights;
              const Tensor y = attention.run(self, query, key, value,
                                             {key_padding_mask, attn_mask, is_causal}, &weights);
              return std::tuple{y, average_attn_weights ? mean(weights, -3) : weights};
            });
      });
}

// ---- The layers of encoders and decoders ----

struct Block {
  int64_t d_model, nhead, dim_feedforward;
  double dropout;
  std::string activation;
  double layer_norm_eps;
  bool batch_first, norm_first, bias;
};

constexpr const char* kBlockOptions =
    "(int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, str "
    "activation=\"relu\", float layer_norm_eps=1e-5, bool batch_first=False, bool "
    "norm_first=False, bool bias=True, bool is_causal=False)";

Object attention_of(const Block& b) {
  return Object::create("MultiheadAttention", b.d_model, b.nhead, b.dropout, b.bias, false, false,
                        none, none, b.batch_first);
}

// The children in PyTorch's order; `attentions` come first.
void add_children(Object& self, const Block& b, std::initializer_list<const char*> attentions) {
  expect_positive("d_model", b.d_model);
  expect_positive("nhead", b.nhead);
  expect_positive("dim_feedforward", b.dim_feedforward);
  expect_probability("dropout", b.dropout);
  if (b.activation != "relu" && b.activation != "gelu")
    fail("activation is '" + b.activation + "', expected relu or gelu");
  for (const char* name : attentions) self.child(name, attention_of(b));
  self.child("linear1", nn::Linear(b.d_model, b.dim_feedforward, b.bias));
  self.child("dropout", nn::Dropout(b.dropout));
  self.child("linear2", nn::Linear(b.dim_feedforward, b.d_model, b.bias));
  const size_t n = attentions.size() + 1;
  for (size_t i = 1; i <= n; ++i) {
    self.child("norm" + std::to_string(i),
               nn::LayerNorm(b.d_model, {.eps = b.layer_norm_eps, .bias = b.bias}));
  }
  for (size_t i = 1; i <= n; ++i) self.child("dropout" + std::to_string(i), nn::Dropout(b.dropout));
}

// x plus branch i (from 1) with its dropout, and the norm before the branch or after the sum.
template <typename F>
Tensor with_branch(const Object& self, const Block& b, int i, const Tensor& x, F branch) {
  const Object norm = self.child("norm" + std::to_string(i));
  const Object dropout = self.child("dropout" + std::to_string(i));
  if (b.norm_first) return x + dropout(branch(norm(x)));
  return norm(x + dropout(branch(x)));
}

Tensor after_attention(const Object& self, const Block& b, const Tensor& x) {
  const Tensor inner = self.child("linear1")(x);
  return self.child("linear2")(
      self.child("dropout")(b.activation == "gelu" ? gelu(inner) : relu(inner)));
}

// f(self, block, is_causal) adds children and forward.
template <typename F>
void define_block(const char* name, const char* doc, F f) {
  layer((name + std::string(kBlockOptions)).c_str(), doc,
        [f](Object& self, int64_t d_model, int64_t nhead, int64_t dim_feedforward, double dropout,
            std::string activation, double layer_norm_eps, bool batch_first, bool norm_first,
            bool bias, bool is_causal) {
          f(self,
            Block{d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
                  norm_first, bias},
            is_causal);
        });
}

void define_blocks() {
  define_block(
      "TransformerEncoderLayer",
      "layer(src, src_mask, src_key_padding_mask, is_causal). The option is_causal holds for each "
      "call, so that the layer can stand in a Sequential. activation: relu or gelu. Vaswani et "
      "al., arXiv:1706.03762.",
      [](Object& self, const Block& b, bool always) {
        add_children(self, b, {"self_attn"});
        self.method(
            "forward(Tensor src, Tensor? src_mask=None, Tensor? src_key_padding_mask=None, bool "
            "is_causal=False) -> Tensor",
            [b, always](Object& self, Tensor src, Tensor mask, Tensor padding, bool is_causal) {
              Tensor x = with_branch(self, b, 1, src, [&](const Tensor& x) {
                return self.child("self_attn")(x, x, x, padding, mask, is_causal || always);
              });
              return with_branch(self, b, 2, x,
                                 [&](const Tensor& x) { return after_attention(self, b, x); });
            });
      });
  define_block(
      "TransformerDecoderLayer",
      "layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, "
      "tgt_is_causal, memory_is_causal); the option is_causal is tgt_is_causal for each call. "
      "Vaswani et al., arXiv:1706.03762.",
      [](Object& self, const Block& b, bool always) {
        add_children(self, b, {"self_attn", "multihead_attn"});
        self.method(
            "forward(Tensor tgt, Tensor memory, Tensor? tgt_mask=None, Tensor? memory_mask=None, "
            "Tensor? tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
            "tgt_is_causal=False, bool memory_is_causal=False) -> Tensor",
            [b, always](Object& self, Tensor tgt, Tensor memory, Tensor tgt_mask,
                        Tensor memory_mask, Tensor tgt_padding, Tensor memory_padding,
                        bool tgt_is_causal, bool memory_is_causal) {
              Tensor x = with_branch(self, b, 1, tgt, [&](const Tensor& x) {
                return self.child("self_attn")(x, x, x, tgt_padding, tgt_mask,
                                               tgt_is_causal || always);
              });
              x = with_branch(self, b, 2, x, [&](const Tensor& x) {
                return self.child("multihead_attn")(x, memory, memory, memory_padding, memory_mask,
                                                    memory_is_causal);
              });
              return with_branch(self, b, 3, x,
                                 [&](const Tensor& x) { return after_attention(self, b, x); });
            });
      });
}

}  // namespace

void add_attention_layers() {
  define_attention();
  define_blocks();
}

}  // namespace layers
