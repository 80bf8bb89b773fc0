// Values that outlive their call: deep copies, arguments bound to a schema, and their text as
// Python writes it. The rest of object/ uses it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "call/call.h"
#include "schema/schema.h"

namespace tenon {

// Holds an owned copy (copy_value of call/call.h).
class OwnedValue {
 public:
  OwnedValue() = default;
  OwnedValue(OwnedValue&& other) noexcept : value_(std::exchange(other.value_, tn_value{})) {}
  OwnedValue& operator=(OwnedValue&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~OwnedValue() { release_value(&value_); }

  [[nodiscard]] static Status copy(const tn_value& value, OwnedValue* out) {
    OwnedValue copy;
    TN_TRY(copy_value(value, &copy.value_));
    *out = std::move(copy);
    return nullptr;
  }
  const tn_value& get() const { return value_; }

 private:
  tn_value value_{};
};

struct Option {
  std::string name;
  OwnedValue value;
};

// Arguments of one call as the schema has them: as many as it names, checked, with defaults filled
// in and ints that stand for floats made floats, so that the callee reads one kind per type.
class BoundArguments {
 public:
  BoundArguments() = default;
  BoundArguments(const BoundArguments&) = delete;
  // `what` starts the messages: "Linear", "Linear.forward". Borrows from args and schema.
  [[nodiscard]] Status bind(std::string_view what, const Schema& schema, const tn_value* args,
                            uint32_t n);
  const tn_value* data() const { return values_; }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kInline = 8;
  tn_value inline_[kInline];
  std::vector<tn_value> heap_;
  tn_value* values_ = inline_;
  uint32_t size_ = 0;
};

// An int in a float's place becomes a float.
void widen_number(const Argument& argument, tn_value* value);

// As Python prints it: True, 0.5, 1e-05, 'mean', [1, 2], None.
std::string value_text(const tn_value& value);

}  // namespace tenon
