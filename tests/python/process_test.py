"""The package in an interpreter of its own: beside the onnx wheel, and for type checkers."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx_footprint
from package import MODELS, linear

BESIDE = """
{imports}
report = onnx_footprint.analyze({model!r})
onnx.parser.parse_model({text!r})
model = onnx.load({model!r}, load_external_data=False)
again = onnx.shape_inference.infer_shapes(model)
assert onnx_footprint.analyze(again).parameter_bytes == report.parameter_bytes > 0
assert onnx.defs.get_schema("Relu").name == "Relu"
print(len(again.graph.value_info) > 0)
"""

SAMPLE = """
import pandas
import onnx_footprint
from onnx_footprint import Options, Report, analyze

options: Options = {"dim": {"batch": 8}, "optimizer": "adamw", "precision": "bf16",
                    "runtime": "both"}
report: Report = analyze("model.onnx", **options)
frame: pandas.DataFrame = report.to_pandas("layers")
total: int = report.parameter_bytes
asked: str = report.settings["optimizer"]
peak: int | None = report.training.peak.live_bytes if report.training else None
names: list[str] = [tensor.name for tensor in report.tensors]
assert report.inference is not None
for storage in report.inference.peak.live:
    largest: int | None = storage.bytes
try:
    analyze(b"", name="empty")
except onnx_footprint.ModelError as error:
    kinds: list[str] = [diagnostic.kind for diagnostic in error.diagnostics]
"""
WRONG = """
from onnx_footprint import analyze
report = analyze("model.onnx", precision="fp64")  # line 3
bytes: str = report.parameter_bytes  # line 4
report.to_pandas("tensor")  # line 5
report.trainig  # line 6
analyze(3)  # line 7
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True,
                          text=True, timeout=120, check=False)


class Process(unittest.TestCase):
    def test_beside_the_onnx_wheel(self):
        model = str(next(path for path in MODELS if path.suffix == ".onnx"))
        for imports in ("import onnx, onnx_footprint", "import onnx_footprint, onnx"):
            imports += "\nimport onnx.shape_inference, onnx.parser, onnx.defs"
            result = python(BESIDE.format(imports=imports, model=model, text=linear()))
            self.assertEqual((result.stdout, result.returncode), ("True\n", 0), result.stderr)
            self.assertEqual(result.stderr, "")

    def test_only_python_sees_the_module(self):
        module = pathlib.Path(onnx_footprint._core.__file__)
        symbols = subprocess.run(["nm", "--dynamic", "--defined-only", module], check=True,
                                 capture_output=True, text=True).stdout.split("\n")
        self.assertEqual([line.split()[-1] for line in symbols if line], ["PyInit__core"])

    def check_types(self, text: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            sample = pathlib.Path(folder) / "sample.py"
            sample.write_text(text)
            return subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(sample)],
                capture_output=True, text=True, timeout=600, check=False, cwd=folder)

    def test_types_of_the_package_itself(self):
        package = pathlib.Path(onnx_footprint.__file__).parent
        # Spark, Ray, MLflow and PyTorch are not here.
        result = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-incremental",
             "--ignore-missing-imports", "-p", "onnx_footprint"], capture_output=True, text=True,
            timeout=600, check=False, cwd=package.parent)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_types_of_a_program(self):
        result = self.check_types(SAMPLE)
        self.assertEqual(result.returncode, 0, result.stdout)
        wrong = self.check_types(WRONG).stdout
        for line in range(3, 8):
            self.assertIn(f"sample.py:{line}: error", wrong)


if __name__ == "__main__":
    unittest.main()
