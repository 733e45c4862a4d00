"""A low orbit for a day: two bodies, J2, and a field of degree and order 5 on the turning Earth, as points and as a craft in a run.

Frames and constants are part of the case: mu = 3.986004415e14 m^3/s^2 and R = 6378136.3 m of EGM2008, the Earth turns by 7.292115e-5 rad/s from
Greenwich mean sidereal time at 2025-03-20T09:01:00Z (UT1 = UTC), axes of the mean equator and equinox of that instant.
"""

import math

import numpy as np

import articulus as art
from articulus import spacecraft as sc
from articulus.simulation.loop.components import CentralGravity
from articulus.simulation.loop.components.spacecraft import HarmonicGravity

DAY, STEP, EPOCH = 86400.0, 60.0, "2025-03-20T09:01:00Z"
FIELD = sc.GravityField.read("egm2008")
EARTH = sc.Planet("Earth", FIELD.mu, FIELD.radius, 1 / 298.257223563, 7.292115e-5)
ORBIT = sc.Orbit(
    7.0e6, 0.01, math.radians(51.6), math.radians(30.0), math.radians(40.0), math.radians(-20.0), EARTH
)
J2 = sc.GravityField.zonal(FIELD.mu, FIELD.radius, 1.0826e-3)
INERTIA = (100.0, 90.0, 30.0)


def compute() -> dict:
    alone = sc.GravityField("two bodies", FIELD.mu, FIELD.radius, ())
    return {
        "two bodies: position after a day [m]": flight(alone),
        "J2 = 1.0826e-3: position after a day [m]": flight(J2),
        "EGM2008, 5 x 5, turning Earth: position after a day [m]": flight(FIELD, epoch=EPOCH),
        "the same as a free body in a run, less that of a point [m]": run_of_a_body()
        - flight(FIELD, epoch=EPOCH),
        "J2: drift of the node in ten days over that of the mean elements": drift_of_node(),
        "gravity gradient: frequency of pitch over the mean motion": pitch(),
        "two free bodies 6 mm apart: place of one from the other after an orbit, less Hill's [m]": beside(),
    }


def flight(field: sc.GravityField, epoch: str | None = None) -> np.ndarray:
    """Return where a point is at the end."""
    s = ORBIT.state()
    return sc.propagate(s.position, s.velocity, DAY, step=STEP, field=field, epoch=epoch).position[-1]


def body(inertia: tuple) -> art.Mechanism:
    m = art.Mechanism("craft", gravity=(0, 0, 0))
    m.body("hub", 500.0, (0, 0, 0), inertia)
    return m.joint("hub", art.Free(), "ground", "hub")


def run_of_a_body() -> np.ndarray:
    """Return where a body of a centimeter is at the end, whose gradient of gravity is none."""
    m, s = body((1e-4, 1e-4, 1e-4)), ORBIT.state()
    q, v = np.array([1.0, 0, 0, 0, *s.position]), np.array([0.0, 0, 0, *s.velocity])
    gravity = HarmonicGravity(epoch=EPOCH)
    run = art.simulate(m, DAY, q, v, components=[gravity], method="rk8", step=STEP, sample=DAY, outputs=())
    return run.q[-1, 4:7]


def drift_of_node() -> float:
    """Return the mean drift of the node over -3/2 J2 n (R/p)^2 cos i of the elements' means over ten days."""
    s = ORBIT.state()
    run = sc.propagate(s.position, s.velocity, 10 * DAY, step=STEP, field=J2, samples=14400)
    orbits = [sc.Orbit.of(sc.OrbitState(r, v), EARTH) for r, v in zip(run.position[::10], run.velocity[::10])]
    rows = [(o.semi_major_axis, o.eccentricity, o.inclination) for o in orbits]
    a, e, i = (float(x) for x in np.mean(rows, axis=0))
    node = np.unwrap([o.ascending_node for o in orbits])
    found = float(np.polyfit(run.t[::10], node, 1)[0])
    rate = math.sqrt(FIELD.mu / a**3)
    return found / (-1.5 * 1.0826e-3 * rate * (FIELD.radius / (a * (1 - e**2))) ** 2 * math.cos(i))


def pitch() -> float:
    """Return the frequency of small pitch of a craft that points at the Earth on a circle, from zeros of its rate."""
    m, orbit = body(INERTIA), sc.Orbit(7.0e6, planet=EARTH)
    s = orbit.state()
    R = np.array([[0, 0, -1.0], [1, 0, 0], [0, -1, 0]])
    q = np.array([*art.spatial.quaternion_of_rotation(R), *s.position])
    v = np.array([*(R.T @ [0, 0, orbit.rate]), *(R.T @ s.velocity)])
    v[1] += 1e-6
    run = art.simulate(
        m, 6000.0, q, v, components=[CentralGravity(mu=FIELD.mu)], method="rk8", step=20.0, outputs=()
    )
    rate = run.v[:, 1] + orbit.rate
    k = np.flatnonzero(np.sign(rate[1:]) != np.sign(rate[:-1]))
    times = [run.t[i] - rate[i] * (run.t[i + 1] - run.t[i]) / (rate[i + 1] - rate[i]) for i in k[[0, 2]]]
    return float(2 * math.pi / (times[1] - times[0]) / orbit.rate)


def beside() -> np.ndarray:
    """Return where a body is from another after an orbit, radially, along and across, less the closed form of Hill's equations.

    The orbit begins on x and lies in the plane of x and y.
    """
    m = art.Mechanism("pair", gravity=(0, 0, 0))
    for name in "ab":
        m.body(name, 10.0, (0, 0, 0), (1e-4, 1e-4, 1e-4)).joint(name, art.Free(), "ground", name)
    orbit = sc.Orbit(7.0e6, planet=EARTH)
    s, n = orbit.state(), orbit.rate
    turn = np.array([0, 0, n])
    q, v = m.neutral.copy(), np.zeros(m.nv)
    apart = np.array([5e-3, 2e-3, 3e-3])
    q[4:7], q[11:14] = s.position, s.position + apart
    v[3:6], v[9:12] = s.velocity, s.velocity + np.cross(turn, apart)
    apart, rate = (
        q[11:14] - q[4:7],
        v[9:12] - v[3:6] - np.cross(turn, q[11:14] - q[4:7]),
    )  # as they are in doubles
    run = art.simulate(
        m,
        5820.0,
        q,
        v,
        components=[CentralGravity(mu=FIELD.mu)],
        method="rk8",
        step=20.0,
        sample=5820.0,
        outputs=(),
    )
    x, y, z = apart
    vx, vy, vz = rate
    t, S, C = run.t[-1], math.sin(n * run.t[-1]), math.cos(n * run.t[-1])
    hill = [
        (4 - 3 * C) * x + S / n * vx + 2 / n * (1 - C) * vy,
        6 * (S - n * t) * x + y - 2 / n * (1 - C) * vx + (4 * S / n - 3 * t) * vy,
        C * z + S / n * vz,
    ]
    radial = run.q[-1, 4:7] / np.linalg.norm(run.q[-1, 4:7])
    axes = np.array([radial, np.cross([0, 0, 1], radial), [0, 0, 1]])
    return axes @ (run.q[-1, 11:14] - run.q[-1, 4:7]) - hill
