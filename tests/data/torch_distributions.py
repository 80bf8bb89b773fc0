#!/usr/bin/env python3
"""Writes torch_distributions.json: what PyTorch's distributions give in float64 (log_prob, entropy, mean, variance and the gradients
of a sum of these), its divergences with their gradients, and how the draws of gamma distributions move with the concentration,
computed with 60 digits by mpmath and compared here with PyTorch's own approximation.

  torch_distributions.py > tests/data/torch_distributions.json"""
import json
import sys

import mpmath
import torch
import torch.distributions as D

torch.set_default_dtype(torch.float64)

MATRIX = [[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.75]]
LOWER = [[1.5, 0, 0], [0.4, 0.8, 0], [-1.0, 0.3, 2.0]]
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


def made(kind, p):
    if kind == "Independent":
        return D.Independent(D.Normal(**p), 1)
    if kind == "MixtureOfNormals":
        return D.MixtureSameFamily(D.Categorical(p["probs"]), D.Normal(p["loc"], p["scale"]))
    if kind == "MixtureOfVectors":
        return D.MixtureSameFamily(D.Categorical(logits=p["logits"]), D.MultivariateNormal(p["loc"], scale_tril=p["scale_tril"]))
    return getattr(D, kind)(**p)


def leaves(parameters):
    return {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in parameters.items()}


def kept(t):
    return {"sizes": list(t.shape), "values": [float("%.15g" % v) for v in t.detach().reshape(-1).tolist()]}


def gradients(tensors):
    return {name: kept(torch.zeros_like(t) if t.grad is None else t.grad) for name, t in tensors.items()}


def value_case(kind, parameters, value):
    tensors = leaves(parameters)
    distribution = made(kind, tensors)
    x = torch.tensor(value, dtype=torch.float64)
    x.requires_grad_(kind not in ("Bernoulli", "Categorical"))
    case = {"kind": kind, "parameters": {n: kept(t) for n, t in tensors.items()}, "value": kept(x)}
    log_prob = distribution.log_prob(x)
    case["log_prob"] = kept(log_prob)
    loss = log_prob.sum()
    factors = {"entropy": 0.5, "mean": 0.25, "variance": 0.125}
    for name, factor in factors.items():
        if name == "entropy" and kind.startswith("Mixture") or name != "entropy" and kind == "Categorical":
            continue
        result = getattr(distribution, name)
        result = result() if callable(result) else result
        case[name] = kept(result)
        loss = loss + factor * result.sum()
    loss.backward()
    case["gradients"] = gradients(tensors)
    if x.grad is not None:
        case["gradient_of_value"] = kept(x.grad)
    return case


def divergence_cases():
    for p_kind, p_parameters in OPERANDS:
        for q_kind, q_parameters in OPERANDS:
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
            if bool(finite.all()):
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


sys.stdout.write('{"distributions":' + written([value_case(*case) for case in CASES]) + ',\n"divergences":' + written(divergence_cases()) +
                 ',\n"gamma_slopes":' + written(slopes()) + "}\n")
