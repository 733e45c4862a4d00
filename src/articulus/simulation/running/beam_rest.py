"""Where a loop with beams of large deflection is at rest: Newton's method on the mechanism cut at its elements.

Poses and element stresses are independent unknowns, as for a beam alone (`beams/statics.py`): the geometric stiffness is that of the
stress which the last correction predicted. What is out of balance at the estimate is taken away in parts, r(x) = (1 - s) r(start),
each from the solution before; a part that does not converge is halved. Where this fails, as from a position in which nothing holds
a joint, displacements are held back by a share of the mass matrix, r(x) + m M dq = 0, from solution to solution with a smaller share:
the way of a heavily damped motion, which leads to a stable state of rest.

Sources: Magisano, Leonetti & Garcea 2017 (mixed unknowns); Kelley & Keyes 1998 (falling share of the mass).
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from articulus.errors import NumericalError
from articulus.simulation.integrate.mechanical import Point
from articulus.simulation.running.beam_problem import BeamProblem

Array = np.ndarray
TOLERANCE = 1e-10
"""Change of a displacement at which the iteration ends [rad, m over the largest distance of a node from the origin, at least 1 m]."""
ITERATIONS, HALVINGS, STEPS = 40, 2, 60
"""Newton's steps of a part, how often a part is halved, and steps that the mass holds back."""
LONGEST = 0.5
"""Largest change of a displacement in one step [rad, m]."""


class Rest(NamedTuple):
    """Positions and multipliers of the cut mechanism."""

    q: Array
    multipliers: Array


@dataclasses.dataclass
class _Search:
    """The search from one estimate.

    Parameters
    ----------
    problem : BeamProblem
    t : float [s]
    still : array
        Zero velocities.
    start : tuple of arrays
        What is out of balance at the estimate.
    history : list of float
        Largest force out of balance after each step [N m, N].
    """

    problem: BeamProblem
    t: float
    still: Array
    start: tuple[Array, ...] = ()
    history: list[float] = dataclasses.field(default_factory=list)

    def left(self, at: Point, part: float) -> tuple[Array, ...]:
        """Return the residual less the part of the first one that is still to be taken away."""
        found = self.problem.residual(at)
        return tuple(a - (1 - part) * b for a, b in zip(found, self.start)) if part < 1 else found

    def reached(self, x: Rest, first: float, last: float, halvings: int = HALVINGS) -> Rest:
        """Return the state under the second part of the loads from that under the first."""
        try:
            return self.balanced(x, last)
        except NumericalError:
            if not halvings:
                raise
        middle = (first + last) / 2
        return self.reached(self.reached(x, first, middle, halvings - 1), middle, last, halvings - 1)

    def balanced(self, x: Rest, part: float = 1.0, mass: float = 0.0) -> Rest:
        """Return the state in balance, by Newton's method with predicted stresses.

        With a share `mass` [1/s^2] of the mass matrix, each displacement dq from x is held back by mass M dq.
        """
        n, dq, multipliers, stress = self.still.size, self.still, x.multipliers, None
        for _ in range(ITERATIONS):
            q = self.problem.move(self.t, x.q, dq)
            at = Point(self.t, q, dq, self.still, mass * dq, multipliers)
            left = self.left(at, part)
            self.history.append(float(max(np.abs(each).max(initial=0.0) for each in left)))
            stress = self.problem.stress() if stress is None else stress
            change = self._change(at, left, mass, stress)
            size = float(np.abs(change[:n]).max())
            if not size < 1e3:
                break
            share = min(1.0, LONGEST / size)
            stress = (1 - share) * stress + share * self.problem.stress(change)
            multipliers = multipliers + share * change[n:]
            if mass:
                dq = dq + share * change[:n]
            else:
                x = Rest(self.problem.move(self.t, q, share * change[:n]), multipliers)
            if size <= TOLERANCE * max(1.0, np.abs(x.q).max()):
                return Rest(self.problem.move(self.t, x.q, dq), multipliers)
        raise NumericalError(f"equilibrium: no balance after {ITERATIONS} steps")

    def _change(self, at: Point, left: tuple[Array, ...], mass: float, stress: Array) -> Array:
        """Return Newton's correction of displacements and multipliers."""
        try:
            solve = self.problem.factored(at, 0.0, mass, stress)
        except np.linalg.LinAlgError:
            raise NumericalError("equilibrium: the stiffness is singular") from None
        scale = mass or 1.0
        change = solve(left[0] / scale, left[1] / scale, left[2])
        change[self.still.size :] *= scale
        return change

    def settled(self, x: Rest) -> Rest:
        """Return a state near to rest: steps that the mass holds back, each time less."""
        first = mass = np.abs(self.problem.start(self.t, x.q, self.still)[0]).max() / LONGEST
        for _ in range(STEPS):
            try:
                x, mass = self.balanced(x, 1.0, mass), mass / 3
            except NumericalError:
                mass *= 10
            if mass < 1e-6 * first:
                break
        return x


def at_rest(problem: BeamProblem, t: float, q: Array, v: Array, rows: int) -> tuple[Array, tuple[float, ...]]:
    """Return a position of the cut mechanism at rest near an estimate, and the largest imbalance on the way [N m, N].

    Parameters
    ----------
    problem : BeamProblem
    t : float [s]
    q, v : arrays
        Estimate of the position, and as many zeros as there are velocities.
    rows : int
        Constraint rows.

    Raises
    ------
    NumericalError
        With the imbalance that was reached.
    """
    search, x = _Search(problem, t, v), Rest(q, np.zeros(rows))
    search.start = tuple(each.copy() for each in problem.residual(Point(t, q, v, v, v, x.multipliers)))
    try:
        return search.reached(x, 0.0, 1.0).q, tuple(search.history)
    except NumericalError:
        x = search.settled(x)
    try:
        return search.balanced(x, 1.0).q, tuple(search.history)
    except NumericalError as error:
        raise NumericalError(
            f"{error}; out of balance by {search.history[-1]:.3g} N or N m, and {min(search.history):.3g} at best. There may be no "
            "state of rest; try another estimate"
        ) from None
