// Attention: softmax(query key^T) value, with masks, shared heads and positions by rotation.
#include <algorithm>
#include <cmath>

#include "pack.h"

namespace tenon::ops_pack {
namespace {

constinit ExpressionRef not_before{"_not_before(Tensor i, Tensor j) -> Tensor", "i >= j"};
constinit ExpressionRef or_else{"_or_else(Tensor x, Tensor inside, float other) -> Tensor",
                                "where(inside, x, other)"};
constinit ExpressionRef is_reached{"_is_reached(Tensor top) -> Tensor", "top != -inf"};
// A plane turned by an angle.
constinit ExpressionRef turned{
    "_turned(Tensor x, Tensor y, Tensor cos, Tensor sin) -> (Tensor, Tensor)",
    "x * cos - y * sin\n y * cos + x * sin"};

constexpr double kNever = -INFINITY;
constexpr const char* kAttention = "scaled_dot_product_attention";

// Where j <= i, [n, m]: the mask begins at the top left, as PyTorch's.
Tensor causal_mask(int64_t n, int64_t m, Device device) {
  return prim::elementwise(not_before, prim::reshape(prim::iota(n, 0, 1, int64, device), {n, 1}),
                           prim::iota(m, 0, 1, int64, device));
}

// A query that may look at nothing gets zeros, and gives no gradient.
Tensor safe_softmax(const Tensor& scores) {
  if (scores.numel() == 0) return softmax(scores, -1);
  Tensor reached;
  {
    NoGrad guard;
    reached = prim::elementwise(is_reached, prim::reduce(TN_REDUCE_MAX, scores, -1, true));
  }
  Tensor weights = softmax(prim::elementwise(or_else, scores, reached, 0.0), -1);
  return prim::elementwise(or_else, weights, reached, 0.0);
}

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, bool gqa) {
  int64_t least = gqa ? 3 : 2;
  bool fits = query.dim() >= least && key.dim() >= least && value.dim() >= least &&
              query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2);
  fits = fits && query.dtype() == key.dtype() && key.dtype() == value.dtype() &&
         query.dtype().is_float();
  if (fits && gqa) {
    fits = key.size(-3) == value.size(-3) && key.size(-3) > 0 && query.size(-3) % key.size(-3) == 0;
  }
  if (fits) return;
  auto text = [](const Tensor& t) { return sizes_text(t.sizes()) + " (" + t.dtype().name() + ")"; };
  fail(std::string(kAttention) + ": query is " + text(query) + ", key is " + text(key) +
       ", value is " + text(value) + "; expected query [.., n, e], key [.., m, e], value [.., m, " +
       "v] of one floating dtype" +
       (gqa ? ", query's heads, dimension -3, a multiple of those of key and value" : ""));
}

// Without weights that are dropped: the part that a backend may have as a kernel, which draws no
// random numbers. Both get halves as they came, and are computed in float32 where no kernel is.
constinit OpRef plain_attention{"ops._attention"}, dropped_attention{"ops._attention_dropout"};

void check_call(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                double dropout_p, bool is_causal, bool enable_gqa) {
  check_attention(query, key, value, enable_gqa);
  if (is_causal && mask.defined())
    fail(detail::joined({kAttention, ": attn_mask is given and is_causal is set, expected one"}));
  if (mask.defined() && mask.dtype() != bool_ && mask.dtype() != query.dtype()) {
    fail(detail::joined({kAttention, ": attn_mask is ", mask.dtype().name(),
                         ", expected bool or query's ", query.dtype().name()}));
  }
  if (mask.defined()) {
    const Sizes wanted{query.size(-2), key.size(-2)};
    const Sizes rows = last_sizes(mask, std::min<int64_t>(mask.dim(), 2));
    for (size_t d = 1; d <= rows.size(); ++d) {
      const int64_t size = rows[rows.size() - d];
      if (size == 1 || size == wanted[2 - d]) continue;
      fail(detail::joined({kAttention, ": attn_mask is ", sizes_text(mask.sizes()),
                           ", expected it to broadcast to [.., ", std::to_string(wanted[0]), ", ",
                           std::to_string(wanted[1]), "], a row a query and a column a key"}));
    }
  }
  if (!(dropout_p >= 0 && dropout_p <= 1)) {
    fail(std::string(kAttention) + ": dropout_p is " + number_text(dropout_p) +
         ", expected 0 to 1");
  }
}

