"""Many models in one call, and what helps at the command line."""

import csv
import io
import json
import os
import pty
import shutil
import subprocess
import unittest

from command import BINARY, MADE_TWICE, VALID, CommandTest


class Many(CommandTest):
    def setUp(self):
        super().setUp()
        self.models = self.folder / "zoo"
        (self.models / "deep" / "er").mkdir(parents=True)
        for i in range(12):
            (self.models / f"m{i:02}.onnxtxt").write_text(VALID)
        (self.models / "deep" / "er" / "m.onnxtxt").write_text(VALID)
        (self.models / "notes.txt").write_text("no model")

    def summary(self, code, *arguments):
        run = self.run_command("analyze", *arguments)
        self.assertEqual(run.returncode, code, run.stderr.decode())
        return run

    def rows(self, code, *arguments):
        return json.loads(self.summary(code, *arguments, "--format", "json").stdout)["models"]

    def test_a_folder_is_all_models_in_it(self):
        rows = self.rows(0, "zoo")
        self.assertEqual([r["model"] for r in rows],
                         ["zoo/deep/er/m.onnxtxt"] + [f"zoo/m{i:02}.onnxtxt" for i in range(12)])
        one = self.succeed_in_json("analyze", "zoo/m00.onnxtxt")
        for row in rows:
            self.assertEqual(row["training_peak_bytes"], one["training"]["peak"]["live_bytes"])
            self.assertEqual(row["inference_peak_bytes"], one["inference"]["peak"]["live_bytes"])
            self.assertEqual(row["parameter_bytes"], one["parameters"]["bytes"])

    def test_patterns_and_lists(self):
        self.assertEqual(len(self.rows(0, "zoo/m0*.onnxtxt")), 10)
        self.assertEqual(len(self.rows(0, "zoo/m01.onnxtxt", "zoo/m02.onnxtxt", "zoo/m0*")), 10)
        self.summary(3, "zoo/x*.onnxtxt")
        (self.folder / "empty").mkdir()
        self.summary(3, "empty")

    def test_failures_are_collected(self):
        (self.models / "broken.onnxtxt").write_text(MADE_TWICE)
        run = self.summary(2, "zoo", "--format", "json")
        rows = {r["model"]: r for r in json.loads(run.stdout)["models"]}
        self.assertEqual(len(rows), 14)
        broken = rows.pop("zoo/broken.onnxtxt")
        self.assertEqual(broken["exit_code"], 2)
        self.assertIsNone(broken["parameter_bytes"])
        self.assertIn(broken["error"], run.stderr.decode())
        self.assertTrue(all(r["exit_code"] == 0 for r in rows.values()))
        self.assertIsNone(broken["parameter_count"])
        self.assertEqual(json.loads(run.stdout)["error"],
                         {"message": "14 models, 1 of them failed", "exit_code": 2})
        self.assertIn("14 models, 1 of them failed", self.summary(2, "zoo").stdout.decode())
        self.summary(2, "zoo", "--format", "sarif", "--output", "out")
        verdict = json.loads((self.folder / "out/zoo/broken.onnxtxt.sarif").read_text())
        self.assertEqual(verdict["runs"][0]["invocations"][0]["exitCode"], 2)

    def test_one_configuration_for_all(self):
        (self.models / "deep" / "footprint.toml").write_text('optimizer = "sgd"\n')
        self.assertIn("analyze them apart", self.fail_as_text(3, "analyze", "zoo"))
        self.rows(0, "zoo", "--config", "none")

    def test_no_two_models_in_one_file(self):
        self.summary(3, "zoo/m00.onnxtxt", "../" + self.folder.name + "/zoo/m00.onnxtxt",
                     "zoo/deep/../m00.onnxtxt", "--format", "json", "--output", "out")

    def test_links_that_lead_nowhere_are_told(self):
        (self.models / "gone.onnx").symlink_to("nowhere.onnx")
        rows = {r["model"]: r for r in self.rows(3, "zoo")}
        self.assertIn("No such file", rows["zoo/gone.onnx"]["error"])

    def test_a_report_each(self):
        self.summary(0, "zoo", "--format", "json", "--format", "markdown", "--output", "out")
        written = sorted(str(p.relative_to(self.folder / "out"))
                         for p in (self.folder / "out").rglob("*.*"))
        self.assertEqual(len(written), 26)
        self.assertIn("zoo/deep/er/m.onnxtxt.json", written)
        alone = self.succeed("analyze", "zoo/m03.onnxtxt", "--format", "json")
        self.assertEqual((self.folder / "out/zoo/m03.onnxtxt.json").read_text(), alone)

    def test_budgets_and_formats(self):
        rows = self.rows(1, "zoo", "--budget", "peak=1")
        self.assertEqual({r["broken_budgets"] for r in rows}, {1})
        alone = self.run_command("analyze", rows[0]["model"], "--budget", "peak=1", "--format",
                                 "json")
        self.assertEqual(rows[0]["gates"], json.loads(alone.stdout)["gates"])
        self.assertEqual(rows[0]["gates"][0]["actual_bytes"], rows[0]["training_peak_bytes"])
        told = self.summary(1, "zoo", "--budget", "peak=1").stderr.decode()
        self.assertIn("zoo/m03.onnxtxt: budget broken: peak: ", told)
        table = self.summary(0, "zoo", "--format", "csv").stdout.decode()
        self.assertEqual(len(list(csv.DictReader(io.StringIO(table)))), 13)
        self.summary(3, "zoo", "--format", "netron")

    def test_progress_is_for_terminals(self):
        self.assertEqual(self.summary(0, "zoo").stderr, b"")
        for more, shown in (([], True), (["--quiet"], False)):
            try:
                screen, terminal = pty.openpty()
            except OSError:
                self.skipTest("this machine has no terminals")
            subprocess.run([BINARY, "analyze", "zoo", *more], cwd=self.folder, stderr=terminal,
                           stdout=subprocess.DEVNULL, timeout=60, check=True)
            os.close(terminal)
            try:
                text = os.read(screen, 10000)
            except OSError:
                text = b""
            os.close(screen)
            self.assertEqual(b"13 of 13 models" in text, shown)


