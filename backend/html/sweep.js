// Figures at many values of one dimension: lines over the values, the formulas, and a table.

const SWEEP_FIGURES = [["saved + inputs", "saved_activation"], ["training peak", "gradient"],
  ["inference peak", "parameter"]];

class SweepChart {
  constructor(section, sweep) {
    this.sweep = sweep;
    this.figures = SWEEP_FIGURES.filter(([name]) => sweep[name].some((bytes) => bytes !== null));
    const title = `Bytes by ${sweep.dimension}, at ${withThousands(sweep.value.length)} values`;
    const container = element("div", {class: "chart", role: "img", "aria-label":
      title + ". The table below has the same figures."});
    section.append(element("figure", {}, container, element("figcaption", {}, title + ".")));
    addChart(container, (chart) => this.draw(chart));
  }

  draw(chart) {
    const {sweep} = this;
    let highest = 1;
    const series = this.figures.map(([name, category]) => ({
      name, type: "line", symbol: sweep.value.length > 30 ? "none" : "circle", animation: false,
      itemStyle: {color: color(category)}, connectNulls: false,
      data: sweep.value.map((value, i) => {
        highest = Math.max(highest, sweep[name][i] ?? 0);
        return [value, sweep[name][i]];
      }),
    }));
    chart.setOption({
      textStyle: {color: color("text"), fontFamily: "system-ui, DejaVu Sans, sans-serif"},
      grid: {left: 8, right: 24, top: 40, bottom: 28, containLabel: true},
      legend: {top: 0, textStyle: {color: color("text")}},
      tooltip: {trigger: "axis", renderMode: "richText", confine: true,
        backgroundColor: color("card"), borderColor: color("line"),
        textStyle: {color: color("text"), fontSize: 12},
        valueFormatter: (bytes) => binaryUnits(bytes ?? null)},
      xAxis: {type: "value", name: sweep.dimension, nameLocation: "middle", nameGap: 24,
        min: "dataMin", max: "dataMax", axisLabel: {color: color("faint")},
        splitLine: {show: false}},
      yAxis: {type: "value", axisLabel: {color: color("faint"), formatter: binaryUnits},
        splitLine: {lineStyle: {color: color("line")}}, ...binaryTicks(highest)},
      series,
    }, {notMerge: true});
  }
}

function showSweep(sweep) {
  const section = document.getElementById("sweep");
  section.hidden = false;
  section.querySelector("h2").textContent = "Values of " + sweep.dimension;
  const {figures} = new SweepChart(section, sweep);
  for (const {first, last, expression} of sweep.pieces) {
    section.append(element("p", {class: "hint"}, `The peak of ${first} to ${last} is `,
      element("code", {}, expression), ", rounding left out."));
  }
  new DataTable(section, "Values of " + sweep.dimension, sweep.value.length, [
    {title: sweep.dimension, number: true, get: (row) => sweep.value[row]},
    ...figures.map(([name]) => ({title: name, number: true, get: (row) => sweep[name][row]})),
    {title: "", get: (row) => sweep.error[row]},
  ]);
}
