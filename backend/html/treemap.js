// The layers as a treemap: the area of a layer is what it stores, keeps and trains with, those
// below it included. The table beside it has the same figures and zooms the map by keyboard.

const LASTING = ["parameter", "optimizer_state", "gradient", "buffer", "constant",
  "saved_activation"];

// A tree of {name, id, value, parent, children}; what a layer holds itself is a leaf beside those below.
function layerTree(layers, text) {
  const nodes = new Map();
  const root = {name: "model", id: "", value: 0, children: []};
  nodes.set("", root);
  layers.path.forEach((index, row) => {
    const path = text(index);
    const node = nodes.get(path) ?? {id: path, value: 0, children: []};
    if (path) {
      let parent = path;
      do parent = parent.slice(0, Math.max(0, parent.lastIndexOf("/"))); while (!nodes.has(parent));
      node.name = parent ? path.slice(parent.length + 1) : path;
      node.parent = nodes.get(parent);
      node.parent.children.push(node);
      nodes.set(path, node);
    }
    node.value = layers.total[row];
    node.own = layers.own[row];
    node.most = LASTING.reduce((most, name) =>
      (layers[name][row] > layers[most][row] ? name : most));
  });
  for (const node of nodes.values()) {
    if (node.children.length && node.own > 0) {
      node.children.push({name: "(own)", id: node.id + "/(own)", value: node.own, most: node.most});
    }
  }
  return nodes;
}

// One layer at a time, two levels deep; the way up is a row of buttons.
class LayerMap {
  constructor(section, layers, text) {
    this.nodes = layerTree(layers, text);
    this.shown = this.start();
    const container = element("div", {class: "chart tall", role: "img", "aria-label":
      "Layers by size. The table of layers below has the same figures."});
    this.path = element("nav", {class: "tools", "aria-label": "Layer shown"});
    section.append(this.path, element("figure", {}, container, element("figcaption", {},
      "Area: parameters, buffers, gradients, optimizer state and saved activations of a layer " +
      "with those below it; color: the category that has most of it. Choose a layer here or in " +
      "the table to zoom in.")));
    this.chart = addChart(container, (chart) => this.draw(chart));
    this.chart?.on("click", (event) => this.zoom(event.data.id));
    this.showPath();
  }

  // The first layer in which sizes differ: models wrap their blocks in layers of one child each.
  start() {
    let node = this.nodes.get("");
    for (;;) {
      const main = node.children.find((child) => child.value > 0.9 * node.value);
      if (!main || !main.children?.length) return node;
      node = main;
    }
  }

  // A layer without others below it is shown in the one around it.
  zoom(id) {
    const node = this.nodes.get(id);
    if (!node) return;
    this.shown = node.children.length ? node : node.parent;
    this.showPath();
    if (this.chart) this.draw(this.chart);
  }

  showPath() {
    const buttons = [];
    for (let node = this.shown; node; node = node.parent) {
      const label = `${node.name} ${binaryUnits(node.value)}`;
      buttons.unshift(element("button", {type: "button", onclick: () => this.zoom(node.id),
        "aria-current": node === this.shown ? "true" : null}, label));
    }
    this.path.replaceChildren(...buttons);
  }

  pruned(nodes, levels) {
    return nodes.map((node) => ({name: node.name, id: node.id, value: node.value,
      itemStyle: {color: color(node.most)},
      children: levels > 1 && node.children ? this.pruned(node.children, levels - 1) : []}));
  }

  draw(chart) {
    const formatter = (node) => `${node.name}  ${binaryUnits(node.value)}`;
    chart.setOption({
      textStyle: {fontFamily: "system-ui, DejaVu Sans, sans-serif"},
      tooltip: {renderMode: "richText", confine: true, backgroundColor: color("card"),
        borderColor: color("line"), textStyle: {color: color("text"), fontSize: 12},
        formatter: (node) => `${node.data.id || "model"}\n${binaryUnits(node.value)} ` +
          `(${exactly(node.value)} bytes)`},
      series: [{type: "treemap", animation: false, roam: false, nodeClick: false,
        width: "100%", height: "100%", top: 0, bottom: 0, left: 0, right: 0, visibleMin: 200,
        label: {show: true, color: "#ffffff", fontSize: 12, lineHeight: 16, formatter,
          textBorderColor: "#000000", textBorderWidth: 2},
        upperLabel: {show: true, height: 20, color: color("text"), formatter},
        levels: [{itemStyle: {gapWidth: 3}, upperLabel: {show: false}}, {itemStyle: {gapWidth: 1, borderWidth: 2},
          upperLabel: {show: true}}],
        itemStyle: {borderColor: color("card"), gapWidth: 1},
        breadcrumb: {show: false}, data: this.pruned(this.shown.children, 2)}],
    }, {notMerge: true});
  }
}

function layersTable(parent, layers, text, map) {
  const path = (row) => text(layers.path[row]);
  const used = CATEGORIES.filter((name) => layers[name].some((bytes) => bytes > 0));
  return new DataTable(parent, "Layers", layers.path.length, [
    {title: "layer", name: true, get: path, cell: (row) => element("button", {type: "button", class: "plain go", title: "Zoom in",
        onclick: () => map.zoom(path(row))}, path(row) || "(model)")},
    {title: "class", get: (row) => text(layers.class[row])},
    {title: "parameters", number: true, get: (row) => layers.parameter_count[row]},
    ...sizeColumns((row) => layers.total[row]),
    {title: "own", number: true, get: (row) => layers.own[row],
      text: (row) => binaryUnits(layers.own[row])},
    ...used.map((name) => ({title: words(name), number: true, get: (row) => layers[name][row],
      text: (row) => binaryUnits(layers[name][row])})),
  ]);
}
