"""backend/action/changed_models.py, which the GitHub Action runs, in a repository of its own."""

import subprocess
import sys
import unittest

from command import BINARY, SOURCE, VALID, CommandTest

WIDER = VALID.replace("float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}",
                      "float[4, 6] w = {" + "1, " * 23 + "1}").replace("[N, 3] y", "[N, 6] y")


class Action(CommandTest):
    def setUp(self):
        super().setUp()
        for path in self.folder.iterdir():
            path.unlink()
        self.git("init", "--quiet", "--initial-branch=main")
        for name in ("kept", "changed", "removed", "moved name"):
            self.write(name, VALID.replace("g (", name.split()[0] + " ("))
        self.commit()

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments],
                              cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def write(self, name, text):
        (self.folder / f"{name}.onnxtxt").write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=m")

    def changed(self, code, *arguments, base="HEAD~1"):
        result = subprocess.run(
            [sys.executable, SOURCE / "backend/action/changed_models.py", "--footprint", BINARY,
             "--base", base, *arguments], cwd=self.folder, capture_output=True, text=True,
            check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def test_each_change_has_its_section(self):
        self.write("changed", WIDER)
        self.write("added", VALID)
        self.git("mv", "moved name.onnxtxt", "elsewhere.onnxtxt")
        self.git("rm", "--quiet", "removed.onnxtxt")
        (self.folder / "notes.txt").write_text("no model")
        self.commit()
        text = self.changed(0, "--options", "--dim N=8 --optimizer sgd")
        self.assertTrue(text.startswith("<!-- footprint -->\n"))
        sections = {part.split("\n")[0]: part for part in text.split("### ")[1:]}
        changed = "Memory: `changed.onnxtxt (before)` → `changed.onnxtxt`"
        self.assertEqual(set(sections), {
            "Memory of `added.onnxtxt`", changed, "`removed.onnxtxt` is removed",
            "Memory: `moved name.onnxtxt (before)` → `elsewhere.onnxtxt`"})
        self.assertIn("+48", sections[changed])
        self.assertNotIn("/tmp", text)

    def test_limits_and_what_is_wrong(self):
        self.write("changed", WIDER)
        self.commit()
        text = self.changed(1, "--fail-on", "parameters>+10% peak>1GiB")
        self.assertIn("budget broken", text)
        self.write("changed", "no model")
        self.commit()
        self.assertIn("error", self.changed(2))
        self.assertIn("expected one of", self.changed(3, "--options", "--optimizer none"))

    def test_an_absolute_limit_holds_for_what_is_new(self):
        self.write("added", VALID)
        self.commit()
        self.assertIn("budget broken", self.changed(1, "--fail-on", "peak>1 parameters>+1%"))
        self.changed(0, "--fail-on", "peak>1GiB")

    def test_no_base_is_the_commit_before(self):
        self.write("added", VALID)
        self.commit()
        for base in ("", "0" * 40):
            self.assertIn("`added.onnxtxt`", self.changed(0, base=base))
        self.assertIn("no commit of this clone", self.changed(3, base="f" * 40))
        self.assertIn("No closing quotation", self.changed(3, "--options", "--dim 'N=2"))

    def test_nothing_changed(self):
        self.assertIn("No model changed.", self.changed(0, base="HEAD"))


if __name__ == "__main__":
    unittest.main()
