"""Malformed models through the API: a report or an exception, never the end of the interpreter."""

import unittest

import onnx

from onnx_footprint import FootprintError, analyze
from package import MODELS, SOURCE, linear, mutants


def outcomes(contents, name=None) -> str:
    try:
        report = analyze(contents, name=name)
        report.to_json()
        report.to_pandas("tensors")
        return "report"
    except FootprintError as error:
        assert error.diagnostics and str(error)
        return "error"


def models_of_cases():
    for path in sorted((SOURCE / "tests/cases").glob("*/*.onnxtxt"))[::8]:
        try:
            yield onnx.parser.parse_model(path.read_text()).SerializeToString()
        except onnx.parser.ParseError:  # comments that only our own reader takes
            pass


class Corpus(unittest.TestCase):
    def test_damaged_files(self):
        seen = {"report": 0, "error": 0}
        originals = [onnx.parser.parse_model(linear()).SerializeToString(), *models_of_cases()]
        self.assertGreater(len(originals), 10)
        for seed, original in enumerate(originals):
            for damaged in mutants(original, 200, seed):
                seen[outcomes(damaged)] += 1
        self.assertGreater(seen["report"], 50)
        self.assertGreater(seen["error"], 1000)

    def test_damaged_exports(self):
        mobilenet = next(path for path in MODELS if "mobilenet" in path.name)
        seen = {outcomes(damaged) for damaged in mutants(mobilenet.read_bytes(), 60, 1)}
        self.assertEqual(seen, {"report", "error"})

    def test_damaged_texts(self):
        seen = {"report": 0, "error": 0}
        for folder in ("bad", "import", "infer"):
            for path in sorted((SOURCE / "tests/cases" / folder).glob("*.*t*"))[::3]:
                for damaged in (path.read_bytes(), *mutants(path.read_bytes(), 10, 7)):
                    seen[outcomes(damaged, path.name)] += 1
        self.assertGreater(seen["report"], 20)
        self.assertGreater(seen["error"], 100)

    def test_no_models_at_all(self):
        for contents in (b"", b"\0", b"\xff" * 100000, b"{}", b"\x0a" * 100000,
                         b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x3a\x80" * 5000):
            self.assertEqual(outcomes(contents), "error", contents[:20])
        # Nested deeper than any stack: graph, node, attribute, graph ...
        nested = b""
        for _ in range(20000):
            for field in (b"\x0a", b"\x2a", b"\x32"):
                nested = field + bytes(varint(len(nested))) + nested[:60000]
        self.assertEqual(outcomes(b"\x3a" + bytes(varint(len(nested))) + nested), "error")
        self.assertEqual(outcomes(b"(" * 10 ** 6, "m.onnxtxt"), "error")
        self.assertEqual(outcomes(b"graph {" * 10 ** 5, "m.textproto"), "error")


def varint(value: int):
    while value >= 128:
        yield value & 127 | 128
        value >>= 7
    yield value


if __name__ == "__main__":
    unittest.main()
