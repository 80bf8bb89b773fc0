"""The networks of torch_networks.py beside ResNet and GPT: a U-Net, a BERT and a ViT. tests/support/*_model.h have the same with the same names."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class UNet(nn.Module):
    """Ronneberger et al., arXiv:1505.04597, with batch norms; `width` doubles with each of the `depth` levels."""

    def __init__(self, width, depth, classes):
        super().__init__()

        def convolutions(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                                 nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

        widths = [width << level for level in range(depth + 1)]
        self.down = nn.ModuleList([convolutions(i, o) for i, o in zip([1] + widths, widths[:-1])])
        self.bottom = convolutions(widths[-2], widths[-1])
        self.wider = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in reversed(widths[:-1])])
        self.up = nn.ModuleList([convolutions(2 * w, w) for w in reversed(widths[:-1])])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skipped = []
        for level in self.down:
            skipped.append(level(x))
            x = F.max_pool2d(skipped[-1], 2)
        x = self.bottom(x)
        for wider, level in zip(self.wider, self.up):
            x = level(torch.cat([skipped.pop(), wider(x)], 1))
        return self.head(x)


def encoder(layers, width, heads, **options):
    return nn.ModuleList([nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, **options)
                          for _ in range(layers)])


class Bert(nn.Module):
    """Devlin et al., arXiv:1810.04805: words that are masked are found. The id 0 is padding, the second half of a row another
    sentence, and the words' own vectors are the weights of the last layer."""

    def __init__(self, vocabulary, context, width, heads, layers):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.places = nn.Embedding(context, width)
        self.sentences = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = encoder(layers, width, heads, layer_norm_eps=1e-12)
        self.transform = nn.Linear(width, width)
        self.transform_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, ids):
        places = torch.arange(ids.shape[1])
        x = self.norm(self.words(ids) + self.places(places) + self.sentences((places >= ids.shape[1] // 2).long()))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=ids == 0)
        x = self.transform_norm(F.gelu(self.transform(x)))
        return F.linear(x, self.words.weight, self.bias).flatten(0, 1)


class ViT(nn.Module):
    """Dosovitskiy et al., arXiv:2010.11929: layers whose norms stand first, of patches behind a token for the class."""

    def __init__(self, size, patch, width, heads, layers, classes):
        super().__init__()
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.layers = encoder(layers, width, heads, norm_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])
