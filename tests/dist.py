"""`make dist`: wheel and source archive, installed in an environment of their own, where they pass the examples and the published cases."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "dist"


def run(*command: object, folder: Path) -> None:
    """Run a command outside the repository, as somebody who has never seen it."""
    environment = {k: x for k, x in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))} | {
        "MPLBACKEND": "Agg"
    }
    subprocess.run([str(part) for part in command], cwd=folder, env=environment, check=True)


def environment(folder: Path, *packages: object) -> Path:
    """Return the folder of programs of a fresh environment with some packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "pip", "install", "-q", *packages, folder=folder)
    return programs


def check(package: Path, folder: Path) -> None:
    """Install a package and run what users run first."""
    programs = environment(
        folder / "environment", f"{package}[data]"
    )  # a published case keeps its runs in netCDF files
    shutil.copytree(ROOT / "examples", folder / "examples")
    where = "import articulus, pathlib; assert str(pathlib.Path(articulus.__file__)).startswith({!r})"
    run(programs / "python", "-c", where.format(str(folder)), folder=folder)
    for example in sorted((folder / "examples").glob("[0-9][0-9]_*.py")):
        print(example.name, flush=True)
        run(programs / "python", example, folder=folder)
    run(programs / "articulus", "verify", folder=folder)


def main() -> None:
    """Build both, check both."""
    with tempfile.TemporaryDirectory(prefix="articulus-dist-") as held:
        scratch = Path(held)
        tools = environment(scratch / "tools", "build", "hatchling")
        shutil.rmtree(OUT, ignore_errors=True)
        subprocess.run(
            [str(tools / "python"), "-m", "build", "--no-isolation", "-o", str(OUT), str(ROOT)], check=True
        )
        for package in sorted(OUT.iterdir()):
            print(package.name, flush=True)
            folder = scratch / package.suffix.strip(".")
            folder.mkdir()
            check(package, folder)


if __name__ == "__main__":
    main()
