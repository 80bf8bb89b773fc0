// Layers that hold layers.
#include <algorithm>
#include <set>

#include "layers.h"

namespace layers {
namespace {

// Walks the children that are there at the call: an application may have replaced some.
Tensor in_a_row(const Object& self, Tensor x) {
  for (uint32_t i = 0; i < self.n_children(); ++i) {
    if (Object child = self.child_at(i)) x = child(x);
  }
  return x;
}

void add_modules(const Object& self, const std::vector<Object>& modules) {
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].kind() == TN_OBJECT_OPTIMIZER) {
      fail("module " + std::to_string(i) + " is the optimizer " + modules[i].type_name() +
           ", expected a layer");
    }
  }
  for (size_t i = 0; i < modules.size(); ++i) self.child(std::to_string(i), modules[i]);
}

// "a, b" as names of so many branches; "" gives them numbers.
std::vector<std::string> branch_names(const std::string& text, size_t n) {
  std::vector<std::string> names;
  if (text.empty()) {
    for (size_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
    return names;
  }
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const size_t first = text.find_first_not_of(' ', at);
    names.push_back(first < end ? text.substr(first, end - first) : "");
    at = end + 1;
  }
  if (names.size() != n) {
    fail("names has " + std::to_string(names.size()) + " names for " + std::to_string(n) +
         " modules");
  }
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() != n) fail("names has a name twice");
  return names;
}

Tensor joined_by(const std::string& join, const std::vector<Tensor>& outputs, int64_t dim) {
  if (join == "concat") return cat(outputs, dim);
  Tensor all = outputs[0];
  for (size_t i = 1; i < outputs.size(); ++i) {
    if (join == "mul") {
      all = mul(all, outputs[i]);
      continue;
    }
    if (outputs[i].sizes() != all.sizes()) {
      fail("a branch gives " + sizes_text(outputs[i]) + " and another one " + sizes_text(all) +
           ", expected the same sizes");
    }
    all = add(all, outputs[i]);
  }
  return all;
}

}  // namespace

void add_containers() {
  layer("Sequential(object[] modules=[])",
        "The output of each module is the input of the next. Children 0, 1, ..",
        [](Object& self, std::vector<Object> modules) {
          add_modules(self, modules);
          self.method(kOfTensor,
                      [](Object& self, Tensor x) { return in_a_row(self, std::move(x)); });
        });
  layer("Residual(object[] modules=[])",
        "x plus what the modules, one after the other, make of x. Children 0, 1, ..",
        [](Object& self, std::vector<Object> modules) {
          add_modules(self, modules);
          self.method(kOfTensor, [](Object& self, Tensor x) {
            const Tensor made = in_a_row(self, x);
            if (made.sizes() != x.sizes()) {
              fail("the modules give " + sizes_text(made) + " for x of " + sizes_text(x) +
                   ", expected the same sizes");
            }
            return add(x, made);
          });
        });
  layer("Branches(object[] modules, str names='', str join='add', int dim=1)",
        "What each of the modules makes of x: the sum of these, of one size (join 'add'), their "
        "product "
        "('mul'), or all along dim ('concat'). Children "
        "have the names, 'left, right', or 0, 1, ..",
        [](Object& self, std::vector<Object> modules, std::string names, std::string join,
           int64_t dim) {
          if (modules.empty()) fail("modules is empty, expected one at least");
          if (join != "add" && join != "mul" && join != "concat")
            fail("join is '" + join + "', expected 'add', 'mul' or 'concat'");
          const std::vector<std::string> named = branch_names(names, modules.size());
          for (size_t i = 0; i < modules.size(); ++i) self.child(named[i], modules[i]);
          self.method(kOfTensor, [join, dim](Object& self, Tensor x) {
            std::vector<Tensor> outputs;
            for (uint32_t i = 0; i < self.n_children(); ++i) {
              if (Object child = self.child_at(i)) outputs.push_back(child(x));
            }
            if (outputs.empty()) fail("there are no children");
            return joined_by(join, outputs, dim);
          });
        });
}

}  // namespace layers
