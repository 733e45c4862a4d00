"""Direct transcription: a problem on a mesh becomes a program of a few functions at all points of the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from casadi import SX

from articulus.kernel.interrupts import heed_interrupts
from articulus.motion.trajectory.problem import Phase, PhaseConstraint, Problem
from articulus.motion.trajectory.program import FunctionBlock, NonlinearProgram, Part

if TYPE_CHECKING:
    from articulus.motion.trajectory.schemes.collocation import Collocation
    from articulus.motion.trajectory.schemes.scheme import Scheme


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the unknowns of a phase are.

    Parameters
    ----------
    z : array of int, (points, n)
        Number of each entry at each point of the mesh.
    duration : int
        Number of the duration.
    fractions : array, (points,)
        Times of the points over the duration.
    intervals : array of int, (intervals, s)
        Points of each interval.
    lengths : array, (intervals,)
        Lengths of the intervals over the duration.
    """

    z: np.ndarray
    duration: int
    fractions: np.ndarray
    intervals: np.ndarray
    lengths: np.ndarray

    @staticmethod
    def of(phase: Phase, mesh: np.ndarray, scheme: Scheme, first: int) -> Layout:
        """Return the layout of a phase on a mesh of fractions from 0 to 1, with the unknowns from `first` on."""
        inner = len(scheme.points) - 1
        lengths = np.diff(mesh)
        intervals = inner * np.arange(len(lengths))[:, None] + np.arange(inner + 1)
        fractions = np.append((mesh[:-1, None] + lengths[:, None] * scheme.points[:-1]).ravel(), mesh[-1])
        z = first + np.arange(len(fractions) * phase.size).reshape(-1, phase.size)
        return Layout(z, int(z[-1, -1]) + 1, fractions, intervals, lengths)

    @property
    def end(self) -> int:
        """First number after the unknowns."""
        return self.duration + 1


@heed_interrupts()
def transcribe(
    problem: Problem, meshes: Sequence[np.ndarray], scheme: Collocation
) -> tuple[NonlinearProgram, list[Layout]]:
    """Return the program of a problem, and where each phase is in it.

    Parameters
    ----------
    problem : Problem
    meshes : sequence of array
        For each phase the ends of its intervals, from 0 to 1.
    scheme : Collocation
    """
    layouts: list[Layout] = []
    costs, constraints = list[Part](), list[Part]()
    lower, upper, scale = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for phase, mesh in zip(problem.phases, meshes, strict=True):
        layout = Layout.of(phase, mesh, scheme, layouts[-1].end if layouts else 0)
        layouts.append(layout)
        low, high = np.tile(phase.lower, (len(layout.z), 1)), np.tile(phase.upper, (len(layout.z), 1))
        for point, (below, above) in ((0, phase.start), (-1, phase.end)):
            low[point], high[point] = np.maximum(low[point], below), np.minimum(high[point], above)
        scheme.loosen(phase, layout, low, high)
        lower += [low.ravel(), np.array([phase.duration[0]])]
        upper += [high.ravel(), np.array([phase.duration[1]])]
        scale += [np.tile(phase.scale, len(layout.z)), np.array([phase.duration[1]])]
        relations, running = scheme.relations(phase, layout)
        constraints += _equations(phase, layout, scheme, relations)
        costs += ([] if running is None else [running]) + _final_costs(phase, layout)
    for link, before, after in zip(problem.links, layouts, layouts[1:]):
        constraints.append(_link(link.name, link.function, before, after))
    return (
        NonlinearProgram(
            tuple(costs),
            tuple(constraints),
            np.concatenate(lower),
            np.concatenate(upper),
            np.concatenate(scale),
        ),
        layouts,
    )


def _equations(phase: Phase, layout: Layout, scheme: Collocation, relations: Part) -> list[Part]:
    unused = _unused_points(layout, scheme)
    used = np.setdiff1d(np.arange(len(layout.z)), unused)
    blocks: list[Part] = [
        _at(
            PhaseConstraint("equations of motion", phase.equations, *_zeros(phase.equations)),
            layout.z[used],
        ),
        relations,
    ]
    blocks += [_at(c, layout.z[used]) for c in phase.path]
    blocks += [_at(c, layout.z[:1]) for c in phase.at_start]
    blocks += [_at(c, layout.z[-1:]) for c in phase.at_end]
    for points in (
        unused[unused == 0],
        unused[(unused > 0) & (unused < len(layout.z) - 1)],
        unused[unused == len(layout.z) - 1],
    ):
        if len(points):
            blocks.append(_interpolation(phase, layout, scheme, points))
    return blocks


