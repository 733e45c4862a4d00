"""Heat in booms: a rod between walls with its waves of heat, a boom that comes out of the shadow and rings, one that flutters in sunlight.

All numbers are assumed. The boom is a thin tube, whose gradient of temperature and time constant come from its heat matrices.
"""

import math

import numpy as np

import articulus as art
from articulus.control.interaction import Thermoelastic
from articulus.simulation.loop import components as c
from articulus.structure import Bar, EulerBernoulli, Section, Structure, beam_body
from articulus.structure.heat import Heat, Heated

E, G, DENSITY, SPECIFIC, EXPANSION = 7e10, 2.6e10, 2700.0, 900.0, 2.3e-5
REFERENCE, CONDUCTIVITY = 300.0, 2e9
"""K; W/(m K), so high that heat follows a wave of 2 m within its period and damps it most."""
RADIUS, WALL, LENGTH, TUBE_CONDUCTIVITY = 0.02, 2e-4, 8.0, 150.0
LIGHT, GIVEN_OFF = 1225.0, 5.0
"""Absorbed of sunlight that falls square [W/m^2], and given off by a kelvin [W/(m^2 K)]."""
EPOCH, CENTER = "2025-03-20T09:01:00Z", (-1e7, 0.0, 0.0)
"""The Sun stands along x, and so does the boom from the Earth's center."""
SUNWARD = 0.7
"""Angle between the Sun and the boom that flutters [rad]."""


def compute() -> dict:
    slow, heat = rod_roots(128)
    gradient, lag = tube_gradient()
    return {
        "rod: frequency of the first wave [rad/s]": slow.imag,
        "rod: decay of the first wave by its heat [1/s]": -slow.real,
        "rod: decay of the heat that stays [1/s]": -heat.real,
        "rod: displacement after two periods by the scheme in turn, over that at the start": rod_in_time(),
        "tube: steady difference of temperature across [K/m]": gradient,
        "tube: time constant of it [s]": lag,
        "boom out of the shadow: largest deflection of the tip [m]": ring(gradient, lag),
        "boom in oblique light: growth of its vibration, light from the tip and from the root [1/s]": [
            growth(gradient, lag, angle) for angle in (SUNWARD, math.pi - SUNWARD)
        ],
    }


def rod(n: int) -> tuple[Structure, Heat]:
    """Return a rod of 1 m between walls whose ends let no heat pass."""
    A = 1e-4
    bars = [Bar(i, i + 1, Section(DENSITY * A, E * A)) for i in range(n)]
    fixed: dict = dict.fromkeys(range(1, n), ("y", "z")) | {0: "all", n: "all"}
    s = Structure.assemble([(i / n, 0, 0) for i in range(n + 1)], bars, fixed=fixed)
    return s, Heat.of(s, [Heated(b, EXPANSION, DENSITY * SPECIFIC * A, CONDUCTIVITY * A) for b in bars])


def rod_roots(n: int) -> tuple[complex, complex]:
    """Return the roots of the lowest wave, of the motion and of the heat: eigenvalues whose shapes have one sign."""
    s, heat = rod(n)
    M, K, C, Q, H = (x.toarray() for x in (s.M, s.K, heat.C, heat.Q, heat.H))
    wave, warmth = np.sin(np.pi * s.positions[s.dofs[:, 0], 0]), np.cos(np.pi * np.linspace(0, 1, n + 1))
    m, k, q, h = wave @ M @ wave, wave @ K @ wave, warmth @ Q @ warmth, warmth @ H @ warmth
    joined = wave @ C @ warmth
    # on an even mesh the wave and its heat are exact shapes of the matrices
    A = np.array([[0, 1, 0], [-k / m, 0, joined / m], [0, -REFERENCE * joined / q, -h / q]])
    values = np.linalg.eigvals(A)
    return complex(values[values.imag.argmax()]), complex(values[np.abs(values.imag).argmin()])


def rod_in_time() -> float:
    """Return the displacement at the middle after two periods that began in the first wave, by `Thermoelastic`."""
    n = 64
    s, heat = rod(n)
    slow, _ = rod_roots(n)
    period, p = 2 * np.pi / slow.imag, np.pi
    wave, nodes = np.sin(p * s.positions[s.dofs[:, 0], 0]), np.linspace(0, 1, n + 1)
    warm = (slow**2 * DENSITY / E + p**2) / (EXPANSION * p) * np.cos(p * nodes)
    model = Thermoelastic.of(s, heat, REFERENCE, period / 400)
    _, q, _, _ = model.run(2 * period, wave, (slow * wave).real, warm.real)
    return float(q[-1, n // 2 - 1])


def tube_gradient() -> tuple[float, float]:
    """Return the difference of temperature across a tube in sunlight [K/m], in the end, and its time constant [s]."""
    beam = EulerBernoulli(0, 1, tube())
    s = Structure.assemble([(0, 0, 0), (LENGTH, 0, 0)], [beam], fixed={0: "all"})
    area, around = 2 * np.pi * RADIUS * WALL, 2 * np.pi * RADIUS
    part = Heated(
        beam,
        EXPANSION,
        DENSITY * SPECIFIC * area,
        TUBE_CONDUCTIVITY * area,
        GIVEN_OFF * around,
        gradients=True,
        across=0.5,
    )
    heat = Heat.of(s, [part])
    source = heat.source(0, 2 * RADIUS * LIGHT, (np.pi * RADIUS**2 / 2 * LIGHT, 0.0))
    k = heat.names.index("node0-node1 dy")
    return float(source[k] / heat.H[k, k]), float(heat.Q[k, k] / heat.H[k, k])


def tube() -> Section:
    return Section.tube(RADIUS + WALL / 2, RADIUS - WALL / 2, E, G, DENSITY)


def boom(gradient: float, lag: float, sunward: float) -> tuple[art.Mechanism, list]:
    """Return a clamped boom of one mode, turned from the Sun about z, in the light."""
    section = tube()
    body = beam_body(
        LENGTH, EI=section.EIz, mass_per_length=section.mass, modes=1, planes="y", damping=None, elements=40
    )
    m = art.Mechanism("boom", gravity=(0, 0, 0)).flexible("boom", body)
    m.joint("root", art.Fixed(), "ground", "boom", art.Pose(rpy=(0, 0, sunward)))
    m.frame("near", "boom", node="root").frame("far", "boom", node="tip")
    heat = c.spacecraft.ThermalBending("near", "far", section.EIz, EXPANSION * gradient, lag, name="heat")
    return m, [c.spacecraft.SpaceEnvironment("boom", EPOCH, CENTER), c.FramePose("far", name="tip"), heat]


def ring(gradient: float, lag: float) -> float:
    """Return how far the tip of the boom goes, which was straight and as warm on both sides when light came."""
    m, parts = boom(gradient, lag, math.pi / 2)
    run = art.simulate(m, 30.0, components=parts, method="rk8", step=0.02)
    return float(-run["tip.position"][:, 0].min())


def growth(gradient: float, lag: float, sunward: float) -> float:
    """Return the real part of the vibration's root, about the straight boom."""
    m, parts = boom(gradient, lag, sunward)
    roots = np.linalg.eigvals(art.Loop(m, components=parts).linearize([0.0], [0.0]).A)
    return float(roots[roots.imag.argmax()].real)
