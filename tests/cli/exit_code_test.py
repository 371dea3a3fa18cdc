"""Exit codes are the same in text and in JSON, and JSON is one document whatever happens."""

import json
import os
import struct
import threading
import time
import unittest

from command import CommandTest


class ExitCodes(CommandTest):
    def test_a_report_is_0(self):
        for model in ("valid.onnxtxt", "remarked.onnxtxt"):
            self.assertIn(model, self.succeed("analyze", model))
            self.assertEqual(self.succeed_in_json("analyze", model)["model"], model)

    def test_remarks_are_in_the_report_and_do_not_fail(self):
        report = self.succeed_in_json("analyze", "remarked.onnxtxt")
        self.assertIn("initializer w", [d["place"] for d in report["diagnostics"]])
        self.assertEqual({d["severity"] for d in report["diagnostics"]}, {"note"})
        self.assertEqual(report["parameters"]["bytes"], 48)

    def test_a_wrong_model_is_2(self):
        error = self.fail_both_ways(2, "analyze", "made_twice.onnxtxt")
        self.assertIn("y", error["place"] + error["message"])
        self.fail_both_ways(2, "analyze", "not_a_model.onnxtxt")
        self.fail_both_ways(2, "analyze", "-", stdin=b"\xff\xff\xff\xff")

    def test_nodes_that_no_runtime_takes_are_2(self):
        head = '<ir_version: 8, opset_import: ["" : 17]>\n'
        for text, words in (
            ("g (float[N, 4] x) => (y) <int64[2] r = {-1, 1}> { y = Tile(x, r) }", "[-N, 4]"),
            ("g (float[1099511627776, 1099511627776] x) => (y) { y = Relu(x) }", "64 bits"),
            ("g (float[1, 3, 8, 8] x, float[3, 3, 3, 3] w) => (y) "
             "{ y = Conv <kernel_shape = [5, 5]> (x, w) }", "kernel_shape"),
            ("g (float c, float[2] x) => (y) { y = If (c) <then_branch = t () => (p) "
             "{ p = Relu(x) }, else_branch = e () => (q) { q = Abs(x) }> }", "of type bool"),
            ("g (bool c, float[2] x) => (y) { y = If (c) <then_branch = t () => (p) "
             "{ p = Relu(x) }, else_branch = e () => (q, r) { q = Abs(x) r = Neg(x) }> }",
             "branches of 1 outputs"),
            ("g (int64 n, bool c, float[2] x) => (y) { y = Loop (n, c, x) <body = b (float[2] s) "
             "=> (t) { t = Relu(s) }> }", "body of 3 inputs"),
        ):
            (self.folder / "wrong.onnxtxt").write_text(head + text + "\n")
            error = self.fail_both_ways(2, "analyze", "wrong.onnxtxt")
            self.assertIn(words, error["message"])

    def test_a_missing_file_is_3(self):
        error = self.fail_both_ways(3, "analyze", "missing.onnx")
        self.assertIn("missing.onnx", self.fail_as_text(3, "analyze", "missing.onnx"))
        self.assertTrue(error["kind"])
        self.fail_both_ways(3, "analyze", "missing-folder/model.onnx")

    def test_a_folder_is_3(self):
        (self.folder / "folder.onnx").mkdir()
        self.fail_both_ways(3, "analyze", "folder.onnx")

    def test_an_unknown_option_is_3(self):
        error = self.fail_both_ways(3, "analyze", "valid.onnxtxt", "--optimiser", "sgd")
        self.assertEqual(error["kind"], "unknown-option")
        self.assertIn("did you mean --optimizer?", error["message"])
        self.fail_both_ways(3, "analyze", "valid.onnxtxt", "-x")
        self.fail_both_ways(3, "bytes", "--params", "7B", "--dim", "batch=1")

    def test_json_is_asked_for_in_either_spelling(self):
        for spelling in (["--format", "json"], ["--format=json"]):
            result = self.run_command("analyze", *spelling, "--nonsense")
            self.assertEqual(result.returncode, 3)
            self.assertTrue(result.stdout.startswith(b"{"), result.stdout)

    def test_a_wrong_binding_is_3(self):
        error = self.fail_both_ways(3, "analyze", "valid.onnxtxt", "--dim", "M=2")
        self.assertIn("N", error["message"])  # what the model does have


