"""A flexible beam spun up beyond its first frequency: exact beam, and chain of inextensible links."""

import casadi as ca
import numpy as np
from casadi import SX

from articulus.simulation.exact_beams import Beam, BeamChain, Section, simulate, turning
from articulus.simulation.exact_beams.modes import modes

LENGTH, T_END = 10.0, 20.0
SECTION = Section(1.2, 2.8e7, 1.4e4, 1.4e4, 1e4, 1e7, 1e7, rotary=(0.0012, 6e-4, 6e-4))


def angle(t: SX) -> SX:
    """Return the angle of the hub [rad]: 0 to 6 rad/s in 15 s."""
    rise = 0.4 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (ca.cos(2 * np.pi * t / 15) - 1))
    return ca.if_else(t < 15, rise, 6 * t - 45)


def compute() -> dict:
    t, lag, stretch = exact_beam(64, 2000)
    chains = {n: chain(n, 2000) for n in (4, 8)}
    late = t > 16
    return {
        "largest lag of the tip [m]": lag.min(),
        "time of the largest lag [s]": t[lag.argmin()],
        "stretch at 6 rad/s [m]": stretch,
        "first frequency at rest [rad/s]": modes(Beam.straight(LENGTH, 64, SECTION).support(0), 1)[0][0],
        **{f"chain of {n}: largest lag of the tip [m]": u.min() for n, u in chains.items()},
        **{f"chain of {n}: time of the largest lag [s]": t[u.argmin()] for n, u in chains.items()},
        **{f"chain of {n}: largest motion after 16 s [m]": np.abs(u[late]).max() for n, u in chains.items()},
    }


def exact_beam(elements: int, steps: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return times, deflection of the tip in hub axes, and the mean stretch of the axis after 16 s."""
    beam = Beam.straight(LENGTH, elements, SECTION).support(0).on(turning(angle))
    run = simulate(beam, T_END, steps)
    late = run.q[run.t > 16][::10]
    stretch = np.mean([run.beam.strains(q)[:, 3].mean() * LENGTH for q in late])
    return run.t, across(run.t, run.position[:, -1]), float(stretch)


def chain(elements: int, steps: int) -> np.ndarray:
    """Return the deflection of the tip in hub axes."""
    links = BeamChain.uniform(LENGTH, elements, SECTION.EIz, SECTION.mass)
    t, theta, _ = links.simulate(T_END, steps, hub=angle)
    return across(t, links.position(theta)[:, -1])


def across(t: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Return the part of the tip's position across the turning hub axis [m]."""
    at = SX.sym("t")
    psi = np.array(ca.Function("angle", [at], [angle(at)]).map(len(t))(t)).ravel()
    return np.cos(psi) * tip[:, 1] - np.sin(psi) * tip[:, 0]
