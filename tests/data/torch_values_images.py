#!/usr/bin/env python3
"""Writes torch_values_images.json: distances, losses of margins and likelihoods, images sampled and pooled, as PyTorch 2 gives them.

    python3 tests/data/torch_values_images.py    # needs torch; writes the file beside this script

The tests read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import math

import torch
import torch.nn.functional as F

from torch_cases import D, Const, case, ints, write, x

INF = math.inf


def tensor(*values, dtype=D):
    return torch.tensor(values, dtype=dtype)


def index(*values):
    return torch.tensor(values, dtype=torch.int64)


def distances():
    case("cosine_similarity", [x(3, 4), x(3, 4)], F.cosine_similarity)
    case("cosine_similarity", [x(2, 3, 2), x(3, 1), -1], F.cosine_similarity)
    case("cosine_similarity", [x(5), x(5), 0], F.cosine_similarity)
    case("cosine_similarity", [x(2, 3), x(2, 3), 0, 5.0], F.cosine_similarity)
    case("cosine_similarity", [tensor([0.0, 0.0], [1.0, 2.0]), x(2, 2)], F.cosine_similarity, second=False)
    for p in (2.0, 1.0, 3.0, 0.5, INF):
        case("pairwise_distance", [x(3, 4), x(3, 4), p], F.pairwise_distance)
        # PyTorch has no second derivative of these.
        case("cdist", [x(3, 4), x(2, 4), p], torch.cdist, second=False)
        case("pdist", [x(4, 3), p], torch.pdist, second=False)
    case("pairwise_distance", [x(3, 4), x(4), 2.0, 0.1, True], F.pairwise_distance)
    case("pairwise_distance", [x(4), x(4)], F.pairwise_distance)
    case("cdist", [x(2, 1, 3, 2), x(3, 2, 2)], torch.cdist, second=False)
    case("cdist", [x(2, 2), x(3, 2), 0.0], torch.cdist, second=False)
    same = x(3, 2)
    case("cdist", [same, same], torch.cdist, second=False)
    case("cdist", [x(26, 2), x(2, 2)], lambda a, b: torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist"), second=False)
    case("cdist", [x(3, 4), x(2, 4), 2.0, "use_mm_for_euclid_dist"], lambda a, b, p, m: torch.cdist(a, b, p, m), second=False)
    case("cdist", [x(2, 0), x(3, 0)], torch.cdist, second=False)
    case("pdist", [x(1, 3)], torch.pdist, second=False)
    case("pdist", [tensor([1.0, 2.0], [1.0, 2.0], [0.0, 1.0])], torch.pdist, second=False)
    for p in (2.0, 1.0, 3.0, INF):
        case("normalize", [x(2, 3), p], F.normalize)
    case("normalize", [x(2, 3, 2), 2.0, -1, 10.0], F.normalize)
    case("normalize", [x(3), 2.0, 0], F.normalize)
    case("normalize", [tensor([0.0, 0.0], [3.0, 4.0])], F.normalize, second=False)
    case("bilinear", [x(2, 3), x(2, 4), x(5, 3, 4), x(5)], F.bilinear)
    case("bilinear", [x(2, 3, 2), x(2, 3, 1), x(2, 2, 1)], F.bilinear)
    case("bilinear", [x(3), x(2), x(2, 3, 2)], F.bilinear)
    for size, n in (((2, 4, 3), 2), ((1, 5, 2, 2), 3), ((1, 3, 2, 1, 2), 5), ((2, 3, 2), 1)):
        case("local_response_norm", [x(*size), n], F.local_response_norm)
        case("local_response_norm", [x(*size), n, 0.5, 0.6, 2.0], F.local_response_norm)


def margins(reduction):
    signs = lambda *size: Const(torch.sign(x(*size)))
    triplet = lambda a, p, n, m=1.0, q=2.0, e=1e-6, s=False, r="mean": F.triplet_margin_loss(a, p, n, m, q, e, s, reduction=r)
    three = lambda: [x(3, 4), x(3, 4), x(3, 4)]
    case("triplet_margin_loss", [*three(), 1.0, 2.0, 1e-6, False, reduction], triplet)
    case("triplet_margin_loss", [*three(), 0.5, 1.0, 1e-6, True, reduction], triplet)
    case("triplet_margin_loss", [*three(), 3.0, 3.0, 1e-3, True, reduction], triplet)
    case("triplet_margin_loss", [x(4), x(4), x(4), 2.0, 2.0, 1e-6, False, reduction], triplet)
    ranking = lambda a, b, t, m=0.0, r="mean": F.margin_ranking_loss(a, b, t, m, reduction=r)
    case("margin_ranking_loss", [x(5), x(5), signs(5), 0.0, reduction], ranking)
    case("margin_ranking_loss", [x(2, 3), x(2, 3), signs(2, 3), 0.7, reduction], ranking)
    hinge = lambda i, t, m=1.0, r="mean": F.hinge_embedding_loss(i, t, m, reduction=r)
    case("hinge_embedding_loss", [x(6), signs(6), 1.0, reduction], hinge)
    case("hinge_embedding_loss", [x(2, 3), signs(2, 3), 0.5, reduction], hinge)
    cosine = lambda a, b, t, m=0.0, r="mean": F.cosine_embedding_loss(a, b, t, m, reduction=r)
    case("cosine_embedding_loss", [x(4, 3), x(4, 3), Const(tensor(1.0, -1.0, 1.0, -1.0)), 0.0, reduction], cosine)
    case("cosine_embedding_loss", [x(4, 3), x(4, 3), index(1, -1, -1, 1), 0.3, reduction], cosine)
    case("cosine_embedding_loss", [x(3), x(3), Const(tensor(-1.0).reshape(())), -0.9, reduction], cosine)
    # PyTorch has no second derivative of these two.
    multi = lambda i, t, p=1, m=1.0, w=None, r="mean": F.multi_margin_loss(i, t, p, m, w, reduction=r)
    weight = lambda n: Const(x(n, low=0.2))
    for p in (1, 2):
        case("multi_margin_loss", [x(3, 4), ints(3, high=4), p, 1.0, None, reduction], multi, second=False)
        case("multi_margin_loss", [x(3, 4), ints(3, high=4), p, 0.5, weight(4), reduction], multi, second=False)
    case("multi_margin_loss", [x(4), torch.tensor(2), 1, 1.0, None, reduction], multi, second=False)
    lists = lambda i, t, r="mean": F.multilabel_margin_loss(i, t, reduction=r)
    rows = torch.tensor([[3, 0, -1, 1], [-1, 2, 0, 1], [2, 1, 0, 3]])
    case("multilabel_margin_loss", [x(3, 4), rows, reduction], lists, second=False)
    case("multilabel_margin_loss", [x(4), rows[0], reduction], lists, second=False)
    soft = lambda i, t, w=None, r="mean": F.multilabel_soft_margin_loss(i, t, w, reduction=r)
    case("multilabel_soft_margin_loss", [x(3, 4), Const(ints(3, 4, high=2).to(D)), None, reduction], soft)
    case("multilabel_soft_margin_loss", [x(3, 4), x(3, 4, low=0.1, high=0.9), weight(4), reduction], soft)


def likelihoods(reduction):
    poisson = lambda i, t, log=True, full=False, e=1e-8, r="mean": F.poisson_nll_loss(i, t, log, full, None, e, None, r)
    counts = lambda: Const(ints(2, 3, high=6).to(D))
    for full in (False, True):
        case("poisson_nll_loss", [x(2, 3), counts(), True, full, 1e-8, reduction], poisson)
        case("poisson_nll_loss", [x(2, 3, low=0.3), counts(), False, full, 1e-3, reduction], poisson)
    case("poisson_nll_loss", [x(2, 3), x(2, 3, low=1.5, high=4.0), True, True, 1e-8, reduction], poisson)
    gaussian = lambda i, t, v, f=False, e=1e-6, r="mean": F.gaussian_nll_loss(i, t, v, full=f, eps=e, reduction=r)
    case("gaussian_nll_loss", [x(2, 3), x(2, 3), x(2, 3, low=0.2), False, 1e-6, reduction], gaussian)
    case("gaussian_nll_loss", [x(2, 3), x(2, 3), x(2, 1, low=0.2), True, 1e-6, reduction], gaussian)
    case("gaussian_nll_loss", [x(2, 3), x(2, 3), x(2, low=0.2), False, 0.5, reduction], gaussian)
    case("gaussian_nll_loss", [x(4), x(4), tensor(0.0, 1e-9, 1.0, 2.0), False, 1e-2, reduction], gaussian)


def paths(log_probs, targets, lengths, labels, blank=0, reduction="mean", zero_infinity=False):
    """The loss by plain operations: behind log_softmax its gradient is F.ctc_loss's, which it is compared with. The gradient to the
    logarithms themselves is not: there PyTorch gives that of the logits."""
    found, at = [], 0
    single = log_probs.dim() == 2
    rows = log_probs.unsqueeze(1) if single else log_probs
    for i, (time, count) in enumerate(zip(lengths.reshape(-1).tolist(), labels.reshape(-1).tolist())):
        row = targets[at:at + count] if targets.dim() == 1 else targets[i, :count]
        at += count
        states = [blank]
        for label in row.tolist():
            states += [label, blank]
        never = torch.tensor(-INF, dtype=D)
        alpha = [rows[0, i, s] if k < 2 else never for k, s in enumerate(states)]
        for t in range(1, time):
            step = []
            for k, s in enumerate(states):
                terms = [alpha[k]] + ([alpha[k - 1]] if k > 0 else [])
                if k > 1 and s != blank and s != states[k - 2]:
                    terms.append(alpha[k - 2])
                terms = [v for v in terms if v.item() != -INF]
                step.append(torch.logsumexp(torch.stack(terms), 0) + rows[t, i, s] if terms else never)
            alpha = step
        ends = [v for v in alpha[-2:] if v.item() != -INF]
        loss = -torch.logsumexp(torch.stack(ends), 0) if ends else 0 * rows.sum() + (0 if zero_infinity else INF)
        found.append(loss)
    losses = torch.stack(found)
    if reduction == "mean":
        return (losses / labels.reshape(-1).clamp_min(1)).mean()
    return losses.sum() if reduction == "sum" else losses[0] if single else losses


def agreed(log_probs, *args):
    """paths, once its value and its gradient behind log_softmax are seen to be PyTorch's."""
    logits = log_probs.detach().clone().requires_grad_()
    mine = paths(logits.log_softmax(-1), *args)
    names = ("blank", "reduction", "zero_infinity")
    theirs = F.ctc_loss(logits.log_softmax(-1), *args[:3], **dict(zip(names, args[3:])))
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-10)
    if torch.isfinite(mine).all():
        gradients = [torch.autograd.grad(v.sum(), logits, retain_graph=True)[0] for v in (mine, theirs)]
        torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-8)
    return paths(log_probs, *args)


