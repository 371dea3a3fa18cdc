#include "backend/report_text.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace footprint {
namespace {

void AddLayer(Report* report, const std::string& path, const std::string& class_name, int depth,
              int64_t parameter, int64_t with_children) {
  ReportLayer layer;
  layer.path = path;
  layer.class_name = class_name;
  layer.depth = depth;
  layer.own.parameter = parameter;
  layer.total.parameter = with_children;
  report->layers.push_back(layer);
}

Report Example() {
  Report report;
  report.model_path = "m.onnx";
  report.model_name = "main";
  report.producer = "pytorch 2.1";
  report.opsets = {{"", 17}};
  report.node_count = 3;
  report.bindings = {{"batch", 32, false}, {"seq", 1, true}};
  report.parameter_count = 2048;
  report.trainable_parameter_count = 1024;
  report.parameter_bytes = 8192;
  report.file_parameter_count = 2048;
  report.widths = {{"fp32", 8192}, {"int4", 1024}};
  TrainingReport training;
  training.optimizer = "adamw";
  training.precision = "fp32";
  training.loss = "cross-entropy (assumed)";
  training.parameter_bytes = 8192;
  training.saved_bytes = 4608;
  training.saved_excluding_inputs_bytes = 4096;
  training.saved_expression = "128*batch*seq";
  training.phases = {{"forward", 12288}, {"backward", 20480}, {"optimizer", std::nullopt}};
  training.peak.live_bytes = 20480;
  training.peak.phase = "backward";
  training.peak.step = "MmBackward0";
  training.peak.node = "/fc/MatMul";
  training.peak.layer = "fc";
  training.peak.live = {{"w", 8192, "parameter", "fc", "a parameter", "s0"},
                        {"h", 4000, "saved_activation", "fc", "saved by aten::mm", "s1"}};
  report.training = training;
  AddLayer(&report, "", "", 0, 0, 8192);
  AddLayer(&report, "net", "Net", 1, 0, 8192);
  AddLayer(&report, "net/h.0", "Block", 2, 1024, 2048);
  AddLayer(&report, "net/h.0/fc", "Linear", 3, 1024, 1024);
  AddLayer(&report, "net/h.1", "Block", 2, 1024, 2048);
  AddLayer(&report, "net/h.1/fc", "Linear", 3, 1024, 1024);
  AddLayer(&report, "net/head", "Linear", 2, 4096, 4096);
  return report;
}

std::string TextOf(const Report& report, int width = 100, std::optional<int> depth = {}) {
  return ReportText(report, {.terminal = {.width = width}, .depth = depth});
}

std::string Section(const std::string& text, const std::string& title) {
  const size_t begin = text.find(title);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("\n\n", begin) - begin + 1);
}

TEST(ReportText, HeadNamesTheModelAndMarksAssumptions) {
  EXPECT_EQ(Section(TextOf(Example()), "m.onnx"),
            "m.onnx\n"
            "  main, 3 nodes, pytorch 2.1, opset 17\n"
            "  batch = 32, seq = 1 (assumed)\n");
}

TEST(ReportText, ParametersInEachWidth) {
  EXPECT_EQ(Section(TextOf(Example()), "Parameters"),
            "Parameters              2,048, 1,024 of them trained\n"
            "  as stored                  8.00 KiB                8,192\n"
            "  fp32                       8.00 KiB                8,192\n"
            "  int4                       1.00 KiB                1,024\n");
}

TEST(ReportText, TrainingSaysUnknownWhereItIs) {
  EXPECT_EQ(Section(TextOf(Example()), "Training step"),
            "Training step           eager PyTorch, adamw, fp32, loss cross-entropy (assumed)\n"
            "  parameters                 8.00 KiB                8,192\n"
            "  buffers                     unknown\n"
            "  gradients                   unknown\n"
            "  optimizer state             unknown\n"
            "  inputs                      unknown\n"
            "  saved activations          4.00 KiB                4,096\n"
            "    = 128*batch*seq, as decided at these bindings\n"
            "  with inputs                4.50 KiB                4,608\n"
            "  after forward               unknown\n"
            "  peak of forward           12.00 KiB               12,288\n"
            "  peak of backward          20.00 KiB               20,480\n"
            "  peak of optimizer           unknown\n"
            "  peak                      20.00 KiB               20,480\n"
            "    in backward, at MmBackward0 of /fc/MatMul, layer fc\n");
}

