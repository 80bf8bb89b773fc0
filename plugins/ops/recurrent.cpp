// Recurrent nets: layers upon layers, in one direction or both, of sequences of one length or packed
// ones. What one layer computes is in recurrent_layer.cpp.
#include "recurrent.h"

#include <algorithm>

namespace tenon::ops_pack {

void expect_one_dtype(const char* op, const char* first_name, const Tensor& first,
                      const std::vector<std::string>& names, const std::vector<Tensor>& others) {
  if (!first.dtype().is_float()) {
    fail(std::string(op) + ": " + first_name + " is " + first.dtype().name() +
         ", expected a floating dtype");
  }
  for (size_t i = 0; i < others.size(); ++i) {
    if (!others[i].defined() || others[i].dtype() == first.dtype()) continue;
    fail(std::string(op) + ": " + first_name + " is " + first.dtype().name() + ", " + names[i] +
         " is " + others[i].dtype().name() + "; expected one dtype");
  }
}

namespace {

constinit OpRef lstm_layer{"ops._lstm_layer"}, gru_layer{"ops._gru_layer"},
    rnn_layer{"ops._rnn_layer"};

enum class Kind { lstm, gru, tanh, relu };

struct Options {
  const char* op;
  Kind kind;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
  Ints batch_sizes;

  int64_t gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  bool is_packed() const { return batch_sizes.size() > 0; }
};

[[noreturn]] void refuse(const Options& o, const std::string& what) {
  fail(std::string(o.op) + ": " + what);
}

void check_options(const Options& o) {
  if (o.num_layers < 1)
    refuse(o, "num_layers is " + std::to_string(o.num_layers) + ", expected at least 1");
  if (!(o.dropout >= 0 && o.dropout <= 1))
    refuse(o, "dropout is " + number_text(o.dropout) + ", expected a probability, 0 to 1");
  if (o.is_packed() && o.batch_first) {
    refuse(o,
           "batch_sizes is given and batch_first is set; expected one of them, packed sequences "
           "have no dimension of the batch");
  }
}

// The number of sequences.
int64_t check_input(const Options& o, const Tensor& input) {
  if (!o.is_packed()) {
    const char* layout = o.batch_first ? "[n, t, features]" : "[t, n, features]";
    if (input.dim() != 3)
      refuse(o, "input is " + sizes_text(input.sizes()) + ", expected " + layout);
    if (input.size(o.batch_first ? 1 : 0) < 1) {
      refuse(o, "input is " + sizes_text(input.sizes()) + ", expected " + layout +
                    " with a t of at least 1");
    }
    return input.size(o.batch_first ? 0 : 1);
  }
  int64_t rows = 0, last = INT64_MAX;
  for (const int64_t n : o.batch_sizes) {
    if (n < 1 || n > last) {
      refuse(o,
             "batch_sizes has " + std::to_string(n) +
                 (n < 1 ? ", expected at least 1"
                        : " behind " + std::to_string(last) + ", expected sizes that do not grow"));
    }
    rows = checked_add(o.op, rows, n);
    last = n;
  }
  if (input.dim() != 2 || input.size(0) != rows) {
    refuse(o, "input is " + sizes_text(input.sizes()) + ", expected [" + std::to_string(rows) +
                  ", features], a row for each of batch_sizes");
  }
  return o.batch_sizes.data()[0];
}

// The weights of one layer in one direction, as PyTorch's flat list has them.
struct Part {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

class Parameters {
 public:
  // hidden: the width of c, or of h where there is none; width: that of h.
  Parameters(const Options& o, Tensors list, int64_t hidden, int64_t width)
      : o_(o), list_(list.to_vector()), hidden_(hidden), width_(width) {
    each_ = 2 + (o.has_biases ? 2 : 0) + (width != hidden ? 1 : 0);
    const int64_t wanted = checked_mul(o.op, o.num_layers, o.directions() * each_);
    if (int64_t(list_.size()) == wanted) return;
    refuse(o, "params has " + std::to_string(list_.size()) + " tensors, expected " +
                  std::to_string(wanted) + ": " + std::to_string(each_) +
                  " for each layer and direction");
  }

  Part part(int64_t layer, int64_t direction, int64_t features) const {
    const int64_t first = (layer * o_.directions() + direction) * each_;
    const int64_t rows = o_.gates() * hidden_;
    Part p;
    int64_t i = first;
    p.w_ih = checked(i++, "w_ih", {rows, features});
    p.w_hh = checked(i++, "w_hh", {rows, width_});
    if (o_.has_biases) {
      p.b_ih = checked(i++, "b_ih", {rows});
      p.b_hh = checked(i++, "b_hh", {rows});
    }
    if (width_ != hidden_) p.w_hr = checked(i, "w_hr", {width_, hidden_});
    return p;
  }
  const std::vector<Tensor>& list() const { return list_; }

