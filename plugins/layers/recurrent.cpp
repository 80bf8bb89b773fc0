// Recurrent layers and their cells. Weights are drawn from ±1 / sqrt(hidden_size), all of them, as
// PyTorch does.
#include <cmath>

#include "layers.h"

namespace layers {
namespace {

const OpRef kLstm("lstm"), kGru("gru"), kTanh("rnn_tanh"), kRelu("rnn_relu");
const OpRef kLstmCell("lstm_cell"), kGruCell("gru_cell"), kTanhCell("rnn_tanh_cell"),
    kReluCell("rnn_relu_cell");

Tensor drawn(std::vector<int64_t> sizes, int64_t hidden_size) {
  const double bound = 1 / std::sqrt(double(hidden_size));
  return uniform(sizes, -bound, bound);
}

int64_t gates_of(const char* option, int64_t gates, int64_t hidden_size) {
  int64_t rows;
  if (__builtin_mul_overflow(gates, hidden_size, &rows)) {
    fail(std::string(option) + " is " + std::to_string(hidden_size) + ", of which " +
         std::to_string(gates) + " fit no tensor");
  }
  return rows;
}

bool is_relu(const std::string& nonlinearity) {
  if (nonlinearity != "tanh" && nonlinearity != "relu")
    fail("nonlinearity is '" + nonlinearity + "', expected tanh or relu");
  return nonlinearity == "relu";
}

// ---- Layers ----

struct Recurrent {
  int64_t gates, input_size, hidden_size, num_layers;
  bool bias, batch_first;
  double dropout;
  bool bidirectional;
  int64_t proj_size = 0;

  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t width() const { return proj_size > 0 ? proj_size : hidden_size; }

  void check() const {
    expect_positive("input_size", input_size);
    expect_positive("hidden_size", hidden_size);
    expect_probability("dropout", dropout);
    if (proj_size < 0 || proj_size >= hidden_size) {
      fail("proj_size is " + std::to_string(proj_size) +
           ", expected 0 for none, or less than hidden_size, " + std::to_string(hidden_size));
    }
    expect_layers("num_layers", num_layers);
  }

  // Names of the parameters of a layer and direction, in PyTorch's order.
  std::vector<std::string> names(int64_t layer, int64_t direction) const {
    const std::string tail = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
    std::vector<std::string> list = {"weight_ih" + tail, "weight_hh" + tail};
    if (bias) list.insert(list.end(), {"bias_ih" + tail, "bias_hh" + tail});
    if (proj_size > 0) list.push_back("weight_hr" + tail);
    return list;
  }

  void add_parameters(Object& self) const {
    check();
    const int64_t rows = gates_of("hidden_size", gates, hidden_size);
    for (int64_t layer = 0; layer < num_layers; ++layer) {
      const int64_t features = layer == 0 ? input_size : width() * directions();
      for (int64_t d = 0; d < directions(); ++d) {
        std::vector<std::vector<int64_t>> sizes = {{rows, features}, {rows, width()}};
        if (bias) sizes.insert(sizes.end(), {{rows}, {rows}});
        if (proj_size > 0) sizes.push_back({proj_size, hidden_size});
        const std::vector<std::string> list = names(layer, d);
        for (size_t i = 0; i < list.size(); ++i)
          self.parameter(list[i], drawn(sizes[i], hidden_size));
      }
    }
  }

  std::vector<Tensor> parameters(const Object& self) const {
    std::vector<Tensor> list;
    for (int64_t layer = 0; layer < num_layers; ++layer) {
      for (int64_t d = 0; d < directions(); ++d) {
        for (const std::string& name : names(layer, d)) list.push_back(self.tensor(name));
      }
    }
    return list;
  }
};

// A call of a layer: what is left out is zeros, and an input without a batch gets one of 1.
class LayerCall {
 public:
  LayerCall(const Recurrent& r, const Tensor& input, Ints batch_sizes)
      : r_(r), input_(input), is_packed_(batch_sizes.size() > 0) {
    const bool is_plain = !is_packed_ && input.dim() == 2;
    if ((!is_plain && input.dim() != (is_packed_ ? 2 : 3)) || input.size(-1) != r.input_size) {
      const std::string features = std::to_string(r.input_size) + "]";
      fail("input is " + sizes_text(input) + ", expected " +
           (is_packed_
                ? "[rows, " + features + " with batch_sizes"
                : (r.batch_first ? "[n, t, " : "[t, n, ") + features + ", or [t, " + features));
    }
    if (is_plain) {
      batch_dim_ = r.batch_first ? 0 : 1;
      input_ = unsqueeze(input, batch_dim_);
    }
    n_ = is_packed_ ? batch_sizes.data()[0] : input_.size(r.batch_first ? 0 : 1);
  }

