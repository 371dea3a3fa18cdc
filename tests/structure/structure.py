#!/usr/bin/env python3
"""Checks the shape of the source tree: structure.py ROOT; prints every breach and exits 1 if any.

What is checked, each by one function: the top level, includes between folders, public headers,
widths and lengths, operator names outside their tables, text that ties the project to one machine.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "action.yml", "pyproject.toml",
    "backend", "frontend", "ir", "models", "passes", "tests",
}
UNTRACKED = {".git", "build", "venv", ".venv", "__pycache__"}
MAY_INCLUDE = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "backend": {"backend", "frontend", "passes", "ir"},
    "tests": {"backend", "frontend", "ir", "passes", "tests"},
}
KNOWS_ONNX = (
    "frontend/", "tests/frontend/", "tests/benchmarks/", "tests/conformance/", "tests/consumer/",
    "tests/fuzz/",
)
PUBLIC_HEADERS = ("backend/analyze.h", "backend/options.h", "backend/report.h")
# Passes and backends ask the tables about an operator, they do not know it by name.
NAMELESS = ("passes/", "backend/")
NAMES_ALLOWED = ("backend/runtime/",)
MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_WIDTH = 600, 60, 100
CPP = {".h", ".cpp"}
CODE = CPP | {".py", ".cmake"}
TEXT = CODE | {".txt", ".json", ".md", ".sh", ".in", ""}
# Spelled so that this file does not match itself.
PLACES = re.compile(
    r"(?<![\w.])/(wor[k]|hom[e]|roo[t]|far[m]|User[s])/[a-z]"
    r"|pypi[.]org|pythonhoste[d]|deb[.]debian|registry[.]npm|[.][.]/share[d]|bash_job[s]"
)


@dataclass(frozen=True)
class Source:
    path: str
    text: str

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def folder(self) -> str:
        return self.path.split("/")[0]


def read_tree(root: Path) -> Iterator[Source]:
    pending = [root]
    while pending:
        for entry in sorted(pending.pop().iterdir()):
            if entry.name in UNTRACKED:
                continue
            if entry.is_dir():
                pending.append(entry)
            elif entry.suffix in TEXT:
                text = entry.read_text(encoding="utf-8", errors="replace")
                yield Source(entry.relative_to(root).as_posix(), text)


# --- C++ as a sequence of lines in which comments and literals are blank -------------------------

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^ ()\\\t\n]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)


def blank(text: str) -> str:
    """The text with comments, literals and preprocessor lines as spaces; line breaks stay."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def literals(text: str) -> Iterator[tuple[int, str]]:
    for match in TOKEN.finditer(text):
        if match.group().startswith('"'):
            yield text.count("\n", 0, match.start()) + 1, match.group()[1:-1]


FUNCTION_HEAD = re.compile(
    r"\)\s*(const|noexcept(\s*\([^()]*\))?|override|final|mutable|constexpr|try|&&?|->[^;{}]*|\s)*$"
)
LAMBDA_HEAD = re.compile(r"\[[^\[\]]*\]\s*$")
TABLE_HEAD = re.compile(r"^static\s+const(expr)?\b.*=[^()]*$", re.DOTALL)
TRANSPARENT_HEAD = re.compile(r"(^|[\s>])(namespace|class|struct|union|extern)\b")


def functions(text: str) -> Iterator[tuple[int, int, str]]:
    """First line, number of lines and head of each outermost function body.

    A block is a function's if its head ends like a parameter list or a lambda's capture. Blocks of
    namespaces, classes and initializers are looked into, those within a function are part of it,
    but for the lines of a static table: rows are data, however many there are.
    """
    code = blank(text)
    line, head_start, depth = 1, 0, 0
    body_depth, body_line, body_head = None, 0, ""
    table_depth, table_line, table_lines = None, 0, 0
    for position, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == "{":
            head = code[head_start:position].strip()
            if body_depth is None and is_function(head, code[:position]):
                body_depth, body_line, body_head = depth, line, " ".join(head.split())
                table_lines = 0
            elif body_depth is not None and table_depth is None and TABLE_HEAD.search(head):
                table_depth, table_line = depth, line
            depth += 1
            head_start = position + 1
        elif character == "}":
            depth -= 1
            if table_depth == depth:
                table_lines += line - table_line
                table_depth = None
            if body_depth == depth:
                yield body_line, line - body_line + 1 - table_lines, body_head
                body_depth = None
            head_start = position + 1
        elif character == ";":
            head_start = position + 1


