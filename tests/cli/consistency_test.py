"""Every number of a report agrees with the others: storages sum to layers, layers to totals, who is
alive sums to the peak, and the text shows what the JSON says."""

import collections
import json
import unittest

from command import SOURCE, CommandTest

MODELS = sorted((SOURCE / "models").glob("**/*.onnx*"))
BLOCK = 512


def rounded(size):
    return -(-size // BLOCK) * BLOCK


class Consistency(CommandTest):
    def each_report(self, *arguments):
        self.assertTrue(MODELS)
        for model in MODELS:
            with self.subTest(model=model.name):
                yield self.succeed_in_json("analyze", str(model), *arguments)

    def check_tables(self, report):
        by_layer = collections.Counter()
        by_category = collections.Counter()
        rounding = 0
        for storage in report["storages"]:
            size = storage["bytes"] or 0
            by_layer[storage["layer"], storage["category"]] += size
            by_category[storage["category"]] += size
            rounding += rounded(size) - size
        layers = {}
        for layer in report["layers"]:
            for category, size in layer["bytes"].items():
                if size:
                    layers[layer["path"], category] = size
        self.assertEqual(layers, {key: size for key, size in by_layer.items() if size})
        self.assertEqual(report["rounding_bytes"], rounding)
        return by_category

    def check_tree(self, layers):
        """With children: a layer and everything whose path begins with its own."""
        for layer in layers:
            prefix = layer["path"] + "/" if layer["path"] else ""
            below = [x for x in layers if x is layer or x["path"].startswith(prefix)]
            for category, size in layer["bytes_with_children"].items():
                self.assertEqual(size, sum(x["bytes"][category] for x in below), layer["path"])

    def check_peak(self, peak, block):
        sizes = [live["bytes"] for live in peak["live"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(peak["live_bytes"], sum(-(-size // block) * block for size in sizes))

    def check_references(self, report):
        ids = [storage["id"] for storage in report["storages"]]
        self.assertEqual(len(ids), len(set(ids)))
        known = set(ids)
        for tensor in report["tensors"]:
            if tensor["storage"] is not None:
                self.assertIn(tensor["storage"], known, tensor["name"])
        names = [tensor["name"] for tensor in report["tensors"]]
        self.assertEqual(len(names), len(set(names)))
        unknown = [tensor["name"] for tensor in report["tensors"] if tensor["bytes"] is None]
        self.assertEqual(unknown, [value["name"] for value in report["unknown"]])

    def test_training(self):
        for report in self.each_report("--mode", "training", "--dim", "batch=2"):
            totals = self.check_tables(report)
            training = report["training"]
            for category in ("parameter", "buffer", "gradient", "optimizer_state", "input"):
                self.assertEqual(training[category + "_bytes"], totals[category], category)
            self.assertEqual(training["saved_excluding_inputs_bytes"], totals["saved_activation"])
            self.assertEqual(report["parameters"]["bytes"], totals["parameter"])
            self.check_tree(report["layers"])
            self.check_references(report)
            self.check_peak(training["peak"], BLOCK)
            phases = {name: phase["peak_bytes"] for name, phase in training["phases"].items()}
            self.assertEqual(training["peak"]["live_bytes"], max(phases.values()))
            self.assertEqual(training["peak"]["live_bytes"], phases[training["peak"]["phase"]])
            self.assertLessEqual(training["after_forward_bytes"], phases["forward"])
            self.assertLessEqual(training["saved_excluding_inputs_bytes"], training["saved_bytes"])

    def test_inference(self):
        for report in self.each_report("--mode", "inference", "--dim", "batch=2"):
            self.check_tables(report)
            self.check_tree(report["layers"])
            self.check_references(report)
            inference = report["inference"]
            self.check_peak(inference["peak"], 1)
            self.assertEqual(
                inference["peak"]["live_bytes"],
                inference["activation_peak_bytes"]
                + inference["input_bytes"]
                + inference["weight_bytes"],
            )

    def test_the_text_says_the_same(self):
        for report in self.each_report("--dim", "batch=2"):
            text = self.succeed("analyze", report["model"], "--dim", "batch=2")
            training, inference = report["training"], report["inference"]
            for size in (
                *report["parameters"]["widths"].values(),
                training["parameter_bytes"],
                training["gradient_bytes"],
                training["optimizer_state_bytes"],
                training["saved_excluding_inputs_bytes"],
                training["after_forward_bytes"],
                *(phase["peak_bytes"] for phase in training["phases"].values()),
                inference["activation_peak_bytes"],
                inference["peak"]["live_bytes"],
            ):
                self.assertIn(f" {size:,}\n", text)


class Devices(CommandTest):
    def analyze(self, *arguments):
        """A device that is too small is a broken budget: exit code 1, and a report all the same."""
        run = self.run_command("analyze", str(SOURCE / "models" / "gpt2_xl.train_loss.onnx"),
                               "--mode", "training", "--dim", "sequence=1024", "--format", "json",
                               *arguments)
        report = json.loads(run.stdout)
        self.assertEqual(run.returncode,
                         1 if report["device"] and not report["device"]["fits"] else 0)
        return report

    def test_gpt2_xl(self):
        for device, batch, fits in (("rtx-5090", 1, False), ("rtx-5090", 32, False),
                                    ("A100 80GB", 1, True), ("A100 80GB", 32, False)):
            report = self.analyze("--device", device, "--dim", "batch=%d" % batch)
            found = report["device"]
            self.assertEqual(found["fits"], fits, (device, batch))
            self.assertEqual(found["needed_bytes"],
                             found["reserved_bytes"] + found["context_bytes"]
                             + found["blas_workspace_bytes"])
            self.assertEqual(found["margin_bytes"], found["memory_bytes"] - found["needed_bytes"])
            peak = report["training"]["peak"]
            self.assertEqual(found["reserved_bytes"], peak["reserved_bytes"])
            self.assertGreaterEqual(peak["reserved_bytes"], peak["allocated_bytes"])
            self.assertGreaterEqual(peak["allocated_bytes"], peak["live_bytes"])

    def test_sizes_near_the_limit_have_no_verdict(self):
        run = self.run_command(
            "analyze", str(SOURCE / "models" / "resnet50.train_loss.onnx"), "--mode", "training",
            "--dim", "batch=20000000000", "--device", "a100-80gb", "--format", "json")
        self.assertEqual(run.returncode, 1)
        report = json.loads(run.stdout)
        self.assertIsNone(report["device"]["reserved_bytes"])
        self.assertIsNone(report["device"]["fits"])

    def test_memory_of_its_own(self):
        found = self.analyze("--dim", "batch=1", "--device-memory", "50GB")["device"]
        self.assertEqual((found["memory_bytes"], found["fits"]), (50 * 10**9, True))

    def test_devices_of_ones_own(self):
        (self.folder / "mine.txt").write_text(
            "# ours\narchitecture sm_61 4MiB 300MiB 100%\ndevice mine 8GiB sm_61\n")
        network = str(SOURCE / "models" / "resnet50.train_loss.onnx")
        ask = ["analyze", network, "--mode", "training", "--dim", "batch=4",
               "--device-file", "mine.txt", "--device", "Mine"]
        found = self.succeed_in_json(*ask)["device"]
        self.assertEqual((found["name"], found["architecture"], found["memory_bytes"]),
                         ("mine", "sm_61", 8 << 30))
        self.assertEqual((found["context_bytes"], found["blas_workspace_bytes"]),
                         (300 << 20, 2 * (4 << 20)))
        # The stem: a column of 3 channels times 7 by 7 for each of 112 by 112 places.
        self.assertEqual(found["convolution_workspace_bytes"], 4 * 4 * 3 * 49 * 112 * 112)
        self.assertEqual(found["memory_certainty"], "assumed")
        (self.folder / "mine.txt").write_text("device mine 8GiB sm_61\n")
        error = self.fail_both_ways(3, *ask)
        self.assertEqual((error["kind"], error["place"]), ("bad-value", "--device-file mine.txt"))
        self.assertIn("line 1: no line above says what architecture sm_61 is", error["message"])

    def test_expandable_segments_hold_less(self):
        native = self.analyze("--dim", "batch=1")["training"]["peak"]
        expandable = self.analyze("--dim", "batch=1", "--allocator", "expandable")
        found = expandable["training"]["peak"]
        self.assertEqual(found["live_bytes"], native["live_bytes"])
        self.assertLess(found["reserved_bytes"], native["reserved_bytes"])
        self.assertLess(found["reserved_bytes"] - found["live_bytes"], 64 << 20)


if __name__ == "__main__":
    unittest.main()
