#include "object/state.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "primitive/convert.h"
#include "object/invoke.h"
#include "object/tree.h"
#include "tensor/view.h"

namespace tenon {
namespace {

constexpr size_t kListed = 20;  // problems in one error
constexpr std::string_view kAccepts = "accepts_state";
constexpr std::string_view kMayLack = "may_lack";

// "" when `given` can be copied into `here`, to whose dtype its values are converted, as by PyTorch's
// copy_: the mean of several counts of batches, which are floats, becomes a count.
std::string misfit(const std::string& name, const Tensor* here, const Tensor* given) {
  const auto same = std::ranges::equal(here->size_span(), given->size_span());
  // One number in a list of one was the form of a number in old weights; PyTorch takes it, too.
  const bool is_one = here->ndim == 0 && given->ndim == 1 && given->sizes[0] == 1;
  if (!same && !is_one) {
    return fmt::format("'{}' is {} here and {} in the state_dict", printable(name),
                       sizes_text(here), sizes_text(given));
  }
  return "";
}

// A float that the integer dtype has no number for would become any number at all. The values come
// to the cpu for it, which few states ask for: floats are loaded into integers seldom.
Status find_no_integer(const std::string& name, const Tensor* here, Tensor* given,
                       std::string* problem) {
  const bool is_integer = (dtype_table::kInts & TN_DTYPE_BIT(here->dtype)) != 0;
  if (!is_integer || !is_float(given->dtype)) return nullptr;
  Tensor* wide = nullptr;
  TN_TRY(copy_to(given, kCpu, TN_FLOAT64, &wide));
  const TensorRef held(wide);
  const auto n = static_cast<size_t>(given->numel);
  std::vector<double> values(n);
  TN_TRY(read_values(wide, values.data(), n * sizeof(double)));
  // As doubles: the end of the range is 2^k, of which 2^63 is no int64 and is a double.
  const dtype_table::IntRange range = dtype_table::int_range(here->dtype);
  const double least = static_cast<double>(range.least) - 1;
  const double end = std::ldexp(1.0, dtype_table::kRows[here->dtype].digits);
  for (const double value : values) {
    const double whole = std::trunc(value);
    if (whole < end && (whole > least || whole == static_cast<double>(range.least))) continue;
    *problem =
        fmt::format("'{}' is {} here, which has no {} of the state_dict ({})", printable(name),
                    dtype_name(here->dtype), value, dtype_name(given->dtype));
    break;
  }
  return nullptr;
}

// An entry, and the object that it is of.
struct Place {
  std::string path;
  Object* owner;
  NamedTensor* entry;
};
using Entries = std::vector<Place>;
using Given = std::unordered_map<std::string_view, uint32_t>;  // indices into what is given

struct Copy {
  std::string name;
  NamedTensor* entry;
  Tensor* given;
};

// How the entries of an object and what is given fit together.
struct Match {
  std::vector<Copy> copies;
  std::vector<std::string> problems, missing, unexpected;
  bool is_unmade = false;  // a parameter is to be made by the first forward
};

Status index_given(const char* const* names, tn_tensor* const* tensors, uint32_t n, Given* given) {
  for (uint32_t i = 0; i < n; ++i) {
    if (tensors[i] == nullptr)
      return invalid("load_state: '{}' comes without a tensor", printable(names[i]));
    if (!given->emplace(names[i], i).second)
      return invalid("load_state: '{}' is given twice", printable(names[i]));
  }
  return nullptr;
}

// Whether the object of a missing entry says that a state may be without it.
Status ask_may_lack(const Place& place, bool* may_lack) {
  *may_lack = false;
  if (!has_method(place.owner, kMayLack)) return nullptr;
  tn_value name{}, answer{};
  name.kind = TN_KIND_STRING;
  name.as.string = place.entry->name.c_str();
  name.count = static_cast<uint32_t>(place.entry->name.size());
  TN_TRY(invoke(place.owner, kMayLack, &name, 1, &answer, 1));
  *may_lack = answer.kind == TN_KIND_BOOL && answer.as.i != 0;
  return nullptr;
}

Status match(const Entries& entries, const Given& given, const char* const* names,
             tn_tensor* const* tensors, uint32_t n, Match* found_match) {
  Match& m = *found_match;
  std::unordered_set<std::string_view> known;
  std::unordered_set<const Tensor*> filled;
  for (const auto& [path, owner, entry] : entries) {
    known.insert(path);
    if (entry->kind == TN_ENTRY_LATER) {
      m.is_unmade = true;
      m.problems.push_back(
          fmt::format("'{}' is made by the first forward: call the module with an input first",
                      printable(path)));
      continue;
    }
    const auto found = given.find(path);
    if (found == given.end()) continue;
    if (!entry->tensor &&
        entry->kind != TN_ENTRY_STATE) {  // a layer without bias, and a file with one
      m.unexpected.push_back(path);
      continue;
    }
    Tensor* tensor = as_tensor(tensors[found->second]);
    std::string problem = entry->tensor ? misfit(path, entry->tensor.get(), tensor) : "";
    if (problem.empty() && entry->tensor)
      TN_TRY(find_no_integer(path, entry->tensor.get(), tensor, &problem));
    if (!problem.empty()) m.problems.push_back(problem);
    m.copies.push_back({path, entry, tensor});
    if (entry->tensor) filled.insert(entry->tensor.get());
  }
  for (const Place& place : entries) {
    const Tensor* tensor = place.entry->tensor.get();
    // Said once for a tensor of several names.
    if (tensor == nullptr || !filled.insert(tensor).second) continue;
    bool may_lack = false;
    TN_TRY(ask_may_lack(place, &may_lack));
    if (!may_lack) m.missing.push_back(place.path);
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (!known.contains(names[i])) m.unexpected.emplace_back(names[i]);
  }
  return nullptr;
}

// What the object says of the tensors that its empty entries are to take: it alone knows the sizes
// that the state of an optimizer has for each parameter.
[[gnu::cold]] Status ask_object(Object* object, Match* m) {
  if (!has_method(object, kAccepts)) return nullptr;
  for (const Copy& copy : m->copies) {
    if (copy.entry->tensor) continue;
    tn_value args[2]{};
    args[0].kind = TN_KIND_STRING;
    args[0].as.string = copy.name.c_str();
    args[0].count = static_cast<uint32_t>(copy.name.size());
    args[1].kind = TN_KIND_TENSOR;
    args[1].as.tensor = copy.given;
    StatusHolder refusal(invoke(object, kAccepts, args, 2, nullptr, 0));
    if (!refusal) continue;
    if (refusal.get()->code != TN_INVALID_ARGUMENT) return refusal.take();
    m->problems.emplace_back(status_text(refusal.get()));
  }
  return nullptr;
}

// One error that lists all problems; where not strict, names of one side alone are none.
Status refuse_problems(Match* m, const std::string& type, bool strict) {
  std::vector<std::string>& problems = m->problems;
  if (strict && !m->unexpected.empty()) {
    problems.insert(problems.begin(),
                    fmt::format("{} {} in the state_dict and not in {}", listed(m->unexpected),
                                m->unexpected.size() == 1 ? "is" : "are", type));
  }
  if (strict && !m->missing.empty()) {
    problems.insert(problems.begin(),
                    fmt::format("{} {} missing in the state_dict", listed(m->missing),
                                m->missing.size() == 1 ? "is" : "are"));
  }
  if (problems.empty()) return nullptr;
  std::string text = "load_state: " + problems[0];
  for (size_t i = 1; i < std::min(problems.size(), kListed); ++i) text += "\n  " + problems[i];
  if (problems.size() > kListed) text += fmt::format("\n  and {} more", problems.size() - kListed);
  return make_status(TN_INVALID_ARGUMENT, text);
}

// Writes into the tensor that is there, or puts a copy where there is none.
Status fill_entry(const Copy& copy) {
  if (copy.entry->tensor && copy.entry->tensor->ndim == 0 && copy.given->ndim == 1) {
    const TensorRef number(
        make_view_unchecked(copy.given, {}, nullptr, element_offset(copy.given)));
    return copy_into(copy.entry->tensor.get(), number.get());
  }
  if (copy.entry->tensor) return copy_into(copy.entry->tensor.get(), copy.given);
  Tensor* own = nullptr;
  TN_TRY(copy_to(copy.given, copy.given->device, TN_DTYPE_NONE, &own));
  copy.entry->tensor = TensorRef(own);
  return nullptr;
}

}  // namespace

Status load_state(Object* object, const char* const* names, tn_tensor* const* tensors, uint32_t n,
                  bool strict) {
  Entries entries;
  visit_every_name(object, [&](const std::string& path, Object* owner, NamedTensor* entry) {
    if (entry->kind != TN_ENTRY_UNSAVED) entries.push_back({path, owner, entry});
  });
  Given given;
  TN_TRY(index_given(names, tensors, n, &given));
  Match m;
  TN_TRY(match(entries, given, names, tensors, n, &m));
  TN_TRY(ask_object(object, &m));
  TN_TRY(refuse_problems(&m, object->type, strict && !m.is_unmade));
  for (const Copy& copy : m.copies) {
    if (Status status = fill_entry(copy)) {
      return wrap(status, [&] {
        return fmt::format("load_state: '{}' could not be copied; the entries before it are loaded",
                           printable(copy.name));
      });
    }
  }
  return nullptr;
}

}  // namespace tenon
