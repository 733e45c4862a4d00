"""Rows of exports: C of forward dynamics of 7 revolutes beside Pinocchio's call from Python, and a step of a functional mock-up unit."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from articulus.bench import peers
from articulus.bench.models import Array, Model, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, Effort, difference, differs, race_row
from articulus.bench.timing import Contender, race
from articulus.bridges.c import export_quantities
from articulus.model.load import load
from articulus.simulation.loop.components import ComputedTorque
from articulus.simulation.running import Loop

ROWS = 512
"""States that one turn computes, call by call."""
UNIT_STEPS, CALL = 1000, 10
"""Steps of a run of a unit, and of one call of it."""
MANY = """
void many(int n, const double *q, const double *v, const double *tau, double *vdot)
{{
    int k;
    for (k = 0; k < n; k++)
        arm_forward_dynamics(q + {nq} * k, v + {nv} * k, tau + {nv} * k, vdot + {nv} * k);
}}
"""


def c_export(effort: Effort) -> Iterator[Measurement]:
    """Yield exported C of forward dynamics, gcc -O2, against Pinocchio's aba called from Python."""
    model = chain(7)
    title = "exported C of forward dynamics, gcc -O2, one state a call"
    row = partial(Measurement, title, model.nv, bar=FigureLimit(4))
    if not peers.compiler():
        yield row(note="no C compiler found: skipped")
        return
    with TemporaryDirectory(prefix="articulus-bench-") as folder:
        states = tuple(np.ascontiguousarray(x[:ROWS]) for x in model.states(ROWS))
        ours, found = _contender(model, states, Path(folder))
        gap = difference([model.mechanism.forward_dynamics(*states)], [found])
        if not gap <= AGREE:
            yield row(failed=True, note=differs(gap))
            return
        rivals = [peers.generated_c(model.mechanism.function("forward_dynamics"), states, Path(folder))[0]]
        if peers.pinocchio():
            rivals = [peers.Pinocchio(model).loop("aba", *states)]
        yield race_row(row, ours, rivals, effort, f"agree to {gap:.0e}")


def _contender(model: Model, states: tuple[Array, ...], folder: Path) -> tuple[Contender, Array]:
    """Return the exported function as a contender, and what it gave."""
    export_quantities(model.mechanism, ["forward_dynamics"], folder, name="arm")
    loop = '#include "arm.h"\n' + MANY.format(nq=model.mechanism.nq, nv=model.nv)
    (folder / "many.c").write_text(loop)
    library = folder / "arm.so"
    command = [
        str(peers.compiler()),
        "-O2",
        "-std=c99",
        "-shared",
        "-fPIC",
        "arm.c",
        "many.c",
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    many = ctypes.CDLL(str(library)).many
    result = np.zeros((ROWS, model.nv))
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*states, result)]

    def run(_keep: object = (states, result)) -> None:
        many(ROWS, *pointers)

    run()
    return Contender("articulus, exported C", run, ROWS), result.copy()


def unit_step(effort: Effort) -> Iterator[Measurement]:
    """Yield a step of an arm with a sampled controller as a functional mock-up unit in FMPy's hands, over one of `simulate`."""
    title = f"FMU, arm with sampled controller, one step of 1 ms, {CALL} a call, over simulate's"
    if not (peers.compiler() and importlib.util.find_spec("fmpy")):
        yield Measurement(title, 6, note="no C compiler, or FMPy (extra `fmi`) is not installed: skipped")
        return
    loop = Loop(load("puma600"), components=[ComputedTorque(kp=36, kd=12, period=0.002)])
    start = [0.1] * 6
    with TemporaryDirectory(prefix="articulus-bench-") as folder:
        unit = _unit(loop.export_fmu(Path(folder) / "arm.fmu", start, step=1e-3), Path(folder))
        run = partial(loop.simulate, UNIT_STEPS * 1e-3, start, step=1e-3, outputs=())
        ours, simulate = race(
            [Contender("unit", unit, UNIT_STEPS), Contender("simulate", run, UNIT_STEPS)], effort.seconds
        )
    yield Measurement(
        title, 6, ours_us=ours, peer="simulate", peer_us=simulate, value=ours / simulate, bar=FigureLimit(3, at_least=False)
    )  # fmt: skip


def _unit(path: Path, folder: Path) -> Callable[[], None]:
    """Return what runs a unit from its start through all steps."""
    import fmpy
    from fmpy.fmi3 import FMU3Slave

    place = fmpy.extract(str(path), str(folder / "unit"))
    told = fmpy.read_model_description(str(path))
    unit = FMU3Slave(
        guid=told.guid, unzipDirectory=place, modelIdentifier=told.coSimulation.modelIdentifier, instanceName="arm"
    )  # fmt: skip
    unit.instantiate()

    def run() -> None:
        unit.reset()
        unit.enterInitializationMode(startTime=0.0)
        unit.exitInitializationMode()
        for k in range(0, UNIT_STEPS, CALL):
            unit.doStep(k * 1e-3, CALL * 1e-3)

    return run
