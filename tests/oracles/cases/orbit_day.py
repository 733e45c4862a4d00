"""A day in orbit: Kepler's equation, and scipy's DOP853 in fields written out in spherical coordinates with Legendre functions."""

import math

import numpy as np
from scipy.integrate import solve_ivp

MU, RADIUS = 3.986004415e14, 6378136.3
DAY = 86400.0
ELEMENTS = 7.0e6, 0.01, math.radians(51.6), math.radians(30.0), math.radians(40.0), math.radians(-20.0)
DATE = 2025, 3, 20, 9, 1
"""UTC."""
SPIN = 7.292115e-5
EGM2008 = """
2 0 -0.484165143790815e-03 0.0
2 1 -0.206615509074176e-09 0.138441389137979e-08
2 2 0.243938357328313e-05 -0.140027370385934e-05
3 0 0.957161207093473e-06 0.0
3 1 0.203046201047864e-05 0.248200415856872e-06
3 2 0.904787894809528e-06 -0.619005475177618e-06
3 3 0.721321757121568e-06 0.141434926192941e-05
4 0 0.539965866638991e-06 0.0
4 1 -0.536157389388867e-06 -0.473567346518086e-06
4 2 0.350501623962649e-06 0.662480026275829e-06
4 3 0.990856766672321e-06 -0.200956723567452e-06
4 4 -0.188519633023033e-06 0.308803882149194e-06
5 0 0.686702913736681e-07 0.0
5 1 -0.629211923042529e-07 -0.943698073395769e-07
5 2 0.652078043176164e-06 -0.323353192540522e-06
5 3 -0.451847152328843e-06 -0.214955408306046e-06
5 4 -0.295328761175629e-06 0.498070550102351e-07
5 5 0.174811795496002e-06 -0.669379935180165e-06
"""


def rotation(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    return (
        np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        if axis == "z"
        else np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    )


def state(anomaly):
    a, e, i, node, periapsis, _ = ELEMENTS
    p = a * (1 - e**2)
    R = rotation("z", node) @ rotation("x", i) @ rotation("z", periapsis)
    r = p / (1 + e * math.cos(anomaly)) * np.array([math.cos(anomaly), math.sin(anomaly), 0])
    v = math.sqrt(MU / p) * np.array([-math.sin(anomaly), e + math.cos(anomaly), 0])
    return R @ r, R @ v


def kepler(seconds):
    a, e, *_, f = ELEMENTS
    E = 2 * math.atan(math.sqrt((1 - e) / (1 + e)) * math.tan(f / 2))
    M = E - e * math.sin(E) + math.sqrt(MU / a**3) * seconds
    E = M
    for _ in range(100):
        E = M + e * math.sin(E)
    return state(2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2)))[0]


def unnormalized():
    """Return C and S without normalization."""
    C, S = np.zeros((6, 6)), np.zeros((6, 6))
    for line in EGM2008.split("\n")[1:-1]:
        n, m, c, s = line.split()
        n, m = int(n), int(m)
        N = math.sqrt((2 - (m == 0)) * (2 * n + 1) * math.factorial(n - m) / math.factorial(n + m))
        C[n, m], S[n, m] = N * float(c), N * float(s)
    return C, S


def legendre(x, degree):
    """Return P_nm(x) without the sign of Condon and Shortley, by the usual recursion, m up to n + 1."""
    P = np.zeros((degree + 1, degree + 2))
    root = math.sqrt(1 - x * x)
    P[0, 0] = 1
    for n in range(1, degree + 1):
        P[n, n] = (2 * n - 1) * root * P[n - 1, n - 1]
        P[n, n - 1] = (2 * n - 1) * x * P[n - 1, n - 1]
        for m in range(n - 1):
            P[n, m] = ((2 * n - 1) * x * P[n - 1, m] - (n + m - 1) * P[n - 2, m]) / (n - m)
    return P


def pull(p, C, S):
    """Return the acceleration in Earth-fixed axes from the derivatives by distance, latitude and longitude (Vallado 2013, eq. 8-25)."""
    r, across = np.linalg.norm(p), math.hypot(p[0], p[1])
    latitude, longitude = math.atan2(p[2], across), math.atan2(p[1], p[0])
    P, degree = legendre(math.sin(latitude), len(C) - 1), len(C) - 1
    by_r, by_latitude, by_longitude = 1.0, 0.0, 0.0
    for n in range(2, degree + 1):
        for m in range(n + 1):
            c, s = math.cos(m * longitude), math.sin(m * longitude)
            size = (RADIUS / r) ** n
            wave = C[n, m] * c + S[n, m] * s
            by_r += size * (n + 1) * P[n, m] * wave
            by_latitude += size * (P[n, m + 1] - m * math.tan(latitude) * P[n, m]) * wave
            by_longitude += size * m * P[n, m] * (S[n, m] * c - C[n, m] * s)
    by_r *= -MU / r**2
    by_latitude *= MU / r
    by_longitude *= MU / r
    radial = by_r / r - p[2] * by_latitude / (r**2 * across)
    around = by_longitude / across**2
    return np.array(
        [
            radial * p[0] - around * p[1],
            radial * p[1] + around * p[0],
            by_r * p[2] / r + across * by_latitude / r**2,
        ]
    )


def sidereal():
    """Return Greenwich mean sidereal time of the IERS Conventions 2010, eqs. 5.15 and 5.32 [rad]; that of 1982 would move the orbit by 5 mm."""
    y, month, d, h, minute = DATE
    a = (14 - month) // 12
    day = (
        d
        + (153 * (month + 12 * a - 3) + 2) // 5
        + 365 * (y - a)
        + (y - a) // 4
        - (y - a) // 100
        + (y - a) // 400
    )
    days = day + 1721119 - 2451545 - 0.5 + (h + minute / 60) / 24
    T = (days + 69.184 / 86400) / 36525
    arc = 0.014506 + 4612.156534 * T + 1.3915817 * T**2 - 4.4e-7 * T**3 - 2.9956e-5 * T**4
    turns = 0.7790572732640 + 0.00273781191135448 * days + days % 1
    return 2 * math.pi * (turns % 1) + math.radians(arc / 3600)


def fly(C, S, start):
    def rate(t, x):
        R = rotation("z", start + SPIN * t)
        return np.concatenate([x[3:], R @ pull(R.T @ x[:3], C, S)])

    first = np.concatenate(state(ELEMENTS[5]))
    return solve_ivp(rate, (0, DAY), first, "DOP853", rtol=2.5e-14, atol=1e-7).y[:3, -1]


def expected():
    C, S = unnormalized()
    zonal = np.zeros((3, 3))
    zonal[2, 0] = -1.0826e-3
    return {
        "two bodies: position after a day [m]": kepler(DAY),
        "J2 = 1.0826e-3: position after a day [m]": fly(zonal, np.zeros((3, 3)), 0.0),
        "EGM2008, 5 x 5, turning Earth: position after a day [m]": fly(C, S, sidereal()),
    }
