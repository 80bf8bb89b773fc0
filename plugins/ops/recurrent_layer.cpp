// One layer of a recurrent net in one direction, step by step, and its cells. Devices that have a
// kernel for a whole layer use that; elsewhere this is what runs.
#include <algorithm>

#include "recurrent.h"

namespace tenon::ops_pack {
namespace {

// The order of gates in weights is PyTorch's: LSTM input, forget, new, output; GRU reset, update,
// new.
constinit ExpressionRef lstm_step{
    "_lstm_step(Tensor i, Tensor f, Tensor n, Tensor o, Tensor c) -> (Tensor, Tensor)",
    "let next = sigmoid(f) * c + sigmoid(i) * tanh(n)\n sigmoid(o) * tanh(next)\n next"};
constinit ExpressionRef gru_step{
    "_gru_step(Tensor xr, Tensor xz, Tensor xn, Tensor hr, Tensor hz, Tensor hn, Tensor h) -> "
    "Tensor",
    "let n = tanh(xn + sigmoid(xr + hr) * hn)\n n + sigmoid(xz + hz) * (h - n)"};

// Part i of n of the columns of x [rows, n * hidden].
Tensor gate(const Tensor& x, int64_t i, int64_t n) {
  const int64_t hidden = x.size(1) / n;
  return prim::slice(x, 1, i * hidden, (i + 1) * hidden);
}

// Rows of each of the states, which are [n, ..].
States rows_of(const States& states, int64_t begin, int64_t end) {
  States part;
  for (const Tensor& s : states) part.push_back(prim::slice(s, 0, begin, end));
  return part;
}
States joined_rows(const std::vector<States>& parts) {
  if (parts.size() == 1) return parts[0];
  States whole;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<Tensor> list;
    for (const States& part : parts) list.push_back(part[i]);
    whole.push_back(cat(list, 0));
  }
  return whole;
}

struct Walked {
  Tensor rows;  // the first state behind each step, a step behind the other
  States last;
};

// step(x of a step [n, ..], states) gives the next states; x has the rows of one step behind those
// of another. Sequences are in the order of their lengths, the longest first: those that end leave
// at the end of the rows, and, when read from the end, those that begin come in there.
template <typename Step>
Walked walk(const Tensor& x, const Sizes& batch_sizes, const States& first, bool reverse,
            const Step& step) {
  const int64_t n_steps = int64_t(batch_sizes.size());
  Sizes starts(batch_sizes.size(), 0);
  for (size_t t = 1; t < batch_sizes.size(); ++t) starts[t] = starts[t - 1] + batch_sizes[t - 1];
  std::vector<Tensor> rows(batch_sizes.size());
  std::vector<States> ended;
  States now = rows_of(first, 0, reverse ? batch_sizes.back() : batch_sizes.front());
  for (int64_t k = 0; k < n_steps; ++k) {
    const size_t t = size_t(reverse ? n_steps - 1 - k : k);
    const int64_t n = batch_sizes[t], had = now[0].size(0);
    if (n < had) {
      ended.push_back(rows_of(now, n, had));
      now = rows_of(now, 0, n);
    } else if (n > had) {
      now = joined_rows({now, rows_of(first, had, n)});
    }
    now = step(prim::slice(x, 0, starts[t], starts[t] + n), now);
    rows[t] = now[0];
  }
  ended.push_back(now);
  std::reverse(ended.begin(), ended.end());
  return {cat(rows, 0), joined_rows(ended)};
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return a.defined() ? prim::elementwise(plus, a, b) : a;
}

Tensor product_of(const Tensor& x, const Tensor& weight) {
  return prim::matmul(x, prim::permute(weight, {1, 0}));
}

States next_lstm(const Tensor& gates, const Tensor& c) {
  auto [h, next] = prim::elementwise<std::tuple<Tensor, Tensor>>(
      lstm_step, gate(gates, 0, 4), gate(gates, 1, 4), gate(gates, 2, 4), gate(gates, 3, 4), c);
  return {h, next};
}

Tensor next_gru(const Tensor& x, const Tensor& hidden, const Tensor& h) {
  return prim::elementwise(gru_step, gate(x, 0, 3), gate(x, 1, 3), gate(x, 2, 3),
                           gate(hidden, 0, 3), gate(hidden, 1, 3), gate(hidden, 2, 3), h);
}

Tensor next_rnn(const Tensor& sum, bool is_relu) { return is_relu ? relu(sum) : tanh(sum); }

// What a layer or a cell is made of; biases and w_hr may be null.
struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

Walked lstm_layer(const Tensor& x, const Weights& w, const Sizes& batch_sizes, const States& first,
                  bool reverse) {
  return walk(linear(x, w.w_ih, sum_of(w.b_ih, w.b_hh)), batch_sizes, first, reverse,
              [&](const Tensor& part, const States& s) {
                States next =
                    next_lstm(prim::elementwise(plus, part, product_of(s[0], w.w_hh)), s[1]);
                if (w.w_hr.defined()) next[0] = product_of(next[0], w.w_hr);
                return next;
              });
}

Walked gru_layer(const Tensor& x, const Weights& w, const Sizes& batch_sizes, const States& first,
                 bool reverse) {
  return walk(linear(x, w.w_ih, w.b_ih), batch_sizes, first, reverse,
              [&](const Tensor& part, const States& s) {
                return States{next_gru(part, linear(s[0], w.w_hh, w.b_hh), s[0])};
              });
}

Walked rnn_layer(const Tensor& x, const Weights& w, const Sizes& batch_sizes, const States& first,
                 bool reverse, bool is_relu) {
  return walk(
      linear(x, w.w_ih, sum_of(w.b_ih, w.b_hh)), batch_sizes, first, reverse,
      [&](const Tensor& part, const States& s) {
        return States{next_rnn(prim::elementwise(plus, part, product_of(s[0], w.w_hh)), is_relu)};
      });
}

// x [t, n, f] as rows, with a batch size for each step; or rows as they are.
struct Rows {
  Tensor x;
  Sizes batch_sizes, sizes;  // sizes: those of x but for the last
  Rows(const Tensor& given, Ints of_steps)
      : x(given),
        batch_sizes(of_steps.begin(), of_steps.end()),
        sizes(first_sizes(given, given.dim() - 1)) {
    if (!batch_sizes.empty()) return;
    batch_sizes.assign(size_t(sizes[0]), sizes[1]);
    x = prim::reshape(x, {sizes[0] * sizes[1], given.size(-1)});
  }
  Tensor shaped(const Tensor& rows) const {
    return prim::reshape(rows, joined_sizes({sizes, {rows.size(-1)}}));
  }
};

Meta output_meta(const Tensor& x, const Tensor& h) {
  return Meta(joined_sizes({first_sizes(x, x.dim() - 1), {h.size(-1)}}), x.dtype(), x.device());
}

// The ops that call a layer say what does not fit in their own words; this keeps the layer itself
// whole, whoever calls it: before a kernel by its inference, else in its meaning. `states` are h, or h and c.
void check_layer(const char* op, int64_t gates, const Tensor& x, const States& states,
                 const Weights& w, Ints batch_sizes) {
  const auto expect = [&](bool fits, const char* what) {
    if (!fits) fail(std::string(op) + ": " + what);
  };
  expect(w.w_ih.dim() == 2 && w.w_hh.dim() == 2 && w.w_hh.size(0) == w.w_ih.size(0) &&
             w.w_ih.size(0) % gates == 0 && w.w_ih.size(0) > 0,
         "w_ih and w_hh are not [gates * hidden, ..]");
  const int64_t hidden = w.w_ih.size(0) / gates, width = w.w_hh.size(1);
  expect(w.w_hr.defined() ? sizes_of(w.w_hr) == Sizes{width, hidden} : width == hidden,
         "w_hh and w_hr do not fit");
  for (const Tensor& b : {w.b_ih, w.b_hh})
    expect(!b.defined() || sizes_of(b) == Sizes{gates * hidden}, "a bias is not [gates * hidden]");
  expect(x.dim() == (batch_sizes.size() == 0 ? 3 : 2) && x.size(-1) == w.w_ih.size(1),
         "x does not fit batch_sizes and w_ih");
  int64_t rows = 0, n = batch_sizes.size() == 0 ? x.size(1) : batch_sizes.data()[0], last = n;
  for (const int64_t size : batch_sizes) {
    expect(size >= 1 && size <= last, "batch_sizes grow, or one is below 1");
    rows = checked_add(op, rows, size);
    last = size;
  }
  expect(batch_sizes.size() == 0 ? x.size(0) >= 1 : rows == x.size(0),
         "x does not have the rows of batch_sizes");
  expect(sizes_of(states[0]) == Sizes{n, width}, "h is not [n, width]");
  if (states.size() > 1) expect(sizes_of(states[1]) == Sizes{n, hidden}, "c is not [n, hidden]");
  expect_one_dtype(op, "x", x, {"h", "c", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr"},
                   {states[0], states.back(), w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr});
}

void layers_of_one_direction() {
  op("_lstm_layer(Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? "
     "b_hh, Tensor? w_hr, bool reverse, int[] batch_sizes) -> (Tensor, Tensor, Tensor)")
      .infer([](Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh,
                Tensor w_hr, bool, Ints batch_sizes) {
        check_layer("lstm", 4, x, {h, c}, {w_ih, w_hh, b_ih, b_hh, w_hr}, batch_sizes);
        return std::tuple{output_meta(x, h), Meta(h), Meta(c)};
      })
      .meaning([](Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh,
                  Tensor w_hr, bool reverse, Ints batch_sizes) {
        const Weights weights = {w_ih, w_hh, b_ih, b_hh, w_hr};
        check_layer("lstm", 4, x, {h, c}, weights, batch_sizes);
        const Rows rows(x, batch_sizes);
        const Walked w = lstm_layer(rows.x, weights, rows.batch_sizes, {h, c}, reverse);
        return std::tuple{rows.shaped(w.rows), w.last[0], w.last[1]};
      });
  op("_gru_layer(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, bool "
     "reverse, int[] batch_sizes) -> (Tensor, Tensor)")
      .infer([](Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, bool,
                Ints batch_sizes) {
        check_layer("gru", 3, x, {h}, {w_ih, w_hh, b_ih, b_hh, {}}, batch_sizes);
        return std::tuple{output_meta(x, h), Meta(h)};
      })
      .meaning([](Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh,
                  bool reverse, Ints batch_sizes) {
        const Weights weights = {w_ih, w_hh, b_ih, b_hh, {}};
        check_layer("gru", 3, x, {h}, weights, batch_sizes);
        const Rows rows(x, batch_sizes);
        const Walked w = gru_layer(rows.x, weights, rows.batch_sizes, {h}, reverse);
        return std::tuple{rows.shaped(w.rows), w.last[0]};
      });
  op("_rnn_layer(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, bool "
     "relu, bool reverse, int[] batch_sizes) -> (Tensor, Tensor)")
      .infer([](Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, bool, bool,
                Ints batch_sizes) {
        check_layer("rnn", 1, x, {h}, {w_ih, w_hh, b_ih, b_hh, {}}, batch_sizes);
        return std::tuple{output_meta(x, h), Meta(h)};
      })
      .meaning([](Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh,
                  bool is_relu, bool reverse, Ints batch_sizes) {
        const Weights weights = {w_ih, w_hh, b_ih, b_hh, {}};
        check_layer("rnn", 1, x, {h}, weights, batch_sizes);
        const Rows rows(x, batch_sizes);
        const Walked w = rnn_layer(rows.x, weights, rows.batch_sizes, {h}, reverse, is_relu);
        return std::tuple{rows.shaped(w.rows), w.last[0]};
      });
}

// input [n, in] or [in], states [n, hidden] or [hidden].
void check_cell(const char* op, int64_t gates, const Tensor& input, const States& states,
                const Weights& w) {
  const int64_t hidden = w.w_hh.dim() == 2 ? w.w_hh.size(1) : -1;
  bool fits = hidden > 0 && (input.dim() == 1 || input.dim() == 2) &&
              sizes_of(w.w_ih) == Sizes{gates * hidden, input.size(-1)} &&
              sizes_of(w.w_hh) == Sizes{gates * hidden, hidden};
  for (const Tensor& s : states) {
    fits = fits && sizes_of(s) == joined_sizes({first_sizes(input, input.dim() - 1), {hidden}});
  }
  std::string text;
  for (const auto& [name, b] : {std::pair{"b_ih", w.b_ih}, std::pair{"b_hh", w.b_hh}}) {
    if (!b.defined()) continue;
    fits = fits && sizes_of(b) == Sizes{gates * hidden};
    text += std::string(", ") + name + " is " + sizes_text(b.sizes());
  }
  fits = fits && w.b_ih.defined() == w.b_hh.defined();
  if (!fits) {
    std::string of_states;
    for (const Tensor& s : states) of_states += ", a state is " + sizes_text(s.sizes());
    fail(std::string(op) + ": input is " + sizes_text(input.sizes()) + of_states + ", w_ih is " +
         sizes_text(w.w_ih.sizes()) + ", w_hh is " + sizes_text(w.w_hh.sizes()) + text +
         "; expected input [n, in], states [n, hidden], w_ih [" + std::to_string(gates) +
         " hidden, in], w_hh [" + std::to_string(gates) + " hidden, hidden], and both biases [" +
         std::to_string(gates) + " hidden] or none");
  }
  expect_one_dtype(op, "input", input, {"a state", "w_ih", "w_hh", "b_ih", "b_hh"},
                   {states[0], w.w_ih, w.w_hh, w.b_ih, w.b_hh});
}

// A cell of tensors without a batch is one of a batch of one.
template <typename F>
States batched_cell(const Tensor& input, States states, const F& f) {
  if (input.dim() == 2) return f(input, states);
  for (Tensor& s : states) s = unsqueeze(s, 0);
  States next = f(unsqueeze(input, 0), states);
  for (Tensor& s : next) s = squeeze(s, 0);
  return next;
}

void rnn_cell(const char* name, const char* doc, bool is_relu) {
  op((std::string(name) +
      "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
      "-> Tensor")
         .c_str())
      .doc(doc)
      .amp(Amp::lower)
      .meaning([=](Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh) {
        check_cell(name, 1, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}});
        return next_rnn(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh), is_relu);
      });
}