TEST(ReportText, TotalsWithBoundedOrMissingPartsSaySo) {
  Report report = Example();
  ReportStorage bounded;
  bounded.id = "s9";
  bounded.category = "saved_activation";
  bounded.certainty = "bounded";
  bounded.bytes = 100;
  report.storages = {bounded};
  report.training->peak.is_bounded = true;
  EXPECT_NE(TextOf(report).find("saved activations       <= 4.00 KiB"), std::string::npos);
  report.training->unknown_storages = 1;
  EXPECT_NE(TextOf(report).find("  peak                    ~ 20.00 KiB"), std::string::npos);
  report.storages.clear();
  report.training->peak.is_bounded = false;
  EXPECT_NE(TextOf(report).find("  peak                   >= 20.00 KiB"), std::string::npos);
  EXPECT_NE(TextOf(report).find("incomplete: 1 storage of unknown size"), std::string::npos);
}

TEST(ReportText, GenericOperatorsAreNamed) {
  Report report = Example();
  report.training->complete = false;
  report.training->generic_operators = {"3 x NonMaxSuppression", "1 x Odd"};
  EXPECT_NE(
      TextOf(report, 200)
          .find("incomplete: no PyTorch counterpart is known for 3 x NonMaxSuppression, 1 x Odd"),
      std::string::npos);
}

TEST(ReportText, LayersThatAreAlikeShareARow) {
  EXPECT_EQ(Section(TextOf(Example()), "Layers"),
            "Layers\n"
            "  layer             class   parameters       sum  share\n"
            "  net               Net       8.00 KiB  8.00 KiB  100.0%\n"
            "    h.0…1, 2 alike  Block     2.00 KiB  2.00 KiB  25.0% each\n"
            "      fc            Linear    1.00 KiB  1.00 KiB  12.5%\n"
            "    head            Linear    4.00 KiB  4.00 KiB  50.0%\n"
            "  all layers                  8.00 KiB  8.00 KiB  100.0%\n");
}

TEST(ReportText, DepthFoldsLayersAndSaysHowMany) {
  EXPECT_EQ(Section(TextOf(Example(), 100, 1), "Layers"),
            "Layers\n"
            "  layer       class  parameters       sum  share\n"
            "  net         Net      8.00 KiB  8.00 KiB  100.0%\n"
            "  all layers           8.00 KiB  8.00 KiB  100.0%\n"
            "  5 deeper layers are folded; --depth 2 shows more\n");
  EXPECT_EQ(Section(TextOf(Example(), 100, 0), "Layers"), "");
}

TEST(ReportText, NumbersOfAlikeLayersMayGrowInWidth) {
  Report report = Example();
  report.layers.resize(2);
  for (int i = 8; i <= 11; ++i) {
    AddLayer(&report, "net/h" + std::to_string(i) + ".x", "Block", 2, 2048, 2048);
  }
  EXPECT_NE(TextOf(report).find("    h8.x…11.x, 4 alike  "), std::string::npos);
}

TEST(ReportText, LayersThatDifferInBytesAreNotAlike) {
  Report report = Example();
  report.layers[4].total.parameter += 1;
  EXPECT_EQ(TextOf(report).find("alike"), std::string::npos);
}

TEST(ReportText, OutputsAreAColumnOnlyWithoutTraining) {
  Report report = Example();
  report.layers[1].own.transient = 512;
  report.layers[1].total.transient = 512;
  EXPECT_EQ(Section(TextOf(report), "Layers").find("outputs"), std::string::npos);
  report.training.reset();
  EXPECT_NE(Section(TextOf(report), "Layers").find("outputs"), std::string::npos);
}

