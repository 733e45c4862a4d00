"""Two frames on stations of one flexible body, which strain gauges and piezoelectric patches join."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.flexible.data import BodyData
from articulus.dynamics.flexible.integrals import nonzero, sparse
from articulus.errors import did_you_mean
from articulus.model.mechanism import Frame, values_of
from articulus.model.mechanism.modes import Modes
from articulus.simulation.loop.component import Component, Scope
from articulus.simulation.loop.components.checks import wrong


@dataclass(frozen=True)
class StationPair:
    """A pair of frames, undeformed.

    Attributes
    ----------
    modes : Modes
        Modes of the body that carries both.
    eta : slice
        The places of its modal coordinates in q.
    turning : SX, (n,) [rad]
        Rotation of the second frame against the first about the axis, for each unit modal coordinate.
    distance : SX [m]
        Between the origins of the frames.
    """

    modes: Modes
    eta: slice
    turning: SX
    distance: SX

    @staticmethod
    def find(
        s: Scope, component: Component, first: str, second: str, axis: tuple[float, float, float]
    ) -> StationPair:
        """Return the pair of the named frames; raise InputError when they are not on stations of one flexible body."""
        frames = {
            "first": _frame(s, component, "first", first),
            "second": _frame(s, component, "second", second),
        }
        one, two = frames.values()
        if one.body != two.body:
            raise wrong(
                component,
                "second",
                f"'{second}' on '{two.body}'",
                f"a frame on '{one.body}', as '{first}' is",
            )
        modes = next(b.modes for b in s.description.bodies if b.name == one.body)
        assert modes is not None
        data = BodyData(modes, s.number)
        stations = [data.station(f.node) for f in (one, two)]
        places = [a.position + np.array(values_of(f.at.xyz)) for a, f in zip(stations, (one, two))]
        apart = ca.densify(sparse(places[1] - places[0]))
        if apart.is_zero():
            raise wrong(component, "second", f"'{second}' at the place of '{first}'", "a frame some way off")
        n = one.at.rotation() @ np.array(axis)
        turning = n @ (stations[1].rotation - stations[0].rotation)
        if not nonzero(turning).any():
            raise wrong(
                component,
                "axis",
                f"{axis}, about which no mode turns '{second}' against '{first}'",
                "the axis of bending",
            )
        eta = s.description.mode_slices(one.body)[1]
        return StationPair(modes, eta, ca.densify(sparse(turning)), ca.norm_2(apart))


def _frame(s: Scope, component: Component, field: str, name: str) -> Frame:
    by_name = {f.name: f for f in s.description.frames}
    if name not in by_name:
        raise wrong(component, field, f"{name!r}", "the name of a frame", did_you_mean(str(name), by_name))
    frame = by_name[name]
    if not frame.node:
        raise wrong(
            component, field, f"'{name}', not on a station", "a frame on a flexible body's station",
            'Give the frame its station: node = "tip".',
        )  # fmt: skip
    return frame
