"""A mechanism without some of its branches."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from articulus.model.mechanism.constraint import references
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.couplings import without_joints
from articulus.model.mechanism.edit.equipment import without_names
from articulus.model.mechanism.edit.rebuild import rebuilt, require_names, taken_over
from articulus.model.mechanism.visual import Strut, Visual


def without(d: Description, bodies: Sequence[str]) -> Description:
    """Return the mechanism without bodies and everything that is attached to them.

    Their joints and frames go with them, and so do the couplings and constraints that name a body, frame or joint that goes: a loop is
    open without one of its bodies.

    Parameters
    ----------
    d : Description
    bodies : sequence of str
    """
    require_names("without", "body", bodies, (b.name for b in d.bodies), d.name)
    gone = set(bodies)
    for c in d.connections:  # parents first
        if c.parent in gone:
            gone.add(c.child)
    connections = tuple(c for c in d.connections if c.child not in gone)
    frames = tuple(f for f in d.frames if f.body not in gone)
    kept_bodies = tuple(
        dataclasses.replace(b, visuals=_remaining_visuals(b.visuals, gone))
        for b in d.bodies
        if b.name not in gone
    )
    lost = {
        "frame": gone | {f.name for f in d.frames if f.body in gone},
        "joint": {c.name for c in d.connections if c.child in gone},
    }
    couplings = without_joints(d.couplings, lost["joint"])
    bare = rebuilt(
        d,
        bodies=kept_bodies,
        connections=connections,
        frames=frames,
        constraints=(),
        couplings=couplings,
        visuals=_remaining_visuals(d.visuals, gone),
        equipment=without_names(d.equipment, lost["joint"], lost["frame"]),
    )
    kept = [c for c in d.constraints if not any(name in lost[kind] for _, kind, name in references(c))]
    return rebuilt(bare, constraints=taken_over("without", kept, d, bare))


def _remaining_visuals(visuals: tuple[Visual, ...], gone: set[str]) -> tuple[Visual, ...]:
    """Return the shapes that do not end on a body that goes."""
    return tuple(v for v in visuals if not (isinstance(v, Strut) and v.body in gone))
