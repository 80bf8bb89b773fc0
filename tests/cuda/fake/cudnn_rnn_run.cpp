// The formulas of recurrent layers as cuDNN's documentation has them, forward and backward.
#include <bit>
#include <cmath>

#include "cudnn_rnn.h"
#include "cudnn_run.h"

namespace fake {
namespace {

// What a reserve has in front, and how far it is.
constexpr int64_t kHead = 2;
constexpr double kForwarded = 1701, kHasData = 1702, kHasWeights = 1703;

// Of each row: gates [4 hidden] (of a GRU the fourth is its part of the new state from the old one), c, the
// h before its projection, and the gradients of the gates' parts of x and of h, [4 hidden] each.
constexpr int64_t kKept = 4 + 1 + 1 + 4 + 4;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The documentation does not say what it makes of NaN, nor whether its gradient of 0 is a product, which
// is NaN where the other factor is infinite. So here both are not as the ops have them.
double relu(double x) { return x > 0 ? x : 0; }

double rounded_to_tf32(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu);
}

struct Layer {
  const Rnn& r;
  const RnnData& m;
  const int64_t bytes, hidden, width;
  std::vector<int64_t> starts;

  Layer(const Rnn& rnn, const RnnData& data)
      : r(rnn),
        m(data),
        bytes(static_cast<int64_t>(bytes_of(rnn.type))),
        hidden(rnn.hidden),
        width(rnn.width),
        starts(static_cast<size_t>(rnn.steps()) + 1, 0) {
    for (int64_t t = 0; t < r.steps(); ++t) starts[size_t(t) + 1] = starts[size_t(t)] + at_step(t);
  }
  // How many sequences have step t.
  int64_t at_step(int64_t t) const {
    int64_t n = 0;
    while (n < r.n() && r.lengths[size_t(n)] > t) ++n;
    return n;
  }
  int64_t row(int64_t t, int64_t i) const { return starts[size_t(t)] + i; }
  double get(const char* data, int64_t i) const { return number(data + i * bytes, r.type); }
  // As a factor of a product.
  double factor(const char* data, int64_t i) const {
    const double value = get(data, i);
    return r.rounds && r.type == CUDNN_DATA_FLOAT ? rounded_to_tf32(value) : value;
  }
  void set(char* data, int64_t i, double value) const { put(data + i * bytes, r.type, value); }
  double* kept(int64_t row_of) const { return m.reserve + kHead + row_of * kKept * hidden; }
  const char* h_before(int64_t t, int64_t i, int64_t* at) const {
    *at = (t == 0 ? i : row(t - 1, i)) * width;
    return t == 0 ? m.h : m.y;
  }
  double c_before(int64_t t, int64_t i, int64_t j) const {
    if (t > 0) return kept(row(t - 1, i))[4 * hidden + j];
    return m.c ? get(m.c, i * hidden + j) : 0;
  }
  double matrix(int64_t id, int64_t j, int64_t k) const {
    const Rnn::Place p = r.place(id);
    return factor(m.weights + p.matrix, j * p.columns + k);
  }
  double bias(int64_t id, int64_t j) const {
    const Rnn::Place p = r.place(id);
    return p.bias < 0 ? 0 : get(m.weights + p.bias, j);
  }
};

// One element of a linear layer of the input (id < gates) or of the state.
double linear(const Layer& l, int64_t id, int64_t j, const char* data, int64_t at) {
  double sum = l.bias(id, j);
  if (!data) return sum;  // a state of zeros
  const int64_t columns = l.r.place(id).columns;
  for (int64_t k = 0; k < columns; ++k) sum += l.factor(data, at + k) * l.matrix(id, j, k);
  return sum;
}

void forward_row(const Layer& l, int64_t t, int64_t i) {
  const int64_t H = l.hidden, gates = l.r.gates(), row = l.row(t, i);
  int64_t before = 0;
  const char* h = l.h_before(t, i, &before);
  double* kept = l.kept(row);
  for (int64_t j = 0; j < H; ++j) {
    double x[4], own[4];
    for (int64_t g = 0; g < gates; ++g) {
      x[g] = linear(l, g, j, l.m.x, row * l.r.features);
      own[g] = linear(l, gates + g, j, h, before);
    }
    const auto keep = [&](int64_t g, double value) { return kept[g * H + j] = value; };
    double next = 0;
    if (l.r.mode == CUDNN_LSTM) {
      const double in = keep(0, sigmoid(x[0] + own[0])), forget = keep(1, sigmoid(x[1] + own[1]));
      const double fresh = keep(2, std::tanh(x[2] + own[2])), out = keep(3, sigmoid(x[3] + own[3]));
      kept[4 * H + j] = forget * l.c_before(t, i, j) + in * fresh;
      next = out * std::tanh(kept[4 * H + j]);
    } else if (l.r.mode == CUDNN_GRU) {
      const double reset = keep(0, sigmoid(x[0] + own[0]));
      const double update = keep(1, sigmoid(x[1] + own[1]));
      const double fresh = keep(2, std::tanh(x[2] + reset * keep(3, own[2])));
      next = (1 - update) * fresh + update * (h ? l.get(h, before + j) : 0);
    } else {
      const double sum = x[0] + own[0];
      next = keep(0, l.r.mode == CUDNN_RNN_TANH ? std::tanh(sum) : relu(sum));
    }
    kept[5 * H + j] = next;
  }
  for (int64_t j = 0; j < l.width; ++j) {
    double y = kept[5 * H + j];
    if (l.r.has_projection()) {
      y = 0;
      for (int64_t k = 0; k < H; ++k) y += kept[5 * H + k] * l.matrix(2 * gates, j, k);
    }
    l.set(l.m.y, row * l.width + j, y);
  }
}

// The gradients of the gates' parts of one row from that of its h, [hidden], and of an LSTM's c, which
// becomes that of the c before; `through`: what reaches the h before beside the products.
void backward_row(const Layer& l, int64_t t, int64_t i, const double* dh, double* dc,
                  double* through) {
  const int64_t H = l.hidden, row = l.row(t, i);
  double *kept = l.kept(row), *of_x = kept + 6 * H, *of_h = kept + 10 * H;
  int64_t before = 0;
  const char* h = l.h_before(t, i, &before);
  for (int64_t j = 0; j < H; ++j) {
    const double a = kept[j], b = kept[H + j], c = kept[2 * H + j], d = kept[3 * H + j];
    if (l.r.mode == CUDNN_LSTM) {
      const double bent = std::tanh(kept[4 * H + j]);
      dc[j] += dh[j] * d * (1 - bent * bent);
      of_x[j] = dc[j] * c * a * (1 - a);
      of_x[H + j] = dc[j] * l.c_before(t, i, j) * b * (1 - b);
      of_x[2 * H + j] = dc[j] * a * (1 - c * c);
      of_x[3 * H + j] = dh[j] * bent * d * (1 - d);
      dc[j] *= b;
    } else if (l.r.mode == CUDNN_GRU) {
      const double old = h ? l.get(h, before + j) : 0;
      of_x[2 * H + j] = dh[j] * (1 - b) * (1 - c * c);
      of_x[j] = of_x[2 * H + j] * d * a * (1 - a);
      of_x[H + j] = dh[j] * (old - c) * b * (1 - b);
      through[j] = dh[j] * b;
    } else {
      of_x[j] = dh[j] * (l.r.mode == CUDNN_RNN_TANH ? 1 - a * a : a > 0 ? 1 : 0);
    }
    for (int64_t g = 0; g < l.r.gates(); ++g) of_h[g * H + j] = of_x[g * H + j];
    if (l.r.mode == CUDNN_GRU) of_h[2 * H + j] *= a;
  }
}

void expect_stage(const RnnData& data, double stage) {
  if (!data.reserve || data.reserve[0] != stage)
    die("the reserve is not what the call before has left");
}

// One sequence, from its end.
void backward_sequence(const Layer& l, int64_t i) {
  const int64_t H = l.hidden, W = l.width, gates = l.r.gates();
  const auto hidden = static_cast<size_t>(H);
  std::vector<double> dy(static_cast<size_t>(W), 0), dh(hidden, 0), dc(hidden, 0),
      through(hidden, 0);
  if (l.m.dlast_h)
    for (int64_t j = 0; j < W; ++j) dy[size_t(j)] = l.get(l.m.dlast_h, i * W + j);
  if (l.m.dlast_c)
    for (int64_t j = 0; j < H; ++j) dc[size_t(j)] = l.get(l.m.dlast_c, i * H + j);
  for (int64_t t = l.r.lengths[size_t(i)] - 1; t >= 0; --t) {
    const int64_t row = l.row(t, i);
    double* of_y = l.m.reserve + kHead + l.r.rows() * kKept * H + row * W;  // for the projection
    for (int64_t j = 0; j < W; ++j) of_y[j] = dy[size_t(j)] += l.get(l.m.dy, row * W + j);
    dh = dy;
    if (l.r.has_projection()) {
      dh.assign(size_t(H), 0);
      for (int64_t j = 0; j < W; ++j)
        for (int64_t k = 0; k < H; ++k) dh[size_t(k)] += dy[size_t(j)] * l.matrix(2 * gates, j, k);
    }
    backward_row(l, t, i, dh.data(), dc.data(), through.data());
    const double *of_x = l.kept(row) + 6 * H, *of_h = l.kept(row) + 10 * H;
    for (int64_t k = 0; k < l.r.features; ++k) {
      double sum = 0;
      for (int64_t j = 0; j < gates * H; ++j) sum += of_x[j] * l.matrix(j / H, j % H, k);
      l.set(l.m.dx, row * l.r.features + k, sum);
    }
    for (int64_t k = 0; k < W; ++k) {
      dy[size_t(k)] = l.r.mode == CUDNN_GRU ? through[size_t(k)] : 0;
      for (int64_t j = 0; j < gates * H; ++j)
        dy[size_t(k)] += of_h[j] * l.matrix(gates + j / H, j % H, k);
    }
  }
  for (int64_t j = 0; j < W && l.m.dh; ++j) l.set(l.m.dh, i * W + j, dy[size_t(j)]);
  for (int64_t j = 0; j < H && l.m.dc; ++j) l.set(l.m.dc, i * H + j, dc[size_t(j)]);
}

// to[j, k] += the sum over rows of a[row, j] b(row, k).
template <class Of>
void add_products(const Layer& l, char* to, int64_t rows, int64_t columns, const Of& product) {
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k) {
      double sum = l.get(to, j * columns + k);
      for (int64_t t = 0; t < l.r.steps(); ++t)
        for (int64_t i = 0; i < l.at_step(t); ++i) sum += product(t, i, j, k);
      l.set(to, j * columns + k, sum);
    }
}

}  // namespace

