"""Every format says the same numbers, and budgets decide the exit code."""

import csv
import io
import json
import unittest
import xml.etree.ElementTree as ElementTree

from command import SOURCE, CommandTest


def model(name):
    return str(SOURCE / "models" / name)


CATEGORIES = ["parameter", "buffer", "constant", "input", "saved_activation", "transient",
              "gradient", "activation_gradient", "optimizer_state", "workspace"]


class Formats(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.arguments = ["analyze", model("mobilenet_v2.train_loss.onnx"), "--dim", "batch=2"]

    def document(self, name, *more):
        return self.succeed(*self.arguments, "--format", name, *more)

    def table(self, name):
        return list(csv.DictReader(io.StringIO(self.document(name))))

    def setUp(self):
        super().setUp()
        self.report = json.loads(self.document("json"))

    def test_csv_has_the_tables_of_the_report(self):
        tensors = self.table("csv")
        self.assertEqual([(t["name"], int(t["bytes"])) for t in tensors],
                         [(t["name"], t["bytes"]) for t in self.report["tensors"]])
        storages = self.table("csv:storages")
        self.assertEqual([(s["id"], int(s["bytes"]), s["category"]) for s in storages],
                         [(s["id"], s["bytes"], s["category"]) for s in self.report["storages"]])
        layers = self.table("csv:layers")
        self.assertEqual([l["path"] for l in layers], [l["path"] for l in self.report["layers"]])
        for row, layer in zip(layers, self.report["layers"]):
            self.assertEqual({c: int(row[c]) for c in CATEGORIES}, layer["bytes"])
            self.assertEqual({c: int(row["total_" + c]) for c in CATEGORIES},
                             layer["bytes_with_children"])

    def test_the_timeline_has_the_peaks(self):
        rows = self.table("csv:timeline")
        for row in rows:
            self.assertEqual(sum(int(row[c]) for c in CATEGORIES), int(row["live_bytes"]))
        training = [int(r["live_bytes"]) for r in rows if r["run"] == "training"]
        inference = [int(r["live_bytes"]) for r in rows if r["run"] == "inference"]
        self.assertEqual(max(training), self.report["training"]["peak"]["live_bytes"])
        self.assertEqual(max(inference), self.report["inference"]["peak"]["live_bytes"])
        for phase, figures in self.report["training"]["phases"].items():
            self.assertEqual(max(int(r["live_bytes"]) for r in rows if r["phase"] == phase),
                             figures["peak_bytes"])

    def test_the_trace_keeps_to_its_format(self):
        events = json.loads(self.document("perfetto"))["traceEvents"]
        open_storages = {}
        for event in events:
            self.assertIn(event["ph"], "MXCbe")
            self.assertIsInstance(event["pid"], int)
            if event["ph"] == "b":
                open_storages[event["cat"], event["id"]] = event["ts"]
            if event["ph"] == "e":
                self.assertLess(open_storages.pop((event["cat"], event["id"])), event["ts"])
        self.assertEqual(open_storages, {})
        live = [sum(e["args"].values()) for e in events if e["ph"] == "C" and e["pid"] == 1]
        self.assertEqual(max(live), self.report["training"]["peak"]["live_bytes"])
        self.assertEqual(live[-1], 0)

    def test_netron_shows_each_value(self):
        attachment = json.loads(self.document("netron"))
        self.assertEqual(attachment["signature"], "netron:attachment")
        shown = {m["target"]: m["value"] for m in attachment["metrics"] if m["kind"] == "value"}
        self.assertEqual(shown, {t["name"]: t["bytes"] for t in self.report["tensors"]})

    def test_markdown_has_the_totals(self):
        text = self.document("markdown")
        for figure in (self.report["parameters"]["bytes"],
                       self.report["training"]["peak"]["live_bytes"],
                       self.report["training"]["saved_excluding_inputs_bytes"],
                       self.report["inference"]["peak"]["live_bytes"]):
            self.assertIn(f"| {figure:,} |", text)

    def test_a_peak_that_data_decides_is_at_most_so_much(self):
        (self.folder / "data.onnxtxt").write_text(
            '<ir_version: 8, opset_import: ["" : 17]> g (float[64] x) => (int64[1, n] y)'
            " { y = NonZero(x) }")
        analyze = ("analyze", "data.onnxtxt", "--mode", "inference", "--format")
        self.assertIn("| **peak of inference** | <= 768 B |", self.succeed(*analyze, "markdown"))
        self.assertIn("<strong>&lt;= 768 B</strong>", self.succeed(*analyze, "html"))

    def test_several_formats_go_to_a_folder(self):
        self.succeed(*self.arguments, "--format", "csv", "--format", "json", "--format", "junit",
                     "--output", "reports/")
        stem = "mobilenet_v2.train_loss"
        self.assertEqual(sorted(p.name for p in (self.folder / "reports").iterdir()),
                         sorted(stem + end for end in (
                             ".tensors.csv", ".storages.csv", ".layers.csv", ".timeline.csv",
                             ".json", ".junit.xml")))


class Budgets(CommandTest):
    def gated(self, code, *budgets, output="json", more=()):
        arguments = [part for budget in budgets for part in ("--budget", budget)]
        run = self.run_command("analyze", model("mobilenet_v2.train_loss.onnx"), *arguments,
                                 "--format", output, *more)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def test_a_kept_budget(self):
        run = self.gated(0, "peak=24GiB", "parameters=500MB", "layer:m/features/*=2GiB",
                         "tensor=1GiB", "reserved=24GiB", "inference-peak=1GiB")
        self.assertEqual(run.stderr, b"")
        report = json.loads(run.stdout)
        self.assertTrue(all(gate["passed"] for gate in report["gates"]))
        self.assertEqual(report["gates"][0]["actual_bytes"],
                         report["training"]["peak"]["live_bytes"])

    def test_a_budget_of_onnx_runtime(self):
        report = json.loads(self.gated(1, "onnxruntime-activation-peak=1KiB").stdout)
        ran = report["inference"]["runtimes"][-1]
        self.assertEqual(ran["name"], "onnxruntime")
        gate = report["gates"][0]
        self.assertEqual(gate["actual_bytes"], ran["activation_peak_bytes"])
        self.assertEqual(gate["violations"][0]["place"], "at " + ran["peak_step"])
        self.gated(3, "onnxruntime-activation-peak=1KiB", more=("--runtime", "ideal"))

    def test_a_broken_budget_is_told_with_what_is_over(self):
        run = self.gated(1, "peak=1MiB", "parameters=500MB")
        broken, kept = json.loads(run.stdout)["gates"]
        self.assertEqual((broken["passed"], kept["passed"]), (False, True))
        self.assertIn("budget broken: peak: ", run.stderr.decode())
        self.assertIn("over; the limit is 1.00 MiB (1,048,576 bytes)", run.stderr.decode())

    def test_the_limit_itself_is_kept(self):
        size = json.loads(self.gated(0).stdout)["parameters"]["bytes"]
        self.gated(0, f"parameters={size}")
        self.gated(1, f"parameters={size - 1}")

    def test_every_layer_over_its_budget_is_listed(self):
        gate = json.loads(self.gated(1, "layer:features.*=1MiB").stdout)["gates"][0]
        self.assertGreater(len(gate["violations"]), 10)
        sizes = [violation["bytes"] for violation in gate["violations"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertTrue(all(size > 2 ** 20 for size in sizes))

    def test_a_device_is_a_budget(self):
        more = ("--dim", "batch=4096")
        gate = json.loads(self.gated(1, more=(*more, "--device", "t4")).stdout)["gates"][0]
        self.assertEqual((gate["name"], gate["passed"]), ("device t4", False))

    def test_sarif_and_junit_tell_the_same(self):
        sarif = json.loads(self.gated(1, "peak=1MiB", "saved=1TB", output="sarif").stdout)
        run = sarif["runs"][0]
        self.assertEqual([r["ruleId"] for r in run["results"]].count("budget"), 1)
        self.assertEqual(run["invocations"][0]["exitCode"], 1)
        suite = ElementTree.fromstring(
            self.gated(1, "peak=1MiB", "saved=1TB", output="junit").stdout)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertEqual([case.get("name") for case in suite.iter("testcase")], ["peak", "saved"])
        self.assertEqual(len(list(suite.iter("failure"))), 1)

    def test_unknown_sizes_keep_no_budget(self):
        (self.folder / "unknown.onnxtxt").write_text(
            '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
            "g (float[4] x) => (y) { y = local.Mystery(x) }")
        run = self.run_command("analyze", "unknown.onnxtxt", "--budget", "peak=1TB",
                                 "--mode", "inference", "--format", "json")
        self.assertEqual(run.returncode, 1, run.stderr)

    def test_what_cannot_be_held_is_a_usage_error(self):
        for budget in ("peek=1GB", "peak", "peak=", "peak=x", "layer:=1GB", "layer:nowhere*=1GB"):
            self.assertEqual(json.loads(self.gated(3, budget).stdout)["error"]["exit_code"], 3)
        self.gated(3, "saved=1GB", more=("--mode", "inference"))
        self.assertIn("did you mean peak?", self.gated(3, "peek=1GB").stderr.decode())

    def test_failures_have_a_document_too(self):
        for output in ("sarif", "junit"):
            run = self.run_command("analyze", "missing.onnx", "--format", output)
            self.assertEqual(run.returncode, 3)
            self.assertIn("missing.onnx", run.stdout.decode())


if __name__ == "__main__":
    unittest.main()