// [.., n, v], where what leads broadcasts.
Meta attention_meta(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                    bool is_causal, bool enable_gqa) {
  check_call(query, key, value, mask, 0, is_causal, enable_gqa);
  Sizes lead;
  const auto join = [&](const Tensor& t, int64_t behind) {
    const Sizes own = first_sizes(t, std::max<int64_t>(0, t.dim() - behind));
    if (own.size() > lead.size()) lead.insert(lead.begin(), own.size() - lead.size(), 1);
    for (size_t d = 1; d <= own.size(); ++d) {
      int64_t& size = lead[lead.size() - d];
      const int64_t its = own[own.size() - d];
      if (size != its && size != 1 && its != 1) {
        const std::string of_mask =
            mask.defined() ? ", attn_mask is " + sizes_text(mask.sizes()) : "";
        fail(detail::joined({kAttention, ": query is ", sizes_text(query.sizes()), ", key is ",
                             sizes_text(key.sizes()), ", value is ", sizes_text(value.sizes()),
                             of_mask, "; expected dimensions in front that broadcast"}));
      }
      if (size == 1) size = its;
    }
  };
  // The heads of query, dimension -3, are those of the result.
  for (const Tensor& t : {query, key, value}) join(t, enable_gqa ? 3 : 2);
  if (enable_gqa) lead.push_back(query.size(-3));
  if (mask.defined()) join(mask, 2);
  return Meta(joined_sizes({lead, {query.size(-2), value.size(-1)}}), query.dtype(),
              query.device());
}

// A mask of numbers in query's dtype. What that cannot hold is its greatest number, so that a row of
// the least of float32 is still a row of equal numbers, and not of -inf.
Tensor mask_as(const Tensor& mask, Dtype dtype) {
  const bool differs = mask.defined() && mask.dtype().is_float() && mask.dtype() != dtype;
  if (!differs || !dtype.is_float()) return mask;
  if (mask.dtype().itemsize() <= dtype.itemsize() && dtype != float16) return as_dtype(mask, dtype);
  const double most = finfo(dtype).max;
  const Tensor x = wide(mask);  // a bfloat16 rounds float16's greatest number up, to one too great
  return as_dtype(where(isinf(x), x, clamp(x, -most, most)), dtype);
}

// Heads of key or value as many as those of query, each for as many of these as come to it.
Tensor spread_heads(const Tensor& t, int64_t heads) {
  const Sizes front = first_sizes(t, t.dim() - 2), behind = last_sizes(t, 2);
  const Tensor each =
      prim::expand(unsqueeze(t, -3), joined_sizes({front, {heads / t.size(-3)}, behind}));
  Sizes sizes = sizes_of(t);
  sizes[sizes.size() - 3] = heads;
  return prim::reshape(each, sizes);
}

Tensor attended(Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                bool is_causal, optional<double> scale, bool enable_gqa, bool below) {
  if (!below) {
    mask = mask_as(mask, query.dtype());
    const bool has_heads = query.dim() > 2 && key.dim() > 2 && value.dim() > 2;
    const bool are_alike = query.dtype() == key.dtype() && key.dtype() == value.dtype();
    if (enable_gqa && has_heads && are_alike &&
        key.size(-3) != value.size(-3)) {  // which no kernel knows
      const int64_t heads = query.size(-3), of_key = key.size(-3), of_value = value.size(-3);
      if (of_key > 0 && of_value > 0 && heads % of_key == 0 && heads % of_value == 0) {
        // In float32, in which the gradients of what is there several times are added.
        const Dtype dtype = query.dtype();
        const bool has_numbers = mask.defined() && mask.dtype() != bool_;
        return as_dtype(attended(wide(query), spread_heads(wide(key), heads),
                                 spread_heads(wide(value), heads), has_numbers ? wide(mask) : mask,
                                 dropout_p, is_causal, scale, enable_gqa, below),
                        dtype);
      }
    }
  }
  check_call(query, key, value, mask, dropout_p, is_causal, enable_gqa);
  if (!below) {
    if (dropout_p == 0)
      return call(plain_attention, query, key, value, mask, is_causal, scale, enable_gqa);
    return call(dropped_attention, query, key, value, mask, dropout_p, is_causal, scale,
                enable_gqa);
  }
  int64_t heads = enable_gqa ? query.size(-3) : 1, shared = enable_gqa ? key.size(-3) : 1;
  int64_t n = query.size(-2), m = key.size(-2);
  bool grouped = heads != shared;
  if (grouped) {  // [.., heads, n, e] as [.., shared, heads / shared, n, e]
    auto split = [&](const Tensor& t, int64_t each) {
      return prim::reshape(
          t, joined_sizes({first_sizes(t, t.dim() - 3), {shared, each, t.size(-2), t.size(-1)}}));
    };
    query = split(query, heads / shared);
    key = split(key, 1);
    value = split(value, 1);
  }
  auto whole = [&](const Tensor& t) {
    if (!grouped) return t;
    return prim::reshape(
        t, joined_sizes({first_sizes(t, t.dim() - 4), {heads, t.size(-2), t.size(-1)}}));
  };
  double factor = scale ? *scale : 1 / std::sqrt(double(query.size(-1)));
  Tensor scores =
      whole(prim::matmul(prim::elementwise(scaled, query, factor), transpose(key, -2, -1)));
  Tensor weights;
  if (is_causal) {
    weights =
        softmax(prim::elementwise(or_else, scores, causal_mask(n, m, query.device()), kNever), -1);
  } else if (mask.defined()) {
    weights = safe_softmax(mask.dtype() == bool_ ? prim::elementwise(or_else, scores, mask, kNever)
                                                 : prim::elementwise(plus, scores, mask));
  } else {
    weights = softmax(scores, -1);
  }
  if (dropout_p > 0) weights = dropout(weights, dropout_p, true);
  if (grouped) {
    weights = prim::reshape(weights, joined_sizes({first_sizes(weights, weights.dim() - 3),
                                                   {shared, heads / shared, n, m}}));
  }
  return whole(prim::matmul(weights, value));
}

