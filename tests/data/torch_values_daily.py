#!/usr/bin/env python3
"""Writes torch_values_daily.json: smaller functions that programs use daily, as PyTorch 2 gives them, in float64.

    python3 tests/data/torch_values_daily.py    # needs torch; writes the file beside this script

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


def numbers():
    holes, others = t(NAN, 1.0, NAN, INF, -INF, 2.0), t(3.0, NAN, NAN, 1.0, 1.0, 2.0)
    for op, fn in (("fmax", torch.fmax), ("fmin", torch.fmin)):
        case(op, [x(2, 3), x(2, 3)], fn)
        case(op, [x(2, 1, 3), x(4, 1)], fn)
        case(op, [holes, others], fn)
        case(op, [ints(4), ints(4)], fn)
        case(op, [t(1.0, 2.0), t(1.0, 2.0)], fn)
    for op, fn in (("deg2rad", torch.deg2rad), ("rad2deg", torch.rad2deg)):
        case(op, [x(2, 3, low=-180.0, high=180.0)], fn)
        case(op, [SPECIAL], fn, grad=False)
        case(op, [x()], fn)
    for op, fn in (("signbit", torch.signbit), ("isposinf", torch.isposinf), ("isneginf", torch.isneginf)):
        case(op, [x(2, 3)], fn, grad=False)
        case(op, [t(0.0, -0.0, INF, -INF, NAN, 1e-300, -1e300)], fn, grad=False)
        case(op, [ints(4, low=-3, high=3)], fn)
    case("float_power", [x(2, 3, low=0.2), x(3)], torch.float_power)
    case("float_power", [ints(4, low=1), x(4)], torch.float_power)
    case("float_power", [x(4), 2], torch.float_power)
    case("float_power", [2.0, x(4)], torch.float_power)
    case("float_power", [ints(4), 3], torch.float_power)
    case("logaddexp2", [x(2, 3), x(2, 3)], torch.logaddexp2)
    case("logaddexp2", [x(2, 1, 3), x(4, 1)], torch.logaddexp2)
    case("logaddexp2", [t(1000.0, -1000.0, 0.0), t(999.0, -1001.5, -2000.0)], torch.logaddexp2, second=False)
    case("logaddexp2", [t(INF, -INF, 1.0, NAN), t(INF, -INF, -INF, 1.0)], torch.logaddexp2, grad=False)
    fibonacci = [torch.tensor([8944394323791464, 12, 0, -18, 2**52]), torch.tensor([5527939700884757, 0, 0, 12, 6])]
    for op, fn in (("gcd", torch.gcd), ("lcm", torch.lcm)):
        case(op, [ints(3, 4, low=-60, high=60), ints(3, 4, low=-60, high=60)], fn)
        case(op, [ints(2, 1, high=100), ints(5, high=100)], fn)
        case(op, [t(10, -8, 99, 0, dtype=torch.int8), t(4, 6, 33, 7, dtype=torch.int8)], fn)
    case("gcd", fibonacci, torch.gcd)


def normal_distribution():
    near, far = x(2, 3), x(6, low=-12.0, high=12.0)
    for op, fn in (("erfcx", S.erfcx), ("ndtr", S.ndtr), ("log_ndtr", S.log_ndtr)):
        case(op, [near], fn)
        case(op, [t(-5.5, 0.0, 0.5, -1.0, 1.0, 2.5)], fn)
        case(op, [x()], fn)
    case("erfcx", [t(9.9, 10.0, 10.1, 50.0, 1e6, 1e200)], S.erfcx, second=False)
    case("erfcx", [t(INF, -INF, NAN, -20.0, 1e300)], S.erfcx, grad=False)
    case("ndtr", [far], S.ndtr)
    case("ndtr", [t(INF, -INF, NAN)], S.ndtr, grad=False)
    case("log_ndtr", [t(-40.0, -1e3, -1e6, 5.0, 30.0)], S.log_ndtr, grad=False)
    case("log_ndtr", [t(INF, -INF, NAN)], S.log_ndtr, grad=False)
    case("ndtri", [x(2, 3, low=0.05, high=0.95)], S.ndtri)
    case("ndtri", [t(0.5, 0.25, 0.75, 0.01, 0.999)], S.ndtri)
    case("ndtri", [t(1e-300, 1e-12, 1e-5, 0.5 + 1e-9)], S.ndtri, grad=False)
    case("ndtri", [t(0.0, 1.0, -0.5, 1.5, NAN)], S.ndtri, grad=False)


def entropies_and_bessels():
    for a in (x(2, 3, low=0.05, high=3.0), t(0.5, 1.0, 1e-9)):
        case("entr", [a], S.entr)
    case("entr", [t(0.0, -0.0, -1.0, INF, NAN)], S.entr, grad=False)
    case("xlog1py", [x(2, 3), x(2, 3, low=-0.9)], S.xlog1py)
    case("xlog1py", [x(2, 1, 3), x(4, 1, low=-0.8)], S.xlog1py)
    case("xlog1py", [t(0.0, 0.0, 0.0, 1.0, NAN), t(-1.0, NAN, INF, -1.0, 1.0)], S.xlog1py, grad=False)
    case("xlog1py", [t(0.0, 0.0, 2.0), t(2.0, 0.5, 1.5)], S.xlog1py)
    case("xlog1py", [x(3), 2.5], S.xlog1py)
    for op, fn in (("i0e", S.i0e), ("i1e", S.i1e)):
        for a in (x(2, 3), x(5, low=-12.0, high=12.0), x(4, low=15.0, high=25.0)):
            case(op, [a], fn)
        case(op, [t(-30.0, 50.0, 1e3, -1e6)], fn, second=False)
        case(op, [t(NAN, 0.0, INF)], fn, grad=False)


def forms():
    for op, fn in (("atleast_1d", torch.atleast_1d), ("atleast_2d", torch.atleast_2d), ("atleast_3d", torch.atleast_3d)):
        for size in ((), (3,), (2, 3), (2, 3, 2), (2, 1, 2, 2)):
            case(op, [x(*size)], fn)
    case("view_as", [x(2, 6), Const(x(3, 4))], lambda a, b: a.view_as(b))
    case("reshape_as", [x(2, 6), Const(x(3, 4))], lambda a, b: a.reshape_as(b))
    case("expand_as", [x(3, 1), Const(x(2, 3, 4))], lambda a, b: a.expand_as(b))
    both = lambda ts: list(torch.broadcast_tensors(*ts))
    case("broadcast_tensors", [[x(2, 1), x(3)]], both)
    case("broadcast_tensors", [[x(2, 1, 3), x(), x(4, 1)]], both)
    case("broadcast_tensors", [[x(3)]], both)
    for counts in ([2], [2, 3], [2, 1, 2], []):
        case("tile", [x(2, 3), counts], torch.tile)
    case("tile", [x(), [2]], torch.tile)
    for a in (x(2, 3), x(2, 3, 2)):
        case("fliplr", [a], torch.fliplr)
        case("flipud", [a], torch.flipud)
    case("flipud", [x(4)], torch.flipud)
    places = lambda i, s: list(torch.unravel_index(i, tuple(s)))
    case("unravel_index", [ints(5, high=24), [2, 3, 4]], places)
    case("unravel_index", [ints(2, 2, high=6), [6]], places)


def diagonals():
    for k in (0, 1, -2):
        case("diag", [x(3), k], torch.diag)
        case("diag", [x(3, 4), k], torch.diag)
        case("diagflat", [x(2, 2), k], torch.diagflat)
        case("diag_embed", [x(2, 3), k], torch.diag_embed)
        case("diagonal_scatter", [x(3, 4), x(torch.diagonal(x(3, 4), k).numel()), k], torch.diagonal_scatter)
    case("diag", [ints(3)], torch.diag)
    case("diag_embed", [x(2, 3), 1, 0, 2], torch.diag_embed)
    case("diag_embed", [x(2, 2, 3), -1, 2, 1], torch.diag_embed)
    case("diagonal_scatter", [x(2, 3, 2), x(3, 2), 0, 0, 2], torch.diagonal_scatter)
    case("select_scatter", [x(3, 4), x(3), 1, -2], torch.select_scatter)
    case("select_scatter", [x(3, 4), x(4), 0, 1], torch.select_scatter)
    case("select_scatter", [ints(3, 2), ints(2), 0, 2], torch.select_scatter)
    for size, bounds in (((2, 5), [0, 1, 3]), ((4, 2), [1, 0, 4, 2]), ((4, 2), [-1, -2]), ((4, 5), [0])):
        case("slice_scatter", [x(4, 5), x(*size), *bounds], torch.slice_scatter)


def matrices():
    v = torch.linalg
    case("inner", [x(2, 3), x(4, 3)], torch.inner)
    case("inner", [x(3), x(3)], torch.inner)
    case("inner", [x(2, 2, 3), x(3)], torch.inner)
    case("inner", [x(), x(2, 3)], torch.inner)
    case("vecdot", [x(2, 3), x(2, 3)], lambda a, b: v.vecdot(a, b))
    case("vecdot", [x(2, 1, 3), x(4, 3), -1], lambda a, b, d: v.vecdot(a, b, dim=d))
    case("vecdot", [x(3, 2), x(3, 2), 0], lambda a, b, d: v.vecdot(a, b, dim=d))
    weighted = lambda fn: lambda c, a, b, beta=1, alpha=1: fn(c, a, b, beta=beta, alpha=alpha)
    for op, fn, sizes in (("addmv", torch.addmv, ((2,), (2, 3), (3,))), ("addr", torch.addr, ((2, 3), (2,), (3,))),
                          ("addbmm", torch.addbmm, ((2, 4), (3, 2, 5), (3, 5, 4)))):
        case(op, [x(*s) for s in sizes], weighted(fn))
        case(op, [x(*s) for s in sizes] + [0.5, 2.0], weighted(fn))
        case(op, [x(*s) for s in sizes] + [0.0, 2.0], weighted(fn))
        case(op, [x()] + [x(*s) for s in sizes[1:]], weighted(fn))
        case(op, [ints(*s) for s in sizes] + [3, 2], weighted(fn))
    for p in (None, 1.0, -1.0, INF, -INF):
        norm = lambda a, p, d=[-2, -1], k=False: v.matrix_norm(a, "fro" if p is None else p, d, k)
        case("matrix_norm", [x(3, 4), p], norm)
        case("matrix_norm", [x(2, 3, 4), p, [0, 2], True], norm)
        case("matrix_norm", [x(2, 3, 4), p, [-1, 0]], norm)
    case("multi_dot", [[x(2, 3), x(3, 4)]], v.multi_dot)
    case("multi_dot", [[x(5, 2), x(2, 6), x(6, 1), x(1, 3)]], v.multi_dot)
    case("multi_dot", [[x(3), x(3, 4), x(4)]], v.multi_dot)
    case("multi_dot", [[x(2, 3), x(3, 4), x(4)]], v.multi_dot)
    for n in (0, 1, 2, 3, 6):
        case("matrix_power", [x(3, 3), n], torch.matrix_power, grad=n > 0)
    case("matrix_power", [x(2, 3, 3), 3], torch.matrix_power)
    for p in (2.0, 1.0, 3.0, INF):
        case("dist", [x(2, 3), x(2, 3), p], torch.dist)
        case("dist", [x(2, 1, 3), x(4, 1), p], torch.dist)


def statistics():
    cov = lambda a, c=1, f=None, w=None: torch.cov(a, correction=c, fweights=f, aweights=w.tensor if isinstance(w, Const) else w)
    for c in (1, 0, 2):
        case("cov", [x(3, 5), c], cov)
    case("cov", [x(6)], cov)
    case("cov", [x()], cov, grad=False)
    case("cov", [torch.tensor([[1, 2, 3, 4, 5], [5, 3, 1, 4, 2]])], lambda a: torch.cov(a))
    case("cov", [x(3, 5), 1, ints(5, low=1, high=4)], cov)
    case("cov", [x(3, 5), 1, None, Const(x(5, low=0.1))], cov)
    case("cov", [x(3, 5), 0, ints(5, low=1, high=4), Const(x(5, low=0.1))], cov)
    case("corrcoef", [x(3, 5)], torch.corrcoef)
    case("corrcoef", [x(2, 7)], torch.corrcoef)
    for op, fn in (("trapezoid", torch.trapezoid), ("cumulative_trapezoid", torch.cumulative_trapezoid)):
        rule = lambda y, at=None, dx=1, dim=-1, fn=fn: fn(y, dx=dx, dim=dim) if at is None else fn(y, at, dim=dim)
        case(op, [x(5)], rule)
        case(op, [x(3, 4), None, 0.5, 0], rule)
        case(op, [x(3, 4), x(4)], rule)
        case(op, [x(3, 4), x(3), 1.0, 0], rule)
        case(op, [x(3, 4), x(3, 4), 1.0, 0], rule)
        case(op, [x(3, 4), x(3, 1), 1.0, 0], rule)
    case("trapezoid", [x(1)], lambda y: torch.trapezoid(y))
    isin = lambda a, b, u=False, i=False: torch.isin(a, b, assume_unique=u, invert=i)
    case("isin", [ints(3, 4), ints(5)], isin)
    case("isin", [ints(3, 4), ints(2, 2), False, True], isin)
    case("isin", [t(1.0, 2.5, NAN, INF, -0.0), t(2.5, NAN, INF, 0.0)], isin, grad=False)
    case("isin", [ints(4), ints(0)], isin)
    case("isin", [ints(4), ints(0), False, True], isin)
    case("softmin", [x(2, 3), 1], torch.nn.functional.softmin)
    case("softmin", [x(2, 3, 2), 0], torch.nn.functional.softmin)


def makers():
    made = lambda fn: lambda *a: fn(*a[:-1], dtype=a[-1])
    case("logspace", [-2, 3, 6, 10.0, D], made(torch.logspace))
    case("logspace", [0, 4, 5, 2.0, D], made(torch.logspace))
    case("logspace", [0.5, -1.5, 1, 10.0, D], made(torch.logspace))
    case("logspace", [0, 1, 0, 10.0, D], made(torch.logspace))
    for op, fn, more in (("hann_window", torch.hann_window, []), ("hamming_window", torch.hamming_window, [0.6, 0.3]),
                         ("blackman_window", torch.blackman_window, []), ("bartlett_window", torch.bartlett_window, []),
                         ("kaiser_window", torch.kaiser_window, [4.5])):
        for n in (0, 1, 2, 5, 8):
            for periodic in (True, False):
                case(op, [n, periodic, *more, D], made(fn))


def corners():
    """Single rows, tensors without dimensions, places from the end, and dtypes that promote."""
    cov = lambda a, c, f, w: torch.cov(a, correction=c, fweights=f, aweights=getattr(w, "tensor", w))
    case("cov", [x(1, 5)], torch.cov)
    case("corrcoef", [x(1, 5)], torch.corrcoef)
    case("cov", [x(3, 5).float(), 1, None, Const(x(5, low=0.1))], cov)
    case("entr", [torch.tensor([0, 1, 2, 200], dtype=torch.uint8)], torch.special.entr)
    case("entr", [torch.tensor([-3, 0, 5], dtype=torch.int8)], torch.special.entr)
    diff = lambda a, n, dim, before, behind: torch.diff(a, n, dim, before, behind)
    case("diff", [x(3, 2), 0, 0, x(1, 2), x(2, 2)], diff, grad=False)
    back = torch.tensor([[-1, 0, -4], [2, -2, 3]])
    case("take_along_dim", [x(2, 4), back, 1], torch.take_along_dim)
    added = lambda a, dim, index, source, alpha=1: torch.index_add(a, dim, index, source, alpha=alpha)
    case("index_add", [x(), 0, torch.tensor([0]), x(), 2], added)
    for reduce in ("prod", "mean", "amax"):
        case("index_reduce", [x(), 0, torch.tensor([0]), x(), reduce], torch.index_reduce)
    bools = [torch.tensor(v) for v in ([[True, False], [False, False]], [True, False], [False, True])]
    for beta, alpha in ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        case("addr", [*bools, beta, alpha], lambda c, a, b, be, al: torch.addr(c, a, b, beta=bool(be), alpha=bool(al)))


def linear_losses():
    def loss(i, w, t, b=None, weight=None, ignore=-100, reduction="mean", smoothing=0.0, chunk=0):
        ignore = None if t.is_floating_point() else ignore
        return F.linear_cross_entropy(i, w, t, linear_bias=b, weight=weight, ignore_index=ignore, reduction=reduction,
                                      label_smoothing=smoothing)

    op, target = "linear_cross_entropy", torch.tensor([0, 3, 1, 3, 2])
    case(op, [x(5, 3), x(4, 3), target], loss)
    case(op, [x(5, 3), x(4, 3), target, x(4), None, 3, "sum", 0.0, 2], loss)
    case(op, [x(5, 3), x(4, 3), target, x(4), None, -100, "none", 0.25, 3], loss)
    case(op, [x(3), x(4, 3), torch.tensor(2)], loss)
    case(op, [x(5, 3), x(4, 3), target, None, Const(x(4, low=0.1)), 3, "mean", 0.25], loss)
    case(op, [x(5, 3), x(4, 3), Const(torch.softmax(x(5, 4), 1)), x(4), None, -100, "mean", 0.25], loss)


def main():
    numbers()
    normal_distribution()
    entropies_and_bessels()
    forms()
    diagonals()
    matrices()
    statistics()
    makers()
    corners()
    linear_losses()
    write("torch_values_daily.json")


main()
