// einsum: the equation read, and the operands contracted pair by pair through matmul.
#include "pack.h"

#include <algorithm>
#include <limits>

namespace tenon::ops_pack {
namespace {

// A label is a letter's code, or 128 + i for the dimension of '...' that is the i-th from its end.
using Labels = std::vector<int>;
constexpr int kEllipsis = 128;

struct Term {
  Tensor x;
  Labels labels;  // of its dimensions, none twice
};

bool has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}
int64_t place(const Labels& labels, int label) {
  return std::ranges::find(labels, label) - labels.begin();
}

[[noreturn]] void refuse(string_view equation, const std::string& why) {
  fail("einsum: '" + std::string(equation) + "': " + why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Is there more than one sum or product, whose values between them halves would round? Of operands
// of one half dtype: others are promoted or refused.
bool rounds_between(const std::vector<Term>& terms, const Labels& output) {
  for (const Term& term : terms) {
    if (!term.x.dtype().is_half() || term.x.dtype() != terms[0].x.dtype()) return false;
  }
  if (terms.size() != 2) return terms.size() > 2;
  for (int i : {0, 1}) {
    for (int label : terms[size_t(i)].labels) {
      if (!has(output, label) && !has(terms[size_t(1 - i)].labels, label)) return true;
    }
  }
  return false;
}

// The labels of one part of the equation; '...' stands for n dimensions.
Labels read_part(string_view equation, string_view part, int64_t n) {
  Labels labels;
  bool dots = false;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == ' ') continue;
    if (is_letter(part[i])) {
      labels.push_back(part[i]);
    } else if (part.substr(i, 3) == "..." && !dots) {
      for (int64_t d = n; d-- > 0;) labels.push_back(kEllipsis + int(d));
      dots = true;
      i += 2;
    } else {
      refuse(equation, std::string("'") + part[i] +
                           "' is no index; expected letters, and '...' at most once in a part");
    }
  }
  return labels;
}
int64_t count_letters(string_view part) { return std::ranges::count_if(part, is_letter); }

// Dimensions with one label become their diagonal.
Term diagonals(const Tensor& x, const Labels& labels, string_view equation) {
  Term term{x, labels};
  for (size_t i = 0; i < term.labels.size(); ++i) {
    size_t j = i + 1;
    while (j < term.labels.size() && term.labels[j] != term.labels[i]) ++j;
    if (j == term.labels.size()) continue;
    if (term.x.size(int64_t(i)) != term.x.size(int64_t(j))) {
      refuse(equation, std::string("index '") + char(term.labels[i]) + "' is of size " +
                           std::to_string(term.x.size(int64_t(i))) + " and " +
                           std::to_string(term.x.size(int64_t(j))) + " in one operand");
    }
    int label = term.labels[i];
    term.x = diagonal(term.x, 0, int64_t(i), int64_t(j));  // which comes last
    term.labels.erase(term.labels.begin() + int64_t(j));
    term.labels.erase(term.labels.begin() + int64_t(i));
    term.labels.push_back(label);
    --i;
  }
  return term;
}

// The dimensions of x in this order; one that x has not is of size 1.
Tensor arranged(const Term& term, const Labels& order) {
  std::vector<int64_t> dims, sizes;
  for (int label : order) {
    bool there = has(term.labels, label);
    if (there) dims.push_back(place(term.labels, label));
    sizes.push_back(there ? term.x.size(dims.back()) : 1);
  }
  return prim::reshape(prim::permute(term.x, dims), sizes);
}

// Sums over what only this term has.
Term summed(const Term& term, const Labels& kept) {
  std::vector<int64_t> dims;
  Term result{term.x, {}};
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (has(kept, term.labels[d])) {
      result.labels.push_back(term.labels[d]);
    } else {
      dims.push_back(int64_t(d));
    }
  }
  if (!dims.empty()) result.x = sum(term.x, dims);
  return result;
}

int64_t product_of(const Term& a, const Labels& labels) {
  int64_t n = 1;
  for (int label : labels) n *= a.x.size(place(a.labels, label));
  return n;
}

