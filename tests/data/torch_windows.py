#!/usr/bin/env python3
"""Writes torch_windows.json: the windows of torch.signal.windows as PyTorch 2 gives them, in float64 where nothing else is said.

    python3 tests/data/torch_windows.py    # needs torch; writes the file beside this script

tests/ops/signal_test.cpp reads it. What a case is stands in torch_cases.py; the arguments are M, the coefficients of general_cosine,
what else a window has, sym and dtype.
"""
import torch

from torch_cases import D, case, write

W = torch.signal.windows
SIZES = ((0, True), (1, True), (1, False), (2, True), (2, False), (7, True), (8, False))


def window(name, m, option, value, sym, dtype=D):
    """option None: the window has none of its own."""
    f = getattr(W, name)
    if option is None:
        case(name, [m, sym, dtype], lambda m, s, d: f(m, sym=s, dtype=d))
    else:
        case(name, [m, value, sym, dtype], lambda m, v, s, d: f(m, **{option: v}, sym=s, dtype=d))


for m, sym in SIZES:
    for name in ("bartlett", "blackman", "cosine", "hamming", "hann", "nuttall"):
        window(name, m, None, None, sym)
    for beta in (12.0, 0.0, 2.5):
        window("kaiser", m, "beta", beta, sym)
    for std in (1.0, 0.4, 3.0):
        window("gaussian", m, "std", std, sym)
    for alpha in (0.54, 0.5, 0.7):
        window("general_hamming", m, "alpha", alpha, sym)
    for a in ([0.46, 0.23, 0.31], [1.0], [0.5, 0.5, -0.25, 1.5]):
        window("general_cosine", m, "a", a, sym)
    for tau in (1.0, 2.5):
        case("exponential", [m, None, tau, sym, D],
             lambda m, c, t, s, d: W.exponential(m, center=c, tau=t, sym=s, dtype=d))
for center in (0.0, 2.5, -1.0):
    case("exponential", [6, center, 0.5, False, D], lambda m, c, t, s, d: W.exponential(m, center=c, tau=t, sym=s, dtype=d))
for name in ("bartlett", "cosine", "nuttall"):
    window(name, 6, None, None, True, torch.float32)
write("torch_windows.json")
