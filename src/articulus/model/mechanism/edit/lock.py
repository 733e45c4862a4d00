"""A mechanism with some joints held: the reduced model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError
from articulus.model.mechanism.body import Body
from articulus.model.mechanism.connection import Connection
from articulus.model.mechanism.constraint import Constraint, Lock, Prescribed, references
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.couplings import held_followers
from articulus.model.mechanism.edit.equipment import without_names
from articulus.model.mechanism.edit.rebuild import compose, rebuilt, require_names, taken_over
from articulus.model.mechanism.joint import Fixed
from articulus.model.mechanism.numbers import parameters_in
from articulus.model.mechanism.pose import Pose


def lock_joints(d: Description, positions: Mapping[str, Sequence[float]]) -> Description:
    """Return the mechanism with joints that are held: each becomes a fixed joint at the given position.

    Joints that follow held ones alone are held with them. Bodies, frames and visuals stay, so that everything can still be asked about them; the equations count bodies behind
    fixed joints as one. The mass matrix is the block of the old one that belongs to the joints that are left.

    Parameters
    ----------
    d : Description
    positions : dict of joint name to numbers [rad, m]
        Its coordinates.
    """
    require_names("with_locked", "joint", positions, (c.name for c in d.connections), d.name)
    positions, couplings = held_followers(d, positions)
    bodies, connections = list(d.bodies), list[Connection]()
    for c in d.connections:
        if c.name in positions and c.joint.nq:
            added, *rest = _fixed_joints(c, positions[c.name])
            bodies += added
            connections += rest
        else:
            connections.append(c)
    bare = rebuilt(
        d,
        bodies=tuple(bodies),
        connections=tuple(connections),
        constraints=(),
        couplings=couplings,
        equipment=without_names(d.equipment, positions, ()),
    )
    kept = [c for c in d.constraints if not _is_replaced(c, positions)]
    locked = {
        f"{name}.{part}" if part else name: float(value)
        for name, values in positions.items()
        for part, value in zip(d.joint_type(name).coordinate_names, values)
    }
    return rebuilt(bare, constraints=taken_over("with_locked", kept, d, bare, locked))


def _is_replaced(c: Constraint, positions: Mapping[str, Sequence[float]]) -> bool:
    """Whether a constraint only says where a joint is that is now held; raise InputError for one that says more."""
    named = [name for _, kind, name in references(c) if kind == "joint" and name in positions]
    if named and not isinstance(c, Lock | Prescribed):
        raise InputError(
            f"locked: constraint '{c.name}' is about joint '{named[0]}'; expected a joint that no constraint but a Lock or a "
            "Prescribed motion is about"
        )
    return bool(named)


def _fixed_joints(c: Connection, values: Sequence[float]) -> tuple[list[Body], *tuple[Connection, ...]]:
    """Return bodies that are added, and fixed joints in place of one that is held."""
    X = _pose(c, values)
    if np.array_equal(X, np.eye(4)):
        return [], _fixed(c, c.at, c.child_at)
    at = compose(c.at, Pose.from_matrix(X))
    child_at = compose(c.child_at, Pose.from_matrix(np.linalg.inv(X)))
    if at is not None:
        return [], _fixed(c, at, c.child_at)
    if child_at is not None:
        return [], _fixed(c, c.at, child_at)
    between = Body(f"{c.name}.held", massless=f"between the two sides of the held joint '{c.name}'")
    return (
        [between],
        Connection(f"{c.name}.held", Fixed(), c.parent, between.name, c.at, node=c.node),
        Connection(c.name, Fixed(), between.name, c.child, Pose.from_matrix(X), c.child_at),
    )


def _fixed(c: Connection, at: Pose, child_at: Pose) -> Connection:
    return Connection(c.name, Fixed(), c.parent, c.child, at, child_at, node=c.node)


def _pose(c: Connection, values: Sequence[float]) -> np.ndarray:
    """Return the pose of the child's joint frame in the parent's at joint coordinates."""
    q = np.atleast_1d(np.asarray(values, dtype=float))
    if q.shape != (c.joint.nq,) or not np.isfinite(q).all():
        raise InputError(
            f"locked: joint '{c.name}' at {values!r}; expected {c.joint.nq} finite number(s), its coordinates"
        )
    if c.joint.nq != c.joint.nv and not q[:4].any():
        raise InputError(f"locked: joint '{c.name}' has a quaternion of zeros; expected w, x, y, z")
    if any(True for _ in parameters_in(c.joint)):
        if not q.any():
            return np.eye(4)
        raise InputError(
            f"locked: joint '{c.name}' has a parameter in its type, so that its pose at {q.tolist()} is no number; expected "
            "position 0, or a plain number in place of the parameter"
        )
    return np.array(ca.DM(c.joint.transform(SX(ca.DM(q))).matrix()))