// One matmul: what both have and is kept is the batch, what both have and is not kept is summed.
Term contracted(Term a, Term b, const Labels& kept) {
  Labels kept_or_b = kept, kept_or_a = kept;
  kept_or_b.insert(kept_or_b.end(), b.labels.begin(), b.labels.end());
  kept_or_a.insert(kept_or_a.end(), a.labels.begin(), a.labels.end());
  a = summed(a, kept_or_b);
  b = summed(b, kept_or_a);
  Labels batch, inner, left, right;
  for (int label : a.labels) {
    bool both = has(b.labels, label);
    (both ? (has(kept, label) ? batch : inner) : left).push_back(label);
  }
  for (int label : b.labels) {
    if (!has(a.labels, label)) right.push_back(label);
  }
  auto join = [](std::initializer_list<const Labels*> parts) {
    Labels all;
    for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  Labels order = join({&batch, &left, &right});
  if (inner.empty()) {  // nothing is summed: no product of matrices, and any dtype
    return {mul(arranged(a, order), arranged(b, order)), order};
  }
  int64_t n = product_of(a, batch), k = product_of(a, inner);
  int64_t rows = product_of(a, left), columns = product_of(b, right);
  Tensor x = prim::reshape(arranged(a, join({&batch, &left, &inner})), {n, rows, k});
  Tensor y = prim::reshape(arranged(b, join({&batch, &inner, &right})), {n, k, columns});
  if (batch.empty()) x = prim::reshape(x, {rows, k}), y = prim::reshape(y, {k, columns});
  std::vector<int64_t> sizes;
  for (int label : order) {
    const Term& from = has(a.labels, label) ? a : b;
    sizes.push_back(from.x.size(place(from.labels, label)));
  }
  return {prim::reshape(matmul(x, y), sizes), order};
}

// What is needed after terms i and j are contracted: by the other terms and the result.
Labels needed(const std::vector<Term>& terms, size_t i, size_t j, const Labels& output) {
  Labels labels = output;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (t == i || t == j) continue;
    labels.insert(labels.end(), terms[t].labels.begin(), terms[t].labels.end());
  }
  return labels;
}
double contracted_size(const Term& a, const Term& b, const Labels& kept) {
  double n = 1;
  for (size_t d = 0; d < a.labels.size(); ++d) {
    if (has(kept, a.labels[d])) n *= double(a.x.size(int64_t(d)));
  }
  for (size_t d = 0; d < b.labels.size(); ++d) {
    if (has(kept, b.labels[d]) && !has(a.labels, b.labels[d])) n *= double(b.x.size(int64_t(d)));
  }
  return n;
}

// "ab,bc" to its operands' parts and the result's; without "->", letters that come once, in order,
// behind what '...' stands for.
struct Equation {
  std::vector<string_view> inputs;
  string_view output;
  bool explicit_output;
};
Equation split_equation(string_view text) {
  Equation e;
  size_t arrow = text.find("->");
  e.explicit_output = arrow != text.npos;
  if (e.explicit_output) e.output = text.substr(arrow + 2);
  string_view inputs = text.substr(0, arrow);
  for (size_t at = 0;;) {
    size_t comma = inputs.find(',', at);
    e.inputs.push_back(inputs.substr(at, comma == inputs.npos ? comma : comma - at));
    if (comma == inputs.npos) return e;
    at = comma + 1;
  }
}

// The operands as terms; `spread` becomes how many dimensions the longest '...' stands for.
std::vector<Term> read_terms(const Equation& e, string_view equation, Tensors xs, int64_t* spread) {
  if (e.inputs.size() != xs.size()) {
    refuse(equation, "it names " + std::to_string(e.inputs.size()) + " operands, here are " +
                         std::to_string(xs.size()));
  }
  std::vector<Term> terms;
  *spread = 0;
  for (uint32_t i = 0; i < xs.size(); ++i) {
    Tensor x = xs[i];
    bool dots = e.inputs[i].find("...") != string_view::npos;
    int64_t letters = count_letters(e.inputs[i]), rest = x.dim() - letters;
    if (rest < 0 || (rest > 0 && !dots)) {
      refuse(equation, "operand " + std::to_string(i) + " is " + sizes_text(x.sizes()) + ", '" +
                           std::string(e.inputs[i]) + "' has " + std::to_string(letters) +
                           " indices");
    }
    if (dots) *spread = std::max(*spread, rest);
    terms.push_back(diagonals(x, read_part(equation, e.inputs[i], rest), equation));
  }
  return terms;
}

