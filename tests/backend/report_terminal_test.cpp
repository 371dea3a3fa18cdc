#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "backend/terminal.h"
#include "backend/terminal_table.h"

namespace footprint {
namespace {

TEST(Terminal, WidthsOfUtf8) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("é"), 1);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);  // e and a combining acute accent
  EXPECT_EQ(DisplayWidth("层"), 2);
  EXPECT_EQ(DisplayWidth("a\xFFz"), 3);    // not UTF-8
  EXPECT_EQ(DisplayWidth("\xE5\xB1"), 2);  // cut off in the middle
}

TEST(Terminal, EverySlotOfAnElidedTextIsUsed) {
  EXPECT_EQ(ElideMiddle("/layer1/conv", 12), "/layer1/conv");
  EXPECT_EQ(ElideMiddle("/layer1/conv", 7), "/la…onv");
  EXPECT_EQ(ElideMiddle("/layer1/conv", 8), "/la…conv");
  EXPECT_EQ(ElideEnd("saved by aten::mm", 9), "saved by…");
  EXPECT_EQ(ElideMiddle("abc", 1), "…");
  EXPECT_EQ(ElideMiddle("abc", 0), "");
}

TEST(Terminal, ElidingNeverCutsACharacter) {
  const std::string text = "层一层二层三e\xCC\x81层四";
  for (int width = 1; width < 20; ++width) {
    for (const std::string& elided : {ElideMiddle(text, width), ElideEnd(text, width)}) {
      EXPECT_LE(DisplayWidth(elided), width) << elided;
      EXPECT_EQ(Printable(elided), elided);
    }
  }
}

TEST(Terminal, ControlCharactersNeverReachIt) {
  EXPECT_EQ(Printable("conv1"), "conv1");
  EXPECT_EQ(Printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(Printable("a\nb\tc"), "a\uFFFDb\uFFFDc");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\uFFFD31m");  // an eight-bit control sequence
  EXPECT_EQ(Printable("\xFFö层"), "\uFFFDö层");
}

TEST(Terminal, APipeIsNeverStyled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(DescribeTerminal(ends[1]).styled);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(Bold("x", Terminal{}), "x");
  EXPECT_EQ(Bold("x", Terminal{.styled = true}), "\033[1mx\033[0m");
  EXPECT_EQ(Bold("", Terminal{.styled = true}), "");
}

TEST(Terminal, ColumnsDecidesThePipesWidth) {
  setenv("COLUMNS", "64", 1);
  EXPECT_EQ(DescribeTerminal(-1).width, 64);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(DescribeTerminal(-1).width, 40);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(DescribeTerminal(-1).width, 100);
  unsetenv("COLUMNS");
  EXPECT_EQ(DescribeTerminal(-1).width, 100);
}

TEST(Terminal, WrapBreaksAtSpaces) {
  const Terminal narrow{.width = 12};
  EXPECT_EQ(Wrap("  one two three four", 4, narrow), "  one two\n    three\n    four");
  EXPECT_EQ(Wrap("averylongwordindeed", 2, narrow), "averylongwordindeed");
  EXPECT_EQ(Wrap("", 2, narrow), "");
}

TerminalTable Example() {
  TerminalTable table(
      {{.title = "name", .excess = TableColumn::Excess::kElideMiddle, .readable = 8},
       {.title = "optional", .leaves_as = 1},
       {.title = "bytes", .align = TableColumn::Align::kRight}});
  table.AddRow({"a/long/path/to/conv", "x", "1,000"});
  table.AddRow({"b", "", "7"});
  return table;
}

TEST(TerminalTable, ColumnsAreAligned) {
  EXPECT_EQ(Example().Render(Terminal{}),
            "  name                 optional  bytes\n"
            "  a/long/path/to/conv  x         1,000\n"
            "  b                                  7\n");
}

TEST(TerminalTable, ElasticColumnsShrinkThenOptionalOnesLeave) {
  EXPECT_EQ(Example().Render(Terminal{.width = 30}),
            "  name         optional  bytes\n"
            "  a/lon…/conv  x         1,000\n"
            "  b                          7\n");
  EXPECT_EQ(Example().Render(Terminal{.width = 20}),
            "  name         bytes\n"
            "  a/lon…/conv  1,000\n"
            "  b                7\n"
            "  too narrow for:\n"
            "    optional\n");
}

TEST(TerminalTable, AnOptionalColumnWithoutTextIsNotShown) {
  TerminalTable table(
      {{.title = "name"}, {.title = "optional", .leaves_as = 1}, {.title = "kept"}});
  table.AddRow({"a", "", ""});
  EXPECT_EQ(table.Render(Terminal{}), "  name  kept\n  a\n");
}

TEST(TerminalTable, NoLineIsWiderThanTheTerminalWhileItCanShrink) {
  for (int width = 18; width < 60; ++width) {
    std::istringstream lines(Example().Render(Terminal{.width = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width);
  }
}

}  // namespace
}  // namespace footprint
