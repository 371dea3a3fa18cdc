"""analyze(): the command's own documents, from paths, bytes and ModelProtos."""

import copy
import json
import os
import pathlib
import pickle
import re
import signal
import tempfile
import threading
import time
import typing
import unittest

import onnx

import onnx_footprint
from onnx_footprint import ModelError, UsageError, analyze
from package import MODELS, SOURCE, command, linear

OPTIONS = [
    ([], {}),
    (["--mode", "training", "--optimizer", "sgd-momentum", "--precision", "bf16"],
     {"mode": "training", "optimizer": "sgd-momentum", "precision": "bf16"}),
    (["--dim", "batch=2..4", "--device", "a100-80gb", "--fit", "batch", "--budget", "peak=1MB",
      "--accounting", "graph", "--config", "none"],
     {"dim": {"batch": range(2, 5)}, "device": "a100-80gb", "fit": "batch",
      "budget": {"peak": "1MB"}, "accounting": "graph", "config": "none"}),
]


class Documents(unittest.TestCase):
    maxDiff = None

    def same(self, expected: bytes, document: str, what) -> None:
        self.assertTrue(expected, what)
        self.assertEqual(document.encode(), expected, what)

    def test_the_document_of_a_path_is_the_commands(self):
        self.assertGreater(len(MODELS), 7)
        for model in MODELS:
            for flags, options in OPTIONS:
                if "--fit" in flags and b"batch" not in model.read_bytes():
                    continue
                expected = command("analyze", *flags, "--format", "json", str(model)).stdout
                self.same(expected, analyze(model, **options).to_json(), (model.name, flags))

    def test_every_other_format_too(self):
        model = str(MODELS[-1])
        report = analyze(model)
        for name in ("csv:tensors", "csv:storages", "csv:layers", "csv:timeline", "markdown",
                     "html", "netron", "perfetto", "sarif", "junit", "text"):
            expected = command("analyze", model, "--format", name).stdout
            self.same(expected, report.document(name), name)
        self.assertEqual(str(report), report.document("text"))
        with self.assertRaisesRegex(ValueError, "no such format: pdf"):
            report.document("pdf")
        with self.assertRaisesRegex(ValueError, "no dimension has several values"):
            report.document("csv:sweep")

    def test_bytes_and_model_protos_are_read_as_from_standard_input(self):
        for model in MODELS:
            if model.suffix != ".onnx":
                continue
            contents = model.read_bytes()
            expected = command("analyze", "-", "--format", "json", stdin=contents).stdout
            proto = onnx.load(model, load_external_data=False)
            for source in (contents, bytearray(contents), memoryview(contents), proto):
                self.same(expected, analyze(source).to_json(), (model.name, type(source)))

    def test_a_name_and_its_ending(self):
        report = analyze(linear().encode(), name="small.onnxtxt", dim={"N": 8})
        self.assertEqual(report.model_path, "small.onnxtxt")
        self.assertEqual(report.parameter_bytes, 48)
        self.assertEqual([(b.name, b.value, b.assumed) for b in report.bindings], [("N", 8, False)])

    def test_values_of_inputs(self):
        text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[12] x, int64[2] s) => (y) { y = Reshape(x, s) }"""
        report = analyze(text.encode(), name="m.onnxtxt", input_value={"s": [3, 4]})
        self.assertEqual({t.name: t.shape for t in report.tensors}["y"], [3, 4])
        report = analyze(linear().encode(), name="m.onnxtxt", input={"x": [5, 4]})
        self.assertEqual({t.name: t.shape for t in report.tensors}["y"], [5, 3])

    def test_a_model_that_is_no_file_reads_no_configuration(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "footprint.toml").write_text('optimizer = "sgd"\n')
            (folder / "m.onnxtxt").write_text(linear())
            label, text = str(folder / "m.onnxtxt"), linear().encode()
            optimizers = [report.training.optimizer for report in (
                analyze(label), analyze(text, name=label), analyze(text, name=label, config=None),
                analyze(text, name=label, config=folder / "footprint.toml"))]
            self.assertEqual(optimizers, ["sgd", "adamw", "adamw", "sgd"])

    def test_a_report_travels_whole(self):
        for _, options in OPTIONS:
            report = analyze(MODELS[0], **options)
            for again in (pickle.loads(pickle.dumps(report)), copy.copy(report),
                          copy.deepcopy(report)):
                for name in ("json", "html", "csv:timeline", "text", "junit"):
                    self.assertEqual(again.document(name), report.document(name), name)
        tensor = report.tensors[0]
        self.assertEqual(repr(pickle.loads(pickle.dumps(tensor))), repr(tensor))
        with self.assertRaisesRegex(ValueError, "another version"):
            type(tensor).__new__(type(tensor)).__setstate__(tensor.__getstate__()[1:])

    def test_text_that_is_not_utf8(self):
        producer = b"\x12\x04a\xff\xfeb"
        model = onnx.parser.parse_model(linear()).SerializeToString() + producer
        report = analyze(model)
        self.assertEqual(report.producer, "a\ufffd\ufffdb")
        self.assertEqual(json.loads(report.to_json())["graph"]["producer"], report.producer)


class Refusals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_wrong_model(self):
        for name in sorted(os.listdir(SOURCE / "tests/cases/bad"))[:40]:
            path = SOURCE / "tests/cases/bad" / name
            result = command("analyze", str(path), "--format", "json")
            if result.returncode != 2:
                continue
            with self.assertRaises(ModelError) as raised:
                analyze(path)
            self.assertEqual(raised.exception.to_json().encode(), result.stdout)
            document = json.loads(result.stdout)
            self.assertIn(document["error"]["message"], str(raised.exception))
            self.assertEqual([d.message for d in raised.exception.diagnostics],
                             [d["message"] for d in document["diagnostics"]])

    def test_what_the_caller_got_wrong(self):
        model = self.folder / "model.onnxtxt"
        model.write_text(linear())
        for options, word in (({"dim": {"M": 2}}, "M"), ({"dim": {"N": 0}}, "positive"),
                              ({"optimizer": "adamv"}, "expected one of"),
                              ({"freeze": "nothing.*"}, "no parameter matches"),
                              ({"budget": {"peek": 1}}, "peek")):
            with self.assertRaises(UsageError) as raised:
                analyze(model, **options)
            self.assertIn(word, str(raised.exception), options)
            self.assertEqual(json.loads(raised.exception.to_json())["error"]["exit_code"], 3)
        with self.assertRaises(UsageError):
            analyze(self.folder / "missing.onnx")
        with self.assertRaisesRegex(TypeError, "did you mean 'optimizer'"):
            analyze(model, optimiser="adamw")
        with self.assertRaisesRegex(TypeError, "expected a path, bytes"):
            analyze(7)

    def test_names_of_files_are_those_that_open_takes(self):
        named = self.folder / os.fsdecode(b"m\xff.onnxtxt")
        for path in (named, str(named)):
            with self.assertRaisesRegex(UsageError, "m\ufffd.onnxtxt: ") as raised:
                analyze(path)
            str(raised.exception).encode()
        named.write_text(linear())
        expected = command("analyze", os.fsencode(named), "--format", "json").stdout

        class BytesPath:
            def __fspath__(self):
                return os.fsencode(named)

        for path in (named, str(named), BytesPath()):
            self.assertEqual(analyze(path).to_json().encode(), expected)
        model = self.folder / "model.onnxtxt"
        model.write_text(linear())
        for call in (lambda: analyze(f"{model}\0zz"), lambda: analyze(b"", name="a\0b"),
                     lambda: analyze(model, config="none\0b"), lambda: analyze("\ud800"),
                     lambda: analyze(""), lambda: analyze("-"), lambda: analyze(b"", name=""),
                     lambda: analyze(model, freeze=["w\0"])):
            self.assertRaises(ValueError, call)

    def test_types_of_other_kinds(self):
        text = linear().encode()

        class Odd:
            def SerializeToString(self):  # noqa: N802
                return "text"

        for call, word in ((lambda: analyze(text, name=3), "name: expected a str, got int"),
                           (lambda: analyze(Odd()), "expected bytes from SerializeToString"),
                           (lambda: analyze(text, dim={"N": b"2"}), "dim: expected text or num"),
                           (lambda: analyze(text, accumulate=b"2"), "accumulate: expected text"),
                           (lambda: analyze(text, freeze=bytearray(b"w")), "freeze: expected"),
                           (lambda: analyze(text, input={"x": b"2"}), "input: expected text")):
            with self.assertRaisesRegex(TypeError, word):
                call()

    def test_exceptions_travel(self):
        with self.assertRaises(ModelError) as raised:
            analyze(b"nonsense", name="n")
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual(str(again), str(raised.exception))
        self.assertEqual(again.to_json(), raised.exception.to_json())
        self.assertEqual(again.diagnostics[0].message, raised.exception.diagnostics[0].message)


class Threads(unittest.TestCase):
    def test_an_analysis_does_not_hold_the_interpreter(self):
        # The analysis waits for what this thread is still to write.
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "model.onnxtxt")
            os.mkfifo(pipe)
            found = []
            thread = threading.Thread(target=lambda: found.append(analyze(pipe)), daemon=True)
            thread.start()
            with open(pipe, "w", encoding="utf-8") as file:
                file.write(linear())
            thread.join(60)
            self.assertFalse(thread.is_alive())
            self.assertEqual(found[0].parameter_bytes, 48)

    def test_a_signal_ends_an_analysis_of_many_values(self):
        # All of them take minutes.
        def handler(*_):
            raise InterruptedError("by the test")

        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        begin = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 1)
        with self.assertRaisesRegex(InterruptedError, "by the test"):
            analyze(SOURCE / "models/resnet50.train_loss.onnx", dim={"batch": range(1, 100001)})
        self.assertLess(time.monotonic() - begin, 30)

    def test_eight_threads_find_what_one_finds(self):
        expected = {model: analyze(model).to_json() for model in MODELS}
        differences = []

        def work(offset):
            for i in range(len(MODELS)):
                model = MODELS[(i + offset) % len(MODELS)]
                if analyze(model).to_json() != expected[model]:
                    differences.append(model)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(differences, [])


class Options(unittest.TestCase):
    def test_they_are_those_of_the_command(self):
        help_text = command("analyze", "--help").stdout.decode()
        offered = {line.split()[0].lstrip("-").replace("-", "_")
                   for line in help_text.splitlines() if line.startswith("  --")}
        of_documents = {"help", "format", "output", "color", "quiet", "depth", "dump"}
        self.assertEqual(set(onnx_footprint.Options.__annotations__), offered - of_documents)

    def test_their_choices_too(self):
        help_text = command("analyze", "--help").stdout.decode()
        offered = {name.replace("-", "_"): set(words.split("|")) for name, words in re.findall(
            r"^  --([a-z-]+) ([a-z0-9:-]+(?:\|[a-z0-9:-]+)+)(?=\s)", help_text, re.MULTILINE)}
        del offered["color"]
        hints = typing.get_type_hints(onnx_footprint.Options)
        literals = {name: set(typing.get_args(hint)) for name, hint in hints.items()
                    if typing.get_origin(hint) is typing.Literal}
        self.assertGreater(len(literals), 9)
        self.assertEqual(literals, offered)


if __name__ == "__main__":
    unittest.main()