 private:
  Tensor checked(int64_t i, const char* name, const Sizes& wanted) const {
    const Tensor& t = list_[size_t(i)];
    if (sizes_of(t) == wanted) return t;
    refuse(o_, "params[" + std::to_string(i) + "], " + name + ", is " + sizes_text(t.sizes()) +
                   ", expected " + sizes_text(wanted));
  }
  const Options& o_;
  std::vector<Tensor> list_;
  int64_t hidden_, width_, each_;
};

// [layers * directions, n, width] each.
void check_states(const Options& o, const States& states, int64_t n) {
  for (size_t i = 0; i < states.size(); ++i) {
    const Tensor& s = states[i];
    const std::string name = states.size() == 1 ? "hx" : "hx[" + std::to_string(i) + "]";
    const int64_t wanted = checked_mul(o.op, o.num_layers, o.directions());
    if (s.dim() == 3 && s.size(0) == wanted && s.size(1) == n) continue;
    refuse(o, name + " is " + sizes_text(s.sizes()) + ", expected [" + std::to_string(wanted) +
                  ", " + std::to_string(n) + ", width]: layers times directions, sequences");
  }
}

// One layer in one direction: the output, and the last states.
std::pair<Tensor, States> one_layer(const Options& o, const Tensor& x, const States& first,
                                    const Part& p, bool reverse) {
  if (o.kind == Kind::lstm) {
    auto [y, h, c] = tenon::call<std::tuple<Tensor, Tensor, Tensor>>(
        lstm_layer, x, first[0], first[1], p.w_ih, p.w_hh, p.b_ih, p.b_hh, p.w_hr, reverse,
        o.batch_sizes);
    return {y, States{h, c}};
  }
  using Two = std::tuple<Tensor, Tensor>;
  auto [y, h] = o.kind == Kind::gru
                    ? tenon::call<Two>(gru_layer, x, first[0], p.w_ih, p.w_hh, p.b_ih, p.b_hh,
                                       reverse, o.batch_sizes)
                    : tenon::call<Two>(rnn_layer, x, first[0], p.w_ih, p.w_hh, p.b_ih, p.b_hh,
                                       o.kind == Kind::relu, reverse, o.batch_sizes);
  return {y, States{h}};
}

struct Result {
  Tensor output;
  States last;
};

Result run(const Options& o, const Tensor& input, const States& hx, Tensors params) {
  check_options(o);
  const int64_t n = check_input(o, input);
  check_states(o, hx, n);
  const Parameters parameters(o, params, hx.back().size(2), hx[0].size(2));
  expect_one_dtype(o.op, "input", input, std::vector<std::string>(hx.size(), "a state of hx"), hx);
  expect_one_dtype(o.op, "input", input,
                   std::vector<std::string>(parameters.list().size(), "a tensor of params"),
                   parameters.list());
  Tensor x = o.batch_first ? transpose(input, 0, 1) : input;
  std::vector<States> last(hx.size());
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    if (layer > 0 && o.train && o.dropout > 0) x = dropout(x, o.dropout, true);
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < o.directions(); ++d) {
      States first;
      for (const Tensor& s : hx) first.push_back(select(s, 0, layer * o.directions() + d));
      auto [y, states] =
          one_layer(o, x, first, parameters.part(layer, d, x.size(-1)), /*reverse=*/d == 1);
      outputs.push_back(y);
      for (size_t i = 0; i < states.size(); ++i) last[i].push_back(states[i]);
    }
    x = o.bidirectional ? cat(outputs, -1) : outputs[0];
  }
  Result result = {o.batch_first ? transpose(x, 0, 1) : x, {}};
  for (const States& s : last) result.last.push_back(stack(s, 0));
  return result;
}

std::string schema(std::initializer_list<string_view> begin, string_view end) {
  return detail::joined(begin) +
         detail::joined(
             {"Tensor[] params, bool has_biases=True, int num_layers=1, float dropout=0, "
              "bool train=False, bool bidirectional=False, bool batch_first=False, "
              "int[] batch_sizes=[]) -> (Tensor output, Tensor h_n",
              end});
}

void one_state(const char* name, const char* doc, Kind kind) {
  op(schema({name, "(Tensor input, Tensor hx, "}, ")").c_str())
      .doc(doc)
      .random()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([=](Tensor input, Tensor hx, Tensors params, bool has_biases, int64_t num_layers,
                   double dropout, bool train, bool bidirectional, bool batch_first,
                   Ints batch_sizes) {
        const Result r = run({name, kind, has_biases, num_layers, dropout, train, bidirectional,
                              batch_first, batch_sizes},
                             input, {hx}, params);
        return std::tuple{r.output, r.last[0]};
      });
}

}  // namespace

void recurrent() {
  recurrent_layers();
  op(schema({"lstm(Tensor input, Tensor[] hx, "}, ", Tensor c_n)").c_str())
      .doc(
          "An LSTM of num_layers: input [t, n, features], with batch_first [n, t, features], and "
          "hx, its states h and c [layers * directions, n, hidden]. params has for each layer and "
          "direction w_ih, w_hh, with has_biases b_ih and b_hh, and where h is narrower than c its "
          "projection. batch_sizes: input has the rows of packed sequences. dropout is between "
          "layers, in train. Hochreiter & Schmidhuber, 1997.")
      .random()
      .amp(Amp::lower)
      .keeps_halves()
      .meaning([](Tensor input, Tensors hx, Tensors params, bool has_biases, int64_t num_layers,
                  double dropout, bool train, bool bidirectional, bool batch_first,
                  Ints batch_sizes) {
        if (hx.size() != 2)
          fail("lstm: hx has " + std::to_string(hx.size()) + " tensors, expected h and c");
        const Result r = run({"lstm", Kind::lstm, has_biases, num_layers, dropout, train,
                              bidirectional, batch_first, batch_sizes},
                             input, {hx[0], hx[1]}, params);
        return std::tuple{r.output, r.last[0], r.last[1]};
      });
  one_state("gru",
            "A GRU of num_layers; hx is its state [layers * directions, n, hidden], the rest as "
            "lstm's. Cho et al., arXiv:1406.1078.",
            Kind::gru);
  one_state("rnn_tanh",
            "tanh(x w_ih^T + b_ih + h w_hh^T + b_hh), step by step; the arguments as gru's. Elman, "
            "1990.",
            Kind::tanh);
  one_state("rnn_relu", "As rnn_tanh, with relu in place of tanh.", Kind::relu);
}

}  // namespace tenon::ops_pack
