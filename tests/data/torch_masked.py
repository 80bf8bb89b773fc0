#!/usr/bin/env python3
"""Writes torch_masked.json: functions of torch.masked as PyTorch 2 gives them, in float64 where nothing else is said.

    python3 tests/data/torch_masked.py    # needs torch; writes the file beside this script

tests/ops/masked_test.cpp reads it. What a case is stands in torch_cases.py; here the name is that of the function, and the arguments
are x, the mask, what the function cannot do without, and its options in their order. Masks leave whole slices empty, too, but for
gradients of var and std: PyTorch's are NaN there.
"""
import math

import torch

from torch_cases import D, Const, case, ints, write, x

M = torch.masked
F32, I64 = torch.float32, torch.int64
some = torch.tensor([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
empty = torch.tensor([[True, False, True, True], [False, False, False, False], [False, False, True, False]])
row = torch.tensor([True, False, True, True])
column = torch.tensor([[1], [0], [2]], dtype=torch.uint8)


def with_bad_places(mask):
    """Values that would show where the mask leaves them out, if they counted."""
    bad = torch.tensor([math.nan, math.inf, -math.inf, 1e300], dtype=D).expand(mask.shape)
    return torch.where(mask, x(*mask.shape), bad)


def reduction(name, masks=(some, empty), dtype=F32, grad=True):
    f = getattr(M, name)

    def call(a, m, dim, keepdim, dtype):
        return f(a, tuple(dim), keepdim=keepdim, dtype=dtype, mask=m)

    for mask in masks:
        for dim, keepdim in (([1], False), ([0], True), ([], False)):
            case(name, [x(3, 4), mask, dim, keepdim, None], call, grad=grad)
    case(name, [x(2, 3, 4), some, [0, -1], False, None], call, grad=grad)
    case(name, [x(3, 4), row, [1], True, dtype], call, grad=grad, second=False)
    case(name, [x(3, 4), None, [1], False, None], call, grad=grad)
    case(name, [with_bad_places(some), some, [1], False, None], call, grad=grad, second=False)
    case(name, [torch.tensor(2.5, dtype=D), torch.tensor(False), [], False, None], call, grad=grad)


def reductions():
    for name in ("sum", "prod", "amax", "amin"):
        reduction(name)
        for dtype in (torch.int8, torch.uint8, torch.int64):
            case(name, [ints(3, 4).to(dtype), empty, [1], False, None],
                 lambda a, m, d, k, t, f=getattr(M, name): f(a, d, keepdim=k, dtype=t, mask=m), grad=False)
    reduction("mean")
    reduction("logsumexp", dtype=F32)
    case("mean", [x(3, 4), column, [0], False, None], lambda a, m, d, k, t: M.mean(a, d, keepdim=k, mask=m))
    case("mean", [ints(3, 4), some, [1], False, F32], lambda a, m, d, k, t: M.mean(a, d, dtype=t, mask=m), grad=False)
    case("logsumexp", [ints(3, 4), some, [1], False, None], lambda a, m, d, k, t: M.logsumexp(a, d, mask=m), grad=False)
    for name in ("argmax", "argmin"):
        def call(a, m, dim, keepdim, dtype, f=getattr(M, name)):
            return f(a, dim[0] if dim else None, keepdim=keepdim, dtype=dtype, mask=m)

        for a in (x(3, 4), ints(3, 4), ints(3, 4).to(torch.uint8), with_bad_places(some)):
            mask = some if a.dtype == D else empty
            for dim, keepdim, dtype in (([1], False, None), ([0], True, I64), ([], False, I64), ([], True, None)):
                case(name, [a, mask, dim, keepdim, dtype], call, grad=False)


def medians():
    def call(a, m, dim, keepdim, dtype):
        return M.median(a, dim, keepdim=keepdim, dtype=dtype, mask=m)

    for mask in (some, empty, None):
        case("median", [x(3, 4), mask, -1, False, None], call, second=False)
        case("median", [x(3, 4), mask, 0, True, None], call, second=False)
    case("median", [ints(3, 4), some, 1, False, None], call, grad=False)
    case("median", [ints(3, 4), some, 1, False, F32], call, grad=False)
    case("median", [with_bad_places(some), some, 1, False, None], call, second=False)


def spread():
    for name in ("var", "std"):
        def call(a, m, dim, unbiased, correction, keepdim, dtype, f=getattr(M, name)):
            return f(a, tuple(dim), unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=m)

        for dim, unbiased, correction, keepdim in (([1], None, None, False), ([1], False, None, True), ([0], True, None, False),
                                                   ([], None, None, False), ([1], None, 0.5, False), ([1], None, 0.0, False)):
            case(name, [x(3, 4), some, dim, unbiased, correction, keepdim, None], call)
        for mask in (empty, row, column, None):
            case(name, [x(3, 4), mask, [1], None, None, False, None], call, grad=mask is row or mask is None)
        case(name, [x(2, 3, 4), some, [0, 2], None, None, False, F32], call, grad=False)
        case(name, [ints(3, 4), some, [1], None, None, False, None], call, grad=False)
        case(name, [with_bad_places(some), some, [1], None, None, False, None], call, grad=False)


def norms():
    def call(a, m, o, dim, keepdim, dtype):
        return M.norm(a, o, tuple(dim), keepdim=keepdim, dtype=dtype, mask=m)

    for o in (2.0, 1.0, 3.0, 0.5, math.inf, -math.inf, 0.0):
        for mask in (some, empty):
            case("norm", [x(3, 4), mask, o, [1], False, None], call, second=o in (2.0, 3.0) and mask is some)
        case("norm", [x(3, 4), some, o, [], True, None], call, second=False)
    for o in (-1.0, -2.0):  # With a mask PyTorch's zeros are wrong: those of the elements that count.
        case("norm", [x(3, 4), row, o, [1], False, None],
             lambda a, m, o, d, k, t: torch.linalg.vector_norm(a[:, m], o, d), second=False)
    case("norm", [x(2, 3, 4).to(F32), some, 2.0, [0, 1], False, D], call, grad=False)

    def normalize(a, m, o, dim, eps, dtype):
        return M.normalize(a, o, dim, eps=eps, dtype=dtype, mask=m)

    for mask in (some, empty, row, None):
        case("normalize", [x(3, 4), mask, 2.0, 1, 1e-12, None], normalize, second=mask is not empty)
        case("normalize", [x(3, 4), mask, 1.0, 0, 1e-12, None], normalize, second=False)
    case("normalize", [x(3, 4), some, 3.0, -1, 5.0, None], normalize)
    case("normalize", [x(3, 4).to(F32), some, math.inf, 1, 1e-12, D], normalize, grad=False)


def along():
    for name in ("cumsum", "cumprod", "softmax", "log_softmax", "softmin"):
        def call(a, m, dim, dtype, f=getattr(M, name)):
            return f(a, dim, dtype=dtype, mask=m)

        for mask in (some, empty, row, None):
            case(name, [x(3, 4), mask, 1, None], call, second=not name.startswith("log") and mask is not empty)
        case(name, [x(2, 3, 4), some, 0, None], call, second=False)
        case(name, [x(3, 4), some, -1, F32], call, grad=False)
        case(name, [with_bad_places(some), some, 1, None], call, grad=name != "log_softmax", second=False)
        if name.startswith("cum"):
            case(name, [ints(3, 4, high=4).to(torch.int8), some, 1, None], call, grad=False)
        elif name != "log_softmax":  # PyTorch's has -9e18 for what the mask leaves out of integers.
            case(name, [ints(3, 4), some, 1, F32], call, grad=False)


def pairs():
    def call(a, b, dtype, m, n):
        return M.logaddexp(a, b, dtype=dtype, input_mask=m, other_mask=n)

    case("logaddexp", [x(3, 4), x(3, 4), None, some, empty], call, second=False)
    case("logaddexp", [x(3, 4), x(3, 4), None, None, row], call, second=False)
    case("logaddexp", [x(3, 4), x(4), None, column, None], call, second=False)
    case("logaddexp", [x(3, 4), x(3, 4), F32, some, some], call, grad=False)
    case("logaddexp", [x(3, 4), x(3, 4), None, None, None], call)


reductions()
medians()
spread()
norms()
along()
pairs()
write("torch_masked.json")
