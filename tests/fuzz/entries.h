// The entries of the host's table and of the interfaces, with NULL where a tensor, an object, a
// name or a list should be, and with numbers that are none of theirs: a list of them a file.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.h"

namespace fuzz {

// The name of a target, and its call.
using Entry = std::function<tn_status*(Arguments*)>;
using Entries = std::vector<std::pair<std::string, Entry>>;

Entries tensor_entries();    // tensor/1
Entries autograd_entries();  // autograd/1, amp/1
Entries device_entries();    // device/1, explain/1, plugin/1, random/1
Entries object_entries();    // object/1
Entries host_entries();      // tn_host

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

}  // namespace fuzz
