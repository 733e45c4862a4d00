"""A ball that hits a plane, a block on a slope that holds or slides, a ball that rolls down: closed forms."""

import numpy as np

import articulus as art
from articulus.simulation.loop.components import Contact
from articulus.simulation.loop.contact import Box, Plane, Sphere
from articulus.simulation.running import simulate

GRAVITY, STIFFNESS, FRICTION = 9.81, 1e8, 0.5


def compute() -> dict:
    out: dict = {}
    for method in ("dormand_prince", "rosenbrock"):
        out[f"{method}: speeds after an impact at 1 m/s with a = 0.1, 0.5 and 2 s/m [m/s]"] = [
            rebound(method, a) for a in (0.1, 0.5, 2.0)
        ]
    holds, slides = on_slope(0.45, 8.0), on_slope(0.5, 1.0)
    late = holds.t >= 4.0
    out["slope of 0.45 rad, friction 0.5: movement of the block from 4 s to 8 s [m]"] = float(
        np.ptp(holds.q[late, 4])
    )
    out["slope of 0.45 rad: force of the slope along and across it [N]"] = holds["b_to_ground_contact.force"][
        -1, [0, 2]
    ]
    late = slides.t > 0.2
    out["slope of 0.5 rad: acceleration of the block [m/s^2]"] = np.polyfit(
        slides.t[late], slides.v[late, 3], 1
    )[0]
    out["ball on a slope of 0.3 rad: acceleration without slip [m/s^2]"] = rolling()
    return out


def rebound(method: str, a: float) -> float:
    """Return the speed of a ball of 2 kg after its impact."""
    m = art.Mechanism("ball", gravity=(0, 0, 0)).body("ball", 2.0, inertia=(0.01, 0.01, 0.01))
    m.joint("z", art.Prismatic((0, 0, 1)), "ground", "ball")
    plane = Contact(Sphere("ball", 0.1), Plane(), STIFFNESS, dissipation=a)
    run = simulate(
        m, 0.02, [0.102], [-1.0], components=[plane], method=method, step=1e-3, rtol=1e-10, atol=1e-13
    )
    return float(run.v[-1, 0])


def body(angle: float, inertia: float) -> art.Mechanism:
    """Return a free body of 1 kg, ground axes along and across a slope."""
    m = art.Mechanism("body", gravity=(GRAVITY * np.sin(angle), 0, -GRAVITY * np.cos(angle)))
    m.body("b", 1.0, inertia=(inertia, inertia, inertia))
    return m.joint("free", art.Free(), "ground", "b")


def on_slope(angle: float, t_end: float) -> art.Run:
    """Return the run of a block of 0.2 x 0.2 x 0.1 m that is let go on its four corners."""
    deep = (GRAVITY * np.cos(angle) / (4 * STIFFNESS)) ** (2 / 3)
    slope = Contact(
        Box("b", (0.2, 0.2, 0.1)),
        Plane(),
        STIFFNESS,
        dissipation=100.0,
        friction=FRICTION,
        shear=1e4,
        shear_damping=5e-3,
    )
    return simulate(
        body(angle, 5e-3), t_end, [1, 0, 0, 0, 0, 0, 0.05 - deep], components=[slope], step=2e-4, sample=0.01
    )


def rolling() -> float:
    """Return the acceleration of a ball of radius 0.1 m in its last half second, when vibrations are over."""
    deep = (GRAVITY * np.cos(0.3) / STIFFNESS) ** (2 / 3)
    slope = Contact(
        Sphere("b", 0.1),
        Plane(),
        STIFFNESS,
        dissipation=100.0,
        friction=FRICTION,
        shear=1e4,
        shear_damping=5e-3,
    )
    run = simulate(
        body(0.3, 0.004), 1.0, [1, 0, 0, 0, 0, 0, 0.1 - deep], components=[slope], step=2e-4, sample=0.01
    )
    late = run.t > 0.5
    return float(2 * np.polyfit(run.t[late], run.q[late, 4], 2)[0])
