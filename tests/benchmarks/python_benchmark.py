#!/usr/bin/env python3
"""What Python adds to an analysis, and how analyses share the cores: python_benchmark.py BINARY

Needs the package on PYTHONPATH (build/release/python). Started by hand: times are no test.
"""

import os
import pathlib
import subprocess
import sys
import threading
import time

import onnx_footprint

MODEL = pathlib.Path(__file__).parents[2] / "models/gpt2_xl.train_loss.onnx"
DIMS = {"batch": 1, "sequence": 1024}
ROUNDS = 20


def cpu_seconds() -> float:
    """Of this process and those that it waited for: other work on the machine does not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def milliseconds(work) -> float:
    begin = cpu_seconds()
    for _ in range(ROUNDS):
        work()
    return 1e3 * (cpu_seconds() - begin) / ROUNDS


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
    print(f"processor time: command {milliseconds(command):.1f} ms, of it its start "
          f"{milliseconds(start):.1f} ms; analyze().to_json() {milliseconds(analyze):.1f} ms")
    for count in (1, 2, 4, 8):
        print(f"{count} threads: {in_threads(count):.1f} analyses/s")


if __name__ == "__main__":
    main()
