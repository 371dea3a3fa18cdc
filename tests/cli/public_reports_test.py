"""Failures that users of such tools reported in public, reduced to small graphs, end to end."""

import os
import struct
import subprocess
import time
import unittest

from command import BINARY, CommandTest

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>\n'


def values(count):
    return "{" + ", ".join(["1"] * count) + "}"


class Case(CommandTest):
    def analyze(self, text, *arguments):
        (self.folder / "case.onnxtxt").write_text(text)
        return self.succeed_in_json("analyze", "case.onnxtxt", *arguments)


class Shapes(Case):
    def tensors(self, text, *arguments):
        report = self.analyze(text, "--mode", "inference", *arguments)
        return {t["name"]: t for t in report["tensors"]}

    def test_sizes_that_data_decides_are_bounded(self):
        tensors = self.tensors(
            HEAD + "g (bool[19248] m, float[1, 100, 4] b, float[1, 80, 100] s) => (a, d)"
            " <int64 most = {10}> { a = NonZero(m) d = NonMaxSuppression(b, s, most) }")
        self.assertEqual((tensors["a"]["bytes"], tensors["a"]["certainty"]), (153984, "bounded"))
        self.assertEqual((tensors["d"]["bytes"], tensors["d"]["certainty"]), (19200, "bounded"))

    def test_the_last_items_of_an_axis(self):
        text = (HEAD + "g (float[N] x, float[L] y) => (z) <int64[1] end = {9223372036854775807}> {"
                " n = Shape(y) from = Neg(n) z = Slice(x, from, end) }")
        z = self.tensors(text, "--dim", "N=10", "--dim", "L=3")["z"]
        self.assertEqual((z["shape"], z["bytes_expression"]), ([3], "4*min(N, L)"))
        self.assertEqual(self.tensors(text, "--dim", "N=2", "--dim", "L=3")["z"]["shape"], [2])

    def test_hostile_nodes(self):
        """One diagnostic with the node and what is wrong, within a second and 100 MB.

        What the process takes to say that there is no file is part of neither.
        """
        base_seconds, base_size = self.measure("analyze", "no.onnxtxt")
        for graph, words in (
            ("g (double[2, 1] a, double b, double[2] c) => (y)"
             " { [n] y = Gemm<transB = 823>(a, b, c) }", ("Gemm 'n' -> y", "[]")),
            ("g (float[7, 6, 1, 5] x, float w) => (y) { [n] y = Conv(x, w) }",
             ("Conv 'n' -> y", "[]")),
            ("g (int64[1000000000] s) => (y) { [n] y = ConstantOfShape(s) }",
             ("ConstantOfShape 'n' -> y", "1000000000")),
            ("g (float[1, 1, 5, 5] x, float[1, 1, 3, 3] w) => (y)"
             " { [n] y = Conv<strides = [0, 1]>(x, w) }", ("Conv 'n' -> y", "stride")),
            ("g (float[2, 3] x) => (y) { [n] y = Concat<axis = 7>(x, x) }",
             ("Concat 'n' -> y", "7")),
        ):
            (self.folder / "case.onnxtxt").write_text(HEAD + graph)
            error = self.fail_both_ways(2, "analyze", "case.onnxtxt")
            self.assertEqual(error["kind"], "invalid-node", graph)
            document = self.fail_in_json(2, "analyze", "case.onnxtxt")
            self.assertEqual(len(document["diagnostics"]), 1, graph)
            for word in words:
                self.assertIn(word, error["place"] + ": " + error["message"], graph)
            seconds, size = self.measure("analyze", "case.onnxtxt")
            self.assertLess(seconds, 1 + base_seconds)
            self.assertLess(size, 100e6 + base_size)

    def measure(self, *arguments):
        """Seconds, and the most bytes that the process had in memory."""
        begin = time.monotonic()
        process = subprocess.Popen([BINARY, *arguments], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return time.monotonic() - begin, usage.ru_maxrss * 1024

    def test_constants_of_a_function_count_once(self):
        report = self.analyze(
            HEAD.replace('"com.microsoft" : 1', '"local" : 1')
            + "g (float[2, 6] a, float[8, 4] b) => (x, y) { x = local.R(a) y = local.R(b) }\n"
            '<domain: "local", opset_import: ["" : 13]> R (x) => (y)'
            " { c = Constant<value = int64[2] {-1, 4}>() y = Reshape(x, c) }",
            "--mode", "inference")
        tensors = {t["name"]: t for t in report["tensors"]}
        self.assertEqual([(tensors[n]["shape"], tensors[n]["bytes"]) for n in "xy"],
                         [([3, 4], 48), ([8, 4], 128)])
        self.assertEqual((report["stored"]["bytes"], report["inference"]["weight_bytes"]), (16, 16))
        self.assertEqual(report["parameters"]["bytes"], 0)
        self.assertEqual(report["constants"]["bytes"], 16)
        weight = ", ".join(["1"] * 16)
        for mode in ("inference", "training"):
            report = self.analyze(
                HEAD.replace('"com.microsoft" : 1', '"local" : 1')
                + "g (float[2, 4] a) => (y) { x = local.L(a) y = local.L(x) }\n"
                '<domain: "local", opset_import: ["" : 13]> L (x) => (y)'
                " { c = Constant<value = float[4, 4] {" + weight + "}>() y = MatMul(x, c) }",
                "--mode", mode)
            parameters = report["parameters"]
            self.assertEqual((parameters["bytes"], parameters["count"]), (64, 16))
            self.assertEqual(sum(l["parameter_count"] for l in report["layers"]), 16)

    def test_sizes_in_another_file(self):
        (self.folder / "case.textproto").write_text(
            'ir_version: 10 opset_import { version: 13 } graph { name: "g"'
            ' node { op_type: "Split" input: "x" input: "s" output: "a" output: "b" output: "c"'
            ' attribute { name: "axis" type: INT i: 3 } } initializer { name: "s" data_type: 7'
            ' dims: 3 data_location: EXTERNAL external_data { key: "location" value: "s.bin" } }'
            ' input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 }'
            ' dim { dim_value: 49 } dim { dim_value: 8 } dim { dim_value: 192 } } } } }'
            + "".join(' output { name: "%s" type { tensor_type { elem_type: 1 } } }' % name
                      for name in "abc") + ' }')
        report = self.succeed_in_json("analyze", "case.textproto", "--mode", "inference")
        absent = {t["name"]: t for t in report["tensors"]}
        self.assertEqual([d["kind"] for d in report["diagnostics"]], ["external-data-missing"])
        self.assertEqual([absent[n]["certainty"] for n in "abc"], ["bounded"] * 3)
        self.assertEqual(absent["c"]["shape_expression"], "[1, 49, 8, 192 - u0 - u1]")
        # Each part may be as large as the whole; together they are as large as it.
        inference = report["inference"]
        self.assertEqual(inference["output_bytes"], 301056)
        self.assertFalse(inference["output_is_bounded"])
        self.assertEqual(inference["activation_peak_bytes"], 301056)
        self.assertEqual(inference["activation_peak_expression"], "301056")
        self.assertEqual(inference["peak"]["live_bytes"], 2 * 301056 + 24)
        self.assertFalse(inference["peak"]["is_bounded"])
        self.fail_both_ways(2, "analyze", "case.textproto", "--strict")
        (self.folder / "s.bin").write_bytes(struct.pack("<3q", 32, 32, 128))
        report = self.succeed_in_json("analyze", "case.textproto", "--strict")
        present = {t["name"]: t["shape"] for t in report["tensors"]}
        self.assertEqual([present[n][3] for n in "abc"], [32, 32, 128])


class Stored(Case):
    def test_packed_4_bit_weights(self):
        report = self.analyze(
            HEAD + "g (float[B, S, 100] a) => (y) <uint8[64, 4, 16] b = {%s},"
            " float[64, 4] s = {%s}, uint8[64, 2] z = {%s}> { y = com.microsoft.MatMulNBits"
            "<K: int = 100, N: int = 64, bits: int = 4, block_size: int = 32>(a, b, s, z) }"
            % tuple(values(n)[1:-1] for n in (4096, 256, 128)),
            "--dim", "B=2", "--dim", "S=3")
        shapes = {t["name"]: (t["shape"], t["bytes"]) for t in report["tensors"]}
        self.assertEqual(shapes["y"], ([2, 3, 64], 2 * 3 * 64 * 4))
        self.assertEqual([shapes[n][1] for n in "bsz"], [4096, 1024, 128])
        # Of 8,192 places 6,400 hold weights; scales and zero points are bytes, and no weights.
        self.assertEqual(report["parameters"]["bytes"], 5248)
        self.assertEqual(report["parameters"]["count"], 100 * 64)
        self.assertEqual(report["parameters"]["widths"]["fp32"], 100 * 64 * 4)
        self.assertEqual(report["training"]["gradient_bytes"], 0)

    def test_blockwise_dequantized_weight(self):
        (self.folder / "blocks.textproto").write_text(
            'ir_version: 10 opset_import { version: 21 } graph { name: "g"'
            ' node { op_type: "DequantizeLinear" input: "w" input: "s" output: "d"'
            ' attribute { name: "axis" type: INT i: 0 } attribute { name: "block_size" type: INT'
            ' i: 32 } } node { op_type: "MatMul" input: "x" input: "d" output: "y" }'
            ' initializer { name: "w" data_type: 22 dims: 64 dims: 32 raw_data: "%s" }'
            ' initializer { name: "s" data_type: 1 dims: 2 dims: 32 raw_data: "%s" }'
            ' input { name: "x" type { tensor_type { elem_type: 1 shape {'
            ' dim { dim_value: 1 } dim { dim_value: 64 } } } } }'
            ' output { name: "y" type { tensor_type { elem_type: 1 } } } }'
            % ("w" * 1024, "s" * 256))
        report = self.succeed_in_json("analyze", "blocks.textproto")
        self.assertEqual(report["parameters"]["bytes"], 1024 + 256)
        tensors = {t["name"]: t for t in report["tensors"]}
        self.assertEqual(report["parameters"]["count"], 64 * 32)
        self.assertEqual(tensors["d"]["bytes"], 8192)
        self.assertNotEqual(tensors["d"]["category"], "parameter")
        self.assertTrue(tensors["d"]["constant_foldable"])
        self.assertNotIn("constant_foldable", tensors["y"])
        self.assertEqual(report["inference"]["constant_foldable_bytes"], 8192)
        text = self.succeed("analyze", "blocks.textproto")
        self.assertRegex(text, r"constant-foldable +8.00 KiB +8,192\n")
        self.assertRegex(text, r"transient +d +constant-foldable; until MatMul")

    def test_weights_of_both_branches_and_of_a_body(self):
        weight = "<float[64, 64] %s = {" + values(4096)[1:-1] + "}>"
        report = self.analyze(
            HEAD + "g (bool c, float[1, 64] x, int64 n, bool t) => (z) " + weight % "w0" + " {"
            " h = MatMul(x, w0)"
            " y = If (c) <then_branch = a () => (float[1, 64] p) " + weight % "w1"
            + " { p = MatMul(h, w1) }, else_branch = b () => (float[1, 64] q) " + weight % "w2"
            + " { q = MatMul(h, w2) }>"
            " z = Loop (n, t, y) <body = l (int64 i, bool k, float[1, 64] s) => (bool k2, "
            "float[1, 64] s2) " + weight % "w3" + " { k2 = Identity(k) s2 = MatMul(s, w3) }> }")
        training = report["training"]
        self.assertEqual(report["parameters"]["bytes"], 4 * 16384)
        self.assertEqual(training["parameter_bytes"], 4 * 16384)
        self.assertEqual(training["gradient_bytes"], 4 * 16384)
        self.assertEqual(training["optimizer_state_bytes"], 8 * 16384)
        self.assertEqual({s["name"] for s in report["storages"] if s["category"] == "parameter"},
                         {"w0", "y/then_branch/w1", "y/else_branch/w2", "z/body/w3"})
        # One of the branches runs; the peak is in the loop: its state, the next one, a condition.
        self.assertEqual(report["inference"]["activation_peak_bytes"], 256 + 256 + 1)

    def test_weights_in_constant_nodes_count_like_initializers(self):
        body = " y = Gemm(x, w, b) }"
        stored = self.analyze(
            HEAD + "g (float[N, 4] x) => (y) <float[4, 3] w = %s, float[3] b = %s> {"
            % (values(12), values(3)) + body)
        nodes = self.analyze(
            HEAD + "g (float[N, 4] x) => (y) { w = Constant<value = float[4, 3] %s>()"
            " b = Constant<value = float[3] %s>()" % (values(12), values(3)) + body)
        passed = self.analyze(
            HEAD + "g (float[N, 4] x) => (y) { w0 = Constant<value = float[4, 3] %s>()"
            " b = Constant<value = float[3] %s>() w = Identity(w0)"
            % (values(12), values(3)) + body)
        for report in (stored, nodes, passed):
            self.assertEqual(report["parameters"]["bytes"], 60)
            self.assertEqual(report["parameters"]["count"], 15)
            self.assertEqual(report["inference"]["activation_peak_bytes"], 12)

    def test_a_weight_that_nobody_reads(self):
        report = self.analyze(
            HEAD + "g (float[N, 8] x) => (y) <float[8, 8] w = %s, float[8, 8] t = %s> {"
            " y = MatMul(x, t) }" % (values(64), values(64)))
        self.assertEqual(report["parameters"]["bytes"], 256)
        warnings = [d for d in report["diagnostics"] if d["severity"] == "warning"]
        self.assertEqual([w["place"] for w in warnings], ["initializer w"])
        self.assertEqual((report["stored"]["bytes"], report["stored"]["referenced_bytes"]),
                         (512, 256))
        self.assertRegex(self.succeed("analyze", "case.onnxtxt"),
                         r"in the file +512 B +512\n +of it read by nodes +256 B +256\n")

    def test_forms_in_which_tensors_are_stored(self):
        (self.folder / "forms.textproto").write_text(
            'ir_version: 10 opset_import { version: 21 } graph { name: "g"'
            ' node { op_type: "MatMul" input: "x" input: "w" output: "y" }'
            ' node { op_type: "Identity" input: "t" output: "z" }'
            ' initializer { name: "t" data_type: 8 dims: 3'
            ' string_data: "a" string_data: "bc" string_data: "" }'
            ' sparse_initializer { dims: 1000 dims: 1000'
            ' values { name: "w" data_type: 1 dims: 500 raw_data: "%s" }'
            ' indices { data_type: 7 dims: 500 raw_data: "%s" } }'
            ' input { name: "x" type { tensor_type { elem_type: 1 shape {'
            ' dim { dim_value: 1 } dim { dim_value: 1000 } } } } }'
            ' output { name: "y" type { tensor_type { elem_type: 1 } } }'
            ' output { name: "z" type { tensor_type { elem_type: 8 } } } }'
            % ("v" * 2000, "".join("\\%03o" % b for i in range(500)
                                   for b in struct.pack("<q", i))))
        report = self.succeed_in_json("analyze", "forms.textproto")
        self.assertEqual(report["stored"], {
            "bytes": 6003, "referenced_bytes": 6003, "sparse_bytes": 6000,
            "sparse_as_dense_bytes": 4000000, "string_payload_bytes": 3})
        tensors = {t["name"]: t for t in report["tensors"]}
        self.assertEqual([tensors["w"][k] for k in ("stored_as", "stored_bytes", "dense_bytes")],
                         ["sparse", 6000, 4000000])
        self.assertEqual((tensors["t"]["stored_as"], tensors["t"]["bytes"]), ("string payload", 3))
        self.assertNotIn("stored_as", tensors["y"])
        text = self.succeed("analyze", "forms.textproto")
        self.assertRegex(text, r"stored sparse +5.86 KiB +6,000\n +the same, dense +3.81 MiB")
        self.assertRegex(text, r"string payload +3 B +3\n")

    def test_an_unfolded_fill_is_an_intermediate(self):
        report = self.analyze(
            HEAD + "g (float[512, 512] x) => (y) <int64[2] s = {512, 512}> {"
            " f = ConstantOfShape(s) y = Add(x, f) }")
        self.assertEqual(report["parameters"]["bytes"], 0)
        tensors = {t["name"]: t for t in report["tensors"]}
        self.assertEqual((tensors["s"]["bytes"], tensors["f"]["bytes"]), (16, 1048576))

    def test_a_weight_listed_as_input_counts_once(self):
        for version, notes in ((3, 0), (8, 1)):
            report = self.analyze(
                '<ir_version: %d, opset_import: ["" : 8]>\n' % version
                + "g (float[N, 10] x, float[10, 10] w) => (y) <float[10, 10] w = %s> {"
                " y = MatMul(x, w) }" % values(100))
            self.assertEqual(report["parameters"]["bytes"], 400)
            self.assertEqual(report["inference"]["input_bytes"], 40)
            about_w = [d for d in report["diagnostics"] if "w" in d["place"].split()]
            self.assertEqual([d["severity"] for d in about_w], ["note"] * notes)

    def test_two_gibibytes_and_more(self):
        (self.folder / "large.textproto").write_text(
            'ir_version: 10 opset_import { version: 21 } graph { name: "g"'
            ' node { op_type: "MatMul" input: "x" input: "w" output: "y" }'
            ' initializer { name: "w" data_type: 1 dims: 1 dims: 536871424 data_location: EXTERNAL'
            ' external_data { key: "location" value: "w.bin" } }'
            ' input { name: "x" type { tensor_type { elem_type: 1 shape {'
            ' dim { dim_param: "B" } dim { dim_value: 1 } } } } }'
            ' output { name: "y" type { tensor_type { elem_type: 1 } } } }')
        report = self.succeed_in_json("analyze", "large.textproto", "--dim", "B=3",
                                      "--mode", "inference")
        self.assertEqual(report["parameters"]["bytes"], 2147485696)
        y = next(t for t in report["tensors"] if t["name"] == "y")
        self.assertEqual((y["bytes"], y["bytes_expression"]), (3 * 2147485696, "2147485696*B"))
        self.assertEqual([d["severity"] for d in report["diagnostics"]], ["warning"])
        self.fail_both_ways(2, "analyze", "large.textproto", "--strict")


class Memory(Case):
    def test_sum_of_outputs_is_not_the_peak(self):
        chain = " a = Relu(x) b = Relu(a) c = Relu(b) d = Relu(c)"
        one = self.analyze(HEAD + "g (float[1, 1000] x) => (d) {" + chain + " }",
                           "--mode", "inference")
        two = self.analyze(HEAD + "g (float[1, 1000] x) => (y) {" + chain + " y = Add(x, d) }",
                           "--mode", "inference")
        for report in (one, two):
            self.assertEqual(report["inference"]["peak"]["live_bytes"], 8000)
            self.assertEqual(report["inference"]["activation_peak_bytes"], 4000)

    def test_dropout_keeps_its_mask_alone(self):
        text = (HEAD + "g (float[4, 1024] x) => (y) <float[1024, 1024] w = %s> {"
                " h = MatMul(x, w) r = Constant<value = float {0.5}>()"
                " t = Constant<value = bool {1}>()"
                " y, m = Dropout(h, r, t) }" % values(1048576))
        report = self.analyze(text, "--mode", "training", "--loss", "sum")
        self.assertEqual(report["training"]["saved_excluding_inputs_bytes"], 4096)
        self.assertEqual(report["training"]["saved_bytes"], 4096 + 16384)

    def test_state_of_optimizers(self):
        text = (HEAD + "g (float[1, 1000] x) => (z) <float[1000, 1] w = %s, float[1, 24] v = %s> {"
                " y = MatMul(x, w) z = MatMul(y, v) }" % (values(1000), values(24)))
        for optimizer, state in (("sgd", 0), ("sgd-momentum", 4096), ("rmsprop", 4096),
                                 ("adagrad", 4096), ("adam", 8192), ("adamw", 8192),
                                 ("adam-amsgrad", 12288), ("adam:fused", 8192 + 2 * 4)):
            report = self.analyze(text, "--mode", "training", "--loss", "sum",
                                  "--optimizer", optimizer)
            self.assertEqual(report["training"]["parameter_bytes"], 4096)
            self.assertEqual(report["training"]["optimizer_state_bytes"], state, optimizer)

    def test_state_of_counts_of_parameters(self):
        for count, optimizer, state in (
                (138357544, "sgd-momentum", 553430176), (138357544, "adam", 1106860352),
                (32111170, "adam", 256889360)):
            report = self.succeed_in_json("bytes", "--params", str(count), "--optimizer", optimizer)
            fp32 = report["training"][0]
            self.assertEqual((fp32["parameter_bytes"], fp32["optimizer_state_bytes"]),
                             (4 * count, state))

    def test_paged_state_is_not_on_the_device(self):
        text = (HEAD + "g (float[1, 1000] x) => (y) "
                '<float[1000, 1000] w = ["location": "weights"]> { y = MatMul(x, w) }')
        training = self.analyze(text, "--mode", "training", "--loss", "sum", "--optimizer",
                                "adamw8bit:paged")["training"]
        scales = 2 * 4 * 3907  # a float32 for each block of 256
        self.assertEqual(training["unified_state_bytes"], 2000000)
        self.assertEqual(training["optimizer_state_bytes"], scales + 2 * 1024)

    def test_float16_autocast_scales_the_loss(self):
        (self.folder / "case.onnxtxt").write_text(
            HEAD + "g (float[8, 16] x) => (y) <float[16, 16] w = %s> { y = MatMul(x, w) }"
            % values(256))
        ask = ["analyze", "case.onnxtxt", "--mode", "training", "--loss", "sum"]
        for precision, more, scales in (
                ("amp-fp16", [], True), ("amp-fp16", ["--grad-scaler", "off"], False),
                ("amp-bf16", [], False), ("fp32", ["--grad-scaler", "on"], True)):
            training = self.succeed_in_json(*ask, "--precision", precision, "--optimizer", "sgd",
                                            *more)["training"]
            self.assertEqual(training["grad_scaler"], scales)
            self.assertEqual(training["optimizer_state_bytes"], 8 if scales else 0)
        self.fail_both_ways(3, *ask, "--precision", "fp16", "--grad-scaler", "on")

    def test_bytes_of_a_parameter(self):
        text = (HEAD + "g (float[1, 1000] x) => (y) "
                '<float[1000, 1000] w = ["location": "weights"]> { y = MatMul(x, w) }')
        for precision, each in (("fp32", (4, 4, 8)), ("mixed:master", (2, 2, 12)),
                                ("amp-bf16", (4, 4, 8)), ("bf16", (2, 2, 4))):
            training = self.analyze(text, "--mode", "training", "--loss", "sum", "--optimizer",
                                    "adam", "--precision", precision)["training"]
            kinds = ("parameter_bytes", "gradient_bytes", "optimizer_state_bytes")
            self.assertEqual([training[kind] for kind in kinds],
                             [1000000 * bytes for bytes in each], precision)

    def test_a_parameter_whose_contents_are_known_is_trained(self):
        text = (HEAD + "g (float[1, 4] x) => (y) <float[3, 4] w = %s> {"
                " t = Transpose(w) y = MatMul(x, t) }" % values(12))
        training = self.analyze(text, "--mode", "training", "--loss", "sum")["training"]
        self.assertEqual(training["gradient_bytes"], 48)
        self.assertEqual(training["optimizer_state_bytes"], 96)

    def test_sizes_beyond_64_bits_are_an_error(self):
        (self.folder / "case.onnxtxt").write_text(
            HEAD + "g (float[B, 4] x) => (y) { y = Relu(x) }")
        error = self.fail_both_ways(3, "analyze", "case.onnxtxt", "--dim", "B=%d" % (2**63 - 1))
        self.assertEqual(error["kind"], "overflow")

    # Two convolutions with pooling, two linear layers, batch 64.
    SMALL_NETWORK = (
        HEAD + "g (float[64, 3, 50, 50] x) => (y) <" + ", ".join(
            'float[%s] %s = ["location": "weights"]' % (shape, name) for name, shape in (
                ("w1", "32, 3, 3, 3"), ("b1", "32"), ("w2", "64, 32, 3, 3"), ("b2", "64"),
                ("w3", "500, 9216"), ("b3", "500"), ("w4", "10, 500"), ("b4", "10"))) + "> {"
        " c1 = Conv<pads = [1, 1, 1, 1]>(x, w1, b1)"
        " p1 = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(c1)"
        " c2 = Conv<pads = [1, 1, 1, 1]>(p1, w2, b2)"
        " p2 = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(c2) f = Flatten(p2)"
        " h = Gemm<transB = 1>(f, w3, b3) y = Gemm<transB = 1>(h, w4, b4) }")

    def test_small_network(self):
        for loss, beside, saved, needed in (("sum", 0, 53285888, 22565888),
                                            ("cross-entropy", 512, 53288452, 22568452)):
            report = self.analyze(self.SMALL_NETWORK, "--mode", "training", "--loss", loss,
                                  "--optimizer", "adam", "--accounting", "graph")
            training = report["training"]
            self.assertEqual(training["parameter_bytes"], 18531608)
            self.assertEqual(training["gradient_bytes"], 18531608)
            self.assertEqual(training["optimizer_state_bytes"], 37063216)
            self.assertEqual(training["saved_excluding_inputs_bytes"], saved)
            self.assertEqual(training["saved_bytes"], saved + 1920000 + beside)
            needs = report["gradient_needs"]
            self.assertEqual(needs["needed_excluding_inputs_bytes"], needed)
            self.assertEqual(needs["needed_bytes"], needed + 1920000 + beside)
            self.assertEqual((needs["surplus_bytes"], needs["instead_bytes"]), (30720000, 0))
            # What only max pooling keeps, of which it needs the shape.
            self.assertEqual([(s["name"], s["bytes"]) for s in needs["surplus"]],
                             [("c1", 20480000), ("c2", 10240000)])

    def test_graph_accounting_in_words(self):
        (self.folder / "case.onnxtxt").write_text(self.SMALL_NETWORK)
        text = self.succeed("analyze", "case.onnxtxt", "--mode", "training", "--loss", "sum",
                            "--accounting", "graph")
        self.assertRegex(text, r"needed +\S+ MiB +24,485,888\n")
        self.assertRegex(text, r"19\.53 MiB +c1 +no gradient reads its numbers")

    def test_dropout_in_inference_keeps_nothing(self):
        text = (HEAD + "g (float[4, 1024] x) => (y) <float[1024, 1024] w = %s> {"
                " h = MatMul(x, w) y = Dropout(h) }" % values(1048576))
        report = self.analyze(text, "--mode", "inference")
        self.assertEqual(report["inference"]["activation_peak_bytes"], 16384)

    def test_a_product_keeps_the_factor_of_what_trains(self):
        text = (HEAD + "g (float[4, 16, 1, 1] n) => (z) <float[4, 16, 8, 8] x = %s> {"
                " z = Mul(x, n) }" % values(4096))
        training = self.analyze(text, "--mode", "training", "--loss", "sum")["training"]
        self.assertEqual((training["saved_bytes"], training["saved_excluding_inputs_bytes"]),
                         (256, 0))

    def test_norm_and_gelu(self):
        text = (
            HEAD + "g (float[2, 10, 64] x) => (y) <float[64, 64] w = %s, float[64] b = %s,"
            " float[64] s = %s, float[64] t = %s> { m = MatMul(x, w) h = Add(m, b)"
            " n = LayerNormalization(h, s, t) y = Gelu(n) }"
            % tuple(values(n) for n in (4096, 64, 64, 64)))
        training = self.analyze(text, "--mode", "training", "--loss", "sum")["training"]
        self.assertEqual(training["saved_bytes"], 15520)
        self.assertEqual(training["saved_excluding_inputs_bytes"], 10400)
        # Low precision halves the tensors, not the statistics; no gradient reads one tensor twice.
        half = self.analyze(text, "--mode", "training", "--loss", "sum", "--precision", "fp16",
                            "--accounting", "graph")
        self.assertEqual(half["training"]["saved_bytes"], 3 * 2560 + 160)
        self.assertEqual(half["gradient_needs"]["surplus"], [])

    def test_checkpoints_save_what_lies_inside_a_segment_only(self):
        layers = "".join(
            ' node { name: "/layers.%d/Gemm" op_type: "Gemm" input: "h%d" input: "w%d"'
            ' output: "h%d" } initializer { name: "w%d" data_type: 1 dims: 256 dims: 256'
            ' raw_data: "%s" }' % (i, i, i, i + 1, i, "w" * 4 * 256 * 256) for i in range(8))
        value = '{ name: "%s" type { tensor_type { elem_type: 1 shape { %s } } } }'
        shape = "dim { dim_value: 137 } dim { dim_value: 256 }"
        (self.folder / "chain.textproto").write_text(
            'ir_version: 10 opset_import { version: 21 } graph { name: "g"' + layers + " input "
            + value % ("h0", shape) + " output " + value % ("h8", shape) + " }")
        each = 137 * 256 * 4
        for arguments, kept, segments in (
                ((), 8 * each, 0), (("--checkpoint", "every:1"), 8 * each, 8),
                (("--checkpoint", "every:4"), 2 * each, 2),
                (("--checkpoint", "sqrt"), 3 * each, 3),
                (("--checkpoint", "glob:layers.[0-3]"), 8 * each, 4)):
            training = self.succeed_in_json("analyze", "chain.textproto", "--mode", "training",
                                            "--loss", "sum", *arguments)["training"]
            self.assertEqual(training["saved_bytes"], kept, arguments)
            self.assertEqual(len(training["checkpoints"]), segments, arguments)
        report = self.succeed_in_json("analyze", "chain.textproto", "--mode", "training", "--loss",
                                      "sum", "--checkpoint", "every:4")
        again = [(s["first_step"], s["bytes"]) for s in report["storages"]
                 if s["reason"].startswith("made again") and s["first_step"] is not None]
        again.sort()
        for segment in (again[:3], again[3:]):
            self.assertEqual(sum(size for _, size in segment), 420864)


if __name__ == "__main__":
    unittest.main()
