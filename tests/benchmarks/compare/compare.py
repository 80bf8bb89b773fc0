#!/usr/bin/env python3
"""`tenon bench` beside PyTorch 2: the same work on the same threads, in turn, so that both meet the machine's moods.

    compare.py [--tenon build/release/bin/tenon] [--rounds 5] [--threads N] [--only NAME ...]

Needs torch (PyPI). Prints a table: medians in milliseconds, and the median over the rounds of PyTorch's time by Tenon's
(above 1: Tenon is faster). The cases are those of sdk/cli/bench_ops.cpp and bench_steps.cpp, by name.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).parents[3]


# ---- The cases: a function that prepares, and gives the function that is timed.


def forward(op, *sizes):
    def make():
        inputs = [torch.randn(s) for s in sizes]

        def run():
            with torch.no_grad():
                op(*inputs)

        return run

    return make


def both_ways(op, *sizes):
    def make():
        inputs = [torch.randn(s, requires_grad=True) for s in sizes]
        g = torch.ones_like(op(*inputs))

        def run():
            op(*inputs).backward(g)
            for t in inputs:
                t.grad = None

        return run

    return make


def chain(x, y):
    return torch.tanh(torch.sigmoid(x * y + x) * torch.exp(-(y * y)) - x * 0.5) * y + x


def conv(x, w):
    return F.conv2d(x, w, padding=1)


def depthwise(x, w):
    return F.conv1d(x, w, padding=3, groups=w.shape[0])


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def normalized(x, w, b):
    return F.layer_norm(x, (1024,), w, b)


def lstm(x, h, c, *weights):
    return torch.lstm(x, (h, c), weights, True, 1, 0.0, False, False, False)[0]


def lstm_packed(x, h, c, *weights):
    sizes = torch.tensor([(65 - t) // 2 for t in range(64)])
    return torch.lstm(x, sizes, (h, c), weights, True, 1, 0.0, False, False)[0]


def gru(x, h, *weights):
    return torch.gru(x, h, weights, True, 1, 0.0, False, False, False)[0]


def lstm_by_hand(x, h, c, w_ih, w_hh, b_ih, b_hh):
    h, c, outputs = h[0], c[0], []
    for part in x:
        i, f, g, o = (F.linear(part, w_ih, b_ih) + F.linear(h, w_hh, b_hh)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outputs.append(h)
    return torch.stack(outputs)


class BasicBlock(nn.Module):
    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = nn.Sequential()
        if stride != 1 or in_channels != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(in_channels, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    in_channels = 64
    for channels in (64, 128, 256, 512):
        layers.append(BasicBlock(in_channels, channels, 1 if channels == 64 else 2))
        layers.append(BasicBlock(channels, channels, 1))
        in_channels = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def mlp():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def step(model, optimizer, x, y):
    def run():
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return run


def mlp_step():
    model = mlp()
    return step(model, torch.optim.Adam(model.parameters(), lr=1e-3), torch.randn(256, 784), torch.arange(256) % 10)


def resnet18_step():
    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return step(model, optimizer, torch.randn(16, 3, 32, 32), torch.arange(16) % 10)


class Positions(nn.Embedding):
    def forward(self, x):
        return x + self.weight[: x.shape[-2]]


class CausalLayer(nn.TransformerEncoderLayer):
    def __init__(self):
        super().__init__(128, 4, 512, 0, "gelu", batch_first=True, norm_first=True)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(64))

    def forward(self, x):
        return super().forward(x, self.mask, is_causal=True)


def gpt_step():
    layers = [CausalLayer() for _ in range(4)]
    model = nn.Sequential(nn.Embedding(65, 128), Positions(64, 128), *layers, nn.LayerNorm(128), nn.Linear(128, 65),
                          nn.Flatten(0, 1))
    characters = torch.arange(32 * 64) % 65
    return step(model, torch.optim.AdamW(model.parameters(), lr=1e-3), characters.view(32, 64), characters)


def adamw_step():
    sizes = [(768,), (768,), (2304, 768), (2304,), (768, 768), (768,), (768,), (768,), (3072, 768), (3072,),
             (768, 3072), (768,)]
    parameters = [torch.randn(s, requires_grad=True) for _ in range(12) for s in sizes]
    for p in parameters:
        p.grad = torch.randn_like(p)
    return torch.optim.AdamW(parameters, lr=1e-3, fused=True).step  # the faster of its two


def embedding_step():
    table = torch.randn(1000000, 64, requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=0.1)
    batches = itertools.cycle([torch.randint(0, 1000000, (2048, 20)) for _ in range(16)])

    def run():
        optimizer.zero_grad()
        F.embedding(next(batches), table, sparse=True).mean().backward()
        optimizer.step()

    return run


def served(*sizes):
    def make():
        x, channels = torch.randn(sizes), [torch.randn(sizes[1]) for _ in range(4)]
        channels[1] = channels[1].square()

        def run():
            with torch.no_grad():
                F.batch_norm(x, *channels)

        return run

    return make


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


SQUARE, ROWS = (1024, 1024), (4096, 1024)
MAPPING = ((256, 1024), (1024, 1024), (1024,))
LSTM = ((64, 32, 256), (1, 32, 256), (1, 32, 256), (1024, 256), (1024, 256), (1024,), (1024,))
PACKED = ((1056, 256), *LSTM[1:])
GRU = ((64, 32, 256), (1, 32, 256), (768, 256), (768, 256), (768,), (768,))
IMAGES, HEADS = ((32, 64, 32, 32), (64, 64, 3, 3)), ((8, 8, 256, 64),) * 3
FILTERS = ((2, 512, 512), (512, 1, 4))
SUITES = {
    "ops": {
        "add": forward(torch.add, SQUARE, SQUARE),
        "chain": forward(chain, SQUARE, SQUARE),
        "chain_backward": both_ways(chain, SQUARE, SQUARE),
        "sum": forward(lambda x: x.sum(1), ROWS),
        "transpose": forward(lambda x: x.t().contiguous(), ROWS),
        "sort": forward(lambda x: x.sort()[0], SQUARE),
        "topk": forward(lambda x: x.topk(50)[0], (64, 50257)),
        "topk_short": forward(lambda x: x.topk(2)[0], (65536, 8)),
        "median": forward(lambda x: x.median(0)[0], (1024 * 1024,)),
        "flip": forward(lambda x: x.flip(0), (1024 * 1024,)),
        "cummax": forward(lambda x: x.cummax(1)[0], SQUARE),
        "randn": forward(lambda: torch.randn(SQUARE)),
        "matmul": forward(torch.matmul, (512, 768), (768, 3072)),
        "matmul_backward": both_ways(torch.matmul, (512, 768), (768, 3072)),
        "conv2d": forward(conv, *IMAGES),
        "conv2d_backward": both_ways(conv, *IMAGES),
        "depthwise": forward(depthwise, *FILTERS),
        "depthwise_backward": both_ways(depthwise, *FILTERS),
        "softmax": forward(lambda x: F.softmax(x, -1), ROWS),
        "softmax_backward": both_ways(lambda x: F.softmax(x, -1), ROWS),
        "layer_norm": forward(normalized, ROWS, (1024,), (1024,)),
        "layer_norm_backward": both_ways(normalized, ROWS, (1024,), (1024,)),
        "attention": forward(attention, *HEADS),
        "attention_backward": both_ways(attention, *HEADS),
        "linear": forward(F.linear, *MAPPING),
        "linear_backward": both_ways(F.linear, *MAPPING),
        "lstm": forward(lstm, *LSTM),
        "lstm_backward": both_ways(lstm, *LSTM),
        "lstm_packed": forward(lstm_packed, *PACKED),
        "lstm_packed_backward": both_ways(lstm_packed, *PACKED),
        "gru": forward(gru, *GRU),
        "gru_backward": both_ways(gru, *GRU),
        "lstm_by_hand_backward": both_ways(lstm_by_hand, *LSTM),
        "batch_norm_served": served(16, 64, 32, 32),
        "batch_norm_served_small": served(16, 512, 4, 4),
        "batch_norm_served_rows": served(256, 1024),
        "gelu": forward(F.gelu, SQUARE),
        "gelu_backward": both_ways(F.gelu, SQUARE),
        "gelu_tanh": forward(gelu_tanh, SQUARE),
        "gelu_tanh_backward": both_ways(gelu_tanh, SQUARE),
        "silu": forward(F.silu, SQUARE),
        "silu_backward": both_ways(F.silu, SQUARE),
        "mish": forward(F.mish, SQUARE),
        "mish_backward": both_ways(F.mish, SQUARE),
        "softplus": forward(F.softplus, SQUARE),
        "softplus_backward": both_ways(F.softplus, SQUARE),
        "sigmoid": forward(torch.sigmoid, SQUARE),
        "sigmoid_backward": both_ways(torch.sigmoid, SQUARE),
        "tanh": forward(torch.tanh, SQUARE),
        "tanh_backward": both_ways(torch.tanh, SQUARE),
        "exp": forward(torch.exp, SQUARE),
        "exp_backward": both_ways(torch.exp, SQUARE),
        "erf": forward(torch.erf, SQUARE),
        "erf_backward": both_ways(torch.erf, SQUARE),
    },
    "steps": {"mlp": mlp_step, "resnet18": resnet18_step, "gpt": gpt_step, "adamw": adamw_step, "embedding": embedding_step},
}


# ---- The clock, as sdk/cli/bench.cpp has it: the median of single runs over half a second or more.


def median_of_runs(run):
    for _ in range(2):
        run()
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5 or len(times) < 5:
        one = time.perf_counter()
        run()
        times.append(time.perf_counter() - one)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenon", default=ROOT / "build/release/bin/tenon")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))

    def tenon(suite, name):
        command = [options.tenon, "bench", suite, "--only", name, "--json", "-"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)[name] / 1e9

    print(f"PyTorch {torch.__version__}, {options.threads} threads, {options.rounds} rounds\n")
    print("| case | Tenon | PyTorch | times as fast |\n| --- | --- | --- | --- |")
    for suite, cases in SUITES.items():
        for name, make in cases.items():
            if options.only and name not in options.only:
                continue
            torch.manual_seed(0)
            peer = make()
            pairs = [(tenon(suite, name), median_of_runs(peer)) for _ in range(options.rounds)]
            ours, theirs = (statistics.median(p[i] for p in pairs) for i in (0, 1))
            ratio = statistics.median(t / o for o, t in pairs)
            print(f"| `{name}` | {1e3 * ours:.3f} ms | {1e3 * theirs:.3f} ms | {ratio:.2f} |", flush=True)


main()
