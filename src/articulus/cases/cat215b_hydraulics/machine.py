"""The Caterpillar 215B with its actuators and its operator's JOINT and RESOLVED mode."""

from __future__ import annotations

import warnings
from typing import Any

import casadi as ca
import numpy as np

import articulus as art
from articulus.errors import DoubtfulResult
from articulus.model.library.cat215b_drives import JOINTS, START, actuators
from articulus.simulation.loop.components import JointRate, ResolvedRate
from articulus.simulation.results.run import Run
from articulus.simulation.running import simulate

STEP = 0.01  # s
GAINS: dict[str, Any] = {"kp": (2.0, 3.0, 2.0, 2.0), "kd": (1.0, 2.0, 1.0, 1.0)}
"""Table 5.3."""
MOVING = (3.0, 8.0)  # s
RATES = np.radians([6.0, 3.0, 6.0, -6.0])
"""Assumed: joint rates of the JOINT motion in that time, else rest [rad/s]. The profile of the source is in a figure that is lost."""


def modes(digger: art.Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the frequencies of the mechanism on its closed hydraulic lines, ascending [rad/s].

    With the spools closed p' = P v and tau = T p, so that K = -T P is the stiffness of the lines; undamped, gravity left
    out: roots of det(K - w^2 M).
    """
    system = art.Loop(digger, components=actuators()).system
    c = ca.SX.sym("c", system.nc)
    rest = [ca.SX(ca.DM(system.d0)), ca.SX(0, 1), ca.SX(0, 1), ca.SX(0), ca.SX(STEP)]
    (tau,), (rates,) = system.loads.call([c, *rest]), system.rhs.call([c, *rest])
    lines = np.r_[tuple(system.places[f"{joint}.pressures"] for joint in JOINTS)]
    speeds = np.arange(system.nc)[system.places["v"]]
    T = ca.jacobian(tau, c)[:, lines.tolist()]
    P = ca.jacobian(rates, c)[lines.tolist(), speeds.tolist()]
    at = system.c0.copy()
    at[system.places["q"]], at[lines] = q, 1000.0  # anywhere between exhaust and supply
    K = -np.array(ca.Function("K", [c], [ca.mtimes(T, P)])(at))
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(digger.mass_matrix(q), K)).real))


def resolved_command() -> ca.Function:
    """Return the operator's command: from 5 to 10 s 0.3 m/s outwards and 15 deg in all about the cab axis, else rest."""
    t = ca.SX.sym("t")
    moving = ca.logic_and(t > 5 - STEP / 2, t < 10 - STEP / 2)
    radius = 5 + 0.3 * (t - 5)
    command = ca.vertcat(0.3, np.radians(15) / 5 * radius, 0, 0)
    return ca.Function("command", [t], [ca.if_else(moving, command, ca.SX.zeros(4))], ["t"], ["command"])


def resolved_run(digger: art.Mechanism) -> Run:
    """Return 15 s in RESOLVED mode: gains of table 5.3, control at every step.

    The step is the source's, too large for the bucket on its lines (214 rad/s): the energy balance is off by 3 percent.
    """
    law = ResolvedRate(
        resolved_command(),
        **GAINS,
        period=STEP,
        point="wrist",
        tool="bucket",
        name="operator",
    )
    return _run(digger, law, 15.0)


def joint_run(digger: art.Mechanism) -> Run:
    """Return 13 s in JOINT mode, by the same gains and step."""
    t = ca.SX.sym("t")
    moving = ca.logic_and(t > MOVING[0] - STEP / 2, t < MOVING[1] - STEP / 2)
    command = ca.Function(
        "command", [t], [ca.if_else(moving, ca.DM(RATES), ca.DM.zeros(4))], ["t"], ["command"]
    )
    return _run(digger, JointRate(command, **GAINS, period=STEP, name="operator"), 13.0)


def _run(digger: art.Mechanism, law: JointRate | ResolvedRate, duration: float) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        return simulate(digger, duration, q0=START, components=[law, *actuators()], method="rk4", step=STEP)
