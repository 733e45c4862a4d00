"""Linear models about a state in which friction of bristles sticks under load: the law has a kink there."""

from __future__ import annotations

import numpy as np

from articulus.errors import doubtful
from articulus.model.mechanism.expression import evaluate
from articulus.simulation.loop.components import BearingFriction, JointFriction
from articulus.simulation.loop.functions import System

LOADED = 0.05
"""Part of the static friction from which the two sides of the kink differ noticeably [-]."""


def check_stuck_friction(system: System, c: np.ndarray, p: np.ndarray) -> None:
    """Warn where a linear model about states (rows, nc) stands for two one-sided ones.

    dz/dt = v - s0 |v| z / g: at v = 0 its slope is 1 - s0 z / g for motion along the load and 1 + s0 z / g against it; the model has 1, the
    mean of both.
    """
    names = {x.name: k for k, x in enumerate(system.network.parameters)}
    for component in system.network.components:
        if not isinstance(component, (JointFriction, BearingFriction)):
            continue
        place = system.places.get(f"{component.name}.deflection")
        if place is None:
            continue
        if isinstance(component, JointFriction):
            level = component.static if component.static is not None else component.coulomb
            most = component.stiffness, level
        else:
            level = component.static if component.static is not None else component.friction
            most = 1.0, component.deflection
        values = [evaluate(x, lambda q: p[:, names[q.name]]) for x in most]
        stretch = np.abs(c[:, place]).max(axis=1) * (values[0] / values[1])
        joint = system.description.v_slices[component.joint]
        still = (np.abs(c[:, system.places["v"]][:, joint]) == 0).all(axis=1)
        share = float(np.max(np.where(still, stretch, 0.0), initial=0.0))
        if share > LOADED:
            doubtful(
                f"linearize: '{component.name}' sticks under {share:.0%} of its static friction, where its law has a kink: motion along the load "
                f"meets {max(1 - share, 0.0):.2g} of the bristles' stiffness rate, motion against it {1 + share:.2g}, and the model has 1 for both. "
                "Expected a state without load on the friction, or small vibrations about it: simulate a small step in each direction"
            )
