"""Exported C, compiled with every warning an error and run under the sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZED = ["-O0", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")


def run(sources: list[Path], program: Path, *options: str) -> str:
    """Compile sources into a program and run it; return what it prints."""
    built = subprocess.run(
        ["gcc", *STRICT, *(options or SANITIZED), "-o", program, *sources, "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not built.returncode, built.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout
