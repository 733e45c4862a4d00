"""Laws of the recursion from link to link, of minimal vibration and of piezos: scales, sides, sums, and one link alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.motion.inversion import Inversion, Line, Profile, invert, link_by_link, prove, tip_torques
from articulus.motion.inversion.links import minimal_vibration
from articulus.structure import beam, beam_body

T = np.linspace(-0.05, 1.05, 111)


def inputs(found: Inversion, t: np.ndarray = T) -> np.ndarray:
    return CubicSpline(found.t, found.inputs)(np.clip(t, found.t[0], found.t[-1]))


def chain(
    links: int, damping: float = 0.0, load: float = 0.0, gravity: float = 0.0, modes: int = 1
) -> art.Mechanism:
    """Return flexible links in a plane, the later the lighter."""
    m, before, node = art.Mechanism("chain", gravity=(0.0, gravity, 0.0)), "ground", ""
    for k in range(links):
        held = beam_body(0.5, EI=4.0 / 2**k, mass_per_length=0.3 / 2**k, modes=modes, damping=damping)
        m.flexible(f"link{k}", held)
        m.joint(f"joint{k}", art.Revolute((0, 0, 1)), before, f"link{k}", node=node)
        before, node = f"link{k}", "tip"
    if load:
        m.body("load", mass=load, inertia=(1e-5, 1e-5, 1e-5))
        m.joint("grip", art.Fixed(), before, "load", node="tip")
    return m.frame("tip", before, node="tip")


POSE = {"joint0": -0.5, "joint1": 1.8}


def way(m: art.Mechanism, step: tuple[float, float] = (-0.15, 0.1), duration: float = 1.0) -> Line:
    begin = m.pose("tip", m.positions(POSE))[:2, 3]
    return Line(begin, begin + np.array(step), Profile(duration, law="sine"))


@pytest.mark.parametrize(
    "more", [{}, {"load": 0.05}, {"damping": 0.02}, {"gravity": -2.0}], ids=lambda m: str(m)
)
def test_the_whole_arm_and_its_links_have_the_same_forces(more: dict) -> None:
    """With payloads, damping and gravity, which bends the links at rest; and the tip follows by another integrator."""
    m = chain(2, **more)
    line = way(m)
    links = link_by_link(m, "tip", line, guess=POSE)
    whole = tip_torques(m, "tip", line, tuple(POSE), guess=POSE, step=4e-3)
    u = inputs(whole)
    assert np.abs(inputs(links) - u).max() < 1e-4 * np.abs(u).max()
    proved = prove(m, whole)
    assert proved.ok, proved


def test_forces_of_slow_paths_are_those_of_rigid_arms() -> None:
    """Vibration goes with the square of frequencies over each other: the slower, the closer to inverse dynamics of the undeformed arm."""
    m, off = chain(2), []
    joints = [m.v_names.index(name) for name in POSE]
    for duration in (2.0, 4.0):
        found = tip_torques(m, "tip", way(m, duration=duration), tuple(POSE), guess=POSE, step=1e-2)
        q = np.zeros_like(found.q)
        q[:, joints] = np.column_stack([found.state(f"q.{name}") for name in POSE])
        course = CubicSpline(found.t, q)
        rigid = np.asarray(m.inverse_dynamics(q, course(found.t, 1), course(found.t, 2)))[:, joints]
        off.append(np.abs(rigid - found.inputs).max() / np.abs(found.inputs).max())
    assert off[0] < 0.2
    assert off[1] < 0.4 * off[0]


def test_small_motions_of_one_link_are_those_of_its_linear_model() -> None:
    """One link that turns a little: the whole nonlinear method against `invert` of the linear model about rest."""
    m = chain(1, modes=2)
    angle = 1e-3
    line = Line(0.0, 0.5 * angle, Profile(0.6, law="sine"))
    whole = tip_torques(m, "tip", line, ("joint0",), outputs=["y"], step=2e-3)
    model = m.linearize()
    C = np.zeros((1, 2 * m.nv))
    C[0, : m.nv] = np.asarray(m.jacobian("tip", m.neutral))[4]
    plant = (model.A, model.B[:, [model.inputs.index("tau.joint0")]], C, np.zeros((1, 1)))
    linear = invert(plant, line, step=1e-3)
    t = np.linspace(-0.1, 0.7, 161)
    u = inputs(linear, t)
    assert (
        np.abs(inputs(whole, t) - u).max() < 1e-3 * np.abs(u).max()
    )  # what is not linear is of the size of the angle


# one linear structure with more actuators than needed

WHOLE = beam(1.0, EI=2.0, mass_per_length=0.3, planes="y", elements=2, root="pinned", tip_mass=0.2)
ACROSS = np.flatnonzero(WHOLE.dofs[:, 1] != 0)
M, K = (
    np.asarray(X.todense() if hasattr(X, "todense") else X)[np.ix_(ACROSS, ACROSS)]
    for X in (WHOLE.M, WHOLE.K)
)
NAMES = [tuple(row) for row in WHOLE.dofs[ACROSS]]
TORQUE, TIP = (np.eye(5)[NAMES.index(at)] for at in ((0, 5), (2, 1)))
PIEZO = np.eye(5)[NAMES.index((1, 5))][:, None] - TORQUE[:, None]
TIMES = np.arange(-6.0, 8.0, 0.01)


def pulse(shift: float = 0.0, shape: tuple[float, ...] = (0.0, 1.0, 0.0, -2.0, 1.0)) -> np.ndarray:
    s = np.clip((TIMES - shift) / 2.0, 0.0, 1.0)
    return np.outer(np.sin(np.pi * s) ** 4, shape)


def least(force: np.ndarray, piezo: np.ndarray = PIEZO, factor: float = 1.0, shift: float = 0.0) -> Inversion:
    return minimal_vibration(
        factor * M,
        0.002 * factor * K,
        factor * K,
        TORQUE,
        piezo,
        TIP,
        force,
        TIMES,
        t0=shift,
        t_end=2.0 + shift,
    )


def test_least_vibration_is_linear() -> None:
    a, b = pulse(), pulse(shape=(0.0, 0.3, 0.1, 0.5, -1.0))
    one, other, both = (least(force).inputs for force in (a, b, 2 * a - b))
    assert both == pytest.approx(2 * one - other, abs=1e-7 * np.abs(both).max())


def test_least_vibration_comes_later_with_its_load() -> None:
    now, later = least(pulse()), least(pulse(1.0), shift=1.0)
    assert later.inputs[200:-100] == pytest.approx(now.inputs[100:-200], abs=1e-6 * np.abs(now.inputs).max())


def test_least_vibration_counts_in_any_unit() -> None:
    """Piezos in other units, structures of other masses: inputs in theirs, states the same or in proportion."""
    usual = least(pulse())
    scaled = least(pulse(), 1e3 * PIEZO)
    size = np.abs(usual.inputs).max(0)
    assert scaled.inputs * [1.0, 1e3] == pytest.approx(usual.inputs, abs=1e-6 * size.max())
    heavy = least(1e3 * pulse(), factor=1e3)
    assert heavy.inputs == pytest.approx(1e3 * usual.inputs, abs=1e-6 * 1e3 * size.max())
    assert heavy.states == pytest.approx(usual.states, abs=1e-7)
