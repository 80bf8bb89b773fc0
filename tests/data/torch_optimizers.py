#!/usr/bin/env python3
"""Writes torch_optimizers.json: what PyTorch 2.15's optimizers make of two parameters in 20 steps, in float64, and of LBFGS in some
steps on Rosenbrock's function. LAMB and Lion, which PyTorch has not, are their papers' formulas in numpy. Muon's iterations are taken in
float64, where PyTorch rounds to bfloat16.

  torch_optimizers.py > tests/data/torch_optimizers.json"""
import json
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
STEPS = 20


def start(name):
    if name == "Muon":
        return [np.array([[0.7, -2.0, 0.1], [0.5, 1.5, -0.3]]), np.array([[0.2, -0.4], [1.0, 0.3], [-0.6, 0.8]])]
    return [np.array([[0.7, -2.0, 0.0, 5.0], [0.1, 0.5, -0.3, 1.5], [2.0, -1.0, 0.25, -0.75]]), np.array([1.0, -3.0, 0.5])]


def gradient(p, t):
    """Of step t, counted from 1; element i of the flat parameter."""
    i = np.arange(p.size, dtype=np.float64).reshape(p.shape)
    return 1.5 * p - 0.5 + 0.3 * np.cos(t + i)


def by_torch(name, options):
    parameters = [torch.tensor(p, requires_grad=True) for p in start(name)]
    # Counts and rates of the state have the default's precision, float32 by itself.
    torch.set_default_dtype(torch.float32 if name == "ASGD" else torch.float64)
    optimizer = getattr(torch.optim, name)(parameters, **options)
    kept = {}
    for t in range(1, STEPS + 1):
        for p in parameters:
            p.grad = torch.tensor(gradient(p.detach().numpy(), t))
        optimizer.step()
        if t in (1, STEPS):
            kept[str(t)] = [p.detach().reshape(-1).tolist() for p in parameters]
    return kept


def lion(p, state, g, t, lr=1e-4, betas=(0.9, 0.99), weight_decay=0, maximize=False):
    g = -g if maximize else g
    m = state.get("m", np.zeros_like(p))
    update = np.sign(betas[0] * m + (1 - betas[0]) * g)
    state["m"] = betas[1] * m + (1 - betas[1]) * g
    return p - lr * (update + weight_decay * p)


def lamb(p, state, g, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0, maximize=False):
    g = -g if maximize else g
    state["m"] = betas[0] * state.get("m", np.zeros_like(p)) + (1 - betas[0]) * g
    state["v"] = betas[1] * state.get("v", np.zeros_like(p)) + (1 - betas[1]) * g * g
    m, v = state["m"] / (1 - betas[0] ** t), state["v"] / (1 - betas[1] ** t)
    update = m / (np.sqrt(v) + eps) + weight_decay * p
    of_p, of_update = np.linalg.norm(p), np.linalg.norm(update)
    trust = of_p / of_update if of_p > 0 and of_update > 0 else 1.0
    return p - lr * trust * update


def by_formula(name, options):
    parameters, kept = start(name), {}
    states = [{} for _ in parameters]
    for t in range(1, STEPS + 1):
        formula = {"Lion": lion, "LAMB": lamb}[name]
        parameters = [formula(p, s, gradient(p, t), t, **options) for p, s in zip(parameters, states)]
        if t in (1, STEPS):
            kept[str(t)] = [p.reshape(-1).tolist() for p in parameters]
    return kept


def rosenbrock(options, steps=4):
    x, y = torch.tensor([-1.2, 1.0], requires_grad=True), torch.tensor([[0.5], [-0.8]], requires_grad=True)
    optimizer = torch.optim.LBFGS([x, y], **options)
    sign = -1 if options.get("maximize") else 1

    def closure():
        optimizer.zero_grad()
        all = torch.cat([x, y.reshape(-1)])
        loss = sign * (100 * (all[1:] - all[:-1] ** 2) ** 2 + (1 - all[:-1]) ** 2).sum()
        loss.backward()
        return loss

    kept = {"losses": [float(optimizer.step(closure)) for _ in range(steps)]}
    state = optimizer.state[x]
    kept.update(x=x.tolist(), y=y.reshape(-1).tolist(), func_evals=state["func_evals"], n_iter=state["n_iter"])
    return kept


