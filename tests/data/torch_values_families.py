"""Cases of the families that networks are made of, and of what is not elementwise: called by torch_values.py."""
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_cases import D, Const, case, ints, x


def tensor(*values):
    return torch.tensor(values, dtype=D)


def convolutions():
    convs = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
    sizes = {1: (7,), 2: (5, 6), 3: (4, 3, 5)}
    kernels = {1: (3,), 2: (3, 2), 3: (2, 1, 3)}
    for n, fn in convs.items():
        op, size, kernel = f"conv{n}d", sizes[n], kernels[n]
        case(op, [x(2, 4, *size), x(3, 4, *kernel), x(3)], fn)
        case(op, [x(2, 4, *size), x(3, 4, *kernel), None, [2]], fn)
        case(op, [x(1, 4, *size), x(2, 4, *kernel), x(2), [1], [1]], fn)
        case(op, [x(1, 4, *size), x(2, 4, *kernel), x(2), [2], [2], [2]], fn)
        case(op, [x(1, 4, *size), x(6, 2, *kernel), x(6), [1], [1], [1], 2], fn)
        case(op, [x(1, 4, *size), x(4, 1, *kernel), None, [2], [1], [1], 4], fn)  # depthwise
        case(op, [x(4, *size), x(2, 4, *kernel), x(2)], fn)  # unbatched
        case(op, [x(1, 2, *size), x(3, 2, *[1] * n), None], fn)  # pointwise
        many = lambda *v: list(v[:n])
        case(op, [x(1, 2, *size), x(2, 2, *kernel), x(2), many(2, 1, 2), many(0, 1, 1), many(1, 2, 1)], fn)
    transposed = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
    sizes = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}
    for n, fn in transposed.items():
        op, size, kernel = f"conv_transpose{n}d", sizes[n], kernels[n]
        case(op, [x(2, 3, *size), x(3, 2, *kernel), x(2)], fn)
        case(op, [x(1, 3, *size), x(3, 2, *kernel), None, [2]], fn)
        case(op, [x(1, 3, *size), x(3, 2, *[3] * n), x(2), [2], [1], [1]], fn)
        case(op, [x(1, 4, *size), x(4, 2, *kernel), x(4), [1], [0], [0], 2], fn)
        case(op, [x(1, 3, *size), x(3, 2, *kernel), x(2), [2], [1], [1], 1, [2]], fn)
        case(op, [x(3, *size), x(3, 2, *kernel), None], fn)
        many = lambda *v: list(v[:n])
        case(op, [x(1, 2, *size), x(2, 2, *kernel), x(2), many(2, 1, 3), many(1, 0, 0), many(1, 0, 2), 1, many(1, 2, 1)], fn)
    both = lambda a: a * 2 if len(a) == 1 else a  # a list of one is for all
    unfold = lambda t, k, d=[1], p=[0], s=[1]: F.unfold(t, *(both(a) for a in (k, d, p, s)))
    case("im2col", [x(2, 2, 4, 5), [2, 3]], unfold)
    case("im2col", [x(1, 2, 5, 6), [2], [2], [1], [2]], unfold)
    case("im2col", [x(2, 5, 6), [3, 2], [1, 2], [1, 0], [2, 1]], unfold)
    fold = lambda t, o, *a: F.fold(t, o, *(both(v) for v in a))
    case("fold", [x(2, 12, 9), [4, 5], [2, 3]], fold)
    case("fold", [x(1, 8, 9), [5, 6], [2], [2], [1], [2]], fold)
    case("fold", [x(8, 4), [4, 4], [2, 2], [1], [0], [2]], fold)


def pools():
    sizes = {1: (9,), 2: (5, 7), 3: (3, 5, 4)}
    for n in (1, 2, 3):
        size = sizes[n]
        many = lambda *v: list(v[:n])
        of = lambda name: getattr(F, f"{name}{n}d")
        largest, mean = of("max_pool"), of("avg_pool")
        op = f"max_pool{n}d"
        fn = lambda t, *a: largest(t, *a[:4], ceil_mode=len(a) > 4 and a[4])
        case(op, [x(2, 2, *size), [2]], fn)
        case(op, [x(1, 2, *size), [3], [2], [1]], fn)
        case(op, [x(1, 2, *size), [2], [2], [1], [1], True], fn)
        case(op, [x(1, 2, *size), [2], [1], [1], [2]], fn)
        case(op, [x(1, 2, *size), many(2, 3, 2), many(2, 1, 2), many(1, 0, 1), many(1, 2, 1), True], fn)
        case(op, [x(2, *size), [3], [1]], fn)
        case(op, [ints(1, 2, *size, high=3).to(D), [3], [2], [1]], fn)  # equal ones
        op = f"avg_pool{n}d"
        fn = lambda t, k, s=None, p=0, c=False, i=True, *d: mean(t, k, s or None, p, c, i, *d)
        case(op, [x(2, 2, *size), [2]], fn)
        for include in (False, True):
            case(op, [x(1, 2, *size), [3], [2], [1], False, include], fn)
            case(op, [x(1, 2, *size), [2], [2], [1], True, include], fn)
            case(op, [x(1, 2, *size), many(2, 3, 2), many(2, 2, 3), many(1, 0, 1), True, include], fn)
        case(op, [x(2, *size), [3], [1]], fn)
        if n > 1:
            case(op, [x(1, 2, *size), [2], [2], [1], True, True, 3], fn)
            case(op, [x(1, 2, *size), [2], [2], [0], True, False, -2], fn)
        for name in ("adaptive_avg_pool", "adaptive_max_pool"):
            op = f"{name}{n}d"
            fn = lambda t, k, f=of(name): f(t, k if len(k) > 1 else k[0])
            case(op, [x(2, 2, *size), [1]], fn)
            case(op, [x(1, 2, *size), many(2, 3, 2)], fn)
            case(op, [x(1, 2, *size), many(4, 7, 5)], fn)  # more than there are, or as many
            case(op, [x(2, *size), [3]], fn)
            case(op, [ints(1, 1, *size, high=3).to(D), many(2, 2, 3)], fn)


def resizes():
    sizes = {1: (5,), 2: (4, 5), 3: (2, 3, 4)}
    for n, size in sizes.items():
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[n]
        many = lambda *v: list(v[:n])
        fn = lambda t, s, f, m, a=False: F.interpolate(t, s or None, f or None, m, align_corners=a if m == linear else None)
        one = lambda t, s, f, m, a=False: fn(t, s, [f[0]] * n, m, a)
        for mode in ("nearest", "nearest-exact"):
            case("interpolate", [x(1, 2, *size), many(7, 3, 5), [], mode], fn)
            case("interpolate", [x(1, 2, *size), [], [1.7], mode], one)
            case("interpolate", [x(1, 1, *size), [], [0.6], mode], one)
            case("interpolate", [x(1, 1, *size), [], many(2.0, 0.5, 1.3), mode], fn)
        for corners in (False, True):
            case("interpolate", [x(1, 2, *size), many(7, 3, 5), [], linear, corners], fn)
            case("interpolate", [x(1, 2, *size), [], [1.7], linear, corners], one)
            case("interpolate", [x(1, 1, *size), [], [0.6], linear, corners], one)
            case("interpolate", [x(1, 1, *size), [], many(2.0, 0.5, 1.3), linear, corners], fn)
            case("interpolate", [x(1, 1, *size), [1] * n, [], linear, corners], fn)
    case("pixel_shuffle", [x(2, 8, 2, 3), 2], F.pixel_shuffle)
    case("pixel_shuffle", [x(9, 1, 2), 3], F.pixel_shuffle)
    case("pixel_unshuffle", [x(2, 2, 4, 6), 2], F.pixel_unshuffle)
    case("pixel_unshuffle", [x(1, 1, 3, 6), 3], F.pixel_unshuffle)


def norms():
    variance = lambda c: Const(x(c, low=0.2, high=2.0))
    for size in ((4, 3), (3, 2, 4), (2, 3, 2, 3), (2, 2, 1, 2, 3)):
        c = size[1]
        case("batch_norm", [x(*size), Const(x(c)), variance(c), x(c), x(c), True, 0.3, 1e-3], F.batch_norm,
             writes=(1, 2))
        case("batch_norm", [x(*size), Const(x(c)), variance(c), x(c), x(c)], F.batch_norm)
        case("batch_norm", [x(*size), None, None, None, None, True], F.batch_norm)
        case("batch_norm", [x(*size), Const(x(c)), variance(c), None, None, False], F.batch_norm)
    for size in ((3, 2, 4), (2, 3, 2, 3), (2, 2, 1, 2, 3)):
        c = size[1]
        case("instance_norm", [x(*size)], F.instance_norm)
        case("instance_norm", [x(*size), Const(x(c)), variance(c), x(c), x(c), True, 0.2, 1e-3], F.instance_norm, writes=(1, 2))
        case("instance_norm", [x(*size), Const(x(c)), variance(c), x(c), x(c), False], F.instance_norm)
    for shape in ([5], [3, 5], [2, 3, 5]):
        case("layer_norm", [x(2, 3, 5), shape], F.layer_norm)
        case("layer_norm", [x(2, 3, 5), shape, x(*shape), x(*shape), 1e-3], F.layer_norm)
    case("layer_norm", [x(2, 5), [5], x(5)], F.layer_norm)
    for size, groups in (((2, 4), 2), ((2, 6, 3), 3), ((1, 4, 2, 3), 1), ((2, 4, 2, 2), 4)):
        case("group_norm", [x(*size), groups], F.group_norm)
        case("group_norm", [x(*size), groups, x(size[1]), x(size[1]), 1e-3], F.group_norm)
    rms = lambda t, w=None, eps=1e-6: F.rms_norm(t, t.shape[-1:], w, eps)
    case("rms_norm", [x(2, 5)], rms)
    case("rms_norm", [x(2, 3, 4), x(4)], rms)
    case("rms_norm", [x(3, 4), x(4), 0.1], rms)
    softmaxes = (("softmax", torch.softmax), ("log_softmax", torch.log_softmax))
    inf = math.inf
    for op, fn in softmaxes:
        case(op, [x(2, 3), 1], fn)
        case(op, [x(), 0], fn)
        case(op, [x(3, 1), 1], fn)
        case(op, [1000 * x(2, 3), 0], fn)
        case(op, [tensor(0.5, -inf, 1.0), 0], fn)
        case(op, [tensor(math.nan, 1.0), 0], fn, grad=False)
        case(op, [tensor(-inf, -inf), 0], fn, grad=False)
        case(op, [tensor(inf, 1.0), 0], fn, grad=False)


