#!/usr/bin/env python3
"""Compares footprint with what ONNX Runtime allocated in inference; writes a Markdown table.

    inference.py BINARY FOLDER [--output inference.md]

FOLDER holds inference.jsonl and the models it names. Each line is one model at one binding and one
level of graph optimization. `peak_bytes` is the most that was allocated at once: activations,
outputs and scratch. The error is signed; exit code 1 if a line is beyond what is promised.
"""

import argparse
import json
import pathlib
import subprocess
import sys

PROMISED = {"none": 1.0, "all": 5.0}  # percent, either way
LOWEST = -1.0  # percent: a figure that is too low is the harmful error
SHARE_OF_ALL = 0.9  # of the lines with `all` that must be within what is promised


def predict(binary, folder, line):
    command = [binary, "analyze", str(folder / line["model"]), "--mode", "inference",
               "--runtime", "both", "--graph-optimization", line["optimization"],
               "--format", "json", "--config", "none"]
    for name, value in line["bindings"].items():
        command += ["--dim", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    document = json.loads(done.stdout)
    if "error" in document:
        raise SystemExit(f"{line['model']}: {document['error']['message']}")
    return document["inference"]["runtimes"]


def compare(binary, folder):
    for text in (folder / "inference.jsonl").read_text().splitlines():
        line = json.loads(text)
        if "error" in line or line["optimization"] not in PROMISED:
            continue
        ideal, runtime = predict(binary, folder, line)
        measured = line["peak_bytes"]
        predicted = runtime["activation_peak_bytes"]
        yield {
            "model": line["model"],
            "bindings": " ".join(f"{k}={v}" for k, v in line["bindings"].items()),
            "optimization": line["optimization"],
            "measured": measured,
            "predicted": predicted,
            "scratch": runtime["scratch_bytes"],
            "ideal": ideal["activation_peak_bytes"],
            "error": 100 * (predicted - measured) / measured,
        }


def judge(rows):
    problems = []
    for level, limit in PROMISED.items():
        of_level = [row for row in rows if row["optimization"] == level]
        beyond = [row for row in of_level if abs(row["error"]) > limit]
        allowed = (1 - SHARE_OF_ALL) * len(of_level) if level == "all" else 0
        if len(beyond) > allowed:
            problems += [f"{r['model']} {r['bindings']}: {r['error']:+.3f} %" for r in beyond]
    problems += [f"{r['model']} {r['bindings']}: too low, {r['error']:+.3f} %"
                 for r in rows if r["error"] < LOWEST]
    return problems


def table(rows):
    equal = sum(row["predicted"] == row["measured"] for row in rows)
    within = sum(abs(row["error"]) <= 0.1 for row in rows)
    lines = [
        "# Inference: ONNX Runtime measured, and predicted",
        "",
        "Written by `tests/golden/inference.py BINARY FOLDER`. Measured with ONNX Runtime 1.32 on",
        "one CPU thread, memory patterns and arena off. Bytes of activations, outputs and scratch",
        "at the peak; the error is signed, in percent; `ideal` is the liveness peak.",
        "",
        f"{len(rows)} runs: {equal} equal to the byte, {within} within 0.1 %.",
        "",
        "| model | bindings | optimization | measured | predicted | scratch | error | ideal |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        error = "0" if row["predicted"] == row["measured"] else f"{row['error']:+.4f}"
        lines.append(f"| {row['model']} | {row['bindings']} | {row['optimization']} "
                     f"| {row['measured']:,} | {row['predicted']:,} | {row['scratch']:,} "
                     f"| {error} | {row['ideal']:,} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = list(compare(arguments.binary, arguments.folder))
    text = table(rows)
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text, end="")
    problems = judge(rows)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
