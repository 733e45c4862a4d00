"""How far one walks through the package for one call: functions, modules, the deepest chain of modules on the stack.

    python tests/api/walks.py            # figures of all walks
    python tests/api/walks.py simulate   # the modules of one, in the order in which they are first entered

Counted while it runs (`sys.setprofile`), functions of the package only: bodies of modules and classes, comprehensions and
lambdas are left out. Every walk is made in a process of its own with an empty kernel cache, so it is the first one.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any


@dataclass
class Walk:
    """What a call goes through.

    Attributes
    ----------
    modules : dict
        Modules in the order in which they are first entered, each with the functions that were called.
    calls, across : int
        Calls of functions, and those of them that come from another module.
    chain : tuple of str
        The deepest chain: different modules that are on the stack at once.
    """

    root: str
    modules: dict[str, set[str]] = field(default_factory=dict)
    calls: int = 0
    across: int = 0
    chain: tuple[str, ...] = ()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call, for `sys.setprofile`."""
        if event != "call" or not self._counts(frame):
            return
        name, stack = self._module(frame), self._stack(frame)
        if stack is None:
            return
        self.modules.setdefault(name, set()).add(frame.f_code.co_qualname)
        self.calls += 1
        self.across += len(stack) < 2 or stack[1] != name
        chain = tuple(dict.fromkeys(reversed(stack)))
        if len(chain) > len(self.chain):
            self.chain = chain

    def _counts(self, frame: FrameType) -> bool:
        code = frame.f_code
        return (
            code.co_filename.startswith(self.root)
            and not code.co_name.startswith("<")
            and bool(code.co_flags & inspect.CO_OPTIMIZED)  # not so for the body of a class
        )

    def _module(self, frame: FrameType) -> str:
        return frame.f_code.co_filename[len(self.root) + 1 :]

    def _stack(self, frame: FrameType | None) -> list[str] | None:
        """Return the modules of the functions on the stack, the innermost first; None while a module is imported."""
        found: list[str] = []
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(self.root):
                return None
            if self._counts(frame):
                found.append(self._module(frame))
            frame = frame.f_back
        return found


def walk(call: Callable[[], object]) -> Walk:
    """Return what a call goes through."""
    import articulus

    found = Walk(str(Path(articulus.__file__).parent))
    sys.setprofile(found)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def _arm() -> Any:
    import articulus as art

    return art.load("two_link")


def _loop() -> dict[str, Any]:
    import articulus as art

    return {"controller": art.components.PD(kp=900.0, kd=300.0), "q0": [0.4, 0.2]}


def _study() -> Path:
    """Return the file of a study of an arm with a PD controller, in a folder of its own."""
    place = Path(tempfile.mkdtemp()) / "arm.toml"
    place.write_text(STUDY)
    return place


STUDY = """
schema = 1

[study]
name = "arm"
model = "two_link"

[run]
t_end = 1.0
step = 1e-3

[initial.q]
joint1 = 0.4
joint2 = 0.2

[[component]]
type = "pd"
name = "servo"
kp = 900.0
kd = 300.0

[campaign.vary]
"servo.kp" = {uniform = [800.0, 1000.0]}
"""


def dynamics() -> Callable[[], object]:
    """Compute accelerations of 100 states for the first time."""
    import numpy as np

    arm = _arm()
    return lambda: arm.forward_dynamics(np.ones((100, 2)), np.ones(2), np.zeros(2))


def simulate() -> Callable[[], object]:
    """Simulate an arm with a PD controller for the first time."""
    import articulus as art

    arm, loop, call = _arm(), _loop(), art.simulate
    return lambda: call(arm, 1.0, **loop)


def simulate_again() -> Callable[[], object]:
    """The same once more, its code at hand."""
    call = simulate()
    call()
    return call


def save() -> Callable[[], object]:
    """Save the run."""
    run: Any = simulate()()
    place = Path(tempfile.mkdtemp()) / "run.nc"
    return lambda: run.save(place)


def study() -> Callable[[], object]:
    """Read a study, run it and write its report."""
    from articulus.study.reader import read_study
    from articulus.study.runner import run_study

    place = _study()
    return lambda: run_study(read_study(place), place.parent / "out")


def campaign() -> Callable[[], object]:
    """Run eight runs of a study in this process."""
    from articulus.study.campaign import run

    place = _study()
    return lambda: run(place, runs=8, output=place.parent / "out")


WALKS = {each.__name__: each for each in (dynamics, simulate, simulate_again, save, study, campaign)}


def main() -> None:
    """Print the figures of all walks, or what one goes through."""
    if len(sys.argv) > 1:
        found = walk(WALKS[sys.argv[1]]())
        count = sum(map(len, found.modules.values()))
        print(
            f"{sys.argv[1]}: calls {found.calls}, across modules {found.across}, functions {count}, "
            f"modules {len(found.modules)}, deepest chain {len(found.chain)}"
        )
        if len(sys.argv) == 2:
            for name, functions in found.modules.items():
                print(f"  {name:50} {', '.join(sorted(functions)):.120}")
            print("deepest:", *found.chain, sep="\n  ")
        return
    for name in WALKS:
        with tempfile.TemporaryDirectory() as cache:
            subprocess.run(
                [sys.executable, __file__, name, "-"], env=os.environ | {"ARTICULUS_CACHE": cache}, check=True
            )


if __name__ == "__main__":
    main()