def losses():
    for reduction in ("mean", "sum", "none"):
        pair = lambda: [x(3, 4), x(3, 4)]
        case("mse_loss", [*pair(), reduction], lambda i, t, r: F.mse_loss(i, t, reduction=r))
        case("l1_loss", [*pair(), reduction], lambda i, t, r: F.l1_loss(i, t, reduction=r))
        case("soft_margin_loss", [x(3, 4), Const(torch.sign(x(3, 4))), reduction], lambda i, t, r: F.soft_margin_loss(i, t, reduction=r), second=True)
        for beta in (1.0, 0.3, 0.0):
            case("smooth_l1_loss", [*pair(), reduction, beta], lambda i, t, r, b: F.smooth_l1_loss(i, t, reduction=r, beta=b))
        for delta in (1.0, 0.5):
            case("huber_loss", [*pair(), reduction, delta], lambda i, t, r, d: F.huber_loss(i, t, reduction=r, delta=d))
        chance = lambda *size: x(*size, low=0.05, high=0.95)
        # Not to second order: there PyTorch adds 1e-12 to the divisors.
        case("binary_cross_entropy", [chance(3, 4), Const(chance(3, 4)), None, reduction],
             lambda i, t, w, r: F.binary_cross_entropy(i, t, w, reduction=r), second=False)
        case("binary_cross_entropy", [chance(3, 4), Const(chance(3, 4)), Const(x(4, low=0.1)), reduction],
             lambda i, t, w, r: F.binary_cross_entropy(i, t, w, reduction=r), second=False)
        logits = lambda i, t, w, r, p=None: F.binary_cross_entropy_with_logits(i, t, w, reduction=r, pos_weight=p)
        op = "binary_cross_entropy_with_logits"
        case(op, [5 * x(3, 4), chance(3, 4), None, reduction], logits)
        case(op, [x(3, 4), chance(3, 4), Const(x(4, low=0.1)), reduction, Const(x(4, low=0.1))], logits)
        for log_target in (False, True):
            target = chance(3, 4).log().mul(1000).round().div(1000) if log_target else chance(3, 4)
            for kind in (reduction, "batchmean") if reduction == "sum" else (reduction,):
                case("kl_div", [x(3, 4), target, kind, log_target],
                     lambda i, t, r, g: F.kl_div(i, t, reduction=r, log_target=g))
        nll = lambda i, t, w=None, n=-100, r="mean": F.nll_loss(i, t, w, ignore_index=n, reduction=r)
        entropy = lambda i, t, w=None, n=-100, r="mean", s=0.0: F.cross_entropy(i, t, w, ignore_index=n, reduction=r,
                                                                              label_smoothing=s)
        ignored = lambda *size: ints(*size, high=4).masked_fill(torch.arange(size[0]).reshape(-1, *[1] * (len(size) - 1)) == 1, 1)
        positive = lambda: Const(x(4, low=0.2))
        case("nll_loss", [x(3, 4), ints(3, high=4), None, -100, reduction], nll)
        case("nll_loss", [x(3, 4), ignored(3), positive(), 1, reduction], nll)
        case("nll_loss", [x(2, 4, 3), ints(2, 3, high=4), positive(), 2, reduction], nll)
        case("nll_loss", [x(2, 4, 2, 2), ignored(2, 2, 2), None, 1, reduction], nll)
        case("nll_loss", [x(4), torch.tensor(2), None, -100, reduction], nll)
        case("cross_entropy", [x(3, 4), ints(3, high=4), None, -100, reduction], entropy)
        for smoothing in (0.0, 0.3):
            case("cross_entropy", [x(3, 4), ignored(3), positive(), 1, reduction, smoothing], entropy)
            case("cross_entropy", [x(2, 4, 3), ignored(2, 3), None, 1, reduction, smoothing], entropy)
            case("cross_entropy", [x(2, 4, 2, 2), ints(2, 2, 2, high=4), positive(), -100, reduction, smoothing], entropy)
            case("cross_entropy", [x(3, 4), x(3, 4).softmax(1), None, -100, reduction, smoothing], entropy)
            case("cross_entropy", [x(2, 4, 3), x(2, 4, 3).softmax(1), positive(), -100, reduction, smoothing], entropy)
        case("cross_entropy", [x(4), torch.tensor(1), None, -100, reduction, 0.2], entropy)
        case("cross_entropy", [x(4), x(4).softmax(0), None, -100, reduction], entropy)
    # Where the pieces meet, and at the ends.
    meets = [tensor(0.0, 1.0, -1.0, 0.5, -0.5), tensor(0.0, 0.0, 0.0, 0.0, 0.0)]
    for reduction in ("none",):
        case("l1_loss", [*meets, reduction], lambda i, t, r: F.l1_loss(i, t, reduction=r))
        case("smooth_l1_loss", [*meets, reduction, 0.5], lambda i, t, r, b: F.smooth_l1_loss(i, t, reduction=r, beta=b))
        case("huber_loss", [*meets, reduction, 0.5], lambda i, t, r, d: F.huber_loss(i, t, reduction=r, delta=d))
        case("binary_cross_entropy", [tensor(0.0, 1.0, 0.0, 1.0), Const(tensor(0.0, 1.0, 1.0, 0.0)), None, reduction],
             lambda i, t, w, r: F.binary_cross_entropy(i, t, w, reduction=r), grad=False)  # 1e-12 as a float32 there
        case("binary_cross_entropy_with_logits", [tensor(0.0, 800.0, -800.0), tensor(1.0, 0.0, 1.0), None, reduction],
             lambda i, t, w, r: F.binary_cross_entropy_with_logits(i, t, w, reduction=r))
        case("kl_div", [x(3), Const(tensor(0.0, 1.0, 0.5)), reduction, False],
             lambda i, t, r, g: F.kl_div(i, t, reduction=r, log_target=g))
    for rows in ([[math.inf, 1.0], [0.5, 1.0]], [[-math.inf, -math.inf], [0.5, 1.0]], [[-math.inf, 1.0], [0.5, 1.0]]):
        case("cross_entropy", [torch.tensor(rows, dtype=D), torch.tensor([1, 1])], F.cross_entropy)
    case("mse_loss", [x(0, 2), x(0, 2), "mean"], lambda i, t, r: F.mse_loss(i, t, reduction=r))
    case("nll_loss", [x(3, 4), torch.full((3,), 1), None, 1, "mean"], lambda i, t, w, n, r: F.nll_loss(i, t, w, ignore_index=n,
                                                                                                   reduction=r))


