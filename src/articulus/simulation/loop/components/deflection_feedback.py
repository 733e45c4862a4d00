"""Feedback of the deflections of flexible bodies to the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import all_coordinates, as_matrix, matrix
from articulus.simulation.loop.components.pseudolink import places, spread


@dataclass(frozen=True)
class DeflectionFeedback(Controller):
    """Joint forces T nu with nu = -G (delta - delta_0, delta'), where delta are the modal coordinates of all flexible bodies.

    The fast part of a composite controller: with the `deflection` and the `authority` of a `Pseudolink` it makes the vibration decay
    about the deflection that the slow part holds. It may have a shorter period than that.

    Parameters
    ----------
    gain : matrix, (n, 2 m), or (k n, 2 m) for k configurations, one below the other
        G, by modal coordinates and then by their rates.
    at : matrix, (k, n) [rad or m]
        Joint angles of the configurations; the gain of the nearest is taken. One gain for all if not given.
    reference : str
        Signal that is delta_0, such as "pseudolink.deflection"; zero if not given.
    authority : str
        Signal that is T, such as "pseudolink.authority", column by column; without it nu are joint forces.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Signals: `acceleration` nu [rad/s^2 or m/s^2].

    Source: King 1988, sections 4.7 and 4.9.
    """

    gain: Any = quantity("1/s^2 and 1/s", "of deflections and of their rates", size="k n x 2 m")
    at: Any = quantity("rad or m", "joint angles of the configurations", size="k x n", default=None)
    reference: str = ""
    authority: str = ""
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "deflection_feedback"

    type_name = "deflection_feedback"
    signals: ClassVar = {"acceleration": "rad/s^2 or m/s^2"}

    def __post_init__(self) -> None:
        convert(self, gain=as_matrix)
        if self.at is not None:
            convert(self, at=as_matrix)
        sampling(self)

    def work(self, s: Scope) -> None:
        q, v = all_coordinates(s, self)
        joints, modal = places(s.description)
        if not modal or not joints:
            raise wrong(self, "gain", f"'{s.description.name}' without flexible bodies or joints", "a flexible arm")  # fmt: skip
        deflection = q[modal] - self._read(s, "reference", len(modal), SX.zeros(len(modal)))
        nu = -ca.mtimes(self._gain(s, q[joints], len(joints), 2 * len(modal)), ca.vertcat(deflection, v[modal]))  # fmt: skip
        n = len(joints)
        T = ca.reshape(self._read(s, "authority", n * n, ca.vec(SX.eye(n))), n, n)
        s.write("acceleration", nu)
        s.command(spread(s, self, ca.mtimes(T, nu), joints))

    def _gain(self, s: Scope, angles: SX, n: int, m: int) -> SX:
        """Return the gain of the nearest configuration."""
        if self.at is None:
            return matrix(s, self, "gain", (n, m))
        at, every = matrix(s, self, "at", (None, n)), matrix(s, self, "gain", (n * len(self.at), m))
        chosen, least = every[:n, :], ca.sumsqr(angles - at[0, :].T)
        for k in range(1, len(self.at)):
            far = ca.sumsqr(angles - at[k, :].T)
            chosen = ca.if_else(far < least, every[k * n : (k + 1) * n, :], chosen)
            least = ca.fmin(least, far)
        return chosen

    def _read(self, s: Scope, field: str, size: int, otherwise: SX) -> SX:
        signal = getattr(self, field)
        if not signal:
            return ca.densify(otherwise)
        found = s.read(signal)
        if found.numel() != size:
            raise wrong(self, field, f"'{signal}' of {found.numel()} numbers", str(size))
        return found
