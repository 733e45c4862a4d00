"""A mechanism in the hands of a user: joints moved one by one, frames drawn to a place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from articulus.browser.poses import body_poses
from articulus.browser.scene import mechanism_size
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import NumericalError
from articulus.model.mechanism import Connection
from articulus.model.mechanism.numbers import values_of
from articulus.simulation.solve.assembly import assemble
from articulus.simulation.solve.inverse_kinematics import inverse_kinematics

OPEN = 1e-5
"""Error up to which a frame is where it is wanted, and a loop closed, for the eye [m, rad]."""
OPEN_LOOP = "the loops cannot be closed there"
BEND = 0.1
"""Deflection of a station at the end of a mode's slider, in parts of the mechanism's size."""


class Posing:
    """Positions that a user asks for.

    Parameters
    ----------
    mechanism : Mechanism
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.size = mechanism_size(mechanism)

    # what can be moved

    def dofs(self) -> list[dict[str, Any]]:
        """Return each degree of freedom: name, joint, unit, its place in q (-1 for a turn of a quaternion) and the ends of its slider."""
        d, out = self.mechanism.description, []
        for c in d.connections:
            out += list(self._of_joint(c))
            out += list(self._of_modes(c.child))
        return out

    def _of_joint(self, c: Connection) -> Iterator[dict[str, Any]]:
        d = self.mechanism.description
        names = self.mechanism.v_names[d.v_slices[c.name]]
        lower, upper = (values_of(x) or (math.nan,) * c.joint.nv for x in (c.limits.lower, c.limits.upper))
        for k, (name, turns) in enumerate(zip(names, c.joint.rotational)):
            place = d.q_slices[c.name].start + k if c.joint.nq == c.joint.nv else -1
            reach = math.pi if turns else 0.5 * self.size
            low = lower[k] if math.isfinite(lower[k]) else -reach
            high = upper[k] if math.isfinite(upper[k]) else reach
            yield {
                "name": name,
                "joint": c.name,
                "unit": "rad" if turns else "m",
                "place": place,
                "low": float(low),
                "high": float(high if high > low else low + reach),
            }

    def _of_modes(self, body: str) -> Iterator[dict[str, Any]]:
        d = self.mechanism.description
        rates, places = d.mode_slices(body)
        modes = next(b for b in d.bodies if b.name == body).modes
        for k, name in enumerate(self.mechanism.v_names[rates]):
            assert modes is not None
            most = max(
                (float(np.abs(s.translation[:, k]).max()) for s in modes.stations.values()), default=0.0
            )
            reach = BEND * self.size / most if most > 0 else 1.0
            yield {
                "name": name,
                "joint": "",
                "unit": "",
                "place": places.start + k,
                "low": -reach,
                "high": reach,
            }

    # moving it

    def move(self, q: np.ndarray, dof: int, by: float) -> dict[str, Any]:
        """Return the position after one degree of freedom moved, the others as they were; loops are closed by the smallest change."""
        step = np.zeros(self.mechanism.nv)
        step[dof] = by
        there = self.mechanism.integrate_position(q, step)
        if not self.mechanism.description.constraints:
            return self.page_position(there)
        try:
            return self.page_position(assemble(self.mechanism, there, fixed=self._joint_of(dof)).q)
        except NumericalError:
            return {**self.page_position(q), "note": OPEN_LOOP}

    def reach(self, q: np.ndarray, frame: str, target: np.ndarray) -> dict[str, Any]:
        """Return the position that brings a frame to a pose (4, 4) or point (3,), or near to it."""
        found = inverse_kinematics(self.mechanism, frame, target, q, tolerance=OPEN)
        note = ""
        if found.residual > OPEN:
            note = OPEN_LOOP
        elif not found.ok:
            turned = f" and {math.degrees(found.angle):.3g}°" if found.angle > 1e-5 else ""
            note = f"out of reach by {found.distance:.3g} m{turned}"
        return {**self.page_position(found.q), "note": note}

    def page_position(self, q: np.ndarray) -> dict[str, Any]:
        """Return a position for the page: q, seven numbers for each body, modal coordinates of each."""
        d = self.mechanism.description
        return {
            "q": q.tolist(),
            "poses": body_poses(self.mechanism, q).ravel().tolist(),
            "eta": [q[d.mode_slices(b.name)[1]].tolist() for b in d.bodies],
            "note": "",
        }

    def _joint_of(self, dof: int) -> tuple[str, ...]:
        slices = self.mechanism.description.v_slices.items()
        return tuple(name for name, s in slices if s.start <= dof < s.stop)


def pose_of(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return the pose (4, 4) of a position [m] and a quaternion (w, x, y, z)."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_quat(np.roll(quaternion, -1)).as_matrix(), position
    return X
