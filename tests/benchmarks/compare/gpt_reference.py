#!/usr/bin/env python3
"""The validation loss that PyTorch reaches on a training of text, as `tenon train` describes it: the
same model, data, number of tokens, optimizer and schedule. The random numbers are PyTorch's.
  gpt_reference.py FILE.json [--seed N] [--steps N] [--json]
"""
import argparse
import json
import math
import pathlib
import time

import torch
from torch import nn


class PositionalEmbedding(nn.Embedding):
    def forward(self, x):
        return x + self.weight[: x.shape[-2]]


class CausalEncoderLayer(nn.TransformerEncoderLayer):
    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return super().forward(x, mask, is_causal=True)


def read_text(data, folder):
    paths = data["text"] if isinstance(data["text"], list) else [data["text"]]
    for path in (folder / p for p in paths):
        if path.is_file():
            return path.read_bytes()
        if path.is_dir():
            files = sorted(p for p in path.iterdir() if p.is_file() and not p.is_symlink())
            return b"".join(p.read_bytes() for p in files)
    raise SystemExit("no text: " + ", ".join(map(str, paths)))


def build(layers, vocab):
    made = []
    for layer in layers:
        options = {k: vocab if v == "vocab" else v for k, v in layer.items()}
        name, repeat = options.pop("layer"), options.pop("repeat", 1)
        if name == "TransformerEncoderLayer":
            assert options.pop("is_causal", False) and options.get("batch_first")
            kind = CausalEncoderLayer
        else:
            kind = PositionalEmbedding if name == "PositionalEmbedding" else getattr(nn, name)
        made += [kind(**options) for _ in range(repeat)]
    return nn.Sequential(*made)


def learning_rate(schedule, base, step, steps):
    """Of the step with this number, from 0."""
    warmup = schedule.get("warmup_steps", 0)
    if step < warmup:
        return base * (step + 1) / warmup
    name = schedule.get("schedule", "constant")
    if name == "cosine":
        low = schedule.get("min_lr", 0)
        part = (step - warmup) / max(steps - warmup, 1)
        return low + (base - low) * 0.5 * (1 + math.cos(math.pi * part))
    if name == "step":
        return base * schedule.get("gamma", 0.1) ** ((step - warmup) // schedule["step_size"])
    return base


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    config = json.loads(arguments.file.read_text())
    steps = arguments.steps or config["steps"]
    torch.manual_seed(config.get("seed", 0) if arguments.seed is None else arguments.seed)

    text = torch.tensor(list(read_text(config["data"], arguments.file.parent)))
    vocabulary, tokens = torch.unique(text, return_inverse=True)
    held = int(len(tokens) * config["data"]["validation"])
    train, validation = tokens[: len(tokens) - held], tokens[len(tokens) - held :]
    context, batch = config["data"]["context"], config["batch_size"]

    model = build(config["model"], len(vocabulary))
    options = dict(config["optimizer"])
    optimizer = getattr(torch.optim, options.pop("optimizer"))(model.parameters(), **options)
    loss_of = getattr(nn.functional, config["loss"])
    start = time.time()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(config.get("schedule", {}), options["lr"], step, steps)
        first = torch.randint(len(train) - context, (batch, 1))
        at = first + torch.arange(context)
        loss = loss_of(model(train[at]), train[at + 1].flatten())
        optimizer.zero_grad()
        loss.backward()
        if "clip_grad_norm" in config:
            nn.utils.clip_grad_norm_(model.parameters(), config["clip_grad_norm"])
        optimizer.step()
        if not arguments.json and (step + 1) % max(steps // 10, 1) == 0:
            print(f"step {step + 1}/{steps}  loss {loss.item():.4f}  {time.time() - start:.0f} s", flush=True)
    seconds = time.time() - start

    model.eval()
    n = (len(validation) - 1) // context
    x, y = validation[: n * context].view(n, context), validation[1 : n * context + 1].view(n, context)
    with torch.no_grad():
        total = sum(loss_of(model(a), b.flatten()).item() * len(a) for a, b in zip(x.split(batch), y.split(batch)))
    result = {"validation_loss": total / n, "parameters": sum(p.numel() for p in model.parameters()),
              "seconds": seconds, "torch": torch.__version__}
    print(json.dumps(result, indent=2) if arguments.json else f"validation loss: {total / n:.4f}  {result}")


if __name__ == "__main__":
    main()
