"""Loops of hysteresis under a slow sine: areas of Bouc and Wen's and of Preisach's model, and what strain feedback leaves of them."""

import casadi as ca
import numpy as np

import articulus as art
from articulus.simulation.loop.components import BoucWenActuator, Expression, PreisachActuator, Torque

STEP, FAST = 2e-4, 2e3
ALPHA, BETA, SIZE = 0.4, 0.7, 1.5
PART, EXTENT, PLAYS = 0.4, 5.0, 60


def compute() -> dict:
    _, drive, strain = cycle(BoucWenActuator(Torque("lift"), alpha=ALPHA, beta=BETA, bandwidth=FAST), SIZE)
    _, rayleigh, lagging = cycle(
        PreisachActuator(Torque("lift"), part=PART, extent=EXTENT, plays=PLAYS, bandwidth=FAST), 4.0
    )
    areas, lines = [], []
    for gain in (0.0, 3.0, 9.0):
        a, _, b = cycle(
            BoucWenActuator(Torque("lift"), alpha=0.3, beta=1.0, bandwidth=FAST / 4, feedback=gain), 2.0
        )
        areas.append(area(a, b))
        lines.append(float(np.abs(b - a).max()))
    return {
        "Bouc and Wen: area of the loop over its closed form": area(drive, strain) / loop(drive.max()),
        "Bouc and Wen: strain at the largest drive over its closed form": float(strain[drive.argmax()] / (drive.max() - ALPHA / BETA * np.tanh(BETA * drive.max()))),
        "Preisach with a uniform density: area over that of Rayleigh's loops": area(rayleigh, lagging) / (4 / 3 * PART * rayleigh.max() ** 3 / EXTENT),
        "strain feedback with gains 3 and 9: area of the loop times one plus the gain, over that without": [areas[1] * 4 / areas[0], areas[2] * 10 / areas[0]],
        "strain feedback with gain 9: farthest from the straight line over that without, below a fifth (1 = yes)": bool(lines[2] < 0.2 * lines[0]),
    }  # fmt: skip


def loop(size: float) -> float:
    """Return the area of a loop of Bouc and Wen between equal drives of both signs."""
    return float(4 * ALPHA / BETA * (size - np.tanh(BETA * size) / BETA))


def cycle(actuator: BoucWenActuator | PreisachActuator, size: float) -> tuple:
    """Return command, drive and strain over the last of four periods of a second."""
    slider = art.Mechanism("slider", gravity=(0, 0, 0)).body("carriage", mass=2.0, inertia=(1, 1, 1))
    slider.joint("lift", art.Prismatic((0, 0, 1)), "ground", "carriage")
    t = ca.SX.sym("t")
    source = Expression(ca.Function("command", [t], [size * ca.sin(2 * ca.pi * t)], ["t"], ["u"]))
    names = ["u", f"{actuator.name}.drive", f"{actuator.name}.response"]
    run = art.simulate(slider, 4.0, controller=source, components=[actuator], step=STEP, outputs=names)
    late = run.t >= 3.0 - STEP / 2
    return tuple(np.ravel(run[name])[late] for name in names)


def area(x: np.ndarray, y: np.ndarray) -> float:
    return abs(float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2)))
