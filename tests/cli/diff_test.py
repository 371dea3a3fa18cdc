"""What changed between two models, and what that fails on."""

import json
import unittest

from command import CommandTest

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def network(hidden, names=("w", "v", "h"), head=True):
    first, second, between = names
    def weight(name, shape):
        rows, columns = shape
        values = ", ".join(["1"] * (rows * columns))
        return f"float[{rows}, {columns}] {name} = {{{values}}}"
    text = (HEAD + f"g (float[N, 4] x) => (float[N, 2] y) <{weight(first, (4, hidden))}"
            + f", {weight(second, (hidden, 2))}> {{ {between} = MatMul(x, {first})"
            + f" y = MatMul({between}, {second}) }}\n")
    if head:
        return text
    return text.replace("y = MatMul", "z = MatMul").replace(" }", " y = Relu(z) }")


class Diff(CommandTest):
    def setUp(self):
        super().setUp()
        for name, text in {"old": network(8), "wide": network(16), "deep": network(8, head=False),
                           "renamed": network(8, ("w2", "v2", "h2"))}.items():
            (self.folder / (name + ".onnxtxt")).write_text(text)

    def diff(self, code, before, after, *more):
        run = self.run_command("diff", before, after, "--format", "json", *more)
        self.assertEqual(run.returncode, code, run.stderr.decode())
        return json.loads(run.stdout)

    def save(self, name, *more):
        self.succeed("analyze", name + ".onnxtxt", "--format", "json", "--output", name + ".json",
                     *more)

    def test_the_same_is_no_change(self):
        same = self.diff(0, "old.onnxtxt", "old.onnxtxt", "--fail-on", "peak>+0%",
                         "--fail-on", "saved>+0")
        self.assertFalse(same["changed"])
        self.assertEqual((same["layers"], same["tensors"]), ([], []))
        self.assertIn("no change", self.succeed("diff", "old.onnxtxt", "old.onnxtxt"))
        self.assertIn("No change.", self.succeed("diff", "old.onnxtxt", "old.onnxtxt",
                                                 "--format", "markdown"))

    def test_growth(self):
        grown = self.diff(0, "old.onnxtxt", "wide.onnxtxt")
        self.assertEqual(grown["totals"]["parameters"],
                         {"before_bytes": 4 * 48, "after_bytes": 4 * 96})
        self.assertEqual({(t["kind"], t["name"]) for t in grown["tensors"]},
                         {("changed", "w"), ("changed", "v"), ("changed", "h")})

    def test_added_and_removed(self):
        deep = self.diff(0, "old.onnxtxt", "deep.onnxtxt")
        self.assertIn(("added", "z"), [(t["kind"], t["name"]) for t in deep["tensors"]])
        shallow = self.diff(0, "deep.onnxtxt", "old.onnxtxt")
        self.assertIn(("removed", "z"), [(t["kind"], t["name"]) for t in shallow["tensors"]])

    def test_renamed_tensors_are_matched_by_structure(self):
        rows = self.diff(0, "old.onnxtxt", "renamed.onnxtxt")["tensors"]
        self.assertEqual({(t["kind"], t["name"], t["renamed"]) for t in rows},
                         {("renamed", "w", "w2"), ("renamed", "v", "v2"), ("renamed", "h", "h2")})

    def test_limits(self):
        for limit, code in (("parameters>+100%", 0), ("parameters>+99.9%", 1),
                            ("parameters>+192", 0), ("parameters>+191", 1),
                            ("parameters>384", 0), ("parameters>383", 1)):
            gate = self.diff(code, "old.onnxtxt", "wide.onnxtxt", "--fail-on", limit)["gates"][0]
            self.assertEqual((gate["name"], gate["passed"]), (limit, code == 0))

    def test_a_figure_that_is_not_there_keeps_no_limit(self):
        self.diff(1, "old.onnxtxt", "old.onnxtxt", "--mode", "inference", "--fail-on", "peak>+1%")

    def test_saved_reports_compare_like_models(self):
        self.save("old")
        self.save("wide")
        saved = self.diff(0, "old.json", "wide.json")
        for sides in (("old.json", "wide.onnxtxt"), ("old.onnxtxt", "wide.onnxtxt")):
            other = self.diff(0, *sides)
            self.assertEqual((saved["totals"], saved["layers"], saved["tensors"]),
                             (other["totals"], other["layers"], other["tensors"]))

    def test_what_cannot_be_compared_is_an_error(self):
        self.save("old")
        self.save("wide", "--dim", "N=2")
        error = self.diff(3, "old.json", "wide.json")["error"]
        self.assertIn("--dim N: 1 and 2", error["message"])
        error = self.diff(3, "old.json", "old.onnxtxt", "--optimizer", "sgd")["error"]
        self.assertIn("--optimizer: adamw and sgd", error["message"])

    def test_what_is_no_report_is_an_error(self):
        self.save("old")
        report = json.loads((self.folder / "old.json").read_text())
        for name, text in {
            "other": json.dumps(report | {"schema": "footprint-report/2"}),
            "part": json.dumps({k: v for k, v in report.items() if k != "tensors"}),
            "failure": json.dumps({"schema": "footprint-report/1", "error": {}}),
            "list": "[]", "text": "peak: 2",
        }.items():
            (self.folder / (name + ".json")).write_text(text)
            error = self.diff(2, "old.json", name + ".json")["error"]
            self.assertIn(name + ".json", error["place"])
        self.diff(3, "old.json", "missing.json")

    def test_usage(self):
        self.diff(3, "old.onnxtxt", "old.onnxtxt", "--fail-on", "peak")
        self.diff(3, "old.onnxtxt", "old.onnxtxt", "--fail-on", "peek>+1%")
        self.assertEqual(self.run_command("diff", "old.onnxtxt").returncode, 3)


if __name__ == "__main__":
    unittest.main()
