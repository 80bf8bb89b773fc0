// The entries of the host's table, of the smaller interfaces, and all of them as targets.
#include "entries.h"

namespace fuzz {

static const std::vector<std::string> kTypes = {
    "cpu", "meta", "ref", "ref:0", "ref:1", "cpu:0", "cpu:1", "ref:-1", "ref:99999999999",
    "gpu", ":",    "ref:"};

Entries host_entries() {
  const tn_host* h = host.table;
  return {
      {"host find_op",
       [h](Arguments* a) {
         const tn_op* op = nullptr;
         return h->find_op(a->name({"add", "ops.add", "ad", "ops.", "."}),
                           a->random().chance(5) ? nullptr : &op);
       }},
      {"host expression",
       [h](Arguments* a) {
         static const std::vector<std::string> formulas = {"x",           "x + ",
                                                           "(((((x",      "x ** y",
                                                           "where(x, y)", "let a = x\na",
                                                           "1e999 * x",   "x +\n",
                                                           "gradient",    "x.y",
                                                           "exp(x",       "9223372036854775808",
                                                           "-x",          "sin(cos(tan(x)))",
                                                           "x < y < x",   "not x"};
         const tn_op* e = nullptr;
         const char* schema = a->name({"_g(Tensor x, Tensor y) -> Tensor", "_g(Tensor x) -> Tensor",
                                       "_g()", "_g(int x)", "_g("});
         std::string formula = a->random().pick(formulas);
         if (a->random().chance(2))
           formula = std::string(static_cast<size_t>(a->random().below(20000)), '(') + "x";
         if (a->random().chance(2))
           formula = std::string(static_cast<size_t>(a->random().below(20000)), '-') + "x";
         note("'" + formula.substr(0, 60) + "' ");
         return h->expression(schema, a->random().chance(3) ? nullptr : a->string(formula),
                              a->random().chance(5) ? nullptr : &e);
       }},
      {"host call of NULL",
       [h](Arguments* a) {
         const tn_op* op = nullptr;
         if (a->random().chance(50)) checked(h->find_op("add", &op));
         tn_value result{};
         const tn_value args[] = {a->of_any_kind(), a->of_any_kind()};
         const bool null = op == nullptr || a->random().chance(50);
         tn_status* status =
             h->call(op, null && op != nullptr ? nullptr : args, 2, null ? &result : nullptr, 1);
         if (status == nullptr) release(&result, 1);
         return status;
       }},
      {"host primitive of NULL",
       [h](Arguments* a) {
         tn_value result{};
         const tn_value x = a->of_any_kind();
         const bool args = a->random().chance(50);
         const tn_op* op = h->primitive_op(static_cast<tn_primitive>(a->random().below(40)));
         return h->call(op, args ? &x : nullptr, 1, args ? nullptr : &result, 1);
       }},
      {"host values",
       [h](Arguments* a) {
         tn_value owned{};
         const tn_value v = a->of_any_kind();
         tn_status* status = h->value_copy(&v, a->random().chance(5) ? nullptr : &owned);
         if (status == nullptr) h->value_release(&owned);
         h->tensor_release(nullptr);
         return status;
       }},
      {"host statuses",
       [h](Arguments* a) {
         tn_status* cause = a->random().chance(50)
                                ? h->status(static_cast<tn_code>(a->integer()), nullptr, nullptr)
                                : nullptr;
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

Entries device_entries() {
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
      {"device/1 memory of NULL",
       [d](Arguments* a) { return d->memory_stats(a->device(), nullptr); }},
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
         host.table->text_free(text);
         return status;
       }},
      {"plugin/1 load",
       [](Arguments* a) {
         return host.plugin->load(a->name({"/nowhere.so", "/", ""}));
       }},
      {"random/1 state",
       [](Arguments* a) {
         uint64_t seed = 0, offset = 0;
         host.random->set_state(static_cast<uint64_t>(a->integer()),
                                static_cast<uint64_t>(a->integer()));
         host.random->get_state(&seed, &offset);
         return static_cast<tn_status*>(nullptr);
       }},
  };
}

void add_entries(std::vector<Target>* targets) {
  for (const auto& list :
       {host_entries(), tensor_entries(), autograd_entries(), device_entries(), object_entries()}) {
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
