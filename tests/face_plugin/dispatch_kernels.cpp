// Ops whose kernels disagree with their meaning on purpose, for dispatch_test: the value tells
// which of them ran. Kernels that take and refuse what they should not, too.
#include <tenon/plugin.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using tenon::Call;
using tenon::float32;
using tenon::Layout;
using tenon::Refusal;
using tenon::Tensor;

// y = x * by + mark, row by row as a kernel that believes its layout would write it.
void scale(const Call& call, double mark) {
  const tn_tensor* x = call.tensor(0);
  const double by = call.n_args() > 1 ? call.arg<double>(1) : 2;
  for (int64_t i = 0; i < x->numel; ++i) {
    call.output_data<float>()[i] = float(static_cast<const float*>(x->data)[i] * by + mark);
  }
}

bool four_at_most(Call call, Refusal why) {
  int64_t n = call.tensor(0)->numel;
  return n <= 4 || why("%d elements are more than 4", int(n));
}
// A depth that no other test has.
int32_t depth_17(void*, const tn_call* call, char* reason, size_t bytes) {
  const tn_tensor* a = call->args[0].as.tensor;
  if (a->sizes[a->ndim - 1] == 17 && a->dtype == TN_FLOAT32) return 1;
  std::snprintf(reason, bytes, "a depth of 17 is all it knows");
  return 0;
}
int32_t never(void*, const tn_call*, char*, size_t) { return 0; }

struct Factor {
  float by;
};
void times(const Factor& factor, Call call) {
  for (int64_t i = 0; i < call.tensor(0)->numel; ++i) {
    call.output_data<float>()[i] = factor.by * static_cast<const float*>(call.tensor(0)->data)[i];
  }
}
bool not_longer(const Factor& factor, Call call, Refusal why) {
  return call.tensor(0)->numel <= int64_t(factor.by) || why("takes %d elements", int(factor.by));
}
tn_status* plus_one(const tn_call* call) {
  const tn_tensor* x = call->args[0].as.tensor;
  for (int64_t i = 0; i < x->numel; ++i) {
    static_cast<float*>(call->outputs[0]->data)[i] = static_cast<const float*>(x->data)[i] + 1;
  }
  return nullptr;
}
tn_status* times_in_c(void* self, const tn_call* call) {
  times(*static_cast<const Factor*>(self), Call(call));
  return nullptr;
}
void like_factor(const Factor& factor, const Call&, std::span<tn_meta> metas) {
  metas[0] = tenon::Meta(std::vector<int64_t>{int64_t(factor.by)}, float32, tenon::cpu);
}

}  // namespace

