"""Flight of a fighter by equations (1) of Lan & Ge 1989 in Euler angles, with tables of the air by numpy's interpolation."""

import functools
import itertools
import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve, least_squares

TABLES = __file__.rsplit("/tests/", 1)[0] + "/src/articulus/model/library/fighter_tables.py"
DATA: dict = {}
with open(TABLES, encoding="utf-8") as file:
    exec(file.read(), DATA)  # noqa: S102 (numbers alone, which the case reads, too)
MASS, G = 9295.44, 9.80665
IXX, IYY, IZZ, IXZ = 12875.0, 75674.0, 85552.0, 1331.0
S, B, C = 27.87, 9.144, 3.45
DEG = math.pi / 180
SOUND = {10000: 328.39, 30000: 303.14}
A = np.array(DATA["ALPHA"])
E = np.array(DATA["ELEVATOR"])
RATES = {k: np.array(v) for k, v in DATA["RATES"].items()}
CM = np.array(DATA["EFFECT"])[:, None] * np.array(DATA["CM"]) + np.array(DATA["EXTRA_CM"])
STRAIGHT = np.array(DATA["STRAIGHT"])
SIDE = np.array(DATA["SIDESLIP"])
BY_BETA = (SIDE[:, 0] - SIDE[:, 1]) / 20  # per degree
BY_AILERON = (np.array(DATA["AILERON"]) - STRAIGHT) / 20
BY_RUDDER = (np.array(DATA["RUDDER"]) - STRAIGHT) / 30


def density(height):
    return 1.225 * (1 - 2.25577e-5 * min(height, 11000.0)) ** 4.25588


def both(table, alpha, elevator):
    """Return a table (elevators, angles of attack) at a point [deg]."""
    return np.interp(elevator, E, [np.interp(alpha, A, row) for row in np.asarray(table)])


def air(u, v, w, p, q, r, surfaces, height):
    """Return forces [N] and moments [N m] on the body axes."""
    V = math.sqrt(u * u + v * v + w * w)
    alpha, beta = math.atan2(w, u) / DEG, math.asin(v / V) / DEG
    elevator, aileron, rudder = (x / DEG for x in surfaces)
    at = {k: np.interp(alpha, A, row) for k, row in RATES.items()}
    ph, qh, rh = p * B / (2 * V), q * C / (2 * V), r * B / (2 * V)
    CX = both(DATA["CX"], alpha, elevator) + at["CXq"] * qh
    CZ = both(DATA["CZ"], alpha, elevator) + at["CZq"] * qh
    Cm = both(CM, alpha, elevator) + at["Cmq"] * qh
    CY, Cl, Cn = (
        np.interp(alpha, A, BY_BETA[k]) * beta + np.interp(alpha, A, BY_AILERON[k]) * aileron + np.interp(alpha, A, BY_RUDDER[k]) * rudder
        + at[f"{n}p"] * ph + at[f"{n}r"] * rh
        for k, n in enumerate(("CY", "Cl", "Cn"))
    )  # fmt: skip
    Q = density(height) * V * V / 2 * S
    return Q * CX, Q * CY, Q * CZ, Q * B * Cl, Q * C * Cm, Q * B * Cn


def trim(mach, feet):
    """Return angle of attack, elevator [rad] and thrust [N] of level flight."""
    V, height = mach * SOUND[feet], feet * 0.3048

    def off(x):
        a, e, T = x
        X, _, Z, _, M, _ = air(V * math.cos(a), 0, V * math.sin(a), 0, 0, 0, (e, 0, 0), height)
        return [(X + T * 1e4) / MASS / G - math.sin(a), Z / MASS / G + math.cos(a), M / MASS / G]

    a, e, T = fsolve(off, [0.15, -0.05, 1.0], xtol=1e-13)
    return a, e, T * 1e4


