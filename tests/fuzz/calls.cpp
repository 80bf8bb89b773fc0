// Calls of ops and primitives, and what every call is held to.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "fuzz.h"

namespace fuzz {

// ---- What is demanded

namespace {

constexpr size_t kLongestMessage = 4096;

bool is_refusal(tn_code code) {
  return code == TN_INVALID_ARGUMENT || code == TN_UNSUPPORTED || code == TN_OUT_OF_MEMORY ||
         code == TN_NOT_FOUND || code == TN_FAILED_PRECONDITION;
}

// Takes the status.
bool look_at(tn_status* status) {
  if (status == nullptr) return true;
  const tn_code code = host.table->status_code(status);
  const std::string message = host.table->status_message(status);
  if (!is_refusal(code)) finding("code " + std::to_string(code) + ": " + message.substr(0, 500));
  if (message.empty()) finding("a refusal without a message");
  size_t lines = 1;  // a message, and one for each cause
  for (size_t at = 0; (at = message.find("because", at)) != std::string::npos; ++at) ++lines;
  if (message.size() > lines * kLongestMessage)
    finding("a message of " + std::to_string(message.size()) + " bytes: " + message.substr(0, 200));
  if (std::getenv("TENON_FUZZ_SHOW") != nullptr) note("\n  refused: " + message);
  host.table->status_free(status);
  return false;
}

}  // namespace

bool uninitialized = false;

bool accepted(tn_status* status) {
  const bool good = look_at(status);
  ++(good ? shared->counts.successes : shared->counts.refusals);
  return good;
}

bool checked(tn_status* status) { return look_at(status); }

void check_tensor(const char* what, tn_tensor* t) {
  const std::string of = std::string(what) + ": ";
  if (t == nullptr) return finding(of + "is NULL");
  if (t->ndim < 0 || t->ndim > TN_MAX_RANK) return finding(of + "rank " + std::to_string(t->ndim));
  if (t->dtype < 0 || t->dtype >= TN_N_DTYPES)
    return finding(of + "dtype " + std::to_string(t->dtype));
  if (host.device->type_name(t->device.type) == nullptr || t->device.index < 0 ||
      t->device.index >= host.device->count(t->device.type))
    return finding(of + "a device that is not there");
  int64_t numel = 1, dense = 1;
  bool contiguous = true;
  for (int32_t d = t->ndim; d-- > 0;) {
    if (t->sizes[d] < 0 || __builtin_mul_overflow(numel, t->sizes[d], &numel))
      return finding(of + "sizes that none has");
    if (t->strides[d] < 0) return finding(of + "a negative stride");
    contiguous = contiguous && (t->sizes[d] == 1 || t->strides[d] == dense);
    dense *= t->sizes[d];
  }
  if (numel != t->numel)
    return finding(of + "numel " + std::to_string(t->numel) + " of " + std::to_string(numel));
  if (numel > 0 && (t->flags & TN_TENSOR_CONTIGUOUS) != 0 && !contiguous)
    finding(of + "is marked contiguous");
  if (t->device.type == TN_DEVICE_META || numel > 1 << 20) return;
  std::vector<uint8_t> values(static_cast<size_t>(numel) * host.tensor->itemsize(t->dtype));
  // What a device found out behind the call (an index that is none) comes out here: that is a
  // refusal, too.
  if (!checked(host.tensor->read(t, values.data(), values.size()))) {
    if (t->device.type == TN_DEVICE_CPU) finding(of + "cannot be read");
    return;
  }
  if (t->dtype == TN_BOOL && !uninitialized &&
      std::any_of(values.begin(), values.end(), [](uint8_t b) { return b > 1; }))
    finding(of + "a bool that is neither 0 nor 1");
}

void check_value(const char* what, const tn_value& v, bool is_result) {
  if (v.kind == TN_KIND_TENSOR) check_tensor(what, v.as.tensor);
  for (uint32_t i = 0; v.kind == TN_KIND_TENSORS && i < v.count; ++i) {
    if (v.as.tensors[i] != nullptr || is_result) check_tensor(what, v.as.tensors[i]);
  }
}

void release(tn_value* values, size_t n) {
  for (size_t i = 0; i < n; ++i) host.table->value_release(&values[i]);
}

uint64_t live_bytes() {
  uint64_t bytes = 0;
  for (const tn_device device : {tn_device{TN_DEVICE_CPU, 0}, host.ref}) {
    if (device.type != TN_DEVICE_CPU) checked(host.device->synchronize(device));
    tn_memory_stats stats{};
    stats.size = sizeof stats;
    checked(host.device->memory_stats(device, &stats));
    bytes += stats.allocated;
    if (host.ref.type == TN_DEVICE_CPU) break;
  }
  return bytes;
}

// ---- Ops and primitives

namespace {

constexpr size_t kMostResults = 48;
constexpr uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

using Calling = std::function<tn_status*(const std::vector<tn_value>&, tn_value*, uint32_t)>;

// Modes of the thread for one call.
class Modes {
 public:
  Modes(Arguments* a) {
    Random& r = a->random();
    if (r.chance(8)) {
      note("no_grad ");
      host.autograd->set_mode(TN_MODE_NO_GRAD);
    } else if (r.chance(5)) {
      note("inference ");
      host.autograd->set_mode(TN_MODE_INFERENCE);
    }
    if (r.chance(8)) {
      const tn_dtype lower = r.of<tn_dtype>({TN_DTYPE_NONE, TN_BFLOAT16, TN_FLOAT16});
      note("autocast ");
      autocast_ = checked(host.amp->enter(a->theme.device, lower, nullptr));
    }
    if (r.chance(4)) {
      note("explained ");
      explained_ = true;
      host.explain->begin();
    }
  }
  Modes(const Modes&) = delete;
  ~Modes() {
    if (autocast_) checked(host.amp->leave());
    if (explained_) {
      const char* text = nullptr;
      if (checked(host.explain->end(&text))) {
        if (!json::accept(text))
          finding(std::string("explain is not JSON: ") + std::string(text).substr(0, 300));
        host.table->text_free(text);
      }
    }
    host.autograd->set_mode(TN_MODE_GRAD);
  }

