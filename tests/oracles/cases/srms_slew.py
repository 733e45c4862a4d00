"""Two rigid bodies in a plane with a hinge and without angular momentum: how far the first turns when the hinge goes through an angle."""

import math

from scipy.integrate import quad

ARM = (  # kg, place of the center from the shoulder [m], inertia about it [kg m^2]
    (117.13, 0.0, 117.13 * 0.2**2),
    (24.97, 3.19, 24.97 * 6.38**2 / 12),
    (53.12, 6.38, 53.12 * 0.2**2),
    (24.06, 6.38 + 3.53, 24.06 * 7.06**2 / 12),
    (84.44, 6.38 + 7.06, 84.44 * 0.2**2),
    (107.14, 6.38 + 7.06 + 0.91, 107.14 * 1.82**2 / 12),
)
LENGTH = 6.38 + 7.06 + 1.82
SHUTTLE, INERTIA, SHOULDER = 8.0e4, 9.3e6, (6.0, 2.0)
TIME, ANGLE = 72.0, math.pi / 2


def expected():
    mass = sum(m for m, _, _ in ARM)
    center = sum(m * x for m, x, _ in ARM) / mass
    about = sum(J + m * (x - center) ** 2 for m, x, J in ARM)
    reduced = SHUTTLE * mass / (SHUTTLE + mass)
    distance, start = math.hypot(*SHOULDER), -math.atan2(SHOULDER[1], SHOULDER[0])

    def turn(angle):
        """Return the rate of the shuttle over that of the hinge; the angle is that between shoulder and arm."""
        mixed = distance * center * math.cos(angle)
        moves = about + reduced * (center**2 + mixed)
        return -moves / (INERTIA + about + reduced * (distance**2 + center**2 + 2 * mixed))

    fastest = LENGTH * 12 * ANGLE / TIME * 4 / 27
    return {
        "masses of arms, joints and end effector together [kg]": [mass, mass],
        "length from shoulder to tip [m]": [LENGTH, LENGTH],
        "rigid: turn of the shuttle at the end [rad]": quad(turn, start, start + ANGLE, epsabs=1e-15)[0],
        "rigid: largest speed of the tip from the shuttle [m/s]": fastest,
    }
