#!/usr/bin/env python3
"""The cases of gpu_bench in PyTorch 2: prints lines "name milliseconds milliseconds", eager and with torch.compile (0: failed or left out).

    torch_bench.py [--device cuda] [--small] [--seconds 2] [--budget 180] [--eager] [--only NAME,NAME]

Cases that would begin after `budget` seconds are left out, and torch.compile's column after half of them. Change gpu_cases.cpp and this together.
"""
import argparse
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def of(full, small):
    return small if ARGS.small else full


def classes(n, count):
    return torch.arange(n, device=ARGS.device) % count


def normal(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device=ARGS.device).to(dtype)


def training(model, optimizer, x, y, in_bfloat16):
    def step():
        with torch.autocast(ARGS.device, torch.bfloat16, enabled=in_bfloat16):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def launch():
    x, y = normal(8), normal(8)

    def run():
        total = x
        for _ in range(of(1000, 20)):
            total = total + y
        return total

    return run


def mlp():
    inputs, width, rows = of(784, 16), of(1024, 32), of(256, 8)
    model = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    model.to(ARGS.device)
    return training(model, torch.optim.Adam(model.parameters(), lr=1e-3), normal(rows, inputs), classes(rows, 10), False)


def conv(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.layers = nn.Sequential(conv(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU(), conv(width, width, 3, stride),
                                    nn.BatchNorm2d(width), nn.ReLU(), conv(width, 4 * width, 1), nn.BatchNorm2d(4 * width))
        self.downsample = nn.Sequential()
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(conv(inputs, 4 * width, 1, stride), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return F.relu(self.layers(x) + self.downsample(x))


def resnet50():
    width, blocks, count = of((64, (3, 4, 6, 3), 1000), (4, (1, 1, 1, 1), 10))
    layers = [conv(3, width, 7, 2), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for stage, n in enumerate(blocks):
        for k in range(n):
            layers.append(Bottleneck(inputs, width << stage, 2 if k == 0 and stage > 0 else 1))
            inputs = 4 * (width << stage)
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, count))
    model.to(ARGS.device, memory_format=torch.channels_last)
    images, pixels = of(256, 2), of(224, 32)
    x = normal(images, 3, pixels, pixels).to(memory_format=torch.channels_last)
    return training(model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), x, classes(images, 10), True)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, cache=None):
        n, t, width = x.shape
        q, k, v = (p.view(n, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).split(width, 2))
        if cache is not None:
            cache[0][:, :, -1:], cache[1][:, :, -1:] = k, v
            k, v = cache
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, width))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.vocabulary, self.context, self.width, self.heads, n = of((50257, 1024, 768, 12, 12), (65, 16, 32, 2, 2))
        self.tokens, self.positions = nn.Embedding(self.vocabulary, self.width), nn.Embedding(self.context, self.width)
        self.blocks = nn.ModuleList(Block(self.width, self.heads) for _ in range(n))
        self.norm = nn.LayerNorm(self.width)

    def forward(self, ids, caches=None):
        places = torch.arange(ids.shape[1], device=ids.device) if caches is None else self.last
        x = self.tokens(ids) + self.positions(places)
        for k, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[k])
        return F.linear(self.norm(x), self.tokens.weight).flatten(0, 1)


def gpt2():
    model = Gpt2().to(ARGS.device)
    rows = of(8, 2)
    ids = classes(rows * model.context, model.vocabulary)
    return training(model, torch.optim.AdamW(model.parameters(), lr=1e-4), ids.view(rows, -1), ids, True)


def decode():
    model = Gpt2().to(ARGS.device, torch.bfloat16)
    model.last = torch.full((1,), model.context - 1, device=ARGS.device)
    shape = (1, model.heads, model.context, model.width // model.heads)
    caches = [(normal(*shape, dtype=torch.bfloat16), normal(*shape, dtype=torch.bfloat16)) for _ in model.blocks]
    one = torch.zeros((1, 1), dtype=torch.int64, device=ARGS.device)

    def run():
        with torch.no_grad():
            one.copy_(model(one, caches).argmax(1, keepdim=True))

    return run


def chain():
    x, y = normal(of(64 << 20, 4096)), normal(of(64 << 20, 4096))
    return lambda: torch.tanh(torch.sigmoid(x * y + x) * torch.exp(-(y * y)) - x * 0.5) * y


def both_ways(op, columns, small):
    x = normal(of(8192, 8), of(columns, small)).requires_grad_()

    def run():
        x.grad = None
        y = op(x)
        y.backward(torch.ones_like(y))

    return run


def softmax():
    return both_ways(lambda x: torch.softmax(x, 1), 8192, 16)


def layer_norm():
    layer = nn.LayerNorm(of(8192, 16)).to(ARGS.device)
    return both_ways(layer, 8192, 16)


def cross_entropy():
    y = classes(of(8192, 8), of(50257, 65))
    return both_ways(lambda x: F.cross_entropy(x, y), 50257, 65)


def adamw():
    model = Gpt2().to(ARGS.device)
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    return torch.optim.AdamW(model.parameters(), lr=1e-4).step


def product(dtype):
    n = of(8192, 32)
    a, b = normal(n, n, dtype=dtype), normal(n, n, dtype=dtype)
    return lambda: a @ b


def matmul():
    return product(torch.bfloat16)


def matmul_f32():
    return product(torch.float32)


CASES = [launch, mlp, resnet50, gpt2, decode, chain, softmax, layer_norm, cross_entropy, adamw, matmul, matmul_f32]


def synchronize():
    if ARGS.device != "cpu":
        torch.cuda.synchronize()


def measure(run):
    """Milliseconds of a run: the median over groups of runs, as gpu_bench does it."""

    def group(n):
        start = time.perf_counter()
        for _ in range(n):
            run()
        synchronize()
        return (time.perf_counter() - start) / n

    group(3)
    n = max(1, min(1000, int(ARGS.seconds / 10 / group(2))))
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < ARGS.seconds:
        times.append(group(n))
    return statistics.median(times) * 1e3


def attempt(name, how, body):
    try:
        return body()
    except Exception as error:  # whatever it is, the other cases are still wanted
        print(f"torch_bench: {name}, {how}: {str(error).splitlines()[0] if str(error) else error!r}", file=sys.stderr)
        return 0


def main():
    start = time.perf_counter()
    for case in CASES:
        name = case.__name__
        spent = time.perf_counter() - start
        if (ARGS.only and name not in ARGS.only.split(",")) or spent > ARGS.budget:
            continue
        eager = attempt(name, "eager", lambda: measure(case()))
        compiled = 0
        if not ARGS.eager and time.perf_counter() - start < ARGS.budget / 2:
            torch.compiler.reset()
            compiled = attempt(name, "compiled", lambda: measure(torch.compile(case(), mode="reduce-overhead")))
        print(f"{name} {eager:.6f} {compiled:.6f}", flush=True)
        if ARGS.device != "cpu":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The cases of gpu_bench in PyTorch 2.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--budget", type=float, default=180)
    parser.add_argument("--eager", action="store_true", help="no torch.compile")
    parser.add_argument("--only", default="")
    ARGS = parser.parse_args()
    main()
