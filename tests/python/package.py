"""What the tests of the Python package share: where things are, small models, the command."""

import os
import pathlib
import random
import subprocess

from onnx_footprint import UsageError

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


def registry(folder: pathlib.Path, count: int = 300) -> dict[str, int | None]:
    """Writes models that are all different; the bytes of parameters of each, None if broken."""
    expected: dict[str, int | None] = {}
    for i in range(count):
        inputs, outputs = 1 + i % 17, 1 + i % 13
        text, path = linear(inputs, outputs), folder / f"model{i:03}.onnxtxt"
        broken = {3: text[:len(text) // 2], 5: "no model", 7: "\n",
                  9: text.replace("x, w", "w, w2")}
        path.write_text(broken.get(i % 20, text))
        expected[str(path)] = None if i % 20 in broken else 4 * inputs * outputs
    return expected


def check_rows(test, rows: list[dict], expected: dict[str, int | None],
               limit: int | None = None) -> None:
    """The rows that an engine made of a registry; `limit` is a budget of the parameters."""
    test.assertEqual(len(rows), len(expected))
    figures = {row["model"].removeprefix("file:"): row for row in rows}
    test.assertEqual(set(figures), set(expected))
    for path, parameters in expected.items():
        row = figures[path]
        test.assertEqual(row["parameters_bytes"], parameters, row)
        if parameters is None:
            test.assertTrue(row["error"], row)
            test.assertIsNone(row["peak_bytes"], row)
        else:
            test.assertIsNone(row["error"], row)
            test.assertGreater(row["peak_bytes"], parameters, row)
            test.assertEqual(row["broken_budgets"], int(limit is not None and parameters > limit))


def check_refusals(test, analyze, paths, contents) -> None:
    """What an engine's analyze() refuses before a job begins. `contents` has them in a column
    "content" and their names in "path"."""
    for error, words, arguments, options in (
            (TypeError, "did you mean 'optimizer'", (paths,), {"optimiser": "sgd"}),
            (UsageError, "--mode foo: expected one of", (paths,), {"mode": "foo"}),
            (UsageError, "peek", (paths,), {"budget": {"peek": 1}}),
            (ValueError, "several values of a dimension", (paths,), {"dim": {"N": range(1, 9)}}),
            (ValueError, "no columns for a fit", (paths,), {"device": "a100-80gb", "fit": "N"}),
            (ValueError, "are names already", (contents, "path"), {"name_column": "content"}),
            (ValueError, "another column", (contents, "content"), {"name_column": "content"})):
        with test.assertRaisesRegex(error, words):
            analyze(*arguments, **options)
