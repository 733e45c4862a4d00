"""What simpler feedforward would give: forces for rigid links along the path, and along the path after an input shaper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulus.control.filters import Shaper, zv, zvd
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.motion.inversion.arms import nominal
from articulus.motion.inversion.arms.proof import servo_of
from articulus.motion.inversion.arms.servo import PathPoint
from articulus.motion.inversion.paths import Path
from articulus.motion.inversion.result import Inversion
from articulus.simulation.solve.assembly import modal_dofs

SHAPERS = {"zv": zv, "zvd": zvd}
BENDING = 0.01
"""Part of the kinetic energy in the modes of flexible bodies from which a motion counts as vibration; below it the arm swings as a whole."""


@dataclass(frozen=True, eq=False)
class ShapedPath(Path):
    """A path after an input shaper: the sum of delayed, smaller copies of it, which ends later.

    Parameters
    ----------
    path : Path
    shaper : Shaper
    """

    path: Path
    shaper: Shaper

    @property
    def t0(self) -> float:  # type: ignore[override]
        return self.path.t0

    @property
    def t_end(self) -> float:  # type: ignore[override]
        return self.path.t_end + self.shaper.duration

    @property
    def count(self) -> int:
        return self.path.count

    @property
    def knots(self) -> np.ndarray:
        return np.unique(np.concatenate([self.path.knots + delay for delay in self.shaper.times]))

    def taylor(self, t: np.ndarray, order: int, right: bool = True) -> np.ndarray:
        parts = zip(self.shaper.times, self.shaper.amplitudes)
        return np.sum([a * self.path.taylor(t - delay, order, right) for delay, a in parts], axis=0)


def vibration(
    mechanism: Mechanism, inversion: Inversion, params: Mapping[str, Any] | None = None
) -> tuple[float, float]:
    """Return frequency [rad/s] and damping ratio of the slowest vibration about rest at the end, joints moved by forces alone."""
    if inversion.states is None:
        raise InputError("vibration: this inversion holds no states")
    n = mechanism.nv
    tau = np.zeros(n)
    names = [f"tau.{name}" for name in mechanism.v_names]
    for name, force in zip(inversion.input_names, inversion.inputs[-1]):
        tau[names.index(name)] = force
    q = inversion.states[-1, :n]
    model = mechanism.linearize(q, np.zeros(n), tau, params=params)
    poles, shapes = np.linalg.eig(model.A)
    rows = [(k, mechanism.v_names.index(s[2:])) for k, s in enumerate(model.states) if s.startswith("v.")]
    moving, dof = (np.array(x, dtype=int) for x in zip(*rows))
    energy = np.abs(shapes[moving]) ** 2 * np.diag(mechanism.mass_matrix(q, params=params))[dof, None]
    share = energy[modal_dofs(mechanism)[dof]].sum(0) / np.maximum(energy.sum(0), np.finfo(float).tiny)
    swinging = poles[(poles.imag > 0) & (share > BENDING)]
    if not len(swinging):
        raise InputError(f"'{mechanism.name}' does not vibrate: no mode at the end bends its bodies")
    slowest = swinging[np.argmin(np.abs(swinging))]
    return float(abs(slowest)), float(max(-slowest.real / abs(slowest), 0.0))


def rigid_feedforward(
    mechanism: Mechanism,
    inversion: Inversion,
    path: Path,
    *,
    shaper: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Inversion:
    """Return the forces that a mechanism with rigid links would need for the path of an inversion, at the same times.

    Parameters
    ----------
    mechanism : Mechanism
    inversion : Inversion
        Of `tip_torques`.
    path : Path
        The one that it was computed for.
    shaper : "zv" or "zvd"
        Shaper for the slowest vibration about the end, through which the path goes first (Singer & Seering 1990); none if not given.
    params : dict of parameter name to number

    Returns
    -------
    Inversion
        With these inputs; its outputs are those that are wanted, its states those of the given inversion at the start only.
    """
    if shaper is not None and shaper not in SHAPERS:
        raise InputError(f"shaper: found {shaper!r}; expected one of {', '.join(SHAPERS)}")
    followed: Path = path
    if shaper is not None:
        followed = ShapedPath(path, SHAPERS[shaper](*vibration(mechanism, inversion, params)))
    servo = servo_of(mechanism, inversion, params)
    assert inversion.states is not None
    first = inversion.states[0, : servo.nv]
    servo.keep_independent_rows(first, float(inversion.t[0]))

    def point(t: np.ndarray) -> PathPoint:
        y = followed.derivatives(t, 2)
        return PathPoint(t, y[0], y[1], y[2])

    times, q = nominal.poses(
        servo,
        nominal.closed(servo, first, point(np.array([followed.t0]))),
        point,
        followed.t0,
        followed.t_end,
    )
    inputs = nominal.rigid_forces(servo, nominal.spline(times, q, inversion.t)[0], point(inversion.t))
    name = "rigid" if shaper is None else f"rigid, {shaper.upper()} shaper"
    return replace(inversion, method=name, inputs=inputs, states=None, state_names=(), figures={}, checks=())
