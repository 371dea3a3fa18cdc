"""footprint.toml: defaults of a project for every analysis in it."""

import json
import unittest

from command import CommandTest


class Config(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "models").mkdir()
        self.model = "models/valid.onnxtxt"
        (self.folder / "valid.onnxtxt").rename(self.folder / self.model)

    def configure(self, text, folder="."):
        (self.folder / folder / "footprint.toml").write_text(text)

    def report(self, *more):
        return self.succeed_in_json("analyze", self.model, *more)

    def test_options_bindings_and_budgets(self):
        self.configure('optimizer = "sgd"\nmode = "training"\n[dim]\nN = 8\nother = 3\n'
                       '[budget]\npeak = "1GiB"\nsaved = 1000000\n')
        report = self.report()
        self.assertEqual(report["settings"]["optimizer"], "sgd")
        self.assertIsNone(report["inference"])
        self.assertEqual((report["bindings"], report["assumed_bindings"]), ({"N": 8}, []))
        self.assertEqual({g["name"]: g["limit_bytes"] for g in report["gates"]},
                         {"peak": 2 ** 30, "saved": 1000000})

    def test_the_command_line_goes_before(self):
        self.configure('optimizer = "sgd"\n[dim]\nN = 8\n[budget]\npeak = 1\nsaved = "1GB"\n')
        report = self.report("--optimizer", "adam", "--dim", "N=2", "--budget", "peak=1GB")
        self.assertEqual(report["settings"]["optimizer"], "adam")
        self.assertEqual(report["bindings"], {"N": 2})
        self.assertEqual({g["name"]: g["limit_bytes"] for g in report["gates"]},
                         {"peak": 10 ** 9, "saved": 10 ** 9})

    def test_what_does_not_concern_a_run_is_left_out(self):
        self.configure('device = "a100-80gb"\nfit = "N"\n')
        self.assertEqual(self.report("--mode", "inference")["gates"], [])
        self.assertEqual(self.report()["fit"]["dimension"], "N")
        self.assertEqual(self.run_command("analyze", "models").returncode, 0)
        self.fail_in_json(3, "analyze", self.model, "--mode", "inference", "--device", "t4")

    def test_no_file_says_where_to_write(self):
        self.configure('output = "victim"\n')
        self.fail_in_json(3, "analyze", self.model)
        self.assertFalse((self.folder / "victim").exists())

    def test_a_broken_budget_of_the_file(self):
        self.configure("[budget]\npeak = 1\n")
        self.assertEqual(self.run_command("analyze", self.model).returncode, 1)

    def test_the_nearest_file_counts(self):
        self.configure('optimizer = "sgd"\n')
        self.configure('optimizer = "lion"\n', "models")
        self.assertEqual(self.report()["settings"]["optimizer"], "lion")
        self.assertEqual(self.report("--config", "footprint.toml")["settings"]["optimizer"], "sgd")
        self.assertEqual(self.report("--config", "none")["settings"]["optimizer"], "adamw")

    def test_a_model_in_the_current_folder(self):
        self.configure('optimizer = "sgd"\n')
        (self.folder / self.model).rename(self.folder / "here.onnxtxt")
        for model in ("here.onnxtxt", "./here.onnxtxt"):
            report = self.succeed_in_json("analyze", model)
            self.assertEqual(report["settings"]["optimizer"], "sgd", model)

    def test_flags_and_lists(self):
        self.configure('strict = true\nfreeze = ["w", "*w"]\n')
        self.assertEqual(self.report()["settings"]["freeze"], "w, *w")

    def test_what_is_wrong_in_the_file(self):
        for text, place in (("optimizer = ", "footprint.toml:1"),
                            ("\noptimiser = \"sgd\"", "footprint.toml: optimiser"),
                            ("[dim]\nN = 1.5", "footprint.toml:2"),
                            ("[dim]\nN = 0", "footprint.toml: dim"),
                            ("optimizer = \"none\"", "footprint.toml: --optimizer none"),
                            ("config = \"x\"", "footprint.toml: config"),
                            ("[dim]\nN = \"1..4\"", "footprint.toml")):
            self.configure(text)
            run = self.run_command("analyze", self.model, "--format", "json")
            self.assertEqual(run.returncode, 3, text)
            self.assertIn(place, json.loads(run.stdout)["error"]["place"], text)
        self.assertIn("did you mean --optimizer?", self.fail_as_text(
            3, "analyze", self.model, "--config", self.write("optimiser = 1")))
        for name in ("missing.toml", "models"):
            error = self.fail_in_json(3, "analyze", self.model, "--config", name)["error"]
            self.assertEqual(error["place"], "--config " + name)

    def write(self, text):
        (self.folder / "other.toml").write_text(text)
        return "other.toml"


if __name__ == "__main__":
    unittest.main()
