// The entries of the host's table and of the interfaces, with NULL where a tensor, an object, a name or a list should be, and
// with numbers that are none of theirs.
#include <cstdlib>

#include "fuzz.h"

namespace fuzz {
namespace {

const std::vector<std::string> kLayers = {"Linear", "ReLU", "Sequential", "Conv2d", "SGD", "Adam", "Linaer"};
const std::vector<std::string> kTypes = {"cpu", "meta", "ref", "ref:0", "ref:1", "cpu:0", "cpu:1", "ref:-1", "ref:99999999999",
                                         "gpu", ":",    "ref:"};

tn_status* refuse_grad(void*, tn_tensor*, tn_tensor**) { return nullptr; }
tn_status* no_gradient(void*, tn_tensor* const*, uint32_t, tn_tensor**, uint32_t) { return nullptr; }
tn_status* no_method(void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) { return nullptr; }
void see_nothing(void*, const char*, tn_tensor*, tn_entry_kind) {}

// A list of tensors with its number, sometimes NULL.
struct List {
  List(Arguments* a, int64_t most) {
    const int64_t wanted = a->random().below(most + 1);
    std::vector<tn_tensor*> all;
    for (int64_t i = 0; i < wanted; ++i) all.push_back(a->tensor_or_null());
    n = static_cast<uint32_t>(all.size());
    entries = a->random().chance(5) ? nullptr : a->list(all);
  }
  tn_tensor** entries;
  uint32_t n;
};

using Entry = std::function<tn_status*(Arguments*)>;

// Gives up what an entry made.
tn_status* taken(Arguments* a, tn_status* status, tn_tensor** made) {
  if (status == nullptr) check_tensor("what was made", *made);
  a->own(*made);
  return status;
}

std::vector<std::pair<std::string, Entry>> tensor_entries() {
  const tn_tensor_api* t = host.tensor;
  return {
      {"tensor/1 empty",
       [t](Arguments* a) {
         const Sizes sizes = a->random().chance(50) ? a->shape() : a->int_list();
         tn_tensor* made = nullptr;
         const int32_t rank =
             a->random().chance(90) ? static_cast<int32_t>(sizes.size()) : a->random().of<int32_t>({-1, INT32_MIN});
         const tn_dtype dtype = a->dtype();
         const tn_device device = a->device();
         return taken(a, t->empty(rank, a->random().chance(4) ? nullptr : a->ints(sizes), dtype, device, &made), &made);
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
         tn_status* status =
             t->from_memory(memory.empty() ? nullptr : memory.data(), static_cast<int32_t>(sizes.size()), a->ints(sizes),
                            a->random().chance(30) ? nullptr : a->ints(strides), dtype, nullptr, nullptr, &made);
         host.table->tensor_release(made);
         return status;
       }},
      {"tensor/1 to",
       [t](Arguments* a) {
         tn_tensor* made = nullptr;
         tn_tensor* x = a->tensor_or_null();
         const tn_device device = a->device();
         const tn_dtype dtype = a->dtype();
         note("to " + std::to_string(device.type) + ":" + std::to_string(device.index) + " " + std::to_string(dtype));
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
         const uint64_t bytes = x == nullptr ? 0 : static_cast<uint64_t>(x->numel) * t->itemsize(x->dtype);
         std::vector<uint8_t> memory(bytes + 16);
         const uint64_t wrong = a->random().of<uint64_t>({bytes + 1, 0, UINT64_MAX, bytes / 2});
         return t->read(x, a->random().chance(5) ? nullptr : memory.data(), a->random().chance(70) ? bytes : wrong);
       }},
      {"tensor/1 write",
       [t](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         const uint64_t bytes = x == nullptr ? 0 : static_cast<uint64_t>(x->numel) * t->itemsize(x->dtype);
         const std::vector<uint8_t> memory(bytes + 16);
         const uint64_t wrong = a->random().of<uint64_t>({bytes + 1, 0, UINT64_MAX, bytes / 2});
         return t->write(x, a->random().chance(5) ? nullptr : memory.data(), a->random().chance(70) ? bytes : wrong);
       }},
      {"tensor/1 detach",
       [t](Arguments* a) {
         tn_tensor *made = nullptr, *x = a->tensor_or_null();
         return taken(a, t->detach(x, &made), &made);
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

std::vector<std::pair<std::string, Entry>> autograd_entries() {
  const tn_autograd_api* g = host.autograd;
  return {
      {"autograd/1 leaves",
       [g](Arguments* a) {
         tn_tensor* x = a->tensor_or_null();
         checked(g->set_requires_grad(x, static_cast<int32_t>(a->random().of<int64_t>({0, 1, 2, -1}))));
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
         return g->backward(outputs.entries, outputs.n <= grads.n || grads.entries == nullptr ? grads.entries : nullptr,
                            outputs.n, flags);
       }},
      {"autograd/1 gradients",
       [g](Arguments* a) {
         const List outputs(a, 3), grads(a, 3), inputs(a, 3);
         std::vector<tn_tensor*> results(inputs.n + 1);
         tn_status* status =
             g->gradients(outputs.entries, outputs.n <= grads.n ? grads.entries : nullptr, outputs.n, inputs.entries, inputs.n,
                          static_cast<uint32_t>(a->random().below(8)), a->list(results));
         return status;
       }},
      {"autograd/1 custom",
       [g](Arguments* a) {
         const List inputs(a, 3), outputs(a, 2), saved(a, 2);
         return g->custom(a->name({"mine"}), a->random().chance(4) ? nullptr : no_gradient, nullptr, nullptr, inputs.entries,
                          inputs.n, outputs.entries, outputs.n, saved.entries, saved.n);
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
         if (checked(g->add_hook(x, a->random().chance(6) ? nullptr : refuse_grad, nullptr, nullptr, &id)))
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
         if (g->mode() < TN_GRAD_MODE || g->mode() > TN_INFERENCE_MODE) finding("a mode that is none");
         g->set_mode(TN_GRAD_MODE);
         g->set_anomaly(0);
         return static_cast<tn_status*>(nullptr);
       }},
      {"amp/1 enter",
       [](Arguments* a) {
         const tn_device device = a->device();
         const tn_dtype dtype = a->dtype();
         tn_status* status = host.amp->enter(device, dtype, a->random().chance(50) ? nullptr : a->name({"O1"}));
         if (status == nullptr) checked(host.amp->leave());
         return status;
       }},
      {"amp/1 leave", [](Arguments*) { return host.amp->leave(); }},
  };
}

std::vector<std::pair<std::string, Entry>> device_entries() {
  const tn_device_api* d = host.device;
  return {
      {"device/1 facts",
       [d](Arguments* a) {
         const auto type = static_cast<int32_t>(a->integer());
         d->type_name(type);
         d->type_description(type);
         d->count(type);
         d->flags(type);
         tn_device found;
         return d->parse(a->name(kTypes), &found);
       }},
      {"device/1 memory",
       [d](Arguments* a) {
         const tn_device device = a->device();
         tn_memory_stats stats{};
         stats.size = sizeof stats;
         tn_status* status = d->memory_stats(device, &stats);
         if (status != nullptr) return status;
         checked(d->synchronize(device));
         return d->empty_cache(device);
       }},
      {"device/1 memory of NULL", [d](Arguments* a) { return d->memory_stats(a->device(), nullptr); }},
      {"device/1 synchronize", [d](Arguments* a) { return d->synchronize(a->device()); }},
      {"device/1 empty_cache", [d](Arguments* a) { return d->empty_cache(a->device()); }},
      {"device/1 streams",
       [d](Arguments* a) {
         const tn_device device = a->device();
         tn_stream *stream = nullptr, *current = nullptr;
         checked(d->current_stream(device, &current));
         tn_status* status = d->stream_create(device, &stream);
         if (status != nullptr) return status;
         checked(d->set_current_stream(device, stream));
         checked(d->set_current_stream(a->device(), nullptr));
         checked(d->set_current_stream(device, nullptr));
         checked(d->stream_synchronize(stream));
         return d->stream_destroy(stream);
       }},
      {"device/1 streams of NULL",
       [d](Arguments*) {
         checked(d->stream_synchronize(nullptr));
         return d->stream_destroy(nullptr);
       }},
      {"device/1 set_fallback",
       [d](Arguments* a) {
         tn_status* status = d->set_fallback(static_cast<int32_t>(a->integer()));
         checked(d->set_fallback(TN_FALLBACK_DECOMPOSE));
         return status;
       }},
      {"explain/1 counter",
       [](Arguments* a) {
         host.explain->counter(a->name({"fallbacks", "layout_copies"}));
         return static_cast<tn_status*>(nullptr);
       }},
      {"explain/1 end",
       [](Arguments*) {
         const char* text = nullptr;
         tn_status* status = host.explain->end(&text);
         host.plugin->free_text(text);
         return status;
       }},
      {"plugin/1 load",
       [](Arguments* a) {
         return host.plugin->load(a->name({"/nowhere.so", "/", ""}));
       }},
      {"random/1 state",
       [](Arguments* a) {
         uint64_t seed = 0, offset = 0;
         host.random->set_state(static_cast<uint64_t>(a->integer()), static_cast<uint64_t>(a->integer()));
         host.random->get_state(&seed, &offset);
         return static_cast<tn_status*>(nullptr);
       }},
  };
}

std::vector<std::pair<std::string, Entry>> object_entries() {
  const tn_object_api* o = host.object;
  return {
      {"object/1 create",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         tn_status* status = o->create(a->name(kLayers), args, static_cast<uint32_t>(a->random().below(3)), &made);
         o->release(made);
         return status;
       }},
      {"object/1 create_named",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         const char* factory = a->name(kLayers);
         const std::vector<const char*> names = {a->name({"in_features", "lr", "bias"}), a->name({"out_features", "modules"})};
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         tn_status* status = o->create_named(factory, a->random().chance(5) ? nullptr : names.data(), args,
                                             static_cast<uint32_t>(a->random().below(3)), &made);
         o->release(made);
         return status;
       }},
      {"object/1 create_empty",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         tn_status* status = o->create_empty(a->name({"Mine"}), static_cast<tn_object_kind>(a->integer()), &made);
         o->release(made);
         return status;
       }},
      {"object/1 set_tensor",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const char* name = a->name({"weight", "bias"});
         return o->set_tensor(x, name, a->tensor_or_null(), static_cast<tn_entry_kind>(a->integer()));
       }},
      {"object/1 set_child",
       [o](Arguments* a) {
         tn_object *x = a->object(), *child = a->random().chance(20) ? x : a->object();
         return o->set_child(x, a->name({"0", "child"}), child);
       }},
      {"object/1 add_method",
       [o](Arguments* a) {
         tn_object* x = a->object();
         return o->add_method(x, a->name({"forward(Tensor x) -> Tensor", "f() -> ()", "f(", "f(int a, int a)"}),
                              a->random().chance(5) ? nullptr : no_method, nullptr, nullptr);
       }},
      {"object/1 entries",
       [o](Arguments* a) {
         tn_object *x = a->object(), *child = nullptr;
         tn_tensor* t = nullptr;
         const char* name = a->name({"weight", "bias", "0", "in_features"});
         if (checked(o->tensor(x, name, &t))) host.table->tensor_release(t);
         if (checked(o->child(x, name, &child))) o->release(child);
         const char* found = nullptr;
         if (checked(o->child_at(x, static_cast<uint32_t>(a->integer()), &found, &child))) o->release(child);
         o->n_children(x);
         o->type_name(x);
         o->kind(x);
         o->retain(nullptr);
         o->release(nullptr);
         tn_value borrowed{};
         return o->option(x, name, &borrowed);
       }},
      {"object/1 invoke",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const char* schema = nullptr;
         const char* method = a->name({"forward", "step", "group_added"});
         checked(o->method_schema(x, method, &schema));
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         tn_value results[3] = {};
         const auto n = static_cast<uint32_t>(a->random().below(4));
         tn_status* status = o->invoke(x, method, args, static_cast<uint32_t>(a->random().below(3)), results, n);
         if (status == nullptr) release(results, n);
         return status;
       }},
      {"object/1 hooks",
       [o](Arguments* a) {
         uint64_t id = 0;
         tn_object* x = a->object();
         const auto hook = [](void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) -> tn_status* {
           return nullptr;
         };
         if (checked(o->add_forward_hook(x, a->random().chance(5) ? nullptr : +hook, nullptr, nullptr, &id)))
           checked(o->remove_forward_hook(x, id));
         return o->remove_forward_hook(x, static_cast<uint64_t>(a->integer()));
       }},
      {"object/1 tree",
       [o](Arguments* a) {
         tn_object* x = a->object();
         size_t needed = 0;
         char text[8];
         checked(o->describe(x, text, static_cast<size_t>(a->random().below(9)), &needed));
         checked(o->zero_grad(x));
         o->set_training(x, static_cast<int32_t>(a->integer()));
         o->training(x);
         const tn_device device = a->device();
         checked(o->to(x, device, a->dtype()));
         return o->visit(x, a->random().chance(5) ? nullptr : see_nothing, nullptr);
       }},
      {"object/1 load_state",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const List tensors(a, 2);
         const std::vector<const char*> names = {a->name({"weight"}), a->name({"bias"})};
         return o->load_state(x, a->random().chance(5) ? nullptr : names.data(), tensors.entries, tensors.n,
                              static_cast<int32_t>(a->random().below(2)));
       }},
      {"object/1 groups",
       [o](Arguments* a) {
         tn_object* x = a->object();
         if (a->random().chance(50)) {
           tn_object* made = nullptr;
           const tn_value lr = float_value(0.1);
           checked(o->create("SGD", &lr, 1, &made));
           x = made;
         }
         const List parameters(a, 2);
         const std::vector<const char*> names = {a->name({"lr"}), a->name({"momentum"})};
         const tn_value values[] = {a->of_any_kind(), a->of_any_kind()};
         checked(o->add_group(x, parameters.entries, parameters.n, a->random().chance(5) ? nullptr : names.data(),
                              a->random().chance(5) ? nullptr : values, static_cast<uint32_t>(a->random().below(3))));
         o->n_groups(x);
         tn_tensor* const* borrowed = nullptr;
         uint32_t n = 0;
         checked(o->group(x, static_cast<uint32_t>(a->random().below(3)), &borrowed, &n));
         tn_value option{};
         checked(o->group_option(x, static_cast<uint32_t>(a->random().below(3)), names[0], &option));
         tn_status* status = o->set_group_option(x, static_cast<uint32_t>(a->random().below(3)), names[0],
                                                 a->random().chance(5) ? nullptr : values);
         if (x != nullptr && o->kind(x) == TN_OPTIMIZER) o->release(x);
         return status;
       }},
  };
}