Labels output_labels(const Equation& e, string_view equation, int64_t spread) {
  Labels seen;
  for (string_view input : e.inputs) {
    Labels part = read_part(equation, input, 0);
    seen.insert(seen.end(), part.begin(), part.end());
  }
  Labels output;
  if (e.explicit_output) {
    output = read_part(equation, e.output, spread);
    for (int label : output) {
      if (std::ranges::count(output, label) > 1)
        refuse(equation, std::string("index '") + char(label) + "' is twice in the result");
      if (label < kEllipsis && !has(seen, label))
        refuse(equation, std::string("index '") + char(label) + "' of the result is in no operand");
    }
    return output;
  }
  for (int64_t d = spread; d-- > 0;) output.push_back(kEllipsis + int(d));
  std::ranges::sort(seen);
  for (int label : seen) {
    if (std::ranges::count(seen, label) == 1) output.push_back(label);
  }
  return output;
}

// The size of each label, which is 1 where all terms have 1, or none has it.
std::vector<int64_t> sizes_of_labels(const std::vector<Term>& terms, string_view equation) {
  std::vector<int64_t> sizes(kEllipsis + TN_MAX_RANK, 1);
  for (const Term& term : terms) {
    for (size_t d = 0; d < term.labels.size(); ++d) {
      int64_t size = term.x.size(int64_t(d)), &known = sizes[size_t(term.labels[d])];
      if (size != 1 && known != 1 && size != known) {
        const auto label = char(term.labels[d]);
        const bool is_named = term.labels[d] < kEllipsis;
        refuse(equation, detail::joined({is_named ? "index '" : "a dimension of '",
                                         is_named ? string_view(&label, 1) : "...", "' is of size ",
                                         std::to_string(known), " and ", std::to_string(size)}));
      }
      if (size != 1) known = size;
    }
  }
  return sizes;
}

// A dimension of size 1 beside a longer one of the same label broadcasts: its term drops it.
Term without_broadcast(const Term& term, const std::vector<int64_t>& sizes) {
  Term kept{term.x, {}};
  std::vector<int64_t> gone;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (term.x.size(int64_t(d)) == 1 && sizes[size_t(term.labels[d])] != 1) {
      gone.push_back(int64_t(d));
    } else {
      kept.labels.push_back(term.labels[d]);
    }
  }
  if (!gone.empty()) kept.x = squeeze(term.x, gone);
  return kept;
}

// Contracts always the pair whose result is the smallest: there are few operands, and the order is
// nearly always a good one.
Term contract_all(std::vector<Term> terms, const Labels& output) {
  while (terms.size() > 1) {
    size_t best_i = 0, best_j = 1;
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        double size = contracted_size(terms[i], terms[j], needed(terms, i, j, output));
        if (size < best) best = size, best_i = i, best_j = j;
      }
    }
    terms[best_i] = contracted(terms[best_i], terms[best_j], needed(terms, best_i, best_j, output));
    terms.erase(terms.begin() + int64_t(best_j));
  }
  return terms[0];
}

}  // namespace

Tensor einsum_of(string_view equation, Tensors xs) {
  const Equation e = split_equation(equation);
  int64_t spread;
  std::vector<Term> terms = read_terms(e, equation, xs, &spread);
  const Labels output = output_labels(e, equation, spread);
  const std::vector<int64_t> sizes = sizes_of_labels(terms, equation);
  for (Term& term : terms) term = without_broadcast(term, sizes);

  const Dtype dtype = terms[0].x.dtype();
  const bool rounds = rounds_between(terms, output);
  for (Term& term : terms) {
    if (rounds) term.x = wide(term.x);
  }
  Tensor y = arranged(summed(contract_all(std::move(terms), output), output), output);
  if (rounds) return prim::copy(y, dtype);
  return xs.size() == 1 && y.same_storage(xs[0]) ? clone(y) : y;  // no view, whatever it says
}

}  // namespace tenon::ops_pack
