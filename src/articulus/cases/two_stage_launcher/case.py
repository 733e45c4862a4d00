"""Ascent of a launch vehicle of two stages with the largest final mass: finite elements in time, staging at a free time."""

import warnings
from collections.abc import Sequence

import casadi as ca
import numpy as np

from articulus.errors import DoubtfulResult
from articulus.motion import trajectory

MU, RADIUS = 3.9906e14, 6.378e6  # m^3/s^2, m
AREA = 33.468  # m^2
STAGES = {"first": (263.4, 8155800.0, 8.47), "second": (430.4, 1186200.0, 5.29)}  # s, N, m^2
BURNOUT, DROPPED = 192000.0, 51000.0  # kg
DRAG = ((0.2, 1.0), (0.75, 0.45), (0.98, 0.8), (1.0, 0.8), (1.02, 0.8), (3.5, 0.2), (6.0, 0.02))
NORMAL = (
    (0.0, 6.2),
    (0.5, 6.35),
    (0.98, 7.7),
    (1.0, 7.7),
    (1.02, 7.7),
    (2.5, 5.2),
    (4.4, 4.7),
    (5.0, 5.5),
    (6.0, 6.0),
)
SIZES = ([5e5, 8e4, 6e7, 1.0], [0.5])
ALPHA = (-0.75, 0.75)  # rad; no limit of the paper, and never reached: few elements have other minima beyond
START = [5.2e5, 1800.0, -6.25e7, np.radians(75)]


def compute() -> dict:
    out, plans = {}, {}
    for n in (4, 8, 16):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulResult)  # of four elements
            plan = plans[n] = trajectory.solve_problem(launch(), scheme="weak", intervals=n)
        first, second = plan.courses
        out[f"{n}/{n}: time of staging [s]"] = first.t[-1]
        out[f"{n}/{n}: final time [s]"] = second.t[-1]
        out[f"{n}/{n}: final mass [kg]"] = plan["m"][-1]
        out[f"{n}/{n}: largest angle of attack [deg]"] = np.degrees(plan["alpha"].max())
    out["4/4: angle of attack in the elements [deg]"] = np.degrees(
        np.concatenate([course.z[1::2, -1] for course in plans[4].courses])
    )
    out["8/8: largest and final altitude [km]"] = np.array([plans[8]["h"].max(), plans[8]["h"][-1]]) / 1000
    out["angle of attack exceeds 30 deg on 4/4 and 8/8 (1 = yes)"] = bool(
        min(np.degrees(plans[n]["alpha"].max()) for n in (4, 8)) > 30
    )
    before, after = plans[16].costates[0][-1], plans[16].costates[1][0]
    out["16/16: costates of altitude, energy and angle after staging over before"] = after[1:] / before[1:]
    out["16/16: costate of the mass jumps at staging (1 = yes)"] = bool(abs(after[0] / before[0] - 1) > 0.5)
    spread = {n: [np.ptp(H) for H in plans[n].hamiltonian] for n in plans}
    out["Hamiltonian of the first and second stage goes to zero with smaller elements (1 = yes)"] = [
        bool(spread[4][k] > spread[8][k] > spread[16][k] and abs(plans[16].hamiltonian[k].mean()) < 1e-7)
        for k in (0, 1)
    ]
    return out


def launch() -> trajectory.Problem:
    """Return the problem: mass m [kg], altitude h [m], energy E [J/kg], flight-path angle gamma [rad], angle of attack alpha [rad]."""
    x = ca.vertcat(*(ca.SX.sym(name) for name in ("m", "h", "E", "gamma")))
    alpha = ca.SX.sym("alpha")
    first = trajectory.ode(
        x,
        alpha,
        rates(x, alpha, *STAGES["first"]),
        duration=(50, 200),
        start=START,
        end=[BURNOUT, None, None, None],
        u_bounds=[ALPHA],
        scale=SIZES,
        name="first",
        guess=([START, [BURNOUT, 4e4, -5.9e7, 0.5]], [[0.0]]),
    )
    second = trajectory.ode(
        x,
        alpha,
        rates(x, alpha, *STAGES["second"]),
        duration=(200, 800),
        start=[None] * 4,
        end=[None, None, -1.25e7, None],
        final=-x[0] / 1e4,
        u_bounds=[ALPHA],
        scale=SIZES,
        name="second",
        guess=([[BURNOUT - DROPPED, 4e4, -5.9e7, 0.5], [3e4, 7e4, -1.25e7, 0.0]], [[0.0]]),
    )
    a, b = ca.SX.sym("a", first.size), ca.SX.sym("b", second.size)
    jump = (a[:4] - b[:4] - ca.vertcat(DROPPED, 0, 0, 0)) / ca.DM(SIZES[0])
    staging = trajectory.PhaseLink(ca.Function("link", [a, b], [jump]), "staging")
    return trajectory.Problem((first, second), (staging,))


def rates(x: ca.SX, alpha: ca.SX, impulse: float, thrust: float, exit_area: float) -> ca.SX:
    """Return the rates of the states, eqs. 20 and 21."""
    m, h, E, gamma = ca.vertsplit(x)
    low = ca.fmin(h, 11000)
    p = ca.if_else(h <= 11000, 101320 * (1 - 2.255e-5 * low) ** 5.256, 22637 * ca.exp(-(h - 11000) / 6350))
    sound = ca.if_else(h <= 11000, 340.3 * ca.sqrt(1 - 2.255e-5 * low), 295.03)
    T, r = thrust - exit_area * p, RADIUS + h
    V = ca.sqrt(2 * (E + MU / r))
    pressed = 1.225 * ca.exp(-h / 6700) * V**2 / 2 * AREA
    drag, normal = (pieces(ca.fmin(V / sound, 6), points) for points in (DRAG, NORMAL))
    turning = (T + pressed * (normal - drag)) / (m * V) * alpha + (V / r - MU / (r**2 * V)) * ca.cos(gamma)
    D = pressed * (drag + alpha**2 * normal)
    return ca.vertcat(-T / (9.81 * impulse), V * ca.sin(gamma), (T - D) * V / m, turning)


def pieces(mach: ca.SX, points: Sequence[tuple[float, float]]) -> ca.SX:
    """Return parabolas through three points each, neighbours share one."""
    out = parabola(mach, points[-3:])
    for k in range(len(points) - 5, -1, -2):
        out = ca.if_else(mach < points[k + 2][0], parabola(mach, points[k : k + 3]), out)
    return out


def parabola(x: ca.SX, points: Sequence[tuple[float, float]]) -> ca.SX:
    total = ca.SX(0)
    for k, (a, value) in enumerate(points):
        b, c = (p for j, (p, _) in enumerate(points) if j != k)
        total += value * (x - b) * (x - c) / ((a - b) * (a - c))
    return total
