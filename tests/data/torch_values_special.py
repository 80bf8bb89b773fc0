#!/usr/bin/env python3
"""Writes torch_values_special.json: special functions, statistics, counts and products, as PyTorch 2 gives them, in float64.

    python3 tests/data/torch_values_special.py    # needs torch; writes the file beside this script

The tests read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import math

import torch
import torch.nn.functional as F

from torch_cases import D, Const, case, ints, write, x

INT32, UINT8, INT64, F32 = torch.int32, torch.uint8, torch.int64, torch.float32
NAN = math.nan


def t(*values, dtype=D):
    return torch.tensor(values, dtype=dtype)


class Psi(torch.autograd.Function):
    """polygamma by the zeta function: PyTorch's own of order 1 has 10 digits."""

    @staticmethod
    def forward(n, a):
        return torch.digamma(a) if n == 0 else torch.special.zeta(torch.tensor(n + 1.0, dtype=D), a) * ((-1) ** (n + 1) * math.factorial(n))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[0]
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx, grad):
        return None, grad * Psi.apply(ctx.n + 1, ctx.saved_tensors[0])


class LogGamma(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return torch.lgamma(a)

    @staticmethod
    def backward(ctx, grad):
        return grad * Psi.apply(0, ctx.saved_tensors[0])


def gammas():
    digamma = lambda a: Psi.apply(0, a)
    inside = [x(2, 3, low=0.1, high=4.0), x(5, low=-5.0, high=-0.1), x(4, low=4.0, high=30.0), x(4, low=30.0, high=300.0),
              t(0.5, 1.0, 1.5, 2.0), t(6.5, 7.5, 9.5, 10.5), t(-0.5, -1.5, -7.25), x()]
    for a in inside:
        case("lgamma", [a], LogGamma.apply)
        case("digamma", [a], digamma)
    edges = t(0.0, -0.0, math.inf, NAN, 1e-300, 1e300, 1.0, -1.0, -2.0)
    case("lgamma", [t(0.0, math.inf, -math.inf, NAN, 1e-300, 1e300, 1.0, -1.0, -2.0)], torch.lgamma, grad=False)
    case("digamma", [edges], torch.digamma, grad=False)
    for n in (0, 1, 2, 3, 5):
        for a in (x(4, low=0.2, high=5.0), x(3, low=5.0, high=40.0), x(2, 2, low=1.0, high=12.0)):
            case("polygamma", [n, a], Psi.apply)
    case("polygamma", [1, x(4, low=-3.9, high=-0.1)], Psi.apply)
    case("polygamma", [2, t(-0.5, -1.25, -2.75)], Psi.apply)
    case("polygamma", [3, t(-0.5, -1.25, -2.75)], Psi.apply)
    case("polygamma", [4, t(-0.3, -1.6)], Psi.apply)
    case("polygamma", [1, t(0.0, math.inf, NAN)], torch.polygamma, grad=False)


def errors_and_bessels():
    for a in (x(2, 3, low=-0.99, high=0.99), x(4, low=-0.6, high=0.6), t(0.0, 1e-9, 0.5, -0.5, 0.999, -0.9999), x(low=0.1, high=0.4),
              t(0.999999, -0.99999999)):
        case("erfinv", [a], torch.erfinv)
    case("erfinv", [t(1.0, -1.0, 1.5, NAN, -math.inf, 0.0)], torch.erfinv, grad=False)
    for op, fn in (("i0", torch.i0), ("i1", torch.special.i1)):
        for a in (x(2, 3), x(5, low=-12.0, high=12.0), x(4, low=15.0, high=25.0), t(0.5, 0.0, -0.5), t(-30.0, 50.0)):
            second = not (op == "i1" and 0.0 in a) and a.abs().max() < 20
            case(op, [a], fn, second=second)
        case(op, [t(NAN, 0.0, 300.0)], fn, grad=False)


def quotients():
    case("xlogy", [x(2, 3), x(2, 3, low=0.1, high=4.0)], torch.xlogy)
    case("xlogy", [x(2, 1, 3), x(4, 1, low=0.2, high=3.0)], torch.xlogy)
    case("xlogy", [t(0.0, 0.0, 0.0, 1.0, 2.0, NAN), t(0.0, NAN, 3.0, 0.0, math.inf, 1.0)], torch.xlogy, grad=False)
    case("xlogy", [t(0.0, 0.0, 2.0), t(2.0, 0.5, 1.5)], torch.xlogy)
    case("xlogy", [ints(4), x(4, low=0.1, high=3.0)], torch.xlogy)
    case("xlogy", [x(3, low=0.1), 2.5], torch.xlogy)
    for a in (x(2, 3), x(6, low=-8.0, high=8.0), t(0.5, -0.5, 1.5), x()):
        case("sinc", [a], torch.sinc)
    case("sinc", [t(0.0, 0.25)], torch.sinc, second=False)
    case("sinc", [t(0.0, -0.0, NAN, 1.0, -1.0)], torch.sinc, grad=False)
    case("sinc", [ints(4)], torch.sinc)
    for a in (x(2, 3, low=0.05, high=0.95), t(0.5, 0.25, 0.001)):
        case("logit", [a], torch.logit)
        case("logit", [a, 0.25], torch.logit)
        case("logit", [a, 0.1], torch.logit)
    case("logit", [t(0.0, 1.0, 1.5, -0.5, NAN)], torch.logit, grad=False)
    case("logit", [t(0.0, 1.0, 1.5, -0.5), 0.2], torch.logit)
    for a in (x(2, 4), x(4, 2, 3), x(2)):
        for dim in (-1, 0):
            if a.size(dim) % 2 == 0:
                case("glu", [a, dim], F.glu)
    case("glu", [x(3, 6)], F.glu)


def signs():
    for a, v in ((t(-1.5, 0.0, 2.0, -0.0), t(0.5, 0.25, 3.0, 1.0)), (x(2, 3), x(3)), (t(0.0, NAN, math.inf), x())):
        case("heaviside", [a, v], torch.heaviside, grad=False)
    case("heaviside", [ints(6, low=-2, high=3), ints(6)], torch.heaviside)
    case("heaviside", [t(0, 3, -2, dtype=INT32), t(7, 7, 7, dtype=INT32)], torch.heaviside)
    for a, b in ((x(2, 3), x(2, 3)), (x(2, 1, 3), x(4, 1)), (t(0.0, 1.0, -2.0, 3.0), t(-0.0, -0.0, 0.0, -math.inf)), (x(3), -0.5)):
        case("copysign", [a, b], torch.copysign, second=0.0 not in a)
    case("copysign", [ints(4), t(-1.0, 1.0, -0.0, 2.0)], torch.copysign, grad=False)
    case("copysign", [t(NAN, math.inf, 1.0), t(-1.0, -1.0, 2.0)], torch.copysign, grad=False)
    least, tiny = 5e-324, 2.2250738585072014e-308
    for a, b in ((x(2, 3), x(2, 3)), (t(0.0, 0.0, 1.0, 1.0, -1.0, 2.0), t(1.0, -1.0, 2.0, 0.0, 0.0, 2.0)),
                 (t(least, tiny, tiny, -tiny, 1.5 * tiny, 4 * tiny), t(0.0, 0.0, 1.0, 0.0, 0.0, 1.0)),
                 (t(math.inf, -math.inf, NAN, 1.0, 1.7976931348623157e308), t(0.0, 0.0, 1.0, NAN, math.inf)),
                 (t(1e-290, 1e-281, 1e-279, 1e300), t(1.0, 0.0, 0.0, 0.0)), (x(3, 1), x(2))):
        case("nextafter", [a, b], torch.nextafter, grad=False)
    case("nextafter", [t(1.0, 2.0, 0.0, 1e-40, 3e38, dtype=F32), t(2.0, 1.0, -1.0, 1.0, 4.0, dtype=F32)], torch.nextafter, grad=False)


def distinct(*sizes):
    """Values that all differ, in any order."""
    n = math.prod(sizes)
    return (torch.randperm(n).to(D) * 0.37 - n * 0.15).mul(100).round().div(100).reshape(sizes)


def whole(fn):
    """median of all elements, whose flat index PyTorch does not say: that of the only one."""
    def both(a):
        values = fn(a)
        return values, (a.reshape(-1) == values).nonzero().reshape(())
    return both


def places():
    samples = [distinct(5), distinct(3, 4), distinct(2, 3, 4), distinct(2, 5, 1)]
    for a in samples:
        for dim in range(-1, a.dim() - 1):
            for keepdim in (False, True):
                case("median", [a, dim, keepdim], torch.median)
                case("nanmedian", [a, dim, keepdim], torch.nanmedian)
            n = a.size(dim)
            for k in sorted({1, (n + 1) // 2, n}):
                case("kthvalue", [a, k, dim, k % 2 == 0], torch.kthvalue)
        case("median", [a], whole(torch.median))
        case("nanmedian", [a], whole(torch.nanmedian))
        case("kthvalue", [a, 1], torch.kthvalue)
    holes = t(1.0, NAN, 3.0, -2.0, NAN, 0.5)
    table = torch.stack([holes, distinct(6), torch.full((6,), NAN, dtype=D)])
    case("median", [table, 1], torch.median, grad=False)
    case("nanmedian", [table[:2], 1], torch.nanmedian, grad=False)
    case("nanmedian", [holes, 0], torch.nanmedian)
    case("kthvalue", [holes, 2], torch.kthvalue)
    case("median", [t(3, 1, 2, 5), 0], torch.median)
    case("median", [t(3, 1, 2, dtype=INT32), 0, True], torch.median)
    case("median", [x(), 0], torch.median)
    case("kthvalue", [t(3, 1, 2, 5), 2], torch.kthvalue)
    case("kthvalue", [x(), 1, 0], torch.kthvalue)
    few = [ints(7, high=3).to(D), ints(3, 6, high=3).to(D), ints(2, 4, 3, high=2).to(D), ints(8, high=4), ints(3, 5, high=2).to(INT32)]
    for a in few:
        for dim in range(-1, a.dim() - 1):
            for keepdim in (False, True):
                case("mode", [a, dim, keepdim], torch.mode)
    case("mode", [few[0]], torch.mode)
    case("mode", [x(), 0], torch.mode)
    case("mode", [t(2.5)], torch.mode)


def quantiles():
    table = torch.stack([t(1.0, NAN, 3.0, -2.0, NAN), distinct(5), t(NAN, NAN, NAN, NAN, NAN)])
    for op, fn in (("quantile", torch.quantile), ("nanquantile", torch.nanquantile)):
        def of(a, q, dim=None, keepdim=False, interpolation="linear", fn=fn):
            q = q.tensor if isinstance(q, Const) else q
            return fn(a, q, dim=dim, keepdim=keepdim, interpolation=interpolation)

        case(op, [distinct(5), 0.5], of)
        case(op, [distinct(3, 4), 0.25, 1], of)
        case(op, [distinct(3, 5), Const(t(0.0, 0.25, 1.0)), 1], of)
        case(op, [distinct(3, 4), Const(t(0.25, 0.6)), 0, True], of)
        case(op, [distinct(2, 3, 4), Const(t(0.3, 0.9)), 1], of)
        case(op, [distinct(2, 3, 4), 0.3, 0, True], of)
        case(op, [distinct(2, 3, 4), Const(t(0.1, 0.7, 0.9)), None, True], of)
        case(op, [distinct(2, 3), Const(t(0.4)[0]), None, True], of)
        case(op, [distinct(6), Const(t(0.3))], of)
        for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
            case(op, [distinct(2, 6), 0.35, 1, False, interpolation], of)
            case(op, [distinct(4), 0.9, 0, False, interpolation], of)
        case(op, [table, 0.5, 1], of, grad=False)
        case(op, [table, Const(t(0.25, 0.75)), 0], of, grad=False)
        case(op, [t(7.5), 0.5, 0], of)


def folds():
    holes = x(3, 4)
    holes[0, 1] = holes[2, 0] = holes[2, 3] = NAN
    table = x(2, 3, 4)
    for a in (holes, table, x(5)):
        for dims in ([], [-1], [0]):
            for keepdim in (False, True):
                d = dims or None
                case("nansum", [a, dims, keepdim], lambda s, _, k, d=d: torch.nansum(s, d, keepdim=k))
                case("nanmean", [a, dims, keepdim], lambda s, _, k, d=d: torch.nanmean(s, d, keepdim=k))
    case("nansum", [ints(3, 4), [1]], lambda s, d: torch.nansum(s, d))
    case("nanmean", [t(NAN, NAN)], torch.nanmean, grad=False)
    for a in (table, distinct(4), t(1.0, 3.0, 3.0, 1.0, 2.0)):
        for dim in (None, 0, -1):
            for keepdim in (False, True):
                case("aminmax", [a, dim, keepdim], lambda s, d, k: tuple(torch.aminmax(s, dim=d, keepdim=k)))
    case("aminmax", [ints(3, 4), 1], lambda s, d: tuple(torch.aminmax(s, dim=d)))
    for dims, correction, keepdim in (([1], 1, False), ([0, 2], 0, True), ([-1], 2, False), ([0, 1, 2], 1, True)):
        case("std_mean", [table, dims, correction, keepdim], lambda s, d, c, k: torch.std_mean(s, d, correction=c, keepdim=k))
    for p in (1.0, 2.0, 3.0):
        for dim in (0, 1, -1):
            case("renorm", [table, p, dim, 1.5], lambda s, p, d, m: torch.renorm(s, p, d if d >= 0 else d + 3, m))
    case("renorm", [x(3, 2), 2.0, 0, 100.0], torch.renorm)


def running():
    repeated = t(1.0, 3.0, 3.0, 2.0, 5.0, 5.0, -1.0)
    table = distinct(3, 4)
    for op, fn in (("cummax", torch.cummax), ("cummin", torch.cummin)):
        for a in (distinct(5), table, distinct(2, 3, 4), repeated, repeated.reshape(7, 1)):
            for dim in range(-1, a.dim() - 1):
                case(op, [a, dim], fn)
        case(op, [t(1.0, NAN, 3.0, -2.0, NAN, 7.0), 0], fn, grad=False)
        case(op, [t(4, 4, 2, 7, 7, 1), 0], fn)
        case(op, [x(), 0], fn)
        case(op, [x(1, 3), 0], fn)
    for a in (x(5), x(3, 4), x(2, 3, 4), x(1), x(4, low=-300.0, high=300.0)):
        for dim in range(-1, a.dim() - 1):
            case("logcumsumexp", [a, dim], torch.logcumsumexp)
    case("logcumsumexp", [t(-math.inf, 0.0, 1.0, -math.inf, NAN, 1.0), 0], torch.logcumsumexp, grad=False)
    case("logcumsumexp", [t(0.0, math.inf, 1.0), 0], torch.logcumsumexp, grad=False)
    case("logcumsumexp", [x(), 0], torch.logcumsumexp)
    for a, n, dim in ((x(6), 1, -1), (x(3, 5), 2, 1), (x(3, 5), 1, 0), (x(4), 3, 0), (x(2), 3, 0), (x(3), 0, 0), (x(2, 3, 4), 1, -2)):
        case("diff", [a, n, dim], torch.diff)
    case("diff", [x(3, 4), 1, 1, x(3, 2), x(3, 1)], torch.diff)
    case("diff", [x(4), 2, -1, None, x(2)], torch.diff)
    case("diff", [x(4)], torch.diff)
    case("diff", [t(1, 4, 2)], torch.diff)
    case("diff", [torch.tensor([True, False, False, True])], torch.diff)


def counts():
    counted = lambda a, weights=None, minlength=0: torch.bincount(a, weights, minlength)
    case("bincount", [ints(8, high=5)], counted)
    case("bincount", [ints(6, high=3), None, 7], counted)
    case("bincount", [ints(6, high=4), Const(x(6)), 2], counted, grad=False)
    case("bincount", [ints(6, high=4), Const(x(6).to(F32))], counted, grad=False)
    case("bincount", [ints(5, high=4).to(INT32), ints(5)], counted, grad=False)
    case("bincount", [ints(5, high=4).to(UINT8)], counted)
    case("bincount", [torch.tensor([], dtype=INT64)], counted)
    case("bincount", [torch.tensor([], dtype=INT64), None, 3], counted)
    histogram = lambda a, bins=100, low=0, high=0: torch.histc(a, bins, min=low, max=high)
    for a in (x(20), x(3, 4), t(0.0, 1.0, 2.0, 3.0, 4.0)):
        case("histc", [a, 5], histogram, grad=False)
        case("histc", [a, 4, -1.0, 1.0], histogram, grad=False)
        case("histc", [a, 3, 0.25, 2.75], histogram, grad=False)
    case("histc", [t(2.0, 2.0), 4], histogram, grad=False)
    case("histc", [t(NAN, 0.5, math.inf, -5.0), 4, 0.0, 1.0], histogram, grad=False)
    case("histc", [x(4)], histogram, grad=False)
    edges = t(-1.0, 0.0, 0.5, 0.5, 2.0)
    values = t(-2.0, -1.0, 0.5, 0.6, 2.0, 9.0, NAN)
    for right in (False, True):
        case("searchsorted", [edges, values, False, right], lambda s, v, i, r: torch.searchsorted(s, v, out_int32=i, right=r), grad=False)
        case("searchsorted", [edges, values.reshape(7, 1), True, right],
             lambda s, v, i, r: torch.searchsorted(s, v, out_int32=i, right=r), grad=False)
        case("searchsorted", [x(3, 6).sort(1).values, x(3, 4), False, right],
             lambda s, v, i, r: torch.searchsorted(s, v, out_int32=i, right=r), grad=False)
        case("searchsorted", [x(2, 2, 5).sort(-1).values, x(2, 2, 3), False, right],
             lambda s, v, i, r: torch.searchsorted(s, v, out_int32=i, right=r), grad=False)
        case("searchsorted", [ints(9).sort().values, ints(5), False, right],
             lambda s, v, i, r: torch.searchsorted(s, v, out_int32=i, right=r))
        case("bucketize", [values, edges, False, right], lambda v, b, i, r: torch.bucketize(v, b, out_int32=i, right=r), grad=False)
        case("bucketize", [x(2, 3), edges, True, right], lambda v, b, i, r: torch.bucketize(v, b, out_int32=i, right=r), grad=False)
        case("bucketize", [ints(2, 3), ints(4).sort().values, False, right],
             lambda v, b, i, r: torch.bucketize(v, b, out_int32=i, right=r))
    case("searchsorted", [t(), x(3)], torch.searchsorted, grad=False)
    for side in ("left", "right"):
        case("searchsorted", [edges, values, False, False, side], lambda s, v, i, r, e: torch.searchsorted(s, v, side=e), grad=False)
    mixed = x(5)
    case("searchsorted", [mixed, x(4), False, False, None, mixed.argsort()],
         lambda s, v, i, r, e, o: torch.searchsorted(s, v, sorter=o), grad=False)
    case("bucketize", [x(3), x(4).sort().values], torch.bucketize, grad=False)


def uniques():
    sorted_ = lambda a, dim=None: torch.unique(a, return_inverse=True, return_counts=True, dim=dim)
    runs = lambda a, dim=None: torch.unique_consecutive(a, return_inverse=True, return_counts=True, dim=dim)
    rows = torch.tensor([[1, 0, 2], [0, 5, 1], [1, 0, 2], [0, 4, 9], [0, 5, 1]])
    samples = [ints(9, high=4), ints(3, 4, high=3), x(5), t(1.5, 1.5, -2.0, 1.5), t(1.0, 2.0, 3.0), ints(6, high=2).bool(),
               torch.tensor([], dtype=INT64), ints(2, 2, 2, high=3).to(UINT8), t(7.0), x()]
    for op, fn in (("unique", sorted_), ("unique_consecutive", runs)):
        for a in samples:
            case(op, [a], fn, grad=False)
        for a, dim in ((rows, 0), (rows.t().contiguous(), 1), (rows.to(D), 0), (rows, -1), (ints(3, 2, 2, high=2), 0),
                       (ints(2, 4, 2, high=2), 1), (ints(7, high=3), 0)):
            case(op, [a, dim], fn, grad=False)
        case(op, [torch.tensor([1, 1, 2, 2, 2, 1, 3, 3])], fn)
        case(op, [torch.tensor([[1, 1], [1, 1], [2, 1], [1, 1]]), 0], fn)


def products():
    dot = lambda a, b, da=(-2, -1), db=(0, 1): torch.tensordot(a, b, (list(da), list(db)))
    case("tensordot", [x(2, 3, 4), x(3, 4, 5)], dot)
    case("tensordot", [x(3, 4), x(3, 4)], dot)
    case("tensordot", [x(3, 4, 5), x(4, 3, 2), [1, 0], [0, 1]], dot)
    case("tensordot", [x(2, 3), x(3, 2), [1], [0]], dot)
    case("tensordot", [x(2, 3), x(4), [], []], lambda a, b, da, db: torch.tensordot(a, b, 0))
    case("tensordot", [x(4), x(4), [0], [0]], dot)
    case("tensordot", [x(2, 3, 2), x(2, 2), [0], [-1]], dot)
    case("tensordot", [ints(2, 3), ints(3, 2), [1], [0]], dot)
    for a, b in ((x(2), x(3)), (x(2, 2), x(2, 3)), (x(2, 3), x(2)), (x(2), x(2, 1, 2)), (x(), x(3)), (x(2, 1, 2), x(1, 3, 2)),
                 (ints(2, 2), ints(2))):
        case("kron", [a, b], torch.kron)
    case("cross", [x(3), x(3), 0], lambda a, b, d: torch.linalg.cross(a, b, dim=d))
    for a, b, dim in ((x(4, 3), x(4, 3), -1), (x(3, 2), x(3, 2), 0), (x(2, 3, 4), x(2, 3, 4), 1), (x(1, 3), x(4, 3), 1),
                      (ints(2, 3), ints(2, 3), 1)):
        case("cross", [a, b, dim], lambda a, b, d: torch.linalg.cross(a, b, dim=d))
    case("cross", [x(2, 3, 3), x(2, 3, 3)], lambda a, b: torch.cross(a, b, dim=1))
    for a in (x(3, 3), x(2, 4), x(4, 2), x(1, 1), ints(3, 3)):
        case("trace", [a], torch.trace)


def main():
    for family in (gammas, errors_and_bessels, quotients, signs, places, quantiles, folds, running, counts, uniques, products):
        family()
    write("torch_values_special.json")


main()
