// The layers as a treemap: the area of a layer is what it stores, keeps and trains with, those
// below it included. The table beside it has the same figures and zooms the map by keyboard.

// A tree of {name, id, value, children}; what a layer holds itself is a leaf beside those below.
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
      nodes.get(parent).children.push(node);
      nodes.set(path, node);
    }
    node.value = layers.total[row];
    node.own = layers.own[row];
    node.most = CATEGORIES.reduce((most, name) =>
      (layers[name][row] > layers[most][row] ? name : most));
  });
  for (const node of nodes.values()) {
    if (node.children.length && node.own > 0) {
      node.children.push({name: "(own)", id: node.id + "/(own)", value: node.own, most: node.most});
    }
  }
  return nodes;
}

class LayerMap {
  constructor(section, layers, text) {
    this.nodes = layerTree(layers, text);
    this.shown = this.start();
    const container = element("div", {class: "chart tall", role: "img", "aria-label":
      "Layers by size. The table of layers below has the same figures."});
    section.append(element("figure", {}, container, element("figcaption", {},
      "Area: parameters, gradients, optimizer state and activations of a layer with those below " +
      "it; color: the category that has most of it. Choose a layer here or in the table to zoom in.")));
    section.append(element("div", {class: "tools"}, element("button", {type: "button",
      onclick: () => this.zoom("")}, "Whole model")));
    this.chart = addChart(container, (chart) => this.draw(chart));
  }

  // The first layer in which sizes differ: models wrap their blocks in layers of one child each.
  start() {
    let node = this.nodes.get("");
    for (;;) {
      const main = node.children.find((child) => child.value > 0.9 * node.value);
      if (!main || !main.children?.length) return node.id;
      node = main;
    }
  }

  // A layer without others below it is shown in the one around it.
  zoom(path) {
    const leaf = !this.nodes.get(path).children.length;
    this.shown = leaf ? path.slice(0, Math.max(0, path.lastIndexOf("/"))) : path;
    if (!this.nodes.has(this.shown)) this.shown = "";
    if (this.chart) this.show(this.chart);
  }

  show(chart) {
    chart.dispatchAction({type: "treemapRootToNode", seriesIndex: 0,
      targetNodeId: this.shown || "layers"});
  }

  draw(chart) {
    for (const node of this.nodes.values()) {
      for (const shown of [node, ...node.children]) shown.itemStyle = {color: color(shown.most)};
    }
    const label = {show: true, color: "#ffffff", fontSize: 12, lineHeight: 16, formatter: (node) =>
      `${node.name}\n${binaryUnits(node.value)}`, textBorderColor: "#000000", textBorderWidth: 2};
    chart.setOption({
      textStyle: {fontFamily: "system-ui, DejaVu Sans, sans-serif"},
      tooltip: {renderMode: "richText", confine: true, backgroundColor: color("card"),
        borderColor: color("line"), textStyle: {color: color("text"), fontSize: 12},
        formatter: (node) => `${node.data.id ?? "model"}\n${binaryUnits(node.value)} ` +
          `(${exactly(node.value)} bytes)`},
      series: [{type: "treemap", animation: false, name: "model", id: "map", leafDepth: 2, roam: false, nodeClick: "zoomToNode", width: "100%",
        top: 4, bottom: 34, left: 0, right: 0, label, visibleMin: 200,
        upperLabel: {show: true, height: 20, color: color("text"), formatter: (node) =>
          `${node.name}  ${binaryUnits(node.value)}`},
        itemStyle: {borderColor: color("card"), gapWidth: 1},
        levels: [0, 1].map(() => ({itemStyle: {borderWidth: 2, borderColor: color("line"),
          gapWidth: 2}})),
        data: [{...this.nodes.get(""), id: "layers"}],
        breadcrumb: {bottom: 2, itemStyle: {color: color("page"), borderColor: color("line"),
          textStyle: {color: color("text")}}, emphasis: {itemStyle: {color: color("line"),
          textStyle: {color: color("text")}}}}}],
    }, {notMerge: true});
    this.show(chart);
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
