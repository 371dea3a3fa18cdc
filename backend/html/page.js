// Fills the page from its data.

const data = JSON.parse(document.getElementById("data").textContent);
const text = (index) => data.strings[index];

function folded(summary, fill) {
  const details = element("details", {}, element("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) fill(details);
  });
  return details;
}

function showRun(encoded) {
  const run = decodeRun(encoded, text);
  if (run.live.length === 0) return;
  const id = "run-" + run.run;
  const section = element("section", {"aria-labelledby": id},
    element("h2", {id}, run.run === "training" ? "A training step" : "Inference"));
  document.getElementById("runs").append(section);
  new Timeline(section, run);
  section.append(folded(`All ${withThousands(run.live.length)} steps as a table`,
    (details) => stepsTable(details, run)));
  if (run.peakOf) {
    section.append(element("h3", {}, "Who is alive at the peak"));
    if (run.peakOf.place) section.append(element("p", {class: "hint"}, "The peak is " +
      run.peakOf.place + "."));
    aliveTable(section, run, text);
  }
}

function showLayers() {
  if (data.layers.path.length === 0) return;
  const section = document.getElementById("layers");
  section.hidden = false;
  const map = new LayerMap(section, data.layers, text);
  layersTable(section, data.layers, text, map);
}

function showTensors() {
  const {tensors} = data;
  const section = document.getElementById("tensors");
  section.hidden = false;
  const column = (title, name) => ({title, get: (row) => text(tensors[name][row])});
  new DataTable(section, "Tensors", tensors.name.length, [
    {...column("tensor", "name"), name: true}, ...sizeColumns((row) => tensors.bytes[row]),
    column("type", "dtype"), column("shape", "shape"),
    {title: "category", get: (row) => words(text(tensors.category[row]))},
    column("layer", "layer"), column("made by", "producer"), column("saved by", "saved_by"),
    column("certainty", "certainty"),
  ], {sort: 1});
}

if (data.sweep) showSweep(data.sweep);
for (const run of data.runs) showRun(run);
showLayers();
showTensors();
document.documentElement.dataset.ready = "true";