std::vector<std::pair<std::string, Entry>> host_entries() {
  const tn_host* h = host.table;
  return {
      {"host find_op",
       [h](Arguments* a) {
         const tn_op* op = nullptr;
         return h->find_op(a->name({"add", "ops.add", "ad", "ops.", "."}), &op);
       }},
      {"host expression",
       [h](Arguments* a) {
         static const std::vector<std::string> formulas = {
             "x",         "x + ",     "(((((x", "x ** y", "where(x, y)",         "let a = x\na", "1e999 * x",
             "x +\n",     "gradient", "x.y",    "exp(x",  "9223372036854775808", "-x",           "sin(cos(tan(x)))",
             "x < y < x", "not x"};
         const tn_expression* e = nullptr;
         const char* schema = a->name({"_g(Tensor x, Tensor y) -> Tensor", "_g(Tensor x) -> Tensor", "_g()", "_g(int x)", "_g("});
         std::string formula = a->random().pick(formulas);
         if (a->random().chance(2)) formula = std::string(static_cast<size_t>(a->random().below(20000)), '(') + "x";
         if (a->random().chance(2)) formula = std::string(static_cast<size_t>(a->random().below(20000)), '-') + "x";
         note("'" + formula.substr(0, 60) + "' ");
         return h->expression(schema, a->random().chance(3) ? nullptr : a->string(formula), &e);
       }},
      {"host call of NULL",
       [h](Arguments* a) {
         const tn_op* op = nullptr;
         if (a->random().chance(50)) checked(h->find_op("add", &op));
         tn_value result{};
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         const bool null = op == nullptr || a->random().chance(50);
         tn_status* status = h->call(op, null && op != nullptr ? nullptr : args, 2, null ? &result : nullptr, 1);
         if (status == nullptr) release(&result, 1);
         return status;
       }},
      {"host primitive of NULL",
       [h](Arguments* a) {
         tn_value result{};
         const tn_value x = a->of_any_kind();
         const bool args = a->random().chance(50);
         return h->primitive(static_cast<tn_primitive>(a->random().below(40)), args ? &x : nullptr, 1, args ? nullptr : &result,
                             1);
       }},
      {"host values",
       [h](Arguments* a) {
         tn_value owned{};
         const tn_value v = a->of_any_kind();
         tn_status* status = h->value_copy(&v, &owned);
         if (status == nullptr) h->value_release(&owned);
         h->tensor_release(nullptr);
         return status;
       }},
      {"host statuses",
       [h](Arguments* a) {
         tn_status* cause = a->random().chance(50) ? h->status(static_cast<tn_code>(a->integer()), nullptr, nullptr) : nullptr;
         tn_status* status = h->status(TN_NOT_FOUND, a->name({"no"}), cause);
         h->status_payload(status, nullptr);
         h->status_set_payload(status, nullptr, nullptr, nullptr);
         h->status_code(nullptr);
         h->status_message(nullptr);
         h->status_payload(nullptr, nullptr);
         h->status_set_payload(nullptr, nullptr, nullptr, nullptr);
         h->status_free(status);
         h->status_free(nullptr);
         return static_cast<tn_status*>(nullptr);
       }},
      {"host get_interface",
       [h](Arguments* a) {
         h->get_interface(a->name({"tensor/1", "tensor/2", ""}));
         return static_cast<tn_status*>(nullptr);
       }},
  };
}

}  // namespace

void add_entries(std::vector<Target>* targets) {
  for (const auto& list : {host_entries(), tensor_entries(), autograd_entries(), device_entries(), object_entries()}) {
    for (const auto& [name, entry] : list) {
      targets->push_back({"entry " + name, [entry = entry](Random* random) {
                            Arguments a(random);
                            ++shared->counts.calls;
                            accepted(entry(&a));
                          }});
    }
  }
}

}  // namespace fuzz
