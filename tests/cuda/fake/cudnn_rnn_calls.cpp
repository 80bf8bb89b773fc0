// The entries of the fake cuDNN that compute recurrent layers. A call is checked for whether its
// descriptors fit together and its memory is live and as long as they say; the loops are in
// cudnn_rnn_run.cpp, and run on the stream.
#include <algorithm>

#include "cudnn_rnn_descriptor.h"

namespace {

using fake::bad;
using fake::die;
using fake::find;
using fake::layer_of;
using fake::refuse;
using fake::Rnn;
using fake::RnnData;
using fake::unsupported;
using fake::workspace_of;

struct Call {
  cudnnHandle_t handle;
  cudnnRNNDescriptor_t rnn;
  cudnnRNNDataDescriptor_t x, y;
  cudnnTensorDescriptor_t h, c;  // c: NULL where it is not asked
  bool has_c;
  size_t weights, workspace, reserve;
  void* workspace_data;
};

cudnnStatus_t check_state(const cudnnTensorDescriptor_t state, const Rnn& rnn, int64_t width,
                          const char* name) {
  if (!state) return bad(std::string(name) + " has no descriptor");
  const cudnnTensorStruct& d = find(state);
  const std::vector<int> sizes = {1, static_cast<int>(rnn.n()), static_cast<int>(width)};
  const std::vector<int> strides = {sizes[1] * sizes[2], sizes[2], 1};
  if (d.type != rnn.type || d.sizes != sizes || d.strides != strides)
    return bad(std::string(name) + " is not [1, n, width], packed");
  return CUDNN_STATUS_SUCCESS;
}

// Do the descriptors fit together, and is the memory beside them as long as was asked for?
cudnnStatus_t check_call(const Call& call, bool is_training, Rnn* rnn) {
  if (!fake::is_handle(call.handle)) return bad("no such handle");
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != call.handle->context)
    return bad("the handle's context is not current");
  const cudnnRNNStruct& of = find(call.rnn);
  const cudnnRNNDataStruct &x = find(call.x), &y = find(call.y);
  if (!of.is_set || !x.is_set || !y.is_set) return bad("a descriptor is not set");
  *rnn = layer_of(of, x);
  if (x.type != of.type || y.type != of.type) return bad("rows of another type");
  if (x.width != of.features || y.width != of.width) return bad("rows of another width");
  if (x.lengths != y.lengths) return bad("x and y have other lengths");
  if (const cudnnStatus_t status = check_state(call.h, *rnn, rnn->width, "h")) return status;
  if (call.has_c && of.mode == CUDNN_LSTM) {
    if (const cudnnStatus_t status = check_state(call.c, *rnn, rnn->hidden, "c")) return status;
  }
  if (call.weights != static_cast<size_t>(rnn->weight_bytes()))
    return bad("the space of weights has another size");
  if (call.workspace < workspace_of(*rnn)) return bad("the workspace is too small");
  if (is_training && call.reserve < static_cast<size_t>(rnn->reserve_bytes()))
    return bad("the reserve is too small");
  return CUDNN_STATUS_SUCCESS;
}

// Memory that a call names: where it begins, and how long it is.
struct Named {
  char* RnnData::*member;
  const void* data;
  int64_t elements;
  bool is_needed;
};

struct Work {
  Rnn rnn;
  std::vector<Named> named;
  void *workspace, *reserve;
  void (*run)(const Rnn&, const RnnData&);
};

// Where the memory can be touched; `fills`: the workspace gets what no result may depend on.
cudnnStatus_t view(const Work& work, bool fills, RnnData* data) {
  const auto bytes = static_cast<int64_t>(fake::bytes_of(work.rnn.type));
  for (const Named& named : work.named) {
    if (!named.data) {
      if (named.is_needed) return bad("memory is missing");
      continue;
    }
    char* found = tenon_fake_view(named.data, static_cast<size_t>(named.elements * bytes));
    if (!found) die("a tensor of a recurrent layer is not live memory of a device");
    data->*named.member = found;
  }
  char* workspace = tenon_fake_view(work.workspace, workspace_of(work.rnn));
  if (!workspace) die("the workspace is not live memory of a device");
  if (fills) std::fill_n(workspace, workspace_of(work.rnn), '\x5a');
  if (!work.reserve) return CUDNN_STATUS_SUCCESS;
  char* reserve = tenon_fake_view(work.reserve, static_cast<size_t>(work.rnn.reserve_bytes()));
  if (!reserve) die("the reserve is not live memory of a device");
  data->reserve = reinterpret_cast<double*>(reserve);
  return CUDNN_STATUS_SUCCESS;
}

// The weights' elements, as far as the space goes.
int64_t weight_elements(const Rnn& rnn) {
  return rnn.weight_bytes() / static_cast<int64_t>(fake::bytes_of(rnn.type));
}

