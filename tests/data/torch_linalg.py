#!/usr/bin/env python3
"""Writes torch_linalg.json: functions of torch.linalg as PyTorch 2 gives them, in float64.

    python3 tests/data/torch_linalg.py    # needs torch; writes the file beside this script

tests/ops/linalg_test.cpp reads it. What a case is stands in torch_cases.py. Signs of vectors are free, so those of eigh and svd are
compared by products in which they cancel: "made" names the product that the test makes of the op's results.
"""
import math

import torch

import torch_cases
from torch_cases import D, Const, case, write, x

L = torch.linalg
NAN = math.nan


def spd(*sizes):
    """Symmetric positive definite, on a coarse grid."""
    a = x(*sizes, low=-1.0, high=1.0)
    return (a @ a.mT + 2 * torch.eye(sizes[-1], dtype=D)).mul(1000).round().div(1000)


def symmetric(*sizes):
    a = x(*sizes)
    return (a + a.mT) / 2


def regular(*sizes):
    return x(*sizes) + 3 * torch.eye(sizes[-1], dtype=D)


def made(product, op, args, fn, **options):
    case(op, args, fn, **options)
    torch_cases.cases[-1]["made"] = product


def factors():
    for a in (spd(3, 3), spd(2, 2, 2), spd(1, 1)):
        case("linalg.cholesky", [a], L.cholesky)
        case("linalg.cholesky", [a, True], lambda a, u: L.cholesky(a, upper=u))
    for a in (x(3, 3), x(2, 4, 2)):
        case("linalg.lu_factor", [Const(a)], lambda a: tuple(L.lu_factor(a)), grad=False)
    case("linalg.lu_factor", [regular(3, 3)], lambda a: tuple(L.lu_factor(a)))
    for a in (x(3, 3), x(4, 2), x(2, 4), x(2, 3, 3)):
        case("linalg.lu", [a], lambda a: tuple(L.lu(a)))
    for a in (x(3, 3), x(2, 4, 3), x(2, 3)):
        made("abs", "linalg.qr", [a], lambda a: tuple(t.abs() for t in L.qr(a)))
    made("abs", "linalg.qr", [x(4, 2), "complete"], lambda a, m: tuple(t.abs() for t in L.qr(a, m)), grad=False)
    made("abs", "linalg.qr", [x(2, 4), "complete"], lambda a, m: tuple(t.abs() for t in L.qr(a, m)))
    lu, pivots = L.lu_factor(regular(2, 3, 3))
    for left, adjoint in ((True, False), (True, True), (False, False), (False, True)):
        case("linalg.lu_solve", [lu, Const(pivots), x(2, 3, 3), left, adjoint],
             lambda f, p, b, le, ad: L.lu_solve(f, p, b, left=le, adjoint=ad))


def equations():
    for a in (regular(3, 3), regular(2, 2, 2), regular(1, 1)):
        case("linalg.inv", [a], L.inv)
    case("linalg.solve", [regular(3, 3), x(3, 2)], L.solve)
    case("linalg.solve", [regular(3, 3), x(3)], L.solve)
    case("linalg.solve", [regular(2, 3, 3), x(2, 3)], L.solve)
    case("linalg.solve", [regular(2, 1, 3, 3), x(4, 3, 2)], L.solve)
    case("linalg.solve", [regular(2, 2), x(2, 3, 2), False], lambda a, b, le: L.solve(a, b, left=le))
    for upper in (False, True):
        for left in (False, True):
            for unit in (False, True):
                case("linalg.solve_triangular", [regular(2, 3, 3), x(3, 3), upper, left, unit],
                     lambda a, b, u, le, un: L.solve_triangular(a, b, upper=u, left=le, unitriangular=un))
        # Of the triangle alone, which is all that is read: PyTorch's own gradient has more.
        case("linalg.cholesky_solve", [x(2, 3, 2), regular(3, 3), upper],
             lambda b, f, u: L.solve(f.triu().mT @ f.triu() if u else f.tril() @ f.tril().mT, b))
        case("linalg.cholesky_inverse", [regular(2, 3, 3), upper],
             lambda f, u: L.inv(f.triu().mT @ f.triu() if u else f.tril() @ f.tril().mT))
    for m, n in ((4, 2), (3, 3), (2, 4)):
        a, b = x(2, m, n), x(2, m, 2)
        case("linalg.lstsq", [a, b], lambda a, b: (L.pinv(a) @ b, ((a @ L.pinv(a) @ b - b) ** 2).sum(-2)
             if a.shape[-2] > a.shape[-1] else torch.zeros(0, dtype=D)))
        case("linalg.pinv", [a], L.pinv)
    low_rank = x(4, 2) @ x(2, 3)
    case("linalg.pinv", [low_rank], L.pinv, second=False)
    case("linalg.pinv", [symmetric(3, 3), None, 1e-3, True], lambda a, t, r, h: L.pinv(a, atol=t, rtol=r, hermitian=h))


