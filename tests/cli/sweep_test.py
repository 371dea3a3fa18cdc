"""Many values of a dimension from one analysis, and the largest that fits a device."""

import csv
import io
import json
import unittest

from command import SOURCE, CommandTest

RESNET = str(SOURCE / "models" / "resnet50.train_loss.onnx")
GPT2 = str(SOURCE / "models" / "gpt2.train_loss.onnx")


class Sweep(CommandTest):
    def assert_equals_single_analyses(self, name, values, *arguments):
        swept = self.succeed_in_json(*arguments, "--dim", f"{name}={','.join(map(str, values))}")
        points = swept["sweep"]["points"]
        self.assertEqual([p["value"] for p in points], values)
        for point in points:
            one = self.succeed_in_json(*arguments, "--dim", f"{name}={point['value']}")
            self.assertEqual(
                (point["training_peak_bytes"], point["saved_bytes"],
                 point["inference_peak_bytes"], point["activation_peak_bytes"]),
                (one["training"]["peak"]["live_bytes"], one["training"]["saved_bytes"],
                 one["inference"]["peak"]["live_bytes"],
                 one["inference"]["activation_peak_bytes"]), point["value"])
        return swept

    def test_every_point_is_what_an_analysis_of_its_own_says(self):
        self.assert_equals_single_analyses("batch", [1, 2, 3, 16, 64, 257], "analyze", RESNET)
        self.assert_equals_single_analyses("sequence", [1, 2, 17, 512, 1024], "analyze", GPT2,
                                           "--dim", "batch=2")

    def test_pieces_cover_the_points_in_order(self):
        sweep = self.succeed_in_json("analyze", RESNET, "--dim", "batch=1..64")["sweep"]
        self.assertEqual(len(sweep["points"]), 64)
        ends = [(p["first"], p["last"]) for p in sweep["pieces"]]
        self.assertEqual((ends[0][0], ends[-1][1]), (1, 64))
        for before, after in zip(ends, ends[1:]):
            self.assertEqual(before[1] + 1, after[0])
        self.assertIn("*batch", sweep["pieces"][-1]["peak_expression"])

    def test_forms(self):
        def values(form):
            rows = csv.DictReader(io.StringIO(self.succeed(
                "analyze", "valid.onnxtxt", "--dim", "N=" + form, "--format", "csv:sweep")))
            return [int(row["N"]) for row in rows]
        self.assertEqual(values("2..5"), [2, 3, 4, 5])
        self.assertEqual(values("8..64:8"), list(range(8, 65, 8)))
        self.assertEqual(values("4,1"), [4, 1])
        for form in ("5..2", "1..", "1..4:0", "1,,2", "a,b", "1..99999999999"):
            self.fail_in_json(3, "analyze", "valid.onnxtxt", "--dim", "N=" + form)
        self.fail_in_json(3, "analyze", RESNET, "--dim", "batch=1,2", "--dim", "labels=1,2")
        self.fail_in_json(3, "diff", "valid.onnxtxt", "valid.onnxtxt", "--dim", "N=1,2")
        self.fail_in_json(3, "explain", "valid.onnxtxt", "w", "--dim", "N=1,2")

    def test_values_that_cannot_run_say_why(self):
        points = self.succeed_in_json("analyze", GPT2, "--dim", "sequence=1024,1025",
                                      "--mode", "inference")["sweep"]["points"]
        self.assertIsNone(points[0]["error"])
        self.assertIsNotNone(points[1]["error"])
        self.assertIsNone(points[1]["inference_peak_bytes"])


