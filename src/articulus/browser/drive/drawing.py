"""What the page needs to know of a machine before the first frame."""

from __future__ import annotations

import dataclasses
from typing import Any

from articulus.browser.drive.machine import Machine
from articulus.browser.drive.protocol import HEADER, PHASES
from articulus.browser.scene import scene_of


def introduction(machine: Machine) -> dict[str, Any]:
    """Return title, axes, modes, and what the machine looks like, as JSON can hold them."""
    d = machine.mechanism.description
    places = [{"q": d.q_slices[a.name].start, "v": d.v_slices[a.name].start} for a in machine.axes]
    bent = [d.mode_slices(body.name)[1] for body in d.bodies]
    return {
        "title": machine.title,
        "source": d.source,
        "axes": [dataclasses.asdict(axis) | place for axis, place in zip(machine.axes, places)],
        "groups": list(machine.groups),
        "modes": list(machine.modes),
        "soil": machine.soil,
        "ground": machine.ground,
        "notes": dict(machine.notes),
        "nq": d.nq,
        "nv": d.nv,
        "seat": None if machine.seat is None else dataclasses.asdict(machine.seat),
        "flexible": [(modes.start, modes.stop) for modes in bent],
        "scene": scene_of(machine.mechanism, paths=[c.path for c in machine.components if c.path]).plain(),
        "header": list(HEADER),
        "phases": [str(phase) for phase in PHASES],
    }
