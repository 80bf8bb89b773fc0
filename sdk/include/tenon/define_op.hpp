// Ops from formulas and lambdas: op and vjp. Part of plugin.hpp.
//
// Lambdas take a schema's arguments as their parameters: Tensor (null for None), Operand (a tensor
// or a number), Tensors or std::vector<Tensor>, int64_t, double, bool, Ints, Floats, std::string or
// std::string_view, Dtype, Device, Object, and std::optional of those. They give a Tensor, or a
// tuple, array or vector for several outputs, or nothing for none. Where the one output is a list, a
// vector is that list; several outputs of which some are lists are a tuple with vectors in it.
#pragma once

#include "tenon/kernel.hpp"
#include "tenon/object.hpp"
#include "tenon/registrar.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

enum class Amp : int32_t {
  none = TN_AMP_NONE,        // expands to its decomposition whenever autocast is on
  lower = TN_AMP_LOWER,      // the device's lower precision
  float32 = TN_AMP_FLOAT32,  // norms, losses, sums
  widest = TN_AMP_WIDEST,    // the widest float dtype among the arguments
  automatic = TN_AMP_AUTO    // by the instructions of the expression
};

// What a vjp reads the values of: arguments and outputs, one of them, or neither.
enum class Reads { all, args, outputs, sizes };

namespace detail {

// The functions of one op, as `self` of its definition.
struct OpFunctions {
  Slot meaning, infer, view, vjp;
  static void destroy_all(void* self) { delete static_cast<OpFunctions*>(self); }
  static OpFunctions& of(void* self) { return *static_cast<OpFunctions*>(self); }
};

template <typename F>
tn_status* call_meaning(void* self, const tn_value* args, uint32_t n_args, tn_value* results,
                        uint32_t n_results) {
  return tenon::to_status([&] {
    call_values<ArgsOf<F>>(OpFunctions::of(self).meaning.template get<F>(), args, n_args, results,
                           n_results);
  });
}
// Of an op whose one result is a list.
template <typename F>
tn_status* call_meaning_of_list(void* self, const tn_value* args, uint32_t n_args,
                                tn_value* results, uint32_t) {
  return tenon::to_status([&] {
    give(results[0],
         apply_values<ArgsOf<F>>(OpFunctions::of(self).meaning.template get<F>(), args, n_args));
  });
}

template <typename R>
void write_metas(const R& result, tn_meta* outputs, uint32_t n) {
  if constexpr (std::is_base_of_v<tn_meta, R>) {
    if (n != 1) wrong_count("infers", 1, n);
    outputs[0] = result;
  } else if constexpr (IsTuple<R>::value) {
    if (std::tuple_size_v<R> != n) wrong_count("infers", std::tuple_size_v<R>, n);
    std::apply([&](const auto&... metas) { ((*outputs++ = metas), ...); }, result);
  } else {
    if (result.size() != n) wrong_count("infers", result.size(), n);
    for (uint32_t i = 0; i < n; ++i) outputs[i] = result[i];
  }
}
template <typename F>
tn_status* infer_with(F& f, const tn_value* args, uint32_t n_args, tn_meta* outputs, uint32_t n) {
  return tenon::to_status(
      [&] { write_metas(apply_values<ArgsOf<F>>(f, args, n_args), outputs, n); });
}
template <typename F>
tn_status* call_infer(void* self, const tn_value* args, uint32_t n_args, tn_meta* outputs,
                      uint32_t n) {
  return infer_with(OpFunctions::of(self).infer.template get<F>(), args, n_args, outputs, n);
}
template <typename F>
tn_status* call_view(void* self, const tn_value* args, uint32_t n_args, tn_view* view) {
  return tenon::to_status([&] {
    const View made =
        apply_values<ArgsOf<F>>(OpFunctions::of(self).view.template get<F>(), args, n_args);
    view->ndim = made.ndim;
    view->offset = made.offset;
    for (int32_t d = 0; d < made.ndim; ++d) {
      view->sizes[d] = made.sizes[d];
      view->strides[d] = made.strides[d];
    }
  });
}

template <typename F>
tn_status* vjp_with(F& f, const tn_vjp_call* call) {
  return tenon::to_status([&] {
    using Args = typename Tail<ArgsOf<F>>::type;
    Vjp gradient(call);
    auto result = apply_values<Args>(f, call->args, call->n_args, gradient);
    uint32_t n = 0;
    auto write_one = [&](Tensor& t) {
      if (n < call->n_results && call->needs[n]) call->results[n] = t.release();
      ++n;
    };
    auto write = [&]<typename T>(T& given) {  // a list counts as its tensors
      if constexpr (IsSequence<T>::value) {
        for (Tensor& t : given) write_one(t);
      } else {
        write_one(given);
      }
    };
    using R = decltype(result);
    if constexpr (IsTuple<R>::value) {
      std::apply([&](auto&... given) { (write(given), ...); }, result);
    } else {
      write(result);
    }
    if (n != call->n_results) {
      for (uint32_t i = 0; i < n && i < call->n_results; ++i) {
        detail::known_host()->tensor_release(std::exchange(call->results[i], nullptr));
      }
      wrong_count("of a vjp gives", n, call->n_results);
    }
  });
}
template <typename F>
tn_status* call_vjp(void* self, const tn_vjp_call* call) {
  return vjp_with(OpFunctions::of(self).vjp.template get<F>(), call);
}

}  // namespace detail