def sequences(reduction):
    rows = torch.tensor([[1, 2, 2], [3, 1, 0]])
    case("ctc_loss", [x(6, 2, 4), rows, index(6, 4), index(3, 2), 0, reduction], agreed)
    case("ctc_loss", [x(5, 3, 3), index(0, 0, 1, 0), index(5, 5, 3), index(2, 1, 1), 2, reduction], agreed)
    case("ctc_loss", [x(4, 3), index(1, 2), torch.tensor(4), torch.tensor(2), 0, reduction], agreed)
    case("ctc_loss", [x(3, 2, 4), torch.tensor([[1, 1, 1], [2, 3, 0]]), index(3, 3), index(3, 2), 0, reduction, True], agreed)
    case("ctc_loss", [x(3, 2, 3), torch.tensor([[1], [2]]), index(3, 2), index(0, 1), 0, reduction], agreed)


def resizes():
    fn = lambda t, s, f, m, a=False: F.interpolate(t, s or None, f or None, m, align_corners=a if m == "bicubic" else None)
    both = lambda t, s, f, m, a=False: fn(t, s, f * 2 if len(f) == 1 else f, m, a)
    for corners in (False, True):
        case("interpolate", [x(1, 2, 4, 5), [7, 3], [], "bicubic", corners], fn)
        case("interpolate", [x(2, 1, 3, 4), [], [1.7], "bicubic", corners], both)
        case("interpolate", [x(1, 1, 4, 3), [], [0.6, 2.0], "bicubic", corners], fn)
        case("interpolate", [x(1, 1, 2, 3), [1, 1], [], "bicubic", corners], fn)
    for size, out in (((5,), [3]), ((4, 5), [2, 3]), ((3, 2, 4), [2, 2, 5])):
        case("interpolate", [x(1, 2, *size), out, [], "area"], fn)
        case("interpolate", [x(1, 1, *size), [], [1.6] * len(size), "area"], fn)
    for corners in (False, True):
        case("affine_grid", [x(2, 2, 3), [2, 3, 2, 3], corners], lambda t, s, a: F.affine_grid(t, s, a))
        case("affine_grid", [x(1, 3, 4), [1, 1, 2, 1, 2], corners], lambda t, s, a: F.affine_grid(t, s, a))
        for border in ("zeros", "border", "reflection"):
            for mode in ("bilinear", "nearest", "bicubic"):
                # PyTorch has no second derivative of these.
                sample = lambda t, g, m, p, a: F.grid_sample(t, g, m, p, a)
                case("grid_sample", [x(2, 2, 3, 4), x(2, 2, 3, 2, low=-1.4, high=1.4), mode, border, corners], sample, second=False)
                if mode != "bicubic":
                    case("grid_sample", [x(1, 2, 2, 3, 2), x(1, 1, 2, 2, 3, low=-1.4, high=1.4), mode, border, corners], sample,
                         second=False)
    case("grid_sample", [x(1, 1, 1, 2), x(1, 2, 2, 2), "bilinear", "reflection", True],
         lambda t, g, m, p, a: F.grid_sample(t, g, m, p, a), second=False)


