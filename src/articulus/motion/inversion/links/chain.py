"""A mechanism as an open chain of links, from ground to a tip: which joints meet at the hub of each, and where it ends."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism import Connection, Description, Frame
from articulus.model.mechanism.body import GROUND

SHORT = 1e-9
"""Distance from hub to end below which a body is only part of a hub [m]."""


@dataclass(frozen=True)
class ChainLink:
    """One link.

    Parameters
    ----------
    name : str
        Body that carries the end of the hub's last joint.
    joints : tuple of str
        That meet at its hub, from the ground outwards.
    bodies : tuple of str
        Flexible ones, this or fixed to it.
    hub, end : str
        Frames at the hub (on what comes before) and at the end.
    """

    name: str
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    hub: str
    end: str


@dataclass(frozen=True, eq=False)
class Chain:
    """A mechanism with frames at the ends of its links.

    Attributes
    ----------
    arm : Mechanism
    links : tuple of ChainLink
        From the ground outwards.
    joints : array of int
        Places of the joints in v, in the order of the links.
    joint_names : tuple of str
    """

    arm: Mechanism
    links: tuple[ChainLink, ...]
    joints: np.ndarray
    joint_names: tuple[str, ...]

    @property
    def modes(self) -> np.ndarray:
        """Places of all modal coordinates in v."""
        return np.setdiff1d(np.arange(self.arm.nv), self.joints)

    def modes_of(self, link: ChainLink) -> np.ndarray:
        """Return the places of the modal coordinates of a link in v."""
        d = self.arm.description
        places = [np.arange(d.nv)[d.mode_slices(body)[0]] for body in link.bodies]
        return np.concatenate([np.zeros(0, dtype=int), *places])


def chain_of(arm: Mechanism, tip: str, what: str) -> Chain:
    """Return a mechanism as a chain; raise InputError when it is none: loops, branches, joints with quaternions."""
    d = arm.description
    body, frame = d.carrier(tip)
    if d.constraints or d.couplings:
        raise InputError(
            f"{what}: '{d.name}' has constraints or coupled joints; expected an open chain. Closed chains are inverted as a whole"
        )
    way = _way(d, body)
    moving = [c for c in way if c.joint.nv]
    others = [c.name for c in d.connections if c.joint.nv and c not in moving]
    if others:
        raise InputError(
            f"{what}: joint '{others[0]}' is not on the way from the ground to '{tip}'; expected one open chain"
        )
    for c in moving:
        if c.joint.nv != 1:
            raise InputError(
                f"{what}: joint '{c.name}' is a {c.joint.type_name} joint with {c.joint.nv} degrees of freedom; expected joints with "
                "one each (three motors at one place are three revolute joints with light bodies between)"
            )
    if not moving:
        raise InputError(f"{what}: no joint moves '{tip}'; expected at least one")
    ends = [*(Frame(f"end of {c.parent}", c.parent, c.at, c.node) for c in moving), frame]
    arm = _with_frames(arm, ends[:-1])
    places = np.array([d.v_slices[c.name].start for c in moving])
    links, joints = [], []
    at = arm.poses(arm.neutral)
    for c, hub, end in zip(moving, ends, ends[1:]):
        joints.append(c.name)
        apart = (at[end.name] - at[hub.name])[:3, 3]
        if np.linalg.norm(apart) > SHORT:
            first = ends[moving.index(next(m for m in moving if m.name == joints[0]))]
            links.append(ChainLink(c.child, tuple(joints), _flexible_behind(d, c), first.name, end.name))
            joints = []
    if joints:
        raise InputError(
            f"{what}: '{tip}' is at the hub of joint '{joints[-1]}', which cannot move it; expected a frame further out"
        )
    return Chain(arm, tuple(links), places, tuple(c.name for c in moving))


def _way(d: Description, body: str) -> list[Connection]:
    way: list[Connection] = []
    while body != GROUND:
        way.insert(0, d.inboard(body))
        body = way[0].parent
    return way


def _with_frames(arm: Mechanism, frames: list[Frame]) -> Mechanism:
    """Return a mechanism that has frames of these names."""
    d = arm.description
    return Mechanism.from_description(dataclasses.replace(d, frames=(*d.frames, *frames)))


def _flexible_behind(d: Description, joint: Connection) -> tuple[str, ...]:
    """Return the flexible bodies that a joint carries rigidly, its child first."""
    found, todo = [], [joint.child]
    while todo:
        body = todo.pop(0)
        found.append(body)
        todo += [c.child for c in d.connections if c.parent == body and not c.joint.nv]
    held = {b.name for b in d.bodies if b.modes is not None}
    return tuple(body for body in found if body in held)
