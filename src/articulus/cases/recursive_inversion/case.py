"""Torques of a two-link planar arm: link by link in the frequency domain, and as a whole by collocation; a forward simulation of both."""

import numpy as np
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.cases.flexible import beyond_modes
from articulus.motion.inversion import Inversion, Line, Profile, link_by_link, tip_torques
from articulus.structure import beam_body

LENGTH, YOUNG, DENSITY, STROKE, DURATION = 0.66, 14e9, 2715.0, 0.483, 1.0
SECTIONS = ((1.2e-4, 2.3e-10), (4.0e-5, 8.5e-12))
START = {"shoulder": np.radians(60), "elbow": np.radians(-110)}


def arm(modes: int) -> art.Mechanism:
    chain = art.Mechanism("two_links", gravity=(0, 0, 0))
    for i, (area, second) in enumerate(SECTIONS):
        held = beam_body(LENGTH, EI=YOUNG * second, mass_per_length=DENSITY * area, modes=modes, damping=0.0)
        chain.flexible(f"link{i + 1}", held)
    chain.joint("shoulder", art.Revolute((0, 0, 1)), "ground", "link1")
    chain.joint("elbow", art.Revolute((0, 0, 1)), "link1", "link2", node="tip")
    return chain.frame("tip", "link2", node="tip")


def compute() -> dict:
    chain = arm(2)
    start = chain.pose("tip", chain.positions(START))[:2, 3]
    path = Line(start, start + np.array([STROKE, 0.0]), Profile(DURATION, law="sine"))
    recursive = link_by_link(chain, "tip", path, guess=START)
    whole = tip_torques(chain, "tip", path, ["shoulder", "elbow"], guess=START)
    rigid = np.array(whole.figures["rigid_inputs"])
    t = np.linspace(max(recursive.t[0], whole.t[0]), min(recursive.t[-1], whole.t[-1]), 2001)
    apart = CubicSpline(recursive.t, recursive.inputs)(t) - CubicSpline(whole.t, whole.inputs)(t)
    n, first = chain.nq, np.asarray(recursive.states)[0]
    exact = error(chain, path, recursive.t, recursive.inputs, first[:n], first[n:])
    stiff = error(chain, path, whole.t, rigid, chain.positions(START), np.zeros(n))
    return {
        "recursive and global torques agree to 1e-7 of the largest (1 = yes)": bool(
            (np.abs(apart).max(0) < 1e-7 * np.abs(recursive.inputs).max(0)).all()
        ),
        "torques begin before the tip moves, by more than 0.05 s (1 = yes)": bool(recursive.pre > 0.05),
        "error of the tip in a simulation with these torques below 1e-6 m (1 = yes)": bool(exact < 1e-6),
        "rigid torques leave a hundred times that bound (1 = yes)": bool(stiff > 1e-4),
    }


@beyond_modes()  # the path of the source bends the second link by a tenth of its length
def error(
    chain: art.Mechanism, path: Line, t: np.ndarray, torques: np.ndarray, q0: np.ndarray, v0: np.ndarray
) -> float:
    """Return the largest error of the tip in a forward simulation, from before the motion until after it [m]."""
    names, nothing = ("tau.shoulder", "tau.elbow"), np.zeros((len(t), 0))
    played = Inversion("played", t, torques, nothing, names, (), ("N m", "N m"), (), 0.0, DURATION)
    end = 2e-4 * round((t[-1] - t[0]) / 2e-4)
    run = art.simulate(chain, end, q0=q0, v0=v0, components=played.components(), step=2e-4, outputs=[])
    return float(np.abs(chain.pose("tip", run.q)[:, :2, 3] - path.position(run.t + t[0])).max())