class Helpers(CommandTest):
    def test_colour(self):
        self.assertIn("\033[", self.succeed("analyze", "valid.onnxtxt", "--color", "always"))
        self.assertNotIn("\033[", self.succeed("analyze", "valid.onnxtxt", "--color", "never"))

    def test_quiet(self):
        run = self.run_command("analyze", "valid.onnxtxt", "--budget", "peak=1", "--quiet")
        self.assertEqual((run.returncode, run.stderr), (1, b""))

    def complete(self, *words):
        script = self.succeed("completion", "bash")
        asked = " ".join(f"'{word}'" for word in words)
        program = (script + f"COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}; _footprint; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\"")
        run = subprocess.run(["bash", "-c", program], cwd=self.folder, capture_output=True,
                             check=True, text=True)
        return run.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("footprint", "an"), ["analyze"])
        self.assertEqual(self.complete("footprint", "analyze", "--mode", "tr"), ["training"])
        self.assertEqual(self.complete("footprint", "analyze", "--device", "a100-8"),
                         ["a100-80gb"])
        self.assertIn("adamw8bit", self.complete("footprint", "analyze", "--optimizer", "adamw"))
        self.assertIn("csv:sweep", self.complete("footprint", "analyze", "--format", "csv"))
        self.assertEqual(self.complete("footprint", "analyze", "--budget", "onnx"),
                         ["onnxruntime-activation-peak"])
        self.assertIn("--precision", self.complete("footprint", "analyze", "x.onnx", "--pre"))
        self.assertEqual(self.complete("footprint", "analyze", "val"), ["valid.onnxtxt"])

    def test_other_shells(self):
        self.assertTrue(self.succeed("completion", "zsh").startswith("#compdef footprint"))
        self.assertIn("complete -c footprint", self.succeed("completion", "fish"))
        self.fail_as_text(3, "completion", "tcsh")

    def test_manual_page(self):
        page = self.succeed("man")
        self.assertTrue(page.startswith(".TH FOOTPRINT 1"))
        self.assertIn("\\-\\-optimizer", page)
        if shutil.which("groff"):
            run = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, text=True,
                                 capture_output=True, check=True)
            self.assertEqual(run.stderr, "")


if __name__ == "__main__":
    unittest.main()
