// The memory timeline of one run: a stacked area over steps by category, the peak marked, and the
// same as a table. A run has tens of thousands of steps; what is drawn is the highest step of each
// of at most MAX_POINTS stretches, so that no peak is lost, and again when the chart is zoomed.

const MAX_POINTS = 1500;

function running(differences) {
  let sum = 0;
  return differences.map((difference) => (sum += difference));
}

function decodeRun(run, text) {
  const categories = {};
  for (const name of CATEGORIES) {
    const column = running(run.categories[name]);
    if (column.some((bytes) => bytes > 0)) categories[name] = column;
  }
  const live = running(run.live);
  let peak = 0;
  live.forEach((bytes, step) => { if (bytes > live[peak]) peak = step; });
  return {
    run: run.run, live, categories, peak, peakOf: run.peak,
    phase: run.phase.map(text), name: run.name.map(text), node: run.node.map(text),
    layer: run.layer.map(text),
  };
}

// The steps that stand for those from begin to end.
function standFor(run, begin, end) {
  const stride = Math.max(1, (end - begin) / MAX_POINTS);
  const steps = [];
  for (let from = begin; from < end; from += stride) {
    let highest = Math.floor(from);
    const to = Math.min(end, Math.floor(from + stride));
    for (let step = highest + 1; step < to; ++step) {
      if (run.live[step] > run.live[highest]) highest = step;
    }
    if (steps.at(-1) !== highest) steps.push(highest);
  }
  if (steps.at(-1) !== end - 1) steps.push(end - 1);
  return steps;
}

function describeStep(run, step) {
  const place = [run.phase[step], run.name[step], run.node[step]].filter(Boolean).join(", ");
  const parts = Object.entries(run.categories).filter(([, column]) => column[step] > 0)
    .map(([name, column]) => `${words(name)} ${binaryUnits(column[step])}`);
  return `Step ${withThousands(step)}${place ? " (" + place + ")" : ""}: ` +
    `${binaryUnits(run.live[step])}; ${parts.join(", ")}`;
}

function phasesOf(run) {
  const phases = [];
  run.phase.forEach((phase, step) => {
    if (phase && (!phases.length || phases.at(-1).name !== phase)) {
      phases.push({name: phase, begin: step});
    }
  });
  phases.forEach((phase, i) => { phase.end = i + 1 < phases.length ? phases[i + 1].begin :
    run.live.length; });
  return phases;
}

// Four to eight ticks at round numbers of a power of 1024.
function binaryTicks(highest) {
  let unit = 1;
  while (unit * 1024 <= highest) unit *= 1024;
  const steps = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64, 128].map((step) => step * unit);
  const interval = steps.find((step) => highest / step <= 7) ?? highest;
  return {interval, max: interval * Math.ceil(highest * 1.05 / interval)};
}

class Timeline {
  constructor(section, run) {
    this.run = run;
    this.begin = 0;
    this.end = run.live.length;
    this.cursor = run.peak;
    const title = `Memory of ${run.run} over ${withThousands(run.live.length)} steps; the peak is ` +
      `${binaryUnits(run.live[run.peak])} at step ${withThousands(run.peak)}`;
    const container = element("div", {class: "chart", role: "img", "aria-label":
      title + ". The table of steps below has the same figures."});
    section.append(element("figure", {}, container, element("figcaption", {}, title + ".")));
    section.append(this.zoomButtons(), this.inspector());
    this.chart = addChart(container, (chart) => this.draw(chart));
  }

  zoomButtons() {
    const {run} = this;
    const stretch = Math.max(20, Math.round(run.live.length / 50));
    const to = (label, begin, end) => element("button", {type: "button", onclick: () => {
      this.begin = Math.max(0, begin);
      this.end = Math.min(run.live.length, end);
      if (this.chart) this.draw(this.chart);
    }}, label);
    return element("div", {class: "tools", role: "group", "aria-label": "Zoom of the timeline"},
      to("Whole run", 0, run.live.length),
      to("Around the peak", run.peak - stretch, run.peak + stretch),
      ...phasesOf(run).map((phase) => to(phase.name, phase.begin, phase.end)));
  }

