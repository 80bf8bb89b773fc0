#!/usr/bin/env python3
"""Writes torch_distributions.json: what PyTorch's distributions give in float64 (log_prob, entropy, mean, variance and the gradients
of a sum of those that are finite), its divergences with their gradients, and how the draws of gamma distributions move with the concentration,
computed with 60 digits by mpmath and compared here with PyTorch's own approximation.

  torch_distributions.py > tests/data/torch_distributions.json"""
import json
import math
import sys

import mpmath
import torch
import torch.distributions as D

torch.set_default_dtype(torch.float64)

MATRIX = [[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.75]]
LOWER = [[1.5, 0, 0], [0.4, 0.8, 0], [-1.0, 0.3, 2.0]]
ONE_HOT = [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 0]]]
# Whose values have no gradient.
WHOLE = ("Bernoulli", "Categorical", "OneHotCategorical", "Poisson", "Binomial", "Geometric", "NegativeBinomial", "Multinomial")
# Without moments and entropy.
BARE = ("TanhPolicy", "SigmoidOfAffine", "LogitRelaxedBernoulli", "RelaxedBernoulli", "ExpRelaxedCategorical", "RelaxedOneHotCategorical", "LogisticNormal",
        "LKJCholesky", "PowerOfSoftplus", "StickOfIndependent", "Correlations", "Composed", "Logistic", "CatOfThree", "Copula")
