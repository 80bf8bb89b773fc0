// Parameter groups of optimizers: parameters that share options. An option that a group does not
// have is the object's.
#pragma once

#include <span>

#include "object/object.h"

namespace tenon {

// `parameters`: leaves of float dtypes, none of them in another group. Then calls the object's
// method `group_added(int index)`, if it has one: optimizers declare their state there.
[[nodiscard]] Status add_group(Object* object, std::span<tn_tensor* const> parameters,
                               const char* const* names, const tn_value* values,
                               uint32_t n_options);
[[nodiscard]] Status find_group(const Object* object, uint32_t index, const ParameterGroup** group);
// The value is borrowed until the option is set again.
[[nodiscard]] Status group_option(const Object* object, uint32_t index, std::string_view name,
                                  tn_value* borrowed);
// The tensor of a dynamic option, borrowed.
[[nodiscard]] Status group_number(const Object* object, uint32_t index, std::string_view name,
                                  tn_tensor** borrowed);
// Checked against the factory's schema; objects without factory take any option.
[[nodiscard]] Status set_group_option(Object* object, uint32_t index, std::string_view name,
                                      const tn_value& value);

}  // namespace tenon
