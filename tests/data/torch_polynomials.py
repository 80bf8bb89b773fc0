#!/usr/bin/env python3
"""Writes torch_polynomials.json: the orthogonal polynomials of torch.special as PyTorch 2 gives them, in float64 where nothing else is said.

    python3 tests/data/torch_polynomials.py    # needs torch; writes the file beside this script

tests/ops/polynomials_test.cpp reads it. What a case is stands in torch_cases.py; the arguments are x and n. PyTorch has no gradients of
these functions.
"""
import math

import torch

from torch_cases import D, case, ints, write, x

CHEBYSHEV = [f"chebyshev_polynomial_{kind}" for kind in "tuvw"]
NAMES = CHEBYSHEV + [f"shifted_{name}" for name in CHEBYSHEV] + [
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]

# The ends of the intervals, where PyTorch has values of their own, what is within and what is beyond.
PLACES = torch.tensor([-1.0, 0.0, 1.0, 0.5, -0.25, 0.875, 1.5, -3.25, 1e-3, 40.0], dtype=D)
EXTREMES = torch.tensor([math.inf, -math.inf, math.nan, 1e200], dtype=D)

for name in NAMES:
    f = getattr(torch.special, name)
    for n in (-2, 0, 1, 2, 3, 6, 13):
        case(name, [PLACES, n], f, grad=False)
    for n in (-1, 0, 3):
        case(name, [EXTREMES, n], f, grad=False)
    case(name, [x(2, 1), torch.tensor([3, -1, 0, 8, 1])], f, grad=False)
    case(name, [x(3), torch.tensor(4, dtype=torch.int32)], f, grad=False)
    case(name, [x(0), torch.zeros(0, dtype=torch.int64)], f, grad=False)
    case(name, [ints(4), 3], f, grad=False)
    case(name, [ints(4).to(torch.uint8), ints(4)], f, grad=False)
    case(name, [x(4).float(), 4], f, grad=False)
write("torch_polynomials.json")
