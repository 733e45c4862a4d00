"""Where a loop with beams of large deflection is at rest: Newton's method on the mechanism cut at its elements.

Poses and element stresses are independent unknowns, as for a beam alone (`exact_beams/statics.py`, whose iteration and load steps this takes): the geometric stiffness is that of the
stress which the last correction predicted. What is out of balance at the estimate is taken away in parts, r(x) = (1 - s) r(start),
each from the solution before; a part that does not converge is halved. Where this fails, as from a position in which nothing holds
a joint, displacements are held back by a share of the mass matrix, r(x) + m M dq = 0, from solution to solution with a smaller share:
the way of a heavily damped motion, which leads to a stable state of rest. A state that is found and is not stable is left along the motion that
falls away from it.

Sources: Magisano, Leonetti & Garcea 2017 (mixed unknowns); Kelley & Keyes 1998 (falling share of the mass).
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from articulus.errors import NumericalError, doubtful
from articulus.simulation.exact_beams.statics import LONGEST, continue_loading, mixed_newton
from articulus.simulation.integrate.mechanical import MotionPoint
from articulus.simulation.running.beam_problem import BeamProblem

Array = np.ndarray
TOLERANCE = 1e-10
"""Change of a displacement at which the iteration ends [rad, m over the largest distance of a node from the origin, at least 1 m]."""
ITERATIONS, HALVINGS, STEPS = 40, 2, 60
"""Newton's steps of a part, how often a part is halved, and steps that the mass holds back."""
FALLS = 5
"""How often a state that is not stable is left."""
SLOW = 1e-4
"""Change of a displacement in a step of a fall, over the largest distance, at which the fall ends [-]."""
FASTEST, SLOWEST = 1e-5, 1e3
"""Times of a fall over the characteristic time of the mechanism that count: what is quicker is rounding, what is slower a motion that nothing
holds [-]."""


class BeamRest(NamedTuple):
    """Positions and multipliers of the cut mechanism."""

    q: Array
    multipliers: Array


