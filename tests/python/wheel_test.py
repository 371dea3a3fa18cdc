"""`pip install .` into an environment of its own, and what a newcomer does with it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import venv

from package import SOURCE

# What a fresh clone has, the history left out.
LEFT_OUT = shutil.ignore_patterns(".git", "build", "venv", ".venv", "__pycache__")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shutil.copytree(SOURCE, cls.folder / "clone", ignore=LEFT_OUT)
        venv.create(cls.folder / "venv", with_pip=True)
        cls.python = cls.folder / "venv/bin/python"
        cls.surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        cls.run_there(cls.python, "-m", "pip", "install", "--quiet",
                      "--disable-pip-version-check", ".[pandas]", cwd="clone")

    @classmethod
    def run_there(cls, *command, cwd=".") -> str:
        result = subprocess.run(command, cwd=cls.folder / cwd, env=cls.surroundings, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if result.returncode:
            raise AssertionError(f"{command}: {result.stdout}")
        return result.stdout

    def test_the_readme(self):
        text = (SOURCE / "README.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        [example] = [block for block in blocks if "to_pandas" in block]
        shown = self.run_there(self.python, "-c", example, cwd="clone")
        behind = text.split(example)[1].split("```\n")
        self.assertEqual(shown, behind[2])

    def test_the_command(self):
        command = self.folder / "venv/bin/footprint"
        self.assertRegex(self.run_there(command, "--version"), r"footprint \d+\.\d+\.\d+\n")
        model = SOURCE / "models/resnet50.train_loss.onnx"
        code = ("import sys, onnx_footprint;"
                f"sys.stdout.write(onnx_footprint.analyze({str(model)!r}).to_json())")
        self.assertEqual(self.run_there(self.python, "-c", code),
                         self.run_there(command, "analyze", model, "--format", "json"))

    def test_it_needs_nothing_of_the_build(self):
        [package] = self.folder.glob("venv/lib/python*/site-packages/onnx_footprint")
        shutil.rmtree(self.folder / "clone/build", ignore_errors=True)
        [module] = package.glob("_core*.so")
        sections = self.run_there("readelf", "--dynamic", module)
        self.assertNotRegex(sections, "RPATH|RUNPATH|libfootprint|libonnx")
        self.assertTrue((package / "py.typed").exists())
        self.assertIn("class Report", (package / "_core.pyi").read_text())


if __name__ == "__main__":
    unittest.main()
