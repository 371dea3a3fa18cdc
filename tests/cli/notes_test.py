"""What the command says beside its figures: options without effect, assumptions, narrow tables."""

import unittest

from command import SOURCE, CommandTest

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
CUT = (HEAD + "g (float[batch, sequence] x) => (y) <int64[4] p = {0, -5, 0, 0}>"
       " { [cut] y = Pad(x, p) }")


class Notes(CommandTest):
    def notes(self, *arguments):
        report = self.succeed_in_json("analyze", "valid.onnxtxt", *arguments)
        return {d["place"]: d for d in report["diagnostics"] if d["severity"] == "note"}

    def test_options_about_training_have_no_effect_on_inference(self):
        notes = self.notes("--mode", "inference", "--optimizer", "adamw", "--loss=sum",
                           "--freeze", "w", "--dim", "N=2")
        self.assertEqual({place for place, d in notes.items() if d["kind"] == "idle-option"},
                         {"--optimizer", "--loss", "--freeze"})
        textbook = self.notes("--mode", "inference", "--accounting", "textbook", "--optimizer",
                              "adam", "--params", "1M")
        self.assertNotIn("--optimizer", textbook)
        self.assertNotIn("--optimizer", self.notes("--optimizer", "sgd"))

    def test_names_of_which_no_size_speaks(self):
        (self.folder / "names.onnxtxt").write_text(
            HEAD + "g (float[a, 4] x) => (float[b, 4] y) { y = Relu(x) }")
        report = self.succeed_in_json("analyze", "names.onnxtxt", "--mode", "inference",
                                      "--dim", "a=2", "--dim", "b=8")
        self.assertEqual([d["place"] for d in report["diagnostics"] if d["kind"] == "idle-option"],
                         ["--dim b"])

    def test_what_a_file_says_that_is_not_so(self):
        (self.folder / "odd.onnxtxt").write_text(
            HEAD + "g (float[2] x, float[3] w) => (y, z) <float[2] w = {1, 2}>"
            " { y = Add(x, w) z = Nothing(x) }")
        report = self.succeed_in_json("analyze", "odd.onnxtxt")
        warnings = {d["kind"]: d for d in report["diagnostics"] if d["severity"] == "warning"}
        self.assertIn("float32[3], but it is float32[2]",
                      warnings["declared-shape-mismatch"]["message"])
        self.assertIn("no operator of this name", warnings["unknown-operator"]["message"])
        self.fail_in_json(2, "analyze", "odd.onnxtxt", "--strict")

    def test_rewrites_of_quantized_models_are_listed(self):
        (self.folder / "quantized.onnxtxt").write_text(
            HEAD + "g (float[2, 4] x) => (y) <float s = {0.5}, uint8 z = {0}>"
            " { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) a = Sigmoid(d)"
            " p = QuantizeLinear(a, s, z) y = DequantizeLinear(p, s, z) }")
        for level, listed in (("all", ["quantized Sigmoid: 1"]), ("none", [])):
            report = self.succeed_in_json("analyze", "quantized.onnxtxt", "--mode", "inference",
                                          "--graph-optimization", level)
            self.assertEqual(report["inference"]["runtimes"][-1].get("rewrites", []), listed)

    def test_near_names(self):
        model = str(SOURCE / "models" / "resnet50.train_loss.onnx")
        for option, given, name in (("--dim", "bach=2", "batch"),
                                    ("--freeze", "m.cnv1*", "m.conv1.weight"),
                                    ("--budget", "layer:m/layr1*=1GiB", "m/layer1")):
            self.assertIn(f"did you mean {name}?",
                          self.fail_as_text(3, "analyze", model, option, given))
        report = self.succeed_in_json("analyze", model, "--checkpoint", "glob:m.layr1.?")
        self.assertTrue([d for d in report["diagnostics"] if d["kind"] == "checkpoint"
                         and "did you mean m.layer1.0?" in d["message"]])

    def test_a_whole_name_goes_before_the_same_in_a_wrapper(self):
        text = (HEAD + "g (float[2, 4] x) => (float[2, 4] y) <float[4, 4] \"fc.w\" = {%s},"
                " float[4, 4] \"m.fc.w\" = {%s}, float[4, 4] \"m.out.w\" = {%s}> {"
                " h = MatMul(x, \"fc.w\") i = MatMul(h, \"m.fc.w\")"
                " y = MatMul(i, \"m.out.w\") }")
        ones = ", ".join("1" for _ in range(16))
        (self.folder / "nested.onnxtxt").write_text(text % (ones, ones, ones))

        def trained(pattern):
            report = self.succeed_in_json("analyze", "nested.onnxtxt", "--freeze", pattern)
            return report["parameters"]["trainable_count"]

        self.assertEqual(trained("fc.w"), 32)
        self.assertEqual(trained("m.fc.w"), 32)
        self.assertEqual(trained("out.w"), 32)
        self.assertEqual(trained("*fc.w"), 16)

    def test_all_parameters_frozen(self):
        self.assertIn("no gradients", self.notes("--freeze", "*")["--freeze"]["message"])
        self.assertNotIn("--freeze", self.notes())

    def test_a_kernel_for_16_bits_in_float32(self):
        for kernel in ("flash", "cudnn"):
            self.assertIn("efficient", self.notes("--attention", kernel)["--attention"]["message"])
        self.assertNotIn("--attention", self.notes("--attention", "flash", "--precision", "bf16"))

    def test_the_nominal_memory_of_a_device_is_assumed(self):
        for arguments, assumed in ((("--device", "t4"), True),
                                   (("--device", "t4", "--device-memory", "15GB"), False)):
            report = self.succeed_in_json("analyze", "valid.onnxtxt", *arguments)
            self.assertEqual(report["device"]["memory_certainty"],
                             "assumed" if assumed else "exact")
            text = self.succeed("analyze", "valid.onnxtxt", *arguments)
            self.assertEqual("memory (assumed)" in text, assumed)

    def test_formulas_say_when_they_hold(self):
        text = self.succeed("analyze", "valid.onnxtxt")
        self.assertIn("= 12*N, as decided at these bindings\n", text)


