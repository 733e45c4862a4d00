"""The linear part of one link, hinged at its hub with its end held on the nominal line: what the recursion solves at each frequency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from articulus.dynamics.mechanism import Mechanism
from articulus.model.mechanism.modes import Modes, Station
from articulus.model.mechanism.numbers import value_of
from articulus.motion.inversion.links.chain import Chain, ChainLink
from articulus.motion.inversion.links.conditions import Conditions
from articulus.motion.inversion.links.minimal import least_voltages
from articulus.motion.inversion.links.two_sided import quadratic_roots
from articulus.simulation.loop.components.piezo_pair import PiezoPair

SAME = 1e-9
"""Distance below which stations are one [m]."""


@dataclass(frozen=True, eq=False)
class LinkModel:
    """m eta'' + d eta' + k eta = F + B V of a link, the rotation of its hub eliminated by the conditions at its end.

    Parameters
    ----------
    m, d, k : array, (n, n)
        m is not symmetric: what is left after the elimination, which is why eta grows before the motion.
    B : array, (n, piezos)
        Modal forces for one volt each.
    Z : array, (r, n)
        Displacements [m] and rotations [rad] of all stations from the nominal motion, for unit modal coordinates.
    places : array of int
        Places of its modal coordinates in v.
    """

    link: ChainLink
    places: np.ndarray
    m: np.ndarray
    d: np.ndarray
    k: np.ndarray
    B: np.ndarray
    Z: np.ndarray
    piezos: tuple[PiezoPair, ...]

    @cached_property
    def zeros(self) -> np.ndarray:
        """Zeros from the hub's moments to the conditions at the end [1/s]."""
        return quadratic_roots(self.m, self.d, self.k)

    def respond(self, w: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Return (eta, V) with the least |Z eta| at each frequency."""
        s = 1j * w[:, None, None]
        n, count = self.B.shape
        drive = np.broadcast_to(self.B, (len(w), n, count))
        found = np.linalg.solve(
            self.m * s**2 + self.d * s + self.k, np.concatenate([force, drive], axis=2).astype(complex)
        )
        eta, by_volt = found[:, :, : force.shape[2]], found[:, :, force.shape[2] :]
        if not count:
            return eta
        V = least_voltages(self.Z @ by_volt, self.Z @ eta)
        return np.concatenate([eta + by_volt @ V, V], axis=1)


def link_model(
    chain: Chain, conditions: Conditions, link: ChainLink, piezos: Sequence[PiezoPair], q: np.ndarray
) -> LinkModel:
    """Return the linear part of a link at the posture q, (nq,), of the rigid arm."""
    arm, joints, mine = chain.arm, chain.joints, chain.modes_of(link)
    J = conditions.jacobian(q[None], slice(0, 1))[0]
    follow = -np.linalg.solve(J[:, joints], J[:, mine])
    M = mass_columns(arm, q, mine)
    held = [_modes(arm, body) for body in link.bodies]
    m = M[mine] + M[joints].T @ follow
    d, k = (block_diag(np.zeros((0, 0)), *(getattr(x, of) for x in held)) for of in ("damping", "stiffness"))
    own = tuple(p for p in piezos if arm.description.carrier(p.first)[0] in link.bodies)
    B = np.stack([piezo_forces(arm, p, q[None])[0][mine] for p in own], axis=1) if own else np.zeros((len(mine), 0))  # fmt: skip
    return LinkModel(link, mine, m, d, k, B, _deflections(chain, link, q, follow), own)


def piezo_forces(arm: Mechanism, piezo: PiezoPair, q: np.ndarray) -> np.ndarray:
    """Return the generalized forces of a piezo pair at one volt, (N, nv)."""
    n = arm.pose(piezo.first, q)[:, :3, :3] @ np.array(piezo.axis)
    apart = arm.jacobian(piezo.second, q)[:, :3] - arm.jacobian(piezo.first, q)[:, :3]
    return value_of(piezo.gain) * np.einsum("ti,tij->tj", n, apart)


def mass_columns(arm: Mechanism, q: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return columns of the mass matrix at q, (nv, places): forces of unit accelerations."""
    unit = np.vstack([np.zeros(arm.nv), np.eye(arm.nv)[places]])
    still = np.zeros_like(unit)
    forces = arm.inverse_dynamics(np.broadcast_to(q, unit.shape).copy(), still, unit)
    return (forces[1:] - forces[0]).T


def _deflections(chain: Chain, link: ChainLink, q: np.ndarray, follow: np.ndarray) -> np.ndarray:
    """Return displacements and rotations of all stations in body axes for unit modal coordinates, the joints following."""
    arm, rows = chain.arm, []
    mine, poses = list(chain.modes_of(link)), chain.arm.poses(q)
    moved = arm.jacobian(link.end, q)[:, chain.joints] @ follow  # by the joints: a rigid motion of the link
    for body in link.bodies:
        R, apart = poses[body][:3, :3], (poses[body] - poses[link.end])[:3, 3]
        turn, shift = R.T @ moved[:3], R.T @ (moved[3:] + np.cross(moved[:3].T, apart).T)
        places = arm.description.mode_slices(body)[0]
        own = [mine.index(i) for i in range(places.start, places.stop)]
        for station in _distinct(_modes(arm, body).stations.values()):
            bend = np.zeros((6, len(mine)))
            bend[:3, own], bend[3:, own] = station.translation, station.rotation
            bend[:3] += shift + np.cross(turn.T, station.position).T
            bend[3:] += turn
            rows.append(bend[np.abs(bend).max(1) > 0])
    return np.concatenate(rows) if rows else np.eye(len(mine))


def _modes(arm: Mechanism, body: str) -> Modes:
    found = next(b.modes for b in arm.description.bodies if b.name == body)
    assert found is not None
    return found


def _distinct(stations: Iterable[Station]) -> list[Station]:
    """Return one station of each place."""
    found: list[Station] = []
    for station in stations:
        if all(np.linalg.norm(station.position - other.position) > SAME for other in found):
            found.append(station)
    return found
