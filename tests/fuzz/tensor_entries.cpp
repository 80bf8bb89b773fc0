// The entries of tensor/1, autograd/1 and amp/1.
#include <cstdlib>

#include "entries.h"

namespace fuzz {
namespace {

tn_status* refuse_grad(void*, tn_tensor*, tn_tensor**) { return nullptr; }
tn_status* no_gradient(void*, tn_tensor* const*, uint32_t, tn_tensor**, uint32_t) {
  return nullptr;
}

// Gives up what an entry made.
tn_status* taken(Arguments* a, tn_status* status, tn_tensor** made) {
  if (status == nullptr) check_tensor("what was made", *made);
  a->own(*made);
  return status;
}

}  // namespace

Entries tensor_entries() {
  const tn_tensor_api* t = host.tensor;
  return {
      {"tensor/1 empty",
       [t](Arguments* a) {
         const Sizes sizes = a->random().chance(50) ? a->shape() : a->int_list();
         tn_tensor* made = nullptr;
         const int32_t rank = a->random().chance(90) ? static_cast<int32_t>(sizes.size())
                                                     : a->random().of<int32_t>({-1, INT32_MIN});
         const tn_dtype dtype = a->dtype();
         const tn_device device = a->device();
         return taken(
             a,
             t->empty(rank, a->random().chance(4) ? nullptr : a->ints(sizes), dtype, device, &made),
             &made);
       }},
      {"tensor/1 from_memory",
       [t](Arguments* a) {
         const Sizes sizes = a->random().chance(80) ? a->shape() : a->int_list();
         Sizes strides = a->int_list();
         strides.resize(sizes.size());
         // Only what is not read: of memory nobody can say where it ends.
         int64_t n = 1;
         for (const int64_t s : sizes) n = s < 0 || s > 40 || n > 4096 ? 1 << 20 : n * s;
         for (const int64_t s : strides) n = s < 0 || s > 4 ? 1 << 20 : n;
         std::vector<double> memory(n < 4096 && sizes.size() < 6 ? 65536 : 0);
         tn_tensor* made = nullptr;
         const tn_dtype dtype = a->dtype();
         tn_status* status = t->from_memory(memory.empty() ? nullptr : memory.data(),
                                            static_cast<int32_t>(sizes.size()), a->ints(sizes),
                                            a->random().chance(30) ? nullptr : a->ints(strides),
                                            dtype, nullptr, nullptr, &made);
         host.table->tensor_release(made);
         return status;
       }},
      {"tensor/1 to",
       [t](Arguments* a) {
         tn_tensor* made = nullptr;
         tn_tensor* x = a->tensor_or_null();
         const tn_device device = a->device();
         const tn_dtype dtype = a->dtype();
         note("to " + std::to_string(device.type) + ":" + std::to_string(device.index) + " " +
              std::to_string(dtype));
         return taken(a, t->to(x, device, dtype, &made), &made);
       }},
      {"tensor/1 copy_",
       [t](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         return t->copy_(x, a->tensor_or_null());
       }},
      {"tensor/1 read",
       [t](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         const uint64_t bytes =
             x == nullptr ? 0 : static_cast<uint64_t>(x->numel) * t->itemsize(x->dtype);
         std::vector<uint8_t> memory(bytes + 16);
         const uint64_t wrong = a->random().of<uint64_t>({bytes + 1, 0, UINT64_MAX, bytes / 2});
         return t->read(x, a->random().chance(5) ? nullptr : memory.data(),
                        a->random().chance(70) ? bytes : wrong);
       }},
      {"tensor/1 write",
       [t](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         const uint64_t bytes =
             x == nullptr ? 0 : static_cast<uint64_t>(x->numel) * t->itemsize(x->dtype);
         const std::vector<uint8_t> memory(bytes + 16);
         const uint64_t wrong = a->random().of<uint64_t>({bytes + 1, 0, UINT64_MAX, bytes / 2});
         return t->write(x, a->random().chance(5) ? nullptr : memory.data(),
                         a->random().chance(70) ? bytes : wrong);
       }},
      {"tensor/1 detach",
       [t](Arguments* a) {
         tn_tensor *made = nullptr, *x = a->tensor_or_null();
         return taken(a, t->detach(x, &made), &made);
       }},
      {"tensor/1 view_dtype",
       [t](Arguments* a) {
         tn_tensor *made = nullptr, *x = a->tensor_or_null();
         return taken(a, t->view_dtype(x, a->dtype(), &made), &made);
       }},
      {"tensor/1 facts",
       [t](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         const tn_dtype one = a->dtype(), other = a->dtype();
         t->version(x);
         t->same_storage(x, a->tensor_or_null());
         t->is_retained_once(x);
         t->itemsize(one);
         if (t->dtype_name(one) == nullptr) finding("a dtype has no name");
         t->promote(one, other);
         t->dtype_from_name(a->name({"float32", "int8", "bool"}));
         void* data = nullptr;
         return t->mutable_data(x, &data);
       }},
      {"tensor/1 dlpack",
       [t](Arguments* a) {
         void* managed = nullptr;
         tn_tensor *made = nullptr, *x = a->tensor_or_null();
         tn_status* status = t->to_dlpack(x, static_cast<int32_t>(a->random().below(2)), &managed);
         if (status != nullptr) return status;
         status = t->from_dlpack(managed, &made);
         return taken(a, status, &made);
       }},
      {"tensor/1 from_dlpack of NULL",
       [t](Arguments*) {
         tn_tensor* made = nullptr;
         return t->from_dlpack(nullptr, &made);
       }},
  };
}

Entries autograd_entries() {
  const tn_autograd_api* g = host.autograd;
  return {
      {"autograd/1 leaves",
       [g](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         checked(
             g->set_requires_grad(x, static_cast<int32_t>(a->random().of<int64_t>({0, 1, 2, -1}))));
         checked(g->retain_grad(x));
         tn_status* status = g->set_grad(x, a->tensor_or_null());
         host.table->tensor_release(g->grad(x));
         if (x != nullptr) checked(g->set_grad(x, nullptr));
         g->node_release(g->grad_fn(x));
         return status;
       }},
      {"autograd/1 backward",
       [g](Arguments* a) {
         const List outputs(a, 3), grads(a, 3);
         const auto flags = static_cast<uint32_t>(a->random().of<int64_t>({0, 1, 4, 255}));
         note("flags " + std::to_string(flags) + " ");
         const bool seeds = outputs.n <= grads.n || grads.entries == nullptr;
         tn_status* status =
             g->backward(outputs.entries, seeds ? grads.entries : nullptr, outputs.n, flags);
         // A gradient with a graph of its own may lead back to its leaf: such a circle is the
         // caller's to open.
         for (uint32_t i = 0; (flags & TN_BACKWARD_CREATE_GRAPH) != 0 &&
                              outputs.entries != nullptr && i < outputs.n;
              ++i) {
           if (outputs.entries[i] != nullptr) checked(g->set_grad(outputs.entries[i], nullptr));
         }
         return status;
       }},
      {"autograd/1 gradients",
       [g](Arguments* a) {
         const List outputs(a, 3), grads(a, 3), inputs(a, 3);
         tn_tensor** results = a->list(std::vector<tn_tensor*>(inputs.n + 1));
         tn_status* status = g->gradients(
             outputs.entries, outputs.n <= grads.n ? grads.entries : nullptr, outputs.n,
             inputs.entries, inputs.n, static_cast<uint32_t>(a->random().below(8)), results);
         for (uint32_t i = 0; i < inputs.n; ++i) a->own(results[i]);
         return status;
       }},
      {"autograd/1 custom",
       [g](Arguments* a) {
         const List inputs(a, 3), outputs(a, 2), saved(a, 2);
         return g->custom(a->name({"mine"}), a->random().chance(4) ? nullptr : no_gradient, nullptr,
                          nullptr, inputs.entries, inputs.n, outputs.entries, outputs.n,
                          saved.entries, saved.n);
       }},
      {"autograd/1 custom_saved",
       [g](Arguments* a) {
         tn_tensor* made = nullptr;
         return taken(a, g->custom_saved(static_cast<uint32_t>(a->integer()), &made), &made);
       }},
      {"autograd/1 hooks",
       [g](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         uint64_t id = 0;
         if (checked(g->add_hook(x, a->random().chance(6) ? nullptr : refuse_grad, nullptr, nullptr,
                                 &id)))
           checked(g->remove_hook(x, id));
         if (checked(g->add_accumulated_hook(x, a->random().chance(6) ? nullptr : refuse_grad,
                                             nullptr, nullptr, &id)))
           checked(g->remove_hook(x, id));
         return g->remove_hook(x, static_cast<uint64_t>(a->integer()));
       }},
      {"autograd/1 nodes of NULL",
       [g](Arguments*) {
         g->node_name(nullptr);
         g->node_n_next(nullptr);
         g->node_release(g->node_next(nullptr, 3));
         g->node_release(nullptr);
         return g->node_add_hook(nullptr, refuse_grad, nullptr, nullptr);
       }},
      {"autograd/1 set_mode",
       [g](Arguments* a) {
         g->set_mode(static_cast<int32_t>(a->integer()));
         g->set_anomaly(static_cast<int32_t>(a->integer()));
         if (g->mode() < TN_MODE_GRAD || g->mode() > TN_MODE_INFERENCE)
           finding("a mode that is none");
         g->set_mode(TN_MODE_GRAD);
         g->set_anomaly(0);
         return static_cast<tn_status*>(nullptr);
       }},
      {"amp/1 enter",
       [](Arguments* a) {
         const tn_device device = a->device();
         const tn_dtype dtype = a->dtype();
         tn_status* status =
             host.amp->enter(device, dtype, a->random().chance(50) ? nullptr : a->name({"O1"}));
         if (status == nullptr) checked(host.amp->leave());
         return status;
       }},
      {"amp/1 leave", [](Arguments*) { return host.amp->leave(); }},
  };
}

}  // namespace fuzz
