"""What the numbers belong to: processor, versions, date, and how many flops the core can do."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from itertools import permutations
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from articulus import kernel
from articulus.bench.timing import Contender, race
from articulus.kernel.jit import host, versions

INPUTS, LENGTH, SUMS = 10, 8, 4
"""Short chains of multiply-adds on a few inputs: enough of them in flight to fill the pipelines."""


def machine(seconds: float) -> dict[str, Any]:
    """Return processor, versions and date; `peak_gflops` is measured for about that many seconds."""
    code = versions()
    return {
        "cpu": _cpu_name(),
        "llvm_cpu": code["cpu"],
        "cores": os.cpu_count(),
        "vector_bits": 64 * host().lanes,
        "fma": host().fma,
        "peak_gflops": round(peak_gflops(seconds), 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "articulus": _version("articulus"),
        "casadi": _version("casadi"),
        "llvmlite": code["llvmlite"],
        "llvm": code["llvm"],
        "numpy": np.__version__,
        "pin": _version("pin"),
        "mujoco": _version("mujoco"),
        "exudyn": _version("exudyn"),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def sentence(facts: dict[str, Any]) -> str:
    """Return the machine in one line."""
    width = f"{facts['vector_bits']}-bit vectors{' with FMA' if facts['fma'] else ''}"
    core = f"{facts['cpu']} ({facts['llvm_cpu']}), {width}, {facts['peak_gflops']:g} Gflop/s a core"
    names = ("python", "articulus", "casadi", "llvmlite", "llvm", "numpy", "pin", "mujoco", "exudyn")
    packages = ", ".join(f"{name} {facts[name] or 'absent'}" for name in names)
    return f"{core}; {packages}; {facts['date']}"


def peak_gflops(seconds: float) -> float:
    """Return the rate at which the core does multiply-adds on values in registers, compiled by our own kernel.

    The practical peak of one core: hand-written loops reach about a tenth more.
    """
    program = kernel.compile(_multiply_adds())
    rows = np.random.default_rng(0).uniform(high=0.5, size=(1024, INPUTS))
    time = race([Contender("peak", lambda: program(rows), len(rows))], seconds)[0]
    return 1e-3 * program.flops / time


def _multiply_adds() -> ca.Function:
    x = ca.SX.sym("x", INPUTS)
    sums = [ca.SX(0)] * SUMS
    for k, (i, j, l) in enumerate(permutations(range(INPUTS), 3)):
        y = x[i]
        for _ in range(LENGTH):
            y = y * x[j] + x[l]
        sums[k % SUMS] += y * x[l]
    return ca.Function("multiply_adds", [x], [sum(sums)])


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
