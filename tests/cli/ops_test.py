"""What footprint knows of operators, and contents of inputs from files."""

import struct
import unittest

from command import CommandTest

RESHAPE = ('<ir_version: 10, opset_import: ["" : 21]>\n'
           "g (float[N, 6] x, int64[k] s, float[N, 6] z) => (y) { y = Reshape(x, s) }\n")
FOREIGN = ('<ir_version: 10, opset_import: ["" : 21, "com.example" : 3]>\n'
           "g (float[4] x) => (float[4] y, z) { h = Relu(x) y = com.example.Twist(h)"
           " z = com.example.Twist(y) }\n")


def npy(descr, shape, elements, version=1, fortran="False"):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header = header.encode() + b" " * 7 + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes((version, 0)) + length + header + elements


def tensor(element, dims, raw):
    text = b"".join(bytes((0x08, size)) for size in dims) + bytes((0x10, element))
    return text + bytes((0x4A, len(raw))) + raw


class Ops(CommandTest):
    def test_rows_of_onnx(self):
        rows = {(r["domain"], r["name"], r["since"]): r
                for r in self.succeed_in_json("ops")["operators"]}
        self.assertEqual(rows["ai.onnx", "Relu", 1]["in_place"], [0])
        self.assertEqual(rows["ai.onnx", "Reshape", 1]["alias"], 0)
        self.assertTrue(rows["ai.onnx", "Shape", 1]["value_rule"])
        self.assertEqual(rows["ai.onnx", "Loop", 1]["control"], "loop")
        text = self.succeed("ops")
        self.assertRegex(text, r"\n  Reshape +1- +rule +rule +operand 0")
        self.assertRegex(text, r"\n  com\.microsoft::BiasGelu +1- +rule")

    def test_rows_of_torch(self):
        rows = {r["name"]: r for r in self.succeed_in_json("ops", "--torch")["operators"]}
        relu = rows["aten::relu"]
        self.assertEqual((relu["layout"], relu["saved"], relu["gradients"]),
                         ("like operands", ["result"], ["self"]))
        self.assertIn("indices", rows["aten::max_pool2d"]["saved"])
        self.assertEqual(rows["aten::addmm"]["autocast"], "low precision")
        self.assertTrue(rows["aten::view"]["acted_out"])
        self.assertRegex(self.succeed("ops", "--torch"), r"\n  aten::relu +like operands +result")

    def test_what_a_model_misses(self):
        (self.folder / "foreign.onnxtxt").write_text(FOREIGN)
        missing = self.succeed_in_json("ops", "--missing", "foreign.onnxtxt")["operators"]
        self.assertEqual([(m["domain"], m["name"], m["version"], m["nodes"]) for m in missing],
                         [("com.example", "Twist", 3, 2)])
        self.assertEqual(self.succeed_in_json("ops", "--missing", "valid.onnxtxt")["operators"], [])
        self.assertIn("every operator", self.succeed("ops", "--missing", "valid.onnxtxt"))
        self.fail_both_ways(2, "ops", "--missing", "not_a_model.onnxtxt")
        self.fail_both_ways(3, "ops", "--missing", "nowhere.onnx")
        self.fail_both_ways(3, "ops", "--torch", "--missing", "valid.onnxtxt")


class InputValues(CommandTest):
    def shape_of_y(self, value):
        (self.folder / "reshape.onnxtxt").write_text(RESHAPE)
        report = self.succeed_in_json("analyze", "reshape.onnxtxt", "--dim", "N=4",
                                      "--input-value", value, "--mode", "inference")
        return next(t["shape"] for t in report["tensors"] if t["name"] == "y")

    def fails(self, value):
        (self.folder / "reshape.onnxtxt").write_text(RESHAPE)
        return self.fail_both_ways(3, "analyze", "reshape.onnxtxt", "--input-value", value)

    def write(self, name, content):
        (self.folder / name).write_bytes(content)
        return "s=@" + name

    def test_on_the_command_line(self):
        self.assertEqual(self.shape_of_y("s=[2,-1]"), [2, 12])

    def test_saved_by_numpy(self):
        longs = struct.pack("<3q", 2, -1, 3)
        for version in (1, 2):
            self.assertEqual(self.shape_of_y(self.write("s.npy", npy("<i8", (3,), longs, version))),
                             [2, 4, 3])
        shorts = struct.pack("<2h", -1, 3)
        self.assertEqual(self.shape_of_y(self.write("s.npy", npy("<i2", (2,), shorts))), [8, 3])

    def test_a_tensor_proto(self):
        longs = struct.pack("<2q", 8, 3)
        self.assertEqual(self.shape_of_y(self.write("s.pb", tensor(7, (2,), longs))), [8, 3])

    def test_all_64_bits(self):
        (self.folder / "slice.onnxtxt").write_text(
            '<ir_version: 10, opset_import: ["" : 21]>\n'
            "g (float[9] x, int64[1] b, int64[1] e) => (y) { y = Slice(x, b, e) }\n")
        for end in ("e=[9223372036854775807]",
                    self.write("e.npy", npy("<i8", (1,), struct.pack("<q", 2**63 - 1)))):
            report = self.succeed_in_json("analyze", "slice.onnxtxt", "--input-value", "b=[2]",
                                          "--input-value", end.replace("s=", "e="))
            self.assertEqual([t["shape"] for t in report["tensors"] if t["name"] == "y"], [[7]])

    def test_what_does_not_fit(self):
        two = struct.pack("<2q", 8, 3)
        for name, content in (("short.npy", npy("<i8", (3,), two)), ("cut.npy", b"\x93NUMPY\1\0"),
                              ("strings.npy", npy("<U2", (2,), two)),
                              ("empty.pb", b""), ("short.pb", tensor(7, (3,), two)),
                              ("strings.pb", tensor(8, (2,), two)), ("text.pb", b"nonsense"),
                              ("big.npy", npy(">i8", (2,), two)),
                              ("columns.npy", npy("<i8", (1, 2), two, fortran="True"))):
            self.assertEqual(self.fails(self.write(name, content))["kind"], "bad-value", name)
        self.assertEqual(self.fails(self.write("m.npy", npy("<i8", (1, 2), two)))["kind"],
                         "rank-mismatch")
        halves = struct.pack("<2d", 0.5, 1)
        self.assertEqual(self.fails(self.write("f.npy", npy("<f8", (2,), halves)))["kind"],
                         "value-type")
        floats = self.write("x.npy", npy("<f4", (4, 5), bytes(80))).replace("s=", "x=")
        self.assertEqual(self.fails(floats)["kind"], "value-shape")


if __name__ == "__main__":
    unittest.main()
