"""What the tests of the Python package share: where things are, small models, the command."""

import os
import pathlib
import random
import subprocess

BINARY = os.environ["FOOTPRINT_BINARY"]
SOURCE = pathlib.Path(os.environ["FOOTPRINT_SOURCE_DIR"])
MODELS = sorted((SOURCE / "models").glob("*.onnx*"))

_TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, {inputs}] x) => (float[N, {outputs}] y)
<float[{inputs}, {outputs}] w = {{{values}}}> {{
  y = MatMul(x, w)
}}
"""


def linear(inputs: int = 4, outputs: int = 3) -> str:
    """A model of one matrix, as text."""
    values = ", ".join("1" for _ in range(inputs * outputs))
    return _TEXT.format(inputs=inputs, outputs=outputs, values=values)


def command(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([BINARY, *arguments], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False)


def mutants(original: bytes, count: int, seed: int):
    """Damaged copies: bytes changed, cut, repeated, the end torn off."""
    source = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(original)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(damaged))
            kind = source.randrange(5)
            if kind == 0:
                damaged[at] = source.randrange(256)
            elif kind == 1:
                damaged[at] ^= 1 << source.randrange(8)
            elif kind == 2:
                del damaged[at:at + source.randint(1, 16)]
            elif kind == 3:
                damaged[at:at] = damaged[at:at + source.randint(1, 64)]
            elif len(damaged) > 64:
                del damaged[at:]
            if not damaged:
                break
        yield bytes(damaged)
