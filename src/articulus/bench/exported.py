"""Row of exported C: forward dynamics of 7 revolutes, one state a call, beside Pinocchio's call from Python and CasADi's own C."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from articulus.bench import peers
from articulus.bench.models import Array, Model, chain
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import AGREE, Effort, difference, differs, race_row
from articulus.bench.timing import Contender
from articulus.bridges.c import export_quantities

ROWS = 512
"""States that one turn computes, call by call."""
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
