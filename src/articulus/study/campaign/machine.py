"""Versions and processor: what the bits of a run may depend on besides the campaign."""

from __future__ import annotations

import functools
import hashlib
from importlib.metadata import version

from articulus.dynamics.compiled import source_digest
from articulus.kernel.jit import host, versions

PACKAGES = ("articulus", "casadi", "numpy", "scipy", "llvmlite")
WRITERS = (
    "spatial",
    "model/mechanism",
    "dynamics",
    "simulation/integrate",
    "simulation/loop",
    "simulation/running",
    "kernel",
    "study/campaign",
)
"""Packages whose code decides the numbers of a run."""


@functools.cache
def machine() -> dict[str, str]:
    """Return versions and the type of the processor, by name."""
    found = versions()
    features = hashlib.sha256(found["features"].encode()).hexdigest()[:8]
    return {f"version of {name}": version(name) for name in PACKAGES} | {
        "source of articulus": source_digest(*WRITERS)[:16],
        "version of LLVM": found["llvm"],
        "processor": f"{found['cpu']}, {host().lanes} lanes, {features}",
    }
