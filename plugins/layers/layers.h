// The layer pack: a file a family, each with one function that registers its layers. Names,
// options, parameters and initial values are PyTorch's, so that weights from there load as they
// are.
#pragma once

#include "tenon/plugin.hpp"

namespace layers {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

void add_activation_layers();
void add_containers();
void add_dropout_layers();
void add_linear_layers();
void add_shape_layers();

}  // namespace layers
