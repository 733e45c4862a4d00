"""Two-link arm whose second link bends: joint moments that lead a point of it along a line, and why they exist backward in time only."""

import functools
import warnings
from typing import Any

import casadi as ca
import numpy as np

import articulus as art
from articulus.errors import DoubtfulResult, NumericalError
from articulus.model.mechanism import Polynomial, PrescribedPoint, TimeFunction
from articulus.motion.inversion import Inversion, mechanism_system, servo_plan
from articulus.motion.inversion.stable import normal_form
from articulus.simulation.loop.components import ServoConstraints
from articulus.structure import beam_body

EI = 68.95e9 * 0.0005**2 / (4 * np.pi)
"""Of a solid round bar with the printed area [N m^2]; the second moment of area is not given."""
POSE = np.radians([80.0, -160.0])
MOTORS = ("j1", "j2")
LENGTH, POINT, DURATION, WAY = 2.7, 1.8, 1.0, 1.5


@functools.cache
def arm(modes: int, damping: float = 0.0, share: float = 0.25) -> art.Mechanism:
    """Return the arm with clamped-free modes of link 2; none: rigid. `share` of m L^2 is taken off the inertia of link 1."""
    mechanism = art.Mechanism("two-link arm", gravity=(0, 0, 0))
    mechanism.body("link1", mass=30.0, com=(0.5, 0, 0), inertia=(10.0, 10.0, 10.0 - share * 30.0))
    mechanism.joint("j1", art.Revolute((0, 0, 1)), "ground", "link1")
    if modes:
        body = beam_body(
            LENGTH, EI=EI, mass_per_length=15.0 / LENGTH, modes=modes, elements=27, damping=damping
        )
        mechanism.flexible("link2", body.at_level("inconsistent"))
        nodes: dict[str, dict[str, Any]] = {"A": {"node": "node18"}, "tip": {"node": "tip"}}
    else:
        turn = 15.0 * LENGTH**2 / 12
        mechanism.body("link2", mass=15.0, com=(LENGTH / 2, 0, 0), inertia=(turn, turn, turn))
        nodes = {"A": {"at": (POINT, 0, 0)}, "tip": {"at": (LENGTH, 0, 0)}}
    mechanism.joint("j2", art.Revolute((0, 0, 1)), "link1", "link2", at=(1.0, 0, 0))
    for name, place in nodes.items():
        mechanism.frame(name, "link2", **place)
    return mechanism


def line(frame: str, x: float, y: float) -> PrescribedPoint:
    """Return the program: a frame goes 1.5 m along x in 1 s, from rest to rest."""
    t = ca.SX.sym("t")
    way = WAY / DURATION * (t - DURATION / (2 * np.pi) * ca.sin(2 * np.pi * t / DURATION))
    return PrescribedPoint(
        "line", frame, x=TimeFunction.of(ca.Function("x", [t], [x + way])), y=Polynomial((y,))
    )


def at(q: np.ndarray, modes: int) -> np.ndarray:
    return np.concatenate([q, np.zeros(modes)])


