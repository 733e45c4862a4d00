"""What a mechanism leaves behind in the process when it is dropped; `long_memory.py` measures it over 2,000."""

from __future__ import annotations

import gc
from collections import Counter, OrderedDict

import numpy as np

from articulus import kernel
from articulus.dynamics import tree
from articulus.kernel import jit
from articulus.simulation.loop.functions import native

from .long_memory import pendulum, use

FEW, MANY = 2, 6
TYPES = (
    "Mechanism",
    "Description",
    "Tree",
    "_WorkingFrames",
    "System",
    "Network",
    "Source",
    "Kernel",
    "Native",
)


def alive() -> Counter[str]:
    gc.collect()
    return Counter(type(x).__name__ for x in gc.get_objects() if type(x).__name__ in TYPES)


def test_mechanisms_are_forgotten(monkeypatch, tmp_path):
    """With tables of two entries, six mechanisms leave no more behind than three."""
    monkeypatch.setenv("ARTICULUS_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel, "MOST", FEW)
    monkeypatch.setattr(kernel, "_sources", OrderedDict())
    monkeypatch.setattr(kernel, "_kernels", OrderedDict())
    monkeypatch.setattr(jit, "PER_ENGINE", 5)
    counts = []
    for k in range(MANY):
        use(k)
        native.cache_clear()  # a table of 512 functions
        tree._build_tree.cache_clear()  # a table of 8 trees
        if k in (FEW, MANY - 1):
            counts.append(alive())
    grown = {name: (counts[0][name], counts[-1][name]) for name in TYPES}
    assert all(last <= first for first, last in grown.values()), grown
    assert counts[-1]["Native"] > 0


def test_code_outlives_its_engine(monkeypatch, tmp_path):
    """A kernel that is held works on after later ones came from newer engines, and after it left all tables."""
    monkeypatch.setenv("ARTICULUS_CACHE", str(tmp_path))
    monkeypatch.setattr(jit, "PER_ENGINE", 1)
    monkeypatch.setattr(kernel, "MOST", 1)
    held = pendulum(0)
    before = held.forward_dynamics([0.1], [0.0], [0.0])
    for k in range(1, 4):
        pendulum(k).forward_dynamics([0.1], [0.0], [0.0])
    gc.collect()
    assert np.array_equal(held.forward_dynamics([0.1], [0.0], [0.0]), before)
    assert np.array_equal(pendulum(0).forward_dynamics([0.1], [0.0], [0.0]), before)
