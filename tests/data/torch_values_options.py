#!/usr/bin/env python3
"""Writes torch_values_options.json: options of ops that came later than the ops, as PyTorch 2 gives them, in float64: interpolate's
antialias and recompute_scale_factor, sizes of adaptive pools that x gives, borders of several dimensions, and histograms.

    python3 tests/data/torch_values_options.py    # needs torch; writes the file beside this script

The tests read it with torch_values.json. What a case is stands in torch_cases.py.
"""
import torch
import torch.nn.functional as F

from torch_cases import case, write, x


def given_factor(factor):
    """One number is for all dimensions."""
    return factor[0] if len(factor) == 1 else factor or None


def antialiased():
    for mode in ("bilinear", "bicubic"):
        def fn(t, size, factor, mode, corners, recompute, antialias):
            return F.interpolate(t, size or None, given_factor(factor), mode, align_corners=corners, antialias=antialias)

        for sizes, out in (((1, 2, 6, 5), [3, 2]), ((2, 1, 7, 4), [2, 9]), ((1, 1, 3, 4), [7, 5]), ((1, 1, 9, 8), [1, 1]),
                           ((1, 1, 1, 6), [2, 4])):
            for corners in (False, True):
                case("interpolate", [x(*sizes), out, [], mode, corners, False, True], fn)
        case("interpolate", [x(1, 1, 6, 7), [], [0.4, 0.7], mode, False, False, True], fn)
        case("interpolate", [x(1, 1, 4, 5), [], [1.3], mode, False, False, True], fn)


def recomputed():
    def fn(t, size, factor, mode, corners, recompute, antialias):
        corners = None if mode in ("nearest", "area") else corners
        return F.interpolate(t, None, given_factor(factor), mode, corners, recompute, antialias)

    for again in (False, True):
        case("interpolate", [x(1, 1, 7), [], [1.7], "linear", False, again, False], fn)
        case("interpolate", [x(1, 1, 5), [], [1.55], "nearest", False, again, False], fn)
        case("interpolate", [x(1, 2, 5, 3), [], [0.7, 1.8], "bilinear", False, again, False], fn)
        case("interpolate", [x(1, 1, 5, 6), [], [0.7], "bicubic", False, again, False], fn)
        case("interpolate", [x(1, 1, 7, 6), [], [0.45], "bilinear", False, again, True], fn)
        case("interpolate", [x(1, 1, 3, 4, 2), [], [1.4], "trilinear", False, again, False], fn)


def adaptive_pools():
    def given(out):
        return [None if n == -1 else n for n in out]

    for sizes, out in (((2, 3, 5, 4), [-1, 2]), ((2, 3, 5, 4), [3, -1]), ((3, 5, 4), [-1, -1]), ((1, 2, 6, 4), [3, -1])):
        case("adaptive_avg_pool2d", [x(*sizes), out], lambda t, out: F.adaptive_avg_pool2d(t, given(out)))
        case("adaptive_max_pool2d", [x(*sizes), out], lambda t, out: F.adaptive_max_pool2d(t, given(out)))
        case("adaptive_max_pool2d_with_indices", [x(*sizes), out],
             lambda t, out: F.adaptive_max_pool2d_with_indices(t, given(out)))
    for sizes, out in (((1, 2, 3, 4, 5), [-1, 2, -1]), ((2, 3, 4, 5), [2, -1, 3])):
        case("adaptive_avg_pool3d", [x(*sizes), out], lambda t, out: F.adaptive_avg_pool3d(t, given(out)))
        case("adaptive_max_pool3d", [x(*sizes), out], lambda t, out: F.adaptive_max_pool3d(t, given(out)))


def borders():
    for mode in ("reflect", "replicate", "circular"):
        def fn(t, pad, mode):
            return F.pad(t, pad, mode)

        case("pad", [x(2, 3, 4, 5), [2, 1, 1, 3], mode], fn)
        case("pad", [x(1, 2, 4, 3, 5), [0, 2, 2, 0, 1, 1], mode], fn)
        case("pad", [x(2, 3, 6), [3, 4], mode], fn)
        case("pad", [x(3, 4, 4), [3, 3, 3, 3], mode], fn)


