#!/usr/bin/env python3
"""Writes torch_values_recurrent.json: calls of recurrent ops, in the form that torch_cases.py says, with what PyTorch 2 gives for them.

    python3 tests/data/torch_values_recurrent.py            # needs torch; writes the file beside this script

A file of its own, so that these cases and those of torch_values.json do not change one another's random numbers.
"""
import json
import pathlib

import torch

from torch_cases import case, cases, x

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def small(*sizes):
    return x(*sizes, low=-0.6, high=0.6)


def weights(op, features, hidden, layers=1, both=False, biases=True, width=None):
    """In the order of PyTorch's flat list, so small that a layer does not multiply what the one below it rounded. width: of h, where it
    is projected."""
    found, rows, width = [], GATES[op] * hidden, width or hidden
    for layer in range(layers):
        for _ in range(2 if both else 1):
            found += [small(rows, features if layer == 0 else width * (2 if both else 1)), small(rows, width)]
            found += [small(rows), small(rows)] if biases else []
            found += [small(width, hidden)] if width != hidden else []
    return found


def call(op):
    fn = getattr(torch, op)

    def run(inputs, states, params, biases=True, layers=1, dropout=0.0, train=False, both=False, batch_first=False, sizes=()):
        states = tuple(states) if isinstance(states, (list, tuple)) else states
        if len(sizes) == 0:
            return tuple(fn(inputs, states, list(params), biases, layers, dropout, train, both, batch_first))
        return tuple(fn(inputs, torch.tensor(sizes), states, list(params), biases, layers, dropout, train, both))

    return run


def recurrent(op, n, features=3, hidden=2, layers=1, both=False, biases=True, batch_first=False, width=None, sizes=(), steps=3):
    of_layers = layers * (2 if both else 1)
    if op == "lstm":
        states = [x(of_layers, n, width or hidden), x(of_layers, n, hidden)]
    else:
        states = x(of_layers, n, hidden)
    inputs = x(sum(sizes), features) if sizes else x(n, steps, features) if batch_first else x(steps, n, features)
    options = [biases, layers, 0.0, False, both, batch_first, list(sizes)]
    defaults = [True, 1, 0.0, False, False, False, []]
    while options and options[-1] == defaults[len(options) - 1]:
        options.pop()
    case(op, [inputs, states, weights(op, features, hidden, layers, both, biases, width), *options], call(op))


def main():
    for op in GATES:
        recurrent(op, 2)
        recurrent(op, 1, biases=False, steps=1)
        recurrent(op, 2, layers=2, both=True, steps=2)
        recurrent(op, 3, sizes=(3, 2, 2, 1), both=True)
        recurrent(op, 2, batch_first=True, hidden=3, features=2)
        recurrent(op, 2, sizes=(2, 2, 1), layers=2, biases=False)
    recurrent("lstm", 2, hidden=3, width=2)
    recurrent("lstm", 3, hidden=3, width=1, layers=2, both=True, sizes=(3, 1), biases=False)
    for lead in ((2,), ()):
        for biases in (True, False):
            bias = lambda rows: [x(rows), x(rows)] if biases else []
            case("lstm_cell", [x(*lead, 3), [x(*lead, 2), x(*lead, 2)], x(8, 3), x(8, 2), *bias(8)],
                 lambda i, h, *w: tuple(torch.lstm_cell(i, h, *w)) if lead else
                 tuple(t.squeeze(0) for t in torch.lstm_cell(i[None], [t[None] for t in h], *w)))
            for op in ("gru", "rnn_tanh", "rnn_relu"):
                rows = 2 * GATES[op]
                fn = getattr(torch, op + "_cell")
                case(op + "_cell", [x(*lead, 3), x(*lead, 2), x(rows, 3), x(rows, 2), *bias(rows)],
                     lambda i, h, *w, fn=fn: fn(i, h, *w) if lead else fn(i[None], h[None], *w).squeeze(0))
    path = pathlib.Path(__file__).with_name("torch_values_recurrent.json")
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path.write_text(f'{{"torch":"{torch.__version__.split("+")[0]}","cases":[\n{lines}\n]}}\n')
    print(len(cases), "cases", path.stat().st_size, "bytes")


main()
