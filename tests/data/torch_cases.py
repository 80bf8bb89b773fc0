"""Cases of torch_values*.json: what torch_values.py, torch_values_families.py and torch_values_special.py make them with.

A case is an op's name, its arguments in the order of its schema, its outputs, and the gradient of sum(output * weight) for each
floating tensor among the arguments, where weight[k] = (k * 7 % 11) / 11 + 0.1 for the k-th element of an output, row-major.
"grad2" is the gradient, for the same tensors, of sum(gradient * weight) over those gradients. "after" has what the arguments that
the op writes to hold then, by their places.

Encoding: a tensor is {"s": sizes, "v": values} and "d": dtype unless float64, "c": 1 where it has no gradient, "p": the order of its
dimensions in memory, largest stride first, where that is another than theirs; a list of tensors
{"l": [...]}, of which some may be null; a list of floats {"f": [...]}; a dtype {"dtype": name}; NaN and infinities are the
strings "nan", "inf", "-inf"; numbers, booleans, strings, lists of ints and null are themselves. An output that is a list of tensors is
{"l": [...]} too.
"""
import json
import math
import pathlib

import torch

torch.manual_seed(0)
cases = []
D = torch.float64


def number(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    return v


class Const:
    """A tensor without a gradient: PyTorch has none for it, or the op writes to it."""

    def __init__(self, tensor):
        self.tensor = tensor


def is_list(a):
    return isinstance(a, (list, tuple)) and any(isinstance(t, torch.Tensor) for t in a)


def encode(a):
    if isinstance(a, Const):
        return {**encode(a.tensor), "c": 1}
    if isinstance(a, torch.Tensor):
        t = {"s": list(a.shape), "v": [number(v) for v in a.detach().contiguous().reshape(-1).tolist()]}
        if a.dtype != D:
            t["d"] = str(a.dtype).removeprefix("torch.")
        return t
    if isinstance(a, torch.dtype):
        return {"dtype": str(a).removeprefix("torch.")}
    if is_list(a):
        return {"l": [encode(t) for t in a]}
    if isinstance(a, (list, tuple)):
        return {"f": list(a)} if any(isinstance(v, float) for v in a) else list(a)
    return number(a)


def order(t):
    """Of dimensions in memory, where t's elements stand one behind the other in another order than theirs; else None."""
    dims = sorted(range(t.dim()), key=lambda d: -t.stride(d))
    return None if t.is_contiguous() or not t.permute(dims).is_contiguous() else dims


def encode_argument(a):
    made = encode(a)
    t = a.tensor if isinstance(a, Const) else a
    if isinstance(t, torch.Tensor) and order(t):
        made["p"] = order(t)
    return made


def copied(a):
    if isinstance(a, torch.Tensor):
        return a.clone()
    if isinstance(a, Const):
        return Const(a.tensor.clone())
    return [copied(t) for t in a] if is_list(a) else a


def leaves(args):
    for a in args:
        for t in a if isinstance(a, (list, tuple)) else [a]:
            if isinstance(t, torch.Tensor) and t.dtype == D:
                yield t


def weight(t):
    k = torch.arange(t.numel(), dtype=D).reshape(t.shape)
    return (k * 7) % 11 / 11 + 0.1


def weighed(tensors):
    return sum((t * weight(t)).sum() for t in tensors if t.dtype == D and t.requires_grad)


def case(op, args, fn, grad=True, second=True, writes=()):
    """`fn` gets the tensors and values of `args` in order. second: with "grad2"; writes: the places of arguments for "after"."""
    args = [copied(a) for a in args]
    tensors = list(leaves(args))
    for t in tensors:
        t.requires_grad_(grad)
    made = {"op": op, "args": [encode_argument(a) for a in args]}
    outputs = fn(*[a.tensor if isinstance(a, Const) else a for a in args])
    many = isinstance(outputs, list)  # one output that is a list; a tuple is several outputs
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    made["out"] = [encode(outputs)] if many else [encode(o) for o in outputs]
    if writes:
        made["after"] = {str(i): encode(args[i]) for i in writes}
    loss = weighed(outputs)
    if grad and isinstance(loss, torch.Tensor):
        def gradients(of):
            found = torch.autograd.grad(of, tensors, create_graph=second, allow_unused=True)
            return [torch.zeros_like(t) if g is None or g._is_zerotensor() else g for g, t in zip(found, tensors)]

        first = gradients(loss)
        made["grad"] = [encode(g) for g in first]
        if second:
            slope = weighed(first)
            made["grad2"] = [encode(g) for g in (gradients(slope) if isinstance(slope, torch.Tensor) else
                                                 [torch.zeros_like(t) for t in tensors])]
    cases.append(made)


def x(*sizes, low=-2.0, high=2.0):
    """Values on a coarse grid, so that the file is short."""
    return (torch.rand(sizes, dtype=D) * (high - low) + low).mul(1000).round().div(1000)


def ints(*sizes, low=0, high=10):
    return torch.randint(low, high, sizes)


SPECIAL = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, 1.0, -1.0], dtype=D)


def write(name):
    """The cases that were made, as a file beside this one."""
    path = pathlib.Path(__file__).with_name(name)
    with path.open("w") as file:
        file.write('{"torch": "%s", "cases": [\n' % torch.__version__.split("+")[0])
        file.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
        file.write("\n]}\n")
    print(f"{len(cases)} cases, {path.stat().st_size} bytes")
