"""A ball that bounces until it rests, a ball that is lifted from rest, and a pendulum that leans against a stop."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.simulation.loop.components import Expression
from articulus.simulation.loop.events import Bounce
from articulus.simulation.results.run import Run
from articulus.simulation.running import simulate


def compute() -> dict:
    out: dict = {}
    for method in ("rk4", "dormand_prince", "generalized_alpha"):
        run = simulate(
            ball(),
            6.0,
            q0=[1.0],
            step=0.02,
            method=method,
            events=[Bounce("z", 0.0, -1, 0.8)],
            rtol=1e-12,
            atol=1e-12,
        )
        impacts, rest = times(run, "bounce"), times(run, "bounce rests")
        out[f"{method}, e = 0.8: time of rest after a fall of 1 m [s]"] = rest[0]
        out[f"{method}, e = 0.8: first four impacts [s]"] = impacts[:4]
        out[f"{method}, e = 0.8: height, speed and force of the floor at 6 s [m, m/s, N]"] = [
            run.q[-1, 0],
            run.v[-1, 0],
            run["stops"][-1, 0],
        ]
    out["e = 0.8: energy lost in all impacts [J]"] = run["energy.dissipated"][-1]
    return out | lift_off() | leaning()


def ball() -> art.Mechanism:
    m = art.Mechanism("ball")
    m.body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("z", art.Prismatic((0, 0, 1)), "ground", "ball")
    return m


def times(run: Run, name: str) -> list[float]:
    return [event.time for event in run.events if event.name == name]


def lift_off() -> dict:
    """A force of 15 sin(t) N on 1 kg at rest: it leaves the floor where the force is its weight."""
    t = ca.SX.sym("t")
    lift = Expression(ca.Function("lift", [t], [15 * ca.sin(t)], ["t"], ["u"]))
    run = simulate(
        ball(), 1.2, step=0.01, method="dormand_prince", components=[lift], events=[Bounce("z", 0.0, -1)], rtol=1e-12, atol=1e-12
    )  # fmt: skip
    return {
        "lifted by 15 sin(t) N: time of release [s]": times(run, "bounce lets go")[0],
        "lifted by 15 sin(t) N: height at 1.2 s [m]": run.q[-1, 0],
    }


def leaning() -> dict:
    """A pendulum of 1 kg and 1 m that falls against a stop at 30 deg from below and rests there."""
    m = art.Mechanism("pendulum")
    m.body("bob", 1.0, (0, 0, -1), (1e-9, 1e-9, 1e-9))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob")
    at = np.radians(30)
    run = simulate(m, 4.0, q0=[1.0], step=0.01, method="rk4", events=[Bounce("hinge", at, -1, 0.5)])
    return {
        "pendulum on a stop at 30 deg: moment of the stop, largest change of the angle [N m, rad]": [
            run["stops"][-1, 0],
            np.abs(run.q[run.t > times(run, "bounce rests")[0], 0] - at).max(),
        ]
    }