def compute() -> dict:
    start = np.array([np.cos(POSE[0]) + POINT * np.cos(POSE.sum()), np.sin(POSE[0]) + POINT * np.sin(POSE.sum())])  # fmt: skip
    program = line("A", *start)
    one, two, three = (squares(modes, "A") for modes in (1, 2, 3))
    plan = servo_plan(arm(2), program, MOTORS, q=at(POSE, 2))
    rigid = rigid_moments(0.25)
    centered = rigid_moments(0.0)
    forms = [moments(arm(1), program, at(POSE, 1), form) for form in ("mobility", "augmented", "null_space")]
    tip = line("tip", np.cos(POSE[0]) + LENGTH * np.cos(POSE.sum()), np.sin(POSE[0]) + LENGTH * np.sin(POSE.sum()))  # fmt: skip
    inverse = servo_plan(arm(2, damping=0.02), program, MOTORS, q=at(POSE, 2)).noncausal(
        0.0, DURATION, step=2e-3, tolerance=1e-6
    )
    return {
        "point A at the start [m]": arm(0).pose("A", POSE)[:2, 3],
        "zeros from the motors to point A, one mode: s^2 [1/s^2]": one,
        "zeros, two modes: s^2 [1/s^2]": two,
        "zeros, three modes: s^2 [1/s^2]": three,
        "zeros to the tip, two modes: the slowest unstable one [rad/s]": np.sqrt(squares(2, "tip").min()),
        "unstable zero that the plan shows, two modes [rad/s]": plan.unstable.real,
        "rigid, inertia of link 1 about its joint: moments at 0.25, 0.5, 0.75 s [N m]": rigid[1],
        "rigid, inertia of link 1 about its mass centre: the same [N m]": centered[1],
        "rigid: angles at 0.25 and 1 s [deg]": rigid[0],
        "one mode, forward in time: M2 at 0.25 s [N m]": forms[0][1, 1],
        "three forms of the equations differ by at most 1e-6 N m (1 = yes)": max(
            np.abs(f - forms[0]).max() for f in forms
        )
        < 1e-6,
        "two modes, forward in time: alive at 0.11 s and not at 0.13 s (1 = yes)": lives(program, 0.11, 0.13),
        "the same with the tip on the line: alive at 0.045 s and not at 0.06 s (1 = yes)": lives(
            tip, 0.045, 0.06
        ),
        "two modes with 2 % damping, not causal: moments begin before the motion (1 = yes)": inverse.pre
        > 0.02,
        "forward run with these moments: point A within 0.2 mm of its line (1 = yes)": off_line(inverse)
        < 2e-4,
    }


def squares(modes: int, frame: str) -> np.ndarray:
    """Return the squares of the zeros from the moments to a point, without damping."""
    mechanism = arm(modes)
    x = np.concatenate([at(POSE, modes), np.zeros(mechanism.nv)])
    form = normal_form(mechanism_system(mechanism, MOTORS, [f"{frame}.x", f"{frame}.y"]), x)
    return np.sort((np.linalg.eigvals(form.zero_dynamics(x)) ** 2).real)[::2]


def moments(mechanism: art.Mechanism, program: PrescribedPoint, q: np.ndarray, form: str) -> np.ndarray:
    """Return the moments at 0, 0.25, 0.5 and 0.75 s, forward in time."""
    law = ServoConstraints((program,), MOTORS, form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        run = art.simulate(mechanism, 0.75, q, controller=law, step=5e-4, sample=0.25, outputs=["tau"])
    return run["tau"][:, :2]


def rigid_moments(share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return angles [deg] at 0.25 and 1 s and moments at 0.25, 0.5, 0.75 s with the printed coordinates of the start."""
    mechanism = arm(0, share=share)
    program = line("A", 0.4862, -0.7878)
    q = POSE + np.linalg.solve(
        mechanism.jacobian("A", POSE)[3:5], [0.4862, -0.7878] - mechanism.pose("A", POSE)[:2, 3]
    )
    law = ServoConstraints((program,), MOTORS)
    run = art.simulate(mechanism, 1.0, q, controller=law, step=1e-3, sample=0.25, outputs=["tau"])
    return np.degrees(run.q[[1, 4]]), run["tau"][1:4]


def lives(program: PrescribedPoint, before: float, after: float) -> bool:
    """Return whether a forward run with two modes reaches the first of two times and not the second."""
    loop = art.Loop(arm(2), ServoConstraints((program,), MOTORS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        loop.simulate(before, at(POSE, 2), step=5e-4, outputs=[])
        try:
            loop.simulate(after, at(POSE, 2), step=5e-4, outputs=[])
        except NumericalError:
            return True
    return False


def off_line(inverse: Inversion) -> float:
    """Return the largest distance of A from its place under the moments found, in a run of the mechanism [m]."""
    mechanism, until = arm(2, damping=0.02), round(inverse.t[-1] - inverse.t[0], 2)
    run = art.simulate(
        mechanism, until, at(POSE, 2), components=inverse.components(), step=5e-4, sample=0.02, outputs=[]
    )
    place = mechanism.pose("A", run.q)[:, :2, 3]
    wanted = np.array([np.interp(run.t + inverse.t[0], inverse.t, column) for column in inverse.outputs.T]).T
    return float(np.abs((place - place[0]) - (wanted - wanted[0])).max())
