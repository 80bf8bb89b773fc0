// The arguments of a call but for tensors, expressions and objects: numbers, sizes, dtypes,
// devices, words; and who owns them.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "fuzz.h"

namespace fuzz {

std::string text_of(const Sizes& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}
std::string text_of(tn_device d) { return std::to_string(d.type) + ":" + std::to_string(d.index); }

tn_value int_value(int64_t i) {
  tn_value v{TN_KIND_INT, 0, {}};
  v.as.i = i;
  return v;
}
tn_value float_value(double f) {
  tn_value v{TN_KIND_FLOAT, 0, {}};
  v.as.f = f;
  return v;
}
tn_value bool_value(int64_t i) {
  tn_value v{TN_KIND_BOOL, 0, {}};
  v.as.i = i;
  return v;
}
tn_value ints_value(const int64_t* list, size_t n) {
  tn_value v{TN_KIND_INTS, static_cast<uint32_t>(n), {}};
  v.as.ints = list;
  return v;
}
tn_value tensor_value(tn_tensor* t) {
  tn_value v{TN_KIND_TENSOR, 0, {}};
  v.as.tensor = t;
  return v;
}

Arguments::Arguments(Random* random) : random_(*random) {
  const int64_t rank = random_.chance(90) ? random_.below(5) : random_.between(5, 16);
  for (int64_t d = 0; d < rank; ++d) {
    theme.sizes.push_back(rank > 5            ? random_.between(1, 2)
                          : random_.chance(8) ? 0
                                              : random_.between(1, random_.chance(5) ? 40 : 5));
  }
  theme.dtype =
      random_.chance(55) ? tn_dtype{TN_FLOAT32} : static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  const int64_t where = random_.below(100);
  theme.device = where < 60   ? tn_device{TN_DEVICE_CPU, 0}
                 : where < 85 ? host.ref
                              : tn_device{TN_DEVICE_META, 0};
}

Arguments::~Arguments() {
  for (tn_tensor* t : tensors_) host.table->tensor_release(t);
  for (tn_object* o : objects_) host.object->release(o);
  for (void* memory : memory_) std::free(memory);
}

// Of exactly this size, so that a sanitizer sees what is read behind it.
void* Arguments::bytes(size_t n) {
  memory_.push_back(std::malloc(n));
  return memory_.back();
}

const int64_t* Arguments::ints(const Sizes& entries) { return list(entries); }

const char* Arguments::string(const std::string& text) {
  auto* copy = static_cast<char*>(bytes(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

int64_t Arguments::integer(const std::string& default_text) {
  const int64_t kind = random_.below(100);
  if (kind < 20 && !default_text.empty()) return std::atoll(default_text.c_str());
  if (kind < 75) return random_.between(-2, 5);
  if (kind < 85) return random_.between(-20, 70);
  return random_.of({kMin, kMax, kMin + 1, kMax - 1, int64_t{1} << 31, -(int64_t{1} << 31),
                     (int64_t{1} << 31) - 1, int64_t{1} << 32, int64_t{1} << 40, int64_t{1} << 62,
                     -(int64_t{1} << 62), int64_t{1000000}});
}

double Arguments::real() {
  if (random_.chance(60)) return random_.of({0.0, 1.0, -1.0, 0.5, 0.1, 1e-5, 2.0, 0.9, 3.7});
  if (random_.chance(50)) return static_cast<double>(random_.below(2000) - 1000) / 100;
  return random_.of({kInf, -kInf, static_cast<double>(NAN), 1e300, -1e300, 1e30, 5e-324, -0.0,
                     0x1p63, -0x1p63, 0x1p31, 1.7976931348623157e308});
}

Sizes Arguments::int_list() {
  const auto rank = static_cast<int64_t>(theme.sizes.size());
  const int64_t kind = random_.below(100);
  if (kind < 12) return theme.sizes;
  Sizes list;
  if (kind < 22) {  // dims in some order
    for (int64_t d = 0; d < rank; ++d) list.push_back(d);
    for (int64_t d = rank; d-- > 1;)
      std::swap(list[static_cast<size_t>(d)], list[static_cast<size_t>(random_.below(d + 1))]);
    return list;
  }
  const int64_t how_many = random_.below(100);
  const int64_t n = how_many < 25   ? rank
                    : how_many < 85 ? random_.below(5)
                    : how_many < 97 ? random_.between(5, 20)
                                    : random_.between(20, 70);
  const bool small = random_.chance(75);
  for (int64_t i = 0; i < n; ++i) list.push_back(small ? random_.between(0, 4) : integer());
  return list;
}

// Related to the theme, most of the time.
Sizes Arguments::shape() {
  Sizes sizes = theme.sizes;
  const int64_t kind = random_.below(100);
  if (kind < 55) return sizes;
  if (kind < 70) {  // broadcasts to it
    for (int64_t& s : sizes) s = random_.chance(40) ? 1 : s;
    if (!sizes.empty() && random_.chance(40))
      sizes.erase(sizes.begin(),
                  sizes.begin() + random_.below(static_cast<int64_t>(sizes.size()) + 1));
    return sizes;
  }
  if (kind < 80 && sizes.size() >= 2) {  // turned, as a product wants it
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return sizes;
  }
  if (kind < 88 && !sizes.empty()) return {random_.pick(sizes)};
  sizes.clear();
  const int64_t rank = random_.chance(95) ? random_.below(6) : random_.between(6, 16);
  for (int64_t d = 0; d < rank; ++d)
    sizes.push_back(rank > 5 ? random_.between(1, 2)
                             : random_.between(random_.chance(10) ? 0 : 1, 5));
  return sizes;
}

tn_dtype Arguments::dtype() {
  if (random_.chance(88)) return static_cast<tn_dtype>(random_.below(TN_N_DTYPES));
  return random_.of<tn_dtype>({8, 9, 10, 11, 12, -1, -2, 31, 32, 99, 1 << 30,
                               std::numeric_limits<int32_t>::min(),
                               std::numeric_limits<int32_t>::max()});
}

tn_device Arguments::device() {
  if (random_.chance(80)) return theme.device;
  if (random_.chance(50))
    return random_.of<tn_device>({{TN_DEVICE_CPU, 0}, host.ref, {TN_DEVICE_META, 0}});
  return random_.of<tn_device>(
      {{0, 1},
       {0, -1},
       {1, 7},
       {1, -1},
       {host.ref.type, 9},
       {host.ref.type, -1},
       {99, 0},
       {-1, 0},
       {31, 0},
       {32, 0},
       {std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}});
}

std::string Arguments::word(const std::string& default_text) {
  if (default_text.size() >= 2 && random_.chance(45))
    return default_text.substr(1, default_text.size() - 2);
  static const std::vector<std::string> words = {"none",
                                                 "mean",
                                                 "sum",
                                                 "tanh",
                                                 "ij",
                                                 "xy",
                                                 "contiguous",
                                                 "channels_last",
                                                 "constant",
                                                 "reflect",
                                                 "replicate",
                                                 "circular",
                                                 "nearest",
                                                 "nearest-exact",
                                                 "bilinear",
                                                 "linear",
                                                 "bicubic",
                                                 "area",
                                                 "trilinear",
                                                 "max",
                                                 "ij,jk->ik",
                                                 "ii->i",
                                                 "...ij->...ji",
                                                 "i,i->",
                                                 "ij->j",
                                                 "->",
                                                 "b...,...->b",
                                                 "ij,,->",
                                                 "A a",
                                                 "amax",
                                                 "amin",
                                                 "prod",
                                                 "batchmean",
                                                 "fan_in",
                                                 "relu",
                                                 "floor",
                                                 "trunc",
                                                 "",
                                                 " ",
                                                 "\n",
                                                 "\xff\xfe",
                                                 "%s%n",
                                                 "{}",
                                                 "x",
                                                 "right",
                                                 "left",
                                                 "zeros",
                                                 "border",
                                                 "reflection",
                                                 "inf",
                                                 "nuc",
                                                 "fro"};
  if (random_.chance(4)) return std::string(static_cast<size_t>(random_.below(100000)), 'i');
  return random_.pick(words);
}

const char* Arguments::name(const std::vector<std::string>& known) {
  if (random_.chance(8)) {
    note("NULL ");
    return nullptr;
  }
  const std::string name = !known.empty() && random_.chance(70) ? random_.pick(known)
                           : random_.chance(50)                 ? word()
                                                                : "a.b";
  note("'" + name.substr(0, 60) + "' ");
  return string(name);
}

}  // namespace fuzz
