#!/usr/bin/env python3
"""structure.py must accept a good tree and name each breach of a bad one."""

import tempfile
import unittest
from pathlib import Path

import structure

ROW = '{.name = "MatMul", .types = MatMulTypes},\n'
GOOD = {
    "CMakeLists.txt": "project(footprint)\n",
    ".ci/run": "#!/usr/bin/env bash\n",
    "ir/dim.h": '#include <vector>\n\n#include "absl/strings/string_view.h"\n',
    "ir/ops/onnx/math.cpp": '#include "ir/dim.h"\n' + ROW,
    "frontend/skim.cpp": '#include <onnx/onnx_pb.h>\n#include "ir/dim.h"\n',
    "passes/lower.cpp": '// Not "MatMul".\n#include "ir/dim.h"\nauto kText = "MatMul of two";\n',
    "backend/analyze.h": '#include <variant>\n\n#include "backend/report.h"\n',
    "backend/report.h": "#include <string>\n",
    "backend/runtime/profile.cpp": 'auto kGemm = "MatMul";\n',
    "tests/passes/lower_test.cpp": '#include "passes/lower.h"\nauto kName = "MatMul";\n',
}


def body(lines: int) -> str:
    return "{\n" + "  Step();\n" * (lines - 2) + "}\n"


class StructureTest(unittest.TestCase):
    def breaches(self, **changes: str) -> list[str]:
        """What is wrong with the good tree after the changes."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (GOOD | changes).items():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return structure.check(Path(folder))

    def assert_one(self, expected: str, **changes: str) -> None:
        found = self.breaches(**changes)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_good_tree(self) -> None:
        self.assertEqual(self.breaches(), [])

    def test_top_level(self) -> None:
        self.assert_one("notes.txt: not one of", **{"notes.txt": "x\n"})
        self.assert_one("tools: not one of", **{"tools/x": "x\n"})

    def test_includes_between_folders(self) -> None:
        for text, place in [
            ('#include "passes/lower.h"\n', "frontend/a.cpp"),
            ('#include "frontend/skim.h"\n', "passes/a.cpp"),
            ('#include "backend/report.h"\n', "passes/a.cpp"),
            ('#include "passes/lower.h"\n', "ir/a.cpp"),
            ('#  include <tests/support/cases.h>\n', "backend/a.cpp"),
        ]:
            self.assert_one(f"{place}:1: {place.split('/')[0]}/ does not", **{place: text})

    def test_only_the_frontend_knows_onnx(self) -> None:
        self.assert_one("passes/a.cpp:2: only", **{"passes/a.cpp": "\n#include <onnx/onnx_pb.h>\n"})
        text = '#include "google/protobuf/message.h"\n'
        self.assert_one("backend/a.cpp:1: only", **{"backend/a.cpp": text})

    def test_ir_depends_on_abseil_alone(self) -> None:
        text = "#include <nlohmann/json.hpp>\n"
        self.assert_one("ir/a.h:1: ir/ depends", **{"ir/a.h": text})

    def test_include_paths_start_at_the_root(self) -> None:
        self.assert_one("passes/a.cpp:1: write", **{"passes/a.cpp": '#include "lower.h"\n'})

    def test_public_headers(self) -> None:
        for path in ["absl/types/span.h", "ir/dim.h", "unistd.h"]:
            text = f"#include <{path}>\n"
            self.assert_one("backend/report.h:1: a public", **{"backend/report.h": text})

    def test_sizes(self) -> None:
        self.assert_one("601 lines", **{"passes/a.cpp": "\n" * 601})
        self.assertEqual(self.breaches(**{"passes/a.cpp": "\n" * 600}), [])
        self.assert_one("a.cpp:2: 101 columns", **{"passes/a.cpp": "\n//" + "x" * 99 + "\n"})

    def test_function_length(self) -> None:
        heads = [
            "int F(int x) ",
            "TEST(Dim, Adds)\n",
            "auto F(A a) const noexcept -> std::vector<int> ",
            "F::F(int x) : x_(x), y_{x} ",
            "namespace a { class B final : public C { int F() override ",
            "template <class T> void F(const T& t) ",
            "struct S { S operator+(const S& s) const ",
            "const Row kRows[] = {{.types = [](Context& context) ",
            "auto kF = [&x] ",
            'void F(char c = \'"\', const char* s = R"x({{{)x") ',
        ]
        for head in heads:
            tail = "}};\n" if head.startswith(("namespace", "const Row")) else "\n"
            too_long = {"passes/a.cpp": head + body(61) + tail}
            with self.subTest(head=head):
                self.assert_one("a function of 61 lines", **too_long)
                self.assertEqual(self.breaches(**{"passes/a.cpp": head + body(60) + tail}), [])

    def test_tables_and_classes_are_not_functions(self) -> None:
        rows = "  {1, {2}, F(3)},\n" * 80
        for head, tail in [
            ("const Row kRows[] = {\n", "};\n"),
            ("enum class E {\n", "};\n"),
            ("namespace footprint {\n", "}\n"),
        ]:
            self.assertEqual(self.breaches(**{"passes/a.cpp": head + rows + tail}), [])

    def test_static_tables_do_not_lengthen_a_function(self) -> None:
        table = "  static const std::vector<Row> rows = {\n" + "    {1, {2}},\n" * 80 + "  };\n"
        for steps, expected in [(57, 0), (58, 1)]:
            text = "Span<Row> F() {\n" + table + "  Step();\n" * steps + "}\n"
            self.assertEqual(len(self.breaches(**{"passes/a.cpp": text})), expected)

    def test_operator_names(self) -> None:
        for place in ["passes/a.cpp", "backend/a.h", "backend/cli/a.cpp"]:
            self.assert_one(f'{place}:2: names the operator "MatMul"',
                            **{place: '\nbool x = y == "MatMul";\n'})
        self.assert_one('names the operator "aten::mm"', **{"passes/a.cpp": 'F("aten::mm");\n'})
        without_rows = {"ir/ops/onnx/math.cpp": "\n"}
        self.assert_one("has lost its table", **without_rows)

    def test_places(self) -> None:
        for text in ["/" + "home/me/x", "/" + "work/a", "pypi" + ".org", "../" + "shared/x"]:
            self.assert_one("README.md:1: names a place", **{"README.md": f"See {text}.\n"})
        self.assertEqual(self.breaches(**{"README.md": "models/home/x and framework/x\n"}), [])


if __name__ == "__main__":
    unittest.main()