def _unused_points(layout: Layout, scheme: Collocation) -> np.ndarray:
    """Return the points at which no equation needs to hold, because the scheme uses no rate there."""
    return np.setdiff1d(np.arange(len(layout.z)), layout.intervals[:, scheme.B.any(0)])


def _others(phase: Phase) -> np.ndarray:
    """Return the places of what is not a state."""
    return np.setdiff1d(np.arange(phase.size), phase.states)


def _zeros(function: ca.Function) -> tuple[np.ndarray, np.ndarray]:
    zeros = np.zeros(function.numel_out(0))
    return zeros, zeros


def _at(constraint: PhaseConstraint, index: np.ndarray) -> FunctionBlock:
    """Return a constraint at points."""
    z, none = SX.sym("z", index.shape[1]), SX.sym("d", 0)
    function = ca.Function("at", [z, none], [constraint.function(z)])
    needed = _dependencies(function)
    shape = len(index), function.numel_out(0)
    return FunctionBlock(
        constraint.name,
        _of_entries(function, needed),
        index[:, needed],
        np.zeros((len(index), 0)),
        np.broadcast_to(constraint.lower, shape),
        np.broadcast_to(constraint.upper, shape),
    )


def _dependencies(function: ca.Function) -> np.ndarray:
    """Return which entries of its first argument a function depends on."""
    _, columns = function.jac_sparsity(0, 0).get_triplet()
    return np.unique(np.array(columns, dtype=int))


def _of_entries(function: ca.Function, needed: np.ndarray) -> ca.Function:
    """Return a function (z, d) of those entries of z that it depends on."""
    z, d = SX.sym("z", len(needed)), SX.sym("d", function.numel_in(1))
    whole = SX.zeros(function.numel_in(0))
    for k, place in enumerate(needed.tolist()):
        whole[place] = z[k]
    return ca.Function(function.name(), [z, d], [function(whole, d)])


def state_relations(phase: Phase, layout: Layout, scheme: Collocation) -> FunctionBlock:
    """Return the relations between states and rates, on all intervals."""
    states = phase.states
    rates = np.array([phase.rates[int(k)] for k in states], dtype=int)
    entries = np.unique(np.concatenate([states, rates]))
    place = {int(e): k for k, e in enumerate(entries)}
    s, n = len(scheme.points), len(entries)
    z, d = SX.sym("z", s * n), SX.sym("d", 1)
    at = ca.reshape(z, n, s)
    free = phase.duration[0] < phase.duration[1]
    T = SX.sym("T")
    x = ca.vertcat(*(at[place[int(k)], :] for k in states))
    r = ca.vertcat(*(at[place[int(k)], :] for k in rates))
    residual = ca.mtimes(x, ca.DM(scheme.A.T)) + (T if free else 1) * d * ca.mtimes(r, ca.DM(scheme.B.T))
    index = layout.z[layout.intervals][:, :, entries].reshape(len(layout.intervals), -1)
    data = layout.lengths[:, None] * (1.0 if free else phase.duration[0])
    unknowns = z
    if free:
        unknowns = ca.vertcat(z, T)
        index = np.hstack([index, np.full((len(index), 1), layout.duration)])
    function = ca.Function("defects", [unknowns, d], [ca.vec(residual)])
    zeros = np.zeros((len(index), function.numel_out(0)))
    return FunctionBlock("states follow from rates", function, index, data, zeros, zeros)


def loosen_copies(
    phase: Phase, layout: Layout, scheme: Collocation, low: np.ndarray, high: np.ndarray
) -> None:
    """Take the bounds of every time from entries that are means of bounded ones: kept twice, they have no unique multipliers."""
    for point in _unused_points(layout, scheme):
        for k in _others(phase):
            low[point, k] = -np.inf if low[point, k] <= phase.lower[k] else low[point, k]
            high[point, k] = np.inf if high[point, k] >= phase.upper[k] else high[point, k]


