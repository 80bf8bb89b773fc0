// Results by their names, of the ops of the plugin 'ops', written by `tenon header`: changes belong
// into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/named_results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace results {
struct HC : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor h() const { return std::get<0>(*this); }
  Tensor c() const { return std::get<1>(*this); }
};
struct HistBinEdges : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor hist() const { return std::get<0>(*this); }
  Tensor bin_edges() const { return std::get<1>(*this); }
};
struct IndicesValues : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor indices() const { return std::get<0>(*this); }
  Tensor values() const { return std::get<1>(*this); }
};
struct MantissaExponent : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor mantissa() const { return std::get<0>(*this); }
  Tensor exponent() const { return std::get<1>(*this); }
};
struct MinMax : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor min() const { return std::get<0>(*this); }
  Tensor max() const { return std::get<1>(*this); }
};
struct OutputHN : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor output() const { return std::get<0>(*this); }
  Tensor h_n() const { return std::get<1>(*this); }
};
struct OutputHNCN : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor output() const { return std::get<0>(*this); }
  Tensor h_n() const { return std::get<1>(*this); }
  Tensor c_n() const { return std::get<2>(*this); }
};
struct OutputMask : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor output() const { return std::get<0>(*this); }
  Tensor mask() const { return std::get<1>(*this); }
};
struct StdMean : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor std() const { return std::get<0>(*this); }
  Tensor mean() const { return std::get<1>(*this); }
};
struct ValuesIndices : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor values() const { return std::get<0>(*this); }
  Tensor indices() const { return std::get<1>(*this); }
};
struct ValuesInverseCounts : detail::NamedResults<3> {
  using NamedResults::NamedResults;
  Tensor values() const { return std::get<0>(*this); }
  Tensor inverse() const { return std::get<1>(*this); }
  Tensor counts() const { return std::get<2>(*this); }
};
struct VarMean : detail::NamedResults<2> {
  using NamedResults::NamedResults;
  Tensor var() const { return std::get<0>(*this); }
  Tensor mean() const { return std::get<1>(*this); }
};
}  // namespace results


}  // namespace v0
}  // namespace tenon