def determinants():
    singular = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]], dtype=D)
    for a in (x(3, 3), x(2, 2, 2), x(1, 1)):
        case("linalg.det", [a], L.det)
        case("linalg.slogdet", [a], lambda a: tuple(L.slogdet(a)))
    case("linalg.det", [x(2, 0, 0)], L.det, grad=False)
    # The gradient of a singular matrix: its cofactors, written out.
    case("linalg.det", [singular], lambda a: (a[0] * L.cross(a[1], a[2])).sum(), second=False)
    case("linalg.slogdet", [x(2, 0, 0)], lambda a: tuple(L.slogdet(a)), grad=False)
    case("linalg.slogdet", [singular], lambda a: tuple(L.slogdet(a)), grad=False)
    case("linalg.logdet", [spd(2, 3, 3)], torch.logdet)
    case("linalg.logdet", [torch.stack([singular, torch.diag(torch.tensor([1.0, -1.0, 2.0], dtype=D))])], torch.logdet, grad=False)


def spectra():
    for a in (symmetric(3, 3), symmetric(2, 2, 2), symmetric(1, 1)):
        for uplo in ("L", "U"):
            made("square", "linalg.eigh", [a, uplo], lambda a, u: (L.eigh(a, u)[0] ** 2, L.eigh(a, u)[1] ** 2))
        case("linalg.eigvalsh", [a], L.eigvalsh)
    triangle = x(3, 3)
    for uplo in ("L", "U"):
        case("linalg.eigvalsh", [triangle, uplo], L.eigvalsh, grad=False)
    for a in (x(3, 3), x(2, 4, 2), x(2, 4)):
        made("square", "linalg.svd", [a, False], lambda a, f: tuple(t ** 2 for t in L.svd(a, f)))
        case("linalg.svdvals", [a], L.svdvals)
        case("linalg.nuclear_norm", [a], lambda a: L.matrix_norm(a, "nuc"))
        case("linalg.cond", [a], L.cond)
        for p in (2.0, -2.0):
            case("linalg.matrix_norm", [a, p], L.matrix_norm)
            case("linalg.cond", [a, p], L.cond)
    made("square", "linalg.svd", [x(3, 3), True], lambda a, f: tuple(t ** 2 for t in L.svd(a, f)))
    a = x(3, 2, 4)
    case("linalg.matrix_norm", [a, 2.0, [2, 0], True], lambda a, p, d, k: L.matrix_norm(a, p, tuple(d), k))
    case("linalg.matrix_norm", [a, math.inf], L.matrix_norm)
    case("linalg.matrix_norm", [a], L.matrix_norm)
    case("linalg.nuclear_norm", [a, [0, 1], True], lambda a, d, k: L.matrix_norm(a, "nuc", tuple(d), k))
    for p in (1.0, -1.0, math.inf, -math.inf):
        case("linalg.cond", [regular(3, 3), p], lambda a, p: L.matrix_norm(a, p) * L.matrix_norm(L.inv(a), p))
    case("linalg.cond", [torch.ones(2, 2, dtype=D), 1.0], L.cond, grad=False)
    low_rank = torch.stack([x(4, 2) @ x(2, 3), x(4, 3)])
    case("linalg.matrix_rank", [low_rank], L.matrix_rank, grad=False)
    case("linalg.matrix_rank", [x(3, 3), 1.5], lambda a, t: L.matrix_rank(a, atol=t), grad=False)
    case("linalg.matrix_rank", [symmetric(3, 3), None, 0.4, True],
         lambda a, t, r, h: L.matrix_rank(a, atol=t, rtol=r, hermitian=h), grad=False)


def exponentials():
    for a in (x(3, 3), x(2, 2, 2), x(1, 1)):
        case("linalg.matrix_exp", [a], L.matrix_exp)
    case("linalg.matrix_exp", [x(2, 2, low=-30.0, high=30.0)], L.matrix_exp, grad=False)
    for n in (-2, -1, 0, 3):
        case("linalg.matrix_power", [regular(2, 3, 3), n], L.matrix_power)


