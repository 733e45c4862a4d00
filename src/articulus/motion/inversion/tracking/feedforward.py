"""`feedforward`: the inputs of an inversion with joint feedback around the motion that it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from articulus.errors import InputError
from articulus.model.mechanism import Spline
from articulus.motion.inversion.result import Inversion
from articulus.simulation.loop.component import Component
from articulus.simulation.loop.components.pd import PD
from articulus.simulation.loop.components.torque import Torque


def predict_positions(
    inversion: Inversion, joints: Sequence[str] = (), *, shift: float | None = None
) -> tuple[Spline, ...]:
    """Return the predicted positions of joints as functions of time: the `target` of any controller component.

    Parameters
    ----------
    inversion : Inversion
        With states "q.<joint>".
    joints : sequence of str
        Those with an input "tau.<joint>" if not given.
    shift : float [s]
        Added to the times; -t[0] if not given, as in `Inversion.components`.
    """
    times = tuple(inversion.t + (-inversion.t[0] if shift is None else shift))
    return tuple(Spline(times, tuple(inversion.state(f"q.{joint}"))) for joint in joints or driven(inversion))


def feedforward(
    inversion: Inversion,
    kp: Any,
    kd: Any,
    joints: Sequence[str] = (),
    *,
    shift: float | None = None,
    ideal: bool = True,
    **fields: Any,
) -> tuple[Component, ...]:
    """Return components for `simulate`: the inputs of an inversion, and proportional and derivative feedback around its joint motion.

    Joint feedback is collocated, so that it damps a flexible arm with any positive gains (Paden, Chen, Ledesma & Bayo 1993); the inputs
    move the tip.

    Parameters
    ----------
    inversion : Inversion
        With inputs "tau.<joint>" and states "q.<joint>".
    kp, kd : number or one per joint
        See `PD`.
    joints : sequence of str
        Joints with feedback; those with an input if not given.
    shift : float [s]
        Added to the times; -t[0] if not given, so that the first input is at the time 0 of the run.
    ideal : bool
        Add actuators whose commands are the joint forces; False for a run that has actuators of its own, one per joint in this order.
    **fields
        Of `PD`: measured signals, sampling period, name.
    """
    held = tuple(joints) or driven(inversion)
    target = predict_positions(inversion, held, shift=shift)
    actuators = tuple(map(Torque, held)) if ideal else ()
    return (*inversion.components(shift=shift), PD(kp, kd, target=target, joints=held, **fields), *actuators)


def driven(inversion: Inversion) -> tuple[str, ...]:
    """Return the joints that the inputs of an inversion drive."""
    found = tuple(name.removeprefix("tau.") for name in inversion.input_names if name.startswith("tau."))
    if not found:
        raise InputError(
            f"{inversion.method}: no input is a joint force ({', '.join(inversion.input_names[:6])}); expected tau.<joint>, or the joints by name"
        )
    return found