namespace plugin {

// An op being defined; it registers at the end of its statement.
class OpDefinition {
 public:
  OpDefinition(const char* schema, const char* expression)
      : schema_(schema),
        expression_(expression ? expression : ""),
        has_expression_(expression != nullptr),
        functions_(new_functions()) {
    def_.amp = TN_AMP_AUTO;
    def_.group = detail::registration.group;
  }
  OpDefinition(const OpDefinition&) = delete;
  OpDefinition& operator=(const OpDefinition&) = delete;
  ~OpDefinition() {
    tn_registrar* r = detail::registration.registrar;
    if (!r || detail::registration.error) {
      delete functions_;
      return;
    }
    def_.size = sizeof(def_);
    def_.schema = schema_.c_str();
    def_.expression = has_expression_ ? expression_.c_str() : nullptr;
    def_.doc = doc_.empty() ? nullptr : doc_.c_str();
    def_.self = functions_;
    def_.destroy = detail::OpFunctions::destroy_all;
    tn_status* status = r->op(r, &def_);
    if (status) delete functions_;
    detail::registration.note(status);
  }

  // What it computes, the shapes, the source of the formula: one line, for generated headers and
  // `tenon ops`.
  OpDefinition& doc(const char* line) {
    doc_ = line;
    return *this;
  }
  // A method of Tensor, too.
  OpDefinition& method() { return flag(TN_OP_METHOD); }
  // Its class under autocast.
  OpDefinition& amp(Amp amp) {
    def_.amp = tn_amp_class(amp);
    return *this;
  }
  // A decomposition: what the op is, in other ops and primitives.
  template <typename F>
  OpDefinition& meaning(F f) {
    expect<detail::ArgsOf<F>, detail::ResultOf<F>>("meaning");
    functions_->meaning.set(std::move(f));
    def_.decompose = detail::call_meaning<F>;
    if constexpr (detail::kGivesTensors<detail::ResultOf<F>>) {
      if (detail::gives_one_list(schema_.c_str())) def_.decompose = detail::call_meaning_of_list<F>;
    }
    return *this;
  }
  // Gives the Meta of each output; refuses what does not fit.
  template <typename F>
  OpDefinition& infer(F f) {
    expect<detail::ArgsOf<F>, detail::ResultOf<F>>("infer");
    functions_->infer.set(std::move(f));
    def_.infer = detail::call_infer<F>;
    return *this;
  }
  // Gives the View that the op is.
  template <typename F>
  OpDefinition& view(F f) {
    expect<detail::ArgsOf<F>, detail::ResultOf<F>>("view");
    functions_->view.set(std::move(f));
    def_.view = detail::call_view<F>;
    return *this;
  }
  // f(Vjp g, arguments...) gives a gradient for each tensor argument (lists laid out flat, or as
  // vectors in a tuple; a Tensor? that is None counted too), null for zero. What it does not read the values of, only sizes,
  // dtypes and devices, is not kept for it, and may be written before the backward.
  template <typename F>
  OpDefinition& vjp(F f, Reads reads = Reads::all) {
    if (reads == Reads::sizes || reads == Reads::outputs) flag(TN_OP_VJP_SKIPS_ARGS);
    if (reads == Reads::sizes || reads == Reads::args) flag(TN_OP_VJP_SKIPS_OUTPUTS);
    expect<typename detail::Tail<detail::ArgsOf<F>>::type, detail::ResultOf<F>>("vjp");
    functions_->vjp.set(std::move(f));
    def_.vjp = detail::call_vjp<F>;
    return *this;
  }
  // The op is this primitive; the schema's arguments are the primitive's.
  OpDefinition& primitive(tn_primitive kind) {
    def_.primitive = kind;
    return *this;
  }
  // Elementwise: also `name_`, which writes its first argument.
  OpDefinition& inplace() { return flag(TN_OP_INPLACE); }
  OpDefinition& dynamic() { return flag(TN_OP_DYNAMIC); }          // output sizes depend on values
  OpDefinition& random() { return flag(TN_OP_RANDOM); }            // draws random numbers
  OpDefinition& no_gradient() { return flag(TN_OP_NO_GRADIENT); }  // outputs never require one
  // A number may stand for a Tensor: Operand.
  OpDefinition& numbers() { return flag(TN_OP_NUMBERS); }
  // The meaning gets halves as they are; of other ops it is computed in float32 and rounded once.
  OpDefinition& keeps_halves() { return flag(TN_OP_KEEPS_HALVES); }
  // Its traced decomposition is a pattern for graph compilers.
  OpDefinition& fused() { return flag(TN_OP_FUSED); }
  OpDefinition& library() { return flag(TN_OP_LIBRARY); }  // has no decomposition by nature

