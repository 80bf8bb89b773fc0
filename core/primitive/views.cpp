// The primitives that are views: no kernel, and no copy but where reshape needs one.
#include "primitive/convert.h"
#include "primitive/primitives.h"
#include "registry/recording.h"
#include "tensor/view.h"

namespace tenon {
namespace {

Status show(Tensor* x, const Geometry& g, Tensor** result) {
  *result = make_view_unchecked(x, g.size_span(), g.strides, g.offset);
  mark_view(*result);
  return nullptr;
}

}  // namespace

Status run_reshape(Values args, Tensor** result) {
  Tensor* x = tensor_at(args, 0);
  Geometry g;
  bool possible;
  TN_TRY(reshape_geometry(x, ints_at(args, 1), &g, &possible));
  if (possible) return show(x, g, result);
  Tensor* copy;
  TN_TRY(copy_to(x, x->device, TN_DTYPE_NONE, &copy));
  const TensorRef dense(copy);
  dense->storage->retain();
  *result = make_tensor(dense->storage, g.size_span(), nullptr, 0, x->dtype);
  return nullptr;
}

Status run_permute(Values args, Tensor** result) {
  Geometry g;
  TN_TRY(permute_geometry(tensor_at(args, 0), ints_at(args, 1), &g));
  return show(tensor_at(args, 0), g, result);
}

Status run_slice(Values args, Tensor** result) {
  Geometry g;
  TN_TRY(slice_geometry(tensor_at(args, 0), int_at(args, 1), int_at(args, 2), int_at(args, 3),
                        int_at(args, 4), &g));
  return show(tensor_at(args, 0), g, result);
}

Status run_expand(Values args, Tensor** result) {
  Geometry g;
  TN_TRY(expand_geometry(tensor_at(args, 0), ints_at(args, 1), &g));
  return show(tensor_at(args, 0), g, result);
}

Status run_as_strided(Values args, Tensor** result) {
  Tensor* x = tensor_at(args, 0);
  Geometry g;
  TN_TRY(strided_geometry(x, ints_at(args, 1), ints_at(args, 2), int_at(args, 3), &g));
  if ((thread_state.modes & kModeRecord) != 0) thread_state.recording->see_strided(x->storage);
  TN_TRY(make_view(x, g.size_span(), g.strides, g.offset, result));
  mark_view(*result);
  return nullptr;
}

}  // namespace tenon
