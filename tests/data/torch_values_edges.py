"""Cases of torch_values.json at the edges of what ops take: dtypes that are kept, numbers that are cut, indices and masks of other
dtypes, tensors without dimensions, and calls that change nothing. Called by torch_values.py.
"""
import math

import torch
import torch.nn.functional as F

from torch_cases import D, SPECIAL, Const, case, ints, x

INT32, UINT8, INT64 = torch.int32, torch.uint8, torch.int64


def dtypes():
    bools = torch.tensor([True, False, True])
    numbers = torch.tensor([-7, -2, 0, 1, 5])
    case("sign", [SPECIAL], torch.sign, grad=False)
    case("sign", [torch.tensor([math.nan, -0.0, 3.0, -2.0], dtype=torch.float32)], torch.sign, grad=False)
    case("abs", [torch.tensor([math.nan, -0.0, 3.0, -2.0], dtype=D)], torch.abs)
    for t in (bools, numbers.to(INT32), numbers.abs().to(UINT8)):
        case("square", [t], torch.square)
    for t in (numbers, numbers.to(INT32)):
        case("hardtanh", [t, -2.7, 3.9], F.hardtanh)
        case("hardtanh", [t], F.hardtanh)
        case("threshold", [t, 0.9, 7.8], F.threshold)
        case("threshold", [t, -2.5, -9], F.threshold)
    mask = torch.tensor([True, False, True, False, True])
    for t in (numbers, numbers.to(INT32), numbers.abs().to(UINT8), numbers.to(torch.float32), numbers > 0):
        for value in (2, 2.5, 0, torch.tensor(3), torch.tensor(2.5, dtype=torch.float32)):
            case("masked_fill", [t, mask, value], torch.masked_fill)
    case("masked_fill", [x(2, 3), ints(3, high=2).bool(), x()], torch.masked_fill)
    case("masked_fill", [x(3), ints(2, 3, high=2).bool(), -math.inf], torch.masked_fill)
    for dtype in (D, torch.float32, torch.float16, torch.bfloat16, INT64, INT32, UINT8, torch.bool):
        for value in (0, 3, 2.5):
            t = torch.ones(3).to(dtype)
            case("fill_", [Const(t), value], lambda a, v: a.fill_(v), grad=False, writes=(0,))


def indices():
    for dtype in (INT32, INT64):
        case("gather", [x(3, 4), 1, ints(3, 2, high=4).to(dtype)], torch.gather)
        case("scatter", [x(3, 4), 1, ints(3, 2, high=4).sort(1).values.to(dtype) * 0 + torch.tensor([1, 3], dtype=dtype), x(3, 2)],
             torch.scatter)
        case("scatter_add", [x(3, 4), 0, ints(2, 3, high=3).to(dtype), x(2, 3)], torch.scatter_add)
        case("index_select", [x(3, 4), -1, ints(5, high=4).to(dtype)], torch.index_select)
        case("index", [x(3, 4), [ints(3, high=3).to(dtype), ints(3, high=4).to(dtype)]], lambda t, i: t[tuple(i)])
        case("index_put", [x(3, 4), [torch.tensor([2, 0], dtype=dtype)], x(2, 4), True],
             lambda t, i, v, a: t.index_put(tuple(i), v, a))
        case("embedding", [x(5, 4), ints(2, 3, high=5).to(dtype)], lambda w, i: F.embedding(i, w))
        case("embedding_bag", [x(5, 3), ints(6, high=5).to(dtype), torch.tensor([0, 2], dtype=dtype), "mean"],
             lambda w, i, o, m: F.embedding_bag(i, w, o, mode=m))
    bytes_ = torch.tensor([1, 0, 7], dtype=UINT8)
    case("index", [x(3, 4), [bytes_]], lambda t, i: t[tuple(i)])
    case("index", [x(2, 3), [None, bytes_]], lambda t, i: t[:, i[1]])
    case("index_put", [x(3, 4), [bytes_], x(2, 4), False], lambda t, i, v, a: t.index_put(tuple(i), v, a))
    case("where", [bytes_, x(3), x(3)], torch.where)
    for target in (ints(4, high=5), ints(4, high=5).to(UINT8)):
        case("cross_entropy", [x(4, 5), target], F.cross_entropy)
        case("nll_loss", [x(4, 5), target, x(5, low=0.1)], lambda i, t, w: F.nll_loss(i, t, w.detach()), second=False, grad=False)
    # Of a larger src the part that index covers.
    case("scatter", [x(3, 4), 0, torch.tensor([[0, 1], [2, 0]]), Const(x(3, 4))], torch.scatter)
    case("scatter", [x(3, 4), 1, torch.tensor([[3, 1]]), Const(x(2, 3)), True], lambda t, d, i, s, _: t.scatter_add(d, i, s))
    case("scatter_add", [x(3, 4), 1, torch.tensor([[3, 1, 1], [0, 0, 2]]), Const(x(5, 4))], torch.scatter_add)
    # Without elements, and without dimensions.
    case("gather", [x(3), 0, torch.zeros(0, dtype=UINT8)], torch.gather)
    case("gather", [x(), 0, torch.tensor([0, 0])], torch.gather)
    case("gather", [x(), -1, torch.tensor(0)], torch.gather)
    case("scatter", [x(), 0, torch.tensor([0]), Const(x(1))], torch.scatter)
    case("scatter", [x(), 0, torch.tensor(0), x()], torch.scatter)
    case("index_select", [x(), 0, torch.tensor([0])], torch.index_select)
    for classes in (torch.tensor([[1, 0], [4, 2]]), torch.tensor(2)):
        case("one_hot", [classes], F.one_hot)
        case("one_hot", [classes, -1], F.one_hot)


