"""Bodies that are welded together made one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from articulus.errors import UnsupportedOperation
from articulus.model.mechanism import (
    GROUND,
    Body,
    Connection,
    Description,
    Equipment,
    Fixed,
    Frame,
    Pose,
    Visual,
    values_of,
)


def lump_fixed(description: Description) -> Description:
    """Return the mechanism without fixed joints: what hangs by one is merged into its parent.

    The merged bodies stay as frames with their names; mass, center of mass and inertia are combined
    (parallel-axis theorem), what is drawn for them goes along. What is fixed to ground only stays as a frame.
    """
    if description.parameters:
        raise UnsupportedOperation("lump_fixed: a mechanism with named parameters cannot be lumped")
    carriers, parts = _carriers(description), rigid_groups(description)
    bodies = tuple(
        merge_bodies(b.name, parts[b.name]) for b in description.bodies if carriers[b.name][0] == b.name
    )
    joints = tuple(
        _move_connection(c, carriers) for c in description.connections if not isinstance(c.joint, Fixed)
    )
    welds = tuple(
        Frame(b.name, *_place(carriers[b.name])) for b in description.bodies if b.name not in _names(bodies)
    )
    frames = tuple(_move_frame(f, carriers) for f in description.frames)
    d = description
    standing = d.visuals + _move_visuals(parts.get(GROUND, []))
    kept = (d.gravity, d.source, d.constraints, standing, d.findings)
    built = Description.build(d.name, bodies, joints, welds + frames, *kept, couplings=d.couplings)
    return replace(built, equipment=Equipment(collisions=d.equipment.collisions))


def rigid_groups(description: Description) -> dict[str, list[tuple[Body, np.ndarray]]]:
    """Return the bodies that move as one, each with its pose in the first of them, by the name of that one."""
    carriers = _carriers(description)
    parts: dict[str, list[tuple[Body, np.ndarray]]] = {}
    for body in description.bodies:
        carrier, pose = carriers[body.name]
        parts.setdefault(carrier, []).append((body, pose))
    return parts


def _names(bodies: tuple[Body, ...]) -> set[str]:
    return {b.name for b in bodies}


def _carriers(description: Description) -> dict[str, tuple[str, np.ndarray]]:
    """Return for each body the body that it becomes part of, and its pose there."""
    out = {GROUND: (GROUND, np.eye(4))}
    for c in description.connections:
        if isinstance(c.joint, Fixed):
            carrier, pose = out[c.parent]
            out[c.child] = (carrier, pose @ c.at.matrix() @ np.linalg.inv(c.child_at.matrix()))
        else:
            out[c.child] = (c.child, np.eye(4))
    return out


def _place(carrier: tuple[str, np.ndarray]) -> tuple[str, Pose]:
    return carrier[0], Pose.from_matrix(carrier[1])


def _move_connection(connection: Connection, carriers: dict[str, tuple[str, np.ndarray]]) -> Connection:
    carrier, pose = carriers[connection.parent]
    if carrier == connection.parent:
        return connection
    return replace(connection, parent=carrier, at=Pose.from_matrix(pose @ connection.at.matrix()))


def _move_frame(frame: Frame, carriers: dict[str, tuple[str, np.ndarray]]) -> Frame:
    carrier, pose = carriers[frame.body]
    if carrier == frame.body:
        return frame
    return replace(frame, body=carrier, at=Pose.from_matrix(pose @ frame.at.matrix()))


def merge_bodies(name: str, parts: list[tuple[Body, np.ndarray]]) -> Body:
    """Return the one body that the parts, each with its pose, make together."""
    heavy = [(b, X) for b, X in parts if not b.massless]
    own = next(b for b, _ in parts if b.name == name)
    drawn = _move_visuals(parts)
    if not heavy or [b for b, _ in heavy] == [own]:
        return replace(own, visuals=drawn)
    masses = np.array([values_of((b.mass,))[0] for b, _ in heavy])
    points = np.array([X[:3, :3] @ np.array(values_of(b.com)) + X[:3, 3] for b, X in heavy])
    com = masses @ points / masses.sum() if masses.any() else np.array(values_of(heavy[0][0].com))
    I = np.zeros((3, 3))
    for (body, X), m, p in zip(heavy, masses, points - com):
        I += X[:3, :3] @ body.inertia_matrix() @ X[:3, :3].T + m * (p @ p * np.eye(3) - np.outer(p, p))
    six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    doubtful = next((b.doubtful for b, _ in heavy if b.doubtful), "")
    numbers = (float(masses.sum()), tuple(map(float, com)), tuple(map(float, six)))
    return Body(name, *numbers, visuals=drawn, doubtful=doubtful)


def _move_visuals(parts: list[tuple[Body, np.ndarray]]) -> tuple[Visual, ...]:
    """Return what is drawn for the parts, in the frame of the one body that they become."""
    return tuple(v if np.array_equal(X, np.eye(4)) else v.move(X) for b, X in parts for v in b.visuals)