def attention():
    def attend(q, k, v, mask=None, p=0.0, causal=False, scale=None, gqa=False):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, mask, p, causal, scale=scale, enable_gqa=gqa)

    op = "scaled_dot_product_attention"
    qkv = lambda n=3, m=3, heads=2, shared=2: [x(1, heads, n, 4), x(1, shared, m, 4), x(1, shared, m, 4)]
    case(op, qkv(), attend)
    case(op, qkv(2, 4), attend)
    case(op, [x(2, 3, 4), x(2, 5, 4), x(2, 5, 2)], attend)
    case(op, [x(3, 4), x(2, 4), x(2, 3)], attend)
    case(op, [*qkv(), None, 0.0, True], attend)
    case(op, [*qkv(2, 4), None, 0.0, True], attend)
    case(op, [*qkv(4, 2), None, 0.0, True, 0.7], attend)
    some = torch.tensor([[True, False, True], [False, True, True], [True, True, True]])
    none = torch.tensor([[True, False, True], [False, False, False], [False, False, True]])
    case(op, [*qkv(), some], attend)
    case(op, [*qkv(), none], attend)
    case(op, [*qkv(), some.expand(1, 2, 3, 3)], attend)
    case(op, [*qkv(), x(3, 3)], attend)
    case(op, [*qkv(2, 4), x(1, 2, 2, 4), 0.0, False, 1.5], attend)
    case(op, [*qkv(), Const(torch.zeros(3, 3, dtype=D).masked_fill(~none, -math.inf))], attend)
    case(op, [*qkv(), None, 0.0, False, 0.25], attend)
    case(op, [*qkv(heads=4), None, 0.0, False, None, True], attend)
    case(op, [*qkv(2, 3, 4, 1), None, 0.0, True, None, True], attend)
    case(op, [*qkv(heads=4), some, 0.0, False, 0.3, True], attend)

    # Su et al., arXiv:2104.09864: complex numbers, turned. PyTorch has no op of this name.
    def rotary(t, cos, sin, interleaved=False):
        planes = 2 * cos.shape[-1]
        part, rest = t[..., :planes], t[..., planes:]
        pairs = part.unflatten(-1, (-1, 2)) if interleaved else part.unflatten(-1, (2, -1)).transpose(-1, -2)
        turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * torch.complex(cos, sin))
        turned = turned if interleaved else turned.transpose(-1, -2)
        return torch.cat([turned.flatten(-2), rest], -1)

    for interleaved in (False, True):
        case("rotary_embedding", [x(2, 3, 4), x(3, 2), x(3, 2), interleaved], rotary)
        case("rotary_embedding", [x(3, 7), x(3, 2), x(3, 2), interleaved], rotary)


