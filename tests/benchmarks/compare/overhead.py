#!/usr/bin/env python3
"""`tenon bench overhead` beside the same calls through PyTorch's C++ libraries, in turn.

    overhead.py [--tenon build/release/bin/tenon] [--rounds 5]

Needs torch (PyPI), whose wheel has headers and libraries, and g++. Prints nanoseconds: the smallest of the rounds.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import torch
import torch.utils.cpp_extension as extension

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenon", default=HERE.parents[2] / "build/release/bin/tenon")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peer = pathlib.Path(folder) / "overhead"
        lib = pathlib.Path(torch.__file__).parent / "lib"
        subprocess.run(
            ["g++", "-std=c++20", "-O2", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
             *[f"-I{path}" for path in extension.include_paths()], str(HERE / "overhead.cpp"), "-o", str(peer),
             f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--no-as-needed", "-ltorch_cpu", "-ltorch", "-lc10"], check=True)
        ours, theirs = {}, {}
        for _ in range(options.rounds):
            text = subprocess.run([options.tenon, "bench", "overhead", "--json", "-"], check=True, capture_output=True).stdout
            for name, value in json.loads(text).items():
                ours[name] = min(value, ours.get(name, value))
            for line in subprocess.run([peer], check=True, capture_output=True, text=True).stdout.splitlines():
                name, value = line.split()
                theirs[name] = min(float(value), theirs.get(name, float(value)))
    print(f"PyTorch {torch.__version__}, C++\n\n| call | Tenon | PyTorch | times as fast |\n| --- | --- | --- | --- |")
    for name, value in theirs.items():
        print(f"| `{name}` | {ours[name]:.0f} ns | {value:.0f} ns | {value / ours[name]:.1f} |")


main()