def _interpolation(phase: Phase, layout: Layout, scheme: Collocation, points: np.ndarray) -> FunctionBlock:
    """Return what fixes the entries that no equation knows: the polynomials of the intervals, their mean by distance between two."""
    others = _others(phase)
    used = np.flatnonzero(scheme.B.any(0))
    width = len(scheme.points) - 1
    sides = [(1.0, points // width - 1)] if points[-1] == len(layout.z) - 1 else [(0.0, points // width)]
    if points[0] > 0 and points[-1] < len(layout.z) - 1:
        sides.insert(0, (1.0, points // width - 1))
    lengths = np.column_stack([layout.lengths[which] for _, which in sides])
    data = lengths[:, ::-1] / lengths.sum(1, keepdims=True)
    n, s = len(others), len(used)
    z, d = SX.sym("z", (1 + len(sides) * s) * n), SX.sym("d", len(sides))
    at = ca.reshape(z, n, 1 + len(sides) * s)
    residual, index = at[:, 0], [layout.z[points][:, others]]
    for k, (end, which) in enumerate(sides):
        c = scheme.points[used]
        factors = [np.prod([(end - o) / (p - o) for o in np.delete(c, j)]) for j, p in enumerate(c)]
        residual -= d[k] * ca.mtimes(at[:, 1 + k * s : 1 + (k + 1) * s], ca.DM(factors))
        index.append(layout.z[layout.intervals[which][:, used]][:, :, others].reshape(len(points), -1))
    function = ca.Function("interpolated", [z, d], [residual])
    zeros = np.zeros((len(points), n))
    return FunctionBlock("entries between intervals", function, np.hstack(index), data, zeros, zeros)


def _final_costs(phase: Phase, layout: Layout) -> list[Part]:
    blocks: list[Part] = []
    if phase.final is not None:
        z, T, d = SX.sym("z", phase.size), SX.sym("T"), SX.sym("d", 0)
        function = ca.Function("final", [ca.vertcat(z, T), d], [phase.final(z, T)])
        index = np.append(layout.z[-1], layout.duration)[None, :]
        needed = _dependencies(function)
        blocks.append(_cost("final cost", _of_entries(function, needed), index[:, needed], np.zeros((1, 0))))
    return blocks


def integral(phase: Phase, layout: Layout, weights: np.ndarray) -> FunctionBlock:
    """Return the integral of the running cost, with the weights of all points, (points,)."""
    assert phase.running is not None
    z, T, d = SX.sym("z", phase.size), SX.sym("T"), SX.sym("d", 1)
    free = phase.duration[0] < phase.duration[1]
    function = ca.Function(
        "running", [ca.vertcat(z, T), d], [phase.running(z) * d * (T if free else phase.duration[0])]
    )
    counted = weights != 0
    index = np.column_stack([layout.z, np.full(len(layout.z), layout.duration)])[counted]
    needed = _dependencies(function)
    return _cost("running cost", _of_entries(function, needed), index[:, needed], weights[counted, None])


def _cost(name: str, function: ca.Function, index: np.ndarray, data: np.ndarray) -> FunctionBlock:
    zeros = np.zeros((len(index), 1))
    return FunctionBlock(name, function, index, data, zeros, zeros)


def _link(name: str, link: ca.Function, before: Layout, after: Layout) -> FunctionBlock:
    a, b, d = SX.sym("a", before.z.shape[1]), SX.sym("b", after.z.shape[1]), SX.sym("d", 0)
    function = ca.Function("link", [ca.vertcat(a, b), d], [link(a, b)])
    index = np.concatenate([before.z[-1], after.z[0]])[None, :]
    needed = _dependencies(function)
    zeros = np.zeros((1, function.numel_out(0)))
    return FunctionBlock(
        name, _of_entries(function, needed), index[:, needed], np.zeros((1, 0)), zeros, zeros
    )


def first_guess(problem: Problem, layouts: Sequence[Layout]) -> np.ndarray:
    """Return the unknowns of the phases' guesses; the duration half-way between its bounds, by ratio."""
    parts = []
    for phase, layout in zip(problem.phases, layouts):
        T = float(np.sqrt(phase.duration[0] * phase.duration[1]))
        z = np.zeros(layout.z.shape) if phase.guess is None else phase.guess(layout.fractions, T)
        parts += [z.ravel(), np.array([T])]
    return np.concatenate(parts)