def indexing():
    at = lambda t, i: t[tuple(slice(None) if k is None else k for k in i)]
    rows, columns = torch.tensor([2, 0, -1]), torch.tensor([1, -4, 1])
    mask = torch.tensor([True, False, True])
    for indices in ([rows], [rows, columns], [None, columns], [mask], [mask, None, torch.tensor([[0, 1], [1, -1]])],
                    [rows, None, torch.tensor([1, 0, 1])]):
        case("index", [x(3, 4, 2), indices], at)
        shape = at(x(3, 4, 2), indices).shape
        put = lambda t, i, v, a: t.index_put(tuple(torch.arange(t.shape[d]) if k is None else k for d, k in enumerate(i)), v, a)
        if None not in indices:
            case("index_put", [x(3, 4, 2), indices, x(*shape), True], put)
    case("index_put", [x(3, 4), [torch.tensor([0, 2]), torch.tensor([1, 3])], x(2), False],
         lambda t, i, v, a: t.index_put(tuple(i), v, a))
    case("masked_select", [x(3, 4), ints(3, 4, high=2).bool()], torch.masked_select)
    case("nonzero", [ints(3, 4, high=2)], torch.nonzero)
    case("scatter", [x(3, 4), 0, torch.tensor([[0, 1, 2, 0], [2, 0, 1, 1]]), x(2, 4)], torch.scatter)
    case("scatter", [x(3, 4), 1, ints(3, 2, high=4), x(3, 2), True],
         lambda t, d, i, s, _: t.scatter_add(d, i, s))
    padded = lambda w, i, p=None: F.embedding(i, w, p)
    case("embedding", [x(5, 3), torch.tensor([[1, 2, 1], [0, 2, 4]]), 2], padded)
    case("embedding", [x(5, 3), torch.tensor([4, 0, 4]), -1], padded)
    case("embedding", [x(5, 3), torch.tensor(0), 0], padded)
    bag = lambda w, i, o=None, m="mean", s=None: F.embedding_bag(i, w, o, mode=m, per_sample_weights=s)
    for mode in ("mean", "sum", "max"):
        case("embedding_bag", [x(5, 3), ints(2, 3, high=5), None, mode], bag)
        case("embedding_bag", [x(5, 3), ints(6, high=5), torch.tensor([0, 2, 2, 5]), mode], bag)
    # PyTorch has no second derivative with weights.
    case("embedding_bag", [x(5, 3), ints(6, high=5), torch.tensor([0, 4]), "sum", x(6)], bag, second=False)
    case("embedding_bag", [x(5, 3), ints(2, 3, high=5), None, "sum", x(2, 3)], bag, second=False)