def histograms():
    def fn(t, bins, limits, weight, density):
        return tuple(torch.histogram(t, bins, range=tuple(limits) or None, weight=weight, density=density))

    a = x(4, 5)
    for bins, limits in ((4, []), (7, [-1.0, 1.5]), (1, []), (10, [-2.0, 2.0]), (3, [0.5, 0.5])):
        case("histogram", [a, bins, limits, None, False], fn, grad=False)
        case("histogram", [a, bins, limits, x(4, 5, low=0.1), True], fn, grad=False)
    case("histogram", [torch.full((3,), 2.0, dtype=a.dtype), 4, [], None, True], fn, grad=False)
    case("_histogram", [a, torch.tensor([-1.5, -1.0, 0.0, 0.25, 1.75], dtype=a.dtype)], lambda t, b: torch.histogram(t, b)[0], grad=False)


def two_linear_maps():
    def activated(t, activation):
        return F.relu(t) if activation == "relu" else F.gelu(t, approximate="tanh" if activation == "gelu_tanh" else "none")

    def fn(t, w1, b1, w2, b2, activation):
        return F.linear(activated(F.linear(t, w1, b1), activation), w2, b2)

    for activation in ("relu", "gelu", "gelu_tanh"):
        case("feed_forward", [x(2, 2, 3), x(5, 3), x(5), x(2, 5), x(2), activation], fn)
        case("feed_forward", [x(4, 3), x(6, 3), None, x(3, 6), x(3), activation], fn)
        case("feed_forward", [x(3), x(2, 3), x(2), x(4, 2), None, activation], fn)


def contracted_by_ones():
    fn = lambda a, b, da, db: torch.tensordot(a, b, dims=(da, db))
    case("tensordot", [x(1, 1, 3), x(2, 4, 5), [0, 1], [1, 0]], fn)
    case("tensordot", [x(4, 2, 3), x(2, 1, 5), [0, 1], [1, 0]], fn)
    case("tensordot", [x(2, 1), x(1, 3), [0, 1], [0, 1]], fn)


def weighed_losses():
    for reduction in ("none", "mean", "sum"):
        for name in ("mse_loss", "l1_loss"):
            case(name, [x(2, 3), x(2, 3), reduction, x(2, 3, low=0.5)],
                 lambda i, t, r, w, name=name: getattr(F, name)(i, t, reduction=r, weight=w))
        case("huber_loss", [x(2, 3), x(2, 3), reduction, 0.5, x(2, 3, low=0.5)],
             lambda i, t, r, d, w: F.huber_loss(i, t, reduction=r, delta=d, weight=w))


def heads_of_their_own():
    def fn(q, k, v, mask, dropout, causal, scale, gqa):
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, causal, scale=scale, enable_gqa=gqa)

    case("scaled_dot_product_attention", [x(1, 6, 3, 2), x(1, 3, 4, 2), x(1, 2, 4, 3), None, 0.0, False, None, True], fn)
    case("scaled_dot_product_attention", [x(4, 3, 2), x(1, 3, 2), x(2, 3, 2), None, 0.0, True, 0.7, True], fn)
    case("scaled_dot_product_attention", [x(2, 4, 3, 2), x(2, 4, 3, 2), x(2, 1, 3, 2), x(3, 3), 0.0, False, None, True], fn)


def broadcast_biases():
    for bias in (x(1), x(), x(1, 4), x(2, 4), x(2, 1)):
        case("linear", [x(2, 3), x(4, 3), bias], F.linear)
    case("linear", [x(2, 2, 3), x(4, 3), x(2, 1, 4)], F.linear)


def equal_maxima():
    def fn(w, i, offsets, mode, factors, last, padding):
        return F.embedding_bag(i, w, offsets, mode=mode, include_last_offset=last, padding_idx=padding)

    table = torch.tensor([[1.0, 2, 0], [1, 1, 0], [0, 2, 0], [1, 2, 0]], dtype=torch.float64)
    for index, offsets in (([[1, 0, 3], [2, 2, 0]], None), ([1, 0, 3, 2, 2, 0, 3], [0, 3, 6])):
        places = None if offsets is None else torch.tensor(offsets)
        for padding in (None, 0):
            case("embedding_bag", [table, torch.tensor(index), places, "max", None, False, padding], fn)


def cubic_volumes():
    for border in ("zeros", "border", "reflection"):
        for corners in (False, True):
            case("grid_sample", [x(1, 2, 3, 4, 2), x(1, 1, 2, 2, 3, low=-1.4, high=1.4), "bicubic", border, corners],
                 lambda t, g, m, p, a: F.grid_sample(t, g, m, p, a), second=False)


antialiased()
recomputed()
adaptive_pools()
borders()
histograms()
two_linear_maps()
contracted_by_ones()
weighed_losses()
heads_of_their_own()
broadcast_biases()
equal_maxima()
cubic_volumes()
write("torch_values_options.json")
