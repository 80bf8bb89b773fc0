#!/usr/bin/env python3
"""Writes torch_values_more.json: the ops of the other files in more shapes, orders in memory and options, as PyTorch 2 gives them.

    python3 tests/data/torch_values_more.py    # needs torch; writes the file beside this script

Tensors without elements, without dimensions, transposed and broadcast ones; several and negative dims; NaN and infinities. The tests
read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import math

import torch
import torch.nn.functional as F

from torch_cases import D, SPECIAL, Const, case, ints, write, x

INT32, UINT8, F32 = torch.int32, torch.uint8, torch.float32
NAN, INF = math.nan, math.inf


def t(*values, dtype=D):
    return torch.tensor(values, dtype=dtype)


def turned(*sizes, low=-2.0, high=2.0):
    """Of these sizes, with the first dimension as the innermost in memory."""
    return x(*reversed(sizes), low=low, high=high).permute(*reversed(range(len(sizes))))


def unary():
    anywhere = {
        "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "expm1": torch.expm1, "square": torch.square, "sin": torch.sin,
        "cos": torch.cos, "atan": torch.atan, "tanh": torch.tanh, "asinh": torch.asinh, "erf": torch.erf, "erfc": torch.erfc,
        "sigmoid": torch.sigmoid, "log_sigmoid": F.logsigmoid, "relu": F.relu, "selu": F.selu, "silu": F.silu, "mish": F.mish,
        "softsign": F.softsign, "hardswish": F.hardswish, "tanhshrink": F.tanhshrink, "softshrink": F.softshrink,
        "hardshrink": F.hardshrink, "relu6": F.relu6, "frac": torch.frac, "round": torch.round, "trunc": torch.trunc,
        "ceil": torch.ceil, "floor": torch.floor,
    }
    for op, fn in anywhere.items():
        # Halves of tanh are 1 further out, and its gradient is read from them.
        far = 2.0 if op == "tanh" else 4.0
        case(op, [turned(2, 3, 2, low=-far, high=far)], fn)
    for op in ("exp", "relu", "sigmoid", "abs", "round", "erf", "mish"):
        case(op, [x(2, 0, 3)], anywhere[op])
    for op, fn in {"log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt,
                   "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal}.items():
        case(op, [turned(3, 2, low=0.2, high=5.0)], fn)
        case(op, [x(low=0.2, high=5.0)], fn)
    for op, fn in {"asin": torch.asin, "acos": torch.acos, "atanh": torch.atanh}.items():
        case(op, [turned(3, 2, low=-0.95, high=0.95)], fn)
        case(op, [x(low=-0.9, high=0.9)], fn)
    case("acosh", [turned(2, 3, low=1.05, high=9.0)], torch.acosh)
    case("acosh", [SPECIAL], torch.acosh, grad=False)
    for op, fn in {"isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite}.items():
        case(op, [t(1, -2, 0, dtype=INT32)], fn)
    for a in (ints(4, low=-5), ints(4, low=-5, high=5).to(INT32), t(True, False, dtype=torch.bool)):
        case("logical_not", [a], torch.logical_not)
    for op in ("round", "trunc", "ceil", "floor"):
        case(op, [ints(3, low=-5)], anywhere[op])
        case(op, [t(0.5, 1.5, 2.5, -0.5, -1.5, 4503599627370497.0)], anywhere[op])
    case("bitwise_not", [t(True, False, dtype=torch.bool)], torch.bitwise_not)
    case("bitwise_not", [t(0, 7, 255, dtype=UINT8)], torch.bitwise_not)
    # Options.
    case("gelu", [SPECIAL, "tanh"], lambda a, m: F.gelu(a, approximate=m), grad=False)
    case("gelu", [turned(2, 3), "tanh"], lambda a, m: F.gelu(a, approximate=m))
    for slope in (0.0, 1.0, 2.5):
        case("leaky_relu", [x(5), slope], F.leaky_relu)
    case("elu", [turned(2, 3), 2.0], F.elu)
    case("celu", [turned(2, 3), 2.0], F.celu)
    case("softplus", [x(6, low=-30.0, high=30.0), 0.5, 4.0], F.softplus)
    case("softplus", [x(6), -1.5, 3.0], F.softplus)
    case("softshrink", [x(2, 3), 0.0], F.softshrink)
    case("softshrink", [x(6), 1.25], F.softshrink)
    case("hardshrink", [x(6), 1.25], F.hardshrink)
    case("threshold", [t(NAN, 1.0, -1.0, INF), 0.5, 2.0], F.threshold, grad=False)
    case("hardtanh", [SPECIAL, -0.5, 2.0], F.hardtanh, grad=False)
    case("prelu", [turned(2, 3), x(1)], F.prelu)
    case("prelu", [x(2, 3, 2, 2), x(3)], F.prelu)
    case("prelu", [x(4), x(1)], F.prelu)
    case("nan_to_num", [t(NAN, INF, -INF, 0.5), 1.0, None, -3.0], torch.nan_to_num, grad=False)
    case("nan_to_num", [t(NAN, INF, -INF, 0.5)], torch.nan_to_num)
    for a, dim in ((turned(4, 3), 0), (x(2, 3, 2), -1), (x(1, 4, 2), -2), (x(0, 4), 1)):
        case("glu", [a, dim], F.glu)


def binary():
    fns = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
           "atan2": torch.atan2, "hypot": torch.hypot, "logaddexp": torch.logaddexp}
    for op, fn in fns.items():
        case(op, [turned(3, 2), x(2, 1, 2)], fn)
        case(op, [x(), x(2, 2)], fn)
        case(op, [x(2, 1), x(1, 0)], fn)
    for op, fn in {"div": torch.div, "fmod": torch.fmod, "remainder": torch.remainder}.items():
        case(op, [turned(3, 2), x(2, 1, 2, low=0.3)], fn)
        case(op, [x(2, 1), x(1, 0)], fn)
    for op in ("add", "sub", "mul"):
        case(op, [ints(2, 3), 2.5], fns[op])
        case(op, [ints(3).to(INT32), ints(2, 1)], fns[op])
        case(op, [x(2, 2), 3], fns[op])
    for op, fn in {"remainder": torch.remainder, "fmod": torch.fmod, "floor_divide": torch.floor_divide}.items():
        case(op, [t(-7, 7, -7, 7, 0, dtype=INT32), t(3, -3, -3, 3, 5, dtype=INT32)], fn)
        case(op, [t(-7.5, 7.5, -7.5, 7.5, -0.0, 1.0), t(2.0, -2.0, -2.0, 2.0, 5.0, INF)], fn, grad=False)
        case(op, [ints(2, 3, low=-9), 4], fn)
    for mode in ("trunc", "floor"):
        divided = lambda a, b, m: torch.div(a, b, rounding_mode=m)
        case("div", [t(-7, 7, -7, 7, dtype=INT32), t(2, -2, -2, 2, dtype=INT32), mode], divided)
        case("div", [t(-7.5, 7.5, 1e300, 1.0), t(2.0, -2.0, 1e-9, 3.0), mode], divided, grad=False)
    case("pow", [t(-2, -1, 0, 3, dtype=torch.int64), t(3, 2, 0, 4, dtype=torch.int64)], torch.pow)
    case("pow", [t(-2.0, -1.5, 3.0), t(3.0, 2.0, -2.0)], torch.pow, grad=False)
    case("pow", [x(2, 1, low=0.2), x(3, low=0.2)], torch.pow)
    case("pow", [t(0.0, 0.0, INF, -INF, NAN, 1.0), t(0.0, -1.0, -1.0, 3.0, 0.0, NAN)], torch.pow, grad=False)
    compare = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
    for op, fn in compare.items():
        case(op, [ints(2, 1, high=3), ints(3, high=3).to(D)], fn, grad=False)
        case(op, [ints(4), 4.5], fn)
        case(op, [turned(2, 3), 0.25], fn, grad=False)
    for op, fn in {"logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}.items():
        case(op, [t(0.0, NAN, -0.0, 2.0), t(1.0, 0.0, INF, 0.0)], fn, grad=False)
        case(op, [ints(2, 1, high=2).bool(), ints(3, high=2)], fn)
    for op, fn in {"bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor}.items():
        case(op, [t(True, True, False, dtype=torch.bool), t(True, False, False, dtype=torch.bool)], fn)
        case(op, [ints(2, 1, low=-9), 12], fn)
    case("where", [turned(2, 3) > 0, x(3), x(2, 1)], torch.where)
    case("where", [x(2, 2) > 0, ints(2, 2), x()], torch.where)
    case("where", [x(0, 2) > 0, x(2), x()], torch.where)
    case("lerp", [turned(3, 2), x(2), x(3, 1)], torch.lerp)
    case("lerp", [x(2, 3), x(), x(3)], torch.lerp)
    for op, fn in (("addcmul", torch.addcmul), ("addcdiv", torch.addcdiv)):
        case(op, [x(), turned(3, 2), x(2, low=0.5)], fn)
        case(op, [x(2, 1, 2), x(3, 1), x(2, low=0.5), -2], lambda a, b, c, v, fn=fn: fn(a, b, c, value=v))
    case("addcmul", [ints(3), ints(3), ints(2, 1), 3], lambda a, b, c, v: torch.addcmul(a, b, c, value=v))
    case("clamp", [ints(6, low=-9), -3, 5], torch.clamp)
    case("clamp", [turned(3, 2), x(2, high=-0.5), x(3, 1, low=0.5)], torch.clamp)
    case("clamp", [t(NAN, 1.0, -INF, INF), 0.0, 0.5], torch.clamp, grad=False)
    case("clamp_min", [turned(3, 2), x(2)], torch.clamp_min)
    case("clamp_max", [x(3, 1), x(2)], torch.clamp_max)
    case("masked_fill", [turned(2, 3), x(3) > 0, 0.5], torch.masked_fill)
    case("heaviside", [turned(2, 3), x()], torch.heaviside, grad=False)
    case("xlogy", [turned(2, 3), x(3, low=0.2)], torch.xlogy)
    case("copysign", [turned(2, 3), x(3)], torch.copysign)
    case("nextafter", [turned(2, 3), x(3)], torch.nextafter, grad=False)


def reductions():
    table, deep = turned(2, 3, 4), x(2, 1, 3, 2)
    folds = {"sum": lambda a, d, k: a.sum(d, k), "mean": lambda a, d, k: a.mean(d, k), "amax": torch.amax, "amin": torch.amin,
             "nansum": lambda a, d, k: a.nansum(d, k), "nanmean": lambda a, d, k: a.nanmean(d, k),
             "logsumexp": torch.logsumexp}
    for op, fn in folds.items():
        for a, dims, keep in ((table, [0, -1], False), (table, [-2], True), (deep, [0, 1, 2, 3], True), (deep, [-1, 1], False)):
            case(op, [a, dims, keep], fn)
    for op in ("sum", "mean", "nansum", "logsumexp"):
        case(op, [x(0, 3), [0], False], folds[op])
        case(op, [x(2, 0), [0], True], folds[op])
    for op in ("amax", "amin"):
        case(op, [x(2, 0), [0], False], folds[op])
        case(op, [ints(3, 4, low=-9), [1], True], folds[op])
        case(op, [t(True, False, dtype=torch.bool), [0], False], folds[op])
    for op in ("sum", "amax", "amin", "logsumexp"):
        case(op, [t([INF, 1.0], [-INF, 2.0], [NAN, 0.0]), [1], False], folds[op], grad=False)
    case("sum", [ints(3, 4, high=2).bool(), [0], True], folds["sum"])
    case("sum", [ints(3, 4).to(UINT8), [-1], False], folds["sum"])
    product = lambda a, d, k=False: a.prod(d[0], k)
    for a, dims, keep in ((table, [-2], True), (x(0, 3), [0], False), (x(2, 0), [0], True), (ints(2, 3), [0], True)):
        case("prod", [a, dims, keep], product)
    spread = {"var": torch.var, "std": torch.std, "var_mean": torch.var_mean, "std_mean": torch.std_mean}
    for op, fn in spread.items():
        of = lambda a, d=None, c=1, k=False, fn=fn: fn(a, d or None, correction=c, keepdim=k)
        case(op, [table], of)
        case(op, [table, [0, -1], 0, True], of)
        case(op, [deep, [-1, 0, 2], 2, False], of)
        case(op, [t([1.0, NAN, 2.0], [1.0, 2.0, 4.0]), [1]], of, grad=False)
    norm = lambda a, p=2.0, d=None, k=False: torch.linalg.vector_norm(a, p, d or None, k)
    for p in (0.0, 0.5, 1.0, 2.0, 4.0, INF, -1.0, -INF):
        case("norm", [turned(2, 3, 2, low=0.3), p, [0, -1], True], norm, second=p not in (0.0, INF, -INF))
    case("norm", [table], norm)
    case("norm", [table, 1.0, [], True], norm)
    case("norm", [x(2, 0), 2.0, [1], False], norm, second=False)
    case("norm", [t(NAN, 1.0), 2.0], norm, grad=False)
    for op, fn in {"argmax": torch.argmax, "argmin": torch.argmin}.items():
        case(op, [table, [-1], True], lambda a, d, k, fn=fn: fn(a, d[0], k), grad=False)
        case(op, [table], fn, grad=False)
        case(op, [t([2, 5, 5], [1, 1, 7], dtype=INT32), [1]], lambda a, d, fn=fn: fn(a, d[0]))
    for op, fn in {"all": torch.all, "any": torch.any}.items():
        case(op, [turned(3, 2) > 0, [0], True], lambda a, d, k, fn=fn: fn(a, d[0], k))
        case(op, [x(2, 0), [1]], lambda a, d, fn=fn: fn(a, d[0]), grad=False)
        case(op, [t(0.0, NAN, 1.0)], fn, grad=False)
        case(op, [ints(2, 2, 3, high=2), [0, 2]], lambda a, d, fn=fn: fn(a, d))
    case("count_nonzero", [table, [0, -1]], torch.count_nonzero, grad=False)
    case("count_nonzero", [t(0.0, NAN, -0.0, 1.0)], torch.count_nonzero, grad=False)
    case("count_nonzero", [x(0, 2), [0]], torch.count_nonzero, grad=False)
    for op, fn in {"max": torch.max, "min": torch.min}.items():
        case(op, [table, -2, True], lambda a, d, k, fn=fn: tuple(fn(a, d, k)))
        case(op, [ints(2, 5, high=30).to(INT32), -1], lambda a, d, fn=fn: tuple(fn(a, d)))
    case("aminmax", [table], lambda a: tuple(torch.aminmax(a)))
    case("aminmax", [table, -2, True], lambda a, d, k: tuple(torch.aminmax(a, dim=d, keepdim=k)))


def scans():
    table = turned(2, 3, 2)
    for op, fn in {"cumsum": torch.cumsum, "cumprod": torch.cumprod, "logcumsumexp": torch.logcumsumexp}.items():
        case(op, [table, -2], fn)
        case(op, [x(0, 2), 0], fn)
        case(op, [t(1.0, INF, -INF, 2.0), 0], fn, grad=False)
    case("cumsum", [ints(2, 3, high=2).bool(), 1], torch.cumsum)
    case("cumsum", [ints(3, 2).to(UINT8), 0], torch.cumsum)
    case("cumprod", [ints(2, 3), -1], torch.cumprod)
    for op, fn in {"cummax": torch.cummax, "cummin": torch.cummin}.items():
        case(op, [table, -2], lambda a, d, fn=fn: tuple(fn(a, d)))
    case("diff", [table, 1, 0], torch.diff)
    case("diff", [x(3, 0), 1, 0], torch.diff)
    arranged = lambda a, d, e: tuple(torch.sort(a, dim=d, descending=e, stable=True))
    for descending in (False, True):
        case("sort", [table, 1, descending], arranged)
        case("sort", [t([3.0, NAN, -INF], [INF, 0.5, NAN]), -1, descending], arranged, grad=False)
        case("sort", [ints(2, 6, high=3).to(INT32), -1, descending], arranged)
        case("sort", [x(0, 3), 0, descending], arranged)
        case("argsort", [turned(3, 4), 0, descending], lambda a, d, e: torch.argsort(a, dim=d, descending=e, stable=True), grad=False)
    for k, dim, largest in ((1, 0, True), (2, 1, False), (3, -2, False), (0, 1, True)):
        case("topk", [table if dim else x(3, 4), k, dim, largest], lambda a, n, d, big: tuple(torch.topk(a, n, d, big)))
    case("topk", [t(3, 9, 1, 7, dtype=INT32), 2, 0, False], lambda a, n, d, big: tuple(torch.topk(a, n, d, big)))
    for op, fn in {"median": torch.median, "nanmedian": torch.nanmedian}.items():
        case(op, [turned(3, 5), 0, True], lambda a, d, k, fn=fn: tuple(fn(a, d, k)))
    case("kthvalue", [turned(3, 5), 2, 0, True], lambda a, k, d, keep: tuple(torch.kthvalue(a, k, d, keep)))


def shapes():
    a = turned(2, 3, 4)
    case("reshape", [a, [-1]], torch.reshape)
    case("reshape", [x(0, 3), [3, 0]], torch.reshape)
    case("reshape", [x(), [1, 1]], torch.reshape)
    case("view", [x(2, 3, 4), [6, 4]], lambda v, n: v.view(n))
    case("permute", [a, [-1, 0, -2]], torch.permute)
    case("permute", [x(), []], torch.permute)
    case("transpose", [a, -1, -3], torch.transpose)
    case("movedim", [a, [0, -1], [-1, 0]], lambda v, f, to: torch.movedim(v, tuple(f), tuple(to)))
    case("movedim", [a, [1], [0]], lambda v, f, to: torch.movedim(v, tuple(f), tuple(to)))
    case("squeeze", [x(1, 2, 1)], torch.squeeze)
    case("squeeze", [x(1, 2, 1), [0, -1]], lambda v, d: v.squeeze(tuple(d)))
    case("squeeze", [x(2, 3), [1]], lambda v, d: v.squeeze(tuple(d)))
    case("unsqueeze", [a, -1], torch.unsqueeze)
    case("unsqueeze", [x(0), 0], torch.unsqueeze)
    case("expand", [x(3, 1), [2, -1, 4]], lambda v, s: v.expand(s))
    case("expand", [x(), [2, 2]], lambda v, s: v.expand(s))
    case("expand", [x(1, 3), [0, 3]], lambda v, s: v.expand(s))
    case("broadcast_to", [turned(2, 1, 2), [3, 2, 2, 2]], torch.broadcast_to)
    case("flatten", [a, 0, -2], torch.flatten)
    case("flatten", [x(2, 0, 3), 1], torch.flatten)
    case("unflatten", [turned(6, 2), 0, [-1, 3]], torch.unflatten)
    case("unflatten", [x(2, 4), -1, [2, 1, 2]], torch.unflatten)
    case("select", [a, -1, -2], torch.select)
    case("select", [x(3), 0, 1], torch.select)
    case("narrow", [a, -1, 1, 0], torch.narrow)
    case("narrow", [a, 0, -1, 1], torch.narrow)
    case("slice", [a, -1, -3, -1], lambda v, d, b, e: v[..., b:e])
    case("slice", [x(5), 0, 0, 99, 3], lambda v, d, b, e, s: v[b:e:s])
    case("slice", [x(5), 0, 4, 2], lambda v, d, b, e: v[b:e])
    case("t", [x(3)], torch.t)
    case("t", [turned(2, 3)], torch.t)
    for arguments in ([x(2, 3, 4), -1], [x(2, 3, 4), 1, 0, 2], [a, -2, -1, 1], [x(2, 2), 3]):
        case("diagonal", arguments, torch.diagonal)
    for op, fn in {"triu": torch.triu, "tril": torch.tril}.items():
        case(op, [turned(2, 3, 3), -1], fn)
        case(op, [x(3, 2), 2], fn)
        case(op, [ints(3, 3), 1], fn)
        case(op, [x(0, 3)], fn)
    case("cat", [[turned(2, 3), x(2, 0), x(2, 1)], -1], torch.cat)
    case("cat", [[x(0), x(2, 3)], 0], torch.cat)
    case("cat", [[ints(2), x(3)], 0], torch.cat)
    case("stack", [[turned(2, 3), x(2, 3), x(2, 3)], 1], torch.stack)
    case("stack", [[x(), x()], 0], torch.stack)
    case("stack", [[ints(2), x(2)], -1], torch.stack)
    case("split", [a, 2, -1], lambda v, n, d: list(v.split(n, d)))
    case("split", [x(0, 2), 3], lambda v, n: list(v.split(n)))
    case("split_with_sizes", [a, [2, 1, 1], -1], lambda v, n, d: list(v.split(n, d)))
    case("chunk", [a, 5, -2], lambda v, n, d: list(v.chunk(n, d)))
    case("chunk", [x(7), 4], lambda v, n: list(v.chunk(n)))
    case("unbind", [turned(2, 3), -1], lambda v, d: list(torch.unbind(v, d)))
    case("tensor_split", [turned(5, 2), 3, 0], lambda v, n, d: list(torch.tensor_split(v, n, d)))
    case("meshgrid", [[x(2), x(1), x(3)], "ij"], lambda ts, i: list(torch.meshgrid(*ts, indexing=i)))
    case("meshgrid", [[x(), x(2)], "xy"], lambda ts, i: list(torch.meshgrid(*ts, indexing=i)))
    case("flip", [a, [-1, 0]], torch.flip)
    case("flip", [x(2, 0), [0, 1]], torch.flip)
    case("roll", [a, [5]], torch.roll)
    case("roll", [a, [-1, 2, 7], [0, -1, 1]], torch.roll)
    case("roll", [x(0, 2), [1], [0]], torch.roll)
    case("repeat", [turned(2, 3), [2, 1, 2]], lambda v, n: v.repeat(n))
    case("repeat", [x(2), [0]], lambda v, n: v.repeat(n))
    case("repeat", [x(2, 0), [2, 3]], lambda v, n: v.repeat(n))
    case("rot90", [turned(2, 3, 2), 1, [-1, 0]], torch.rot90)
    case("pad", [a, [0, 1, 2, 0, 1, 1]], F.pad)
    case("pad", [turned(1, 2, 3, 4), [1, 1, 2, 0], "reflect"], F.pad)
    case("pad", [turned(1, 2, 3, 4), [1, 2, 0, 3], "replicate"], F.pad)
    case("pad", [x(0, 2), [1, 1, 0, 1], "constant", -1.0], F.pad)
    case("unfold", [turned(2, 5), -1, 2, 3], lambda v, d, n, s: v.unfold(d, n, s))
    case("unfold", [x(3), 0, 3, 1], lambda v, d, n, s: v.unfold(d, n, s))
    case("as_strided", [x(6), [2, 2], [3, 1], 1], lambda v, n, s, o: v.as_strided(n, s, o))
    case("as_strided", [x(4), [3, 4], [0, 1]], lambda v, n, s: v.as_strided(n, s))
    case("clone", [a], torch.clone)
    case("pixel_shuffle", [turned(1, 4, 2, 2), 2], F.pixel_shuffle)
    case("pixel_shuffle", [x(2, 1, 4, 1, 2), 2], F.pixel_shuffle)
    case("pixel_unshuffle", [turned(1, 1, 4, 2), 2], F.pixel_unshuffle)
    case("pixel_unshuffle", [x(2, 1, 1, 2, 4), 2], F.pixel_unshuffle)


def made():
    of = lambda fn: lambda *a: fn(*a[:-1], dtype=a[-1])
    for op, fn in {"zeros": torch.zeros, "ones": torch.ones}.items():
        case(op, [[2, 0, 3], D], of(fn))
        case(op, [[], INT32], of(fn))
        case(op, [[3], torch.bool], of(fn))
    case("full", [[2], 7, torch.int64], of(torch.full))
    case("full", [[], INF, D], of(torch.full))
    case("full", [[2, 0], 1.0, F32], of(torch.full))
    case("full", [[2], True, torch.bool], of(torch.full))
    for op, fn in {"zeros_like": torch.zeros_like, "ones_like": torch.ones_like}.items():
        case(op, [turned(2, 3), INT32], of(fn), grad=False)
        case(op, [ints(2)], fn)
    case("full_like", [ints(2, 2), 3], torch.full_like)
    for a in ((0, 5, 2, INT32), (3, 3, 1, D), (5.0, -1.0, -1.5, D), (-0.5, 0.5, 0.25, D)):
        case("arange", list(a), of(torch.arange))
    for a in ((0.0, 1.0, 5, D), (3.0, -3.0, 4, D), (1.5, 2.5, 1, D), (0.0, 1.0, 0, D), (-2, 7, 4, torch.int64)):
        case("linspace", list(a), of(torch.linspace))
    for a in ((3, None, D), (3, 1, INT32), (0, 2, D)):
        case("eye", list(a), lambda n, m, d: torch.eye(n, n if m is None else m, dtype=d))
    for op, fn in {"tril_indices": torch.tril_indices, "triu_indices": torch.triu_indices}.items():
        for a in ((3, 3, 0), (2, 5, 2), (4, 2, -1), (0, 3, 0)):
            case(op, list(a), fn)


def places():
    a = turned(3, 4)
    case("gather", [a, -2, ints(2, 4, high=3)], torch.gather)
    case("gather", [x(2, 3, 2), -1, ints(2, 1, 5, high=2)], torch.gather)
    case("gather", [a, 0, ints(0, 4)], torch.gather)
    case("scatter_add", [a, -1, ints(2, 5, high=4), x(2, 5)], torch.scatter_add)
    case("scatter_add", [x(4), 0, t(1, 1, 1, 3, dtype=torch.int64), x(4)], torch.scatter_add)
    case("scatter_add", [ints(4), 0, ints(6, high=4), ints(6)], torch.scatter_add)
    case("index_select", [a, 0, t(2, 2, 0, dtype=torch.int64)], torch.index_select)
    case("index_select", [x(2, 3, 2), -2, ints(0)], torch.index_select)
    case("take_along_dim", [a, ints(1, 4, high=3), -2], torch.take_along_dim)
    case("take", [a, ints(2, 2, high=12)], torch.take)
    at = lambda v, i: v[tuple(slice(None) if k is None else k for k in i)]
    case("index", [a, [t(0, -1, dtype=torch.int64).reshape(2, 1), ints(3, high=4)]], at)
    case("index", [a, [a > 0]], at)
    case("index", [x(2, 3, 2), [None, None, ints(3, high=2)]], at)
    case("index", [x(3), [ints(0)]], at)
    put = lambda v, i, s, add: v.index_put(tuple(i), s, add)
    case("index_put", [a, [ints(3, high=3), ints(3, high=4)], x(), True], put)
    case("index_put", [a, [t(1, dtype=torch.int64)], x(4), False], put)
    case("masked_select", [a, x(4) > 0], torch.masked_select)
    case("masked_select", [x(3), x(2, 1) > -3], torch.masked_select)
    case("masked_select", [x(2, 2), torch.zeros(2, 2, dtype=torch.bool)], torch.masked_select)
    case("nonzero", [t([0.0, NAN], [-0.0, 2.0])], torch.nonzero, grad=False)
    case("nonzero", [turned(2, 3, 2) > 0], torch.nonzero)
    case("nonzero", [torch.zeros(2, 2, dtype=torch.int64)], torch.nonzero)
    case("nonzero", [t(3, dtype=torch.int64)[0]], torch.nonzero)
    case("embedding", [turned(5, 3), ints(2, 2, high=5)], lambda w, i: F.embedding(i, w))
    case("embedding", [x(5, 3), ints(0, 2)], lambda w, i: F.embedding(i, w))
    case("one_hot", [ints(2, 0), 3], F.one_hot)
    case("one_hot", [ints(2, 2, high=3), 4], F.one_hot)
    added = lambda v, d, i, s, alpha=1: torch.index_add(v, d, i, s, alpha=alpha)
    case("index_add", [a, -2, t(1, 1, dtype=torch.int64), x(2, 4), 0.5], added)
    case("index_copy", [a, -2, t(2, 0, dtype=torch.int64), turned(2, 4)], torch.Tensor.index_copy)
    case("index_fill", [a, -1, t(-1, 0, dtype=torch.int64), 1.5], torch.Tensor.index_fill)
    case("put", [a, t(0, 5, dtype=torch.int64), x(2)], lambda v, i, s: torch.Tensor.put(v, i, s, False))
    case("masked_scatter", [a, turned(3, 4) > 0, x(12)], torch.masked_scatter)
    for reduce in ("sum", "mean", "amax"):
        case("scatter_reduce", [a, -2, ints(2, 4, high=3), turned(2, 4), reduce],
             lambda v, d, i, s, r: torch.scatter_reduce(v, d, i, s, r))


def products():
    for p, q in (((4,), (4, 3)), ((4,), (2, 4, 3)), ((2, 0), (0, 3)), ((0, 4), (4, 3)), ((2, 1, 2, 3), (3, 3, 2)), ((1, 4), (4,))):
        case("matmul", [x(*p), x(*q)], torch.matmul)
    case("matmul", [turned(3, 4), turned(4, 2)], torch.matmul)
    case("matmul", [turned(2, 3, 4), x(4, 2)], torch.matmul)
    case("matmul", [x(2, 3), turned(2, 3, 2)], torch.matmul)
    case("mm", [turned(2, 3), turned(3, 4)], torch.mm)
    case("mm", [x(2, 0), x(0, 2)], torch.mm)
    case("mm", [ints(2, 3), ints(3, 2)], torch.mm)
    case("bmm", [turned(2, 3, 2), turned(2, 2, 3)], torch.bmm)
    case("bmm", [x(0, 3, 2), x(0, 2, 3)], torch.bmm)
    case("bmm", [ints(2, 2, 3), ints(2, 3, 1)], torch.bmm)
    case("mv", [turned(2, 3), x(3)], torch.mv)
    case("mv", [x(2, 0), x(0)], torch.mv)
    case("dot", [x(0), x(0)], torch.dot)
    case("dot", [ints(4), ints(4)], torch.dot)
    case("outer", [x(0), x(2)], torch.outer)
    case("outer", [ints(2), x(3)], torch.outer)
    added = lambda c, a, b, beta, alpha: torch.addmm(c, a, b, beta=beta, alpha=alpha)
    case("addmm", [x(2, 1), turned(2, 3), x(3, 4), 1.0, -1.0], added)
    case("addmm", [t([NAN, NAN]), x(2, 3), x(3, 2), 0.0, 1.0], added, grad=False)
    case("addmm", [x(), x(2, 0), x(0, 3), 0.5, 1.0], added)
    batched = lambda c, a, b, beta, alpha: torch.baddbmm(c, a, b, beta=beta, alpha=alpha)
    case("baddbmm", [x(3), turned(2, 2, 3), x(2, 3, 3), 1.0, 1.0], batched)
    case("baddbmm", [x(2, 2, 1), x(2, 2, 0), x(2, 0, 3), 2.0, 1.0], batched)
    for equation, sizes in (("ij,j", [(2, 3), (3,)]), ("ij->ji", [(2, 3)]), ("ii", [(3, 3)]), ("...ij->...ji", [(2, 2, 3)]),
                            ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 2)]), ("bij,bj->bi", [(2, 3, 2), (2, 2)]), ("ij,ij->", [(2, 3), (2, 3)]),
                            ("i...,i...->...", [(3, 2), (3, 2)]), ("abc,cd->abd", [(2, 1, 3), (3, 2)]), ("ij,kj->ikj", [(2, 3), (2, 3)])):
        case("einsum", [equation, [x(*n) for n in sizes]], lambda e, ts: torch.einsum(e, *ts))
    case("linear", [turned(3, 4), turned(2, 4), x(2)], F.linear)
    case("linear", [x(4), x(2, 4), x(2)], F.linear)
    case("linear", [x(0, 4), x(2, 4)], F.linear)
    case("linear_relu", [turned(3, 4), x(2, 4)], lambda v, w: F.relu(F.linear(v, w)))
    case("bilinear", [turned(2, 3), x(2, 2), turned(2, 3, 2)], F.bilinear)
    dot = lambda a, b, da, db: torch.tensordot(a, b, (da, db))
    case("tensordot", [turned(2, 3, 2), turned(3, 2), [1, 2], [0, 1]], dot)
    case("kron", [x(2, 1, 2), x(3, 1)], torch.kron)
    case("cross", [turned(2, 3), x(2, 3), -1], lambda a, b, d: torch.linalg.cross(a, b, dim=d))
    case("trace", [turned(3, 2)], torch.trace)


def layers():
    case("layer_norm", [turned(2, 3, 4), [3, 4], x(3, 4), x(3, 4)], F.layer_norm)
    case("group_norm", [turned(2, 4, 3), 2, x(4), x(4)], F.group_norm)
    case("rms_norm", [turned(2, 3, 4), x(4)], lambda v, w: F.rms_norm(v, v.shape[-1:], w, 1e-6))
    case("softmax", [turned(2, 3, 2), -2], torch.softmax)
    case("log_softmax", [turned(2, 3, 2), 0], torch.log_softmax)
    for reduction in ("mean", "sum", "none"):
        case("soft_margin_loss", [turned(2, 3), Const(torch.sign(x(2, 3))), reduction], lambda i, y, r: F.soft_margin_loss(i, y, reduction=r))
        case("mse_loss", [turned(2, 3), turned(2, 3), reduction], lambda i, y, r: F.mse_loss(i, y, reduction=r))
        case("l1_loss", [turned(2, 3), x(2, 3), reduction], lambda i, y, r: F.l1_loss(i, y, reduction=r))
    case("cosine_similarity", [turned(2, 3, 2), x(2, 3, 2), -2], F.cosine_similarity)
    case("normalize", [turned(2, 3, 2), 2.0, -2], F.normalize)
    for n, size in ((1, (6,)), (2, (4, 5)), (3, (3, 2, 4))):
        case(f"conv{n}d", [turned(1, 2, *size), turned(2, 2, *[2] * n), x(2)], getattr(F, f"conv{n}d"))
        case(f"conv_transpose{n}d", [turned(1, 2, *size), turned(2, 1, *[2] * n)], getattr(F, f"conv_transpose{n}d"))
        case(f"max_pool{n}d", [turned(1, 2, *size), [2]], getattr(F, f"max_pool{n}d"))
        case(f"avg_pool{n}d", [turned(1, 2, *size), [2]], getattr(F, f"avg_pool{n}d"))
        case(f"adaptive_avg_pool{n}d", [turned(1, 2, *size), [2] * n], getattr(F, f"adaptive_avg_pool{n}d"))
    case("im2col", [turned(1, 2, 3, 4), [2, 2]], F.unfold)
    case("fold", [turned(1, 4, 6), [3, 4], [2, 2]], F.fold)
    case("channel_shuffle", [turned(1, 4, 2, 2), 2], F.channel_shuffle)
    case("interpolate", [turned(1, 2, 3, 2), [5, 3], [], "bilinear"], lambda v, s, f, m: F.interpolate(v, s, mode=m, align_corners=False))
    case("scaled_dot_product_attention", [turned(1, 2, 3, 4), turned(1, 2, 3, 4), turned(1, 2, 3, 4)],
         lambda q, k, v: torch.softmax(q @ k.transpose(-1, -2) / 2, -1) @ v)


def main():
    for family in (unary, binary, reductions, scans, shapes, made, places, products, layers):
        family()
    write("torch_values_more.json")


main()
