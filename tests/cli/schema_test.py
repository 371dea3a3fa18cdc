"""Every document that the command produces follows backend/report-schema.json."""

import json
import unittest

import jsonschema

from command import SOURCE, CommandTest

SCHEMA = json.loads((SOURCE / "backend" / "report-schema.json").read_text())
MODELS = sorted(p for p in (SOURCE / "models").glob("**/*.onnx*"))


class Schema(CommandTest):
    def setUp(self):
        super().setUp()
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.validator = jsonschema.Draft202012Validator(SCHEMA)

    def check(self, document):
        for error in self.validator.iter_errors(document):
            place = "/".join(str(part) for part in error.absolute_path)
            raise AssertionError(f"{place}: {error.message[:300]}")

    def test_small_models_in_each_mode(self):
        for mode in ("training", "inference", "both"):
            for model in ("valid.onnxtxt", "remarked.onnxtxt"):
                report = self.succeed_in_json("analyze", model, "--mode", mode)
                self.check(report)
                self.assertEqual(report["training"] is None, mode == "inference")
                self.assertEqual(report["inference"] is None, mode == "training")

    def test_whole_models(self):
        self.assertTrue(MODELS)
        for model in MODELS:
            with self.subTest(model=model.name):
                report = self.succeed_in_json("analyze", str(model), "--accounting", "textbook",
                                              "--optimizer", "adam")
                self.check(report)
                self.assertIsNotNone(report["textbook"])

    def test_what_gradients_need(self):
        report = self.succeed_in_json("analyze", "valid.onnxtxt", "--accounting", "graph",
                                      "--device", "t4")
        self.check(report)
        self.assertIsNotNone(report["gradient_needs"])

    def test_failures(self):
        self.check(self.fail_in_json(2, "analyze", "made_twice.onnxtxt"))
        self.check(self.fail_in_json(3, "analyze", "missing.onnx"))
        self.check(self.fail_in_json(3, "analyze", "valid.onnxtxt", "--nonsense"))
        self.check(self.fail_in_json(3))

    def test_the_schema_refuses_what_is_no_report(self):
        report = self.succeed_in_json("analyze", "valid.onnxtxt")
        for damage in (
            lambda r: r.pop("tensors"),
            lambda r: r["parameters"].update(bytes=1.5),
            lambda r: r["tensors"][0].update(category="other"),
            lambda r: r["tensors"][0].update(extra=1),
            lambda r: r.update(schema="footprint-report/2"),
        ):
            damaged = json.loads(json.dumps(report))
            damage(damaged)
            self.assertFalse(self.validator.is_valid(damaged))


if __name__ == "__main__":
    unittest.main()
