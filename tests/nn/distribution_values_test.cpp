// The distributions of relaxed.hpp, gamma_quotients.hpp, circular.hpp, continuous_bernoulli.hpp,
// low_rank_multivariate_normal.hpp and matrices.hpp, NegativeBinomial, Multinomial,
// GeneralizedPareto, LogisticNormal and transforms of vectors beside PyTorch's, in float64 and
// float32, on every backend of the build; values in halves.
#include <cmath>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distribution_cases.h"
#include "second_device.h"
#include "tenon/distributions.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using nlohmann::json;
using tn::Tensor;

namespace {

using PowerOfSoftplus = TransformedDistribution<Normal, SoftplusTransform, PowerTransform>;
using StickOfIndependent =
    TransformedDistribution<Independent<Normal>, AffineTransform, StickBreakingTransform>;
using Correlations = TransformedDistribution<Normal, CorrCholeskyTransform>;
using Composed = TransformedDistribution<
    Normal,
    ComposeTransform<IndependentTransform<SoftplusTransform>, ReshapeTransform, PowerTransform>,
    AffineTransform>;
using Logistic =
    TransformedDistribution<Uniform, InverseTransform<SigmoidTransform>, AffineTransform>;
using CatOfThree = TransformedDistribution<Normal, CatTransform<ExpTransform, TanhTransform>>;
using Copula = TransformedDistribution<MultivariateNormal, CumulativeDistributionTransform<Normal>>;
using Any =
    std::variant<Normal, Uniform, Exponential, Gamma, Beta, Gumbel, Laplace, Pareto,
                 MultivariateNormal, NegativeBinomial, Multinomial, LogitRelaxedBernoulli,
                 RelaxedBernoulli, ExpRelaxedCategorical, RelaxedOneHotCategorical, InverseGamma,
                 FisherSnedecor, VonMises, LowRankMultivariateNormal, ContinuousBernoulli,
                 GeneralizedPareto, LogisticNormal, Wishart, LKJCholesky, PowerOfSoftplus,
                 StickOfIndependent, Correlations, Composed, Logistic, CatOfThree, Copula>;

// D(first.., probs) or D(first.., {.logits = logits}).
template <typename D, typename... First>
D by_probs(const Named& p, const First&... first) {
  return p.count("probs") ? D(first..., p.at("probs")) : D(first..., {.logits = p.at("logits")});
}

Any made_before(const std::string& kind, const Named& p) {
  if (kind == "Normal") return Normal(p.at("loc"), p.at("scale"));
  if (kind == "Uniform") return Uniform(p.at("low"), p.at("high"));
  if (kind == "Exponential") return Exponential(p.at("rate"));
  if (kind == "Gamma") return Gamma(p.at("concentration"), p.at("rate"));
  if (kind == "Beta") return Beta(p.at("concentration1"), p.at("concentration0"));
  if (kind == "Gumbel") return Gumbel(p.at("loc"), p.at("scale"));
  if (kind == "Laplace") return Laplace(p.at("loc"), p.at("scale"));
  if (kind == "Pareto") return Pareto(p.at("scale"), p.at("alpha"));
  return MultivariateNormal(p.at("loc"), p.at("covariance_matrix"));
}

Any made_transformed(const std::string& kind, const Named& p) {
  if (kind == "Copula") {
    return Copula(MultivariateNormal(p.at("loc"), {.scale_tril = p.at("scale_tril")}),
                  CumulativeDistributionTransform(Normal(0.25, 1.0)));
  }
  const Tensor loc = p.at("loc"), scale = p.at("scale");
  if (kind == "Logistic") {
    const tn::NoGrad guard;
    return Logistic(Uniform(tn::zeros_like(loc), 1.0), InverseTransform(SigmoidTransform()),
                    AffineTransform(loc, scale));
  }
  const Normal normal(loc, scale);
  if (kind == "PowerOfSoftplus")
    return PowerOfSoftplus(normal, SoftplusTransform(), PowerTransform(p.at("exponent")));
  if (kind == "StickOfIndependent") {
    return StickOfIndependent(Independent(normal, 1), AffineTransform(0.5, 2.0),
                              StickBreakingTransform());
  }
  if (kind == "Correlations") return Correlations(normal, CorrCholeskyTransform());
  if (kind == "CatOfThree")
    return CatOfThree(normal,
                      CatTransform(std::tuple(ExpTransform(), TanhTransform()), -1, {1, 2}));
  return Composed(normal,
                  ComposeTransform(IndependentTransform(SoftplusTransform(), 1),
                                   ReshapeTransform({4}, {2, 2}), PowerTransform(0.5)),
                  AffineTransform(0.01, 2.0));
}

Any made(const std::string& kind, const Named& p) {
  if (kind == "NegativeBinomial") return by_probs<NegativeBinomial>(p, p.at("total_count"));
  if (kind == "Multinomial") return by_probs<Multinomial>(p, 6);
  if (kind == "LogitRelaxedBernoulli")
    return by_probs<LogitRelaxedBernoulli>(p, p.at("temperature"));
  if (kind == "RelaxedBernoulli") return by_probs<RelaxedBernoulli>(p, p.at("temperature"));
  if (kind == "ExpRelaxedCategorical")
    return by_probs<ExpRelaxedCategorical>(p, p.at("temperature"));
  if (kind == "RelaxedOneHotCategorical")
    return by_probs<RelaxedOneHotCategorical>(p, p.at("temperature"));
  if (kind == "ContinuousBernoulli") return by_probs<ContinuousBernoulli>(p);
  if (kind == "InverseGamma") return InverseGamma(p.at("concentration"), p.at("rate"));
  if (kind == "FisherSnedecor") return FisherSnedecor(p.at("df1"), p.at("df2"));
  if (kind == "VonMises") return VonMises(p.at("loc"), p.at("concentration"));
  if (kind == "LowRankMultivariateNormal")
    return LowRankMultivariateNormal(p.at("loc"), p.at("cov_factor"), p.at("cov_diag"));
  if (kind == "GeneralizedPareto")
    return GeneralizedPareto(p.at("loc"), p.at("scale"), p.at("concentration"));
  if (kind == "LogisticNormal") return LogisticNormal(p.at("loc"), p.at("scale"));
  if (kind == "LKJCholesky") return LKJCholesky(3, p.at("concentration"));
  if (kind == "Wishart") {
    const auto matrix = [&](const char* name) { return p.count(name) ? p.at(name) : Tensor(); };
    return Wishart(p.at("df"),
                   {.covariance_matrix = matrix("covariance_matrix"),
                    .precision_matrix = matrix("precision_matrix"),
                    .scale_tril = p.count("scale_tril") ? p.at("scale_tril").tril() : Tensor()});
  }
  for (const char* name : {"PowerOfSoftplus", "StickOfIndependent", "Correlations", "Composed",
                           "Logistic", "CatOfThree", "Copula"})
    if (kind == name) return made_transformed(kind, p);
  return made_before(kind, p);
}

class DistributionValues : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionValues, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DistributionValues, AndGradientsAreThoseOfTorch) {
  for (const json& c : data().at("more_distributions"))
    expect_case(c, made, tn::float64, device, 1e-10, 1e-9);
}

TEST_P(DistributionValues, Float32ComesNear) {
  for (const json& c : data().at("more_distributions"))
    expect_case(c, made, tn::float32, device, 2e-5, 3e-4);
}

TEST_P(DistributionValues, DivergencesAreThoseOfTorch) {
  for (const json& c : data().at("more_divergences")) expect_divergence(c, made, device);
}

}  // namespace