  const Tensor& input() const { return input_; }
  // PyTorch's layers keep the order of a packed sequence, which has no dimension of the batch.
  bool batch_first() const { return r_.batch_first && !is_packed_; }

  Tensor state(const char* name, const Tensor& given, int64_t width) const {
    const int64_t layers = r_.num_layers * r_.directions();
    if (!given.defined()) return zeros({layers, n_, width}, input_.dtype(), input_.device());
    const Tensor s = batch_dim_ >= 0 && given.dim() == 2 ? unsqueeze(given, 1) : given;
    const bool fits = s.dim() == 3 && s.size(0) == layers && s.size(1) == n_ && s.size(2) == width;
    if (!fits) {
      fail(std::string(name) + " is " + sizes_text(given) + ", expected [" +
           std::to_string(layers) + ", " + (batch_dim_ >= 0 ? "" : std::to_string(n_) + ", ") +
           std::to_string(width) + "]: layers times directions" +
           (batch_dim_ >= 0 ? "" : ", sequences") + ", width");
    }
    return s;
  }
  Tensor output(const Tensor& y) const { return batch_dim_ >= 0 ? squeeze(y, batch_dim_) : y; }
  Tensor last(const Tensor& s) const { return batch_dim_ >= 0 ? squeeze(s, 1) : s; }

