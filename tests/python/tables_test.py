"""Typed results: the fields of Report, and its tables as data frames."""

import csv
import io
import re
import sys
import unittest
import unittest.mock

import pandas

from onnx_footprint import Report, UsageError, _core, analyze, mlflow, rows
from package import MODELS, SOURCE, linear

TABLES = ("tensors", "storages", "layers", "timeline", "sweep")


def as_csv(value) -> str:
    """A cell as the command's CSV has it."""
    if isinstance(value, list):
        return "; ".join(value)
    return "" if value is None or value is pandas.NA else str(value)


class Tables(unittest.TestCase):
    def test_they_are_those_of_the_csv(self):
        report = analyze(MODELS[0], dim={"batch": [1, 2, 4]})
        for table in TABLES:
            frame = report.to_pandas(table)
            head, *rows = csv.reader(io.StringIO(report.document("csv:" + table)))
            self.assertEqual(list(frame.columns), head, table)
            self.assertEqual(len(frame), len(rows), table)
            self.assertGreater(len(frame), 2, table)
            for name, cells in zip(head, zip(*rows)):
                if name != "shape":
                    self.assertEqual([as_csv(value) for value in frame[name]], list(cells),
                                     (table, name))

    def test_shapes_are_lists_and_bytes_exact_integers(self):
        text = """<ir_version: 8, opset_import: ["" : 17, "other" : 1]>
        g (float[N, 4] x) => (float[N, 4] y) { n = other.Anything(x) y = Relu(x) }"""
        report = analyze(text.encode(), name="m.onnxtxt", dim={"N": 2 ** 50 + 1})
        frame = report.to_pandas()
        rows = frame.set_index("name")
        self.assertEqual(rows.loc["x", "shape"], [2 ** 50 + 1, 4])
        self.assertEqual(rows.loc["x", "bytes"], 16 * (2 ** 50 + 1))
        self.assertIsNone(rows.loc["n", "shape"])
        self.assertIs(rows.loc["n", "bytes"], pandas.NA)
        self.assertIsNone(report.inference.peak.allocated_bytes)
        self.assertEqual(str(frame["bytes"].dtype), "Int64")
        self.assertEqual(str(frame["name"].dtype), "str")

    def test_no_such_table(self):
        report = analyze(linear().encode(), name="m.onnxtxt")
        with self.assertRaisesRegex(ValueError, "there are tensors, storages"):
            report.to_pandas("tensor")
        with self.assertRaisesRegex(ValueError, "no dimension has several values"):
            report.to_pandas("sweep")

    def test_a_package_that_is_missing_is_named_with_its_extra(self):
        report = analyze(linear().encode(), name="m.onnxtxt")
        for package, extra, call in (("pandas", "pandas", report.to_pandas),
                                     ("mlflow", "mlflow", lambda: mlflow.log_report(report)),
                                     ("pyarrow", "spark", rows.schema)):
            words = rf"{package} is not installed; .*onnx-footprint\[{extra}\] brings it"
            with unittest.mock.patch.dict(sys.modules, {package: None}):
                self.assertRaisesRegex(ModuleNotFoundError, words, call)


class Rows(unittest.TestCase):
    def test_what_a_row_has_of_devices_and_budgets(self):
        text = linear().encode()
        for size, broken in (("24GiB", 0), (1, 2)):
            options = {"budget": {"peak": size}, "device_memory": size, "mode": "training"}
            row, report = rows.row(text, "m.onnxtxt", options), analyze(
                text, name="m.onnxtxt", **options)
            self.assertEqual(row["broken_budgets"], broken)
            self.assertEqual(row["device_needed_bytes"], report.device.needed_bytes)
        self.assertIsNone(rows.row(text, "m.onnxtxt", {})["device_needed_bytes"])

    def test_files_of_options_may_be_where_the_models_are(self):
        rows.check({"config": "/nowhere/footprint.toml"}, False, "path", None, True)
        rows.check({"dim": {"N": [1, 2]}}, True, "path", None, True)
        with self.assertRaises(UsageError):
            rows.check({"device": "none such"}, False, "path", None, True)


class Fields(unittest.TestCase):
    def test_every_member_of_the_public_structs_is_there(self):
        text = re.sub(r"//[^\n]*", "", (SOURCE / "backend/report.h").read_text())
        structs = re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(structs), 30)
        of_commands = {"Explanation", "ExplainedRun"}  # of `footprint explain`
        for name, body in structs:
            if name in of_commands:
                continue
            members = [m.split("=")[0].split()[-1] for m in body.split(";") if m.strip()]
            members = [m for m in members if m not in ("explanation", "dump")]
            self.assertEqual(list(getattr(_core, name).__match_args__), members, name)

    def test_a_report_in_words_of_python(self):
        report = analyze(linear().encode(), name="m.onnxtxt", device="a100-80gb")
        self.assertIsInstance(report, Report)
        self.assertEqual(report.figures()["parameters"], 48)
        self.assertEqual(report.figures()["peak"], report.training.peak.live_bytes)
        self.assertTrue(report.device.fits)
        self.assertEqual(report.bindings[0].assumed, True)
        self.assertEqual(report.settings["optimizer"], "adamw")
        self.assertEqual(report.opsets, {"ai.onnx": 17})
        self.assertIn("Binding(name='N', value=1, assumed=True)", repr(report.bindings))
        self.assertEqual(repr(report), "<Report of m.onnxtxt>")
        match report.training.peak:
            case _core.Peak(live_bytes=int(live)):
                self.assertGreater(live, 0)
            case _:
                self.fail("no peak")
        with self.assertRaises(AttributeError):
            report.parameter_bytes = 0

    def test_parts_outlive_the_report(self):
        tensors = analyze(MODELS[0]).tensors
        training = analyze(MODELS[0], mode="training").training
        self.assertTrue(all(tensor.name for tensor in tensors))
        self.assertGreater(training.peak.live[0].bytes, 0)
        self.assertIsNone(analyze(MODELS[0], mode="inference").figures()["peak"])


if __name__ == "__main__":
    unittest.main()
