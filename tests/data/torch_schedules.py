#!/usr/bin/env python3
"""Writes torch_schedules.json: the rates and momentums that CyclicLR and OneCycleLR of PyTorch 2.15 set in optimizers, and what these
make of a parameter in as many steps, in float64.

  torch_schedules.py > tests/data/torch_schedules.json"""
import json
import sys
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_default_dtype(torch.float64)
STEPS = 13

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.5, "nesterov": True, "weight_decay": 0.01},
    "RMSprop": {"lr": 0.1, "momentum": 0.5, "centered": True},
    "Adam": {"lr": 0.1, "betas": [0.7, 0.99]},
    "AdamW": {"lr": 0.1, "betas": [0.7, 0.99], "weight_decay": 0.1},
    "NAdam": {"lr": 0.1},
    "Muon": {"lr": 0.1, "momentum": 0.5},
}
SCHEDULES = [
    ("OneCycleLR", {"max_lr": 0.2, "total_steps": STEPS}),
    ("OneCycleLR", {"max_lr": 0.2, "total_steps": STEPS, "anneal_strategy": "linear", "base_momentum": 0.5, "max_momentum": 0.9}),
    ("OneCycleLR", {"max_lr": 0.2, "total_steps": STEPS, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.2, "total_steps": STEPS, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 4}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 2, "step_size_down": 3, "mode": "triangular2", "base_momentum": 0.6,
                  "max_momentum": 0.95}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "mode": "exp_range", "gamma": 0.9}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "cycle_momentum": False}),
]


def run(optimizer_name, name, options):
    p = torch.tensor([[0.7, -2.0, 0.1], [0.5, 1.5, -0.3]], requires_grad=True)
    optimizer = getattr(torch.optim, optimizer_name)([p], **OPTIMIZERS[optimizer_name])
    schedule = getattr(torch.optim.lr_scheduler, name)(optimizer, **options)
    group, rates, momentums = optimizer.param_groups[0], [], []
    for _ in range(STEPS):
        rates.append(float(group["lr"]))
        momentums.append(float(group["betas"][0] if "betas" in group else group["momentum"]))
        p.grad = 3 * p.detach() - 1
        optimizer.step()
        schedule.step()
    return {"optimizer": optimizer_name, "with": OPTIMIZERS[optimizer_name], "schedule": name, "options": options, "rates": rates,
            "momentums": momentums, "after": p.detach().reshape(-1).tolist()}


# Muon's iterations in float64, where PyTorch rounds to bfloat16.
to = torch.Tensor.to
torch.Tensor.to = lambda self, *a, **k: self.clone() if k.get("dtype") is torch.bfloat16 else to(self, *a, **k)
cases = [run(optimizer, *schedule) for optimizer in OPTIMIZERS for schedule in (SCHEDULES if optimizer in ("SGD", "Adam") else SCHEDULES[:1])]
json.dump(cases, sys.stdout, separators=(",", ":"))
print()
