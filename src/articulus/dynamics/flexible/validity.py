"""How far a state is from where the equations of modal bodies hold: deflection over length, spin over the first frequency.

Shapes of modes are those of small deflections, and shortening is of second order: beyond a tenth of its length a body bends less than
they say. A body of level "ruthless" does not stiffen as it spins, and one of level "inconsistent" even softens, both by about the square of
the angular rate over the first frequency: a hundredth at a tenth (Padilla & von Flotow 1989).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from articulus.errors import doubtful
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.modes import Modes

Array = np.ndarray


class HasVelocities(Protocol):
    """A mechanism that tells velocities."""

    @property
    def description(self) -> Description: ...

    def velocity(self, frame: str, q: Any, v: Any, *, params: Any = None) -> Array: ...


DEFLECTION = 0.1
"""Deflection over the length of a modal body up to which its equations hold [-]."""
SPIN = 0.1
"""Angular rate over the first frequency up to which a body holds that does not know its shortening [-]."""


def deflections(d: Description, q: Array) -> dict[str, Array]:
    """Return the deflection of each flexible body over its length, (...), at positions (..., nq).

    The deflection is that of its stations, and of all of it as a root of the mean square by mass; the length is the extent of the
    stations, and that of a rod with the body's largest moment of inertia.
    """
    return {
        b.name: _deflection(b.modes, q[..., d.mode_slices(b.name)[1]])
        for b in d.bodies
        if b.modes is not None and b.modes.count
    }


def most_spins(d: Description, v: Array) -> dict[str, Array]:
    """Return, of each flexible body that does not know its shortening, the most that its angular rate can be over its first frequency, (...).

    At velocities (..., nv): the sum of the rates of the joints that carry it.
    """
    return {
        b.name: _rate(d, b.name, v) / frequency
        for b in d.bodies
        if b.modes is not None
        and b.modes.level != "consistent"
        and (frequency := b.modes.first_frequency) > 0
    }


def spin(mechanism: HasVelocities, body: str, q: Array, v: Array, params: Mapping[str, Any] | None) -> Array:
    """Return the angular rate of a flexible body's frame over its first frequency, (...), at states (..., nq), (..., nv)."""
    modes = next(b.modes for b in mechanism.description.bodies if b.name == body)
    assert modes is not None
    turn = mechanism.velocity(body, q, v, params=params)[..., :3]
    return np.linalg.norm(turn, axis=-1) / modes.first_frequency


def deflection_figure(body: str) -> str:
    """Return what a deflection is called."""
    return f"deflection of '{body}' over its length"


def spin_figure(body: str) -> str:
    """Return what a spin is called."""
    return f"angular rate of '{body}' over its first frequency"


def cause(figure: str) -> str | None:
    """Return what to do about a deflection or a spin of this name; None for other figures."""
    if figure.startswith("deflection of"):
        return (
            "modes are shapes of small deflections, right up to a tenth of the body's length: take beams of large deflection "
            "(`components.BeamForces`), or several flexible bodies one after the other"
        )
    if figure.startswith("angular rate of"):
        return (
            "the body does not know how motion stiffens it, which matters from a tenth of its first frequency on: make it of elements or "
            "give geometric stiffness (`GeometricStiffness`), with the level 'consistent'"
        )
    return None


def look(
    mechanism: HasVelocities, what: str, q: Array, v: Array | None, params: Mapping[str, Any] | None
) -> None:
    """Warn where a state, or one of many, is beyond what the flexible bodies of a mechanism are made for."""
    d = mechanism.description
    if not d.flexible:
        return
    found = {
        deflection_figure(body): (float(np.max(share, initial=0.0)), DEFLECTION)
        for body, share in deflections(d, q).items()
    }
    for body, most in most_spins(d, np.zeros(d.nv) if v is None else v).items():
        share = float(np.max(most, initial=0.0))
        if share > SPIN and v is not None:
            share = float(np.max(spin(mechanism, body, q, v, params)))
        found[spin_figure(body)] = share, SPIN
    for figure, (value, limit) in found.items():
        if value > limit:
            doubtful(
                f"{what}: '{d.name}', {figure}: found {value:.2g}; expected at most {limit:g}. Likely cause: {cause(figure)}"
            )


def _deflection(modes: Modes, eta: Array) -> Array:
    mass, length = modes.rr0[3, 3], modes.extent
    found = np.sqrt(np.maximum(np.sum((eta @ modes.ff) * eta, axis=-1), 0.0) / mass)
    for station in modes.stations.values():
        found = np.maximum(found, np.linalg.norm(eta @ station.translation.T, axis=-1))
    return found / length if length > 0 else np.zeros_like(found)


def _rate(d: Description, body: str, v: Array) -> Array:
    """Return the sum of the sizes of the angular rates along the way from the ground to a body [rad/s]."""
    total = np.zeros(v.shape[:-1])
    inner = {c.child for c in d.connections}
    while body in inner:
        c = d.inboard(body)
        at = d.v_slices[c.name]
        turns = np.flatnonzero(c.joint.rotational[: at.stop - at.start]) + at.start
        total = total + np.linalg.norm(v[..., turns], axis=-1)
        body = c.parent
    return total
