"""Components of spacecraft for the tests that go through all components: an example of each, and what it reads from."""

from __future__ import annotations

from collections.abc import Callable

from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components import (
    AtmosphericDrag,
    HarmonicGravity,
    SolarPressure,
    SpaceEnvironment,
    ThirdBodies,
)

EPOCH = "2025-03-20T09:01:00Z"
CENTER = (0.0, 0.0, -6.6e6)
"""The Earth's center below a mechanism at the origin [m]."""


def _space(frame: str, epoch: str = EPOCH) -> SpaceEnvironment:
    return SpaceEnvironment(frame, epoch, CENTER)


SPACECRAFT: dict[type[Component], Callable[[str], Component]] = {
    SpaceEnvironment: _space,
    HarmonicGravity: lambda _: HarmonicGravity(degree=3, epoch=EPOCH, center=CENTER),
    ThirdBodies: lambda _: ThirdBodies(EPOCH, CENTER),
    AtmosphericDrag: lambda frame: AtmosphericDrag((frame, frame), 0.3, ((0, 0, 1), (0.6, 0, 0.8))),
    SolarPressure: lambda frame: SolarPressure((frame,), (0.3,), specular=0.2, diffuse=0.1),
}
"""By the frame that carries it."""

COMPANIONS: dict[type[Component], Callable[[str], tuple[Component, ...]]] = {
    kind: lambda frame: (_space(frame),) for kind in (AtmosphericDrag, SolarPressure)
}
"""Components that it reads from."""
WEIGHTLESS = {HarmonicGravity}
"""Those that want a mechanism without a gravity of its own."""
