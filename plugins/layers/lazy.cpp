// Layers that take the size of their input from the first one: LazyLinear is a Linear without
// in_features. Before its first forward such a layer becomes the layer that it stands for.
#include <memory>

#include "layers.h"

namespace layers {
namespace {

// "Linear(int in_features, int out_features, bool bias=True)": its name, the argument that is left to
// the first input, and the others.
struct Parts {
  std::string name, left_out, rest;

  explicit Parts(const std::string& schema) {
    const size_t open = schema.find('('), space = schema.find(' ', open);
    size_t end = schema.find(", ", space);
    name = schema.substr(0, open);
    left_out = schema.substr(space + 1, end - space - 1);
    rest = schema.substr(end + 2);
  }
};

// The layer in the place of `self`: its options, with `size` in front of them.
Object layer_for(const Object& self, const Parts& parts, int64_t size) {
  const std::vector<std::string> names =
      detail::argument_names(self.type_name() + "(" + parts.rest);
  std::vector<tn_value> options = {detail::to_value(size)};
  for (const std::string& name : names)
    check(detail::api.object->option(self.get(), name.c_str(), &options.emplace_back()));
  tn_object* made = nullptr;
  check(detail::api.object->create(parts.name.c_str(), options.data(), uint32_t(options.size()),
                                   &made));
  return Object::take(made);
}

// Norms may have none.
bool has_parameters(const Object& self) {
  tn_value affine;
  if (tn_status* const absent = detail::api.object->option(self.get(), "affine", &affine)) {
    ignore(absent);
    return true;
  }
  return affine.as.i != 0;
}

// What a lazy layer is made from.
struct Lazy {
  Parts parts;
  int64_t dim;          // of the input, the size of which is left out
  std::string forward;  // its schema

  // Before the first forward.
  void become(Object& self, const Tensor& x) const {
    const int64_t n = x.dim(), at = dim < 0 ? dim + n : dim;
    if (at < 0 || at >= n) {
      fail("Lazy" + parts.name + ": x is " + sizes_text(x) + ", which has no dimension that is " +
           parts.left_out);
    }
    if (!x.dtype().is_float()) {
      fail("Lazy" + parts.name + ": x is " + x.dtype().name() + ", expected a floating dtype");
    }
    // Parameters that are made in inference mode would never be trained.
    const InferenceMode recorded(false);
    const Object made = layer_for(self, parts, x.size(at));
    // Under autocast x may be of the lower dtype, which parameters are not.
    const bool is_cast = detail::api.amp->enabled() != 0;
    made.to(x.device(), is_cast ? Dtype() : x.dtype());
    check(detail::api.object->become(self.get(), made.get()));
  }
  void create(Object& self) const {
    if (has_parameters(self)) self.set("weight", Tensor(), TN_ENTRY_LATER);
    const auto id = std::make_shared<uint64_t>();  // the hook removes itself
    *id = self.register_forward_pre_hook([lazy = *this, id](Object& self, Tensor x) {
      lazy.become(self, x);
      self.remove_forward_hook(*id);
    });
    const auto without_hook = [](void*, tn_object*, const tn_value*, uint32_t, tn_value*,
                                 uint32_t) -> tn_status* {
      return to_status([] { fail("the hook that makes the layer was removed"); });
    };
    check(detail::api.object->add_method(self.get(), forward.c_str(), without_hook, nullptr,
                                         nullptr));
  }
};

}  // namespace

void define_lazy(const std::string& schema, int64_t dim, const char* forward) {
  Lazy lazy{Parts(schema), dim, forward};
  const Parts& parts = lazy.parts;
  const std::string own = "Lazy" + parts.name + "(" + parts.rest;
  const std::string doc = parts.name + " that takes " + parts.left_out +
                          " from its first input, and becomes one with it, on its device. Before "
                          "that it has no parameters.";
  tn_registrar* const registrar = detail::registration.get();
  if (detail::registration.error) return;
  using Held = detail::Held<Lazy>;
  tn_factory_def def{};
  def.size = sizeof(def);
  def.kind = TN_OBJECT_LAYER;
  def.schema = own.c_str();
  def.doc = doc.c_str();
  def.group = detail::registration.group;
  def.create = [](void* self, tn_object* object, const tn_value*, uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      Held::get(self).create(handle);
    });
  };
  def.self = Held::make(std::move(lazy));
  def.destroy = Held::destroy;
  tn_status* const status = registrar->factory(registrar, &def);
  if (status) def.destroy(def.self);
  detail::registration.note(status);
}

}  // namespace layers
