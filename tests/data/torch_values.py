#!/usr/bin/env python3
"""Writes torch_values.json: calls of ops, with the results and gradients that PyTorch 2 gives for them, in float64.

    python3 tests/data/torch_values.py            # needs torch; writes the file beside this script

tests/ops/torch_values_test.cpp calls the same ops of the standard pack by name on every device and compares. What a case is stands in
torch_cases.py; networks' families are in torch_values_families.py, edges in
torch_values_edges.py.
"""
import math

import torch
import torch.nn.functional as F

import torch_values_edges
import torch_values_families
from torch_cases import D, SPECIAL, case, ints, write, x


def unary():
    anywhere = {
        "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "exp": torch.exp, "expm1": torch.expm1, "exp2": torch.exp2,
        "square": torch.square, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "atan": torch.atan,
        "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh, "erf": torch.erf,
        "erfc": torch.erfc, "ceil": torch.ceil, "floor": torch.floor, "round": torch.round, "trunc": torch.trunc,
        "frac": torch.frac, "sigmoid": torch.sigmoid, "log_sigmoid": F.logsigmoid, "relu": F.relu, "relu6": F.relu6,
        "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu, "silu": F.silu,
        "mish": F.mish, "softplus": F.softplus, "softsign": F.softsign, "hardtanh": F.hardtanh,
        "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "softshrink": F.softshrink, "hardshrink": F.hardshrink,
        "tanhshrink": F.tanhshrink, "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite,
        "nan_to_num": torch.nan_to_num, "logical_not": torch.logical_not,
    }
    positive = {"log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt,
                "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal}
    unit = {"asin": torch.asin, "acos": torch.acos, "atanh": torch.atanh}
    for op, fn in anywhere.items():
        grad = op != "hardsigmoid"  # whose slope of 1/6 PyTorch rounds to float32
        case(op, [x(2, 3, low=-4.0, high=4.0)], fn, grad)
        case(op, [x(5)], fn, grad)
        case(op, [SPECIAL], fn, grad=False)
        case(op, [torch.tensor(0.5, dtype=D)], fn, grad)
    for op, fn in positive.items():
        case(op, [x(2, 3, low=0.1, high=4.0)], fn)
        case(op, [SPECIAL], fn, grad=False)
        case(op, [x(4, low=0.1, high=30.0)], fn)
    for op, fn in unit.items():
        case(op, [x(2, 3, low=-0.9, high=0.9)], fn)
        case(op, [SPECIAL], fn, grad=False)
    case("acosh", [x(5, low=1.1, high=4.0)], torch.acosh)
    for op in ("abs", "relu", "leaky_relu", "elu", "selu", "celu", "hardtanh", "relu6", "hardsigmoid", "hardswish",
               "softshrink", "hardshrink", "softplus", "sign"):  # where branches meet
        case(op, [torch.tensor([0.0, -0.5, 0.5, 1.0, -1.0, 3.0, -3.0, 6.0], dtype=D)], anywhere[op], op != "hardsigmoid")
    case("gelu", [x(6), "tanh"], lambda t, a: F.gelu(t, approximate=a))
    case("leaky_relu", [x(6), 0.3], F.leaky_relu)
    case("elu", [x(6), 0.7], F.elu)
    case("celu", [x(6), 0.5], F.celu)
    case("softplus", [x(6), 2.0], F.softplus)
    case("clamp", [x(8), -0.5, 1.0], torch.clamp)
    case("hardtanh", [x(8), -0.5, 1.0], F.hardtanh)
    case("threshold", [x(8), 0.1, 20.0], F.threshold)


def binary():
    fns = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
           "minimum": torch.minimum, "atan2": torch.atan2, "hypot": torch.hypot, "logaddexp": torch.logaddexp,
           "fmod": torch.fmod, "remainder": torch.remainder}
    for op, fn in fns.items():
        case(op, [x(2, 3), x(2, 3)], fn)
        case(op, [x(2, 1, 3), x(4, 1)], fn)
        case(op, [x(3), x()], fn)
        case(op, [SPECIAL, SPECIAL.flip(0)], fn, grad=False)
    case("maximum", [torch.tensor([1.0, 2.0, 3.0], dtype=D), torch.tensor([1.0, 3.0, 2.0], dtype=D)], torch.maximum)
    case("minimum", [torch.tensor([1.0, 2.0, 3.0], dtype=D), torch.tensor([1.0, 3.0, 2.0], dtype=D)], torch.minimum)
    case("pow", [x(2, 3, low=0.2), x(2, 3)], torch.pow)
    for exponent in (0.0, 0.5, 1.0, 2.0, 3.0, -1.0):
        case("pow", [x(4, low=0.2), exponent], torch.pow)
    case("pow", [ints(5), 2], torch.pow)
    compare = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
    for op, fn in compare.items():
        case(op, [ints(2, 5, high=3), ints(5, high=3)], fn)
        case(op, [SPECIAL, SPECIAL.flip(0)], fn, grad=False)
    logical = {"logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}
    for op, fn in logical.items():
        case(op, [ints(6, high=2), ints(6, high=2)], fn)
    bits = {"bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor,
            "bitwise_left_shift": torch.bitwise_left_shift, "bitwise_right_shift": torch.bitwise_right_shift}
    for op, fn in bits.items():
        case(op, [ints(6, high=60), ints(6, high=5)], fn)
    case("bitwise_not", [ints(6)], torch.bitwise_not)
    case("where", [ints(2, 3, high=2).bool(), x(2, 3), x(3)], torch.where)
    case("lerp", [x(4), x(4), x(4)], torch.lerp)
    case("prelu", [x(2, 3, 2), x(3)], F.prelu)
    case("masked_fill", [x(2, 3), ints(2, 3, high=2).bool(), 7.0], torch.masked_fill)


def reductions():
    t = x(2, 3, 4)
    for dims in ([], [0], [1, 2], [-1]):
        for keep in (False, True):
            d = dims if dims else None
            case("sum", [t, dims, keep], lambda a, _, k, d=d: a.sum(d, keepdim=k) if d else a.sum().reshape([1] * 3 if k else []))
            case("mean", [t, dims, keep], lambda a, _, k, d=d: a.mean(d, keepdim=k) if d else a.mean().reshape([1] * 3 if k else []))
            case("amax", [t, dims, keep], lambda a, _, k, d=d: torch.amax(a, d or (), k))
            case("amin", [t, dims, keep], lambda a, _, k, d=d: torch.amin(a, d or (), k))
    for dim in (0, 1, -1):
        case("cumsum", [t, dim], torch.cumsum)
        case("cumprod", [t, dim], torch.cumprod)
        case("softmax", [t, dim], torch.softmax)
        case("log_softmax", [t, dim], torch.log_softmax)
    case("amax", [torch.tensor([1.0, 3.0, 3.0], dtype=D)], torch.amax)
    case("sum", [ints(3, 4)], torch.sum)


    case("prod", [t, [-1]], lambda a, d: a.prod(d[0]))
    case("prod", [torch.tensor([2.0, 0.0, 3.0], dtype=D), [0]], lambda a, d: a.prod(d[0]))
    case("var", [t, [1], 1, True], lambda a, d, c, k: a.var(d, correction=c, keepdim=k))
    case("std", [t, [0, 2], 0, False], lambda a, d, c, k: a.std(d, correction=c, keepdim=k))
    case("var_mean", [t, [1], 1, False], lambda a, d, c, k: torch.var_mean(a, d, correction=c, keepdim=k))
    for p in (1.0, 2.0, 3.0, math.inf):
        case("norm", [t, p, [1], False], lambda a, q, d, k: torch.linalg.vector_norm(a, q, d, k))
    case("logsumexp", [t, [1], True], torch.logsumexp)
    case("argmax", [t, [1], True], lambda a, d, k: torch.argmax(a, d[0], k))
    case("argmin", [t, [1], False], lambda a, d, k: torch.argmin(a, d[0], k))
    case("all", [ints(3, 4, high=3), [1]], lambda a, d: torch.all(a, d[0]))
    case("any", [ints(3, 4, high=2), [1]], lambda a, d: torch.any(a, d[0]))
    case("count_nonzero", [ints(3, 4, high=2), [1]], lambda a, d: torch.count_nonzero(a, d[0]))
    for descending in (False, True):
        case("sort", [t, 1, descending], lambda a, d, e: torch.sort(a, dim=d, descending=e, stable=True))
        case("argsort", [ints(3, 6, high=4), 1, descending], lambda a, d, e: torch.argsort(a, dim=d, descending=e, stable=True))
    case("topk", [t, 2, -1], torch.topk)


def shapes():
    t = x(2, 3, 4)
    case("reshape", [t, [4, -1]], torch.reshape)
    case("permute", [t, [2, 0, 1]], torch.permute)
    case("transpose", [t, 0, -1], torch.transpose)
    case("movedim", [t, [0], [2]], torch.movedim)
    case("squeeze", [x(2, 1, 3, 1), [1]], lambda a, d: a.squeeze(*d))
    case("unsqueeze", [t, 1], torch.unsqueeze)
    case("expand", [x(2, 1, 4), [2, 3, -1]], lambda a, s: a.expand(s))
    case("flatten", [t, 1, 2], torch.flatten)
    case("unflatten", [x(2, 6), 1, [2, 3]], torch.unflatten)
    case("select", [t, 1, -1], torch.select)
    case("narrow", [t, 2, 1, 2], torch.narrow)
    case("cat", [[x(2, 3), x(2, 1)], 1], torch.cat)
    case("stack", [[x(2, 3), x(2, 3)], -1], torch.stack)
    case("pad", [t, [1, 2, 0, 1], "constant", 0.5], F.pad)
    for mode in ("reflect", "replicate", "circular"):
        case("pad", [t, [1, 2], mode], F.pad)
    case("flip", [t, [0, 2]], torch.flip)
    case("roll", [t, [1, -2], [1, 2]], torch.roll)
    case("repeat", [t, [2, 1, 2]], lambda a, r: a.repeat(r))
    case("unfold", [x(2, 7), 1, 3, 2], lambda a, d, n, st: a.unfold(d, n, st))
    case("diagonal", [x(3, 4), 1], torch.diagonal)
    case("triu", [x(3, 4), 1], torch.triu)
    case("tril", [x(3, 4), -1], torch.tril)
    case("gather", [x(3, 4), 1, ints(3, 2, high=4)], torch.gather)
    case("scatter_add", [x(3, 4), 1, ints(3, 4, high=4), x(3, 4)], torch.scatter_add)
    case("index_select", [x(3, 4), 1, ints(5, high=4)], torch.index_select)
    case("embedding", [x(5, 4), ints(2, 3, high=5)], lambda w, i: F.embedding(i, w))
    case("one_hot", [ints(4, high=5), 5], F.one_hot)


def products():
    case("matmul", [x(3, 4), x(4, 2)], torch.matmul)
    case("matmul", [x(4), x(4)], torch.matmul)
    case("matmul", [x(2, 1, 3, 4), x(5, 4, 2)], torch.matmul)
    case("matmul", [x(2, 3, 4), x(4)], torch.matmul)
    case("linear", [x(2, 3), x(4, 3), x(4)], F.linear)
    case("linear", [x(5, 2, 3), x(4, 3)], F.linear)
    case("bmm", [x(2, 3, 4), x(2, 4, 2)], torch.bmm)
    case("outer", [x(3), x(2)], torch.outer)
    case("addmm", [x(2), x(3, 4), x(4, 2), 0.5, 2.0],
         lambda c, a, b, beta, alpha: torch.addmm(c, a, b, beta=beta, alpha=alpha))
    for equation, sizes in (("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
                            ("ii->i", [(3, 3)]), ("ij->", [(2, 3)]), ("i,j->ij", [(2,), (3,)]),
                            ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]), ("bhqd,bhkd->bhqk", [(1, 2, 3, 2), (1, 2, 4, 2)])):
        case("einsum", [equation, [x(*n) for n in sizes]], lambda e, ts: torch.einsum(e, *ts))


def losses():
    logits, labels = x(4, 5), ints(4, high=5)
    case("cross_entropy", [logits, labels], F.cross_entropy)
    case("nll_loss", [logits, labels], F.nll_loss)


def rows():
    added = lambda t, dim, index, source, alpha=1: torch.index_add(t, dim, index, source, alpha=alpha)
    case("index_add", [x(3, 4), 0, torch.tensor([2, 0, 2]), x(3, 4)], added)
    case("index_add", [x(3, 4), -1, torch.tensor([1, 1, 3, 0, 1], dtype=torch.int32), x(3, 5), -0.5], added)
    case("index_add", [x(5), 0, torch.tensor([4, 4]), x(2), 2], added)
    case("index_add", [x(2, 3), 0, torch.tensor([], dtype=torch.int64), x(0, 3)], added)
    case("index_add", [ints(3, 2), 0, torch.tensor([1, 1]), ints(2, 2), 3], added)


def main():
    unary()
    binary()
    reductions()
    shapes()
    products()
    losses()
    torch_values_families.add()
    torch_values_edges.add()
    torch_values_families.options()
    rows()
    write("torch_values.json")


main()