# The kind, its parameters by name, values of log_prob.
CASES = [
    ("Normal", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 7], [1, 0, -3.5]]),
    ("Uniform", {"low": [-1.0, 0.25], "high": [3.0, 0.75]}, [[-1, 0.5], [2.5, 0.3]]),
    ("Exponential", {"rate": [0.2, 1.0, 30.0]}, [[0, 2.5, 0.01], [1, 0.3, 0.2]]),
    ("Bernoulli", {"probs": [0.1, 0.5, 0.97]}, [[0, 1, 1], [1, 0, 0]]),
    ("Bernoulli", {"logits": [-30.0, -0.4, 2.5, 9.0]}, [[0, 1, 1, 1], [1, 0, 0, 0]]),
    ("Categorical", {"probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}, [[0, 1], [2, 2]]),
    ("Categorical", {"logits": [[-1.0, 0.3, 2.5, -60.0]]}, [[0], [1], [2], [3]]),
    ("Gamma", {"concentration": [0.05, 1.0, 2.5, 400.0], "rate": [1.0, 3.0, 0.5, 100.0]}, [[1e-9, 0.5, 7, 4], [0.3, 0.01, 3, 4.4]]),
    ("Beta", {"concentration1": [0.2, 1.0, 8.0], "concentration0": [0.7, 1.0, 30.0]}, [[1e-6, 0.5, 0.2], [0.9, 0.1, 0.25]]),
    ("Dirichlet", {"concentration": [[0.1, 0.5, 2.0], [3.0, 7.0, 1.0]]}, [[[0.1, 0.2, 0.7], [0.25, 0.5, 0.25]]]),
    ("MultivariateNormal", {"loc": [[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]], "covariance_matrix": MATRIX}, [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]),
    ("MultivariateNormal", {"loc": [0.5, -1.0, 2.0], "precision_matrix": MATRIX}, [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]),
    ("MultivariateNormal", {"loc": [0.5, -1.0, 2.0], "scale_tril": LOWER}, [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]),
    ("Independent", {"loc": [[0.5, -2.0, 1.0], [0.0, 3.0, 0.1]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 7], [1, 0, -3.5]]),
    ("MixtureOfNormals", {"probs": [0.2, 0.5, 0.3], "loc": [[0.5, -2.0, 1.0], [0.0, 3.0, 0.1]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2], [7, 1]]),
    ("MixtureOfVectors", {"logits": [0.2, -1.0], "loc": [[0.5, -1.0, 2.0], [3.0, 0.0, 1.0]], "scale_tril": LOWER}, [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]),
    ("Laplace", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 7], [1, 0, -3.5]]),
    ("Cauchy", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 700], [1, 0, -3.5]]),
    ("Gumbel", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 70], [1, 0, -3.5]]),
    ("HalfNormal", {"scale": [0.3, 1.0, 4.0]}, [[0, 2, 7], [1, 0.5, 3.5]]),
    ("HalfCauchy", {"scale": [0.3, 1.0, 4.0]}, [[0, 2, 700], [1, 0.5, 3.5]]),
    ("StudentT", {"df": [0.5, 1.5, 2.0, 3.0], "loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 2.0, 4.0]}, [[0.1, -2, 0.4, 700], [1, 0, 3, -3.5]]),
    ("StudentT", {"df": [2.5, 6.0, 90.0], "loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -2, 7], [1, 0, -3.5]]),
    ("Chi2", {"df": [0.5, 1.0, 7.0]}, [[1e-6, 0.5, 7], [0.3, 0.01, 3]]),
    ("LogNormal", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 2.0]}, [[0.1, 2, 7], [1, 0.5, 1e-3]]),
    ("Pareto", {"scale": [0.3, 1.0, 4.0], "alpha": [0.7, 1.5, 2.0]}, [[0.3, 2, 700], [1, 1.5, 5]]),
    ("Pareto", {"scale": [0.3, 1.0, 4.0], "alpha": [2.5, 4.0, 20.0]}, [[0.3, 2, 700], [1, 1.5, 5]]),
    ("Weibull", {"scale": [0.3, 1.0, 4.0], "concentration": [0.7, 1.0, 5.0]}, [[0.1, 2, 7], [1, 0.5, 3.5]]),
    ("Kumaraswamy", {"concentration1": [0.7, 1.0, 5.0], "concentration0": [0.5, 1.5, 3.0]}, [[0.1, 0.5, 0.9], [1e-4, 0.99, 0.3]]),
    ("Poisson", {"rate": [0.02, 3.0, 250.0]}, [[0, 2, 270], [1, 0, 201]]),
    ("Binomial", {"total_count": [6.0], "probs": [0.1, 0.5, 0.97]}, [[0, 6, 5], [1, 3, 6]]),
    ("Binomial", {"total_count": [300.0], "logits": [-4.0, 0.3, 2.5]}, [[0, 160, 275], [9, 0, 300]]),
    ("Geometric", {"probs": [0.02, 0.5, 0.97]}, [[0, 3, 1], [80, 0, 0]]),
    ("Geometric", {"logits": [-4.0, 0.3, 2.5]}, [[0, 3, 1], [80, 0, 0]]),
    ("OneHotCategorical", {"probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}, ONE_HOT),
    ("OneHotCategorical", {"logits": [[-1.0, 0.3, 2.5], [0.0, 0.5, -1.0]]}, ONE_HOT),
    ("TanhPolicy", {"loc": [[0.5, -2.0, 1.0], [0.0, 3.0, 0.1]], "scale": [0.3, 1.0, 4.0]}, [[0.1, -0.99, 0.5], [0.9, 0.999, -0.7]]),
    ("SigmoidOfAffine", {"loc": [[0.5, -2.0], [0.0, 3.0]], "scale": [0.3, 1.0], "shift": [1.0, -0.5], "factor": [-2.0, 0.3]}, [[0.1, 0.99], [0.9, 1e-3]]),
]
# Two of each family. The batches have one size where PyTorch sets infinities by a mask, which does not broadcast there.
OPERANDS = [
    ("Normal", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}),
    ("Normal", {"loc": [1.0], "scale": [2.0]}),
    ("Uniform", {"low": [0.25, 0.05], "high": [0.75, 0.9]}),
    ("Uniform", {"low": [-1.0, 0.0], "high": [1.5, 1.25]}),
    ("Exponential", {"rate": [0.2, 3.0]}),
    ("Exponential", {"rate": [1.5, 1.5]}),
    ("Bernoulli", {"probs": [0.1, 0.8]}),
    ("Bernoulli", {"logits": [0.3, -1.0]}),
    ("Categorical", {"probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}),
    ("Categorical", {"logits": [[-1.0, 0.3, 2.5], [0.0, 0.5, -1.0]]}),
    ("Gamma", {"concentration": [0.3, 4.0], "rate": [1.0, 0.5]}),
    ("Gamma", {"concentration": [2.0], "rate": [3.0]}),
    ("Beta", {"concentration1": [0.6, 5.0], "concentration0": [2.0, 3.0]}),
    ("Beta", {"concentration1": [2.0, 0.5], "concentration0": [1.5, 1.0]}),
    ("Dirichlet", {"concentration": [[0.1, 0.5, 2.0], [3.0, 7.0, 1.0]]}),
    ("Dirichlet", {"concentration": [1.0, 2.0, 3.0]}),
    ("MultivariateNormal", {"loc": [[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]], "covariance_matrix": MATRIX}),
    ("MultivariateNormal", {"loc": [1.0, 1.0, 1.0], "scale_tril": LOWER}),
    ("Independent", {"loc": [[0.5, -2.0]], "scale": [0.3, 1.5]}),
    ("Independent", {"loc": [[1.0, 0.0]], "scale": [2.0, 1.0]}),
]
# Of two families, one of which is here, only the first operands are compared.
LATER = [
    ("Laplace", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}),
    ("Laplace", {"loc": [1.0], "scale": [2.0]}),
    ("Cauchy", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}),
    ("Cauchy", {"loc": [1.0], "scale": [2.0]}),
    ("Gumbel", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}),
    ("Gumbel", {"loc": [1.0], "scale": [2.0]}),
    ("HalfNormal", {"scale": [0.3, 1.5]}),
    ("HalfNormal", {"scale": [2.0]}),
    ("HalfCauchy", {"scale": [0.3, 1.5]}),
    ("HalfCauchy", {"scale": [2.0]}),
    ("Chi2", {"df": [0.5, 4.0]}),
    ("Chi2", {"df": [2.0]}),
    ("LogNormal", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}),
    ("LogNormal", {"loc": [1.0], "scale": [2.0]}),
    ("Pareto", {"scale": [0.1, 0.02], "alpha": [2.5, 4.0]}),
    ("Pareto", {"scale": [0.05, 0.05], "alpha": [3.0, 0.7]}),
    ("Poisson", {"rate": [0.3, 4.0]}),
    ("Poisson", {"rate": [2.0]}),
    ("Binomial", {"total_count": [6.0, 4.0], "probs": [0.1, 0.8]}),
    ("Binomial", {"total_count": [4.0, 4.0], "logits": [0.3, -1.0]}),
    ("Geometric", {"probs": [0.1, 0.8]}),
    ("Geometric", {"logits": [0.3, -1.0]}),
    ("OneHotCategorical", {"probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}),
    ("OneHotCategorical", {"logits": [[-1.0, 0.3, 2.5], [0.0, 0.5, -1.0]]}),
    ("TanhPolicy", {"loc": [[0.5, -2.0]], "scale": [0.3, 1.5]}),
    ("TanhPolicy", {"loc": [[1.0, 0.0]], "scale": [2.0, 1.0]}),
    ("SigmoidOfAffine", {"loc": [0.5, -2.0], "scale": [0.3, 1.5], "shift": [1.0, -0.5], "factor": [-2.0, 0.3]}),
    ("SigmoidOfAffine", {"loc": [1.0, 1.0], "scale": [2.0, 2.0], "shift": [1.0, -0.5], "factor": [-2.0, 0.3]}),
]

# What tests/nn/distribution_values_test.cpp compares.
SYMMETRIC = [[1.5, 0.2, -0.4], [0.2, 2.0, 0.3], [-0.4, 0.3, 0.9]]
CORRELATIONS = [[1.0, 0, 0], [0.6, 0.8, 0], [-0.36, 0.48, 0.8]]
SIMPLEX = [[[0.1, 0.2, 0.7], [0.25, 0.5, 0.25]]]
MORE_CASES = [
    ("NegativeBinomial", {"total_count": [[5.0], [2.5]], "probs": [0.1, 0.5, 0.97]}, [[0, 6, 200], [1, 3, 60]]),
    ("NegativeBinomial", {"total_count": [40.0, 0.5], "logits": [-4.0, 2.5]}, [[0, 6], [1, 30]]),
    ("Multinomial", {"probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}, [[[1, 2, 3], [0, 6, 0]], [[2, 2, 2], [1, 0, 3]]]),
    ("Multinomial", {"logits": [[-1.0, 0.3, 2.5], [0.0, 0.5, -1.0]]}, [[1, 2, 3], [0, 6, 0]]),
    ("LogitRelaxedBernoulli", {"temperature": [0.7], "probs": [0.1, 0.5, 0.97]}, [[0.1, -2, 7], [1, 0, -3.5]]),
    ("RelaxedBernoulli", {"temperature": [0.7], "probs": [0.1, 0.5, 0.97]}, [[0.1, 0.5, 0.9], [1e-4, 0.99, 0.3]]),
    ("RelaxedBernoulli", {"temperature": [2.0], "logits": [-4.0, 0.3, 2.5]}, [[0.1, 0.5, 0.9], [1e-4, 0.99, 0.3]]),
    ("ExpRelaxedCategorical", {"temperature": [0.7], "probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}, [[-0.5, -2, -3], [-0.1, -6, -4]]),
    ("RelaxedOneHotCategorical", {"temperature": [0.7], "probs": [[0.2, 0.5, 0.4], [3.0, 1.0, 2.0]]}, SIMPLEX),
    ("RelaxedOneHotCategorical", {"temperature": [2.0], "logits": [[-1.0, 0.3, 2.5], [0.0, 0.5, -1.0]]}, SIMPLEX),
    ("InverseGamma", {"concentration": [2.5, 4.0, 40.0], "rate": [1.0, 3.0, 20.0]}, [[0.1, 2, 0.6], [1, 0.5, 0.4]]),
    ("InverseGamma", {"concentration": [0.5, 1.5], "rate": [1.0, 3.0]}, [[0.1, 200], [1, 0.5]]),
    ("FisherSnedecor", {"df1": [0.5, 3.0, 40.0], "df2": [4.5, 7.0, 60.0]}, [[1e-3, 2, 0.9], [1, 0.5, 1.4]]),
    ("FisherSnedecor", {"df1": [0.5, 3.0], "df2": [1.5, 3.5]}, [[1e-3, 200], [1, 0.5]]),
    ("VonMises", {"loc": [[0.5], [-2.0]], "concentration": [0.02, 1.0, 60.0]}, [[0.1, -2, 0.7], [1, 9, -2.2]]),
    ("LowRankMultivariateNormal", {"loc": [[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]], "cov_factor": [[0.4, 1.0], [-2.0, 0.5], [0.3, 0.1]], "cov_diag": [0.7, 0.2, 1.5]},
     [[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5]]),
    ("ContinuousBernoulli", {"probs": [0.02, 0.4, 0.5, 0.97]}, [[0.1, 0.5, 0.9, 0], [1e-4, 0.99, 0.3, 1]]),
    ("ContinuousBernoulli", {"logits": [-9.0, 0.3, 2.5]}, [[0.1, 0.5, 0.9], [1e-4, 0.99, 0.3]]),
    ("GeneralizedPareto", {"loc": [[0.5], [-2.0]], "scale": [0.3, 1.0, 4.0], "concentration": [0.3, 0.0, -0.4]}, [[0.5, 2, 7], [0.6, 0.5, 0.55]]),
    ("GeneralizedPareto", {"loc": [0.5, -2.0], "scale": [0.3, 1.0], "concentration": [0.6, 1.5]}, [[0.5, 200], [0.6, 0.5]]),
    ("LogisticNormal", {"loc": [[0.5, -2.0], [0.0, 1.0]], "scale": [0.3, 1.0]}, SIMPLEX),
    ("Wishart", {"df": [3.5, 20.0], "covariance_matrix": MATRIX}, SYMMETRIC),
    ("Wishart", {"df": [3.5, 20.0], "precision_matrix": MATRIX}, SYMMETRIC),
    ("Wishart", {"df": [4.0], "scale_tril": LOWER}, SYMMETRIC),
    ("LKJCholesky", {"concentration": [0.5, 1.0, 3.0]}, CORRELATIONS),
    ("PowerOfSoftplus", {"loc": [[0.5, -2.0], [0.0, 3.0]], "scale": [0.3, 1.0], "exponent": [-2.0, 0.3]}, [[0.1, 0.99], [4, 0.6]]),
    ("StickOfIndependent", {"loc": [[0.5, -2.0], [0.0, 1.0]], "scale": [0.3, 1.0]}, SIMPLEX),
    ("Correlations", {"loc": [0.5, -2.0, 1.0], "scale": [0.3, 1.0, 4.0]}, CORRELATIONS),
    ("Composed", {"loc": [[0.5, -2.0, 1.0, 0.3], [0.0, 3.0, 0.1, -1.0]], "scale": [0.3, 1.0, 4.0, 2.0]}, [[[0.1, 0.2], [0.3, 4]], [[1, 0.5], [2, 0.7]]]),
    ("Logistic", {"loc": [0.5, -2.0], "scale": [0.3, 1.5]}, [[0.1, 0.99], [0.9, 1e-3]]),
    ("CatOfThree", {"loc": [0.5, -2.0, 1.0], "scale": [0.3, 1.0, 4.0]}, [[0.1, 0.2, -0.4], [4, -0.3, 0.7]]),
    ("Copula", {"loc": [0.5, -1.0, 2.0], "scale_tril": LOWER}, [[0.1, 0.2, 0.3], [0.9, 0.5, 0.97]]),
]
MORE_KINDS = [
    ("ContinuousBernoulli", {"probs": [0.1, 0.8]}),
    ("ContinuousBernoulli", {"logits": [0.3, -1.0]}),
    ("LowRankMultivariateNormal", {"loc": [[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]], "cov_factor": [[0.4, 1.0], [-2.0, 0.5], [0.3, 0.1]], "cov_diag": [0.7, 0.2, 1.5]}),
    ("LowRankMultivariateNormal", {"loc": [1.0, 1.0, 1.0], "cov_factor": [[1.0], [0.5], [-0.3]], "cov_diag": [1.0, 0.4, 0.6]}),
    ("InverseGamma", {"concentration": [0.3, 4.0], "rate": [1.0, 0.5]}),
    ("InverseGamma", {"concentration": [2.0], "rate": [3.0]}),
    ("LogisticNormal", {"loc": [[0.5, -2.0], [0.0, 1.0]], "scale": [0.3, 1.0]}),
    ("LogisticNormal", {"loc": [1.0, 0.0], "scale": [2.0, 0.7]}),
    ("Composed", {"loc": [[0.5, -2.0, 1.0, 0.3], [0.0, 3.0, 0.1, -1.0]], "scale": [0.3, 1.0, 4.0, 2.0]}),
    ("Composed", {"loc": [0.0, 0.0, 1.0, 1.0], "scale": [1.0, 2.0, 3.0, 0.5]}),
    ("Wishart", {"df": 3.5, "covariance_matrix": MATRIX}),
    ("Wishart", {"df": 5.0, "scale_tril": LOWER}),
]
# Beside those of one family: ContinuousBernoulli and LowRankMultivariateNormal with the first of each kind of before. (Uniform(-1, 1.5)
# reaches over both ends, where PyTorch's divergence is finite.)
MORE_PAIRS = [
    *[("ContinuousBernoulli", kind) for kind in ("Pareto", "Exponential", "Normal")],
    *[(kind, "ContinuousBernoulli") for kind in ("Beta", "Exponential", "Gamma", "Gumbel", "Laplace", "Normal", "Pareto", "Uniform")],
    ("LowRankMultivariateNormal", "MultivariateNormal"), ("MultivariateNormal", "LowRankMultivariateNormal"),
]


class VonMises(D.VonMises):
    """With Bessel functions that are exact: PyTorch's are polynomials, whose values here are within 1e-6."""

    def log_prob(self, value):
        k = self.concentration
        result = k * (torch.cos(value - self.loc) - 1) - math.log(2 * math.pi) - torch.special.i0e(k).log()
        assert torch.allclose(result, super().log_prob(value), rtol=0, atol=1e-6)
        return result

    @property
    def variance(self):
        result = 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)
        assert torch.allclose(result, D.VonMises(self.loc, self.concentration).variance, rtol=0, atol=1e-6)
        return result


def made_more(kind, p):
    if kind == "Wishart" and "scale_tril" in p:  # else there are gradients above the diagonal that mean nothing
        return D.Wishart(p["df"], scale_tril=p["scale_tril"].tril())
    if kind == "Multinomial":
        return D.Multinomial(6, **p)
    if kind == "VonMises":
        return VonMises(**p)
    if kind == "LKJCholesky":
        return D.LKJCholesky(3, **p)
    if kind in ("LogitRelaxedBernoulli", "ExpRelaxedCategorical"):
        module = D.relaxed_bernoulli if kind == "LogitRelaxedBernoulli" else D.relaxed_categorical
        return getattr(module, kind)(**p)
    if kind == "GeneralizedPareto":
        return D.generalized_pareto.GeneralizedPareto(**p)
    if kind == "PowerOfSoftplus":
        return D.TransformedDistribution(D.Normal(p["loc"], p["scale"]), [D.SoftplusTransform(), D.PowerTransform(p["exponent"])])
    if kind == "StickOfIndependent":
        return D.TransformedDistribution(D.Independent(D.Normal(**p), 1), [D.AffineTransform(0.5, 2.0), D.StickBreakingTransform()])
    if kind == "Correlations":
        return D.TransformedDistribution(D.Normal(**p), D.CorrCholeskyTransform())
    if kind == "Composed":
        parts = [D.IndependentTransform(D.SoftplusTransform(), 1), D.ReshapeTransform((4,), (2, 2)), D.PowerTransform(torch.tensor(0.5))]
        return D.TransformedDistribution(D.Normal(**p), [D.ComposeTransform(parts), D.AffineTransform(0.01, 2.0)])
    if kind == "Logistic":
        unit = D.Uniform(torch.zeros_like(p["loc"]), torch.ones_like(p["loc"]))
        return D.TransformedDistribution(unit, [D.SigmoidTransform().inv, D.AffineTransform(**p)])
    if kind == "CatOfThree":
        return D.TransformedDistribution(D.Normal(**p), D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2]))
    if kind == "Copula":
        return D.TransformedDistribution(D.MultivariateNormal(**p), D.CumulativeDistributionTransform(D.Normal(0.25, 1.0)))
    return None


def made(kind, p):
    more = made_more(kind, p)
    if more is not None:
        return more
    if kind == "Independent":
        return D.Independent(D.Normal(**p), 1)
    if kind == "MixtureOfNormals":
        return D.MixtureSameFamily(D.Categorical(p["probs"]), D.Normal(p["loc"], p["scale"]))
    if kind == "MixtureOfVectors":
        return D.MixtureSameFamily(D.Categorical(logits=p["logits"]), D.MultivariateNormal(p["loc"], scale_tril=p["scale_tril"]))
    if kind == "TanhPolicy":
        return D.TransformedDistribution(D.Independent(D.Normal(**p), 1), D.TanhTransform())
    if kind == "SigmoidOfAffine":
        return D.TransformedDistribution(D.Normal(p["loc"], p["scale"]), [D.AffineTransform(p["shift"], p["factor"]), D.SigmoidTransform()])
    return getattr(D, kind)(**p)


def leaves(parameters):
    return {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in parameters.items()}


def kept(t):
    """An infinity is None, and NaN a word."""
    values = t.detach().reshape(-1).tolist()
    return {"sizes": list(t.shape), "values": ["nan" if v != v else None if v == math.inf else float("%.15g" % v) for v in values]}


def has(kind, what):
    """Whether PyTorch has it and it is more than NaN."""
    if kind in BARE:
        return False
    if kind in ("NegativeBinomial", "FisherSnedecor", "VonMises"):
        return what != "entropy"
    return not (kind.startswith("Mixture") or kind == "Poisson") if what == "entropy" else kind != "Categorical"


def gradients(tensors):
    return {name: kept(torch.zeros_like(t) if t.grad is None else t.grad) for name, t in tensors.items()}


def value_case(kind, parameters, value):
    tensors = leaves(parameters)
    distribution = made(kind, tensors)
    x = torch.tensor(value, dtype=torch.float64)
    x.requires_grad_(kind not in WHOLE)
    case = {"kind": kind, "parameters": {n: kept(t) for n, t in tensors.items()}, "value": kept(x)}
    log_prob = distribution.log_prob(x)
    case["log_prob"] = kept(log_prob)
    loss = log_prob.sum()
    factors = {"entropy": 0.5, "mean": 0.25, "variance": 0.125}
    for name, factor in factors.items():
        if not has(kind, name):
            continue
        result = getattr(distribution, name)
        result = result() if callable(result) else result
        case[name] = kept(result)
        if bool(torch.isfinite(result).all()):
            loss = loss + factor * result.sum()
    loss.backward()
    case["gradients"] = gradients(tensors)
    if x.grad is not None:
        case["gradient_of_value"] = kept(x.grad)
    return case


def pairs():
    everything = OPERANDS + LATER
    first = [i for i, (kind, _) in enumerate(everything) if i == 0 or everything[i - 1][0] != kind]
    for i, p in enumerate(everything):
        for j, q in enumerate(everything):
            if p[0] == q[0] or max(i, j) < len(OPERANDS) or i in first and j in first:
                yield p, q


def more_pairs():
    for p in MORE_KINDS:
        for q in MORE_KINDS:
            if p[0] == q[0]:
                yield p, q
    first = {kind: (kind, parameters) for kind, parameters in reversed(OPERANDS + LATER + MORE_KINDS)}
    for p, q in MORE_PAIRS:
        yield first[p], first[q]
    yield first["ContinuousBernoulli"], ("Uniform", {"low": [-1.0, -0.5], "high": [1.5, 1.25]})
    yield first["ContinuousBernoulli"], ("Uniform", {"low": [-1.0, 0.5], "high": [0.9, 1.25]})


def divergence_cases(listed):
    for (p_kind, p_parameters), (q_kind, q_parameters) in listed:
        p, q = leaves(p_parameters), leaves(q_parameters)
        of_p, of_q = made(p_kind, p), made(q_kind, q)
        try:
            result = D.kl_divergence(of_p, of_q)
        except NotImplementedError:
            continue
        # PyTorch gives its infinities the sizes of p alone.
        result = result.expand(torch.broadcast_shapes(of_p.batch_shape, of_q.batch_shape))
        finite = torch.isfinite(result)
        case = {"p": p_kind, "q": q_kind, "of_p": {n: kept(t) for n, t in p.items()}, "of_q": {n: kept(t) for n, t in q.items()},
                "sizes": list(result.shape), "values": [v if f else None for v, f in zip(result.reshape(-1).tolist(), finite.reshape(-1).tolist())]}
        # PyTorch's of Wishart have no gradient for p.
        if bool(finite.all()) and p_kind != "Wishart":
            result.sum().backward()
            case["gradients_of_p"], case["gradients_of_q"] = gradients(p), gradients(q)
        yield case


def slope(a, x):
    """d log(x) / d a of a draw x of a gamma distribution: the sum of x^n / (a .. (a + n)) (digamma(a + n + 1) - log x)."""
    mpmath.mp.dps = 60
    a, x = mpmath.mpf(a), mpmath.mpf(x)
    term, psi, total, n = 1 / a, mpmath.digamma(a + 1), mpmath.mpf(0), 0
    while n <= x - a or abs(term * (abs(psi - mpmath.log(x)) + 1)) > mpmath.mpf(10) ** -40:
        total += term * (psi - mpmath.log(x))
        n += 1
        psi += 1 / (a + n)
        term *= x / (a + n)
    return float(total)


def slopes():
    rows = []
    for a in (0.1, 0.5, 1.0, 1.7, 5.0, 40.0, 1000.0, 30000.0):
        gamma = D.Gamma(torch.tensor(a), torch.tensor(1.0))
        middle, sigma = a, a ** 0.5
        for x in (1e-30, 1e-3 * a, 0.3 * a, middle - 3 * sigma, middle - sigma, middle, middle + sigma, middle + 4 * sigma):
            if x <= 0 or float(gamma.log_prob(torch.tensor(x))) + float(mpmath.log(x)) < -30:
                continue
            exact = slope(a, x)
            by_torch = float(torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x))) / x
            assert abs(by_torch - exact) < 5e-3 * abs(exact), (a, x, by_torch, exact)
            rows.append([a, x, exact])
    return rows


def written(rows):
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":"), allow_nan=False) for row in rows) + "\n]"


sys.stdout.write('{"distributions":' + written([value_case(*case) for case in CASES]) + ',\n"divergences":' + written(divergence_cases(pairs())) +
                 ',\n"gamma_slopes":' + written(slopes()) + ',\n"more_distributions":' + written([value_case(*case) for case in MORE_CASES]) +
                 ',\n"more_divergences":' + written(divergence_cases(more_pairs())) + "}\n")