def without_dimensions():
    kinds = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin,
             "logsumexp": torch.logsumexp}
    for dim in (0, -1):
        for op, fn in kinds.items():
            for keep in (False, True):
                case(op, [x(), [dim], keep], lambda t, d, k, fn=fn: fn(t, d[0], k))
        case("prod", [x(), [dim]], lambda t, d: torch.prod(t, d[0]))
        for op, fn in (("argmax", torch.argmax), ("argmin", torch.argmin)):
            case(op, [x(), [dim], True], lambda t, d, k, fn=fn: fn(t, d[0], k))
        for op, fn in (("all", torch.all), ("any", torch.any)):
            case(op, [torch.tensor(3), [dim]], lambda t, d, fn=fn: fn(t, d[0]))
        case("count_nonzero", [torch.tensor(3), [dim]], lambda t, d: torch.count_nonzero(t, d[0]))
        case("var", [x(), [dim], 0], lambda t, d, c: torch.var(t, d, correction=c))
        case("var", [x(), [dim], 1], lambda t, d, c: torch.var(t, d, correction=c), grad=False)
        case("std", [x(), [dim], 0], lambda t, d, c: torch.std(t, d, correction=c), grad=False)
        case("var_mean", [x(), [dim], 0], lambda t, d, c: torch.var_mean(t, d, correction=c))
        for p in (1.0, 2.0, 3.0, math.inf):
            case("norm", [x(), p, [dim]], lambda t, q, d: torch.linalg.vector_norm(t, q, d))
        for op, fn in (("max", torch.max), ("min", torch.min)):
            for keep in (False, True):
                case(op, [x(), dim, keep], lambda t, d, k, fn=fn: tuple(fn(t, d, k)))
        for op, fn in (("cumsum", torch.cumsum), ("cumprod", torch.cumprod), ("softmax", torch.softmax),
                       ("log_softmax", torch.log_softmax)):
            case(op, [x(), dim], fn)
        case("sort", [x(), dim, True], lambda t, d, e: tuple(torch.sort(t, dim=d, descending=e)))
        case("argsort", [x(), dim], torch.argsort)
        case("topk", [x(), 1, dim], lambda t, k, d: tuple(torch.topk(t, k, d)))
        case("flip", [x(), [dim]], torch.flip)
        case("squeeze", [x(), [dim]], lambda t, d: t.squeeze(d[0]))
        case("unsqueeze", [x(), dim], torch.unsqueeze)
        case("transpose", [x(), 0, dim], torch.transpose)
    case("flatten", [x()], torch.flatten)
    case("sum", [torch.tensor(3, dtype=INT32), [0]], lambda t, d: torch.sum(t, d[0]))
    case("roll", [x(), [1]], torch.roll)
    case("repeat", [x(), [2, 1]], lambda t, n: t.repeat(n))