Rnn::Place Rnn::place(int64_t id) const {
  constexpr int64_t kRoom = 16;
  const auto bytes = static_cast<int64_t>(bytes_of(type));
  const int64_t of_biases = has_biases ? 2 * gates() * hidden * bytes : 0;
  const int64_t of_x = hidden * features * bytes, of_h = hidden * width * bytes + kRoom;
  const int64_t bias = has_biases && id < 2 * gates() ? id * hidden * bytes : -1;
  if (id < gates()) return {of_biases + id * of_x, hidden, features, bias};
  const int64_t second = of_biases + gates() * of_x;
  if (id < 2 * gates()) return {second + (id - gates()) * of_h, hidden, width, bias};
  if (id == 2 * gates() && has_projection()) return {second + gates() * of_h, width, hidden, -1};
  return {-1, 0, 0, -1};
}

int64_t Rnn::weight_bytes() const {
  const Place last = place(2 * gates() - 1), projection = place(2 * gates());
  const Place& end = projection.matrix < 0 ? last : projection;
  return end.matrix + end.rows * end.columns * static_cast<int64_t>(bytes_of(type)) + 16;
}

int64_t Rnn::reserve_bytes() const { return 8 * (kHead + rows() * (kKept * hidden + width)); }

void run_rnn_forward(const Rnn& rnn, const RnnData& data) {
  RnnData all = data;
  std::vector<double> own;  // an inference keeps nothing
  if (!all.reserve) {
    own.resize(static_cast<size_t>(rnn.reserve_bytes() / 8));
    all.reserve = own.data();
  }
  const Layer l(rnn, all);
  for (int64_t t = 0; t < rnn.steps(); ++t)
    for (int64_t i = 0; i < l.at_step(t); ++i) forward_row(l, t, i);
  for (int64_t i = 0; i < rnn.n(); ++i) {
    const int64_t row = l.row(rnn.lengths[size_t(i)] - 1, i);
    for (int64_t j = 0; j < rnn.width && all.last_h; ++j)
      l.set(all.last_h, i * rnn.width + j, l.get(all.y, row * rnn.width + j));
    for (int64_t j = 0; j < rnn.hidden && all.last_c; ++j)
      l.set(all.last_c, i * rnn.hidden + j, l.kept(row)[4 * rnn.hidden + j]);
  }
  all.reserve[0] = kForwarded;
}

