"""Flat surfaces of a craft, on bodies and frames that may move."""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.model.mechanism.joint.base import unit_axis
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import check_frame, wrong


def normals(x: Any) -> tuple[tuple[float, float, float], ...]:
    """Return outward normals as unit vectors, one row for each facet; one vector alone is a row."""
    rows = [x] if x and not hasattr(x[0], "__iter__") else x
    return tuple(unit_axis("facet", tuple(row)) for row in rows)


def facets(s: Scope, component: Any) -> list[tuple[str, SX, SX | None]]:
    """Return frame, area and outward normal in ground axes of every facet; no normal: the same from all sides."""
    frames, count = component.frames, len(component.frames)
    _require_size(component, "areas", len(component.areas), count)
    if component.normals:
        _require_size(component, "normals", len(component.normals), count)
    out = []
    for k, frame in enumerate(frames):
        check_frame(s, component, frame)
        area = s.number(component.areas[k if len(component.areas) > 1 else 0])
        n = None
        if component.normals:
            own = component.normals[k if len(component.normals) > 1 else 0]
            n = ca.mtimes(s.ask("pose", s.q, frames=[frame])[:3, :3], ca.DM(own))
        out.append((frame, area, n))
    return out


def _require_size(component: Component, field: str, found: int, count: int) -> None:
    if found not in (1, count):
        raise wrong(component, field, f"{found} for {count} frames", f"1 or {count}")
