#include "backend/report_html.h"

#include <algorithm>
#include <string_view>

#include "backend/figures.h"
#include "backend/html_page.h"
#include "backend/report_gates.h"
#include "backend/report_text_parts.h"
#include "backend/terminal.h"
#include "backend/units.h"

namespace footprint {
namespace {

std::string Exactly(const Bytes& bytes) {
  return bytes ? WithThousands(*bytes) + " bytes" : "";
}

void AddCard(std::string_view label, const Bytes& bytes, const std::string& detail,
             std::string& html, std::string_view kind = "", const std::string& sign = "") {
  html += "<div class=\"card" + std::string(kind) + "\"><dt>" + Markup(label) + "</dt><dd>";
  html += "<strong>" + Markup(sign) + Figure(bytes) + "</strong>";
  html += "<span>" + Exactly(bytes) + "</span>";
  if (!detail.empty()) html += "<small>" + Markup(detail) + "</small>";
  html += "</dd></div>\n";
}

void AddHead(const Report& report, std::string& html) {
  html += "<h1>Memory of <code>" + Markup(report.model_path) + "</code></h1>\n<p class=\"facts\">";
  std::vector<std::string> facts = {WithThousands(report.parameter_count) + " parameters",
                                    WithThousands(report.node_count) + " nodes"};
  if (!report.producer.empty()) facts.push_back(report.producer);
  for (const Binding& binding : report.bindings) {
    facts.push_back(binding.name + " = " + std::to_string(binding.value) +
                    (binding.assumed ? " (assumed)" : ""));
  }
  if (report.training) {
    facts.push_back(report.training->optimizer);
    facts.push_back(report.training->precision);
    facts.push_back("loss " + report.training->loss);
  }
  for (const std::string& fact : facts) html += "<span>" + Markup(fact) + "</span> ";
  html += "</p>\n";
}

void AddWarning(const Report& report, std::string& html) {
  if (!report.training || report.training->complete) return;
  html += "<p class=\"warning\" role=\"note\"><strong>Incomplete:</strong> ";
  html += Markup(Incompleteness(*report.training));
  html += "</p>\n";
}

void AddCards(const Report& report, std::string& html) {
  html += "<section aria-labelledby=\"figures\"><h2 id=\"figures\">Figures</h2>"
          "<dl class=\"cards\">";
  if (report.training) {
    const TrainingReport& training = *report.training;
    AddCard("Peak of a training step", training.peak.live_bytes, PlaceOf(training.peak), html,
            " main", SignOf(training.peak.is_bounded, training.unknown_storages > 0));
    AddCard("Reserved by the allocator", training.peak.reserved_bytes, "", html);
  }
  if (report.inference) {
    const InferenceReport& inference = *report.inference;
    AddCard("Peak of inference", inference.peak.live_bytes, PlaceOf(inference.peak), html,
            report.training ? "" : " main",
            SignOf(inference.peak.is_bounded, inference.unknown_storages > 0));
  }
  AddCard("Parameters", report.parameter_bytes, "as stored", html);
  if (report.training) {
    const TrainingReport& training = *report.training;
    AddCard("Gradients", training.gradient_bytes, "", html);
    AddCard("Optimizer state", training.optimizer_state_bytes, "", html);
    AddCard("Saved activations", training.saved_excluding_inputs_bytes, training.saved_expression,
            html);
    AddCard("Alive after forward", training.after_forward_bytes, "", html);
  }
  if (report.inference) {
    AddCard("Activations at the peak of inference", report.inference->activation_peak_bytes,
            report.inference->activation_peak_expression, html);
    for (const RuntimeReport& runtime : report.inference->runtimes) {
      if (runtime.name == "ideal") continue;
      AddCard("Activations in " + runtime.name, runtime.activation_peak_bytes,
              "graph optimization " + runtime.optimization, html);
    }
  }
  html += "</dl></section>\n";
}

void AddDevice(const Report& report, std::string& html) {
  if (!report.device) return;
  const DeviceReport& device = *report.device;
  html += "<section aria-labelledby=\"device\"><h2 id=\"device\">Device " + Markup(device.name) +
          "</h2><p>" +
          (device.fits ? (*device.fits ? "The step fits: " : "The step does not fit: ")
                       : "Whether the step fits is unknown: ") +
          "it needs " + Figure(device.needed_bytes) + " of " + BinaryUnits(device.memory_bytes) +
          ".</p><ul>";
  for (const std::string& reason : device.reasons) html += "<li>" + Markup(reason) + "</li>";
  html += "</ul></section>\n";
}

void AddGates(const Report& report, std::string& html) {
  if (report.gates.empty()) return;
  html += "<section aria-labelledby=\"budgets\"><h2 id=\"budgets\">Budgets</h2>"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"budgets\"><table>"
          "<thead><tr><th scope=\"col\">budget</th><th scope=\"col\" class=\"number\">limit</th>"
          "<th scope=\"col\" class=\"number\">actual</th><th scope=\"col\">result</th></tr></thead>"
          "<tbody>\n";
  for (const GateReport& gate : report.gates) {
    html += "<tr><th scope=\"row\">" + Markup(gate.name) + "</th><td class=\"number\">" +
            BinaryUnits(gate.limit_bytes) + "</td><td class=\"number\">" +
            Figure(gate.actual_bytes) + "</td><td class=\"" +
            (gate.passed ? "kept\">✓ kept" : "broken\">✗ broken") + "</td></tr>\n";
  }
  html += "</tbody></table></div>";
  std::string violations;
  for (const GateReport& gate : report.gates) {
    for (const std::string& message : GateMessages(gate)) {
      violations += "<li>" + Markup(message) + "</li>\n";
    }
  }
  if (!violations.empty()) {
    html += "<details open><summary>What is over</summary><ul>" + violations + "</ul></details>";
  }
  html += "</section>\n";
}

void AddAskedFor(const Report& report, std::string& html) {
  for (const std::string& text : AskedForTexts(report)) {
    html += "<section><pre>";
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      html += Markup(std::string_view(text).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    html += "</pre></section>\n";
  }
}

void AddNotes(const Report& report, std::string& html) {
  if (report.diagnostics.empty()) return;
  html += "<section aria-labelledby=\"notes\"><h2 id=\"notes\">Notes</h2><ul class=\"notes\">\n";
  for (const ReportDiagnostic& diagnostic : report.diagnostics) {
    html += "<li><strong>" + Markup(diagnostic.severity) + "</strong> ";
    if (!diagnostic.place.empty()) html += "<code>" + Markup(diagnostic.place) + "</code>: ";
    html += Markup(diagnostic.message) + "</li>\n";
  }
  html += "</ul></section>\n";
}

}  // namespace

std::string ReportHtml(const Report& report) {
  std::string html(kHtmlPage[0]);
  html += Markup(report.model_path);
  html += kHtmlPage[1];
  AddHead(report, html);
  AddWarning(report, html);
  AddCards(report, html);
  AddGates(report, html);
  AddDevice(report, html);
  AddAskedFor(report, html);
  AddNotes(report, html);
  html += kHtmlPage[2];
  html += ReportHtmlData(report);
  html += kHtmlPage[3];
  return html;
}

}  // namespace footprint
