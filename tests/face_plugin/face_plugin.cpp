// A plugin that brings one of each through the C++ face, for face_plugin_test.
#include <tenon/plugin.hpp>

#include <stdexcept>

TENON_PLUGIN(face_plugin) {
  // Squares of halves that no half holds.
  op("length(Tensor x) -> Tensor").meaning([](Tensor x) { return sqrt(sum(x * x)); });
  op("length_of_halves(Tensor x) -> Tensor").keeps_halves().meaning([](Tensor x) {
    return sqrt(sum(x * x));
  });
  op("bounded(Tensor x, float least=-inf, float most=inf) -> Tensor", "min(max(x, least), most)");
  // Names and defaults that a header might trip over, and a text behind which it might go on.
  op("cast(Tensor x, int P=1, float second=2, int third=3, dtype to=float64) -> Tensor")
      .doc("x in another dtype, as in C:\\")
      .meaning([](Tensor x, int64_t, double, int64_t, Dtype to) { return x.to(to); });
  // Names that a header writes otherwise.
  op("results(Tensor by_name, int static_cast=1, int new=2, int detail=3, int self=4) -> (Tensor "
     "values, Tensor indices)")
      .meaning([](Tensor x, int64_t, int64_t, int64_t, int64_t) { return std::tuple(x, x); });
  op("cube(Tensor x, float scale=1) -> Tensor", "scale * x * x * x").inplace();
  op("sum_and_difference(Tensor x, Tensor y) -> (Tensor, Tensor)").meaning([](Tensor x, Tensor y) {
    return tuple(x + y, x - y);
  });
  op("wrong_gradient(Tensor x, Tensor? y=None) -> Tensor")
      .meaning([](Tensor x, optional<Tensor> y) { return y ? x * *y : x * 1; })
      .vjp([](Vjp g, Tensor, optional<Tensor> y) {
        Tensor dx = g.grad() * 100;
        return tuple(dx, y ? dx : Tensor());
      });
  op("diagonal(Tensor(a) x) -> Tensor(a)").view([](const tn_tensor* x) {
    if (x->ndim != 2) fail("diagonal: 2 dimensions are needed, x has " + std::to_string(x->ndim));
    View view;
    view.append(x->sizes[0] < x->sizes[1] ? x->sizes[0] : x->sizes[1],
                x->strides[0] + x->strides[1]);
    return view;
  });
  op("joined(str text, int[] list, float[] weights, bool flag=True, dtype? dtype=None) -> Tensor")
      .meaning([](string_view text, vector<int64_t> list, Floats weights, bool flag, Dtype dtype) {
        double total = double(text.size()) + flag;
        for (int64_t i : list) total += double(i);
        for (double w : weights) total += w;
        return full({}, total, dtype ? dtype : float64);
      });
  op("throws(Tensor x) -> Tensor").meaning([](Tensor) -> Tensor {
    throw std::runtime_error("not today");
  });

  // Kernels alone: the shape by infer, the gradient by a vjp.
  op("reversed(Tensor x) -> Tensor")
      .infer([](Tensor x) {
        if (x.dim() != 1) fail("reversed: 1 dimension is needed, x has " + std::to_string(x.dim()));
        return Meta(x);
      })
      .vjp([](Vjp g, Tensor) { return call("face_plugin.reversed", g.grad()); });
  kernel("face_plugin.reversed", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           const tn_tensor* x = call.tensor(0);
           auto* in = static_cast<const float*>(x->data);
           for (int64_t i = 0; i < x->numel; ++i)
             call.output_data<float>()[i] = in[x->numel - 1 - i];
         });
  // A number that changes, which the meaning takes as a number, and which a gradient keeps.
  op("shifted(Tensor x, dynamic float by) -> Tensor").meaning([](Tensor x, double by) {
    return add(x, by);
  });
  op("raised(Tensor x, dynamic float by) -> Tensor")
      .infer([](Tensor x, double) { return Meta(x); })
      .vjp([](Vjp g, Tensor, double) { return g.grad(); });
  kernel("face_plugin.raised", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           const tn_tensor* x = call.tensor(0);
           for (int64_t i = 0; i < x->numel; ++i) {
             call.output_data<float>()[i] =
                 static_cast<const float*>(x->data)[i] + float(call.arg<double>(1));
           }
         });
  // No op gives such a tensor.
  op("gives_rows(Tensor x) -> Tensor").meaning([](Tensor x) {
    return row_sparse(zeros({1}, int64, x.device()), zeros({1, 2}, x.dtype(), x.device()), 3);
  });
  op("longer_than(Tensor x, float limit) -> Tensor")
      .dynamic()
      .no_gradient()
      .infer([](Tensor x, double) { return Meta(x); });
  kernel("face_plugin.longer_than", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           const tn_tensor* x = call.tensor(0);
           auto* in = static_cast<const float*>(x->data);
           int64_t n = 0;
           for (int64_t i = 0; i < x->numel; ++i) n += in[i] > call.arg<double>(1);
           call.set_output(0, {n});
           float* out = call.output_data<float>();
           for (int64_t i = 0; i < x->numel; ++i) {
             if (in[i] > call.arg<double>(1)) *out++ = in[i];
           }
         });

  // A pair: the forward leaves 2 x for the backward, when a gradient is needed.
  op("squared(Tensor x) -> Tensor").meaning([](Tensor x) { return x * x; });
  kernel("face_plugin.squared", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](const Call& call) {
           const tn_tensor* x = call.tensor(0);
           auto* in = static_cast<const float*>(x->data);
           for (int64_t i = 0; i < x->numel; ++i) call.output_data<float>()[i] = in[i] * in[i];
           if (call.n_outputs() < 2 || !call.output(1)) return;
           for (int64_t i = 0; i < x->numel; ++i) call.output_data<float>(1)[i] = 2 * in[i];
         })
      .backward(
          [](const Call& call) {  // grad, x (not saved), y (not saved), the private output
            auto* g = static_cast<const float*>(call.tensor(0)->data);
            auto* twice = static_cast<const float*>(call.tensor(call.n_args() - 1)->data);
            if (!call.output(0)) return;
            for (int64_t i = 0; i < call.output(0)->numel; ++i)
              call.output_data<float>(0)[i] = g[i] * twice[i];
          },
          {.saves_args = 0})
      .private_outputs(1, [](const Call& call, span<tn_meta> metas) { metas[0] = call.meta(); });

  layer("Gated(int dim, float p=0.1)", [](Object& self, int64_t dim, double p) {
    self.parameter("scale", ones({dim}));
    self.buffer("calls", zeros({1}));
    self.method("forward(Tensor x) -> Tensor", [p](Object& self, Tensor x) {
      self.tensor("calls") += 1;
      auto [a, b] = chunk<2>(x, -1);
      return dropout(a * sigmoid(b) * self.tensor("scale"), p, self.training());
    });
    self.method("learn(Tensor loss) -> ()", [](Tensor loss) { loss.backward(); });
    self.method("halves(Tensor x) -> (Tensor, Tensor)", [](Tensor x) { return chunk<2>(x, -1); });
  });
  optimizer("Descent(Tensor[] params, float lr=0.1)", [](Object& self, Tensors params, double lr) {
    check(detail::api.object->add_group(self.get(), params.data(), params.size(), nullptr, nullptr,
                                        0));
    self.method("step() -> ()", [lr, list = params.to_vector()] {
      NoGrad guard;
      for (const Tensor& p : list) sub_(p, p.grad() * lr);
    });
  });
  amp_policy("all_lower", [](string_view op, Amp own, string_view) {
    return op == "ops.softmax" ? own : Amp::lower;
  });
}