# These change nothing, and give a tensor of its own all the same: op_sweep_test looks at the memory.
def unchanged():
    image = x(1, 2, 2, 2)
    case("pixel_shuffle", [image, 1], F.pixel_shuffle)
    case("pixel_unshuffle", [image, 1], F.pixel_unshuffle)
    case("interpolate", [image, [2, 2]], lambda t, s: F.interpolate(t, s))
    case("interpolate", [image, [2, 2], [], "bilinear"], lambda t, s, f, m: F.interpolate(t, s, mode=m, align_corners=False))
    for mode in ("constant", "reflect", "replicate", "circular"):
        case("pad", [x(2, 3, 4), [0, 0], mode], F.pad)
    case("repeat", [x(2, 3), [1, 1]], lambda t, n: t.repeat(n))
    case("roll", [x(2, 3), [0], [1]], torch.roll)
    case("roll", [x(2, 3), [3], [1]], torch.roll)
    case("flip", [x(2, 3), []], torch.flip)
    case("flip", [x(2, 1), [1]], torch.flip)
    case("cat", [[x(2, 3)], 0], torch.cat)
    case("stack", [[x(2, 3)], 0], torch.stack)
    case("clone", [x(2, 3)], torch.clone)
    case("nan_to_num", [ints(2, 3)], torch.nan_to_num)
    case("triu", [x(2, 3), -5], torch.triu)
    case("tril", [x(2, 3), 5], torch.tril)
    case("topk", [x(3).sort(descending=True).values, 3], lambda t, k: tuple(torch.topk(t, k)))
    case("sum", [x(2, 1), [1], True], lambda t, d, k: t.sum(d, k))
    case("mean", [x(2, 1), [1], True], lambda t, d, k: t.mean(d, k))
    case("amax", [x(2, 1), [1], True], torch.amax)
    case("prod", [x(2, 1), [1]], lambda t, d: t.prod(d[0]))
    case("cumsum", [x(2, 1), 1], torch.cumsum)
    case("softmax", [x(0, 3), 1], torch.softmax)
    case("log_softmax", [x(0, 3), 1], torch.log_softmax)
    case("index", [x(3), [torch.arange(3)]], lambda t, i: t[tuple(i)])
    case("index_select", [x(3), 0, torch.arange(3)], torch.index_select)
    case("masked_fill", [x(3), torch.zeros(3, dtype=torch.bool), 1.0], torch.masked_fill)
    case("scatter", [x(3), 0, torch.zeros(0, dtype=INT64), x(0)], torch.scatter)
    for n in (1, 2, 3):
        size = [2] * n
        t = x(1, 2, *size)
        case(f"max_pool{n}d", [t, [1] * n], getattr(F, f"max_pool{n}d"))
        case(f"avg_pool{n}d", [t, [1] * n], getattr(F, f"avg_pool{n}d"))
        case(f"adaptive_avg_pool{n}d", [t, size], getattr(F, f"adaptive_avg_pool{n}d"))
        case(f"adaptive_max_pool{n}d", [t, size], getattr(F, f"adaptive_max_pool{n}d"))
    case("im2col", [image, [1, 1]], F.unfold)
    case("fold", [x(1, 2, 4), [2, 2], [1, 1]], lambda t, s, k: F.fold(t, s, k))
    case("addmm", [x(2, 2), x(2, 2), x(2, 2), 0.0, 1.0], lambda c, a, b, beta, alpha: torch.addmm(c, a, b, beta=beta, alpha=alpha))


def padding():
    t = x(2, 3, 5)
    for pad in ([2, -1], [-2, 1], [-1, -1], [0, -3], [3, -2], [-2, 3], [2, 2], [5, 0]):
        case("pad", [t, pad, "circular"], F.pad)
    case("pad", [x(1, 2, 4, 5), [2, -1, -1, 2], "circular"], F.pad)
    for mode in ("reflect", "replicate"):
        for pad in ([2, -1], [-2, 1], [-1, -1]):
            case("pad", [t, pad, mode], F.pad)
    case("pad", [t, [-1, 2, 1, -2], "constant", 1.5], F.pad)
    case("pad", [ints(2, 3), [1, 0], "constant", 3], F.pad)


def add():
    dtypes()
    indices()
    without_dimensions()
    unchanged()
    padding()
