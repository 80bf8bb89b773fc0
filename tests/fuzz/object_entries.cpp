// The entries of object/1.
#include "entries.h"

namespace fuzz {
namespace {

const std::vector<std::string> kLayers = {"Linear", "ReLU", "Sequential", "Conv2d",
                                          "SGD",    "Adam", "Linaer"};

tn_status* no_method(void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) {
  return nullptr;
}
void see_members(void*, tn_object*, const char*) {}
void see_nothing(void*, const char*, tn_tensor*, tn_entry_kind) {}
void see_no_factory(void*, tn_object_kind, const char*, const char*) {}

}  // namespace

Entries object_entries() {
  const tn_object_api* o = host.object;
  return {
      {"object/1 create",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         tn_status* status =
             o->create(a->name(kLayers), args, static_cast<uint32_t>(a->random().below(3)), &made);
         o->release(made);
         return status;
       }},
      {"object/1 create_named",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         const char* factory = a->name(kLayers);
         const std::vector<const char*> names = {a->name({"in_features", "lr", "bias"}),
                                                 a->name({"out_features", "modules"})};
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         tn_status* status =
             o->create_named(factory, a->random().chance(5) ? nullptr : names.data(), args,
                             static_cast<uint32_t>(a->random().below(3)), &made);
         o->release(made);
         return status;
       }},
      {"object/1 create_empty",
       [o](Arguments* a) {
         tn_object* made = nullptr;
         tn_status* status =
             o->create_empty(a->name({"Mine"}), static_cast<tn_object_kind>(a->integer()), &made);
         o->release(made);
         return status;
       }},
      {"object/1 factories",
       [o](Arguments* a) {
         return o->factories(a->random().chance(5) ? nullptr : see_no_factory, nullptr);
       }},
      {"object/1 set_tensor",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const char* name = a->name({"weight", "bias"});
         return o->set_tensor(x, name, a->tensor_or_null(),
                              static_cast<tn_entry_kind>(a->integer()));
       }},
      {"object/1 set_child",
       [o](Arguments* a) {
         tn_object *x = a->object(), *child = a->random().chance(20) ? x : a->object();
         return o->set_child(x, a->name({"0", "child"}), child);
       }},
      {"object/1 add_method",
       [o](Arguments* a) {
         tn_object* x = a->object();
         return o->add_method(
             x, a->name({"forward(Tensor x) -> Tensor", "f() -> ()", "f(", "f(int a, int a)"}),
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
         if (checked(o->child_at(x, static_cast<uint32_t>(a->integer()), &found, &child)))
           o->release(child);
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
         tn_status* status =
             o->invoke(x, method, args, static_cast<uint32_t>(a->random().below(3)), results, n);
         if (status == nullptr) release(results, n);
         return status;
       }},
      {"object/1 hooks",
       [o](Arguments* a) {
         uint64_t id = 0;
         tn_object* x = a->object();
         const auto hook = [](void*, tn_object*, const tn_value*, uint32_t, tn_value*,
                              uint32_t) -> tn_status* { return nullptr; };
         if (checked(o->add_forward_hook(x, a->random().chance(5) ? nullptr : +hook, nullptr,
                                         nullptr, &id)))
           checked(o->remove_forward_hook(x, id));
         if (checked(o->add_forward_pre_hook(x, a->random().chance(5) ? nullptr : +hook, nullptr,
                                             nullptr, &id)))
           checked(o->remove_forward_hook(x, id));
         const auto kind = static_cast<tn_hook_kind>(a->random().below(7));
         if (checked(o->add_hook(x, kind, static_cast<uint32_t>(a->random().below(4)),
                                 a->random().chance(5) ? nullptr : +hook, nullptr, nullptr, &id))) {
           o->has_hooks(x, kind);
           checked(o->call_hooks(x, kind, nullptr, 0, nullptr, 0));
           checked(o->remove_forward_hook(x, id));
         }
         return o->remove_forward_hook(x, static_cast<uint64_t>(a->integer()));
       }},
      {"object/1 tree",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const char* text = nullptr;
         checked(o->describe(x, a->random().chance(5) ? nullptr : &text));
         host.table->text_free(text);
         checked(o->zero_grad(x));
         o->set_training(x, static_cast<int32_t>(a->integer()));
         o->training(x);
         const tn_device device = a->device();
         checked(o->to(x, device, a->dtype()));
         checked(o->visit_own(x, a->random().chance(5) ? nullptr : see_nothing, nullptr));
         o->child_changes(x, static_cast<uint32_t>(a->integer()));
         o->is_shared(x, a->random().chance(5) ? nullptr : a->name({"weight", "0"}));
         checked(o->become(x, a->object()));
         checked(o->remove(x, a->random().chance(5) ? nullptr : a->name({"weight", "0"})));
         o->set_members(x, a->random().chance(2) ? nullptr : see_members, nullptr);
         return o->visit(x, a->random().chance(5) ? nullptr : see_nothing, nullptr);
       }},
      {"object/1 load_state",
       [o](Arguments* a) {
         tn_object* x = a->object();
         const List tensors(a, 2);
         const std::vector<const char*> names = {a->name({"weight"}), a->name({"bias"})};
         return o->load_state(x, a->random().chance(5) ? nullptr : names.data(), tensors.entries,
                              tensors.n, static_cast<int32_t>(a->random().below(2)));
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
         checked(o->add_group(x, parameters.entries, parameters.n,
                              a->random().chance(5) ? nullptr : names.data(),
                              a->random().chance(5) ? nullptr : values,
                              static_cast<uint32_t>(a->random().below(3))));
         o->n_groups(x);
         tn_tensor* const* borrowed = nullptr;
         uint32_t n = 0;
         checked(o->group(x, static_cast<uint32_t>(a->random().below(3)), &borrowed, &n));
         tn_value option{};
         checked(
             o->group_option(x, static_cast<uint32_t>(a->random().below(3)), names[0], &option));
         tn_status* status =
             o->set_group_option(x, static_cast<uint32_t>(a->random().below(3)), names[0],
                                 a->random().chance(5) ? nullptr : values);
         if (x != nullptr && o->kind(x) == TN_OBJECT_OPTIMIZER) o->release(x);
         return status;
       }},
  };
}

}  // namespace fuzz