 private:
  bool autocast_ = false, explained_ = false;
};

std::vector<tn_tensor*> tensors_of(const tn_value* values, size_t n) {
  std::vector<tn_tensor*> all;
  for (size_t i = 0; i < n; ++i) {
    if (values[i].kind == TN_KIND_TENSOR) all.push_back(values[i].as.tensor);
    for (uint32_t k = 0; values[i].kind == TN_KIND_TENSORS && k < values[i].count; ++k)
      all.push_back(values[i].as.tensors[k]);
  }
  return all;
}

void check_gradient(const tn_tensor* of, tn_tensor* gradient) {
  if (gradient == nullptr) return;
  check_tensor("a gradient", gradient);
  if (gradient->ndim != of->ndim || !std::equal(of->sizes, of->sizes + of->ndim, gradient->sizes))
    finding("a gradient of other sizes");
  if (gradient->dtype != of->dtype)
    finding("a gradient of dtype " + std::to_string(gradient->dtype));
}

void backward(Arguments* a, const tn_value* results, size_t n) {
  Random& r = a->random();
  std::vector<tn_tensor*> outputs, grads;
  for (tn_tensor* t : tensors_of(results, n)) {
    if (t == nullptr || (t->flags & TN_TENSOR_REQUIRES_GRAD) == 0 || t->numel > 1 << 16 ||
        (outputs.size() > 3 && r.chance(50)))
      continue;
    outputs.push_back(t);
  }
  if (outputs.empty()) return;
  ++shared->counts.backwards;
  note("\n  backward: ");
  for (tn_tensor* t : outputs) {
    const Sizes sizes(t->sizes, t->sizes + t->ndim);
    grads.push_back(r.chance(10) ? nullptr
                    : r.chance(5)
                        ? a->tensor()
                        : a->tensor(sizes, r.chance(95) ? t->dtype : TN_FLOAT32, t->device));
  }
  const std::vector<tn_tensor*> leaves = a->leaves();  // more are made below
  const bool second = r.chance(25);
  const auto count = static_cast<uint32_t>(outputs.size());
  const uint32_t flags = (r.chance(20) ? uint32_t{TN_BACKWARD_RETAIN_GRAPH} : 0u) |
                         (r.chance(70) ? uint32_t{TN_BACKWARD_ALLOW_UNUSED} : 0u) |
                         (second ? uint32_t{TN_BACKWARD_CREATE_GRAPH} : 0u);
  if (!second && r.chance(50)) {
    note("into leaves, flags " + std::to_string(flags));
    if (checked(host.autograd->backward(outputs.data(), grads.data(), count, flags))) {
      for (tn_tensor* leaf : leaves) {
        tn_tensor* gradient = host.autograd->grad(leaf);
        check_gradient(leaf, gradient);
        host.table->tensor_release(gradient);
      }
    }
    for (tn_tensor* leaf : leaves) checked(host.autograd->set_grad(leaf, nullptr));
    return;
  }
  note("gradients, flags " + std::to_string(flags));
  std::vector<tn_tensor*> found(leaves.size()), again(leaves.size()), differentiable;
  if (!checked(host.autograd->gradients(outputs.data(), grads.data(), count, leaves.data(),
                                        static_cast<uint32_t>(leaves.size()), flags, found.data())))
    return;
  for (size_t i = 0; i < found.size(); ++i) {
    check_gradient(leaves[i], found[i]);
    if (found[i] != nullptr && (found[i]->flags & TN_TENSOR_REQUIRES_GRAD) != 0)
      differentiable.push_back(found[i]);
  }
  if (second && !differentiable.empty()) {
    note(" twice");
    grads.clear();
    for (tn_tensor* t : differentiable)
      grads.push_back(a->tensor(Sizes(t->sizes, t->sizes + t->ndim), t->dtype, t->device));
    if (checked(host.autograd->gradients(
            differentiable.data(), grads.data(), static_cast<uint32_t>(grads.size()), leaves.data(),
            static_cast<uint32_t>(leaves.size()), TN_BACKWARD_ALLOW_UNUSED, again.data()))) {
      for (size_t i = 0; i < again.size(); ++i) check_gradient(leaves[i], again[i]);
    }
  }
  for (tn_tensor* t : found) host.table->tensor_release(t);
  for (tn_tensor* t : again) host.table->tensor_release(t);
}

void call(Arguments* a, const std::vector<tn_value>& args, size_t right_results,
          const Calling& calling) {
  Random& r = a->random();
  size_t n = right_results;
  if (r.chance(4)) n = r.of<size_t>({0, n + 1, 1, 2, kMostResults});
  if (n != right_results) note("for " + std::to_string(n) + " results ");
  std::vector<tn_value> results(n);
  for (tn_value& v : results) std::memset(&v, 0x5a, sizeof v);
  ++shared->counts.calls;
  {
    Modes modes(a);
    if (!accepted(calling(args, results.data(), static_cast<uint32_t>(n)))) {
      for (const tn_value& v : results) {
        const bool untouched = v.kind == static_cast<uint32_t>(kUntouched) &&
                               v.as.i == static_cast<int64_t>(kUntouched);
        if (!untouched && v.kind != TN_KIND_NONE) {
          finding("a refused call gave a result");
          break;
        }
      }
      return;
    }
    for (const tn_value& v : results) check_value("a result", v, true);
    for (const tn_value& v : args)
      check_value("an argument",
                  v.kind == TN_KIND_TENSOR && v.as.tensor == nullptr ? tn_value{} : v, false);
  }
  backward(a, results.data(), n);
  release(results.data(), n);
}

// Fewer than there are, or more.
void change_number(Arguments* a, std::vector<tn_value>* args) {
  if (a->random().chance(88)) return;
  const int64_t n =
      a->random().of<int64_t>({a->random().below(static_cast<int64_t>(args->size()) + 1),
                               static_cast<int64_t>(args->size()) + 1, 50});
  note("only or even " + std::to_string(n) + " arguments: ");
  while (static_cast<int64_t>(args->size()) < n) args->push_back(a->of_any_kind());
  args->resize(static_cast<size_t>(n));
}

void call_op(const tn_op* op, const Signature& s, const std::vector<json>& cases, Random* random) {
  Arguments a(random);
  Random& r = a.random();
  std::vector<tn_value> args;
  if (!cases.empty() && r.chance(55)) {
    const json& c = r.pick(cases);
    for (const json& v : c.at("args")) args.push_back(a.of_case(v));
    // A few of them changed, most of the time.
    // (A case of another plugin's op of the same name may have more than this one takes.)
    const auto known = static_cast<int64_t>(std::min(args.size(), s.parameters.size()));
    for (int64_t i = r.below(3); i > 0 && known > 0; --i) {
      const auto at = static_cast<size_t>(r.below(known));
      note("\n  changed: ");
      args[at] = a.value(s.parameters[at]);
    }
  } else {
    for (const Parameter& p : s.parameters) {
      if (p.has_default && r.chance(15)) break;
      args.push_back(a.value(p));
    }
  }
  change_number(&a, &args);
  call(&a, args, s.n_results, [&](const std::vector<tn_value>& all, tn_value* results, uint32_t n) {
    return host.table->call(op, all.data(), static_cast<uint32_t>(all.size()), results, n);
  });
}

struct PrimitiveRow {
  tn_primitive kind;
  const char* schema;
  size_t n_results = 1;
};

void call_primitive(const PrimitiveRow& row, const Signature& s, Random* random) {
  Arguments a(random);
  Random& r = a.random();
  size_t n_results = row.n_results;
  const tn_op* op = host.table->primitive_op(row.kind);
  std::vector<tn_value> args;
  if (row.kind == TN_PRIM_ELEMENTWISE && r.chance(90)) {
    size_t n = 0;
    op = a.expression(&n, &n_results);
    Parameter tensor, number;
    tensor.type = "Tensor";
    number.type = "number";
    for (size_t i = 0; i < n; ++i)
      args.push_back(a.value(i == 0 || r.chance(50) ? tensor : number));
  } else {
    for (const Parameter& p : s.parameters) {
      if (p.has_default && r.chance(25)) break;
      args.push_back(p.has_default && r.chance(30) ? tn_value{} : a.value(p));
    }
  }
  change_number(&a, &args);
  call(&a, args, n_results, [&](const std::vector<tn_value>& all, tn_value* results, uint32_t n) {
    return host.table->call(op, all.data(), static_cast<uint32_t>(all.size()), results, n);
  });
}

std::map<std::string, std::vector<json>> all_cases() {
  std::map<std::string, std::vector<json>> cases;
  const char* source = std::getenv("TENON_SOURCE_DIR");
  for (const char* name : {"torch_values.json", "torch_values_special.json"}) {
    std::ifstream file(std::string(source != nullptr ? source : ".") + "/tests/data/" + name);
    if (!file) continue;
    json all = json::parse(file);
    for (json& c : all.at("cases")) cases[c.at("op")].push_back(json{{"args", c.at("args")}});
  }
  return cases;
}

}  // namespace

void add_ops(std::vector<Target>* targets) {
  const auto cases = std::make_shared<const std::map<std::string, std::vector<json>>>(all_cases());
  const char* text = nullptr;
  checked(host.plugin->ops(&text));
  for (const json& entry : json::parse(text)) {
    const std::string name = entry.at("name");
    const tn_op* op = nullptr;
    checked(host.table->find_op(name.c_str(), &op));
    std::string key = name.substr(name.find('.') + 1);
    // in place: the cases of the other spelling
    if (!cases->contains(key) && key.ends_with('_')) key.pop_back();
    static const std::vector<json> none;
    const std::vector<json>& own = cases->contains(key) ? cases->at(key) : none;
    targets->push_back({name, [op, cases, &own, s = parse_signature(entry.at("schema"))](
                                  Random* random) { call_op(op, s, own, random); }});
  }
  host.table->text_free(text);
}

void add_primitives(std::vector<Target>* targets) {
  static const PrimitiveRow rows[] = {
      {TN_PRIM_ELEMENTWISE, "elementwise(expression e, Tensor x, number a)"},
      {TN_PRIM_REDUCE,
       "reduce(int kind, Tensor[] xs, int[] dims=None, bool keepdim=None, expression "
       "prologue=None, float[] scalars=None, "
       "expression epilogue=None, float[] others=None, dtype dtype=None)"},
      {TN_PRIM_SCAN, "scan(int kind, Tensor x, int dim, bool reverse=None)"},
      {TN_PRIM_MATMUL, "matmul(Tensor a, Tensor b)"},
      {TN_PRIM_COPY, "copy(Tensor x, dtype dtype=None, device device=None)"},
      {TN_PRIM_FILL, "fill(int[] sizes, number value, dtype dtype=None, device device=None)"},
      {TN_PRIM_IOTA,
       "iota(int n, number start, number step, dtype dtype=None, device device=None)"},
      {TN_PRIM_GATHER, "gather(Tensor x, int dim, Tensor index)"},
      {TN_PRIM_SCATTER, "scatter(Tensor x, int dim, Tensor index, Tensor src, bool add=None)"},
      {TN_PRIM_SORT, "sort(Tensor x, int dim, bool descending=None)", 2},
      {TN_PRIM_RANDOM_BITS, "random_bits(int[] sizes, device device=None)"},
      {TN_PRIM_NONZERO, "nonzero(Tensor x)"},
      {TN_PRIM_RESHAPE, "reshape(Tensor x, int[] sizes)"},
      {TN_PRIM_PERMUTE, "permute(Tensor x, int[] dims)"},
      {TN_PRIM_SLICE, "slice(Tensor x, int dim, int start, int end, int step)"},
      {TN_PRIM_EXPAND, "expand(Tensor x, int[] sizes)"},
      {TN_PRIM_AS_STRIDED, "as_strided(Tensor x, int[] sizes, int[] strides, int offset)"},
      {TN_PRIM_SCATTER_INTO,
       "scatter_(Tensor x, int dim, Tensor index, Tensor src, bool add=None)"},
      {TN_PRIM_NONE, "none(Tensor x)"},
      {TN_N_PRIM_KERNELS, "reserved(Tensor x)"},
      {TN_PRIM_AS_STRIDED + 1, "unknown(Tensor x)"},
      {-1, "negative(Tensor x)"},
      {1 << 30, "far(Tensor x)"},
  };
  for (const PrimitiveRow& row : rows) {
    const Signature s = parse_signature(row.schema);
    targets->push_back(
        {"primitive " + s.name, [&row, s](Random* random) { call_primitive(row, s, random); }});
  }
}

}  // namespace fuzz
