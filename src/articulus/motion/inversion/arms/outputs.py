"""Names of outputs: chosen coordinates of frames."""

from __future__ import annotations

from collections.abc import Sequence

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError
from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.constraint.frame_coordinates import ANGLES, LENGTHS


def read_outputs(mechanism: Mechanism, tip: str, outputs: str | Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return frame and coordinate of every output; a name without a frame is one of the tip.

    Parameters
    ----------
    tip : str
        Body or frame.
    outputs : sequence of str
        Such as "x", "yaw", or "elbow.y" of another frame.
    """
    found = []
    for name in (outputs,) if isinstance(outputs, str) else outputs:
        frame, _, what = str(name).rpartition(".")
        if what not in LENGTHS + ANGLES:
            raise InputError(
                f"outputs: found {name!r}; expected x, y, z, roll, pitch or yaw of the tip, or of another frame as in 'elbow.y'"
            )
        frame = frame or tip
        if mechanism.description.carrier(frame)[0] == GROUND:
            raise InputError(f"outputs: frame '{frame}' is on the ground; expected a frame that moves")
        found.append((frame, what))
    if len(set(found)) != len(found) or not found:
        raise InputError(f"outputs: found {list(outputs)}; expected at least one name, each once")
    return tuple(found)
