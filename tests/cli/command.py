"""Runs the built command as a user's script would, and the small models that its tests are fed."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ["FOOTPRINT_BINARY"]
SOURCE = pathlib.Path(os.environ["FOOTPRINT_SOURCE_DIR"])

_HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
_WEIGHT = "<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>"

VALID = _HEAD + "g (float[N, 4] x) => (float[N, 3] y) %s { y = MatMul(x, w) }\n" % _WEIGHT
# The weight may be overridden by a caller: legal, and worth a remark.
REMARKED = (
    _HEAD
    + "g (float[N, 4] x, float[4, 3] w) => (float[N, 3] y) %s { y = MatMul(x, w) }\n" % _WEIGHT
)
MADE_TWICE = _HEAD + "g (float[N] x) => (float[N] y) { y = Relu(x)  y = Tanh(x) }\n"
NOT_A_MODEL = "this is not a model\n"


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, in which the command runs."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in {
            "valid": VALID,
            "remarked": REMARKED,
            "made_twice": MADE_TWICE,
            "not_a_model": NOT_A_MODEL,
        }.items():
            (self.folder / (name + ".onnxtxt")).write_text(text)

    def run_command(self, *arguments, stdin=b"", stdout=subprocess.PIPE, **environment):
        surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        surroundings.update(environment)
        return subprocess.run(
            [BINARY, *arguments],
            cwd=self.folder,
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=surroundings,
            timeout=120,
            check=False,
        )

    def succeed(self, *arguments, **more):
        result = self.run_command(*arguments, **more)
        self.assertEqual(result.returncode, 0, (arguments, result.stderr.decode()))
        return result.stdout.decode()

    def succeed_in_json(self, *arguments, **more):
        return json.loads(self.succeed(*arguments, "--format", "json", **more),
                          object_pairs_hook=self.unique)

    def unique(self, pairs):
        """The members of a JSON object, none of which may stand there twice."""
        members = dict(pairs)
        self.assertEqual(len(members), len(pairs), [key for key, _ in pairs])
        return members

    def fail_as_text(self, exit_code, *arguments, **more):
        """Fails as text: nothing on standard output, a message on standard error."""
        result = self.run_command(*arguments, **more)
        stderr = result.stderr.decode()
        self.assertEqual(result.returncode, exit_code, (arguments, stderr))
        self.assertEqual(result.stdout, b"", arguments)
        self.assertRegex(stderr, r"\Afootprint: ", arguments)
        self.assertIn("error: ", stderr, arguments)
        return stderr

    def fail_in_json(self, exit_code, *arguments, **more):
        """Fails as JSON: one document on standard output, the same exit code."""
        result = self.run_command(*arguments, "--format", "json", **more)
        self.assertEqual(result.returncode, exit_code, (arguments, result.stderr.decode()))
        document = json.loads(result.stdout)
        self.assertEqual(document["schema"], "footprint-report/1")
        self.assertEqual(document["error"]["exit_code"], exit_code)
        self.assertTrue(document["error"]["message"])
        self.assertIn("error", [d["severity"] for d in document["diagnostics"]])
        return document

    def fail_both_ways(self, exit_code, *arguments, **more):
        stderr = self.fail_as_text(exit_code, *arguments, **more)
        document = self.fail_in_json(exit_code, *arguments, **more)
        self.assertIn(document["error"]["message"], stderr)
        return document["error"]
