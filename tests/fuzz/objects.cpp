// Factories: made with random options, then used as layers and optimizers are.
#include <memory>

#include "fuzz.h"

namespace fuzz {
namespace {

struct Visited {
  std::vector<std::string> names;
  std::vector<tn_tensor*> tensors;
};

void see(void* context, const char* name, tn_tensor* t, tn_entry_kind) {
  auto* all = static_cast<Visited*>(context);
  all->names.push_back(name);
  all->tensors.push_back(t);
}

void describe(const tn_object* o) {
  const char* text = nullptr;
  checked(host.object->describe(o, &text));
  host.table->text_free(text);
}

void call_method(Arguments* a, tn_object* o, const char* method) {
  const char* schema = nullptr;
  tn_status* none = host.object->method_schema(o, method, &schema);
  if (none != nullptr) return host.table->status_free(none);
  const Signature s = parse_signature(schema);
  std::vector<tn_value> args;
  note(std::string("\n  ") + method + ": ");
  for (const Parameter& p : s.parameters) {
    if (p.has_default && a->random().chance(40)) break;
    args.push_back(a->value(p));
  }
  const size_t n = a->random().chance(97) ? s.n_results : static_cast<size_t>(a->random().below(3));
  std::vector<tn_value> results(n);
  if (!checked(host.object->invoke(o, method, args.data(), static_cast<uint32_t>(args.size()),
                                   results.data(), static_cast<uint32_t>(n))))
    return;
  std::vector<tn_tensor*> outputs, grads;
  for (const tn_value& v : results) {
    check_value("a result", v, true);
    if (v.kind == TN_KIND_TENSOR && (v.as.tensor->flags & TN_TENSOR_REQUIRES_GRAD) != 0 &&
        v.as.tensor->numel < 1 << 16)
      outputs.push_back(v.as.tensor);
  }
  if (!outputs.empty()) {
    ++shared->counts.backwards;
    note("backward ");
    for (tn_tensor* t : outputs)
      grads.push_back(a->tensor(Sizes(t->sizes, t->sizes + t->ndim), t->dtype, t->device));
    checked(host.autograd->backward(outputs.data(), grads.data(),
                                    static_cast<uint32_t>(outputs.size()), 0));
    for (tn_tensor* leaf : a->leaves()) checked(host.autograd->set_grad(leaf, nullptr));
  }
  release(results.data(), n);
}

void use_state(Arguments* a, tn_object* o) {
  Random& r = a->random();
  Visited all;
  checked(host.object->visit(o, see, &all));
  for (tn_tensor* t : all.tensors) {
    if (t == nullptr) continue;
    check_tensor("an entry", t);
    if (r.chance(30) && t->dtype <= TN_BFLOAT16) checked(host.autograd->set_requires_grad(t, 1));
  }
  std::vector<const char*> names;
  std::vector<tn_tensor*> tensors;
  note("\n  load_state: ");
  for (size_t i = 0; i < all.names.size(); ++i) {
    if (r.chance(15)) continue;
    names.push_back(r.chance(4) ? nullptr : all.names[i].c_str());
    tn_tensor* t = all.tensors[i];
    tensors.push_back(r.chance(4) ? nullptr
                      : t != nullptr && r.chance(80)
                          ? a->tensor(Sizes(t->sizes, t->sizes + t->ndim), t->dtype, t->device)
                          : a->tensor());
  }
  checked(host.object->load_state(o, a->list(names), a->list(tensors),
                                  static_cast<uint32_t>(names.size()), r.chance(50)));
}

void use_groups(Arguments* a, tn_object* o, const Signature& s) {
  Random& r = a->random();
  for (int64_t i = r.between(1, 2); i > 0; --i) {
    std::vector<tn_tensor*> parameters;
    note("\n  add_group: ");
    for (int64_t n = r.below(4); n > 0; --n) {
      tn_tensor* t = a->tensor_or_null();
      parameters.push_back(t);
      if (t == nullptr || !r.chance(80)) continue;
      tn_tensor* gradient = a->tensor(Sizes(t->sizes, t->sizes + t->ndim), t->dtype, t->device);
      checked(host.autograd->set_requires_grad(t, 1)) &&
          checked(host.autograd->set_grad(t, gradient));
    }
    std::vector<const char*> names;
    std::vector<tn_value> values;
    for (const Parameter& p : s.parameters) {
      if (!r.chance(25)) continue;
      names.push_back(r.chance(3) ? nullptr : p.name.c_str());
      values.push_back(a->value(p));
    }
    checked(host.object->add_group(o, a->list(parameters), static_cast<uint32_t>(parameters.size()),
                                   a->list(names), a->list(values),
                                   static_cast<uint32_t>(names.size())));
  }
  if (!s.parameters.empty()) {
    note("\n  set_group_option: ");
    const Parameter& p = r.pick(s.parameters);
    const tn_value v = a->value(p);
    checked(
        host.object->set_group_option(o, static_cast<uint32_t>(r.below(3)), p.name.c_str(), &v));
    tn_value borrowed{};
    checked(
        host.object->group_option(o, static_cast<uint32_t>(r.below(3)), p.name.c_str(), &borrowed));
  }
}

void call_factory(const Signature& s, tn_object_kind kind, Random* random) {
  Arguments a(random);
  Random& r = a.random();
  a.theme.device = r.chance(85) ? tn_device{TN_DEVICE_CPU, 0} : a.theme.device;
  std::vector<const char*> names;
  std::vector<tn_value> args;
  const bool named = r.chance(50), usual = r.chance(60);
  for (const Parameter& p : s.parameters) {
    if (p.has_default && (named ? r.chance(60) : r.chance(20))) {
      if (named) continue;
      break;
    }
    names.push_back(r.chance(1) ? nullptr : r.chance(1) ? a.string(a.word()) : p.name.c_str());
    // Sizes that a layer would have, or anything.
    if (usual && p.type == "int" && !p.list) {
      args.push_back(int_value(r.between(1, 6)));
      note(p.name + "=" + std::to_string(args.back().as.i) + " ");
    } else if (usual && p.type == "int") {
      Sizes list(static_cast<size_t>(r.between(1, 2)));
      for (int64_t& e : list) e = r.between(1, 4);
      args.push_back(ints_value(a.ints(list), list.size()));
      note(p.name + "=ints ");
    } else {
      args.push_back(a.value(p));
    }
  }
  ++shared->counts.calls;
  tn_object* o = nullptr;
  const auto n = static_cast<uint32_t>(args.size());
  if (!accepted(named
                    ? host.object->create_named(s.name.c_str(), a.list(names), a.list(args), n, &o)
                    : host.object->create(s.name.c_str(), a.list(args), n, &o))) {
    if (o != nullptr) finding("a refused creation wrote to its result");
    return;
  }
  describe(o);
  use_state(&a, o);
  if (r.chance(50)) host.object->set_training(o, 0);
  if (kind == TN_OBJECT_OPTIMIZER) {
    use_groups(&a, o, s);
    for (int i = 0; i < 2; ++i) call_method(&a, o, "step");
    use_state(&a, o);
  }
  for (const char* method : {"forward", "names", "tensor", "labels", "features", "check"})
    call_method(&a, o, method);
  if (r.chance(30)) {
    const tn_device device = a.device();
    const tn_dtype dtype = a.dtype();
    note("\n  to: device " + std::to_string(device.type) + " dtype " + std::to_string(dtype));
    checked(host.object->to(o, device, dtype));
    call_method(&a, o, "forward");
  }
  checked(host.object->zero_grad(o));
  describe(o);
  host.object->release(o);
}

}  // namespace

void add_factories(std::vector<Target>* targets) {
  const char* text = nullptr;
  checked(host.plugin->list(&text));
  const json plugins = json::parse(text);
  host.table->text_free(text);
  for (const json& f : plugins.at("factories")) {
    const std::string kind = f.at("kind");
    const tn_object_kind of = kind == "layer"       ? TN_OBJECT_LAYER
                              : kind == "optimizer" ? TN_OBJECT_OPTIMIZER
                                                    : TN_OBJECT_OTHER;
    targets->push_back({"factory " + f.at("name").get<std::string>(),
                        [of, s = parse_signature(f.at("schema"))](Random* random) {
                          call_factory(s, of, random);
                        }});
  }
}

}  // namespace fuzz
