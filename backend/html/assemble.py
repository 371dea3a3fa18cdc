#!/usr/bin/env python3
"""Puts the page of HTML reports together: assemble.py OUTPUT.cpp ECHARTS_FOLDER FILE...

FILE... are page.html, page.css and scripts in the order they run. What the page may run is named
by hash in its Content-Security-Policy, so that nothing that a model says could ever run. The
result is C++: the page's text between the places that a report fills.
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

SLOTS = ("title", "summary", "data")


def csp_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def chart_library(folder: str) -> str:
    if not folder:
        return ""
    notice = Path(folder, "NOTICE").read_text(encoding="utf-8")
    code = Path(folder, "dist/echarts.min.js").read_text(encoding="utf-8")
    return f"/*\n{notice}\n*/{code}"


def page(folder: str, files: list) -> str:
    template, style, *scripts = [Path(file).read_text(encoding="utf-8") for file in files]
    library = chart_library(folder)
    script = '"use strict";\n' + "".join(scripts)
    assert "</script" not in (library + script).lower()
    policy = (f"default-src 'none'; style-src {csp_hash(style)}; "
              f"script-src {csp_hash(library)} {csp_hash(script)}; img-src data:; "
              "base-uri 'none'; form-action 'none'")
    parts = {"policy": policy, "style": style, "library": library, "script": script}
    return re.sub(r"\{\{(policy|style|library|script)\}\}", lambda m: parts[m.group(1)], template)


def cpp(text: str) -> str:
    pieces = re.split("|".join(r"\{\{%s\}\}" % slot for slot in SLOTS), text)
    assert len(pieces) == len(SLOTS) + 1
    assert ')page"' not in text
    literals = ",\n".join(f'std::string_view(R"page({piece})page")' for piece in pieces)
    return ('#include "backend/html_page.h"\n\nnamespace footprint {\n\n'
            f"const std::array<std::string_view, 4> kHtmlPage = {{\n{literals}}};\n\n"
            "}  // namespace footprint\n")


def main() -> None:
    output, folder, *files = sys.argv[1:]
    Path(output).write_text(cpp(page(folder, files)), encoding="utf-8")


if __name__ == "__main__":
    main()
