// A recurrent layer of the fake cuDNN, as its descriptors say it, and what computes it in plain loops that
// add in double.
#pragma once

#include <cudnn_adv.h>

#include <cstdint>
#include <vector>

namespace fake {

// One layer, in one direction, of packed sequences.
struct Rnn {
  cudnnRNNMode_t mode;
  cudnnDataType_t type;
  bool has_biases, rounds;  // rounds: float32 to TF32, before products
  int64_t features, hidden, width;
  std::vector<int> lengths;

  int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  bool has_projection() const { return width < hidden; }
  int64_t n() const { return static_cast<int64_t>(lengths.size()); }
  int64_t steps() const { return lengths.empty() ? 0 : lengths.front(); }
  int64_t rows() const {
    int64_t sum = 0;
    for (const int length : lengths) sum += length;
    return sum;
  }

  // Bytes of the space of weights, and where in it the matrix and the bias of a linear layer begin. The
  // matrices of the state have room behind them, so that nobody takes them for one.
  struct Place {
    int64_t matrix, rows, columns;  // matrix: -1: there is none
    int64_t bias;                   // -1: there is none
  };
  Place place(int64_t id) const;
  int64_t weight_bytes() const;
  int64_t reserve_bytes() const;
};

// The memory of a call, where the host can touch it; NULL: not given.
struct RnnData {
  char *x = nullptr, *y = nullptr, *h = nullptr, *c = nullptr, *weights = nullptr;
  char *last_h = nullptr, *last_c = nullptr;
  // Of the gradients: what is given, and what is wanted.
  char *dy = nullptr, *dlast_h = nullptr, *dlast_c = nullptr;
  char *dx = nullptr, *dh = nullptr, *dc = nullptr, *dweights = nullptr;
  double* reserve = nullptr;
};

// Each ends the process where the reserve is not as the call before has to leave it: the gradient of the
// data is computed once from what a forward wrote, and that of the weights once from what that wrote.
void run_rnn_forward(const Rnn& rnn, const RnnData& data);
void run_rnn_data(const Rnn& rnn, const RnnData& data);
void run_rnn_weights(const Rnn& rnn, const RnnData& data);

}  // namespace fake
