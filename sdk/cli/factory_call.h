// From a factory's name and options in JSON to an object.
#pragma once

#include <string>
#include <vector>

#include <tenon/object.hpp>

#include "config.h"

namespace tenon::cli {

// Creates the object. `first`, when it is there, is an argument that the program adds under that
// name (an optimizer's parameters). What the host refuses is said with file and line: of the option
// that it names, else of the factory.
struct AddedOption {
  const char* name;
  tn_value value;
};
Object create_object(const std::string& file, const FactoryCall& call,
                     const std::vector<AddedOption>& added = {});

}  // namespace tenon::cli