def others():
    # Elementwise ones of three tensors, and clamps.
    for op, fn in (("addcmul", torch.addcmul), ("addcdiv", torch.addcdiv)):
        case(op, [x(2, 3), x(2, 1), x(3, low=0.3), 0.7], lambda a, b, c, v, fn=fn: fn(a, b, c, value=v))
    # What the faces' overloads call.
    case("add", [x(2, 3), x(3), 0.5], lambda a, b, s: torch.add(a, b, alpha=s))
    case("add", [ints(2, 3), ints(3), 3], lambda a, b, s: torch.add(a, b, alpha=s))
    case("sub", [x(2, 3), x(3), 0.5], lambda a, b, s: torch.sub(a, b, alpha=s))
    case("div", [x(6), x(6, low=0.3), "trunc"], lambda a, b, m: torch.div(a, b, rounding_mode=m))
    case("div", [ints(6, low=-9), ints(6, low=1), "trunc"], lambda a, b, m: torch.div(a, b, rounding_mode=m))
    case("clamp", [x(8), x(8, high=0.0), x(8, low=0.0)], torch.clamp)
    case("clamp_min", [x(8), x(8)], torch.clamp_min)
    case("clamp_max", [x(8), x(8)], torch.clamp_max)
    case("gelu", [x(6)], F.gelu)
    case("gelu", [x(6), "tanh"], lambda t, a: F.gelu(t, approximate=a))
    case("_nan_to_num", [tensor(math.nan, math.inf, -math.inf, 1.0), 0.5, 2.0, -3.0], torch.nan_to_num)
    case("clamp_min", [x(6), 0.2], torch.clamp_min)
    case("clamp_max", [x(6), 0.2], torch.clamp_max)
    case("floor_divide", [x(6), x(6, low=0.3)], torch.floor_divide, grad=False)
    case("floor_divide", [ints(6, low=-9), ints(6, low=1)], torch.floor_divide)
    # Products.
    case("mm", [x(2, 3), x(3, 4)], torch.mm)
    case("mv", [x(2, 3), x(3)], torch.mv)
    case("dot", [x(4), x(4)], torch.dot)
    case("baddbmm", [x(2, 1, 4), x(2, 3, 2), x(2, 2, 4), 0.5, -1.5],
         lambda t, a, b, beta, alpha: torch.baddbmm(t, a, b, beta=beta, alpha=alpha))
    case("linear_relu", [x(2, 3), x(4, 3), x(4)], lambda t, w, b: F.relu(F.linear(t, w, b)))
    # Extremes with their places.
    for op in ("max", "min"):
        fn = getattr(torch, op)
        case(op, [x(2, 4), 1], lambda t, d, *k, fn=fn: tuple(fn(t, d, *k)))
        case(op, [x(2, 4), 0, True], lambda t, d, k, fn=fn: tuple(fn(t, d, k)))
        case(op, [tensor(1.0, math.nan, 3.0), 0], lambda t, d, fn=fn: tuple(fn(t, d)), grad=False)
    # Products with no, one and two zeros along a line, to second order.
    zeros = torch.tensor([[1.5, -2.0, 3.0, 0.5], [2.0, 0.0, -1.5, 3.0], [0.0, 2.0, 0.0, -3.0], [1.0, 2.0, 3.0, 0.0]], dtype=D)
    product = lambda t, d=(), k=False, dtype=None: t.prod(dtype=dtype) if len(d) == 0 else t.prod(d[0], k, dtype=dtype)
    case("prod", [zeros, [1]], product)
    case("prod", [zeros, [0], True], product)
    case("prod", [zeros[0]], product)
    case("prod", [zeros[2]], product)
    case("prod", [x()], product)
    case("prod", [x(2, 1, 3), [1]], product)
    for dim in (0, 1):
        case("cumprod", [zeros, dim], torch.cumprod)
    case("cumprod", [x(2, 5, 3), 1], torch.cumprod)
    case("cumprod", [x(), 0], torch.cumprod)
    # Tensors without dimensions have dimension 0, and -1.
    for d in (0, -1):
        for op in ("sum", "mean", "amax", "amin"):
            case(op, [x(), [d]], lambda t, d, fn=getattr(torch, op): fn(t, d[0]))
        case("prod", [x(), [d], True], product)
        case("argmax", [x(), [d]], lambda t, d: torch.argmax(t, d[0]))
        case("max", [x(), d], lambda t, d: tuple(torch.max(t, d)))
        case("logsumexp", [x(), [d]], torch.logsumexp)
        case("softmax", [x(), d], torch.softmax)
    # Of x as another dtype.
    small, d32 = torch.float32, x(2, 3).to(torch.float32)
    total = lambda t, d, k, dtype: t.sum(d or None, k, dtype=dtype)
    mean = lambda t, d, k, dtype: t.mean(d or None, k, dtype=dtype)
    for op, fn in (("sum", total), ("mean", mean), ("prod", product)):
        case(op, [d32, [1], False, D], fn, grad=False)
        case(op, [ints(2, 3), [1], True, D], fn, grad=False)
        case(op, [ints(2, 3), [], False, small], fn, grad=False)
        case(op, [x(2, 3), [0], False, D], fn)
    case("sum", [x(2, 3, high=5.0), [1], False, torch.int64], total, grad=False)
    case("sum", [200 + ints(2, 3), [1], False, torch.uint8], total, grad=False)
    case("sum", [ints(2, 3, high=2).bool(), [1], False, torch.bool], total, grad=False)
    for op in ("amax", "amin", "argmax", "argmin"):
        case(op, [tensor(1.0, math.nan, 3.0, -math.inf)], getattr(torch, op), grad=False)
    # Shapes.
    t = x(3, 4)
    case("slice", [t, 1, 1, 4, 2], lambda a, d, b, e, s: a[:, b:e:s])
    case("as_strided", [t, [2, 3], [1, 2], 1], lambda a, n, s, o: a.as_strided(n, s, o))
    case("as_strided", [t, [2, 3], [1, 1]], lambda a, n, s: a.as_strided(n, s))  # overlapping
    case("view", [t, [2, -1]], lambda a, n: a.view(n))
    case("t", [t], torch.t)
    case("broadcast_to", [x(3, 1), [2, 3, 2]], torch.broadcast_to)
    case("clone", [t], torch.clone)
    case("split", [x(5, 2), 2], lambda a, n: list(a.split(n)))
    case("split", [x(2, 5), 3, -1], lambda a, n, d: list(a.split(n, d)))
    case("split_with_sizes", [x(2, 5), [1, 0, 4], 1], lambda a, n, d: list(a.split(n, d)))
    case("chunk", [x(2, 5), 3, 1], lambda a, n, d: list(a.chunk(n, d)))
    for order in ("ij", "xy"):
        case("meshgrid", [[x(2), x(3)], order], lambda ts, i: list(torch.meshgrid(*ts, indexing=i)))
    # What is made from numbers.
    case("full", [[2, 2], 1.5, D], lambda n, v, d: torch.full(n, v, dtype=d))
    case("zeros", [[2, 1], torch.int64], lambda n, d: torch.zeros(n, dtype=d))
    case("ones", [[3], D], lambda n, d: torch.ones(n, dtype=d))
    case("arange", [0.5, 3.0, 0.7, D], lambda a, b, s, d: torch.arange(a, b, s, dtype=d))
    case("arange", [7, 1, -2], torch.arange)
    case("linspace", [-1.0, 2.0, 7, D], lambda a, b, n, d: torch.linspace(a, b, n, dtype=d))
    case("linspace", [2, 2, 1, D], lambda a, b, n, d: torch.linspace(a, b, n, dtype=d))
    case("eye", [2, 3, D], lambda n, m, d: torch.eye(n, m, dtype=d))
    for op in ("tril_indices", "triu_indices"):
        case(op, [3, 4, -1], getattr(torch, op))
    case("full_like", [t, 2.5], torch.full_like, grad=False)
    case("ones_like", [t], torch.ones_like, grad=False)
    case("zeros_like", [t], torch.zeros_like, grad=False)