cudnnStatus_t enqueue(const Call& call, const char* entry, Work work) {
  RnnData data;
  if (const cudnnStatus_t status = view(work, false, &data)) return status;
  const auto run = [](void* context) {
    const Work& of_stream = *static_cast<Work*>(context);
    RnnData all;
    if (view(of_stream, true, &all)) die("memory that went before its work");
    of_stream.run(of_stream.rnn, all);
  };
  const auto release = [](void* context) { delete static_cast<Work*>(context); };
  if (tenon_fake_put(call.handle->stream, entry, run, new Work(std::move(work)), release))
    return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH, "no such stream");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                              cudnnForwardMode_t mode, const int32_t[],
                              cudnnRNNDataDescriptor_t of_x, const void* x,
                              cudnnRNNDataDescriptor_t of_y, void* y, cudnnTensorDescriptor_t of_h,
                              const void* h, void* last_h, cudnnTensorDescriptor_t of_c,
                              const void* c, void* last_c, size_t weight_bytes, const void* weights,
                              size_t work_bytes, void* workspace, size_t reserve_bytes,
                              void* reserve) {
  ENTER(cudnnRNNForward);
  const bool is_training = mode == CUDNN_FWD_MODE_TRAINING;
  const Call call = {handle, rnn,          of_x,       of_y,          of_h,     of_c,
                     true,   weight_bytes, work_bytes, reserve_bytes, workspace};
  Rnn r;
  if (const cudnnStatus_t status = check_call(call, is_training, &r)) return status;
  if (is_training != (reserve != nullptr)) return bad("a reserve is of a training");
  const int64_t states = r.n() * r.width, cells = r.mode == CUDNN_LSTM ? r.n() * r.hidden : 0;
  if (cells == 0 && (c || last_c)) return bad("c is an LSTM's");
  return enqueue(call, "cudnnRNNForward",
                 {r,
                  {{&RnnData::x, x, r.rows() * r.features, true},
                   {&RnnData::y, y, r.rows() * r.width, true},
                   {&RnnData::h, h, states, false},
                   {&RnnData::last_h, last_h, states, false},
                   {&RnnData::c, c, cells, false},
                   {&RnnData::last_c, last_c, cells, false},
                   {&RnnData::weights, weights, weight_elements(r), true}},
                  workspace,
                  reserve,
                  fake::run_rnn_forward});
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                      const int32_t[], cudnnRNNDataDescriptor_t of_y, const void* y,
                                      const void* dy, cudnnRNNDataDescriptor_t of_x, void* dx,
                                      cudnnTensorDescriptor_t of_h, const void* h,
                                      const void* dlast_h, void* dh, cudnnTensorDescriptor_t of_c,
                                      const void* c, const void* dlast_c, void* dc,
                                      size_t weight_bytes, const void* weights, size_t work_bytes,
                                      void* workspace, size_t reserve_bytes, void* reserve) {
  ENTER(cudnnRNNBackwardData_v8);
  const Call call = {handle, rnn,          of_x,       of_y,          of_h,     of_c,
                     true,   weight_bytes, work_bytes, reserve_bytes, workspace};
  Rnn r;
  if (const cudnnStatus_t status = check_call(call, true, &r)) return status;
  const int64_t states = r.n() * r.width, cells = r.mode == CUDNN_LSTM ? r.n() * r.hidden : 0;
  if (cells == 0 && (c || dlast_c || dc)) return bad("c is an LSTM's");
  return enqueue(call, "cudnnRNNBackwardData_v8",
                 {r,
                  {{&RnnData::y, y, r.rows() * r.width, true},
                   {&RnnData::dy, dy, r.rows() * r.width, true},
                   {&RnnData::dx, dx, r.rows() * r.features, true},
                   {&RnnData::h, h, states, false},
                   {&RnnData::dlast_h, dlast_h, states, false},
                   {&RnnData::dh, dh, states, false},
                   {&RnnData::c, c, cells, false},
                   {&RnnData::dlast_c, dlast_c, cells, false},
                   {&RnnData::dc, dc, cells, false},
                   {&RnnData::weights, weights, weight_elements(r), true}},
                  workspace,
                  reserve,
                  fake::run_rnn_data});
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         cudnnWgradMode_t mode, const int32_t[],
                                         cudnnRNNDataDescriptor_t of_x, const void* x,
                                         cudnnTensorDescriptor_t of_h, const void* h,
                                         cudnnRNNDataDescriptor_t of_y, const void* y,
                                         size_t weight_bytes, void* gradients, size_t work_bytes,
                                         void* workspace, size_t reserve_bytes, void* reserve) {
  ENTER(cudnnRNNBackwardWeights_v8);
  if (mode != CUDNN_WGRAD_MODE_ADD) return unsupported("gradients that are not added");
  const Call call = {handle, rnn,          of_x,       of_y,          of_h,     nullptr,
                     false,  weight_bytes, work_bytes, reserve_bytes, workspace};
  Rnn r;
  if (const cudnnStatus_t status = check_call(call, true, &r)) return status;
  return enqueue(call, "cudnnRNNBackwardWeights_v8",
                 {r,
                  {{&RnnData::x, x, r.rows() * r.features, true},
                   {&RnnData::y, y, r.rows() * r.width, true},
                   {&RnnData::h, h, r.n() * r.width, false},
                   {&RnnData::dweights, gradients, weight_elements(r), true}},
                  workspace,
                  reserve,
                  fake::run_rnn_weights});
}

}  // extern "C"
#pragma GCC visibility pop
