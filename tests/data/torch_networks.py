#!/usr/bin/env python3
"""Writes torch_networks.json: the losses that PyTorch 2 has in 20 steps of training a ResNet-18, a GPT, a U-Net, a BERT and a ViT.

    python3 tests/data/torch_networks.py            # needs torch and numpy; writes the file beside this script

tests/nn/parity_*_test.cpp build the same networks. Weights and data come from a formula that both
sides compute bit by bit (`bits` here, parity_support.h there), so that none are stored: parameter k of a network, in the order of
its names, has key k, and step s has its inputs from key 1000 + 2 (s modulo 4), and its targets from the next.
"""
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_network_models as models

STEPS, BATCHES = 20, 4


def bits(n, key):
    """lowbias32 (Wellons, 2018) of i + key * 0x9e3779b9, modulo 2^32."""
    x = (np.arange(n, dtype=np.uint64) + key * 0x9E3779B9) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> np.uint64(shift)
        x = x * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    return x ^ x >> np.uint64(16)


def uniform(sizes, key, scale=1.0):
    """scale * u with u in [-1, 1)."""
    u = bits(math.prod(sizes), key).astype(np.float64) / 2**31 - 1
    return torch.from_numpy(scale * u).reshape(sizes)


def classes(sizes, key, n):
    return torch.from_numpy((bits(math.prod(sizes), key) % n).astype(np.int64)).reshape(sizes)


def fill(model):
    with torch.no_grad():
        for key, (name, p) in enumerate(model.named_parameters()):
            if p.dim() > 1:  # as Kaiming He's uniform distribution
                p.copy_(uniform(p.shape, key, math.sqrt(6.0 / (p.numel() // p.shape[0]))))
            elif name.endswith("weight"):
                p.copy_(1 + uniform(p.shape, key, 0.1))
            else:
                p.copy_(uniform(p.shape, key, 0.1))


def norm(width):
    return nn.BatchNorm2d(width)


class BasicBlock(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = norm(width)
        if stride != 1 or inputs != width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), norm(width))
        else:
            self.downsample = None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """He et al., arXiv:1512.03385, with torchvision's names; for CIFAR: a 3x3 stem and no max pool. The paper's width is 64."""

    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = norm(width)
        inputs = width
        for i in range(4):
            outputs = width << i
            blocks = [BasicBlock(inputs, outputs, 1 if i == 0 else 2), BasicBlock(outputs, outputs, 1)]
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
            inputs = outputs
        self.fc = nn.Linear(inputs, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln2 = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (part.view(n, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(self.ln1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, c))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class GPT(nn.Module):
    """Pre-norm decoder; Radford et al., 2019."""

    def __init__(self, vocabulary, context, width, heads, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


def train(model, inputs_of, targets_of, optimizer_of, steps):
    fill(model)
    optimizer = optimizer_of(model.parameters())
    losses = []
    for step in range(steps):
        key = 1000 + 2 * (step % BATCHES)
        loss = F.cross_entropy(model(inputs_of(key)), targets_of(key + 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def record(make, inputs_of, targets_of, optimizer_of, options):
    """In float64 all steps; in float32 the first loss. `inputs_of` gets a key and a dtype."""
    model = make().double()
    made = dict(options)
    made["losses"] = train(model, lambda key: inputs_of(key, torch.float64), targets_of, optimizer_of, STEPS)
    made["parameters"] = {name: list(p.shape) for name, p in model.named_parameters()}
    made["squares"] = sum((p.double() ** 2).sum().item() for p in model.parameters())
    made["buffers"] = sum((b ** 2).sum().item() for _, b in model.named_buffers() if b.is_floating_point())
    made["first_float32"] = train(make().float(), lambda key: inputs_of(key, torch.float32), targets_of, optimizer_of, 1)[0]
    return made


def resnet(width, batch):
    return record(lambda: ResNet18(width), lambda key, dtype: uniform((batch, 3, 32, 32), key).to(dtype),
                  lambda key: classes((batch,), key, 10),
                  lambda parameters: torch.optim.SGD(parameters, 0.002, momentum=0.9, weight_decay=5e-4),
                  {"width": width, "batch": batch})


def gpt(vocabulary=65, context=32, width=64, heads=4, layers=4, batch=4):
    return record(lambda: GPT(vocabulary, context, width, heads, layers),
                  lambda key, _: classes((batch, context), key, vocabulary),
                  lambda key: classes((batch * context,), key, vocabulary),
                  lambda parameters: torch.optim.AdamW(parameters, 1e-3, weight_decay=0.1),
                  {"vocabulary": vocabulary, "context": context, "width": width, "heads": heads, "layers": layers,
                   "batch": batch})


def unet(width=4, depth=2, classes_=3, size=16, batch=2):
    return record(lambda: models.UNet(width, depth, classes_), lambda key, dtype: uniform((batch, 1, size, size), key).to(dtype),
                  lambda key: classes((batch, size, size), key, classes_),
                  lambda parameters: torch.optim.Adam(parameters, 3e-3),
                  {"width": width, "depth": depth, "classes": classes_, "size": size, "batch": batch})


def bert(vocabulary=12, context=10, width=16, heads=2, layers=2, batch=3):
    return record(lambda: models.Bert(vocabulary, context, width, heads, layers),
                  lambda key, _: classes((batch, context), key, vocabulary),
                  lambda key: classes((batch * context,), key, vocabulary),
                  lambda parameters: torch.optim.AdamW(parameters, 1e-3, weight_decay=0.1),
                  {"vocabulary": vocabulary, "context": context, "width": width, "heads": heads, "layers": layers, "batch": batch})


def vit(size=12, patch=4, width=16, heads=2, layers=2, batch=3):
    return record(lambda: models.ViT(size, patch, width, heads, layers, 10),
                  lambda key, dtype: uniform((batch, 3, size, size), key).to(dtype),
                  lambda key: classes((batch,), key, 10),
                  lambda parameters: torch.optim.SGD(parameters, 0.01, momentum=0.9, nesterov=True),
                  {"size": size, "patch": patch, "width": width, "heads": heads, "layers": layers, "batch": batch})


def main():
    made = {"torch": torch.__version__.split("+")[0], "resnet": resnet(64, 2), "resnet_narrow": resnet(8, 2), "gpt": gpt(),
            "unet": unet(), "bert": bert(), "vit": vit()}
    path = pathlib.Path(__file__).with_name("torch_networks.json")
    line = lambda v: json.dumps(v, separators=(",", ":"))
    entries = [f'"{name}": ' + (line(network) if name == "torch" else
                                "{\n" + ",\n".join(f'"{key}": {line(v)}' for key, v in network.items()) + "}")
               for name, network in made.items()]
    path.write_text("{" + ",\n".join(entries) + "}\n")
    for name in ("resnet", "resnet_narrow", "gpt", "unet", "bert", "vit"):
        print(name, made[name]["losses"], made[name]["first_float32"])


if __name__ == "__main__":
    main()
