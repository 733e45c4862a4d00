"""Fastest transfer to a height with a given horizontal speed, thrust of constant size: finite elements in time on meshes of 2 to 64."""

import warnings

import casadi as ca
import numpy as np

from articulus.errors import DoubtfulResult
from articulus.motion import trajectory

HEIGHT = 0.75  # a h / U^2; lengths in U^2 / a, times in U / a
MESHES = (2, 4, 8, 16, 32, 64)


def transfer() -> trajectory.Phase:
    x, u, T = ca.SX.sym("x", 4), ca.SX.sym("u"), ca.SX.sym("T")
    return trajectory.ode(
        x,
        u,
        ca.vertcat(x[2], x[3], ca.cos(u), ca.sin(u)),
        duration=(0.5, 5.0),
        start=[0, 0, 0, 0],
        end=[None, HEIGHT, 1, 0],
        final=T,
        time=T,
        guess=([[0, 0, 0, 0], [1, HEIGHT, 1, 0]], [[0.5], [-0.5]]),
    )


def compute() -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # of two elements
        plans = [trajectory.solve_problem(transfer(), scheme="weak", intervals=n) for n in MESHES]
    times = np.array([plan.duration for plan in plans])
    ranges = np.array([plan["x_0"][-1] / HEIGHT for plan in plans])
    angles = np.degrees([plan["u"][1] for plan in plans])
    spread = np.array([np.ptp(plan.hamiltonian[0]) for plan in plans])
    limit = (4 * times[-1] - times[-2]) / 3
    other = trajectory.solve_problem(transfer(), scheme="lobatto 5", intervals=16)
    return {
        "a T / U on 2, 4, 8, 16, 32, 64 elements": times,
        "range over height on 2, 4, 8, 16 elements": ranges[:4],
        "angle of the thrust in the first of 2, 4, 8, 16 elements [deg]": angles[:4],
        "costate of the height on 2 elements [U / a per U^2 / a]": plans[0].costates[0][0, 1],
        "a T / U in the limit, from 32 and 64 elements": limit,
        "range over height in the limit": (4 * ranges[-1] - ranges[-2]) / 3,
        "a T / U by collocation, lobatto 5 on 16 intervals": other.duration,
        "angle of the thrust at the start by collocation [deg]": np.degrees(other["u"][0]),
        "error of 32 over error of 64 elements": (times[-2] - limit) / (times[-1] - limit),
        "Hamiltonian of duration as cost, mean over 64 elements": plans[-1].hamiltonian[0].mean(),
        "spread of the Hamiltonian on 32 over that on 64 elements": spread[-2] / spread[-1],
    }