// Su et al., arXiv:2104.09864. The planes are those of elements i and i + r / 2, or 2 i and 2 i +
// 1, of the first r = 2 * cos.size(-1); what is behind passes.
Tensor rotated(Tensor x, Tensor cos, Tensor sin, bool interleaved) {
  bool fits = x.dim() >= 1 && cos.dim() >= 1 && sin.dim() == cos.dim() && x.dtype().is_float();
  fits = fits && last_sizes(sin, sin.dim()) == last_sizes(cos, cos.dim()) &&
         2 * cos.size(-1) <= x.size(-1);
  if (!fits) {
    fail(
        "rotary_embedding: x is " + sizes_text(x.sizes()) + " (" + x.dtype().name() + "), cos is " +
        sizes_text(cos.sizes()) + ", sin is " + sizes_text(sin.sizes()) +
        "; expected x [.., d] of a floating dtype, cos and sin [.., planes], at most d / 2 planes");
  }
  int64_t planes = cos.size(-1), d = x.size(-1);
  Tensor part = prim::slice(x, -1, 0, 2 * planes);
  Tensor a, b;
  if (interleaved) {
    a = prim::slice(part, -1, 0, 2 * planes, 2);
    b = prim::slice(part, -1, 1, 2 * planes, 2);
  } else {
    a = prim::slice(part, -1, 0, planes);
    b = prim::slice(part, -1, planes, 2 * planes);
  }
  auto [first, second] = prim::elementwise<std::tuple<Tensor, Tensor>>(turned, a, b, cos, sin);
  Tensor y;
  if (interleaved) {
    Sizes sizes = last_sizes(first, first.dim());
    y = cat({unsqueeze(first, -1), unsqueeze(second, -1)}, -1);
    sizes.back() = 2 * planes;
    y = prim::reshape(y, sizes);
  } else {
    y = cat({first, second}, -1);
  }
  if (y.dtype() != x.dtype()) y = prim::copy(y, x.dtype());
  return 2 * planes == d ? y : cat({y, prim::slice(x, -1, 2 * planes, d)}, -1);
}

}  // namespace

void attention() {
  op("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
     "float dropout_p=0, bool is_causal=False, float? scale=None, bool enable_gqa=False) -> Tensor")
      .doc(
          "softmax(query key^T * scale + mask) value: query [.., n, e], key [.., m, e], value [.., "
          "m, v]. attn_mask is bool (true: looked at) or added; scale None: 1 / sqrt(e). Vaswani "
          "et al., arXiv:1706.03762.")
      .random()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                  bool is_causal, optional<double> scale, bool enable_gqa) {
        return attended(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa, false);
      });
  op("_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool "
     "is_causal=False, float? scale=None, bool enable_gqa=False) -> Tensor")
      .infer([](Tensor query, Tensor key, Tensor value, Tensor mask, bool is_causal,
                optional<double>, bool enable_gqa) {
        return attention_meta(query, key, value, mask, is_causal, enable_gqa);
      })
      .meaning([](Tensor query, Tensor key, Tensor value, Tensor mask, bool is_causal,
                  optional<double> scale, bool enable_gqa) {
        return attended(query, key, value, mask, 0, is_causal, scale, enable_gqa, true);
      });
  op("_attention_dropout(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float "
     "dropout_p, bool is_causal, float? scale, bool enable_gqa) -> Tensor")
      .random()
      .meaning([](Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                  bool is_causal, optional<double> scale, bool enable_gqa) {
        return attended(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa, true);
      });
  op("rotary_embedding(Tensor x, Tensor cos, Tensor sin, bool interleaved=False) -> Tensor")
      .doc(
          "x [.., n, d] turned by angles, whose cos and sin are [.., n, d / 2] or fewer: halves, "
          "or interleaved pairs. Su et al., arXiv:2104.09864.")
      .amp(Amp::widest)
      .meaning(rotated);
}

}  // namespace tenon::ops_pack
