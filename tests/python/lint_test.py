"""The files that GitHub and pre-commit read: by their schemas and linters."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from package import SOURCE

PROGRAMS = pathlib.Path(sys.executable).parent
ACTION = SOURCE / "action.yml"


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def clean(self, program, *arguments):
        result = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True,
                                timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def workflow(self):
        """The example of README.md."""
        blocks = re.findall(r"```yaml\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL)
        [text] = [block for block in blocks if "jobs:" in block]
        path = self.folder / "workflow.yml"
        path.write_text(text)
        return path

    def test_the_action(self):
        self.clean("check-jsonschema", "--builtin-schema", "vendor.github-actions", ACTION)
        self.clean("zizmor", "--offline", "--no-config", ACTION)

    def test_its_scripts(self):
        for i, step in enumerate(yaml.safe_load(ACTION.read_text())["runs"]["steps"]):
            script = self.folder / f"{i}.sh"
            script.write_text("#!/usr/bin/env bash\nset -e\n" + step["run"] + "\n")
            self.clean("shellcheck", script)

    def test_the_example_of_the_readme(self):
        path = self.workflow()
        self.clean("check-jsonschema", "--builtin-schema", "vendor.github-workflows", path)
        [job] = yaml.safe_load(path.read_text())["jobs"].values()
        given = job["steps"][-1]["with"]
        offered = yaml.safe_load(ACTION.read_text())["inputs"]
        self.assertTrue(given)
        self.assertLessEqual(set(given), set(offered))

    def test_the_hook(self):
        self.clean("pre-commit", "validate-manifest", SOURCE / ".pre-commit-hooks.yaml")


if __name__ == "__main__":
    unittest.main()