CASES = {
    "RMSprop": [{"lr": 0.05}, {"lr": 0.02, "momentum": 0.9}, {"lr": 0.02, "centered": True, "alpha": 0.9},
                {"lr": 0.02, "centered": True, "momentum": 0.5, "weight_decay": 0.1, "eps": 1e-3},
                {"lr": 0.01, "weight_decay": 0.3, "maximize": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}],
    "Adamax": [{"lr": 0.1}, {"lr": 0.1, "betas": [0.5, 0.9], "eps": 0.1, "weight_decay": 0.3}, {"lr": 0.01, "maximize": True}],
    "NAdam": [{"lr": 0.1}, {"lr": 0.1, "betas": [0.5, 0.9], "weight_decay": 0.3, "momentum_decay": 0.1},
              {"lr": 0.05, "weight_decay": 0.2, "decoupled_weight_decay": True, "maximize": True}],
    "RAdam": [{"lr": 0.1}, {"lr": 0.1, "betas": [0.5, 0.9], "eps": 0.1, "weight_decay": 0.3},
              {"lr": 0.05, "weight_decay": 0.2, "decoupled_weight_decay": True, "maximize": True}],
    "LAMB": [{"lr": 0.05}, {"lr": 0.05, "betas": [0.5, 0.9], "eps": 0.1, "weight_decay": 0.3}, {"lr": 0.01, "maximize": True}],
    "Lion": [{"lr": 0.05}, {"lr": 0.05, "betas": [0.5, 0.9], "weight_decay": 0.3}, {"lr": 0.01, "maximize": True}],
    "Adafactor": [{"lr": 0.1}, {"lr": 0.05, "beta2_decay": -0.5, "d": 2.0, "weight_decay": 0.3},
                  {"lr": 0.05, "eps": [0.1, 0.5], "maximize": True}],
    "Muon": [{"lr": 0.1}, {"lr": 0.1, "nesterov": False, "momentum": 0.5, "weight_decay": 0.3},
             {"lr": 0.05, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
             {"lr": 0.05, "adjust_lr_fn": "spectral_unclamped", "ns_coefficients": [2.0, -1.5, 0.5]}],
    "Rprop": [{"lr": 0.1}, {"lr": 0.05, "etas": [0.3, 1.5], "step_sizes": [0.02, 0.3]}, {"lr": 0.01, "maximize": True}],
    "ASGD": [{"lr": 0.1}, {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 5.0, "weight_decay": 0.3},
             {"lr": 0.02, "lambd": 0.1, "t0": 0.0, "maximize": True}],
    "Adam": [{"lr": 0.1, "amsgrad": True}, {"lr": 0.1, "betas": [0.5, 0.9], "eps": 0.1, "weight_decay": 0.3, "amsgrad": True},
             {"lr": 0.05, "betas": [0.9, 0.7], "amsgrad": True, "maximize": True}],
    "AdamW": [{"lr": 0.1, "betas": [0.8, 0.7], "amsgrad": True}, {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True, "maximize": True}],
}
LBFGS = [{"lr": 0.001}, {"lr": 0.002, "max_iter": 7, "history_size": 3}, {"line_search_fn": "strong_wolfe"},
         {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 8, "history_size": 2},
         {"line_search_fn": "strong_wolfe", "max_iter": 4, "maximize": True}]

to = torch.Tensor.to
torch.Tensor.to = lambda self, *a, **k: self.clone() if k.get("dtype") is torch.bfloat16 else to(self, *a, **k)
steps = [{"optimizer": name, "options": options, "after": (by_formula if name in ("LAMB", "Lion") else by_torch)(name, options)}
         for name, list in CASES.items() for options in list]
closures = [{"options": options, **rosenbrock(options)} for options in LBFGS]
json.dump({"steps": steps, "closures": closures}, sys.stdout, separators=(",", ":"))
print()