def options():
    """Options that stand behind those above; at the end, so that the random values before it stay."""
    bounds = lambda t, a, b: torch.clamp(t, min=a, max=b)
    case("clamp", [x(8), None, 0.5], bounds)
    case("clamp", [x(8), -0.5, None], bounds)
    case("clamp", [x(8), None, x(8)], bounds)
    case("clamp", [x(8), x(8), None], bounds)
    case("add", [x(2, 3), x(3), -2], lambda a, b, s: torch.add(a, b, alpha=s))
    case("div", [ints(6, low=-9), ints(6, low=1), "floor"], lambda a, b, m: torch.div(a, b, rounding_mode=m))
    for op, fn in (("softmax", F.softmax), ("log_softmax", F.log_softmax)):
        case(op, [x(2, 3), -1, D], lambda t, d, k, fn=fn: fn(t, d, dtype=k))
        case(op, [ints(2, 3), 0, D], lambda t, d, k, fn=fn: fn(t, d, dtype=k))
    for op, fn in (("cumsum", torch.cumsum), ("cumprod", torch.cumprod)):
        case(op, [x(2, 3), 1, D], lambda t, d, k, fn=fn: fn(t, d, dtype=k))
        case(op, [ints(2, 3), 1, torch.int32], lambda t, d, k, fn=fn: fn(t, d, dtype=k))
    case("norm", [x(2, 3), 2, [1], True, D], lambda t, p, d, k, kind: torch.norm(t, p, d, k, dtype=kind))
    same = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
    for n, fn in same.items():
        case(f"conv{n}d", [x(1, 2, *[4, 3, 2][:n]), x(2, 2, *[2, 3, 1][:n]), x(2), [1], "same"], fn)
        case(f"conv{n}d", [x(2, *[4, 3, 2][:n]), x(2, 1, *[3, 1, 2][:n]), None, [1], "same", [2], 2], fn)
        case(f"conv{n}d", [x(1, 2, *[4, 3, 2][:n]), x(2, 2, *[2, 3, 1][:n]), None, [2], "valid"], fn)
    pools = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
    for n, fn in pools.items():
        indexed = lambda t, k, s=None, p=0, d=1, c=False, fn=fn: tuple(fn(t, k, s, p, d, c, return_indices=True))
        case(f"max_pool{n}d_with_indices", [x(2, 2, *[5, 4, 3][:n]), [2]], indexed)
        case(f"max_pool{n}d_with_indices", [x(1, 2, *[5, 4, 3][:n]), [3], [2], [1]], indexed)
        case(f"max_pool{n}d_with_indices", [x(2, *[6, 5, 4][:n]), [2], [1], [1], [2], True], indexed)
    bag = lambda w, i, o, m, s, last, pad: F.embedding_bag(i, w, o, mode=m, per_sample_weights=s, include_last_offset=last,
                                                           padding_idx=pad)
    for mode in ("sum", "mean", "max"):
        case("embedding_bag", [x(5, 3), ints(3, 4, high=3), None, mode, None, False, 1], bag)
        case("embedding_bag", [x(5, 3), ints(6, high=3), torch.tensor([0, 2, 2, 6]), mode, None, True, -4], bag)


def add():
    convolutions()
    pools()
    resizes()
    norms()
    losses()
    attention()
    indexing()
    others()
