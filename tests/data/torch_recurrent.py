#!/usr/bin/env python3
"""Writes torch_recurrent.json: what PyTorch 2's recurrent layers give, with all gradients, in float64; and 20 steps of a classifier.

    python3 tests/data/torch_recurrent.py            # needs torch and numpy; writes the file beside this script

tests/nn/recurrent_layers_test.cpp makes the same layers. Parameters and inputs are of the formula of torch_networks.py: parameter k has
key k, the input has key 500, the states have 501 and 502. Gradients are those of the sum of all outputs times their weights
(torch_cases.py). With "lengths" the input is packed, and the output is padded again.
"""
import json
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import torch_networks
from torch_cases import weight

D = torch.float64


def layer_case(name, options, sizes, states=True, lengths=None, enforce_sorted=True):
    layer = getattr(nn, name)(**options).double()
    torch_networks.fill(layer)
    is_cell, is_lstm = name.endswith("Cell"), name.startswith("LSTM")
    inputs = torch_networks.uniform(sizes, 500).requires_grad_()
    leaves = {"input": inputs}
    hidden, width = options["hidden_size"], options.get("proj_size", 0) or options["hidden_size"]
    batch_first = options.get("batch_first", False)
    lead = list(sizes[:-1])
    if not is_cell:
        n = [sizes[0 if batch_first else 1]] if len(sizes) == 3 else []
        lead = [options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)] + n
    if states:
        leaves["h_0"] = torch_networks.uniform(lead + [width], 501).requires_grad_()
        if is_lstm:
            leaves["c_0"] = torch_networks.uniform(lead + [hidden], 502).requires_grad_()
    given = [leaves[k] for k in ("h_0", "c_0") if k in leaves]
    x = inputs if lengths is None else pack_padded_sequence(inputs, torch.tensor(lengths), batch_first, enforce_sorted)
    arguments = [x] + ([tuple(given) if is_lstm else given[0]] if given else [])
    if is_cell:
        y = layer(*arguments)
        outputs = list(y) if is_lstm else [y]
    else:
        y, last = layer(*arguments)
        y = y if lengths is None else pad_packed_sequence(y, batch_first)[0]
        outputs = [y, *last] if is_lstm else [y, last]
    sum((t * weight(t)).sum() for t in outputs).backward()
    values = lambda t: {"s": list(t.shape), "v": t.detach().reshape(-1).tolist()}
    made = {"layer": name, "options": options, "sizes": list(sizes), "states": states,
            "outputs": [values(t) for t in outputs], "parameters": {n: list(p.shape) for n, p in layer.named_parameters()},
            "gradients": {**{n: values(t.grad) for n, t in leaves.items()},
                          **{n: values(p.grad) for n, p in layer.named_parameters()}}}
    if lengths is not None:
        made.update({"lengths": lengths, "enforce_sorted": enforce_sorted})
    return made


def layers():
    made = []
    for name in ("LSTM", "GRU", "RNN"):
        plain = {"input_size": 3, "hidden_size": 2}
        made.append(layer_case(name, plain, (3, 2, 3)))
        made.append(layer_case(name, {**plain, "batch_first": True, "bias": False}, (2, 3, 3), states=False))
        made.append(layer_case(name, {**plain, "num_layers": 2, "bidirectional": True}, (3, 2, 3)))
        made.append(layer_case(name, plain, (3, 3)))
        made.append(layer_case(name, {**plain, "bidirectional": True}, (4, 3, 3), lengths=[4, 2, 1]))
        made.append(layer_case(name, {**plain, "num_layers": 2, "bidirectional": True, "batch_first": True}, (3, 4, 3),
                               lengths=[2, 4, 2], enforce_sorted=False))
    made.append(layer_case("RNN", {"input_size": 3, "hidden_size": 2, "nonlinearity": "relu", "num_layers": 2}, (3, 2, 3)))
    wide = {"input_size": 2, "hidden_size": 3, "proj_size": 2}
    made.append(layer_case("LSTM", {**wide, "num_layers": 2, "bidirectional": True}, (2, 2, 2)))
    made.append(layer_case("LSTM", {**wide, "bias": False}, (3, 2, 2), lengths=[1, 3], enforce_sorted=False))
    for name in ("LSTMCell", "GRUCell", "RNNCell"):
        made.append(layer_case(name, {"input_size": 3, "hidden_size": 2}, (2, 3)))
        made.append(layer_case(name, {"input_size": 3, "hidden_size": 2, "bias": False}, (3,), states=False))
    made.append(layer_case("RNNCell", {"input_size": 3, "hidden_size": 2, "nonlinearity": "relu"}, (2, 3)))
    return made


class Classifier(nn.Module):
    """Of sequences of tokens with zeros behind them, as long as they are; tests/support/lstm_model.h has the same."""

    def __init__(self, vocabulary, width, hidden, classes):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, ids):
        lengths = (ids != 0).sum(1)
        _, (h, _) = self.lstm(pack_padded_sequence(self.tokens(ids), lengths, True, enforce_sorted=False))
        return self.head(torch.cat([h[-2], h[-1]], 1))


def tokens(n, t, key, vocabulary):
    """Row i has t - 3 i modulo (t - 1) tokens, from 1 on, and zeros behind them."""
    ids = 1 + torch_networks.classes((n, t), key, vocabulary - 1)
    lengths = torch.tensor([t - 3 * i % (t - 1) for i in range(n)])
    return ids.masked_fill(torch.arange(t)[None, :] >= lengths[:, None], 0)


def classifier(vocabulary=20, width=8, hidden=12, classes=3, batch=6, steps=9):
    return torch_networks.record(
        lambda: Classifier(vocabulary, width, hidden, classes), lambda key, _: tokens(batch, steps, key, vocabulary),
        lambda key: torch_networks.classes((batch,), key, classes), lambda parameters: torch.optim.Adam(parameters, 1e-2),
        {"vocabulary": vocabulary, "width": width, "hidden": hidden, "classes": classes, "batch": batch, "steps": steps})


def main():
    line = lambda v: json.dumps(v, separators=(",", ":"))
    path = pathlib.Path(__file__).with_name("torch_recurrent.json")
    path.write_text(f'{{"torch": "{torch.__version__.split("+")[0]}",\n"classifier": {line(classifier())},\n"layers": [\n' +
                    ",\n".join(line(c) for c in layers()) + "\n]}\n")
    print(path.stat().st_size, "bytes")


main()
