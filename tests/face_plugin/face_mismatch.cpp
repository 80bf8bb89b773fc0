// A plugin whose functions do not fit the schemas that they are registered under, one for each load:
// TENON_TEST_MISMATCH says which.
#include <tenon/plugin.hpp>

#include <cstdlib>

TENON_PLUGIN(face_mismatch) {
  const string which = std::getenv("TENON_TEST_MISMATCH");
  const auto like = [](Tensor x, double) { return Meta(x); };
  if (which == "type") {
    op("scale(Tensor x, float factor) -> Tensor").meaning([](Tensor x, int64_t) { return x * 2; });
  } else if (which == "count") {
    op("scale(Tensor x, float factor) -> Tensor").meaning([](Tensor x) { return x * 2; });
  } else if (which == "none") {
    op("scale(Tensor x, int? n=None) -> Tensor").meaning([](Tensor x, int64_t n) { return x * n; });
  } else if (which == "list") {
    op("join(Tensor[] xs) -> Tensor").meaning([](Tensor x) { return x * 2; });
  } else if (which == "optional") {
    op("scale(Tensor x, dtype dtype) -> Tensor").meaning([](optional<Tensor> x, string) {
      return *x * 2;
    });
  } else if (which == "results") {
    op("scale(Tensor x) -> Tensor").meaning([](Tensor x) { return tuple(x * 2, x * 3); });
  } else if (which == "infer") {
    op("scale(Tensor x, int n) -> Tensor").infer([](Tensor x, bool) { return Meta(x); });
  } else if (which == "metas") {
    op("scale(Tensor x, float factor) -> (Tensor, Tensor)").infer(like);
  } else if (which == "view") {
    op("rows(Tensor(a) x, int n) -> Tensor(a)").view([](const tn_tensor* x, Ints) {
      return View(x);
    });
  } else if (which == "vjp") {
    op("scale(Tensor x, float factor) -> Tensor").infer(like).vjp([](Vjp g, Tensor, Tensor) {
      return g.grad();
    });
  } else if (which == "gradients") {
    op("scale(Tensor x, Tensor y) -> Tensor", "x * y").vjp([](Vjp g, Tensor, Tensor) {
      return g.grad();
    });
  } else if (which == "layer") {
    layer("Wrong(int dim)", [](Object&, string) {});
  } else if (which == "optimizer") {
    optimizer("Wrong(Tensor[] params, float lr=0.1)", [](Object&, Tensors) {});
  }
}
