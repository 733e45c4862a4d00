"""A planned motion with its tracking gains as C99: where the mechanism should be, and what its motors should do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.bridges.c import vectors
from articulus.bridges.c.module import Argument, CModule, identifier
from articulus.errors import InputError, UnsupportedOperation
from articulus.model.files.storage import StrPath
from articulus.motion.motion import Motion
from articulus.simulation.loop.components import StateFeedback

TESTED = 5
"""Times at which the test program asks."""


def export_motion(
    motion: Motion, folder: StrPath, *, name: str = "motion", real: str = "double", **track: Any
) -> list[Path]:
    """Write C99 source of a planned motion, with header, Makefile and a test program; return the paths.

    `<name>_course` gives positions, velocities and the planned forces of the motors at a time from the beginning of the motion, `<name>_command`
    the forces with feedback of where the mechanism is: tau + K (x_planned - x), the gains those of `Motion.track`. Before the motion and after it
    hold its ends.

    Parameters
    ----------
    motion : Motion
        A plan of a mechanism whose positions and velocities are of one number each for every degree of freedom.
    folder : path
        Made if need be.
    name : str
        Prefix of all public names and of the files.
    real : str
        Type of a number: "double" or "float".
    **track
        bandwidth, deviation: see `Motion.track`.
    """
    if not isinstance(motion, Motion):
        raise InputError(
            f"export of C: found {motion!r}; expected a planned motion, such as a plan or SampledMotion"
        )
    m = motion.mechanism
    if m is None or m.nq != m.nv:
        what = "of joints without a mechanism" if m is None else "of a mechanism with quaternions"
        raise UnsupportedOperation(
            f"export of C: found a motion {what}; expected one number for every degree of freedom"
        )
    feedback, forces = motion.track(**track)
    if not isinstance(feedback, StateFeedback):
        raise InputError(
            "export of C: found kp and kd; expected bandwidth or deviation, whose gains follow the motion"
        )
    t, q, v = SX.sym("t"), SX.sym("q", m.nq), SX.sym("v", m.nv)
    planned, K = (_at(x, t) for x in (feedback.x0, feedback.K))
    tau = ca.vertcat(*(_at(force.force, t) for force in forces))
    command = tau + ca.mtimes(K, planned - ca.vertcat(q, v))
    end = float(motion.t[-1] - motion.t[0])
    about = f"Motion of '{m.name}' over {end!r} s"
    module = CModule(identifier(name), {}, real, about)
    d = m.description
    motors = tuple(n for j in motion.actuators for n in d.coordinate_names(rates=True)[m.v_slice(j)])
    units = d.velocity_units("rad", "m", "1")
    at = Argument("t", (), ("time",), ("s",))
    course = [
        Argument("q", (m.nq,), m.v_names, units),
        Argument("v", (m.nv,), m.v_names, tuple(f"{u}/s" for u in units)),
        Argument(
            "tau",
            (tau.numel(),),
            motors,
            tuple(dict(zip(m.v_names, d.velocity_units("N m", "N", "-"))).get(n, "") for n in motors),
        ),
    ]
    told = [planned[: m.nq], planned[m.nq :], tau]
    module.add(
        ca.Function("course", [t], list(map(ca.densify, told))),
        "course",
        "where the mechanism should be",
        [at],
        course,
    )
    function = ca.Function("command", [t, q, v], [ca.densify(command)])
    module.add(function, "command", "forces of the motors with feedback", [at, *course[:2]], [course[2]])
    rng = np.random.default_rng(0)
    times = rng.uniform(0.0, end, TESTED)
    near = [motion.at(motion.t[0] + x) for x in times]
    cases = {
        "course": [{"t": np.array(x)} for x in times],
        "command": [{"t": np.array(x), "q": y.q + 0.01, "v": y.v - 0.02} for x, y in zip(times, near)],
    }
    return module.write(folder, vectors.program(module, cases))


def _at(function: Any, t: SX) -> SX:
    """Return a function of time at a symbol."""
    found = getattr(function, "function", function)
    return SX(found.expand()(t) if isinstance(found, ca.Function) else ca.DM(np.asarray(found, dtype=float)))
