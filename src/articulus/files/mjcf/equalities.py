"""Equality constraints of a compiled MuJoCo model: loops and locks. Soft in MuJoCo, exact here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from articulus.files.mjcf.unsupported import Omission
from articulus.mechanism import Constraint, Fixed, Lock, LoopJoint, Pose, Spherical

CONNECT, WELD, JOINT, TENDON = range(4)
"""mjtEq."""
SITE = 6
"""mjtObj of constraints between sites."""


class Equalities:
    """Goes through the active equality constraints of a model.

    Parameters
    ----------
    model : MjModel
    bodies, sites, joints : sequence of str
        Names that bodies, sites and joints have here.

    Attributes
    ----------
    constraints : list of Constraint
    omissions : list of Omission
        What is left out.
    """

    def __init__(self, model: Any, bodies: Sequence[str], sites: Sequence[str], joints: Sequence[str]):
        self.model, self.bodies, self.sites, self.joints = model, bodies, sites, joints
        self.constraints: list[Constraint] = []
        self.omissions: list[Omission] = []
        taken: set[str] = set()
        for i in range(model.neq):
            if not model.eq_active0[i]:
                continue
            name = _unused(model.eq(i).name or f"equality{i}", taken)
            found = list(self._equality(i, name))
            self.constraints += found
            if not found:
                self.omissions.append(
                    Omission(f"equality.{name}", f"equality constraint '{name}'", "omitted equality")
                )

    def _equality(self, i: int, name: str) -> Iterator[Constraint]:
        match self.model.eq_type[i]:
            case 0 | 1:
                yield from self._loop(i, name)
            case 2:
                yield from self._joints(i, name)

    def _loop(self, i: int, name: str) -> Iterator[Constraint]:
        """Yield the ball joint of <connect>, the fixed one of <weld>; nothing between parts of one rigid body."""
        m = self.model
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        welded = m.eq_type[i] == WELD
        joint = Fixed() if welded else Spherical()
        if m.eq_objtype[i] == SITE:
            bodies, poses = (m.site_bodyid[first], m.site_bodyid[second]), (Pose(), Pose())
            names = self.sites[first], self.sites[second]
        else:
            bodies, names = (first, second), (self.bodies[first], self.bodies[second])
            data = tuple(float(x) for x in m.eq_data[i])
            at, turn = (data[3:6], data[6:10]) if welded else (data[:3], (1.0, 0.0, 0.0, 0.0))
            poses = Pose(at, quaternion=turn), Pose(data[:3] if welded else data[3:6])
        if m.body_weldid[bodies[0]] != m.body_weldid[bodies[1]]:
            yield LoopJoint(name, joint, *names, *poses)

    def _joints(self, i: int, name: str) -> Iterator[Constraint]:
        """Yield the lock of a joint that is held; MuJoCo counts from the reference position."""
        m, j = self.model, int(self.model.eq_obj1id[i])
        if m.eq_obj2id[i] < 0:
            yield Lock(name, self.joints[j], (float(m.qpos0[m.jnt_qposadr[j]] + m.eq_data[i][0]),))


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