def fly(mach, feet, t_end, law, limits, bends):
    """Return times every 50 ms and states u, v, w, p, q, r, phi, theta, psi, height, elevator, aileron, rudder."""
    a, e, T = trim(mach, feet)
    V = mach * SOUND[feet]
    x = np.array([V * math.cos(a), 0, V * math.sin(a), 0, 0, 0, 0, a, 0, feet * 0.3048, e, 0, 0])

    def rate(t, x):
        u, v, w, p, q, r, phi, theta, _, h, *d = x
        X, Y, Z, L, M, N = air(u, v, w, p, q, r, d, h)
        s, c = math.sin(phi), math.cos(phi)
        st, ct = math.sin(theta), math.cos(theta)
        du = (X + T) / MASS - G * st + v * r - w * q
        dv = Y / MASS + G * s * ct - u * r + w * p
        dw = Z / MASS + G * c * ct + u * q - v * p
        l = L + IXZ * p * q - (IZZ - IYY) * r * q
        n = N - IXZ * q * r - (IYY - IXX) * p * q
        both = IXX * IZZ - IXZ**2
        dp, dr = (IZZ * l + IXZ * n) / both, (IXZ * l + IXX * n) / both
        dq = (M - (IXX - IZZ) * p * r - IXZ * (p * p - r * r)) / IYY
        turn = (q * s + r * c) / ct
        wanted = law(t, math.atan2(w, u), q, r, a, e)
        servo = [
            max(-fast, min(fast, 20.2 * (max(low, min(high, y)) - z)))
            for y, z, (low, high, fast) in zip(wanted, d, limits)
        ]
        return [
            du,
            dv,
            dw,
            dp,
            dq,
            dr,
            p + st * turn,
            q * c - r * s,
            turn,
            u * st - v * s * ct - w * c * ct,
            *servo,
        ]

    out, times = [x], [0.0]
    stops = sorted({0.0, t_end, *(b for b in bends if b < t_end)})
    for begin, end in itertools.pairwise(stops):
        at = np.arange(math.floor(begin / 0.05 + 1e-9) + 1, math.floor(end / 0.05 + 1e-9) + 1) * 0.05
        found = solve_ivp(
            rate, (begin, end), x, rtol=1e-9, atol=1e-10, max_step=0.02, t_eval=[*at[at < end - 1e-9], end]
        )
        x = found.y[:, -1]
        for t, y in zip(found.t, found.y.T):
            if abs(t / 0.05 - round(t / 0.05)) < 1e-6:
                times.append(t)
                out.append(y)
    return np.array(times), np.array(out)


def pulse(t, d):
    return np.interp(t, [0, 0.01, 0.2, 0.21], [0, d * DEG, d * DEG, 0])


WIDE = ((-21.5 * DEG, 21.5 * DEG, 80 * DEG), (-30 * DEG, 30 * DEG, 120 * DEG))


@functools.cache
def damping(K):
    """Return the damping ratio of the angle of attack between 0.3 and 6 s."""

    def law(t, alpha, q, r, a, e):
        fed = max(-4 * DEG, min(4 * DEG, q))
        return e + pulse(t, -6) + K * fed + 1.5 * (alpha - a), pulse(t, 3), pulse(t, 3)

    limits = ((-17 * DEG, 5.5 * DEG, 26 * DEG), *WIDE)
    t, x = fly(0.3, 10000, 8.0, law, limits, (0.01, 0.2, 0.21))
    inside = (t > 0.3 - 1e-9) & (t < 6 + 1e-9)
    tau, y = t[inside] - t[inside][0], np.arctan2(x[inside, 2], x[inside, 0])

    def amplitudes(z):
        w, zeta = z
        d, f = w * math.sqrt(1 - zeta**2), np.exp(-zeta * w * tau)
        M = np.column_stack([f * np.cos(d * tau), f * np.sin(d * tau), np.ones_like(tau), tau])
        return M @ np.linalg.lstsq(M, y, rcond=None)[0] - y

    return least_squares(amplitudes, [2.0, 0.5], xtol=1e-13, ftol=1e-13, gtol=1e-15).x[1]


def maneuver(t_end, limited, roll):
    def law(t, alpha, q, r, a, e):
        elevator = np.interp(t, [1, 1.01], [e, -25 * DEG])
        if limited:
            elevator += 3 * max(0.0, alpha - 15 * DEG) + q
        return elevator, np.interp(t, [22, 22.01, 34, 34.01], [0, roll * DEG, roll * DEG, 0]), 0.0

    limits = ((-25 * DEG, 25 * DEG, 60 * DEG), *WIDE)
    return fly(0.5, 30000, t_end, law, limits, (1, 1.01, 22, 22.01, 34, 34.01))[1]


def expected():
    a, e, T = trim(0.5, 30000)
    free = maneuver(10.0, False, 0.0)
    return {
        "trim at Mach 0.5, 30,000 ft: angle of attack, elevator [deg] and thrust [kN]": [
            a / DEG,
            e / DEG,
            T / 1e3,
        ],
        "pull-up without limiter: angle of attack after 3, 5 and 10 s [deg]": np.arctan2(
            free[:, 2], free[:, 0]
        )[[60, 100, 200]]
        / DEG,
        "damping ratio with K_q = 0.2": damping(0.2),
    }


def slowly():
    x = maneuver(40.0, True, -10.0)
    alpha = np.arctan2(x[:, 2], x[:, 0]) / DEG
    beta = np.arcsin(x[:, 1] / np.sqrt((x[:, :3] ** 2).sum(axis=1))) / DEG
    return {
        "gain K_q of the design": brentq(lambda k: damping(k) - 0.65, 0.45, 0.6, xtol=1e-7),
        "roll with the limiter before its design: largest angle of attack, sideslip [deg], roll and yaw rate [deg/s]": [
            alpha.max(), np.abs(beta).max(), np.abs(x[:, 3]).max() / DEG, np.abs(x[:, 5]).max() / DEG,
        ],
    }  # fmt: skip