TEST(ReportText, WhoIsAliveAddsUpToThePeak) {
  EXPECT_EQ(TextOf(Example()).substr(TextOf(Example()).find("Alive")),
            "Alive at the peak of training\n"
            "  parameter          8.00 KiB  8,192  1 storage\n"
            "  saved activation   3.91 KiB  4,000  1 storage\n"
            "  rounding to 512 B  8.09 KiB  8,288\n"
            "\n"
            "   largest  category          name  why it is alive\n"
            "  8.00 KiB  parameter         w     a parameter\n"
            "  3.91 KiB  saved activation  h     saved by aten::mm\n");
}

TEST(ReportText, FitsNarrowTerminals) {
  Report report = Example();
  report.training->peak.live[0].name = std::string(150, 'n');
  report.training->peak.live[0].reason = std::string(150, 'r');
  report.layers[1].class_name = std::string(80, 'c');
  report.diagnostics = {{"note", "k", "initializer w",
                         "a message of many words, " + std::string("again and again and ") +
                             "again until it must be broken"}};
  for (const int width : {60, 80, 100, 140}) {
    std::istringstream lines(TextOf(report, width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(ReportText, TextbookStandsBesideWhatPyTorchKeeps) {
  Report report = Example();
  TextbookReport textbook;
  textbook.parameter_count = 1500000000;
  textbook.parameter_bytes = 6000000000;
  textbook.activation_bytes = 60614246400;
  textbook.layers = {{"wte", "token embedding", "", 209715200},
                     {"h.0", "attention", "", 838860800},
                     {"h.1", "attention", "", 838860800}};
  textbook.notes = {"because"};
  report.textbook = textbook;
  std::string text = TextOf(report, 120);
  text = text.substr(text.find("Textbook"), text.find("Layers") - text.find("Textbook"));
  EXPECT_NE(text.find("1,500,000,000 parameters"), std::string::npos) << text;
  EXPECT_NE(text.find("2  attention        h.0      838,860,800  1,677,721,600"), std::string::npos)
      << text;
  EXPECT_NE(text.find("activations      60,614,246,400  60.61 GB  56.45 GiB          4,096"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  because\n"), std::string::npos) << text;
}

TEST(ReportText, NothingFromAModelReachesTheTerminalRaw) {
  Report report = Example();
  const std::string evil = "\x1b]0;title\x07";
  report.model_path += evil;
  report.model_name = report.producer = evil;
  report.bindings[0].name = evil;
  report.training->peak.node = report.training->peak.live[0].name = evil;
  report.training->saved_expression = evil;
  report.training->generic_operators = {evil};
  report.layers[1].path = report.layers[1].class_name = evil;
  report.diagnostics = {{"note", "k", evil, evil}};
  report.unknown = {{evil, evil, evil}};
  report.operators = {{evil, 1, false}};
  const std::string text = TextOf(report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(ReportText, ColourIsForTerminalsOnly) {
  EXPECT_EQ(TextOf(Example()).find('\x1b'), std::string::npos);
  const std::string styled =
      ReportText(Example(), {.terminal = {.width = 100, .styled = true}, .depth = {}});
  EXPECT_NE(styled.find("\x1b[1mLayers\x1b[0m"), std::string::npos);
}

TEST(FailureText, OneLinePerDiagnostic) {
  const Failure failure{
      2,
      {{"warning", "w", "", "doubtful"}, {"error", "e", "MatMul -> h", "inner dimensions differ"}}};
  EXPECT_EQ(FailureText(failure, "m.onnx"),
            "footprint: m.onnx: warning: doubtful\n"
            "footprint: m.onnx: error: MatMul -> h: inner dimensions differ\n");
  EXPECT_EQ(FailureText({3, {{"error", "e", "--dim x", "no"}}}, ""),
            "footprint: error: --dim x: no\n");
}

}  // namespace
}  // namespace footprint
