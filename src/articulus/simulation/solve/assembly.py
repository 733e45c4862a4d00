"""States that satisfy the constraints: closing of loops from estimates, independent rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.dynamics.loops.free_coordinates import rows_of_split
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, did_you_mean
from articulus.model.mechanism.numbers import as_array
from articulus.numerics.newton import least_step, newton


@dataclass(frozen=True)
class Assembly:
    """A state on the constraints, and how it was found.

    Attributes
    ----------
    q, v : arrays, (nq,), (nv,)
        Admissible position and velocity.
    residuals : tuple of float
        Largest position residual at the estimate and after each Newton step [m, rad].
    rank : int
        Number of independent rows.
    redundant : tuple of str
        Rows that follow from the others here, and would do no harm if they were omitted.
    dofs : int
        Velocities that remain free, nv - rank.
    """

    q: np.ndarray
    v: np.ndarray
    residuals: tuple[float, ...]
    rank: int
    redundant: tuple[str, ...]
    dofs: int


def assemble(
    mechanism: Mechanism,
    guess: Any = None,
    velocity_guess: Any = None,
    fixed: Sequence[str] = (),
    t: float = 0.0,
    *,
    tolerance: float = 1e-10,
    params: Mapping[str, Any] | None = None,
) -> Assembly:
    """Return the admissible state that Newton's method with least steps reaches from an estimate.

    Each step solves G step = -g with the smallest step (pseudo-inverse), is halved as long as it makes the residual
    worse, and moves the position by `integrate_position`; the velocity is then corrected by the smallest change that
    satisfies G v + g_t = 0. Convergence is quadratic. Lengths count in parts of the mechanism's own
    (`mechanism.scales`), angles in radians. Flexible bodies keep the shape that is given, unless the loops
    can be closed by bending them only.

    Parameters
    ----------
    mechanism : Mechanism
    guess : array, (nq,)
        Estimate of the position; neutral if not given.
    velocity_guess : array, (nv,)
        Estimate of the velocity; zero if not given.
    fixed : sequence of str
        Joints whose coordinates and velocities stay as they are given, and flexible bodies that keep their shape.
    t : float [s]
        Time, for prescribed motions.
    tolerance : float [-]
        Largest residual that passes: of angles [rad], of lengths over the mechanism's own; of rates over the largest speed.
    params : dict of parameter name to number

    Raises
    ------
    NumericalError
        With the residual reached and the constraint that stays open.

    Source: Nikravesh, Gim, Arabyan & Rein 1989, equation 26, with least steps in place of a fixed set of
    dependent coordinates.
    """
    position = one_state("q", mechanism.positions(guess), mechanism.nq)
    position = mechanism.description.with_unit_quaternions(position, "assemble")
    velocity = one_state("v", mechanism.velocities(velocity_guess), mechanism.nv)
    moving = moving_dofs(mechanism, fixed)
    modes = modal_dofs(mechanism)
    if (moving & modes).any():
        try:
            return _assemble(mechanism, position, velocity, moving & ~modes, fixed, t, tolerance, params)
        except NumericalError:
            pass
    return _assemble(mechanism, position, velocity, moving, fixed, t, tolerance, params)


def _assemble(
    mechanism: Mechanism,
    position: np.ndarray,
    velocity: np.ndarray,
    moving: np.ndarray,
    fixed: Sequence[str],
    t: float,
    tolerance: float,
    params: Mapping[str, Any] | None,
) -> Assembly:
    """Return the state that is reached with the degrees of freedom that may move."""
    names, on_positions = mechanism.constraint_names, mechanism.description.holonomic_rows
    scales = mechanism.description.scales(params)
    sizes = scales.row_sizes(mechanism.constraint_jacobian(position, t, params=params))

    def residual(x: np.ndarray) -> np.ndarray:
        return mechanism.constraint_residual(x, t, params=params)

    def step(x: np.ndarray, g: np.ndarray) -> np.ndarray:
        G = mechanism.constraint_jacobian(x, t, params=params)[on_positions]
        return least_step(G, -g[on_positions], moving, sizes[on_positions], scales.displacement)

    def displace(x: np.ndarray, by: np.ndarray) -> np.ndarray:
        return mechanism.integrate_position(x, by)

    position, history = newton(position, residual, step, displace, tolerance, sizes)
    _require(mechanism, "position", residual(position), tolerance * sizes, fixed)
    G = mechanism.constraint_jacobian(position, t, params=params)
    off = mechanism.constraint_rate(position, velocity, t, params=params)
    speed = max(np.abs(velocity / scales.displacement).max(initial=0.0), np.abs(off / sizes).max(initial=0.0))
    velocity = velocity + least_step(G, -off, moving, sizes, scales.displacement)
    off = mechanism.constraint_rate(position, velocity, t, params=params)
    _require(mechanism, "velocity", off, tolerance * speed * sizes, fixed)
    kept = rows_of_split(scales.plain(G))
    redundant = tuple(names[k] for k in range(len(names)) if k not in kept)
    return Assembly(position, velocity, history, len(kept), redundant, mechanism.nv - len(kept))


def independent_rows(
    mechanism: Mechanism, q: Any, t: float = 0.0, *, params: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """Return the names of constraint rows that are independent at a position and imply all the others.

    By QR with pivoting of the rows, each scaled to unit length; a row counts as dependent when 1e-9 of it is left.
    """
    scales = mechanism.description.scales(params)
    rows = rows_of_split(scales.plain(mechanism.constraint_jacobian(q, t, params=params)))
    return tuple(mechanism.constraint_names[k] for k in sorted(rows))


def moving_dofs(mechanism: Mechanism, fixed: Sequence[str], what: str = "assemble") -> np.ndarray:
    """Return which degrees of freedom do not belong to fixed joints and flexible bodies, (nv,)."""
    d, moving = mechanism.description, np.ones(mechanism.nv, dtype=bool)
    held = {name: d.v_slices[name] for name in mechanism.joint_names}
    held = {body.name: d.mode_slices(body.name)[0] for body in d.bodies if body.modes is not None} | held
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        if name not in held:
            raise InputError(
                f"{what}: no joint or flexible body '{name}' in '{mechanism.name}'; {did_you_mean(str(name), held)}"
            )
        d.require_independent(name, f"{what}, fixed")
        moving[held[name]] = False
    return moving


def modal_dofs(mechanism: Mechanism) -> np.ndarray:
    """Return which degrees of freedom are modal coordinates of flexible bodies, (nv,)."""
    found = np.zeros(mechanism.nv, dtype=bool)
    for body in mechanism.description.bodies:
        if body.modes is not None:
            found[mechanism.description.mode_slices(body.name)[0]] = True
    return found


def _require(
    mechanism: Mechanism, level: str, residual: np.ndarray, allowed: np.ndarray, fixed: Sequence[str]
) -> None:
    """Raise NumericalError that names the constraint that is open most, if one is."""
    if (np.abs(residual) <= allowed).all():
        return
    worst = int(np.argmax(np.where(np.abs(residual) <= allowed, 0.0, np.abs(residual))))
    hint = f" with {', '.join(map(repr, fixed))} held" if fixed else ""
    raise NumericalError(
        f"assemble: '{mechanism.name}' cannot be closed{hint}: {level} constraint '{mechanism.constraint_names[worst]}' stays "
        f"open by {abs(residual[worst]):.3g}; expected at most {allowed[worst]:.3g}. The parts may not reach each other, or the "
        "estimate may be too far off"
    )


def one_state(name: str, value: Any, size: int) -> np.ndarray:
    array = as_array(f"argument '{name}'", value)
    if array.shape != (size,):
        raise InputError(f"argument '{name}' has shape {array.shape}; expected ({size},)")
    return array
