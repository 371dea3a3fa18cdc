// Text cases: short models with their answers inside.
//
// A case is a file under tests/cases, ONNX text (.onnxtxt), protobuf text (.textproto) or a program
// of PyTorch calls (.torch). '#' begins a comment in all, so that the readers take the whole file
// as it is:
//
//   # Two calls of one function have shapes of their own.      any comment
//   # RUN: infer --dim batch=2                                 a step and its arguments
//   <ir_version: 8, opset_import: ["": 18]>                    the model
//   agraph (float[batch, 6] x) => (y) { ... }
//   # EXPECT: %y: float32[batch, 4] = ...                      what the step prints, line by line
//
// A test names the steps that it can run and has one test per file:
//
//   class InferCases : public testing::TestWithParam<std::string> {};
//   TEST_P(InferCases, PrintWhatTheyExpect) { EXPECT_TRUE(RunCase(GetParam(), InferAndPrint)); }
//   INSTANTIATE_TEST_SUITE_P(, InferCases,
//                            testing::ValuesIn(CasesOf(FOOTPRINT_SOURCE_DIR, "infer")), CaseName);
//
// With UPDATE_EXPECT=1 in the environment the EXPECT lines are rewritten instead of compared: read
// the diff before committing it.
#ifndef FOOTPRINT_TESTS_SUPPORT_CASE_RUNNER_H_
#define FOOTPRINT_TESTS_SUPPORT_CASE_RUNNER_H_

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/diagnostic.h"

namespace footprint {

// Prints what a step makes of the model in `path`; `arguments` are the words after the step's name.
using CaseStep =
    std::function<std::string(const std::string& path, const std::vector<std::string>& arguments)>;

// All cases below <source_folder>/tests/cases that run `step`, sorted; and those that say no step
// at all, which RunCase then fails.
std::vector<std::string> CasesOf(const std::string& source_folder, const std::string& step);

// Compares what `step` prints with the EXPECT lines; empty lines at the end do not matter.
testing::AssertionResult RunCase(const std::string& path, const CaseStep& step);

// For INSTANTIATE_TEST_SUITE_P: "import/two_calls.onnxtxt" -> "import_two_calls".
std::string CaseName(const testing::TestParamInfo<std::string>& info);

// One line for each diagnostic, "kind: error: place: message".
std::string PrintDiagnostics(const std::vector<Diagnostic>& diagnostics);

}  // namespace footprint

#endif  // FOOTPRINT_TESTS_SUPPORT_CASE_RUNNER_H_
