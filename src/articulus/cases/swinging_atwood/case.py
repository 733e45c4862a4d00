"""Atwood's machine with one weight that swings on its tether: integrable where the other is three times as heavy.

The tether of the paper does not stretch. Here it does by 2e-7 of its length, from the start by what the tension asks.
"""

import numpy as np

import articulus as art
from articulus.simulation.loop.components import Cable
from articulus.simulation.results.run import Run

GRAVITY, STIFFNESS, LENGTH, HEIGHT = 9.81, 1e8, 4.0, 2.0  # m/s^2, N, m, m
SECOND = 100
"""Samples of a second."""
START = 1.0, 1.2, 0.3, 0.4  # r, theta, r', theta' [m, rad, m/s, rad/s]


def compute() -> dict:
    three, other = swung(3.0), swung(2.5)
    r, theta, *_ = polar(three)[:, ::SECOND]
    return {
        "M/m = 3: first integral at 0, 1, 2 and 3 s [m^3/s^2]": first_integral(three),
        "M/m = 2.5: the same, which is none [m^3/s^2]": first_integral(other),
        "M/m = 3: length at 1, 2 and 3 s [m]": r[1:],
        "M/m = 3: angle at 1, 2 and 3 s [rad]": theta[1:],
    }


def swung(ratio: float) -> Run:
    """Return 3 s of a bob of 1 kg and a weight of `ratio` kg."""
    m = art.Mechanism("swinging_atwood", gravity=(0, 0, -GRAVITY))
    m.body("slide", massless="guides the bob")
    m.body("bob", 1.0, inertia=(1, 1, 1))
    m.body("weight", ratio, inertia=(1, 1, 1))
    m.joint("x", art.Prismatic((1, 0, 0)), "ground", "slide", at=(0, 0, HEIGHT))
    m.joint("z", art.Prismatic((0, 0, 1)), "slide", "bob")
    m.joint("guide", art.Prismatic((0, 0, 1)), "ground", "weight", at=(-1.0, 0, HEIGHT))
    m.frame("pulley", "ground", (0, 0, HEIGHT)).frame("other", "ground", (-1.0, 0, HEIGHT))
    tether = Cable(("bob", "pulley", "other", "weight"), stiffness=STIFFNESS, length=LENGTH)
    r, theta, rate, turning = START
    pull = GRAVITY * np.cos(theta) + r * turning**2
    tension = ratio * (pull + GRAVITY) / (1 + ratio)
    hanging = LENGTH * (1 + tension / STIFFNESS) - 1.0 - r
    along, across = np.array([np.sin(theta), -np.cos(theta)]), np.array([np.cos(theta), np.sin(theta)])
    return art.simulate(
        m,
        3.0,
        [*(r * along), -hanging],
        [*(rate * along + r * turning * across), rate],
        components=[tether],
        step=2e-5,
        sample=1 / SECOND,
    )


def polar(run: Run) -> np.ndarray:
    """Return r, theta and their rates at the samples, (4, time)."""
    (x, z, _), (u, w, _) = run.q.T, run.v.T
    r, theta = np.hypot(x, z), np.unwrap(np.arctan2(x, -z))
    return np.array([r, theta, (x * u + z * w) / r, (x * w - z * u) / r**2])


def first_integral(run: Run) -> np.ndarray:
    r, theta, rate, turning = polar(run)[:, ::SECOND]
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return r**2 * turning * (rate * c - r * turning / 2 * s) + GRAVITY * r**2 * s * c**2
