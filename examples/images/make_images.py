#!/usr/bin/env python3
"""Draws pictures of shapes, a folder for each kind, as PNG files of 40 x 40.

    python3 make_images.py FOLDER [N]

N pictures of each kind (default 600): discs, boxes, triangles, rings and crosses, of any colour and size, at any
place, on noise. Python's standard library is enough."""

import os
import random
import struct
import sys
import zlib

SIDE = 40


def inside(kind, dx, dy, r):
    """Whether a point at (dx, dy) from the middle of a shape of radius r is in it."""
    if kind == "disc":
        return dx * dx + dy * dy < r * r
    if kind == "ring":
        return 0.35 * r * r < dx * dx + dy * dy < r * r
    if kind == "box":
        return max(abs(dx), abs(dy)) < 0.85 * r
    if kind == "cross":
        return min(abs(dx), abs(dy)) < 0.3 * r and max(abs(dx), abs(dy)) < r
    return -0.7 * r < dy < r and abs(dx) < 0.6 * (r - dy)  # a triangle


def picture(kind, draw):
    r = draw.uniform(7, 14)
    cx, cy = draw.uniform(r, SIDE - r), draw.uniform(r, SIDE - r)
    colour = [draw.randrange(256) for _ in range(3)]
    ground = [(c + draw.randrange(90, 166)) % 256 for c in colour]
    rows = []
    for y in range(SIDE):
        row = bytearray([0])  # no filter
        for x in range(SIDE):
            for c in colour if inside(kind, x - cx, y - cy, r) else ground:
                row.append(min(255, max(0, int(c + draw.gauss(0, 25)))))
        rows.append(bytes(row))
    return b"".join(rows)


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 600
    draw = random.Random(0)
    for kind in ("box", "cross", "disc", "ring", "triangle"):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        for i in range(n):
            with open(os.path.join(folder, kind, f"{i:04}.png"), "wb") as file:
                file.write(png(picture(kind, draw)))


main()