def pools():
    sizes = {1: (7,), 2: (5, 7), 3: (3, 5, 4)}
    for n, size in sizes.items():
        many = lambda *v: list(v[:n])
        fn = getattr(F, f"adaptive_max_pool{n}d")
        indexed = lambda t, k, fn=fn: fn(t, k if len(k) > 1 else k[0], return_indices=True)
        op = f"adaptive_max_pool{n}d_with_indices"
        case(op, [x(2, 2, *size), [1]], indexed)
        case(op, [x(1, 2, *size), many(2, 3, 2)], indexed)
        case(op, [x(2, *size), many(3, 4, 5)], indexed)
        case(op, [ints(1, 1, *size, high=3).to(D), many(3, 2, 3)], indexed)
        op, pool, fn = f"max_unpool{n}d", getattr(F, f"max_pool{n}d"), getattr(F, f"max_unpool{n}d")
        all_of = lambda v, n=n: v * n if len(v) == 1 else v
        unpool = lambda t, i, k, s=[], p=[0], o=[], fn=fn, f=all_of: fn(t, i, f(k), f(s) or None, f(p), o or None)
        places = lambda *a: pool(x(2, 2, *[2 * s for s in size]), *a, return_indices=True)[1]
        case(op, [x(2, 2, *size), places(2), [2]], unpool)
        wide = [2 * s + 1 for s in size]
        case(op, [x(2, 2, *size), places(2), [2], [2], [0], wide], unpool)
        narrow = x(1, 2, *size)
        _, i = pool(narrow, 3, 3, 1, return_indices=True)
        case(op, [x(*i.shape), i, [3], [3], [1], list(size)], unpool)
        case(op, [x(*i.shape[1:]), i[0], [3], many(3, 3, 3), [1], list(size)], unpool)
    for n in (2, 3):
        fn = getattr(F, f"fractional_max_pool{n}d")
        samples = lambda *size: Const(x(*size, low=0.0, high=0.999))
        indexed = lambda t, k, o, r, s, fn=fn: tuple(fn(t, k, o or None, r or None, True, s))
        both = lambda t, k, o, r, s, n=n, fn=fn: tuple(fn(t, k * n, o * n or None, r * n or None, True, s))
        plain = lambda t, k, o, r, s, n=n, fn=fn: fn(t, k * n, o * n or None, r * n or None, False, s)
        size = (7, 6, 5)[:n]
        # PyTorch has no second derivative of these.
        case(f"fractional_max_pool{n}d_with_indices", [x(2, 2, *size), [2] * n, [4, 3, 2][:n], [], samples(2, 2, n)], indexed, second=False)
        case(f"fractional_max_pool{n}d_with_indices", [x(1, 2, *size), [2], [], [0.6], samples(1, 2, n)], both, second=False)
        case(f"fractional_max_pool{n}d", [x(1, 2, *size), [3], [1], [], samples(1, 2, n)], plain, second=False)
        one = lambda t, k, o, r, s, fn=fn: tuple(v[0] for v in fn(t[None], k, o or None, r or None, True, s))
        case(f"fractional_max_pool{n}d_with_indices", [x(2, *size), [2] * n, [3] * n, [], samples(1, 2, n)], one, second=False)


def main():
    distances()
    for reduction in ("mean", "sum", "none"):
        margins(reduction)
        likelihoods(reduction)
        sequences(reduction)
    resizes()
    pools()
    write("torch_values_images.json")


main()