void cells() {
  op("lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
     "b_hh=None) -> (Tensor h, Tensor c)")
      .doc(
          "One step of an LSTM: input [n, in] and the states hx, h and c [n, hidden], or without "
          "n. w_ih is [4 hidden, in], w_hh [4 hidden, hidden], biases [4 hidden]: gates input, "
          "forget, new, output. Hochreiter & Schmidhuber, 1997.")
      .amp(Amp::lower)
      .meaning([](Tensor input, Tensors hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh) {
        if (hx.size() != 2)
          fail("lstm_cell: hx has " + std::to_string(hx.size()) + " tensors, expected h and c");
        const Weights w = {w_ih, w_hh, b_ih, b_hh, {}};
        check_cell("lstm_cell", 4, input, {hx[0], hx[1]}, w);
        const States next =
            batched_cell(input, {hx[0], hx[1]}, [&](const Tensor& x, const States& s) {
              return next_lstm(linear(x, w_ih, b_ih) + linear(s[0], w_hh, b_hh), s[1]);
            });
        return std::tuple{next[0], next[1]};
      });
  op("gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
     "b_hh=None) -> Tensor")
      .doc(
          "One step of a GRU: input [n, in] and the state hx [n, hidden], or without n. w_ih is [3 "
          "hidden, in], w_hh [3 hidden, hidden], biases [3 hidden]: gates reset, update, new. Cho "
          "et al., arXiv:1406.1078.")
      .amp(Amp::lower)
      .meaning([](Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh) {
        check_cell("gru_cell", 3, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}});
        return batched_cell(input, {hx}, [&](const Tensor& x, const States& s) {
          return States{next_gru(linear(x, w_ih, b_ih), linear(s[0], w_hh, b_hh), s[0])};
        })[0];
      });
  rnn_cell("rnn_tanh_cell",
           "tanh(input w_ih^T + b_ih + hx w_hh^T + b_hh): input [n, in], hx [n, hidden], or "
           "without n. Elman, 1990.",
           false);
  rnn_cell("rnn_relu_cell", "As rnn_tanh_cell, with relu in place of tanh.", true);
}

}  // namespace

void recurrent_layers() {
  layers_of_one_direction();
  cells();
}

}  // namespace tenon::ops_pack
