"""What the multipliers of a solution say: costates, switching functions, where inputs jump and where they chatter.

With p = dJ/dx along the motion, H = running cost + p . x' and S = dH/du (Bryson & Ho 1975): S is zero where an input is inside its bounds,
positive where it is at the lower one and negative at the upper one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from articulus.motion.trajectory.collocation import Layout
from articulus.motion.trajectory.ipopt import Solution
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.program import NonlinearProgram
from articulus.motion.trajectory.shooting import StepCosts, StepEnds

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.collocation import Collocation

NEAR = 1e-3
"""Distance from a bound, over the range of the input, up to which an input counts as at it."""
SWINGS = 8
"""Changes of direction one after another that make a chatter."""
SWING = 0.05
"""Least swing of a chatter, over the range of the input."""
APART = 4
"""Most points from one change of direction to the next."""


@dataclass(frozen=True)
class Chatter:
    """An input that swings from point to point: its name, and from when to when, in a plan [s], in a phase as parts of its duration."""

    name: str
    begin: float
    end: float

    def __str__(self) -> str:
        return f"{self.name} swings from point to point between t = {self.begin:.4g} and {self.end:.4g} s"


def collocation_costates(
    program: NonlinearProgram, layout: Layout, phase: int, scheme: Collocation, solution: Solution
) -> np.ndarray:
    """Return dJ/dx at the points of a phase, (points, states): multipliers of the rates over the weights of the quadrature."""
    own = _multipliers(program, phase, solution).reshape(len(layout.intervals), len(scheme.B), -1)
    shares = np.einsum("i,iks,kp->ips", layout.lengths, own, scheme.B)
    total = np.zeros((len(layout.z), own.shape[2]))
    np.add.at(total, layout.intervals, shares)
    return _divide(total, scheme.quadrature(layout), layout, scheme)


def shooting_costates(
    program: NonlinearProgram, layout: Layout, phase: int, solution: Solution
) -> np.ndarray:
    """Return dJ/dx at the nodes of a phase, (nodes, states): multipliers of the steps, at the start by the chain rule."""
    own = _multipliers(program, phase, solution).reshape(len(layout.intervals), -1)
    ends = [b for b in program.constraints if isinstance(b, StepEnds)][phase]
    steps, x = ends.steps, solution.x
    by = -(own[0] @ steps.ends_by(x)[0])
    for block in program.costs:
        if isinstance(block, StepCosts) and block.steps is steps:
            by = by + steps.costs_by(x)[0, 0]
    J = steps.first_derivatives(x)
    chained = -np.linalg.solve(J[:, steps.solved], J[:, steps.states])
    return np.vstack([by[steps.states] + by[steps.solved] @ chained, -own])


def _multipliers(program: NonlinearProgram, phase: int, solution: Solution) -> np.ndarray:
    """Return those of the states of a phase."""
    places = [k for k, block in enumerate(program.constraints) if block.name == "states follow from rates"]
    first = int(program.first_rows[places[phase]])
    return solution.multipliers[first : first + program.constraints[places[phase]].rows]


def _divide(total: np.ndarray, weights: np.ndarray, layout: Layout, scheme: Collocation) -> np.ndarray:
    """Return values over weights; where the weight is zero, at the start of some schemes, by the polynomial of the first interval."""
    out = total / np.where(weights > 0, weights, 1.0)[:, None]
    if weights[0] == 0:
        out[0] = scheme.to_start @ out[layout.intervals[0, 1:]]
    return out


def switching(phase: Phase, layout: Layout, scheme: Collocation, solution: Solution) -> np.ndarray:
    """Return S = dH/du at the points of a phase, (points, inputs), from the multipliers of the inputs' bounds."""
    weights = scheme.quadrature(layout)
    own = -solution.bound_multipliers[layout.z[:, list(phase.inputs)]] / float(solution.x[layout.duration])
    if (
        weights[0] == 0
    ):  # the input at the start is that of the first interval's polynomial, and has bounds, too
        own[layout.intervals[0, 1:]] += scheme.to_start[:, None] * own[0]
    return _divide(own, weights, layout, scheme)


def switches(phase: Phase, layout: Layout, solution: Solution, S: np.ndarray) -> np.ndarray:
    """Return at which fractions of the duration inputs jump from one bound to the other: where S passes zero."""
    found = []
    for k, place in enumerate(phase.inputs):
        low, high = phase.lower[place], phase.upper[place]
        if not np.isfinite(high - low):
            continue
        u = solution.x[layout.z[:, place]]
        side = (u >= high - NEAR * (high - low)).astype(int) - (u <= low + NEAR * (high - low))
        at = np.flatnonzero(side)
        for a, b in itertools.pairwise(at):
            if side[a] * side[b] < 0 and b - a <= 4 and S[a, k] * S[b, k] < 0:
                part = S[a, k] / (S[a, k] - S[b, k])
                found.append(layout.fractions[a] + part * (layout.fractions[b] - layout.fractions[a]))
    return np.unique(found)


def with_nodes(mesh: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return a mesh with more nodes; old ones that would be near them go."""
    at = at[(at > mesh[0]) & (at < mesh[-1])]
    if not len(at):
        return mesh
    nearest = np.abs(mesh[1:-1, None] - at).min(1)
    room = 0.3 * np.minimum(np.diff(mesh)[:-1], np.diff(mesh)[1:])
    return np.unique(np.concatenate([mesh[:1], mesh[1:-1][nearest > room], at, mesh[-1:]]))


def flat_inputs(phase: Phase) -> tuple[str, ...]:
    """Return the inputs of which the running cost is a linear function or none: they may have singular arcs."""
    z = SX.sym("z", phase.size)
    cost = SX(0) if phase.running is None else phase.running(z)
    return tuple(
        phase.names[k] for k in phase.inputs if not ca.depends_on(ca.densify(ca.jacobian(cost, z[k])), z[k])
    )


def chatters(phase: Phase, layout: Layout, solution: Solution) -> list[Chatter]:
    """Return the inputs that swing within a few points: where S is zero for a while, nothing determines them but the mesh."""
    found = []
    for place in phase.inputs:
        u = solution.x[layout.z[:, place]]
        turns = _turns(u, SWING * float(np.ptp(u)))
        near = np.diff(turns) <= APART
        cuts = np.flatnonzero(~near) + 1
        for run in np.split(np.array(turns, dtype=int), cuts):
            if len(run) >= SWINGS:
                begin, end = layout.fractions[run[[0, -1]]]
                found.append(Chatter(phase.names[place], float(begin), float(end)))
    return found


def _turns(u: np.ndarray, least: float) -> list[int]:
    """Return the points at which a sequence turns round by more than so much."""
    found, extreme, direction = [], 0, 0.0
    for k in range(1, len(u)):
        step = u[k] - u[extreme]
        if direction == 0.0:
            if abs(step) > least:
                direction, extreme = float(np.sign(step)), k
        elif step * direction > 0:
            extreme = k
        elif -step * direction > least:
            found.append(extreme)
            direction, extreme = -direction, k
    return found
