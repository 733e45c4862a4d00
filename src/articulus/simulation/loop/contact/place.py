"""Where a shape is and how it moves, from the frame that carries it."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from articulus.model.mechanism import GROUND
from articulus.simulation.loop.component import Scope
from articulus.simulation.loop.contact.patch import MovingFrame
from articulus.simulation.loop.contact.shapes import Shape


def placed(s: Scope, shape: Shape) -> MovingFrame:
    """Return the movement of a shape's own origin and axes."""
    frame, at = moving_frame(s, shape.frame), shape.at
    if at.is_identity:
        return frame
    o = frame.o + ca.mtimes(frame.R, SX(ca.DM(at.matrix()[:3, 3])))
    return MovingFrame(o, ca.mtimes(frame.R, sparse(at.rotation())), frame.omega, frame.velocity(o))


def moving_frame(s: Scope, frame: str) -> MovingFrame:
    """Return the movement of a body or frame."""
    if frame == GROUND:
        return MovingFrame(SX.zeros(3), SX.eye(3), SX.zeros(3), SX.zeros(3))
    pose = s.ask("pose", s.q, frames=[frame])
    twist = s.ask("velocity", s.q, s.v, frames=[frame])
    return MovingFrame(pose[:3, 3], pose[:3, :3], twist[:3], twist[3:])


def sparse(R: np.ndarray) -> SX:
    """Return a matrix of numbers without its zeros."""
    return SX(ca.sparsify(ca.DM(R)))
