"""Forces of a field on the rigid bodies of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import SX

from articulus.errors import did_you_mean
from articulus.loop.component import Component, Scope
from articulus.loop.components.checks import wrong
from articulus.mechanism import Body


def heavy_bodies(s: Scope, component: Component, names: Sequence[str]) -> list[Body]:
    """Return the bodies of given names, or all that have mass; raise InputError for unknown and flexible ones."""
    known = {b.name: b for b in s.description.bodies}
    for name in names:
        if name not in known:
            raise wrong(component, "bodies", repr(name), "names of bodies", did_you_mean(name, known))
    chosen = [known[name] for name in names] or [
        b for b in known.values() if b.mass != 0 or b.modes is not None
    ]
    for body in chosen:
        if body.modes is not None:
            raise wrong(
                component,
                "bodies",
                f"'{body.name}', a flexible body",
                "rigid bodies",
                "Name the rigid ones, or give the mechanism a constant gravity, which acts on flexible bodies too",
            )
    return chosen


def pose_of(s: Scope, body: Body) -> tuple[SX, SX]:
    """Return the rotation of a body, (3, 3), and its centre of mass relative to its origin, ground axes, (3,)."""
    R = s.ask("pose", s.q, frames=[body.name])[:3, :3]
    return R, ca.mtimes(R, ca.vertcat(*map(s.number, body.com)))


def push(s: Scope, body: Body, arm: SX, force: SX, moment: SX) -> None:
    """Apply a force at the centre of mass, `arm` from the body's origin, and a moment, ground axes."""
    s.wrench(body.name, ca.vertcat(ca.cross(arm, force) + moment, force))
