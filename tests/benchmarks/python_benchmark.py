#!/usr/bin/env python3
"""What Python adds to an analysis, and how analyses share the cores: python_benchmark.py BINARY

Needs the package on PYTHONPATH (build/release/python). Started by hand: times are no test.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import threading
import time

import onnx_footprint

MODEL = pathlib.Path(__file__).parents[2] / "models/gpt2_xl.train_loss.onnx"
DIMS = {"batch": 1, "sequence": 1024}
ROUNDS = 40


def cpu_seconds() -> float:
    """Of this process and those that it waited for: other work on the machine does not count."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def milliseconds(*works) -> list[str]:
    """The least and the median of each; they take turns, so that a slow minute is a slow one of
    all."""
    times = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times):
            begin = cpu_seconds()
            work()
            taken.append(1e3 * (cpu_seconds() - begin))
    return [f"{min(taken):.1f} ms (median {statistics.median(taken):.1f})" for taken in times]


def command() -> None:
    arguments = [f"--dim={name}={value}" for name, value in DIMS.items()]
    with open(os.devnull, "wb") as nowhere:
        subprocess.run([sys.argv[1], "analyze", *arguments, "--format", "json", MODEL],
                       stdout=nowhere, check=True)


def analyze() -> None:
    onnx_footprint.analyze(MODEL, dim=DIMS).to_json()


def in_threads(count: int) -> float:
    """Analyses in a second."""
    each = 24 // count
    threads = [threading.Thread(target=lambda: [analyze() for _ in range(each)])
               for _ in range(count)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return each * count / (time.perf_counter() - begin)


def start() -> None:
    subprocess.run([sys.argv[1], "--version"], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    of_command, of_start, of_python = milliseconds(command, start, analyze)
    print(f"processor time: command {of_command}, of it its start {of_start}; "
          f"analyze().to_json() {of_python}")
    for count in (1, 2, 4, 8):
        print(f"{count} threads: {in_threads(count):.1f} analyses/s")


if __name__ == "__main__":
    main()