class Usage(CommandTest):
    def assert_usage(self, *arguments, place=None, kind=None, message=""):
        error = self.fail_both_ways(3, *arguments)
        if place is not None:
            self.assertEqual(error["place"], place)
        if kind is not None:
            self.assertEqual(error["kind"], kind)
        self.assertIn(message, error["message"])

    def test_no_command(self):
        self.assertIn("footprint analyze MODEL", self.fail_as_text(3))
        self.fail_in_json(3)
        self.assert_usage("analyse", "x.onnx", kind="unknown-command", message="analyze?")

    def test_no_model_and_too_many(self):
        self.assert_usage("analyze", place="MODEL", kind="missing-argument")
        self.assert_usage("explain", "valid.onnxtxt", "x", "b.onnx", place="b.onnx")

    def test_dimensions(self):
        for text in ("batch", "batch=", "=2", "batch=0", "batch=-1", "batch=x", "batch=1.5",
                     "batch=2k", "batch=99999999999999999999", "batch= 2"):
            self.assert_usage("analyze", "valid.onnxtxt", "--dim=" + text, kind="bad-value",
                              place="--dim " + text)
        self.assert_usage("analyze", "valid.onnxtxt", "--dim", "N=2", "--dim", "N=3",
                          message="more than once")
        self.assert_usage("analyze", "valid.onnxtxt", "--dim", "N=8..1", kind="bad-value")

    def test_a_dimension_never_swallows_the_model(self):
        report = self.succeed_in_json("analyze", "--dim", "N=2", "valid.onnxtxt")
        self.assertEqual(report["bindings"], {"N": 2})
        self.assertEqual(report["assumed_bindings"], [])

    def test_unbound_dimensions_are_1_and_assumed(self):
        report = self.succeed_in_json("analyze", "valid.onnxtxt")
        self.assertEqual(report["bindings"], {"N": 1})
        self.assertEqual(report["assumed_bindings"], ["N"])
        self.assertIn("N = 1 (assumed)", self.succeed("analyze", "valid.onnxtxt"))

    def test_inputs(self):
        for text in ("x", "x=", "x=2,4", "=[2]", "x=[2", "x=[2,]", "x=[,2]", "x=[-1,2]",
                     "x=[2*batch,4]", "x=[4.5,4]", "x=[99999999999999999999,4]", "x=[+1,4]",
                     "x=[batch+1,4]", "x=[0x4,4]"):
            self.assert_usage("analyze", "valid.onnxtxt", "--input", text, kind="bad-value")
        report = self.succeed_in_json("analyze", "valid.onnxtxt", "--input", "x=[7, 4]")
        shapes = {t["name"]: t["shape"] for t in report["tensors"]}
        self.assertEqual(shapes["y"], [7, 3])

    def test_names_given_by_an_input_can_be_bound(self):
        report = self.succeed_in_json("analyze", "valid.onnxtxt", "--input", "x=[past-length, 4]",
                                      "--dim", "past-length=2")
        self.assertEqual(report["bindings"], {"past-length": 2})
        shapes = {t["name"]: t["shape"] for t in report["tensors"]}
        self.assertEqual(shapes["y"], [2, 3])

    def test_an_overflow_is_said_once(self):
        text = self.fail_as_text(3, "analyze", "valid.onnxtxt", "--dim", "N=9223372036854775807")
        self.assertEqual(text.count("error:"), 1, text)

    def test_a_checkpoint_is_refused_before_the_model_is_read(self):
        self.assert_usage("analyze", "missing.onnx", "--checkpoint", "every:x", kind="bad-value",
                          place="--checkpoint every:x")

    def test_input_values(self):
        for text in ("x", "x=", "x=[1", "x=hello", 'x=["a"]', "x={}", "x=[9223372036854775808]",
                     "x=[1, '2']", "x=null"):
            self.assert_usage("analyze", "valid.onnxtxt", "--input-value", text, kind="bad-value")
        self.assert_usage("analyze", "valid.onnxtxt", "--input-value", "x=@missing.json",
                          kind="file-access", message="missing.json")
        self.assert_usage("analyze", "valid.onnxtxt", "--input-value", "x=@.",
                          kind="file-access")
        self.assert_usage("analyze", "valid.onnxtxt", "--input-value", "x=@/dev/zero",
                          kind="bad-value")

    def test_a_pipe_without_a_writer_is_refused(self):
        os.mkfifo(self.folder / "pipe.onnxtxt")
        for arguments in (["pipe.onnxtxt"], ["valid.onnxtxt", "--input-value", "x=@pipe.onnxtxt"]):
            self.assertIn("does anyone write to it?",
                          self.fail_as_text(3, "analyze", *arguments))

    def test_a_pipe_with_a_slow_writer_is_waited_for(self):
        os.mkfifo(self.folder / "pipe.onnxtxt")
        model = (self.folder / "valid.onnxtxt").read_bytes()

        def write():
            with open(self.folder / "pipe.onnxtxt", "wb", buffering=0) as pipe:
                time.sleep(1.5)
                pipe.write(model[:20])
                time.sleep(0.2)
                pipe.write(model[20:])

        writer = threading.Thread(target=write)
        writer.start()
        self.succeed("analyze", "pipe.onnxtxt")
        writer.join()

    def test_values_that_do_not_fit_the_input(self):
        array = (b"\x93NUMPY\x01\x00" + struct.pack("<H", 62) +
                 b"{'descr': '<i8', 'fortran_order': False, 'shape': (1, 4), }".ljust(62) +
                 struct.pack("<4q", 1, 2, 3, 4))
        (self.folder / "integers.npy").write_bytes(array)
        for value, kind in (("x=[1.5,2,3]", "value-count"), ("x=[[1,2,3],[4,5,6]]", "value-count"),
                            ("x=@integers.npy", "value-type")):
            self.assert_usage("analyze", "valid.onnxtxt", "--input-value", value, kind=kind)
        report = self.succeed_in_json("analyze", "valid.onnxtxt", "--input-value",
                                      "x=[[1,2,3,4],[5,6,7,8]]")
        self.assertEqual(report["bindings"], {"N": 2})

    def test_values_that_the_model_cannot_run_with(self):
        (self.folder / "reshape.onnxtxt").write_text(
            '<ir_version: 8, opset_import: ["" : 17]>\n'
            "g (float[4, 6] x, int64[2] s) => (float[A, B] y) { y = Reshape(x, s) }\n")
        self.succeed("analyze", "reshape.onnxtxt", "--input-value", "s=[3,8]")
        self.assert_usage("analyze", "reshape.onnxtxt", "--input-value", "s=[5,5]")
        self.assert_usage("analyze", "valid.onnxtxt", "--input", "x=[2,5]")

    def test_deeply_nested_input_values(self):
        (self.folder / "deep.json").write_text("[" * 1000000 + "]" * 1000000)
        result = self.run_command("analyze", "valid.onnxtxt", "--input-value", "x=@deep.json")
        self.assertIn(result.returncode, (0, 3))

    def test_choices(self):
        for option in ("--mode", "--optimizer", "--precision", "--loss", "--attention",
                       "--modules", "--runtime", "--graph-optimization", "--accounting",
                       "--format"):
            self.assert_usage("analyze", "valid.onnxtxt", option, "nonsense", kind="bad-value",
                              place=option + " nonsense", message="expected one of ")
        self.assert_usage("analyze", "valid.onnxtxt", "--mode", "trainin", message="training?")

    def test_an_empty_value(self):
        for words in (("--device", ""), ("--device=",), ("--output=", "--mode", "training"),
                      ("--checkpoint", ""), ("--fit", ""), ("--config", "")):
            result = self.run_command("analyze", "valid.onnxtxt", "--format=json", *words)
            self.assertEqual(result.returncode, 3, words)
            self.assertEqual(json.loads(result.stdout)["error"]["message"],
                             "expected a value; it is empty")

    def test_ragged_values(self):
        self.assert_usage("analyze", "valid.onnxtxt", "--input-value", "x=[[1],[2,3]]")
        self.assert_usage("analyze", "valid.onnxtxt", "--input-value", "x=[1,[2]]")

    def test_an_option_twice(self):
        self.assert_usage("analyze", "valid.onnxtxt", "--mode", "both", "--mode", "training")

    def test_an_option_without_its_value(self):
        self.assertIn("--dim", self.fail_as_text(3, "analyze", "valid.onnxtxt", "--dim"))
        result = self.run_command("analyze", "valid.onnxtxt", "--format=json", "--dim")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(json.loads(result.stdout)["error"]["place"], "--dim")

    def test_numbers(self):
        for text in ("-1", "x", "1.5", "99999999999"):
            self.assert_usage("analyze", "valid.onnxtxt", "--depth=" + text, kind="bad-value")
        for text in ("0", "x", "-2"):
            self.assert_usage("analyze", "valid.onnxtxt", "--accumulate=" + text,
                              kind="bad-value")
        for text in ("0", "x", "1.5", "1e9", "-7B"):
            self.assert_usage("bytes", "--params=" + text, kind="bad-value")
        self.assert_usage("bytes", "--params", "9223372T", kind="bad-value", message="64 bits")

    def test_params_need_the_textbook(self):
        self.assert_usage("analyze", "valid.onnxtxt", "--params", "7B",
                          message="--accounting textbook")

    def test_dumps(self):
        for step in ("import", "infer", "lower", "replay"):
            text = self.succeed("analyze", "valid.onnxtxt", "--dump", step)
            self.assertTrue(text)
            report = self.succeed_in_json("analyze", "valid.onnxtxt", "--dump", step)
            self.assertEqual(report["dump"], text)
        self.assert_usage("analyze", "valid.onnxtxt", "--dump", "nonsense", kind="bad-value")
        for step in ("lower", "replay"):
            self.assert_usage("analyze", "valid.onnxtxt", "--dump", step, "--mode", "inference",
                              kind="bad-value")

    def test_all_mistakes_are_told_at_once(self):
        document = self.fail_in_json(3, "analyze", "valid.onnxtxt", "--dim", "N=x", "--mode", "y",
                                     "--depth", "z")
        self.assertEqual(len(document["diagnostics"]), 3)

    def test_variants_of_the_step_that_are_none(self):
        for option, value in (("--checkpoint", "every=4"), ("--checkpoint", "every:0"),
                              ("--checkpoint", "glob:"), ("--accumulate", "0"),
                              ("--accumulate", "two"), ("--step-inputs", "gone"),
                              ("--optimizer", "adamm"), ("--device", "a100"),
                              ("--device-memory", "80 apples"), ("--allocator", "none")):
            self.assert_usage("analyze", "valid.onnxtxt", option, value, kind="bad-value")
        self.assert_usage("bytes", "--params", "7B", "--optimizer", "adafactor", kind="bad-value")

    def test_an_output_never_replaces_the_model(self):
        self.fail_in_json(3, "analyze", "valid.onnxtxt", "--output", "valid.onnxtxt")
        self.assertIn("MatMul", (self.folder / "valid.onnxtxt").read_text())

    def test_strict_refuses_what_is_incomplete(self):
        (self.folder / "odd.onnxtxt").write_text(
            '<ir_version: 8, opset_import: ["" : 17, "odd" : 1]>\n'
            "g (float[2] x) => (float[2] y) { y = odd.Odd(x) }\n")
        report = self.succeed_in_json("analyze", "odd.onnxtxt", "--mode", "training")
        self.assertFalse(report["training"]["complete"])
        self.fail_in_json(2, "analyze", "odd.onnxtxt", "--mode", "training", "--strict")


class Help(CommandTest):
    def test_help_has_examples(self):
        for arguments in (["--help"], ["analyze", "--help"], ["bytes", "--help"]):
            text = self.succeed(*arguments)
            self.assertIn("Examples:", text)
            self.assertIn("footprint analyze" if "bytes" not in arguments else "--params 7B", text)

    def test_help_names_every_option(self):
        text = self.succeed("analyze", "--help")
        for option in ("--mode", "--dim", "--input", "--input-value", "--optimizer", "--precision",
                       "--loss", "--freeze", "--attention", "--modules", "--checkpoint",
                       "--accumulate", "--device", "--device-file", "--grad-scaler", "--runtime",
                       "--graph-optimization",
                       "--accounting", "--params", "--format", "--output", "--dump", "--strict",
                       "--depth"):
            self.assertIn(option + " ", text)

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"\Afootprint \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    unittest.main()