def is_function(head: str, before: str) -> bool:
    if TRANSPARENT_HEAD.search(head) and not head.endswith(")"):
        return False
    # "F() : x_{x} {": what follows a member's initializer is the constructor's body.
    follows_member = not head and before.rstrip().endswith("}")
    return bool(FUNCTION_HEAD.search(head) or LAMBDA_HEAD.search(head) or follows_member)


# --- Checks: each yields "place: what is wrong" --------------------------------------------------


def check_top_level(root: Path) -> Iterator[str]:
    for entry in sorted(root.iterdir()):
        if entry.name not in TOP_LEVEL | UNTRACKED and not entry.name.startswith("."):
            yield f"{entry.name}: not one of the top level's entries"


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def includes(source: Source) -> Iterator[tuple[int, str, str]]:
    if source.suffix in CPP:
        for match in INCLUDE.finditer(source.text):
            yield source.text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def check_includes(source: Source) -> Iterator[str]:
    allowed = MAY_INCLUDE.get(source.folder)
    if allowed is None or source.path.startswith("tests/consumer/"):
        return
    for line, quote, path in includes(source):
        place = f"{source.path}:{line}"
        folder = path.split("/")[0]
        if folder in MAY_INCLUDE and folder not in allowed:
            yield f"{place}: {source.folder}/ does not include {folder}/ ({path})"
        is_onnx = path.startswith(("onnx/", "google/protobuf/"))
        if is_onnx and not source.path.startswith(KNOWS_ONNX):
            yield f"{place}: only frontend/ knows ONNX and protobuf ({path})"
        is_known = folder in MAY_INCLUDE or folder == "absl"
        if source.folder == "ir" and "/" in path and not is_known:
            yield f"{place}: ir/ depends on Abseil alone ({path})"
        if quote == '"' and "/" not in path:
            yield f"{place}: write the path from the root ({path})"


def check_public_headers(source: Source) -> Iterator[str]:
    if source.path not in PUBLIC_HEADERS:
        return
    for line, _, path in includes(source):
        if path not in PUBLIC_HEADERS and not re.fullmatch(r"[a-z_]+", path):
            yield f"{source.path}:{line}: a public header includes only std ({path})"


def check_sizes(source: Source) -> Iterator[str]:
    if source.suffix not in CODE:
        return
    lines = source.text.splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield f"{source.path}: {len(lines)} lines, at most {MAX_FILE_LINES}"
    for number, text in enumerate(lines, 1):
        if len(text) > MAX_WIDTH:
            yield f"{source.path}:{number}: {len(text)} columns, at most {MAX_WIDTH}"
    if source.suffix in CPP:
        for line, length, head in functions(source.text):
            if length > MAX_FUNCTION_LINES:
                yield (f"{source.path}:{line}: a function of {length} lines, at most "
                       f"{MAX_FUNCTION_LINES} ({head[-60:]})")


OPERATOR_ROW = re.compile(r'\.name = "((?!aten::)\w+)"')


def operator_names(sources: list[Source]) -> set[str]:
    """The names that have a row: the tables themselves say what an operator's name is."""
    tables = (s for s in sources if s.path.startswith("ir/ops/") and s.suffix in CPP)
    return {name for table in tables for name in OPERATOR_ROW.findall(table.text)}


def check_operator_names(source: Source, names: set[str]) -> Iterator[str]:
    if source.suffix not in CPP or not source.path.startswith(NAMELESS):
        return
    if source.path.startswith(NAMES_ALLOWED):
        return
    for line, literal in literals(source.text):
        if literal in names or re.match(r"aten::\w", literal):
            yield f'{source.path}:{line}: names the operator "{literal}"; that belongs in ir/ops/'


def check_places(source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), 1):
        found = PLACES.search(line)
        if found:
            yield f"{source.path}:{number}: names a place of one machine ({found.group()})"


def check(root: Path) -> list[str]:
    sources = list(read_tree(root))
    names = operator_names(sources)
    breaches = list(check_top_level(root))
    if not names:
        breaches.append("ir/ops: no operator row found; this check has lost its table of names")
    for source in sources:
        breaches += check_includes(source)
        breaches += check_public_headers(source)
        breaches += check_sizes(source)
        breaches += check_operator_names(source, names)
        breaches += check_places(source)
    return breaches


def main() -> int:
    breaches = check(Path(sys.argv[1]))
    print("\n".join(breaches) if breaches else "The tree has the shape it should have.")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