  // A slider that arrow keys move, and what is alive at its step.
  inspector() {
    const {run} = this;
    const output = element("output", {class: "hint"}, describeStep(run, this.cursor));
    const slider = element("input", {type: "range", min: "0", max: String(run.live.length - 1),
      "aria-label": `Step of ${run.run}`, "aria-valuetext": describeStep(run, this.cursor),
      oninput: () => {
        this.cursor = Number(slider.value);
        output.textContent = describeStep(run, this.cursor);
        slider.setAttribute("aria-valuetext", output.textContent);
        if (this.chart) this.chart.setOption({series: [{id: "live", markLine: this.cursorLine()}]});
      }});
    slider.value = String(this.cursor);
    return element("div", {}, element("div", {class: "tools"}, slider), output);
  }

  cursorLine() {
    return {symbol: "none", silent: true, animation: false, label: {show: false},
      lineStyle: {color: color("text"), type: "dashed"}, data: [{xAxis: this.cursor}]};
  }

  draw(chart) {
    const {run} = this;
    const steps = standFor(run, this.begin, this.end);
    const series = Object.entries(run.categories).map(([name, column]) => ({
      id: name, name: words(name), type: "line", stack: "live", symbol: "none", animation: false,
      lineStyle: {width: 0}, areaStyle: {opacity: 0.9}, itemStyle: {color: color(name)},
      emphasis: {disabled: true}, data: steps.map((step) => [step, column[step]]),
    }));
    const shown = run.peak >= this.begin && run.peak < this.end;
    series.push({id: "live", name: "live", type: "line", symbol: "none", animation: false,
      lineStyle: {width: 1, color: color("text")}, itemStyle: {color: color("text")},
      data: steps.map((step) => [step, run.live[step]]),
      markLine: this.cursorLine(),
      markPoint: {symbol: "circle", symbolSize: 9, animation: false,
        itemStyle: {color: color("mark")}, label: {show: true, position: "top", fontWeight: "bold",
          formatter: "peak " + binaryUnits(run.live[run.peak]), color: color("mark")},
        data: shown ? [{coord: [run.peak, run.live[run.peak]], name: "peak"}] : []}});
    chart.setOption({
      textStyle: {color: color("text"), fontFamily: "system-ui, DejaVu Sans, sans-serif"},
      grid: {left: 8, right: 16, top: 76, bottom: 8, containLabel: true},
      legend: {type: "scroll", top: 0, textStyle: {color: color("text")},
        pageTextStyle: {color: color("text")}, pageIconColor: color("text")},
      tooltip: {trigger: "axis", renderMode: "richText", confine: true,
        backgroundColor: color("card"), borderColor: color("line"),
        textStyle: {color: color("text"), fontSize: 12},
        formatter: (points) => describeStep(run, points[0].value[0]).replace(/[;,] /g, "\n")},
      xAxis: {type: "value", min: this.begin, max: Math.max(this.begin + 1, this.end - 1),
        axisLabel: {color: color("faint")}, splitLine: {show: false}},
      yAxis: {type: "value", axisLabel: {color: color("faint"), formatter: binaryUnits},
        splitLine: {lineStyle: {color: color("line")}}, ...binaryTicks(run.live[run.peak])},
      series,
    }, {notMerge: true});
  }
}

function stepsTable(parent, run) {
  const column = (title, name) => ({title, get: (step) => run[name][step]});
  const columns = [
    {title: "step", number: true, get: (step) => step},
    column("phase", "phase"), {...column("operator", "name")},
    {...column("node", "node"), name: true}, column("layer", "layer"),
    ...sizeColumns((step) => run.live[step]),
    ...Object.entries(run.categories).map(([name, bytes]) =>
      ({title: words(name), number: true, get: (step) => bytes[step]})),
  ];
  return new DataTable(parent, `Steps of ${run.run}`, run.live.length, columns);
}

function aliveTable(parent, run, text) {
  const {live} = run.peakOf;
  const column = (title, name) => ({title, get: (row) => text(live[name][row])});
  return new DataTable(parent, `Alive at the peak of ${run.run}`, live.bytes.length, [
    {...column("storage", "name"), name: true}, ...sizeColumns((row) => live.bytes[row]),
    {title: "category", get: (row) => words(text(live.category[row]))},
    column("layer", "layer"), column("why", "reason"),
  ]);
}