class Fit(CommandTest):
    def fit(self, *arguments):
        run = self.run_command("analyze", RESNET, "--mode", "training", "--fit", "batch",
                               "--format", "json", *arguments)
        return json.loads(run.stdout)

    def test_the_largest_value_fits_and_the_next_does_not(self):
        found = self.fit("--device-memory", "8GiB")["fit"]
        self.assertEqual(found["margin_bytes"], 8 * 2 ** 30 - found["needed_bytes"])
        self.assertGreater(found["next_needed_bytes"], 8 * 2 ** 30)
        for value, fits in ((found["largest"], True), (found["largest"] + 1, False)):
            run = self.run_command("analyze", RESNET, "--mode", "training", "--device-memory",
                                   "8GiB", "--dim", f"batch={value}", "--format", "json")
            self.assertEqual(json.loads(run.stdout)["device"]["fits"], fits, value)

    def test_what_would_make_it_fit(self):
        found = self.fit("--device-memory", "8GiB", "--dim", "batch=128")["fit"]
        self.assertEqual(found["asked"], 128)
        changes = {c["change"]: c for c in found["changes"]}
        run = self.run_command("analyze", RESNET, "--mode", "training", "--device-memory", "8GiB",
                               "--dim", "batch=128", "--precision", "bf16", "--format", "json")
        self.assertEqual(changes["--precision bf16"]["needed_bytes"],
                         json.loads(run.stdout)["device"]["needed_bytes"])
        self.assertEqual(self.fit("--device-memory", "8GiB", "--dim", "batch=1")["fit"]["changes"],
                         [])

    def test_formats_for_people_show_what_was_asked_for(self):
        for form in ("text", "markdown", "html"):
            shown = self.succeed("analyze", RESNET, "--device-memory", "8GiB", "--fit", "batch",
                                 "--accounting", "textbook", "--format", form)
            self.assertIn("the largest batch that fits is", shown, form)
            self.assertIn("Textbook", shown, form)

    def test_not_even_one(self):
        found = self.fit("--device-memory", "100MiB")["fit"]
        self.assertIsNone(found["largest"])
        self.assertLess(found["margin_bytes"], 0)

    def test_values_that_do_not_work(self):
        huge = 9_000_000_000_000
        run = self.succeed("analyze", RESNET, "--dim", f"batch=1,{huge}", "--mode", "training",
                           "--format", "csv:sweep")
        self.assertIn("does not fit 64 bits", run.splitlines()[-1])
        gpt2 = str(SOURCE / "models" / "gpt2.train_loss.onnx")  # of 1,024 positions
        one = self.succeed_in_json("analyze", gpt2, "--dim", "sequence=8", "--mode", "training")
        swept = self.succeed_in_json("analyze", gpt2, "--dim", "sequence=1025,8", "--mode",
                                     "training")
        self.assertEqual(swept["bindings"]["sequence"], 8)
        self.assertEqual(swept["training"]["peak"], one["training"]["peak"])
        self.assertNotEqual(swept["sweep"]["points"][0]["error"], "")

    def test_every_value_keeps_the_budgets(self):
        options = ("--mode", "training", "--budget", "peak=8GiB", "--budget", "layer:m/layer1=1GiB",
                   "--device-memory", "9GiB", "--format", "json")
        swept = self.run_command("analyze", RESNET, "--dim", "batch=1,64,96", *options)
        self.assertEqual(swept.returncode, 1)
        apart = [json.loads(self.run_command("analyze", RESNET, "--dim", f"batch={value}",
                                             *options).stdout)["gates"] for value in (1, 64, 96)]
        for gates in zip(json.loads(swept.stdout)["gates"], *apart):
            self.assertEqual(gates[0]["actual_bytes"], gates[3]["actual_bytes"])
            self.assertEqual(gates[0]["passed"], all(gate["passed"] for gate in gates[1:]))
            wanted = [(f"batch = {value}, {found['place']}", found["bytes"])
                      for value, gate in ((96, gates[3]), (64, gates[2]), (1, gates[1]))
                      for found in gate["violations"]]
            self.assertEqual([(v["place"], v["bytes"]) for v in gates[0]["violations"]], wanted)
            self.assertNotEqual(wanted, [])

    def test_markdown_has_the_values(self):
        text = self.succeed("analyze", RESNET, "--dim", "batch=7,9", "--format", "markdown")
        self.assertIn("| `batch` | saved + inputs | training peak | inference peak |", text)
        self.assertEqual([line.split(" | ")[0] for line in text.splitlines()
                          if line.startswith(("| 7 ", "| 9 "))], ["| 7", "| 9"])

    def test_usage(self):
        self.assertEqual(self.fit()["error"]["exit_code"], 3)
        run = self.run_command("analyze", RESNET, "--fit", "bach", "--device", "t4")
        self.assertEqual(run.returncode, 3)
        self.fail_in_json(3, "analyze", "valid.onnxtxt", "remarked.onnxtxt", "--fit", "N",
                          "--device", "t4")


if __name__ == "__main__":
    unittest.main()
