#include <gtest/gtest.h>

#include <random>

#include "ir/dim.h"

namespace footprint {
namespace {

std::string Reprinted(const std::string& text) {
  DimTable table;
  const std::optional<Dim> dim = table.Parse(text);
  return dim.has_value() ? table.ToString(*dim) : "no expression";
}

struct Example {
  const char* text;
  const char* expected;
};

TEST(DimParseTest, WhatExportersWrite) {
  const Example examples[] = {
      {"batch", "batch"},
      {"12", "12"},
      {"12*batch", "12*batch"},
      {"sequence*batch", "sequence*batch"},
      {"sequence + 1", "sequence + 1"},
      {" past_length+length ", "past_length + length"},
      {"2*height - 1", "2*height - 1"},
      {"-x + 10", "10 - x"},
      {"2 - (x - 3)", "5 - x"},
      {"8 - x - y", "8 - x - y"},
      {"-x**2", "-x**2"},
      {"2**3**2*x", "512*x"},
      {"x**0 + 1", "2"},
      {"Min(512, sequence)", "min(512, sequence)"},
      {"Max(1, x, 2*y)", "max(x, 2*y)"},
      {"Min(x)", "x"},
      {"((sequence**2)//sequence)", "sequence"},
      {"floor((width - 3)/2) + 1", "floor((width - 3)/2) + 1"},
      {"floor(height/2 - 1/2) + 1", "ceil(height/2)"},
      {"floor(h/2 - 1/3)", "floor((h - 3)/2) + 1"},
      {"ceiling(x/4)", "ceil(x/4)"},
      {"floor_div(a, b)", "floor(a/b)"},
      {"FloorDiv(a*b, b)", "a"},
      {"CeilDiv(x, 2)", "ceil(x/2)"},
      {"ceil(a/(2*b))", "ceil(a/(2*b))"},
      {"a//b//2", "floor(a/(2*b))"},
      {"x % 4", "x - 4*floor(x/4)"},
      {"Mod(x, 2)", "x - 2*floor(x/2)"},
      {"(12*b*s + 12*s)/(12*s)", "b + 1"},
      {"2*x/2", "x"},
      {"(x/2)*4", "2*x"},
      {"min(floor(x/2), max(y, 3))", "min(floor(x/2), max(3, y))"},
      {"floor", "floor"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(Reprinted(example.text), example.expected) << example.text;
  }
}

TEST(DimParseTest, WhatIsNoExpression) {
  for (const char* text : {"",
                           " ",
                           "?",
                           "past-length",
                           "batch:0",
                           "input.1",
                           "seq len",
                           "12batch",
                           "1.5",
                           "x y",
                           "x +",
                           "* x",
                           "x + * y",
                           "(x",
                           "x)",
                           "()",
                           "floor()",
                           "floor(x, y)",
                           "floor_div(x)",
                           "Min(x,)",
                           "Min(,x)",
                           "unheard_of(x)",
                           "x, y",
                           "(x, y)",
                           "x/2",
                           "a/b",
                           "1/2",
                           "x/0",
                           "x//0",
                           "x%0",
                           "x**y",
                           "x**-1",
                           "x**65",
                           "99999999999999999999",
                           "9223372036854775807*x*2",
                           "x\xC3\xA9",
                           "x=1",
                           "x[0]",
                           "//m/Constant_2_output_0",
                           "Min(1/2, x)",
                           "/x",
                           "x//",
                           "x***2"}) {
    EXPECT_EQ(Reprinted(text), "no expression") << text;
  }
  EXPECT_EQ(Reprinted(std::string("x\0y", 3)), "no expression");
}

TEST(DimParseTest, AFailureMakesNoSymbols) {
  DimTable table;
  EXPECT_FALSE(table.Parse("width + (height").has_value());
  EXPECT_FALSE(table.Parse("seq len").has_value());
  EXPECT_TRUE(table.SymbolNames().empty());
}

TEST(DimParseTest, NestingIsLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "x" + std::string(depth, ')');
  };
  EXPECT_EQ(Reprinted(nested(60)), "x");
  EXPECT_EQ(Reprinted(nested(65)), "no expression");
  EXPECT_EQ(Reprinted(nested(1000000)), "no expression");
  EXPECT_EQ(Reprinted(std::string(50, '-') + "x"), "x");
  EXPECT_EQ(Reprinted(std::string(100000, '-') + "x"), "no expression");
  std::string floors = "x";
  for (int i = 0; i < 30; ++i) floors.insert(0, "floor((").append(" + y)/z)");
  EXPECT_NE(Reprinted(floors), "no expression");
}

TEST(DimParseTest, SurvivesAnyText) {
  std::mt19937 random(7);
  const std::string tokens[] = {"x", "y",    "12", "(",  ")", "floor(", "Min(", ",",   "+",
                                "-", "*",    "/",  "//", "%", "**",     " ",    "0",   "ab",
                                ".", "Mod(", "\n", "^",  "~", "ceil(",  "3",    "\xFF"};
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const auto length = random() % 12;
    for (unsigned k = 0; k < length; ++k) text += tokens[random() % std::size(tokens)];
    DimTable table;
    const std::optional<Dim> dim = table.Parse(text);
    if (!dim.has_value()) continue;
    ++parsed;
    EXPECT_FALSE(dim->is_unknown()) << text;
    const std::string printed = table.ToString(*dim);
    const std::optional<Dim> again = table.Parse(printed);
    ASSERT_TRUE(again.has_value()) << text << " printed as " << printed;
    EXPECT_EQ(*again, *dim) << text << " printed as " << printed;
  }
  EXPECT_GT(parsed, 500);
}

}  // namespace
}  // namespace footprint
