#!/usr/bin/env python3
"""Writes torch_values_places.json: pieces, joins, places and scattered reductions, as PyTorch 2 gives them, in float64.

    python3 tests/data/torch_values_places.py    # needs torch; writes the file beside this script

The tests read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import torch

from torch_cases import D, Const, case, ints, write, x


def tensor(*values, dtype=D):
    return torch.tensor(values, dtype=dtype)


def index(*values):
    return torch.tensor(values, dtype=torch.int64)


def pieces():
    for dim in (0, 1, -1):
        case("unbind", [x(2, 3, 4), dim], lambda t, d: list(torch.unbind(t, d)))
    case("unbind", [x(3)], lambda t: list(torch.unbind(t)))
    for size, sections, dim in (((7, 2), 3, 0), ((2, 5), 2, 1), ((3,), 5, 0), ((2, 4, 3), 4, -2)):
        case("tensor_split", [x(*size), sections, dim], lambda t, n, d: list(torch.tensor_split(t, n, d)))
    for size, places, dim in (((7, 2), [1, 4], 0), ((2, 5), [-2, 9], 1), ((4,), [3, 1], 0), ((3, 2), [], -1)):
        case("tensor_split_at", [x(*size), places, dim], lambda t, i, d: list(torch.tensor_split(t, i, d)))
    case("hsplit", [x(6), 3], lambda t, n: list(torch.hsplit(t, n)))
    case("hsplit", [x(2, 4, 2), 2], lambda t, n: list(torch.hsplit(t, n)))
    case("vsplit", [x(4, 3), 2], lambda t, n: list(torch.vsplit(t, n)))
    case("vsplit", [x(3, 2, 2), 3], lambda t, n: list(torch.vsplit(t, n)))
    case("dsplit", [x(2, 2, 6), 3], lambda t, n: list(torch.dsplit(t, n)))
    case("dsplit", [x(1, 2, 4, 2), 2], lambda t, n: list(torch.dsplit(t, n)))
    case("unfold", [x(9), 0, 4, 1], lambda t, d, n, s: t.unfold(d, n, s))
    case("unfold", [x(3, 6), 0, 2, 1], lambda t, d, n, s: t.unfold(d, n, s))
    case("unfold", [x(2, 6, 2), -2, 3, 2], lambda t, d, n, s: t.unfold(d, n, s))


def joins():
    joined = {"hstack": torch.hstack, "vstack": torch.vstack, "dstack": torch.dstack, "column_stack": torch.column_stack}
    for op, fn in joined.items():
        case(op, [[x(3), x(3)]], fn)
        case(op, [[x(), x()]], fn)
        case(op, [[x(2, 3), x(2, 3), x(2, 3)]], fn)
        case(op, [[x(2, 3, 2), x(2, 3, 2)]], fn)
        case(op, [[x(3), ints(3)]], fn)
    case("hstack", [[x(2, 3), x(2, 1)]], torch.hstack)
    case("hstack", [[x(2), x(), x(1)]], torch.hstack)
    case("vstack", [[x(3), x(2, 3)]], torch.vstack)
    case("dstack", [[x(3), x(1, 3, 2)]], torch.dstack)
    case("column_stack", [[x(3), x(3, 2), x(3, 1)]], torch.column_stack)
    case("block_diag", [[x(2, 3), x(3), x(), x(1, 1)]], lambda ts: torch.block_diag(*ts))
    case("block_diag", [[x(2, 2)]], lambda ts: torch.block_diag(*ts))
    case("block_diag", [[ints(2, 1), x(2, 2)]], lambda ts: torch.block_diag(*ts))
    case("block_diag", [[x(0, 2), x(2, 1)]], lambda ts: torch.block_diag(*ts))
    case("cartesian_prod", [[x(2), x(3)]], lambda ts: torch.cartesian_prod(*ts))
    case("cartesian_prod", [[x(2), x(1), x(3)]], lambda ts: torch.cartesian_prod(*ts))
    case("cartesian_prod", [[x(3)]], lambda ts: torch.cartesian_prod(*ts))
    case("cartesian_prod", [[ints(2), ints(2)]], lambda ts: torch.cartesian_prod(*ts))
    for n, r, again in ((4, 2, False), (4, 3, False), (3, 2, True), (3, 3, True), (3, 1, False), (2, 3, False), (3, 3, False), (1, 2, True)):
        case("combinations", [x(n), r, again], torch.combinations)
    case("combinations", [ints(5)], torch.combinations)
    for k in (0, 1, 2, 3, -1, 5):
        case("rot90", [x(2, 3), k], torch.rot90)
    case("rot90", [x(2, 3, 2), 1, [1, 2]], torch.rot90)
    case("rot90", [x(2, 3, 2), 3, [-1, 0]], torch.rot90)
    for size, groups in (((1, 4, 2, 2), 2), ((2, 6, 3), 3), ((1, 3, 2), 1), ((1, 4, 1, 2, 1), 4)):
        case("channel_shuffle", [x(*size), groups], torch.nn.functional.channel_shuffle)


def places():
    case("take_along_dim", [x(3, 4), ints(3, 2, high=4), 1], torch.take_along_dim)
    case("take_along_dim", [x(3, 1, 2), ints(1, 4, 5, high=2), -1], torch.take_along_dim)
    case("take_along_dim", [x(1, 4), ints(2, 4, high=1), 0], torch.take_along_dim)
    case("take_along_dim", [x(3, 4), ints(5, high=12)], torch.take_along_dim)
    case("take", [x(3, 4), ints(2, 3, high=12)], torch.take)
    case("take", [x(3, 4), index(-1, -12, 11, 0, 0)], torch.take)
    case("take", [x(5), torch.tensor(2)], torch.take)
    put = lambda t, i, s, a=False: torch.Tensor.put(t, i, s, a)
    case("put", [x(3, 4), index(3, 0, -1), x(3)], put)
    case("put", [x(2, 3), index(3, 0, 3, 5), x(4), True], put)
    case("put", [x(4), index(1), x(1)], put)
    case("put", [x(2, 3), ints(0), x(0)], put)
    copied = torch.Tensor.index_copy
    case("index_copy", [x(3, 4), 0, index(2, 0), x(2, 4)], copied)
    case("index_copy", [x(3, 4), -1, index(1, 3, 0), x(3, 3)], copied)
    case("index_copy", [x(5), 0, index(4), x(1)], copied)
    case("index_copy", [ints(3, 2), 1, index(1), ints(3, 1)], copied)
    filled = torch.Tensor.index_fill
    case("index_fill", [x(3, 4), 0, index(2, 0), 0.5], filled)
    case("index_fill", [x(3, 4), 1, index(1, 1, 3), x()], filled)
    case("index_fill", [ints(3, 2), -1, index(1), 7], filled)
    case("index_fill", [x(3), 0, ints(0), 2.0], filled)
    chosen = torch.tensor([[True, False, True], [False, True, False]])
    case("masked_scatter", [x(2, 3), chosen, x(4)], torch.masked_scatter)
    case("masked_scatter", [x(2, 3), chosen[0], x(2, 2)], torch.masked_scatter)
    case("masked_scatter", [x(3), chosen, x(3)], torch.masked_scatter)
    case("masked_scatter", [x(2, 3), torch.zeros(2, 3, dtype=torch.bool), x(1)], torch.masked_scatter)
    case("masked_scatter", [ints(2, 3), chosen, ints(5)], torch.masked_scatter)


def scattered():
    def fn(t, d, i, s, r, include=True):
        for k in range(s.dim()):  # PyTorch has no gradient of a src that is larger than index
            s = s.narrow(k, 0, i.shape[k])
        return torch.scatter_reduce(t, d, i, s, r, include_self=include)

    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            case("scatter_reduce", [x(5, low=0.2), 0, index(1, 3, 1, 0, 1, 3), x(6, low=0.2), reduce, include], fn)
            case("scatter_reduce", [x(3, 4, low=0.3), 1, ints(3, 5, high=4), x(3, 6, low=0.3), reduce, include], fn)
            case("scatter_reduce", [x(3, 2, low=0.3), 0, ints(5, 2, high=3), x(5, 2, low=0.3) + 0.0005, reduce, include], fn)
        case("scatter_reduce", [x(3, 2), 0, ints(2, 1, high=3), x(2, 2), reduce], fn)
        case("scatter_reduce", [ints(4), 0, ints(6, high=3), ints(6, low=1), reduce], fn)
        case("scatter_reduce", [x(2, 3), 1, ints(2, 0), x(2, 0), reduce], fn)
        case("scatter_reduce", [x(), 0, torch.tensor(0), x(), reduce], fn)
    zeros = tensor(2.0, 0.0, 3.0, 0.0, 0.0, 1.5)
    case("scatter_reduce", [tensor(1.0, 2.0, 0.0), 0, index(0, 0, 1, 1, 2, 2), zeros, "prod"], fn, second=False)
    case("scatter_reduce", [tensor(1.0, 0.0, 2.0), 0, index(0, 0, 1, 2, 2, 2), zeros, "prod", False], fn, second=False)
    ties = tensor(2.0, 2.0, 1.0, 3.0, 3.0, 3.0)
    for reduce in ("amax", "amin"):
        case("scatter_reduce", [tensor(2.0, 3.0, 3.0), 0, index(0, 0, 0, 1, 1, 1), ties, reduce], fn)
        # PyTorch counts an element of x that is as large even where it takes no part; here there is none.
        case("scatter_reduce", [tensor(0.5, 9.0, 3.0), 0, index(0, 0, 0, 1, 1, 1), ties, reduce, False], fn)
    fn = lambda t, d, i, s, r, include=True: t.index_reduce(d, i, s, r, include_self=include)
    for reduce in ("prod", "mean", "amax", "amin"):
        for include in (True, False):
            case("index_reduce", [x(4, low=0.2), 0, index(1, 3, 1), x(3, low=0.2), reduce, include], fn)
            case("index_reduce", [x(3, 4, low=0.3), -1, index(3, 0, 3, 3, 1), x(3, 5, low=0.3), reduce, include], fn)
        case("index_reduce", [ints(3, 2), 0, index(2, 2, 0), ints(3, 2, low=1), reduce], fn)


def segments():
    fn = lambda t, r, n: torch.segment_reduce(t, r, lengths=n)
    for reduce in ("sum", "prod", "mean", "max", "min"):
        case("segment_reduce", [x(6, low=0.2), reduce, index(2, 3, 1)], fn, second=False)
        case("segment_reduce", [x(6, 2, low=0.3), reduce, index(4, 2)], fn, second=False)
        case("segment_reduce", [x(5, 2, 2), reduce, index(1, 0, 4)], fn, grad=False)


def parts():
    # PyTorch gives the first argument the gradient of the second.
    for offset in (0, 3):
        case("as_strided_scatter", [x(3, 4), x(2, 2), [2, 2], [1, 4], offset], torch.as_strided_scatter, grad=False)
    case("as_strided_scatter", [x(6), x(2), [2], [3]], torch.as_strided_scatter, grad=False)
    for size in (0, 3, 20):
        case("nonzero_static", [ints(3, 4, high=2), size], lambda t, n: torch.nonzero_static(t, size=n))
    case("nonzero_static", [ints(2, 3, 2, high=2), 9, 5], lambda t, n, v: torch.nonzero_static(t, size=n, fill_value=v))


def main():
    pieces()
    joins()
    places()
    scattered()
    segments()
    parts()
    write("torch_values_places.json")


main()
