#!/usr/bin/env python3
"""Compares the events of a training step with measured ones, row by row; writes Markdown.

    trace.py BINARY FOLDER [--filter GLOB] [--show N] [--output traces.md]

FOLDER/trace/X.PRECISION.trace.csv holds the measured rows of the first run of that precision in
X.json, in time order: each operator that made storages, their bytes (in units of 512), and the live
bytes after it. footprint's own rows are those of `--dump replay`, one for each storage. A measured
row agrees if the next storages of footprint add up to its bytes, and as much was freed since the
row before. Where the two part, --show N prints what either has, N places of each trace.
"""

import argparse
import csv
import fnmatch
import itertools
import json
import pathlib
import re
import subprocess
import sys

import compare

PHASES = {"fwd": "forward", "bwd": "backward", "opt": "optimizer"}
GRANULE = 512
LOOK_AHEAD = 60  # rows in which the two are looked for together again
MADE = re.compile(r"  \+(\d+|\?) = (\d+) (.*)")
EXPORTS = (".train_loss.onnx", ".train_loss_dynamo_eager.onnx", ".train_loss_dynamo.onnx",
           ".train.onnx")


class Row:
    """Storages made by one operator (measured) or one storage (footprint)."""

    def __init__(self, phase, name, made, live):
        self.phase, self.name, self.made, self.live = phase, name, made, live
        self.freed = 0  # since the row before

    def __str__(self):
        return f"-{self.freed} +{self.made} = {self.live} {self.name[:90]}"


def with_freed(rows):
    for before, row in zip(rows, rows[1:]):
        row.freed = before.live + row.made - row.live
    return [row for row in rows if row.made > 0]


def measured_rows(path):
    """Without additions in place, whose rows name the bytes of a result that was never made."""
    rows, live = [], 0
    with path.open() as lines:
        for line in csv.DictReader(lines):
            row = Row(PHASES[line["phase"]], line["operator"], int(line["new_bytes"]),
                      int(line["live_bytes"]))
            in_place = row.name == "add.Tensor" and row.phase == "backward" and row.live == live
            if row.name != "(freed)" and not in_place:
                rows.append(row)
            live = row.live
    return with_freed(rows)


def found_rows(text):
    rows, step = [], "before"
    for line in text.splitlines():
        made = MADE.fullmatch(line)
        if made and step != "forward inputs":
            size = 0 if made[1] == "?" else int(made[1])
            rows.append(Row(step.split(" ")[0], step.split(" ", 1)[1] + ", " + made[3],
                            (size + GRANULE - 1) // GRANULE * GRANULE, int(made[2])))
        elif not line.startswith(" "):
            step = line
    return with_freed(rows)


def agreeing(row, found, at):
    """How many of found[at:] make up the measured row; 0: they do not."""
    made = freed = 0
    for count, other in enumerate(itertools.islice(found, at, None), 1):
        made, freed = made + other.made, freed + other.freed
        if other.phase != row.phase or made > row.made:
            return 0
        if made == row.made:
            return count if freed == row.freed else 0
    return 0


def next_meeting(measured, i, found, j):
    """The nearest pair of rows from (i, j) on that agree and whose next rows do too."""
    for distance in range(1, 2 * LOOK_AHEAD):
        for di in range(max(0, distance - LOOK_AHEAD), min(distance, LOOK_AHEAD) + 1):
            a, b, length = i + di, j + distance - di, 0
            while a < len(measured) and length < 3:
                count = agreeing(measured[a], found, b)
                if count == 0:
                    break
                a, b, length = a + 1, b + count, length + 1
            if length == 3 or (length > 0 and a == len(measured)):
                return i + di, j + distance - di
    return len(measured), len(found)


def differences(measured, found):
    """Runs of rows that do not agree: pairs of lists, the measured ones and footprint's."""
    i = j = 0
    while i < len(measured) or j < len(found):
        count = agreeing(measured[i], found, j) if i < len(measured) else 0
        if count > 0:
            i, j = i + 1, j + count
            continue
        next_i, next_j = next_meeting(measured, i, found, j)
        yield measured[i:next_i], found[j:next_j]
        i, j = next_i, next_j


def trace_pairs(folder, pattern):
    """(trace, model, the run that was traced)."""
    for trace in sorted((folder / "trace").glob("*.trace.csv")):
        name, precision = trace.name[: -len(".trace.csv")].split(".")
        runs = json.loads((folder / f"{name}.json").read_text())["runs"]
        run = next(run for run in runs if run["precision"] == precision)
        for model in (folder / (name + kind) for kind in EXPORTS):
            if model.exists() and fnmatch.fnmatch(model.name, pattern):
                yield trace, model, run


def compare_trace(options, trace, model, run):
    arguments = compare.arguments_of(trace, run)
    done = subprocess.run([options.binary, "analyze", str(model), "--dump", "replay", *arguments],
                          capture_output=True, text=True, check=True, timeout=120)
    measured, found = measured_rows(trace), found_rows(done.stdout)
    cells, shown = [], 0
    for phase in PHASES.values():
        rows = [row for row in measured if row.phase == phase]
        parted = list(differences(rows, [row for row in found if row.phase == phase]))
        unequal = sum(len(theirs) for theirs, _ in parted)
        cells.append(f"{len(rows) - unequal} of {len(rows)}" + (
            f", {len(parted)} places" if parted else ""))
        for theirs, ours in parted[: max(0, options.show - shown)]:
            shown += 1
            print(f"{model.name} {run['precision']}:", file=sys.stderr)
            for row in theirs[:12]:
                print(f"    measured {row}", file=sys.stderr)
            for row in ours[:12]:
                print(f"    found    {row}", file=sys.stderr)
    return cells


NOTE = """
Where rows part: in forward, arithmetic on indices and masks, which costs at most 1 MiB here, and
frequencies of rotations that Python names for longer; efficientnet's dropout in place.
Additions in place have a measured row but make nothing.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--filter", default="*")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    out = options.output.open("w") if options.output else sys.stdout
    print("# Traces\n\nWritten by tests/golden/trace.py: measured rows that agree with "
          "footprint's, by phase.\n", file=out)
    print("| model | binding | precision | forward | backward | optimizer |\n"
          "|---|---|---|---|---|---|", file=out)
    for trace, model, run in trace_pairs(options.folder, options.filter):
        binding = "x".join(str(run[k]) for k in ("batch", "sequence") if run.get(k))
        cells = compare_trace(options, trace, model, run)
        print("| " + " | ".join([model.name, binding, run["precision"], *cells]) + " |", file=out)
    print(NOTE, end="", file=out)


if __name__ == "__main__":
    main()
