#!/usr/bin/env python3
"""Writes torch_values_numeric.json: incomplete gamma, zeta and Bessel functions, binary fractions, differences and pools of norms, as
PyTorch 2 gives them, in float64.

    python3 tests/data/torch_values_numeric.py    # needs torch; writes the file beside this script

The tests read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import math

import torch
import torch.nn.functional as F

from torch_cases import D, SPECIAL, Const, case, ints, write, x

NAN, INF = math.nan, math.inf
S = torch.special


def t(*values, dtype=D):
    return torch.tensor(values, dtype=dtype)


def incomplete_gammas():
    # None with a above 20 and x near it, where PyTorch's are off by 1e-10.
    a_edges = t(0, 0, 2, 2, 2, -1, 2, INF, INF, INF, NAN, 1, 0, 0.5)
    x_edges = t(0, 1, 0, INF, -1, 1, NAN, 2, INF, 0, 1, NAN, INF, -INF)
    for op, fn in (("igamma", torch.igamma), ("igammac", torch.igammac)):
        case(op, [Const(x(2, 3, low=0.2, high=4.0)), x(2, 3, low=0.1, high=5.0)], fn)
        case(op, [Const(x(2, 1, 3, low=0.2, high=9.0)), x(4, 1, low=0.1, high=12.0)], fn)
        case(op, [Const(t(35.0, 60.0, 150.0, 31.0, 45.0)), t(20.0, 79.0, 200.0, 20.0, 60.0)], fn)
        case(op, [Const(t(1.0, 2.0, 3.0)), t(1e-3, 20.0, 700.0)], fn)
        case(op, [a_edges, x_edges], fn, grad=False)
        case(op, [Const(x(3, low=1.0, high=4.0)), ints(3, low=1, high=5)], fn, grad=False)


def zetas():
    case("zeta", [Const(x(2, 3, low=1.5, high=6.0)), x(2, 3, low=0.2, high=5.0)], S.zeta)
    case("zeta", [Const(t([[2.0], [3.0]])), x(3, low=0.2, high=9.0)], S.zeta)
    case("zeta", [3, x(4, low=0.3, high=6.0)], S.zeta)
    case("zeta", [Const(x(4, low=1.2, high=6.0)), 2.5], S.zeta, grad=False)
    case("zeta", [Const(t(2.0, 3.0, 2.0, 5.0, 4.0)), t(-0.5, -1.25, -7.5, -2.75, -12.125)], S.zeta)
    case("zeta", [t(1, 1, 0.5, -2, 2, 3, 2.5, 2.5, 2, INF, INF, 2, NAN, 2, 60), t(2, 0, 2, 1, 0, -4, -1.5, -2, -INF, 1, 0.5, 1e9, 1, NAN, 0.1)],
         S.zeta, grad=False)
    case("zeta", [ints(3, low=2, high=6), ints(3, low=1, high=6)], S.zeta)
    for p in (1, 2, 3, 5):
        case("mvlgamma", [x(2, 3, low=2.2, high=6.0), p], torch.mvlgamma, second=False)
    case("mvlgamma", [x(low=2.2, high=6.0), 2], torch.mvlgamma, second=False)
    case("mvlgamma", [t(0.3, -0.2, INF, NAN, 1.0), 2], torch.mvlgamma, grad=False)
    case("mvlgamma", [ints(3, low=2, high=9), 3], torch.mvlgamma)


def bessels():
    # None of bessel_j0 to bessel_y1 between 3 and 25, where PyTorch's are off by up to 1e-6.
    first, second = ("bessel_j0", "bessel_j1"), ("bessel_y0", "bessel_y1")
    for name in (*first, "spherical_bessel_j0"):
        fn, has_gradient = getattr(S, name), name in first
        for a in (x(2, 3), x(5, low=25.0, high=200.0), t(25.0, -25.0, 1e-5)):
            case(name, [a], fn, grad=has_gradient, second=False)
        case(name, [t(0.0, -0.0, NAN)], fn, grad=has_gradient, second=False)
    for kind in ("", "scaled_"):
        for order in (0, 1):
            name = f"{kind}modified_bessel_k{order}"
            case(name, [x(5, low=1.0, high=24.0)], getattr(S, name), grad=not kind, second=False)
    for name in (*second, *(f"{kind}modified_bessel_k{order}" for kind in ("", "scaled_") for order in (0, 1))):
        fn, has_gradient = getattr(S, name), not name.startswith("scaled")
        for a in (x(2, 3, low=0.05, high=2.0), x(5, low=25.0, high=200.0), t(2.0, 1.999, 25.0)):
            case(name, [a], fn, grad=has_gradient, second=False)
        case(name, [t(0.0, -0.0, -1.0, NAN)], fn, grad=False)


def fractions():
    apart = lambda v: tuple(torch.frexp(v))
    case("frexp", [x(2, 3)], apart)
    case("frexp", [x(4, low=-900.0, high=900.0)], apart)
    case("frexp", [x()], apart)
    case("frexp", [t(1.0, 2.0, 0.5, -0.25, 0.75, 1e-300, 1e300, 2.0**-1022, 5e-324, -(2.0**-1040), 1.7976931348623157e308)], apart, grad=False)
    case("frexp", [SPECIAL], apart, grad=False)
    case("frexp", [t(1.5, -3e38, 1e-45, 2e-39, 0.0, INF, dtype=torch.float32)], apart)
    case("frexp", [t(1.5, -6e4, 6e-8, 0.0, dtype=torch.float16)], apart)
    case("ldexp", [x(2, 3), x(2, 3, low=-4.0, high=4.0)], torch.ldexp)
    case("ldexp", [x(2, 1, 3), x(4, 1)], torch.ldexp)
    case("ldexp", [x(2, 3), ints(3, low=-4, high=4)], torch.ldexp)
    case("ldexp", [ints(3, low=-4, high=4), ints(3, low=-4, high=4)], torch.ldexp)
    case("ldexp", [t(True, False, dtype=torch.bool), t(3, -2, dtype=torch.int32)], torch.ldexp)
    case("ldexp", [t(1.0, -1.5, 3.0, INF, NAN, 0.0), ints(6, low=-300, high=300)], torch.ldexp, grad=False)
    case("ldexp", [t(0.5, 1.0, dtype=torch.float16), t(3, 4, dtype=torch.int32)], torch.ldexp)


def norms_of_windows():
    sizes = {1: (6,), 2: (5, 4), 3: (3, 4, 4)}
    for n, size in sizes.items():
        op, fn = f"lp_pool{n}d", getattr(F, f"lp_pool{n}d")
        # PyTorch's take numbers where there is one dimension.
        own = lambda v, p, k, s=None, c=False, fn=fn, n=n: fn(v, p, k[0] if n == 1 else k, (s[0] if n == 1 else s) if s else None, c)
        case(op, [x(1, 2, *size, low=0.2), 2.0, [2] * n], own)
        case(op, [x(2, *size, low=0.2, high=2.0), 3.0, [2] * n, [1] * n], own)
        case(op, [x(1, 2, *size, low=0.2, high=2.0), 1.5, [3] * n, [2] * n, True], own)
        case(op, [x(1, 1, *size), 2.0, [2] * n, [], False], own)
        case(op, [x(1, 2, *size, low=0.5, high=2.0), -1.0, [2] * n], own)
    case("lp_pool2d", [x(1, 1, 4, 4), 1.0, [2, 2]], lambda v, p, k: F.lp_pool2d(v, p, k))
    for p in (INF, -INF):
        case("lp_pool2d", [x(1, 1, 4, 4), p, [2, 2]], lambda v, p, k: F.lp_pool2d(v, p, k))
    case("lp_pool1d", [t([[0.0, 0.0, 1.0, -1.0]]), 3.0, [2]], lambda v, p, k: F.lp_pool1d(v, p, k[0]), second=False)


def differences():
    def grad(v, spacing=[1.0], dims=[], order=1):
        spacing = spacing[0] if len(spacing) == 1 else spacing
        return list(torch.gradient(v, spacing=spacing, **({"dim": dims} if dims else {}), edge_order=order))

    def at(v, places, dims=[], order=1):
        places = [p.tensor if isinstance(p, Const) else p for p in places]
        return list(torch.gradient(v, spacing=places, **({"dim": dims} if dims else {}), edge_order=order))

    case("gradient", [x(5)], grad)
    case("gradient", [x(2)], grad)
    case("gradient", [x(3, 4)], grad)
    case("gradient", [x(3, 4), [0.5]], grad)
    case("gradient", [x(3, 4), [0.5, 2.0], [], 2], grad)
    case("gradient", [x(3, 4, 3), [0.5], [1], 2], grad)
    case("gradient", [x(3, 4, 3), [0.5, -1.5], [-1, 0]], grad)
    case("gradient", [ints(5), [2.0]], grad)
    case("gradient", [ints(5), [2.0], [0], 2], grad)
    case("gradient_at", [x(5), [t(0.0, 0.5, 2.0, 2.25, 4.0)]], at)
    case("gradient_at", [x(2), [t(0.0, 0.5)]], at)
    case("gradient_at", [x(3, 4), [t(0.0, 1.5, 2.0), t(-1.0, 0.0, 3.0, 3.5)], [], 2], at)
    case("gradient_at", [x(3, 4), [t(-1.0, 0.0, 3.0, 3.5)], [-1]], at)
    case("gradient_at", [x(3), [torch.tensor([1, 2, 5])]], at)
    powers = lambda v, n=None, i=False: torch.vander(v, n, increasing=i)
    for extra in ([], [2], [5, True], [0], [1, False]):
        case("vander", [x(4), *extra], powers, grad=False)
    # PyTorch's own refuses to be differentiated.
    case("vander", [t(0.0, 1.0, -2.0), 4, True], lambda v, n, i: v.unsqueeze(1) ** torch.arange(n), second=False)
    case("vander", [x(0)], powers, grad=False)
    case("vander", [ints(3, low=-4, high=4), 4], powers)
    case("vander", [t(100, 16, dtype=torch.uint8), 3, True], powers)
    case("vander", [t(True, False, dtype=torch.bool), 3], powers)


def main():
    incomplete_gammas()
    zetas()
    bessels()
    fractions()
    norms_of_windows()
    differences()
    write("torch_values_numeric.json")


main()