void run_rnn_data(const Rnn& rnn, const RnnData& data) {
  expect_stage(data, kForwarded);
  const Layer l(rnn, data);
  for (int64_t i = 0; i < rnn.n(); ++i) backward_sequence(l, i);
  data.reserve[0] = kHasData;
}

void run_rnn_weights(const Rnn& rnn, const RnnData& data) {
  expect_stage(data, kHasData);
  const Layer l(rnn, data);
  const int64_t H = rnn.hidden, gates = rnn.gates();
  for (int64_t id = 0; id < 2 * gates; ++id) {
    const bool is_input = id < gates;
    const int64_t of_gate = (is_input ? 6 + id : 10 + id - gates) * H;
    const Rnn::Place place = rnn.place(id);
    add_products(l, data.dweights + place.matrix, H, place.columns,
                 [&](int64_t t, int64_t i, int64_t j, int64_t k) {
                   int64_t at = l.row(t, i) * rnn.features;
                   const char* values = is_input ? data.x : l.h_before(t, i, &at);
                   return values ? l.kept(l.row(t, i))[of_gate + j] * l.factor(values, at + k) : 0;
                 });
    if (place.bias < 0) continue;
    add_products(
        l, data.dweights + place.bias, H, 1,
        [&](int64_t t, int64_t i, int64_t j, int64_t) { return l.kept(l.row(t, i))[of_gate + j]; });
  }
  if (rnn.has_projection()) {
    const double* of_y = data.reserve + kHead + rnn.rows() * kKept * H;
    add_products(l, data.dweights + rnn.place(2 * gates).matrix, rnn.width, H,
                 [&](int64_t t, int64_t i, int64_t j, int64_t k) {
                   const int64_t row = l.row(t, i);
                   return of_y[row * rnn.width + j] * l.kept(row)[5 * H + k];
                 });
  }
  data.reserve[0] = kHasWeights;
}

}  // namespace fake
