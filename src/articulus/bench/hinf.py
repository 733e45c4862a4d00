"""Rows of Hinf synthesis: search of the least gamma, controller and checks of its closed loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from articulus.bench import peers
from articulus.bench.row import FigureLimit, Measurement
from articulus.bench.rows import Effort
from articulus.bench.timing import Contender, race
from articulus.control import hinfnorm, hinfsyn
from articulus.control.connect import close, select
from articulus.control.plant import of_matrices
from articulus.control.synthesis.hinf_problem import Matrices
from articulus.errors import InputError

SIZES = ((20, 0.1), (60, 1.5), (200, 30.0))
"""States of the plant and the bar [s]."""
QUICK = ((8, 0.1),)
"""The same for a smoke run."""
AGREE = 1e-6
"""Relative difference from the peer's gamma."""
ATTAINED = 1e-5
"""Relative excess of the peer's closed loop over its gamma up to which it attains what it claims."""
PEER_STATES = 60
"""The most that the peer is asked for: it takes minutes with 200."""


def synthesis(effort: Effort) -> Iterator[Measurement]:
    """Yield the time of an optimal controller of a lightly damped beam beside SLICOT's SB10AD, and that of an infeasible one."""
    for n, limit in QUICK if effort.quick else SIZES:
        bar = None if effort.quick else FigureLimit(limit, at_least=False, unit="s")
        yield _row(n, bar, effort)
        yield _infeasible(n, bar, effort)


def _row(n: int, bar: FigureLimit | None, effort: Effort) -> Measurement:
    name, plant = "Hinf synthesis, beam with two pairs of actuators and sensors", beam(n)
    found = hinfsyn(plant, measured=2, commands=2)
    note = f"gamma {found.gamma:.7g}, computed from the closed loop; {found.gamma / found.gamma_optimal - 1:.0e} above the least"
    ours = Contender("articulus", lambda: hinfsyn(plant, measured=2, commands=2))
    rival = _slicot(plant) if n <= PEER_STATES else None
    if rival is None:
        (time,) = race([ours], effort.seconds, 2)
        return Measurement(name, n, ours_us=time, value=1e-6 * time, unit="s", bar=bar, note=note)
    claimed, reached = _claim(plant, rival())
    if reached > claimed * (1 + ATTAINED):
        note += f"; SB10AD claims {claimed:.7g}, its controller reaches {reached:.7g}"
    elif abs(claimed / found.gamma - 1) > AGREE:
        return Measurement(name, n, failed=True, note=f"{note}; SB10AD: {claimed:.7g}")
    time, theirs = race([ours, Contender("slycot.sb10ad", rival)], effort.seconds, 2)
    return Measurement(name, n, time, "slycot.sb10ad", theirs, 1e-6 * time, "s", bar, note=note)


def _infeasible(n: int, bar: FigureLimit | None, effort: Effort) -> Measurement:
    """Return the time until a rigid mode that no measured output shows is named."""
    A, B, C, D = beam(n)
    A, B, C = A.copy(), B.copy(), C.copy()
    A[n // 2, 0] = A[n // 2, n // 2] = 0.0
    C[4:, 0] = 0.0
    message = _refusal((A, B, C, D))
    (time,) = race([Contender("articulus", lambda: _refusal((A, B, C, D)))], effort.seconds, 2)
    right = "no output" in message
    note = "the rigid mode that no output shows is named" if right else f"found: {message}"
    return Measurement(
        "Hinf synthesis, infeasible",
        n,
        time,
        value=1e-6 * time,
        unit="s",
        bar=bar,
        failed=not right,
        note=note,
    )


def _refusal(plant: tuple) -> str:
    try:
        hinfsyn(plant, measured=2, commands=2)
    except InputError as error:
        return str(error)
    return "a controller"


def beam(n: int) -> Matrices:
    """Return n/2 modes of a simply supported beam, damping ratio 0.005: force in the middle, two collocated pairs."""
    k = n // 2
    modes = np.arange(1, k + 1)
    omega, shapes = modes**2.0, np.sin(np.pi * np.outer(modes, [0.31, 0.77]))
    A = np.block([[np.zeros((k, k)), np.eye(k)], [-np.diag(omega**2), -np.diag(0.01 * omega)]])
    B, C, D = np.zeros((n, 5)), np.zeros((6, n)), np.zeros((6, 5))
    B[k:, 0], B[k:, 3:] = np.sin(np.pi * modes * 0.5), shapes
    C[:2, :k], C[4:, :k] = np.sin(np.pi * np.outer([0.2, 0.6], modes)), shapes.T
    D[2:4, 3:], D[4:, 1:3] = 0.1 * np.eye(2), 0.01 * np.eye(2)
    return A, B, C, D


def _slicot(plant: Matrices) -> Callable[[], Any] | None:
    slycot = peers.module("slycot", "sb10ad")
    if slycot is None:
        return None
    A, B, C, D = plant
    start = 2 * hinfsyn(plant, measured=2, commands=2).gamma
    return lambda: slycot.sb10ad(len(A), 5, 6, 2, 2, start, A, B, C, D, gtol=1e-7)


def _claim(plant: Matrices, result: Any) -> tuple[float, float]:
    """Return the gamma that SB10AD claims and the norm of the closed loop with its controller."""
    law = of_matrices(*result[1:5])
    loop = close(of_matrices(*plant), law, [3, 4], [4, 5])
    return float(result[0]), float(hinfnorm(select(loop, range(3), range(4))))
