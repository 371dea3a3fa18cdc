#!/usr/bin/env python3
"""Checks that the figures of reports add up: storages to layers, layers to totals, rounding apart.

    consistency.py BINARY MODEL...     every model in every mode; prints what disagrees, exit code 1
"""

import collections
import json
import subprocess
import sys

GRANULARITY = 512


def report_of(binary, model, mode):
    done = subprocess.run([binary, "analyze", model, "--mode", mode, "--format", "json"],
                          capture_output=True, text=True, timeout=300)
    document = json.loads(done.stdout)
    if done.returncode != 0:
        raise ValueError(f"exit {done.returncode}: {document.get('error')}")
    return document


def by_category(storages):
    sums = collections.Counter()
    for storage in storages:
        sums[storage["category"]] += storage["bytes"] or 0
    return sums


def check_sums(report):
    """Yields one line for each disagreement."""
    storages = by_category(report["storages"])
    layers = collections.Counter()
    for layer in report["layers"]:
        layers.update(layer["bytes"])
    for category in sorted(set(storages) | set(layers)):
        if storages[category] != layers[category]:
            yield f"{category}: storages {storages[category]}, layers {layers[category]}"
    root = next(layer for layer in report["layers"] if layer["path"] == "")
    for category, value in root["bytes_with_children"].items():
        if value != layers[category]:
            yield f"{category}: root with children {value}, layers {layers[category]}"
    rounding = sum(-(storage["bytes"] or 0) % GRANULARITY for storage in report["storages"])
    if rounding != report["rounding_bytes"]:
        yield f"rounding: storages {rounding}, report {report['rounding_bytes']}"


def check_training(report):
    training, storages = report["training"], by_category(report["storages"])
    totals = {"parameter": "parameter_bytes", "buffer": "buffer_bytes", "input": "input_bytes",
              "gradient": "gradient_bytes", "optimizer_state": "optimizer_state_bytes",
              "saved_activation": "saved_excluding_inputs_bytes"}
    for category, key in totals.items():
        if training[key] is not None and training[key] != storages[category]:
            yield f"training.{key} {training[key]}, storages {storages[category]}"
    phases = [phase["peak_bytes"] for phase in training["phases"].values() if phase["peak_bytes"]]
    if training["peak"]["live_bytes"] != max(phases):
        yield f"peak {training['peak']['live_bytes']}, phases {phases}"
    live = sum(-(-row["bytes"] // GRANULARITY) * GRANULARITY for row in training["peak"]["live"])
    if live != training["peak"]["live_bytes"]:
        yield f"live storages sum to {live}, peak {training['peak']['live_bytes']}"


def check_inference(report):
    inference = report["inference"]
    parts = sum(inference[key] for key in ("activation_peak_bytes", "input_bytes", "weight_bytes"))
    if parts != inference["peak"]["live_bytes"]:
        yield f"inference parts {parts}, peak {inference['peak']['live_bytes']}"
    live = sum(row["bytes"] for row in inference["peak"]["live"])
    if live != inference["peak"]["live_bytes"]:
        yield f"inference live storages {live}, peak {inference['peak']['live_bytes']}"


def check_tensors(report):
    ids = {storage["id"] for storage in report["storages"]}
    for tensor in report["tensors"]:
        if tensor["storage"] and tensor["storage"] not in ids:
            yield f"tensor {tensor['name']} names storage {tensor['storage']}, which is not listed"


def main():
    binary, models = sys.argv[1], sys.argv[2:]
    problems = 0
    for model in models:
        for mode in ("training", "inference", "both"):
            report = report_of(binary, model, mode)
            found = list(check_sums(report)) + list(check_tensors(report))
            if report["training"]:
                found += check_training(report)
            if report["inference"]:
                found += check_inference(report)
            for line in found:
                print(f"{model} ({mode}): {line}")
            problems += len(found)
    print(f"{len(models)} models, {problems} disagreements")
    return 1 if problems or not models else 0


if __name__ == "__main__":
    sys.exit(main())
