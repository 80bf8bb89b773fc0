#!/usr/bin/env python3
"""Writes a file of weights of a BERT of two layers, of 0.1 MB, under the names of Hugging Face's BertForMaskedLM.

    python3 examples/bert/tiny_bert.py FILE.safetensors               # needs nothing but Python
    python3 examples/bert/tiny_bert.py FILE.safetensors --outputs     # needs torch: also prints what PyTorch makes of them

The numbers are random, of one seed, and the same everywhere. outputs.txt has what --outputs prints: bert.cpp prints the same. PyTorch's
encoder layers compute it, from the same weights; their names are others than those of the file, which are the ones that people have.
"""
import json
import math
import random
import struct
import sys

WORDS, WIDTH, PLACES, KINDS, INNER, LAYERS, HEADS = 60, 32, 16, 2, 64, 2, 4


def sizes():
    yield "bert.embeddings.word_embeddings.weight", [WORDS, WIDTH]
    yield "bert.embeddings.position_embeddings.weight", [PLACES, WIDTH]
    yield "bert.embeddings.token_type_embeddings.weight", [KINDS, WIDTH]
    yield from norm("bert.embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"bert.encoder.layer.{i}."
        for name in ("query", "key", "value"):
            yield from linear(f"{layer}attention.self.{name}", WIDTH, WIDTH)
        yield from linear(layer + "attention.output.dense", WIDTH, WIDTH)
        yield from norm(layer + "attention.output.LayerNorm")
        yield from linear(layer + "intermediate.dense", WIDTH, INNER)
        yield from linear(layer + "output.dense", INNER, WIDTH)
        yield from norm(layer + "output.LayerNorm")
    yield from linear("bert.pooler.dense", WIDTH, WIDTH)
    yield "cls.predictions.bias", [WORDS]
    yield from linear("cls.predictions.transform.dense", WIDTH, WIDTH)
    yield from norm("cls.predictions.transform.LayerNorm")


def linear(name, inputs, outputs):
    yield name + ".weight", [outputs, inputs]
    yield name + ".bias", [outputs]


def norm(name):
    yield name + ".weight", [WIDTH]
    yield name + ".bias", [WIDTH]


def weights():
    """Uniform within 0.4 of 0, or of 1 where a norm multiplies: so large that attention looks at some words more than at others."""
    numbers = random.Random(0)
    for name, size in sizes():
        middle = 1 if name.endswith("LayerNorm.weight") else 0
        yield name, size, [middle + 0.8 * (numbers.random() - 0.5) for _ in range(math.prod(size))]


def write(path):
    """https://huggingface.co/docs/safetensors: the length of the header, the header, the numbers."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, size, numbers in weights():
        start = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": size, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def outputs():
    import torch
    import torch.nn.functional as F

    state = {name: torch.tensor(numbers, dtype=torch.float32).reshape(size) for name, size, numbers in weights()}
    part = lambda prefix: {name[len(prefix):]: state[name] for name in state if name.startswith(prefix)}

    class Bert(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Parameter(state["bert.embeddings.word_embeddings.weight"])
            self.places = torch.nn.Parameter(state["bert.embeddings.position_embeddings.weight"])
            self.kinds = torch.nn.Parameter(state["bert.embeddings.token_type_embeddings.weight"])
            self.embedded = self.norm("bert.embeddings.LayerNorm.")
            self.layers = torch.nn.ModuleList(self.layer(f"bert.encoder.layer.{i}.") for i in range(LAYERS))
            self.pooler = self.linear("bert.pooler.dense.")
            self.transform = self.linear("cls.predictions.transform.dense.")
            self.transform_norm = self.norm("cls.predictions.transform.LayerNorm.")
            self.bias = torch.nn.Parameter(state["cls.predictions.bias"])

        def norm(self, prefix):
            made = torch.nn.LayerNorm(WIDTH, eps=1e-12)
            made.load_state_dict(part(prefix))
            return made

        def linear(self, prefix):
            made = torch.nn.Linear(*reversed(state[prefix + "weight"].shape))
            made.load_state_dict(part(prefix))
            return made

        def layer(self, prefix):
            made = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout=0, activation="gelu", layer_norm_eps=1e-12, batch_first=True)
            own = {}
            for kind in ("weight", "bias"):
                own["self_attn.in_proj_" + kind] = torch.cat([state[f"{prefix}attention.self.{n}.{kind}"] for n in ("query", "key", "value")])
                for name, theirs in (("self_attn.out_proj", "attention.output.dense"), ("norm1", "attention.output.LayerNorm"),
                                     ("linear1", "intermediate.dense"), ("linear2", "output.dense"), ("norm2", "output.LayerNorm")):
                    own[f"{name}.{kind}"] = state[f"{prefix}{theirs}.{kind}"]
            made.load_state_dict(own)
            return made

        def forward(self, ids, sentence, is_word):
            x = self.embedded(F.embedding(ids, self.words) + self.places[: ids.shape[1]] + F.embedding(sentence, self.kinds))
            for layer in self.layers:
                x = layer(x, src_key_padding_mask=~is_word)
            logits = F.linear(self.transform_norm(F.gelu(self.transform(x))), self.words, self.bias)
            return x, torch.tanh(self.pooler(x[:, 0])), logits

    show = lambda name, numbers: print(name, *(f"{number:.6f}" for number in numbers.flatten().tolist()))
    ids = torch.tensor([[2, 17, 25, 9, 3, 31, 40, 3], [2, 8, 44, 3, 19, 3, 0, 0]])
    sentence = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0]])
    is_word = ids != 0
    model = Bert()
    x, pooled, logits = model(ids, sentence, is_word)
    show("hidden", x[1, :6].norm(dim=-1))
    show("pooled", pooled[:, :8])
    show("logits", logits[0, 2, :8])
    hidden_at = torch.tensor([[0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0]]) == 1
    masked, target = ids.masked_fill(hidden_at, 4), ids.masked_fill(~hidden_at, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(5):
        loss = F.cross_entropy(model(masked, sentence, is_word)[2].flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show("loss", loss)


if __name__ == "__main__":
    write(sys.argv[1])
    if "--outputs" in sys.argv[2:]:
        outputs()
