"""HTML reports hold the figures of the JSON report, load nothing, and run nothing from a model."""

import base64
import hashlib
import html.parser
import itertools
import json
import re
import unittest

from command import SOURCE, CommandTest

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(html.parser.HTMLParser):
    """Well-formed, or an error; keeps each element's attributes and the text of raw elements."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], {"script": [], "style": []}
        self.shown = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data
        else:
            self.shown += data


def csp_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


class Html(CommandTest):
    def report(self, *arguments):
        page = Page(self.succeed("analyze", *arguments, "--format", "html"))
        return page, json.loads(page.texts["script"][0])

    def test_its_figures_are_those_of_the_json_report(self):
        arguments = (str(SOURCE / "models" / "mobilenet_v2.train_loss.onnx"), "--dim", "batch=2",
                     "--budget", "peak=24GiB")
        report = self.succeed_in_json("analyze", *arguments)
        page, data = self.report(*arguments)
        text = data["strings"].__getitem__
        for bytes_ in (report["training"]["peak"]["live_bytes"], report["parameters"]["bytes"],
                       report["training"]["saved_excluding_inputs_bytes"],
                       report["inference"]["peak"]["live_bytes"]):
            self.assertIn(f"{bytes_:,} bytes", page.shown)
        self.assertIn("kept", page.shown)
        self.assertEqual([run["run"] for run in data["runs"]], ["training", "inference"])
        for run in data["runs"]:
            peak = report[run["run"]]["peak"]
            live = list(itertools.accumulate(run["live"]))
            self.assertEqual(max(live), peak["live_bytes"])
            categories = [itertools.accumulate(c) for c in run["categories"].values()]
            self.assertEqual([sum(parts) for parts in zip(*categories)], live)
            alive = run["peak"]["live"]
            self.assertEqual(list(zip(map(text, alive["name"]), alive["bytes"])),
                             [(storage["name"], storage["bytes"]) for storage in peak["live"]])
        self.assertEqual(list(zip(map(text, data["tensors"]["name"]), data["tensors"]["bytes"])),
                         [(tensor["name"], tensor["bytes"]) for tensor in report["tensors"]])
        layers = data["layers"]
        self.assertEqual(list(map(text, layers["path"])),
                         [layer["path"] for layer in report["layers"]])
        self.assertEqual(layers["saved_activation"], [
            layer["bytes_with_children"]["saved_activation"] for layer in report["layers"]])

    def test_it_loads_nothing_and_runs_only_what_its_policy_names(self):
        page, _ = self.report("valid.onnxtxt")
        policy = next(attributes["content"] for tag, attributes in page.elements
                      if attributes.get("http-equiv") == "Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        for script in page.texts["script"][1:]:
            self.assertIn(csp_hash(script), policy)
        for style in page.texts["style"]:
            self.assertIn(csp_hash(style), policy)
            self.assertNotRegex(style, r"url\(|@import")
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("link", "iframe", "object", "embed", "img", "base"))
            self.assertNotIn("src", attributes)
            self.assertRegex(attributes.get("href") or "#", "^#")
            self.assertFalse([name for name in attributes if name.startswith("on")])
            self.assertNotIn("style", attributes)

    def test_the_chart_library_is_in_it(self):
        page, _ = self.report("valid.onnxtxt")
        self.assertIn("Apache ECharts", page.texts["script"][1],
                      "this build was configured without a network: see the warning of CMake")

    def test_names_from_a_model_are_text(self):
        name = "</script><script>alert(1)</script><!--&\u2028\"'"
        model = (self.folder / "hostile.textproto")
        quoted = "".join(f"\\{byte:03o}" for byte in name.encode())
        model.write_text(
            'ir_version: 8 opset_import { version: 17 } graph { name: "g"\n'
            f'node {{ op_type: "Relu" name: "{quoted}" input: "x" output: "{quoted}" }}\n'
            'input { name: "x" type { tensor_type { elem_type: 1 '
            'shape { dim { dim_value: 4 } } } } }\n'
            f'output {{ name: "{quoted}" type {{ tensor_type {{ elem_type: 1 '
            'shape { dim { dim_value: 4 } } } } } }')
        page, data = self.report(model.name)
        self.assertEqual(len(page.texts["script"]), 3)
        self.assertIn(name, data["strings"])
        self.assertNotRegex(page.texts["script"][0], "[<\u2028]")
        hostile = self.folder / "<img src=x onerror=1>.onnxtxt"
        hostile.write_text((self.folder / "valid.onnxtxt").read_text())
        page, _ = self.report(hostile.name)
        self.assertNotIn("img", [tag for tag, _ in page.elements])
        self.assertTrue(re.search("<img src=x onerror=1>", page.shown))

    def test_a_large_model_stays_small(self):
        page = self.succeed("analyze", str(SOURCE / "models" / "gpt2_xl.train_loss.onnx"),
                            "--dim", "sequence=1024", "--format", "html")
        self.assertLess(len(page.encode()), 5_000_000)


if __name__ == "__main__":
    unittest.main()