def tensors():
    for a, ind in ((regular(6, 6).reshape(2, 3, 6), 2), (regular(6, 6).reshape(6, 3, 2), 1), (regular(4, 4), 1),
                   (regular(8, 8).reshape(4, 2, 2, 4), 2)):
        case("linalg.tensorinv", [a, ind], L.tensorinv)
    case("linalg.tensorsolve", [regular(6, 6).reshape(2, 3, 6), x(2, 3)], L.tensorsolve)
    case("linalg.tensorsolve", [regular(6, 6).reshape(6, 3, 2), x(6)], L.tensorsolve)
    case("linalg.tensorsolve", [regular(6, 6).reshape(3, 2, 6).permute(2, 0, 1).contiguous(), x(3, 2), [0]], L.tensorsolve)
    case("linalg.tensorsolve", [x(2, 6, 3), x(6), [0, -1]], L.tensorsolve)
    for sizes, k in (((4, 3), 3), ((3, 3), 2), ((2, 5, 2), 2), ((3, 2), 0)):
        case("linalg.householder_product", [x(*sizes), x(*sizes[:-2], k)], L.householder_product)


def powers():
    for sizes, n in (((3,), None), ((2, 3), 5), ((2, 1, 4), 2), ((0,), 3), ((2, 0), 4)):
        case("linalg.vander", [x(*sizes), n], lambda a, n: L.vander(a, N=n))
    case("linalg.vander", [torch.tensor([[2, -3, 0]]), 4], lambda a, n: L.vander(a, N=n), grad=False)


def factors_of_other_shapes():
    for a in (x(4, 2), x(2, 3, 5), x(2, 5, 1), x(1, 4)):
        case("linalg.lu_factor", [a], lambda a: tuple(L.lu_factor(a)))


def norms():
    a, v = x(2, 3, 4), x(5)
    a[a == 0] = 1  # there PyTorch's second gradients are NaN
    for p in (2.0, 1.0, 0.0, 3.0, 2.5, -1.0, math.inf, -math.inf):
        case("linalg.vector_norm", [a, p], L.vector_norm)
        case("linalg.vector_norm", [a, p, [1], True], lambda a, p, d, k: L.vector_norm(a, p, d, k))
        case("linalg.norm", [v, p], L.norm)
    case("linalg.vector_norm", [a, 2.0, [0, -1]], lambda a, p, d: L.vector_norm(a, p, d))
    case("linalg.vector_norm", [x(3, 0), 2.0, [1]], lambda a, p, d: L.vector_norm(a, p, d), grad=False)
    for p in (1.0, -1.0, 2.0, -2.0, math.inf, -math.inf):
        case("linalg.norm", [x(3, 4), p], L.norm)
        case("linalg.norm", [a, p, [2, 0], True], lambda a, p, d, k: L.norm(a, p, tuple(d), k))
    for args in ([a], [v], [a, None, [1]], [a, None, [0, 2]], [a, None, [], True], [x(3, 2), None], [a, 3.0, [-1]]):
        case("linalg.norm", args, lambda a, p=None, d=None, k=False: L.norm(a, p, tuple(d) if d else None, k))


def forms_with_info():
    for a in (spd(3, 3), spd(2, 1, 2, 2)):
        case("linalg.cholesky_ex", [a], lambda a: tuple(L.cholesky_ex(a)))
        case("linalg.cholesky_ex", [a, True, True], lambda a, u, c: tuple(L.cholesky_ex(a, upper=u, check_errors=c)))
    for a in (regular(3, 3), regular(2, 1, 2, 2)):
        case("linalg.inv_ex", [a], lambda a: tuple(L.inv_ex(a)))
        case("linalg.inv_ex", [a, True], lambda a, c: tuple(L.inv_ex(a, check_errors=c)))
        case("linalg.lu_factor_ex", [a], lambda a: tuple(L.lu_factor_ex(a)))
        case("linalg.lu_factor_ex", [a, True], lambda a, c: tuple(L.lu_factor_ex(a, check_errors=c)))
    case("linalg.lu_factor_ex", [x(2, 3, 4)], lambda a: tuple(L.lu_factor_ex(a)))
    # Ones, of which each row below the first is all 0 after it was taken off.
    case("linalg.lu_factor_ex", [torch.stack([regular(3, 3), torch.ones(3, 3, dtype=D)])], lambda a: tuple(L.lu_factor_ex(a)), grad=False)
    for a, b, left in ((regular(3, 3), x(3, 2), True), (regular(2, 3, 3), x(2, 3), True), (regular(3, 3), x(4, 3, 2), True),
                       (regular(2, 1, 3, 3), x(4, 2, 3), False)):
        case("linalg.solve_ex", [a, b, left], lambda a, b, le: tuple(L.solve_ex(a, b, left=le)))
    case("linalg.solve_ex", [regular(2, 2), x(2, 2), True, True], lambda a, b, le, c: tuple(L.solve_ex(a, b, left=le, check_errors=c)))
    for a in (x(3, 3), x(2, 4, 2), x(2, 2, 4)):
        lu, pivots = L.lu_factor(a)
        case("linalg.lu_unpack", [lu, Const(pivots)], lambda f, p: tuple(torch.lu_unpack(f, p)))
    case("linalg.lu_unpack", [lu, Const(pivots), False, True], lambda f, p, d, e: tuple(torch.lu_unpack(f, p, d, e)), grad=False)
    case("linalg.lu_unpack", [lu, Const(pivots), True, False], lambda f, p, d, e: tuple(torch.lu_unpack(f, p, d, e)))


