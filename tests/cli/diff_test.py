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


def stack(widths, names=None):
    """Gemm layers with bias, in PyTorch's layout, under names like /layers.0/Gemm."""
    nodes, weights = [], []
    names = names or [f"layers.{i}" for i in range(len(widths) - 1)]
    tensor = ' initializer { name: "%s" data_type: 1 dims: %s raw_data: "%s" }'
    for i, name in enumerate(names):
        rows, columns = widths[i + 1], widths[i]
        nodes.append(f' node {{ name: "/{name}/Gemm" op_type: "Gemm" input: "h{i}"'
                     f' input: "{name}.weight" input: "{name}.bias" output: "h{i + 1}"'
                     ' attribute { name: "transB" type: INT i: 1 } }')
        weights.append(tensor % (f"{name}.weight", f"{rows} dims: {columns}",
                                 "w" * (4 * rows * columns)))
        weights.append(tensor % (f"{name}.bias", f"{rows}", "b" * (4 * rows)))
    value = ('{ name: "h%d" type { tensor_type { elem_type: 1 shape { dim { dim_value: 137 }'
             ' dim { dim_value: %d } } } } }')
    return ('ir_version: 10 opset_import { version: 21 } graph { name: "g"' + "".join(nodes)
            + "".join(weights) + " input " + value % (0, widths[0])
            + " output " + value % (len(names), widths[-1]) + " }")


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
        self.diff(3, "old.onnxtxt", "old.onnxtxt", "--mode", "inference", "--fail-on", "saved>+1%")
        self.diff(0, "old.onnxtxt", "old.onnxtxt", "--mode", "inference", "--fail-on", "peak>+1%")

    def test_no_side_is_overwritten(self):
        before = (self.folder / "wide.onnxtxt").read_text()
        self.diff(3, "old.onnxtxt", "wide.onnxtxt", "--output", "wide.onnxtxt")
        self.assertEqual((self.folder / "wide.onnxtxt").read_text(), before)

    def test_the_configuration_is_that_of_the_new_model(self):
        for folder, optimizer in (("a", "sgd"), ("b", "lion")):
            (self.folder / folder).mkdir()
            (self.folder / folder / "footprint.toml").write_text(f'optimizer = "{optimizer}"\n')
            (self.folder / folder / "m.onnxtxt").write_text(
                (self.folder / "old.onnxtxt").read_text())
        found = self.diff(0, "a/m.onnxtxt", "b/m.onnxtxt")
        alone = self.succeed_in_json("analyze", "b/m.onnxtxt")
        self.assertEqual(found["totals"]["optimizer-state"]["before_bytes"],
                         alone["training"]["optimizer_state_bytes"])

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
            error = self.diff(3, "old.json", name + ".json")["error"]
            self.assertIn(name + ".json", error["place"])
        self.diff(3, "old.json", "missing.json")

    def test_a_stack_of_linear_layers(self):
        plain = [256] * 9
        names = [f"layers.{i}" for i in range(8)]
        for name, text in {
            "base": stack(plain), "wide": stack(plain[:4] + [260] + plain[5:]),
            "named": stack(plain, names[:3] + ["head"] + names[4:]), "long": stack(plain + [256]),
        }.items():
            (self.folder / (name + ".textproto")).write_text(text)
        same = ("diff", "base.textproto", "base.textproto", "--format", "json")
        self.assertFalse(json.loads(self.succeed(*same))["changed"])
        self.assertEqual(self.succeed(*same), self.succeed(*same))

        wide = self.diff(1, "base.textproto", "wide.textproto", "--fail-on", "parameters>+8207")
        grown = {t["name"]: t["after_bytes"] - t["before_bytes"] for t in wide["tensors"]}
        self.assertEqual(grown["layers.3.weight"] + grown["layers.3.bias"], 4112)
        self.assertEqual(grown["layers.4.weight"], 4096)
        self.diff(0, "base.textproto", "wide.textproto", "--fail-on", "parameters>+8208")
        run = self.run_command("diff", "base.textproto", "wide.textproto", "--fail-on",
                               "parameters>+8207")
        self.assertEqual(run.returncode, 1)
        self.assertIn("layers.3.weight", run.stdout.decode())

        rows = self.diff(0, "base.textproto", "named.textproto")["tensors"]
        self.assertEqual({(t["kind"], t["name"], t["renamed"]) for t in rows},
                         {("renamed", "layers.3.weight", "head.weight"),
                          ("renamed", "layers.3.bias", "head.bias")})
        for sides, kind in ((("base", "long"), "added"), (("long", "base"), "removed")):
            rows = self.diff(0, *(side + ".textproto" for side in sides))["tensors"]
            self.assertLessEqual({(kind, "layers.8.weight"), (kind, "layers.8.bias")},
                                 {(t["kind"], t["name"]) for t in rows})

    def test_usage(self):
        self.diff(3, "old.onnxtxt", "old.onnxtxt", "--fail-on", "peak")
        self.diff(3, "old.onnxtxt", "old.onnxtxt", "--fail-on", "peek>+1%")
        self.assertEqual(self.run_command("diff", "old.onnxtxt").returncode, 3)


if __name__ == "__main__":
    unittest.main()