 private:
  const Recurrent& r_;
  Tensor input_;
  bool is_packed_;
  int64_t n_ = 0, batch_dim_ = -1;  // where an input without a batch got one
};

constexpr const char* kForwardOfOne =
    "forward(Tensor input, Tensor? hx=None, int[] batch_sizes=[]) -> (Tensor output, Tensor h_n)";

void add_forward(Object& self, const Recurrent& r, const OpRef& op) {
  self.method(kForwardOfOne, [r, &op](Object& self, Tensor input, Tensor hx, Ints batch_sizes) {
    const LayerCall c(r, input, batch_sizes);
    auto [y, h] = tenon::call<std::tuple<Tensor, Tensor>>(
        op, c.input(), c.state("hx", hx, r.hidden_size), r.parameters(self), r.bias, r.num_layers,
        r.dropout, self.training(), r.bidirectional, c.batch_first(), batch_sizes);
    return std::tuple{c.output(y), c.last(h)};
  });
}

void define_layers() {
  layer(
      "RNN(int input_size, int hidden_size, int num_layers=1, str nonlinearity=\"tanh\", bool "
      "bias=True, bool batch_first=False, float dropout=0, bool bidirectional=False)",
      "rnn(input, hx) gives the output and the last state: input [t, n, input_size], with "
      "batch_first [n, t, input_size], or without n; hx [num_layers * directions, n, hidden_size], "
      "zeros where it is left out. nonlinearity: tanh or relu. dropout is between layers. "
      "Elman, 1990.",
      [](Object& self, int64_t input_size, int64_t hidden_size, int64_t num_layers,
         std::string nonlinearity, bool bias, bool batch_first, double dropout,
         bool bidirectional) {
        const bool relu = is_relu(nonlinearity);
        const Recurrent r = {1,    input_size,  hidden_size, num_layers,
                             bias, batch_first, dropout,     bidirectional};
        r.add_parameters(self);
        add_forward(self, r, relu ? kRelu : kTanh);
      });
  layer(
      "GRU(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
      "batch_first=False, float dropout=0, bool bidirectional=False)",
      "gru(input, hx) gives the output and the last state; sizes as RNN's. Cho et al., "
      "arXiv:1406.1078.",
      [](Object& self, int64_t input_size, int64_t hidden_size, int64_t num_layers, bool bias,
         bool batch_first, double dropout, bool bidirectional) {
        const Recurrent r = {3,    input_size,  hidden_size, num_layers,
                             bias, batch_first, dropout,     bidirectional};
        r.add_parameters(self);
        add_forward(self, r, kGru);
      });
  layer(
      "LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
      "batch_first=False, float dropout=0, bool bidirectional=False, int proj_size=0)",
      "lstm(input, h_0, c_0) gives the output and the last states h and c; sizes as RNN's. With "
      "proj_size h is projected to that width. Hochreiter & Schmidhuber, 1997; Sak et al., "
      "arXiv:1402.1128.",
      [](Object& self, int64_t input_size, int64_t hidden_size, int64_t num_layers, bool bias,
         bool batch_first, double dropout, bool bidirectional, int64_t proj_size) {
        const Recurrent r = {4,           input_size, hidden_size,   num_layers, bias,
                             batch_first, dropout,    bidirectional, proj_size};
        r.add_parameters(self);
        self.method(
            "forward(Tensor input, Tensor? h_0=None, Tensor? c_0=None, int[] batch_sizes=[]) -> "
            "(Tensor output, Tensor h_n, Tensor c_n)",
            [r](Object& self, Tensor input, Tensor h_0, Tensor c_0, Ints batch_sizes) {
              const LayerCall c(r, input, batch_sizes);
              const std::vector<Tensor> hx = {c.state("h_0", h_0, r.width()),
                                              c.state("c_0", c_0, r.hidden_size)};
              auto [y, h, cell] = tenon::call<std::tuple<Tensor, Tensor, Tensor>>(
                  kLstm, c.input(), hx, r.parameters(self), r.bias, r.num_layers, r.dropout,
                  self.training(), r.bidirectional, c.batch_first(), batch_sizes);
              return std::tuple{c.output(y), c.last(h), c.last(cell)};
            });
      });
}

// ---- Cells ----

void add_cell_parameters(Object& self, int64_t gates, int64_t input_size, int64_t hidden_size,
                         bool bias) {
  expect_positive("input_size", input_size);
  expect_positive("hidden_size", hidden_size);
  const int64_t rows = gates_of("hidden_size", gates, hidden_size);
  self.parameter("weight_ih", drawn({rows, input_size}, hidden_size));
  self.parameter("weight_hh", drawn({rows, hidden_size}, hidden_size));
  self.parameter("bias_ih", bias ? drawn({rows}, hidden_size) : Tensor());
  self.parameter("bias_hh", bias ? drawn({rows}, hidden_size) : Tensor());
}

// A state that is left out is zeros.
Tensor state_of(const Tensor& given, const Tensor& input, int64_t hidden_size) {
  if (given.defined()) return given;
  if (input.dim() != 1 && input.dim() != 2)
    fail("input is " + sizes_text(input) + ", expected [n, input_size] or [input_size]");
  std::vector<int64_t> sizes(input.sizes().begin(), input.sizes().end() - 1);
  sizes.push_back(hidden_size);
  return zeros(sizes, input.dtype(), input.device());
}

void add_cell(Object& self, int64_t hidden_size, const OpRef& op) {
  self.method("forward(Tensor input, Tensor? hx=None) -> Tensor",
              [hidden_size, &op](Object& self, Tensor input, Tensor hx) {
                return call(op, input, state_of(hx, input, hidden_size), self.tensor("weight_ih"),
                            self.tensor("weight_hh"), self.tensor("bias_ih"),
                            self.tensor("bias_hh"));
              });
}

void define_cells() {
  layer("RNNCell(int input_size, int hidden_size, bool bias=True, str nonlinearity=\"tanh\")",
        "cell(input, hx) gives the next state: input [n, input_size], hx [n, hidden_size], or "
        "without n; hx is zeros where it is left out. nonlinearity: tanh or relu. Elman, 1990.",
        [](Object& self, int64_t input_size, int64_t hidden_size, bool bias,
           std::string nonlinearity) {
          const bool relu = is_relu(nonlinearity);
          add_cell_parameters(self, 1, input_size, hidden_size, bias);
          add_cell(self, hidden_size, relu ? kReluCell : kTanhCell);
        });
  layer("GRUCell(int input_size, int hidden_size, bool bias=True)",
        "cell(input, hx) gives the next state; sizes as RNNCell's. Cho et al., arXiv:1406.1078.",
        [](Object& self, int64_t input_size, int64_t hidden_size, bool bias) {
          add_cell_parameters(self, 3, input_size, hidden_size, bias);
          add_cell(self, hidden_size, kGruCell);
        });
  layer("LSTMCell(int input_size, int hidden_size, bool bias=True)",
        "cell(input, h_0, c_0) gives the next states h and c; sizes as RNNCell's. Hochreiter & "
        "Schmidhuber, 1997.",
        [](Object& self, int64_t input_size, int64_t hidden_size, bool bias) {
          add_cell_parameters(self, 4, input_size, hidden_size, bias);
          self.method(
              "forward(Tensor input, Tensor? h_0=None, Tensor? c_0=None) -> (Tensor h_1, Tensor "
              "c_1)",
              [hidden_size](Object& self, Tensor input, Tensor h_0, Tensor c_0) {
                const std::vector<Tensor> hx = {state_of(h_0, input, hidden_size),
                                                state_of(c_0, input, hidden_size)};
                return tenon::call<std::tuple<Tensor, Tensor>>(
                    kLstmCell, input, hx, self.tensor("weight_ih"), self.tensor("weight_hh"),
                    self.tensor("bias_ih"), self.tensor("bias_hh"));
              });
        });
}

}  // namespace

void add_recurrent_layers() {
  define_layers();
  define_cells();
}

}  // namespace layers
