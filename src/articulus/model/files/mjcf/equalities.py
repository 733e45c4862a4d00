"""Equality constraints of a compiled MuJoCo model: loops, locks and couplings. Soft in MuJoCo, exact here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from articulus.model.files.mjcf.devices import fixed_tendon
from articulus.model.files.mjcf.unsupported import Omission
from articulus.model.mechanism import Constraint, Coupling, Fixed, Joint, Lock, LoopJoint, Pose, Spherical

CONNECT, WELD, JOINT, TENDON = range(4)
"""mjtEq."""
SITE = 6
"""mjtObj of constraints between sites."""

Side = tuple[list[tuple[str, float]], float]
"""Joints with their coefficients, and the length at the reference position."""


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
    couplings : list of Coupling
    omissions : list of Omission
        What is omitted.
    """

    def __init__(self, model: Any, bodies: Sequence[str], sites: Sequence[str], joints: Sequence[str]):
        self.model, self.bodies, self.sites, self.joints = model, bodies, sites, joints
        self.constraints: list[Constraint] = []
        self.couplings: list[Coupling] = []
        self.omissions: list[Omission] = []
        taken: set[str] = set()
        for i in range(model.neq):
            if not model.eq_active0[i]:
                continue
            name = _free_name(model.eq(i).name or f"equality{i}", taken)
            found = list(self._equality(i, name))
            self.constraints += [c for c in found if isinstance(c, Constraint)]
            self.couplings += [c for c in found if isinstance(c, Coupling)]
            if not found:
                self.omissions.append(
                    Omission(f"equality.{name}", f"equality constraint '{name}'", "omitted equality")
                )

    def _equality(self, i: int, name: str) -> Iterator[Constraint | Coupling]:
        kind = int(self.model.eq_type[i])
        if kind in (CONNECT, WELD):
            yield from self._loop(i, name)
        elif kind in (JOINT, TENDON):
            first, second = (
                self._side(kind, int(ids[i])) for ids in (self.model.eq_obj1id, self.model.eq_obj2id)
            )
            if first is not None and second is not None:
                yield from self._relation(
                    name, first, second, Polynomial(np.array(self.model.eq_data[i][:5]))
                )

    def _loop(self, i: int, name: str) -> Iterator[Constraint]:
        """Yield the ball joint of <connect>, the fixed one of <weld>; nothing between parts of one rigid body."""
        m = self.model
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        welded = m.eq_type[i] == WELD
        joint: Joint = Fixed() if welded else Spherical()
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

    def _side(self, kind: int, k: int) -> Side | None:
        """Return the joints of one side with their coefficients, and the length at the reference; None for no such side."""
        m = self.model
        if k < 0:
            return [], 0.0
        if kind == JOINT:
            return [(self.joints[k], 1.0)], float(m.qpos0[m.jnt_qposadr[k]])
        joints = [(self.joints[j], ratio) for j, ratio in fixed_tendon(m, k)]
        return (joints, float(m.tendon_length0[k])) if joints else None

    def _relation(
        self, name: str, first: Side, second: Side, polynomial: Polynomial
    ) -> Iterator[Constraint | Coupling]:
        """Yield what says first - its reference = polynomial(second - its reference)."""
        (left, at_left), (right, at_right) = first, second
        by_length = at_left + polynomial(Polynomial([-at_right, 1.0]))
        series: list[float] = [float(c) for c in by_length.trim().coef]
        if len(left) == len(right) == 1 and len(series) > 2:
            (joint, ratio), (other, scale) = left[0], right[0]
            if self._free(joint, [other]):
                powers = (c * scale**k / ratio for k, c in enumerate(series))
                yield Coupling(joint, (other,), polynomial=tuple(powers))
        elif len(series) <= 2 or not right:
            slope = series[1] if len(series) > 1 and right else 0.0
            total = dict(left if len(left) == 1 else reversed(left))  # of a tendon the last joint follows
            for joint, ratio in right:
                total[joint] = total.get(joint, 0.0) - slope * ratio
            yield from self._linear(name, {j: r for j, r in total.items() if r}, series[0])

    def _linear(self, name: str, ratios: dict[str, float], length: float) -> Iterator[Constraint | Coupling]:
        """Yield what says that the sum of ratio q is a length: one of the joints that can, the first of them, follows."""
        if len(ratios) == 1:
            joint, ratio = next(iter(ratios.items()))
            yield Lock(name, joint, (length / ratio,))
            return
        for joint in ratios:
            others = [j for j in ratios if j != joint]
            if self._free(joint, others):
                by = tuple(-ratios[j] / ratios[joint] for j in others)
                yield Coupling(joint, tuple(others), by, length / ratios[joint])
                return

    def _free(self, joint: str, others: list[str]) -> bool:
        """Return whether a joint may follow others: it follows none yet, and they do not follow it."""
        following = {c.joint: c.to for c in self.couplings}
        reached, todo = set[str](), list(others)
        while todo:
            at = todo.pop()
            if at not in reached:
                reached.add(at)
                todo += following.get(at, ())
        return joint not in following and joint not in reached


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
