// A fuzzer of calls: each op, primitive and factory of the build, and the entries of the
// interfaces, called through the C contract with arguments by their schema and against it. What it
// demands of a call is in README.md beside it. Every call is made from a random state of its own,
// which follows from the seed, the target and the number of the call, so that one call can be run
// again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/abi.h"

namespace fuzz {

using nlohmann::json;
using Sizes = std::vector<int64_t>;

// ---- Random numbers (splitmix64: Steele, Lea and Flood, OOPSLA 2014)

class Random {
 public:
  explicit Random(uint64_t state) : state_(state) {}
  uint64_t next();
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  template <typename T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }

 private:
  uint64_t state_;
};

// ---- What the process that calls and the one that watches it share

struct Counts {
  uint64_t calls, successes, refusals, backwards, findings, slow, crashes;
};

struct Shared {
  volatile int64_t target, call;  // under way
  volatile bool is_calling;
  Counts counts;
  size_t text_size;
  char text[1 << 15];  // the call under way, as it is being made
};
extern Shared* shared;

// Adds to the text of the call under way.
void note(const std::string& text);
// Something that must not be: counted and printed with the call and the line that repeats it.
void finding(const std::string& what);

// ---- The host

struct Host {
  const tn_host* table = nullptr;
  const tn_tensor_api* tensor = nullptr;
  const tn_device_api* device = nullptr;
  const tn_autograd_api* autograd = nullptr;
  const tn_random_api* random = nullptr;
  const tn_amp_api* amp = nullptr;
  const tn_object_api* object = nullptr;
  const tn_plugin_api* plugin = nullptr;
  const tn_explain_api* explain = nullptr;
  tn_device ref{TN_DEVICE_CPU, 0};  // cpu, where there is no `ref`
};
extern Host host;
void load_host();

// ---- Schemas

struct Parameter {
  std::string type;  // "Tensor", "int", ..., without what follows
  std::string name;
  std::string default_text;
  bool list = false, optional = false, optional_entries = false, has_default = false;
};
struct Signature {
  std::string name;
  std::vector<Parameter> parameters;
  size_t n_results = 0;
};
Signature parse_signature(const std::string& schema);

// ---- Arguments: arguments.cpp, tensors.cpp, values.cpp

// What the tensors of a call have in common, most of the time.
struct Theme {
  Sizes sizes;
  tn_dtype dtype = TN_FLOAT32;
  tn_device device{TN_DEVICE_CPU, 0};
};

// Makes the values of one call, and owns what they borrow.
class Arguments {
 public:
  explicit Arguments(Random* random);
  Arguments(const Arguments&) = delete;
  ~Arguments();

  // By the type, or against it.
  tn_value value(const Parameter& parameter);
  tn_value of_type(const Parameter& parameter);
  tn_value of_any_kind();
  // As a case of tests/data/torch_values.json has it.
  tn_value of_case(const json& v);

  tn_tensor* tensor();
  tn_tensor* tensor(const Sizes& sizes, tn_dtype dtype, tn_device device,
                    const std::vector<double>* values = nullptr);
  const int64_t* ints(const Sizes& list);  // of exactly their number
  int64_t integer(const std::string& default_text = {});
  double real();
  Sizes int_list();
  Sizes shape();
  tn_dtype dtype();
  tn_device device();
  const char* string(const std::string& text);
  std::string word(const std::string& default_text = {});
  const tn_op* expression(size_t* n_arguments, size_t* n_results);
  tn_object* object();
  // A name, a NULL, nonsense.
  const char* name(const std::vector<std::string>& known);
  tn_tensor* tensor_or_null() { return random_.chance(6) ? nullptr : tensor(); }
  template <typename T>
  T* list(std::vector<T> entries) {
    auto* memory = static_cast<T*>(bytes(entries.size() * sizeof(T)));
    std::copy(entries.begin(), entries.end(), memory);
    return memory;
  }
  void own(tn_tensor* t) {
    if (t != nullptr) tensors_.push_back(t);
  }

  const std::vector<tn_tensor*>& leaves() const { return leaves_; }
  Theme theme;
  Random& random() { return random_; }

 private:
  void* bytes(size_t n);
  tn_tensor* contiguous(const Sizes& sizes, tn_dtype dtype, tn_device device,
                        const std::vector<double>* values);
  tn_tensor* laid_out(const Sizes& sizes, tn_dtype dtype, tn_device device,
                      const std::vector<double>* values);
  tn_tensor* of_host_memory(const Sizes& sizes, tn_dtype dtype);
  tn_tensor* view(tn_primitive kind, tn_tensor* x, std::initializer_list<tn_value> rest);
  std::vector<uint8_t> random_bytes(int64_t n, tn_dtype dtype, const std::vector<double>* values);

  Random& random_;
  std::vector<tn_tensor*> tensors_, leaves_, seen_;
  std::vector<tn_object*> objects_;
  std::vector<void*> memory_;
};

inline constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                         kMax = std::numeric_limits<int64_t>::max();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

std::string text_of(const Sizes& list);
std::string text_of(tn_device device);
tn_value int_value(int64_t i);
tn_value float_value(double f);
tn_value bool_value(int64_t i);
tn_value ints_value(const int64_t* list, size_t n);
tn_value tensor_value(tn_tensor* t);

// ---- Calls and what is demanded of them

// A status of a call that may refuse: codes, the message; frees it. True: it succeeded.
bool accepted(tn_status* status);
// As accepted, for what is done beside the call that is looked at.
bool checked(tn_status* status);
// Metadata in themselves, and values that can be read.
void check_tensor(const char* what, tn_tensor* t);
void check_value(const char* what, const tn_value& v, bool is_result);
extern bool uninitialized;  // the target gives memory as it is, in which a bool may be any byte
void release(tn_value* values, size_t n);
// Bytes of live storages of all devices.
uint64_t live_bytes();

struct Target {
  std::string name;
  std::function<void(Random*)> call;
};
void add_ops(std::vector<Target>* targets);
void add_primitives(std::vector<Target>* targets);
void add_factories(std::vector<Target>* targets);
void add_entries(std::vector<Target>* targets);

}  // namespace fuzz