def indefinite():
    # A matrix with a diagonal of 0 has blocks of two rows.
    hollow = symmetric(2, 4, 4)
    hollow = hollow - torch.diag_embed(torch.diagonal(hollow, dim1=-2, dim2=-1))
    for a in (symmetric(3, 3), hollow, symmetric(2, 1, 2, 2), x(3, 3)):
        case("linalg.ldl_factor", [Const(a)], lambda a: tuple(L.ldl_factor(a)), grad=False)
        case("linalg.ldl_factor_ex", [Const(a)], lambda a: tuple(L.ldl_factor_ex(a)), grad=False)
    case("linalg.ldl_factor_ex", [Const(torch.stack([symmetric(3, 3), torch.zeros(3, 3, dtype=D)]))],
         lambda a: tuple(L.ldl_factor_ex(a)), grad=False)
    for a, b in ((symmetric(3, 3), x(3, 2)), (hollow, x(2, 4, 1)), (hollow, x(4, 2)), (symmetric(2, 2), x(3, 2, 2))):
        ld, pivots = L.ldl_factor(a)
        # PyTorch has no gradient of it.
        case("linalg.ldl_solve", [Const(ld), Const(pivots), b], lambda f, p, b: L.solve(a, b))


def reflected(a, tau, c, left=True, transpose=False):
    """PyTorch's ormqr, and its gradient by the definition: that of PyTorch is of orthogonal products alone."""
    q = torch.eye(a.shape[-2], dtype=D)
    for k in range(tau.shape[-1]):
        v = torch.cat([torch.zeros_like(a[..., :k, k]), torch.ones_like(a[..., :1, k]), a[..., k + 1:, k]], -1)[..., None]
        q = q @ (torch.eye(a.shape[-2], dtype=D) - tau[..., k, None, None] * (v @ v.mT))
    q = q.mT if transpose else q
    y = q @ c if left else c @ q
    assert torch.allclose(y, torch.ormqr(a, tau, c, left, transpose))
    return y


def reflections():
    for a in (x(3, 3), x(2, 4, 2), x(2, 4), x(1, 2, 1, 3)):
        case("linalg.geqrf", [Const(a)], lambda a: tuple(torch.geqrf(a)), grad=False)
    for left in (True, False):
        for transpose in (False, True):
            case("linalg.ormqr", [x(4, 2), x(2), x(4, 3) if left else x(3, 4), left, transpose], reflected)
    case("linalg.ormqr", [x(2, 3, 3), x(2, 3), x(2, 3, 2)], reflected)
    case("linalg.ormqr", [x(3, 5), x(3), x(3, 2)], reflected)


def low_rank():
    # With as many random vectors as the smaller size these are the singular values themselves.
    def squares(a):
        u, s, vh = L.svd(a, False)
        return u**2, s**2, vh.mT**2

    for a in (x(4, 3), x(2, 3, 4)):
        made("square", "linalg.svd_lowrank", [a, 3], lambda a, q: squares(a))
        made("square", "linalg.pca_lowrank", [a, 3, False], lambda a, q, c: squares(a))
    made("square", "linalg.svd_lowrank", [x(4, 3), 3, 1, x(3)], lambda a, q, n, m: squares(a - m))
    made("square", "linalg.pca_lowrank", [x(5, 3), None, True, 1], lambda a, q, c, n: squares(a - a.mean(-2, True)))


def roots():
    for a in (spd(3, 3), spd(2, 2, 2), spd(1, 1)):
        case("linalg.matrix_sqrth", [a], L.matrix_sqrth)
    # Equal eigenvalues, a matrix whose upper triangle is not read, and eigenvalues of -1 and 3.
    case("linalg.matrix_sqrth", [4 * torch.eye(3, dtype=D)], L.matrix_sqrth, second=False)
    for rows in ([[2.0, 9.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]):
        case("linalg.matrix_sqrth", [torch.tensor(rows, dtype=D)], L.matrix_sqrth, grad=False)


factors()
equations()
determinants()
spectra()
exponentials()
tensors()
factors_of_other_shapes()
powers()
norms()
forms_with_info()
indefinite()
reflections()
low_rank()
roots()
write("torch_linalg.json")
