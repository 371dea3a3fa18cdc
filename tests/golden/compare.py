#!/usr/bin/env python3
"""Compares footprint with measured training steps and inference runs; writes a Markdown table.

    compare.py BINARY FOLDER [--filter GLOB] [--output results.md] [--precision fp32,bf16,...]

FOLDER holds pairs X.json (runs of one PyTorch module: bytes by phase) and X.*.onnx (its exports),
and optionally inference.jsonl. Figures are signed errors in percent; 0: equal to the byte.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import subprocess
import sys

FIELDS = [  # column, key of the measured run, path in the report
    ("param", "parameter_bytes", "training.parameter_bytes"),
    ("buffer", "buffer_bytes", "training.buffer_bytes"),
    ("input", "input_bytes", "training.input_bytes"),
    ("grad", "gradient_bytes", "training.gradient_bytes"),
    ("state", "optimizer_state_bytes", "training.optimizer_state_bytes"),
    ("saved", "saved_bytes", "training.saved_bytes"),
    ("after fwd", "after_forward_bytes", "training.after_forward_bytes"),
    ("forward", "peak_forward_bytes", "training.phases.forward.peak_bytes"),
    ("backward", "peak_backward_bytes", "training.phases.backward.peak_bytes"),
    ("optimizer", "peak_optimizer_bytes", "training.phases.optimizer.peak_bytes"),
    ("live", "peak_live_bytes", "training.peak.live_bytes"),
    ("allocated", "peak_allocated_bytes", "training.peak.allocated_bytes"),
    ("reserved", "peak_reserved_simulated_bytes", "training.peak.reserved_bytes"),
]


def look_up(document, path):
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def analyze(binary, model, arguments):
    command = [binary, "analyze", str(model), "--format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return None, f"exit {done.returncode}: {done.stderr.strip()[:100]}"
    if "error" in document:
        return None, document["error"]["message"][:100]
    return document, ""


def attention_of(measured, run):
    kernel = run.get("attention", "eager")
    return "math" if kernel == "eager" or ".sdpa" not in measured.name else kernel


def arguments_of(measured, run):
    arguments = ["--mode", "training", "--optimizer", run["optimizer"], "--precision",
                 run["precision"], "--attention", attention_of(measured, run)]
    for name in ("batch", "sequence"):
        if run.get(name):
            arguments += ["--dim", f"{name}={run[name]}"]
    return arguments


def pairs(folder):
    """(measured file, model file): which exports a file of measurements speaks of."""
    for measured in sorted(folder.glob("*.json")):
        if measured.name == "variants.json":
            continue
        name = measured.name[: -len(".json")]
        fused = name.endswith(".sdpa")
        base = name[: -len(".sdpa")] if fused else name
        exports = sorted(folder.glob(base + ".train*.onnx"))
        if not fused:  # folded norms put back; dropout is lost for good
            exports += [folder / f"{base}.{kind}.onnx" for kind in ("eval", "eval_dynamo")]
        for model in filter(pathlib.Path.exists, exports):
            kind = model.name[len(base) + 1: -len(".onnx")]
            of_fused = "sdpa" in kind or "opset24" in kind
            if fused and ("eager" in kind or "unoptimized" in kind or "static" in kind):
                continue
            if not fused and of_fused:
                continue
            if fused and kind == "train":
                continue
            yield measured, model


def symbols_free(arguments, model):
    """A static export has no names to bind."""
    if "_static" not in model.name:
        return arguments
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "--dim":
            skip = True
        else:
            kept.append(argument)
    return kept


def error(measured, found):
    if measured is None or found is None:
        return None
    if measured == found:
        return 0.0
    return 100.0 * (found - measured) / measured if measured else float("inf")


def cell(value):
    if value is None:
        return "-"
    return "0" if value == 0 else f"{value:+.3g}"


def training_rows(options, folder):
    for measured, model in pairs(folder):
        if not fnmatch.fnmatch(model.name, options.filter):
            continue
        data = json.loads(measured.read_text())
        for run in data["runs"]:
            if options.precision and run["precision"] not in options.precision:
                continue
            if "_static" in model.name and any(
                    run.get(k) != v for k, v in data.get("static", {}).items()):
                continue
            report, problem = analyze(options.binary, model,
                                      symbols_free(arguments_of(measured, run), model))
            yield measured, model, run, report, problem


def print_figures(rows, columns, header, out):
    """`rows`: (cells of `header`, the measured run, the report or None, its problem)."""
    names = [column for column, _, _ in columns]
    print("| " + " | ".join(header + names + ["note"]) + " |", file=out)
    print("|" + "---|" * (len(header) + len(names) + 1), file=out)
    exact = collections.Counter()
    total = 0
    for cells, run, report, note in rows:
        total += 1
        cells = list(cells)
        for column, key, path in columns:
            found = error(run.get(key), look_up(report, path)) if report else None
            exact[column] += found == 0.0
            cells.append(cell(found))
        if report:
            generic = look_up(report, "training.generic_operators") or []
            note = ("generic: " + ", ".join(generic)[:60]) if generic else ""
        cells.append(note.replace("|", "/").replace("\n", " "))
        print("| " + " | ".join(cells) + " |", file=out)
    print(f"\nExact to the byte of {total} runs: "
          + ", ".join(f"{name} {exact[name]}" for name in names) + ".\n", file=out)


def print_training(options, folder, out):
    def rows():
        for measured, model, run, report, problem in training_rows(options, folder):
            binding = "x".join(str(run[k]) for k in ("batch", "sequence") if run.get(k))
            yield ([model.name, binding, run["precision"], run["optimizer"],
                    attention_of(measured, run)], run, report, problem)

    print("## Training: error in percent against PyTorch\n", file=out)
    print_figures(rows(), FIELDS, ["model", "binding", "precision", "optimizer", "attention"], out)


CHECKPOINTS = {"every residual block (layerK.J)": "glob:layer?.?"}


def variant_rows(options, folder):
    for kind, runs in json.loads((folder / "variants.json").read_text()).items():
        for run in runs:
            model = folder / (run["model"] + ".train.onnx")
            if not fnmatch.fnmatch(model.name, options.filter):
                continue
            arguments = ["--mode", "training", "--optimizer", run["optimizer"], "--precision",
                         run["precision"], "--dim", f"batch={run['batch']}",
                         "--step-inputs", "dropped"]
            for pattern in run.get("freeze", []):
                arguments += ["--freeze", pattern]
            if "accumulate" in run:
                arguments += ["--accumulate", str(run["accumulate"])]
            if "checkpoint" in run:
                arguments += ["--checkpoint", CHECKPOINTS[run["checkpoint"]]]
            detail = run["optimizer"] if kind == "optimizers" else f"{kind} {run[kind]}"
            yield [model.name, str(run["batch"]), detail], run, *analyze(
                options.binary, model, arguments)


def print_variants(options, folder, out):
    if not (folder / "variants.json").exists():
        return
    print("## Variants of the step: error in percent against PyTorch\n", file=out)
    columns = [field for field in FIELDS if field[0] != "input"]
    print_figures(variant_rows(options, folder), columns, ["model", "batch", "variant"], out)


def print_inference(options, folder, out):
    lines = folder / "inference.jsonl"
    if not lines.exists():
        return
    print("## Inference: ideal liveness peak against what ONNX Runtime allocated\n", file=out)
    print("| model | binding | measured | ideal | error |\n|---|---|---|---|---|", file=out)
    for line in lines.read_text().splitlines():
        run = json.loads(line)
        if run["optimization"] != "none" or not fnmatch.fnmatch(run["model"], options.filter):
            continue
        arguments = ["--mode", "inference"]
        for name, value in run["bindings"].items():
            arguments += ["--dim", f"{name}={value}"]
        report, problem = analyze(options.binary, folder / run["model"], arguments)
        found = look_up(report, "inference.activation_peak_bytes") if report else None
        bindings = ", ".join(f"{k}={v}" for k, v in run["bindings"].items())
        difference = cell(error(run["peak_bytes"], found))
        print(f"| {run['model']} | {bindings} | {run['peak_bytes']} | "
              f"{found if report else problem} | {difference} |", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--precision", type=lambda text: text.split(","))
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--only", choices=["training", "inference"])
    options = parser.parse_args()
    out = options.output.open("w") if options.output else sys.stdout
    print("# Accuracy\n\nWritten by tests/golden/compare.py; 0: equal to the byte.\n", file=out)
    if options.only != "inference":
        print_training(options, options.folder, out)
        print_variants(options, options.folder, out)
    if options.only != "training":
        print_inference(options, options.folder, out)


if __name__ == "__main__":
    main()
