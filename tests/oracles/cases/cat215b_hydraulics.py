"""Actuators of the Caterpillar 215B: eqs. of section 5.4.2 and table 5.2 of Wong 1991, and a motion in JOINT mode (section 5.4.3)."""

import numpy as np
from cat215b import ARM

PRESSURE, GEAR, MOTOR = np.array([4000, 7000, 4000, 4000]), np.array([307, 545, 220, 250]), 0.7
FRICTION, KP, KV = np.array([1e5, 1e5, 3e4, 100]), np.array([2.0, 3, 2, 2]), np.array([1.0, 2, 1, 1])
START, RATES = np.radians([0, 34.855, -146.609, -8.246]), np.radians([6.0, 3, 6, -6])
H, SLOPE, CLOSED, MOST = 0.01, 0.05, 0.005, 0.05


def expected():
    # without load the motor takes what both orifices let through at the same drop
    half = np.sqrt(PRESSURE[0] / 2)
    error, spool = joint_mode()
    before, at = error[:300], {t: round(t / H) for t in (2.9, 7.9, 12.9)}
    return {
        "largest torque: cab, boom, stick, bucket [N m]": PRESSURE * MOTOR / 8 * GEAR,
        "no-load speed of the cab motor at full opening [rad/s]": 26 * 0.05 * half / (MOTOR * GEAR[0]),
        "JOINT: boom and stick, largest error before 3 s [deg]": [before[:, 1].max(), before[:, 2].min()],
        "JOINT: errors at 2.9 s [deg]": error[at[2.9]],
        "JOINT: errors at 7.9 s [deg]": error[at[7.9]],
        "JOINT: errors at 12.9 s [deg]": error[at[12.9]],
        "JOINT: spools at 12.9 s [cm]": spool[at[12.9]],
        "JOINT: errors that the dead band leaves at rest, at most [deg]": np.degrees(CLOSED / SLOPE / KP),
    }


def joint_mode():
    """Return errors [deg] and spools [cm] over 13 s, the motion commanded from 3 to 8 s: RK4 with eq. 5.5 once a step."""
    state, wanted, before = np.array([START, *np.zeros((3, 4))]), START, START
    errors, spools = [], []
    for k in range(round(13 / H)):
        command = RATES if 300 <= k < 800 else 0 * RATES
        v = KV * (command - (state[0] - before) / H) + KP * (wanted - state[0])
        x = np.clip(SLOPE * v, -MOST, MOST)
        x = np.where(np.abs(x) < CLOSED, 0.0, x)
        errors.append(np.degrees(wanted - state[0]))
        spools.append(x)
        before, wanted = state[0], wanted + H * command
        one = rates(state, x)
        two = rates(state + H / 2 * one, x)
        three = rates(state + H / 2 * two, x)
        state = state + H / 6 * (one + 2 * two + 2 * three + rates(state + H * three, x))
        state[2:] = np.clip(state[2:], 0, PRESSURE)
    return np.array(errors), np.array(spools)


def rates(state, x):
    """Return the rates of angles, speeds and pressures in and out (eqs. 5.2 to 5.4)."""
    q, v, inside, outside = state
    inside, outside = np.clip([inside, outside], 0, PRESSURE)
    flow_in = 26 * x * np.sqrt(np.where(x > 0, PRESSURE - inside, inside))
    flow_out = 26 * x * np.sqrt(np.where(x > 0, outside, PRESSURE - outside))
    swept = v * MOTOR * GEAR
    torque = (inside - outside) * MOTOR / 8 * GEAR - FRICTION * v
    return np.array([v, ARM.accelerations(q, v, torque), 1000 * (flow_in - swept), 1000 * (swept - flow_out)])