class Names(CommandTest):
    def test_words_behind_two_dashes_are_names(self):
        (self.folder / "-model.onnxtxt").write_text((self.folder / "valid.onnxtxt").read_text())
        self.assertIn("-model.onnxtxt", self.succeed("analyze", "--mode", "inference", "--",
                                                     "-model.onnxtxt"))
        self.succeed("explain", "--", "-model.onnxtxt", "w")
        self.succeed("explain", "valid.onnxtxt", "--", "w")
        error = self.fail_as_text(3, "explain", "valid.onnxtxt", "w", "--", "--format")
        self.assertIn("one too many", error)
        self.fail_as_text(3, "ops", "--", "x")


class Bindings(CommandTest):
    def test_a_branch_that_may_not_run_refuses_nothing(self):
        """x.squeeze(0) of a dimension with a name, as TorchScript exports it."""
        (self.folder / "squeeze.onnxtxt").write_text(
            '<ir_version: 10, opset_import: ["" : 21]>\n'
            "g (float[batch, 4] x) => (y) < int64[1] none = {0}, int64[1] one = {1} > {"
            " n = Shape <start = 0, end = 1> (x) same = Equal (n, one) c = Squeeze (same, none)"
            " y = If (c) <then_branch = t () => (o) { o = Squeeze (x, none) },"
            " else_branch = e () => (p) { p = Identity (x) }> }")
        for batch, kinds in ((1, []), (8, ["constraint-violated"])):
            report = self.succeed_in_json("analyze", "squeeze.onnxtxt", "--mode", "inference",
                                          "--dim", f"batch={batch}")
            self.assertEqual([d["kind"] for d in report["diagnostics"]], kinds)

    def test_sizes_below_zero_are_refused_where_they_come_from(self):
        (self.folder / "cut.onnxtxt").write_text(CUT)
        self.succeed("analyze", "cut.onnxtxt", "--dim", "sequence=5")
        error = self.fail_both_ways(3, "analyze", "cut.onnxtxt", "--dim", "sequence=2")
        self.assertEqual(error["place"], "Pad 'cut' -> y")
        self.assertIn("sizes of 0 or more", error["message"])
        self.assertIn("sequence - 5 = -3", error["message"])
        self.assertNotIn("assumed", error["message"])
        error = self.fail_both_ways(3, "analyze", "cut.onnxtxt")
        self.assertIn("bind it with --dim sequence=...", error["message"])


class Tables(CommandTest):
    def lines(self, columns, *arguments):
        return self.succeed(*arguments, COLUMNS=str(columns)).splitlines()

    def test_tables_fit_and_say_what_they_leave_out(self):
        for arguments in (("ops",), ("ops", "--torch"),
                          ("bytes", "--params", "7B", "--optimizer", "adamw"),
                          ("ops", "--missing", "valid.onnxtxt")):
            lines = self.lines(60, *arguments)
            self.assertLessEqual(max(map(len, lines)), 60, arguments)
        self.assertIn("  too narrow for: control, in place", "\n".join(self.lines(60, "ops")))
        wide = "\n".join(self.lines(150, "ops"))
        self.assertNotIn("too narrow", wide)
        self.assertIn("without a row: com.microsoft::EPContext", wide)


if __name__ == "__main__":
    unittest.main()
