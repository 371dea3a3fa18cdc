// Figures and elements: what all parts of the page use.

const CATEGORIES = ["parameter", "optimizer_state", "gradient", "buffer", "constant", "input",
  "saved_activation", "activation_gradient", "transient", "workspace"];

// As the other formats write sizes: powers of 1024, two decimals.
function binaryUnits(bytes) {
  if (bytes === null) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = bytes;
  let unit = 0;
  while (unit + 1 < units.length && Number(size.toFixed(unit ? 2 : 0)) >= 1024) {
    size /= 1024;
    unit += 1;
  }
  return withThousands(size, unit ? 2 : 0) + " " + units[unit];
}

function withThousands(value, decimals = 0) {
  const [whole, rest] = value.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? grouped : grouped + "." + rest;
}

function exactly(bytes) {
  return bytes === null ? "unknown" : withThousands(bytes);
}

function words(category) {
  return category.replace(/_/g, " ");
}

// An element; text is never read as HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Charts are drawn again where colors or sizes change.
const charts = [];

function addChart(container, draw) {
  if (typeof echarts === "undefined") {
    container.className = "hint";
    container.textContent = "This build of footprint has no chart library: the table below has " +
      "the figures.";
    return null;
  }
  const chart = echarts.init(container, null, {renderer: "canvas"});
  const redraw = () => draw(chart);
  redraw();
  charts.push(redraw);
  new ResizeObserver(() => chart.resize()).observe(container);
  return chart;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const redraw of charts) redraw();
});
