#!/usr/bin/env python3
"""What a change does to the memory of the ONNX models it touches, as Markdown.

    changed_models.py --footprint BINARY --base COMMIT [--options TEXT] [--fail-on LIMITS]

Compares the working tree of the current git repository with COMMIT; none, or the zeros that GitHub
gives for a new branch, is the commit before. A limit without a plus ("peak>24GiB") holds for added
models too. Exit code: the worst of the single analyses (1: a limit is broken, 2: a model is wrong,
3: the options or COMMIT are).
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "<!-- footprint -->"
SUFFIXES = (".onnx", ".onnxtxt", ".textproto")


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE).stdout


def commit(base: str) -> str:
    base = base if base.strip("0") else "HEAD^"
    try:
        return git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}").decode().strip()
    except subprocess.CalledProcessError:
        raise ValueError(f"--base {base}: no commit of this clone; actions/checkout needs "
                         "fetch-depth: 0") from None


def changes(base: str) -> list[tuple[str, str, str]]:
    """Status, path before and path after of each changed model."""
    fields = git("diff", "--name-status", "-z", "--find-renames", base, "--").decode().split("\0")
    found, at = [], 0
    while at + 1 < len(fields):
        status, before = fields[at][:1], fields[at + 1]
        moved = status in "RC"
        after = fields[at + 2] if moved else before
        at += 3 if moved else 2
        if after.endswith(SUFFIXES):
            found.append((status, before, after))
    return found


class Analyzer:
    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder = given, folder
        self.base = commit(given.base)
        try:
            self.options = shlex.split(given.options)
        except ValueError as error:
            raise ValueError(f"--options {given.options}: {error}") from None
        self.limits = given.fail_on.split()
        self.code = 0

    def run(self, model: str, command: str, *arguments: str) -> str:
        """The document, or what the command says instead of one."""
        result = subprocess.run(
            [self.given.footprint, command, *self.options, "--format=markdown", *arguments],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.code = max(self.code, result.returncode)
        text = result.stdout or f"### `{model}`\n"
        if result.returncode:
            text += f"\n```\n{result.stderr.strip()}\n```\n"
        return text

    def section(self, status: str, before: str, after: str) -> str:
        if status == "D":
            return f"### `{after}` is removed\n"
        if status == "A":
            absolute = [re.fullmatch(r"([^>]+)>([^+]+)", limit) for limit in self.limits]
            budgets = [f"--budget={limit[1]}={limit[2]}" for limit in absolute if limit]
            return self.run(after, "analyze", *budgets, "--", after)
        old = self.folder / before
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_bytes(git("cat-file", "--filters", f"{self.base}:{before}"))
        limits = [f"--fail-on={limit}" for limit in self.limits]
        text = self.run(after, "diff", *limits, "--", str(old), after)
        return text.replace(str(old), f"{before} (before)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--footprint", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--options", default="")
    parser.add_argument("--fail-on", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            analyzer = Analyzer(given, Path(folder))
        except ValueError as error:
            print(f"{MARK}\n## Memory of changed models\n\n```\n{error}\n```")
            print(error, file=sys.stderr)
            return 3
        sections = [analyzer.section(*change) for change in changes(analyzer.base)]
    text = "\n".join([MARK, "## Memory of changed models", "", *sections])
    if not sections:
        text += "No model changed.\n"
    sys.stdout.write(text)
    return analyzer.code


if __name__ == "__main__":
    sys.exit(main())
