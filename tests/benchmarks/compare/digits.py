#!/usr/bin/env python3
"""What the network of examples/digits/cnn.json reaches in PyTorch 2: same lines held out, same layers, optimizer and epochs.

    digits.py [SEEDS]        needs torch (PyPI); prints the accuracy of each seed and the median
"""
import json
import pathlib
import statistics
import sys
import time

import torch
from torch import nn

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "digits"


def layer(options):
    options = dict(options)
    return getattr(nn, options.pop("layer"))(**options)


def train(config, x, y, held_out, seed):
    torch.manual_seed(seed)
    model = nn.Sequential(*[layer(o) for o in config["model"]])
    options = dict(config["optimizer"])
    optimizer = getattr(torch.optim, options.pop("optimizer"))(model.parameters(), **options)
    loss_of = getattr(nn.functional, config["loss"])
    train_x, train_y = x[~held_out], y[~held_out]
    start = time.time()
    for _ in range(config["epochs"]):
        for batch in torch.randperm(len(train_x)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss_of(model(train_x[batch]), train_y[batch]).backward()
            optimizer.step()
    seconds = time.time() - start
    model.eval()
    with torch.no_grad():
        right = model(x[held_out]).argmax(1) == y[held_out]
    return right.double().mean().item(), seconds


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    config = json.loads((EXAMPLE / "cnn.json").read_text())
    rows = [[float(v) for v in line.split(",")] for line in (EXAMPLE / config["data"]["csv"]).read_text().split()]
    table = torch.tensor(rows)
    x, y = table[:, :-1] * config["data"]["scale"], table[:, -1].long()
    held_out = torch.arange(len(x)) % config["data"]["test_every"] == 0
    results = [train(config, x, y, held_out, seed) for seed in range(seeds)]
    for seed, (accuracy, seconds) in enumerate(results):
        print(f"seed {seed}  test accuracy {accuracy:.3f}  {seconds:.1f} s")
    print(f"median {statistics.median(a for a, _ in results):.3f}  torch {torch.__version__}")


main()