class _Moved(NamedTuple):
    """A state on the way: positions, displacements from the beginning where the mass holds them back, multipliers."""

    q: Array
    dq: Array
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
    time : float [s]
        Characteristic time of the mechanism.
    start : tuple of arrays
        What is out of balance at the estimate.
    history : list of float
        Largest force out of balance after each step [N m, N].
    """

    problem: BeamProblem
    t: float
    still: Array
    time: float = 1.0
    start: tuple[Array, ...] = ()
    history: list[float] = dataclasses.field(default_factory=list)

    def left(self, at: MotionPoint, part: float) -> tuple[Array, ...]:
        """Return the residual minus the part of the first one that is still to be taken away."""
        found = self.problem.residual(at)
        return tuple(a - (1 - part) * b for a, b in zip(found, self.start)) if part < 1 else found

    def balanced(self, x: BeamRest, part: float = 1.0, mass: float = 0.0) -> BeamRest:
        """Return the state in balance, by `mixed_newton`.

        With a share `mass` [1/s^2] of the mass matrix, each displacement dq from x is held back by mass M dq.
        """
        n, begin = self.still.size, x.q

        def correct(at: _Moved, stress: Array | None) -> tuple[Array, Array]:
            point = MotionPoint(self.t, at.q, at.dq, self.still, mass * at.dq, at.multipliers)
            left = self.left(point, part)
            self.history.append(float(max(np.abs(each).max(initial=0.0) for each in left)))
            stress = self.problem.stress() if stress is None else stress
            return self._change(point, left, mass, stress), stress

        def move(at: _Moved, change: Array) -> _Moved:
            multipliers = at.multipliers + change[n:]
            if mass:
                dq = at.dq + change[:n]
                return _Moved(self.problem.move(self.t, begin, dq), dq, multipliers)
            return _Moved(self.problem.move(self.t, at.q, change[:n]), self.still, multipliers)

        solution = mixed_newton(
            _Moved(self.problem.move(self.t, begin, self.still), self.still, x.multipliers),
            correct,
            move,
            lambda _, change: self.problem.stress(change),
            lambda change: float(np.abs(change[:n]).max()),
            lambda at: TOLERANCE * max(1.0, np.abs(begin if mass else at.q).max()),
            ITERATIONS,
        )
        if solution is None:
            raise NumericalError(f"equilibrium: no balance after {ITERATIONS} steps")
        return BeamRest(solution.q, solution.multipliers)

    def _change(self, at: MotionPoint, left: tuple[Array, ...], mass: float, stress: Array) -> Array:
        """Return Newton's correction of displacements and multipliers."""
        try:
            solve = self.problem.factor(at, 0.0, mass, stress)
        except np.linalg.LinAlgError:
            raise NumericalError("equilibrium: the stiffness is singular") from None
        scale = mass or 1.0
        change = solve(left[0] / scale, left[1] / scale, left[2])
        change[self.still.size :] *= scale
        return change

    def falling(self, x: BeamRest) -> tuple[float, Array] | None:
        """Return how fast the slowest small motion about a state in balance falls away, squared [1/s^2], and its direction; None where all come back.

        Of M q'' + K q = 0 with k = -q'' / q, 1 / k are the eigenvalues of the inverse of K times M: the least is negative where there is
        a motion that falls away.
        """
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs  # slow to import

        n = self.still.size
        at = MotionPoint(self.t, x.q, self.still, self.still, self.still, x.multipliers)
        rest = tuple(each.copy() for each in self.problem.residual(at))
        try:
            solve = self.problem.factor(at, 0.0, 0.0, self.problem.stress())
        except np.linalg.LinAlgError:
            return None

        def inverse(w: Array) -> Array:
            moved = self.problem.residual(at._replace(vdot=w))
            return np.asarray(-solve(*(a - b for a, b in zip(moved, rest)))[:n])

        operator = LinearOperator((n, n), matvec=inverse, dtype=float)
        try:
            values, vectors = eigs(operator, 1, which="SR", v0=np.ones(n), tol=1e-3, maxiter=ITERATIONS)
        except ArpackNoConvergence:  # of the many values near zero: none is far below
            return None
        fall = np.sqrt(max(-values[0].real, 0.0)) / self.time
        if not FASTEST <= fall <= SLOWEST:
            return None
        direction = vectors[:, 0].real
        return -1 / values[0].real, direction / np.abs(direction).max()

    def descend(self, x: BeamRest) -> BeamRest | None:
        """Return a stable state of rest downhill from a state in balance, itself where it is stable; None where none is found."""
        for _ in range(FALLS):
            found = self.falling(x)
            if found is None:
                return x
            rate, direction = found
            x = BeamRest(self.problem.move(self.t, x.q, LONGEST * direction), x.multipliers)
            for _ in range(STEPS):
                before = x.q
                try:
                    x = self.balanced(x, 1.0, 2 * rate)
                except NumericalError:
                    rate *= 3
                if np.abs(x.q - before).max() <= SLOW * np.abs(x.q).max():
                    break
            try:
                x = self.balanced(self.settle(x), 1.0)
            except NumericalError:
                return None
        return None

    def settle(self, x: BeamRest) -> BeamRest:
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


def at_rest(
    problem: BeamProblem, t: float, q: Array, v: Array, rows: int, time: float = 1.0
) -> tuple[Array, tuple[float, ...]]:
    """Return a position of the cut mechanism at rest near an estimate, and the largest imbalance on the way [N m, N].

    From a position in balance that is not stable the beams fall, heavily damped, to one that is.

    Parameters
    ----------
    problem : BeamProblem
    t : float [s]
    q, v : arrays
        Estimate of the position, and as many zeros as there are velocities.
    rows : int
        Constraint rows.
    time : float [s]
        Characteristic time of the mechanism.

    Raises
    ------
    NumericalError
        With the imbalance that was reached.
    """
    search, x = _Search(problem, t, v, time), BeamRest(q, np.zeros(rows))
    search.start = tuple(each.copy() for each in problem.residual(MotionPoint(t, q, v, v, v, x.multipliers)))
    try:
        found = continue_loading(search.balanced, x, 0.0, 1.0, HALVINGS)
    except NumericalError:
        found = None
    try:
        found = found or search.balanced(search.settle(x), 1.0)
    except NumericalError as error:
        raise NumericalError(
            f"{error}; out of balance by {search.history[-1]:.3g} N or N m, and {min(search.history):.3g} at best. There may be no "
            "state of rest; try another estimate"
        ) from None
    stable = search.descend(found)
    if stable is None:
        doubtful(
            "equilibrium: the beams are in an unstable equilibrium, and no stable one was found; pass an "
            "estimate that is closer to one"
        )
    return (stable or found).q, tuple(search.history)