 private:
  template <typename Args, typename R>
  void expect(const char* function) {
    detail::expect_signature<Args, R>(detail::joined({"op '", detail::registration.plugin, ".",
                                                      detail::schema_name(schema_.c_str()), "'"}),
                                      schema_.c_str(), function);
  }
  OpDefinition& flag(uint32_t flag) {
    def_.flags |= flag;
    return *this;
  }
  // An Error where no plugin is being loaded.
  static detail::OpFunctions* new_functions() {
    detail::registration.get();
    return new detail::OpFunctions;
  }
  std::string schema_, expression_, doc_;
  bool has_expression_;
  tn_op_def def_{};
  detail::OpFunctions* functions_;
};

// An op: with a formula, or with what follows (.meaning, .view, .primitive).
inline OpDefinition op(const char* schema, const char* expression = nullptr) {
  return OpDefinition(schema, expression);
}
// The gradient of another pack's op that has none.
template <typename F>
void vjp(const char* op, F f) {
  tn_registrar* r = detail::registration.get();
  if (detail::registration.error) return;
  void* self = detail::Held<F>::make(std::move(f));
  tn_status* status = r->vjp(
      r, op,
      [](void* held, const tn_vjp_call* call) {
        return detail::vjp_with(detail::Held<F>::get(held), call);
      },
      self, detail::Held<F>::destroy);
  if (status) detail::Held<F>::destroy(self);
  detail::registration.note(status);
}

}  // namespace plugin
}  // namespace v0
}  // namespace tenon