TENON_PLUGIN(dispatch_kernels) {
  // Three kernels, best first: +100 for few elements, +200 that knows an older schema, +300.
  op("scaled(Tensor x, float by=2) -> Tensor").meaning([](Tensor x, double by) { return x * by; });
  kernel("scaled", cpu, {.dtypes = float32, .priority = -1}, [](Call call) { scale(call, 300); });
  kernel("scaled", cpu, {.dtypes = float32, .priority = 9}, [](Call call) {
    scale(call, 100);
  }).supports(fn<four_at_most>);
  kernel("scaled(Tensor x) -> Tensor", cpu, {.dtypes = float32, .priority = 5},
         [](Call call) { scale(call, 200); });
  kernel("scaled", "ref", {}, [](Call) { fail("this kernel is never run"); }).supports(never);

  op("plain(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 2; });

  // A pair that knows the op as it was before it grew tensors and a flag; its private output is 3.
  op("grown(Tensor x, Tensor? y=None, Tensor[] more=[], bool flag=False) -> Tensor")
      .meaning([](Tensor x, Tensor y, Tensors, bool flag) {
        return flag ? x * 5 : y.defined() ? x * y : x * 4;
      });
  kernel("grown(Tensor x) -> Tensor", cpu, {.dtypes = float32, .layout = Layout::contiguous},
         [](Call call) {
           scale(call, 400);
           if (call.n_outputs() > 1 && call.output(1)) *call.output_data<float>(1) = 3;
         })
      .backward([](Call call) {  // grad, x, the output (not saved), the private one
        if (call.n_args() != 4 || call.n_outputs() != 1) {
          fail("grown: " + std::to_string(call.n_args()) + " arguments and " +
               std::to_string(call.n_outputs()) + " gradients, expected 4 and 1");
        }
        const float by = *static_cast<const float*>(call.tensor(3)->data);
        for (int64_t i = 0; i < call.tensor(1)->numel; ++i) {
          call.output_data<float>()[i] = by * static_cast<const float*>(call.tensor(0)->data)[i];
        }
      })
      .private_outputs(1, [](const Call& call, span<tn_meta> metas) {
        if (call.n_args() != 1) {
          fail("grown: infer_private got " + std::to_string(call.n_args()) + " arguments");
        }
        metas[0] = Meta(std::vector<int64_t>{}, float32, cpu);
      });

  // A pair that takes any order of dimensions, and gives what it got.
  op("twice(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 2; });
  constexpr auto as_its_argument = [](void*, const tn_call* call, uint32_t, const tn_meta* meta,
                                      int32_t* order) {
    const tn_tensor* x = call->args[0].as.tensor;
    std::stable_sort(order, order + meta->ndim,
                     [&](int32_t a, int32_t b) { return x->strides[a] > x->strides[b]; });
  };
  constexpr auto all_in_memory = [](Call call) {
    const tn_tensor *x = call.tensor(0), *y = call.output();
    if (!std::equal(x->strides, x->strides + x->ndim, y->strides))
      fail("twice: the strides differ");
    for (int64_t i = 0; i < x->numel; ++i)
      static_cast<float*>(y->data)[i] = 2 * static_cast<const float*>(x->data)[i];
  };
  kernel("twice", cpu, {.dtypes = float32, .layout = Layout::dense}, all_in_memory)
      .order(as_its_argument)
      .backward(all_in_memory);
  op("misordered(Tensor x) -> Tensor").infer([](Tensor x) { return Meta(x); });
  kernel("misordered", cpu, {}, [](Call) {
  }).order([](void*, const tn_call*, uint32_t, const tn_meta*, int32_t* order) { order[0] = 7; });

  // Kernels that take dense tensors only: the host copies, both ways.
  op("dense(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 2; });
  kernel("dense", cpu, {.layout = Layout::contiguous}, [](Call call) {
    if (!(call.tensor(0)->flags & TN_TENSOR_CONTIGUOUS)) fail("dense: the tensor is not dense");
    scale(call, 0);
  });
  op("rows(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 2; });
  kernel("rows", cpu, {.layout = Layout::rows}, [](Call call) {
    const tn_tensor* x = call.tensor(0);
    if (x->strides[1] != 1) fail("rows: the last dimension is not dense");
    for (int64_t i = 0; i < x->sizes[0]; ++i) {
      for (int64_t k = 0; k < x->sizes[1]; ++k) {
        call.output_data<float>()[i * x->sizes[1] + k] =
            2 * static_cast<const float*>(x->data)[i * x->strides[0] + k];
      }
    }
  });
  op("dense_formula(Tensor x) -> Tensor", "x * 2").inplace();
  for (const char* name : {"dense_formula", "dense_formula_"}) {
    kernel(name, cpu, {.layout = Layout::contiguous}, [](Call call) {
      if (!(call.output()->flags & TN_TENSOR_CONTIGUOUS)) fail("dense: the output is not dense");
      scale(call, 0);
    });
  }
  op("dense_all_(Tensor(a!)[] xs) -> ()").no_gradient().meaning([](Tensors xs) {
    for (uint32_t i = 0; i < xs.size(); ++i) xs[i] *= 2;
  });
  kernel("dense_all_", cpu, {.layout = Layout::contiguous}, [](Call call) {
    const tn_value& xs = call.get()->args[0];
    for (uint32_t i = 0; i < xs.count; ++i) {
      auto* data = static_cast<float*>(xs.as.tensors[i]->data);
      for (int64_t k = 0; k < xs.as.tensors[i]->numel; ++k) data[k] *= 2;
    }
  });

  kernel(TN_PRIM_MATMUL, "cpu", {.layout = Layout::contiguous, .priority = 1}, [](Call call) {
    const tn_tensor *a = call.tensor(0), *b = call.tensor(1);
    int64_t m = a->sizes[1], k = a->sizes[2], n = b->sizes[2];
    for (int64_t i = 0; i < a->sizes[0] * m * n; ++i) {
      int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      const auto* of_a = static_cast<const float*>(a->data) + (batch * m + row) * k;
      const auto* of_b = static_cast<const float*>(b->data) + batch * k * n + column;
      float total = 0;
      for (int64_t d = 0; d < k; ++d) total += of_a[d] * of_b[d * n];
      call.output_data<float>()[i] = total;
    }
  }).supports(depth_17);

  // A self that is the process's, one that the registration owns, and one that is not asked for.
  static constexpr Factor kSeven{7};
  auto shape = [](Tensor x) { return Meta(x); };
  op("by_static_self(Tensor x) -> Tensor").infer(shape);
  kernel("by_static_self", cpu, {}, fn<times>, &kSeven).supports(fn<not_longer>);
  op("by_owned_self(Tensor x) -> Tensor").infer(shape);
  kernel("by_owned_self", cpu, {}, fn<times>, std::make_unique<Factor>(Factor{5}));
  op("by_no_self(Tensor x) -> Tensor").infer(shape);
  kernel("by_no_self", cpu, {}, fn<plus_one>, &kSeven);
  op("by_c_function(Tensor x) -> Tensor").infer(shape);
  kernel("by_c_function", cpu, {}, times_in_c, &kSeven);
  // A pair whose functions share the self.
  op("pair_with_self(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 7; });
  kernel("pair_with_self", cpu, {.layout = Layout::contiguous}, fn<times>, &kSeven)
      .private_outputs(1, fn<like_factor>)
      .backward(fn<times>, {.saves_args = 0});
  // A pair that says in several ways what its private output is: nothing, no shape, memory of
  // another device.
  op("pair_carelessly(Tensor x, int way) -> Tensor").meaning([](Tensor x, int64_t) {
    return x * 7;
  });
  kernel(
      "pair_carelessly", cpu, {.layout = Layout::contiguous},
      [](const Factor& factor, Call call) {
        times(factor, call);
        if (call.n_outputs() > 1 && call.output(1)) call.output_data<float>(1)[0] = 7;
      },
      &kSeven)
      .private_outputs(1,
                       [](const Call& call, span<tn_meta> metas) {
                         const int64_t way = call.arg<int64_t>(1);
                         if (way > 0) metas[0] = Meta(vector<int64_t>{1}, float32, Device("meta"));
                         if (way == 1) metas[0].ndim = -1;
                       })
      .backward(fn<times>, {.saves_args = 0});
  op("doubts(Tensor x) -> Tensor").meaning([](Tensor x) { return x * 2; });
  kernel("doubts", cpu, {}, [](Call) {}).supports([](Call, Refusal) -> bool {
    throw std::runtime_error("who knows");
  });

  // What kernels do wrong.
  auto like = [](Tensor x) { return Meta(x); };
  op("fails(Tensor x) -> Tensor").infer(like);
  kernel("fails", cpu, {}, [](Call) { fail("the fan is off", TN_FAILED_PRECONDITION); });
  op("sets_twice(Tensor x) -> Tensor").dynamic().no_gradient().infer(like);
  kernel("sets_twice", cpu, {}, [](Call call) {
    call.set_output(0, {1});
    call.set_output(0, {1});
  });
  op("sets_nothing(Tensor x) -> Tensor").dynamic().no_gradient().infer(like);
  kernel("sets_nothing", cpu, {}, [](Call) {});
  op("sets_fixed(Tensor x) -> Tensor").infer(like);
  kernel("sets_fixed", cpu, {}, [](Call call) { call.set_output(0, {1}); });
  op("endless(Tensor x) -> Tensor").meaning([](Tensor x) {
    return call<Tensor>("dispatch_kernels.endless", x);
  });
  op("whole_gradient(Tensor x) -> Tensor")
      .meaning([](Tensor x) { return x * 1; })
      .vjp([](const Vjp& g, Tensor) { return (g.grad() * 0.5).to(int64); });
  op("sets_huge(Tensor x) -> Tensor").dynamic().no_gradient().infer(like);
  kernel("sets_huge", cpu, {}, [](Call call) { call.set_output(0, {INT64_MAX / 2, 4}); });
  op("infers_huge(Tensor x) -> Tensor").infer([](Tensor) {
    return Meta(std::vector<int64_t>{INT64_MAX, 2}, float32, cpu);
  });
  kernel("infers_huge", cpu, {}, [](Call) {});
  op("gives_nothing(Tensor x) -> Tensor").meaning([](Tensor) { return Tensor(); });

  op("borrows(Tensor x) -> Tensor").infer(like);
  kernel("borrows", cpu, {}, [](Call call) {
    auto* scratch = static_cast<float*>(call.workspace(uint64_t(call.tensor(0)->numel) * 4));
    if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0) fail("the workspace is not aligned");
    for (int64_t i = 0; i < call.tensor(0)->numel; ++i) scratch[i] = 7;
    for (int64_t i = 0; i < call.tensor(0)->numel; ++i) call.output_data<float>()[i] = scratch[i];
  });
  // 1 when the blob that an earlier call left at the tensor was found again.
  op("remembers(Tensor x) -> Tensor").infer([](Tensor x) { return Meta({}, float32, x.device()); });
  kernel("remembers", cpu, {}, [](Call call) {
    const auto* cache = detail::find_interface<tn_cache_api>(host(), "cache/1");
    static int blob;
    bool found = cache->find(call.get(), call.tensor(0), 7) != nullptr;
    if (!found) check(cache->attach(call.get(), call.tensor(0), 7, &blob, 4, [](void*) {}));
    call.output_data<float>()[0] = found;
  });
  op("draws(Tensor x) -> Tensor").random().infer(like);
  kernel("draws", cpu, {}, [](Call call) {
    call.output_data<float>()[0] = float(call.get()->random->seed);
    call.output_data<float>()[1] = float(call.get()->random->offset);
  });
}
