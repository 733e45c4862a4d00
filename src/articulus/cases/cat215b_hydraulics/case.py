"""Hydraulics of the Caterpillar 215B: greatest torque, no-load speed, modes, and motions in RESOLVED and JOINT mode."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.cat215b_hydraulics.machine import GAINS, joint_run, modes, resolved_run
from articulus.model.library.cat215b_drives import DAMPING, GEAR, JOINTS, START, SUPPLY
from articulus.simulation.loop.components import Expression, HydraulicRotary
from articulus.simulation.running import simulate


def compute() -> dict:
    digger = art.load("cat215b")
    return {
        "largest torque: cab, boom, stick, bucket [N m]": greatest_torques(digger),
        "closed valve, locked joint: change of the pressures in 1 s [psi]": locked_pressures(),
        "no-load speed of the cab motor at full opening [rad/s]": no_load_speed(),
        "hydraulic-mechanical modes at the start of the RESOLVED motion [rad/s]": modes(digger, START),
        **resolved_rates(digger),
        **joint_rates(digger),
    }


def command(value: float, size: int = 1) -> Expression:
    return Expression(ca.Function("command", [ca.SX.sym("t")], [ca.DM([value] * size)], ["t"], ["u"]))


def flywheel(inertia: float) -> art.Mechanism:
    wheel = art.Mechanism("flywheel", gravity=(0, 0, 0))
    wheel.body("disc", mass=1.0, inertia=(inertia,) * 3)
    wheel.joint("axle", art.Revolute(), parent="ground", child="disc")
    return wheel


def greatest_torques(digger: art.Mechanism) -> np.ndarray:
    """Supply pressure in one line, none in the other, at rest."""
    full = [
        HydraulicRotary(j, p, g, b, pressures=(p, 0.0), name=j)
        for j, p, g, b in zip(JOINTS, SUPPLY, GEAR, DAMPING)
    ]
    run = simulate(digger, 1e-6, components=full, step=1e-6)
    return np.array([run[f"{joint}.force"][0, 0] for joint in JOINTS])


def locked_pressures() -> np.ndarray:
    cab = HydraulicRotary("axle", SUPPLY[0], GEAR[0], DAMPING[0], pressures=(1234.0, 567.0), name="cab")
    run = simulate(flywheel(1e30), 1.0, components=[command(0.0), cab], step=0.01)
    return run["cab.pressures"][-1] - run["cab.pressures"][0]


def no_load_speed() -> float:
    cab = HydraulicRotary("axle", SUPPLY[0], GEAR[0], 0.0, name="cab")
    run = simulate(flywheel(2e4), 30.0, components=[command(1.0), cab], step=0.01)
    return float(run.v[-1, 0])


def resolved_rates(digger: art.Mechanism) -> dict:
    run = resolved_run(digger)
    error = np.degrees(run["operator.wanted"] - run.q)
    spool = np.column_stack([run[f"{joint}.spool"][:, 0] for joint in JOINTS])
    wrist, wanted = (digger.pose("wrist", q)[..., :3, 3] for q in (run.q, run["operator.wanted"]))
    height, radius = wrist[:, 2], np.hypot(wrist[:, 0], wrist[:, 1])
    at = {t: round(t / 0.01) for t in (0.1, 4.9, 6.0, 9.9, 14.9)}
    return {
        "RESOLVED: wanted height, largest change [m]": np.abs(wanted[:, 2] - wanted[0, 2]).max(),
        "RESOLVED: boom error at 0.1 s, and the largest before 5 s [deg]": [
            error[at[0.1], 1],
            error[:500, 1].max(),
        ],
        "RESOLVED: errors at 4.9 s [deg]": error[at[4.9]],
        "RESOLVED: errors at 9.9 s [deg]": error[at[9.9]],
        "RESOLVED: errors at 14.9 s [deg]": error[at[14.9]],
        "RESOLVED: wrist height at 4.9 s [m]": height[at[4.9]],
        "RESOLVED: wrist height at 14.9 s [m]": height[at[14.9]],
        "RESOLVED: radius of the wrist at 14.9 s [m]": radius[at[14.9]],
        "RESOLVED: spools at 14.9 s [cm]": spool[at[14.9]],
        "RESOLVED: boom and stick sag at first, cab does not (1 = yes)": float(
            error[at[0.1], 1] > 0.1
            and np.abs(error[:500, 2]).max() > 0.1
            and np.abs(error[:500, 0]).max() < 0.01
        ),
        "RESOLVED: the cab lags while it turns (1 = yes)": float(error[at[9.9], 0] > 3.0),
        "RESOLVED: height first sags, then ends too high (1 = yes)": float(
            height[at[4.9]] < height[0] and height[at[14.9]] > height[0]
        ),
        "RESOLVED: stick spool opens wider as the arm extends (1 = yes)": float(
            abs(spool[at[9.9], 2]) > abs(spool[at[6.0], 2])
        ),
        "RESOLVED: errors stay although all spools are closed (1 = yes)": float(
            not spool[at[14.9]].any() and np.abs(error[at[14.9]]).max() > 1.0
        ),
    }


def joint_rates(digger: art.Mechanism) -> dict:
    run = joint_run(digger)
    wanted = run["operator.wanted"]
    error, rate = np.degrees(wanted - run.q), np.degrees(run.v)
    spool = np.column_stack([run[f"{joint}.spool"][:, 0] for joint in JOINTS])
    at = {t: round(t / 0.01) for t in (2.9, 3.0, 7.9, 8.0, 12.9)}
    kp = np.array(GAINS["kp"])
    bound = np.degrees(0.005 / (0.05 * kp))  # dead band over spool opening by error
    first, last = slice(0, at[3.0]), slice(at[8.0], None)
    return {
        "JOINT: boom and stick, largest error before 3 s [deg]": [error[first, 1].max(), error[first, 2].min()],
        "JOINT: errors at 2.9 s [deg]": error[at[2.9]],
        "JOINT: errors at 7.9 s [deg]": error[at[7.9]],
        "JOINT: errors at 12.9 s [deg]": error[at[12.9]],
        "JOINT: spools at 12.9 s [cm]": spool[at[12.9]],
        "JOINT: errors that the dead band leaves at rest, at most [deg]": bound,
        "JOINT: errors at 12.9 s stay, within that bound, with all spools closed (1 = yes)": bool(
            not spool[at[12.9]].any() and (np.abs(error[at[12.9]]) < bound).all() and np.abs(error[at[12.9]]).min() > 0.5
        ),
        "JOINT: boom and stick sag at first, cab does not (1 = yes)": bool(
            error[first, 1].max() > 0.1 and error[first, 2].min() < -0.1 and np.abs(error[first, 0]).max() < 0.01
        ),
        "JOINT: the cab does not swing at first, and swings back at the end (1 = yes)": bool(
            np.abs(rate[first, 0]).max() < 0.1 and rate[last, 0].min() < -0.5
        ),
        "JOINT: boom and stick swing at first (1 = yes)": bool((np.ptp(rate[first, 1:3], axis=0) > 3.0).all()),
    }  # fmt: skip
