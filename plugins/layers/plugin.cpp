// The plugin `layers`.
#include "layers.h"

TENON_PLUGIN(layers) {
  ::layers::add_linear_layers();
  ::layers::add_activation_layers();
  ::layers::add_dropout_layers();
  ::layers::add_shape_layers();
  ::layers::add_containers();
}
