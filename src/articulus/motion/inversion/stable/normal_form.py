"""Normal form of a nonlinear system: relative degrees, decoupling matrix, coordinates of outputs and of the inside.

Every output y_i is differentiated along the motion until an input appears, r_i times. The outputs with their derivatives below,
xi = (y_1, .., y_1^(r_1 - 1), y_2, ..), and n - sum r_i more coordinates eta make a change of coordinates:

    y^(r) = alpha(x) + beta(x) u        eta' = internal rate

With u = beta^-1 (v - alpha) the outputs are chains of integrators driven by v, and what continues inside is the driven internal
dynamics eta'(v, xi, eta); for v = 0 and outputs at rest it is the zero dynamics.

eta is linear in x. Coordinates that no input drives at once are taken where they complete xi well, single states before
combinations of them; otherwise the directions at a right angle to the gradients of xi, with u substituted in their rates.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy.linalg
from casadi import SX

from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.stable.system import NonlinearSystem, RowFunction
from articulus.numerics.newton import newton

NOTHING = 1e-9
"""Gradient of an output along an input, over the sizes of gradient and input direction, below which the input does not appear."""
SINGULAR = 1e-8
"""Smallest singular value of the decoupling matrix with rows and columns of size 1, over the largest, that is accepted."""
WELL = 0.1
"""Least share of a chosen direction that the gradients of the outputs leave, for it to complete the coordinates."""
REACHED = 1e-11
"""Error of coordinates of a state over their sizes."""
POINTS = 5
"""States near the given one at which it is looked whether an input appears."""


@dataclass(frozen=True, eq=False)
class NormalForm:
    """Coordinates (xi, eta) of a system near a state.

    Parameters
    ----------
    system : NonlinearSystem
    relative_degree : tuple of int
        r_i: which derivative of output i the inputs appear in first.
    xi : SX, (sum r,)
        Outputs and derivatives below the r-th as functions of x.
    eta : SX, (n - sum r,)
        Internal coordinates as functions of x.
    alpha, beta : SX, (m,), (m, m)
        y^(r) = alpha + beta u.
    driven : bool
        Whether inputs appear in the rates of eta.
    """

    system: NonlinearSystem
    relative_degree: tuple[int, ...]
    xi: SX
    eta: SX
    alpha: SX
    beta: SX
    driven: bool

    @functools.cached_property
    def _inside(self) -> RowFunction:
        """(x, y^(r)) -> rate of eta, its derivative by x, the derivative of (xi, eta) by x."""
        s, v = self.system, SX.sym("v", len(self.relative_degree))
        rate = ca.mtimes(ca.jacobian(self.eta, s.x), s.f + ca.mtimes(s.g, self._needs(v)))
        J = ca.jacobian(ca.vertcat(self.xi, self.eta), s.x)
        out = ca.cse([ca.densify(x) for x in (rate, ca.jacobian(rate, s.x), J)])
        return RowFunction(ca.Function("inside", [s.x, v], out))

    @functools.cached_property
    def _coordinates(self) -> RowFunction:
        """x -> (xi, eta) and its derivative."""
        place = ca.vertcat(self.xi, self.eta)
        out = ca.cse([ca.densify(place), ca.densify(ca.jacobian(place, self.system.x))])
        return RowFunction(ca.Function("place", [self.system.x], out))

    @functools.cached_property
    def _input(self) -> RowFunction:
        """(x, y^(r)) -> u."""
        v = SX.sym("v", len(self.relative_degree))
        return RowFunction(ca.Function("input", [self.system.x, v], ca.cse([ca.densify(self._needs(v))])))

    def _needs(self, v: SX) -> SX:
        return ca.solve(self.beta, v - self.alpha)

    @property
    def internal(self) -> int:
        """How many internal coordinates."""
        return self.eta.numel()

    def coordinates(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return xi (N, sum r) and eta of states (N, n)."""
        place = self._coordinates(x)[0]
        split = self.xi.numel()
        return place[:, :split], place[:, split:]

    def state(self, xi: np.ndarray, eta: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Return the states (N, n) with given coordinates, by Newton's method from a guess."""
        goal = np.hstack([xi, eta])
        size = 1.0 + np.abs(goal).max(0, initial=0.0)
        x, history = newton(
            np.array(guess),
            lambda x: (goal - self._coordinates(x)[0]) / size,
            lambda x, off: np.linalg.solve(self._coordinates(x)[1], (off * size)[..., None])[..., 0],
            np.add,
            REACHED,
        )
        if history[-1] <= REACHED:
            return x
        raise NumericalError(
            f"stable_inversion: no state found for the wanted outputs (off by {history[-1]:.3g}); the coordinates of the normal form hold only near "
            "the start: take a smaller motion or other internal coordinates"
        )

    def inside(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rate of eta (N, k) and its derivative by eta (N, k, k) at fixed outputs, with y^(r) = v (N, m)."""
        rate, by_x, J = self._inside(x, v)
        k, n = self.internal, J.shape[-1]
        rate, by_x = rate.reshape(len(x), k), by_x.reshape(len(x), k, n)
        unit = np.broadcast_to(np.eye(n)[:, n - k :], (len(x), n, k))
        return rate, by_x @ np.linalg.solve(J, unit)

    def input(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return u (N, m) under which y^(r) = v."""
        return self._input(x, v)[0]

    def zero_dynamics(self, x: np.ndarray) -> np.ndarray:
        """Return A (k, k) of eta' = A eta near an equilibrium x (n,), outputs at rest; its eigenvalues are the zeros [rad/s]."""
        if not self.internal:
            return np.zeros((0, 0))
        v = np.zeros((1, len(self.relative_degree)))
        return self.inside(np.asarray(x, dtype=float)[None], v)[1][0]

    def __str__(self) -> str:
        degrees = ", ".join(f"{n} {r}" for n, r in zip(self.system.output_names, self.relative_degree))
        how = "with inputs in their rates" if self.driven else "no input in their rates"
        return f"relative degree {degrees}; {self.internal} internal coordinates ({how}): {self.eta}"


def normal_form(
    system: NonlinearSystem, x0: Sequence[float] | np.ndarray, eta: SX | None = None
) -> NormalForm:
    """Return the normal form of a system near a state.

    Parameters
    ----------
    system : NonlinearSystem
    x0 : array, (n,)
        Usually an equilibrium.
    eta : SX, (n - sum r,)
        Internal coordinates of one's choice as functions of x; chosen here if not given.

    Raises
    ------
    InputError
        No input reaches an output; an output loses its relative degree at x0.
    NumericalError
        The decoupling matrix is singular: the inputs do not reach the outputs separately.
    """
    at = np.asarray(x0, dtype=float).ravel()
    near = at + _random((POINTS, len(at))) * 0.1 * (1.0 + np.abs(at))
    chains, degrees, alpha, beta = [], [], [], []
    for i, name in enumerate(system.output_names):
        chain, top, row = _chain(system, system.h[i], name, at, near)
        chains += chain
        degrees.append(len(chain))
        alpha.append(top)
        beta.append(row)
    xi, decoupling = ca.vertcat(*chains), ca.vertcat(*beta)
    _require_regular(system, decoupling, degrees, at)
    chosen = _internal(system, xi, at, near) if eta is None else _check_coordinates(system, xi, SX(eta), at)
    driven = ca.mtimes(ca.jacobian(chosen, system.x), system.g)
    return NormalForm(
        system,
        tuple(degrees),
        xi,
        chosen,
        ca.vertcat(*alpha),
        decoupling,
        bool(_size(system, driven, near).max(initial=0.0) > NOTHING),
    )


def _chain(
    system: NonlinearSystem, y: SX, name: str, at: np.ndarray, near: np.ndarray
) -> tuple[list[SX], SX, SX]:
    """Return y, y', .. up to the derivative before the inputs appear, the next without inputs, and the row of the inputs."""
    chain = [y]
    inputs = max(float(_size(system, system.g, near).max()), 1e-300)
    for _ in range(system.x.numel()):
        gradient = ca.jacobian(chain[-1], system.x)
        row, following = ca.mtimes(gradient, system.g), ca.mtimes(gradient, system.f)
        size = _size(system, gradient, near) * inputs
        appears = _size(system, row, near) > NOTHING * size
        if appears.any():
            here = float(_size(system, row, at[None])[0])
            if here <= 1e-6 * float(_size(system, row, near).max()):
                raise InputError(
                    f"{system.name}: output {name} has no relative degree at x0: the inputs appear in its derivative {len(chain)} near x0 "
                    f"(gradient {float(_size(system, row, near).max()):.3g}) and vanish at x0 itself ({here:.3g}); expected another x0 or output"
                )
            return chain, following, ca.densify(row)
        chain.append(following)
    raise InputError(
        f"{system.name}: no input reaches output {name}: none of its first {system.x.numel()} derivatives holds one; expected outputs that "
        "the inputs move"
    )


def _size(system: NonlinearSystem, matrix: SX, at: np.ndarray) -> np.ndarray:
    """Return the norm of an expression at states (N, n), (N,)."""
    if not matrix.nnz():
        return np.zeros(len(at))
    flat = ca.vec(ca.densify(matrix))
    found = RowFunction(ca.Function("value", [system.x], [flat]))(at)[0]
    if not np.isfinite(found).all():
        raise NumericalError(
            f"{system.name}: f, g or h have no finite derivatives near x0; expected an x0 where they are smooth"
        )
    return np.linalg.norm(found, axis=1)


def _require_regular(system: NonlinearSystem, beta: SX, degrees: list[int], at: np.ndarray) -> None:
    """Refuse a decoupling matrix that is singular at x0, naming the inputs and outputs concerned."""
    value = np.atleast_2d(np.array(ca.Function("beta", [system.x], [beta])(at)))
    row = np.linalg.norm(value, axis=1)
    scaled = value / np.where(row > 0, row, 1.0)[:, None]
    column = np.linalg.norm(scaled, axis=0)
    left, values, _ = np.linalg.svd(scaled / np.where(column > 0, column, 1.0))
    if values[-1] > SINGULAR * values[0]:
        return
    outputs = [n for n, share in zip(system.output_names, np.abs(left[:, -1])) if share > 1e-3]
    idle = [n for n, c in zip(system.input_names, column) if c <= SINGULAR]
    reason = (
        f"input {', '.join(idle)} appears in none of them"
        if idle
        else "the inputs act on them in one way only"
    )
    raise NumericalError(
        f"{system.name}: the decoupling matrix is singular (smallest singular value {values[-1] / values[0]:.2g} of the largest): relative degrees "
        f"{degrees}, and of the outputs {', '.join(outputs)} a combination is not reached by the inputs in these derivatives: {reason}. "
        "Choose other inputs or outputs, or make an input a state and its rate the input (dynamic extension)"
    )


def _check_coordinates(system: NonlinearSystem, xi: SX, eta: SX, at: np.ndarray) -> SX:
    """Check coordinates that were given."""
    wanted = system.x.numel() - xi.numel()
    if eta.numel() != wanted:
        raise InputError(f"{system.name}: found {eta.numel()} internal coordinates; expected {wanted}")
    J = np.array(ca.Function("J", [system.x], [ca.jacobian(ca.vertcat(xi, eta), system.x)])(at))
    J = J / np.maximum(np.linalg.norm(J, axis=1), 1e-300)[:, None]
    values = np.linalg.svd(J)[1]
    if values[-1] < SINGULAR * values[0]:
        raise InputError(
            f"{system.name}: the internal coordinates {eta} do not complete the outputs and their derivatives at x0 (singular value "
            f"{values[-1]:.2g}); expected functions of x with gradients independent of theirs"
        )
    return ca.vec(eta)


def _internal(system: NonlinearSystem, xi: SX, at: np.ndarray, near: np.ndarray) -> SX:
    """Choose linear internal coordinates: single states without input, combinations without input, or the complement of xi."""
    n, count = system.x.numel(), system.x.numel() - xi.numel()
    if not count:
        return SX(0, 1)
    J = np.array(ca.Function("J", [system.x], [ca.jacobian(xi, system.x)])(at))
    left = scipy.linalg.null_space(J / np.linalg.norm(J, axis=1)[:, None], rcond=1e-12).T  # (count, n)
    if len(left) != count:
        raise NumericalError(
            f"{system.name}: outputs and their derivatives are not independent at x0 (rank {n - len(left)} of {n - count}); expected another x0"
        )
    g = RowFunction(ca.Function("g", [system.x], [ca.vec(system.g)]))(np.vstack([at[None], near]))[0]
    columns = g.reshape(len(g), system.g.shape[1], n).transpose(2, 0, 1).reshape(n, -1)
    size = np.linalg.norm(columns)
    single = np.eye(n)[np.linalg.norm(columns, axis=1) <= NOTHING * size]
    U, values, _ = np.linalg.svd(columns)
    rank = int((values > NOTHING * values[0]).sum())
    if len(single) >= count:
        shares = left @ single.T
        chosen = np.sort(scipy.linalg.qr(shares, pivoting=True, mode="r")[1][:count])
        if np.linalg.svd(shares[:, chosen])[1][-1] > WELL:
            return system.x[[int(np.argmax(row)) for row in single[chosen]]]
    if n - rank >= count:
        _, shares, V = np.linalg.svd(left @ U[:, rank:])
        if shares[-1] > WELL:
            return ca.mtimes(SX(ca.DM(V[:count] @ U[:, rank:].T)), system.x)
    return ca.mtimes(SX(ca.DM(left)), system.x)


def _random(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, shape)
