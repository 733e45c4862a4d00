"""Laws of inverses: sums, times, units, coordinates, directions of time; methods beside each other.

A linear plant has one bounded inverse, so whatever changes the question in a known way changes the answer in that way. Arms without gravity and damping
do not know where the ground is turned to, nor the direction of time: the forces of a path that is run back are those of the path, backward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.linalg import expm

import articulus as art
from articulus.cases.bayo_link.case import matrices
from articulus.linear import SecondOrder
from articulus.motion.inversion import (
    Inversion,
    Line,
    Path,
    Profile,
    SplinePath,
    invert,
    link_by_link,
    stable_inversion,
    tip_torques,
)
from articulus.structure import beam_body

SEEDS = 1, 2, 3
STEP = {"step": 5e-3, "cut": 1e-8}


@dataclass(frozen=True)
class Plant:
    """Two inputs, two outputs of relative degree two, zeros on both sides of the axis; made in normal form, in coordinates at random."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    @staticmethod
    def random(seed: int) -> Plant:
        rng = np.random.default_rng(seed)
        A, B, C = np.zeros((7, 7)), np.zeros((7, 2)), np.zeros((2, 7))
        for i in range(2):
            A[2 * i, 2 * i + 1] = C[i, 2 * i] = 1.0
            A[2 * i + 1] = rng.normal(size=7)
        A[4:, :4] = rng.normal(size=(3, 4))
        A[4:, 4:] = np.diag([-3.0, 2.5, 4.0]) + 0.3 * np.triu(rng.normal(size=(3, 3)), 1)
        B[1:4:2] = np.eye(2) + 0.2 * rng.normal(size=(2, 2))
        return Plant(A, B, C).turn(rng.normal(size=(7, 7)) + 3 * np.eye(7))

    def turn(self, T: np.ndarray) -> Plant:
        """Return it in other coordinates."""
        back = np.linalg.inv(T)
        return Plant(T @ self.A @ back, T @ self.B, self.C @ back)

    def invert(self, path: Path, **more) -> Inversion:
        return invert((self.A, self.B, self.C, np.zeros((2, 2))), path, **STEP | more)


@pytest.fixture(params=SEEDS, scope="module")
def plant(request: pytest.FixtureRequest) -> Plant:
    return Plant.random(request.param)


WAY = Line((0.0, 0.0), (1.0, -0.5), Profile(1.0, order=4))


def inputs(found: Inversion, t: np.ndarray) -> np.ndarray:
    """Return the inputs at times; before and after those of the inversion what holds at its ends."""
    return CubicSpline(found.t, found.inputs)(np.clip(t, found.t[0], found.t[-1]))


T = np.linspace(-0.6, 1.6, 221)


def test_inputs_add_up(plant: Plant) -> None:
    """Of two paths the sum, of twice a path twice, of the opposite path the opposite."""
    other = Line((0.0, 0.0), (0.3, 0.8), Profile(1.0, order=4))
    both = Line((0.0, 0.0), (1.0 + 2 * 0.3, -0.5 + 2 * 0.8), Profile(1.0, order=4))
    a, b, c = (inputs(plant.invert(path), T) for path in (WAY, other, both))
    assert np.abs(a + 2 * b - c).max() < 1e-6 * np.abs(c).max()


def test_a_later_path_has_later_inputs(plant: Plant) -> None:
    now, later = (
        plant.invert(WAY),
        plant.invert(Line(WAY.start, WAY.end, Profile(1.0, order=4, t0=0.35))),
    )
    u = inputs(now, T)
    assert np.abs(inputs(later, T + 0.35) - u).max() < 1e-6 * np.abs(u).max()


def test_coordinates_do_not_matter(plant: Plant) -> None:
    """Nor the units of the inputs: B S has S^-1 u. States turn along."""
    rng = np.random.default_rng(9)
    turn, S = (
        10.0 ** rng.uniform(-3, 3, (7, 1)) * (rng.normal(size=(7, 7)) + 4 * np.eye(7)),
        np.diag([1e3, 1e-2]),
    )
    own, other = plant.invert(WAY), plant.turn(turn).invert(WAY)
    u = inputs(own, T)
    assert np.abs(inputs(other, T) - u).max() < 1e-6 * np.abs(u).max()
    scaled = Plant(plant.A, plant.B @ S, plant.C).invert(WAY)
    assert np.abs(inputs(scaled, T) @ S - u).max() < 1e-6 * np.abs(u).max()


def test_the_plant_under_its_inputs_follows(plant: Plant) -> None:
    """Steps of the exact exponential with straight inputs, an eighth of the step of the inverse; the motion at rest before and where the path ends after."""
    found = plant.invert(WAY)
    h, n = STEP["step"] / 8, 7
    t = np.arange(found.t[0], 1.0, h)
    u = inputs(found, t)
    M = np.zeros((n + 4, n + 4))
    M[:n, :n], M[:n, n : n + 2], M[n : n + 2, n + 2 :] = plant.A, plant.B, np.eye(2)
    E = expm(h * M)
    x = CubicSpline(found.t, found.states)(t[0]) if found.states is not None else np.zeros(n)
    off = 0.0
    wanted = WAY.position(t)
    for k in range(len(t) - 1):
        x = E[:n, :n] @ x + E[:n, n : n + 2] @ u[k] + E[:n, n + 2 :] @ (u[k + 1] - u[k]) / h
        off = max(off, float(np.abs(plant.C @ x - wanted[k + 1]).max()))
    # forward the stable modes forget, unstable ones of the plant would grow: only those of open loops within exp(3)
    growth = np.exp(max(0.0, np.linalg.eigvals(plant.A).real.max()) * (t[-1] - t[0]))
    assert off < 1e-6 * growth


def test_domains_and_methods_agree(plant: Plant) -> None:
    """In time by stable and unstable parts; by frequencies where the plant is stable; as a nonlinear system by collocation."""
    shift = max(0.0, np.linalg.eigvals(plant.A).real.max()) + 0.5
    stable = Plant(plant.A - shift * np.eye(7), plant.B, plant.C)
    time, frequency = stable.invert(WAY), stable.invert(WAY, method="frequency")
    u = inputs(time, T)
    assert np.abs(inputs(frequency, T) - u).max() < 1e-5 * np.abs(u).max()
    system = (stable.A, stable.B, stable.C, np.zeros((2, 2)))
    found = stable_inversion(system, WAY, step=1 / 250)
    assert np.abs(inputs(found, T) - u).max() < 1e-4 * np.abs(u).max()


def test_structures_without_damping_run_back() -> None:
    """M q'' + K q = b u, a flexible link by elements: there and back are one motion in two directions of time."""
    M, K, tip = matrices(None)
    plant = SecondOrder(M, 0 * M, K, np.eye(len(M))[:, :1], tip[None], None, ("tau.hinge",), ("tip.y",))
    times, way = np.array([0.0, 0.4, 1.1, 1.5]), np.array([0.0, 0.6, 0.25, 0.0])
    path = SplinePath(way, times=times, order=4)
    back = SplinePath(way[::-1], times=1.5 - times[::-1], order=4)
    there, again = (invert(plant, p, step=2e-3, cut=1e-8) for p in (path, back))
    t = np.linspace(-0.5, 2.0, 251)
    u = inputs(there, t)
    assert np.abs(inputs(again, 1.5 - t) - u).max() < 1e-6 * np.abs(u).max()


# arms


def arm(factor: float = 1.0, faster: float = 1.0, size: float = 1.0) -> art.Mechanism:
    """Return two flexible links, one mode each, without gravity and damping.

    Masses are `factor` times as large, lengths `size` times; frequencies are `faster` times as high.
    """
    m = art.Mechanism("arm", gravity=(0.0, 0.0, 0.0))
    for name, EI, mass in (("upper", 3.22, 0.3258), ("lower", 0.6, 0.1086)):
        stiff = EI * factor * faster**2 * size**3
        held = beam_body(0.66 * size, EI=stiff, mass_per_length=mass * factor / size, modes=1, damping=None)
        m.flexible(name, held)
    m.joint("shoulder", art.Revolute((0, 0, 1)), "ground", "upper")
    m.joint("elbow", art.Revolute((0, 0, 1)), "upper", "lower", node="tip")
    return m.frame("tip", "lower", node="tip")


POSE = {"shoulder": -0.6, "elbow": 2.2}
BEGIN, END = np.array([0.5, 0.3]), np.array([0.8, 0.3])
ARM = {"guess": POSE, "step": 4e-3}


def tip(duration: float = 1.0, a: np.ndarray = BEGIN, b: np.ndarray = END) -> Line:
    return Line(a, b, Profile(duration, law="sine"))


@pytest.fixture(scope="module")
def usual() -> Inversion:
    return tip_torques(arm(), "tip", tip(), ("shoulder", "elbow"), **ARM)


def close(a: Inversion, expected: np.ndarray, t: np.ndarray, within: float) -> None:
    assert np.abs(inputs(a, t) - expected).max() < within * np.abs(expected).max()


TIMES = np.linspace(-0.05, 1.05, 111)


def test_arms_run_back(usual: Inversion) -> None:
    back = tip_torques(
        arm(), "tip", tip(1.0, END, BEGIN), ("shoulder", "elbow"), step=4e-3, guess=end_of(usual)
    )
    close(back, inputs(usual, 1.0 - TIMES), TIMES, 1e-5)
    q = CubicSpline(usual.t, usual.q)
    assert CubicSpline(back.t, back.q)(TIMES) == pytest.approx(q(1.0 - TIMES), abs=1e-6)


def end_of(found: Inversion) -> dict[str, float]:
    return {name: float(found.state(f"q.{name}")[-1]) for name in ("shoulder", "elbow")}


@pytest.mark.parametrize("angle", [0.7, -2.0])
def test_arms_do_not_know_where_the_ground_is_turned_to(usual: Inversion, angle: float) -> None:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    pose = {"shoulder": POSE["shoulder"] + angle, "elbow": POSE["elbow"]}
    turned = tip_torques(
        arm(), "tip", tip(1.0, turn @ BEGIN, turn @ END), ("shoulder", "elbow"), step=4e-3, guess=pose
    )
    close(turned, inputs(usual, TIMES), TIMES, 1e-7)
    assert turned.state("q.shoulder") - usual.state("q.shoulder") == pytest.approx(angle, abs=1e-9)


def test_mirrored_paths_have_opposite_forces(usual: Inversion) -> None:
    mirror = np.array([1.0, -1.0])
    pose = {name: -value for name, value in POSE.items()}
    found = tip_torques(
        arm(), "tip", tip(1.0, mirror * BEGIN, mirror * END), ("shoulder", "elbow"), step=4e-3, guess=pose
    )
    close(found, -inputs(usual, TIMES), TIMES, 1e-7)


@pytest.mark.parametrize(
    ("factor", "faster", "size"), [(1e3, 1.0, 1.0), (1.0, 100.0, 1.0), (1.0, 1.0, 1e-3), (1e-6, 50.0, 20.0)]
)
def test_sizes_of_arms(usual: Inversion, factor: float, faster: float, size: float) -> None:
    """Torques go with mass, squared length and squared frequency: one motion on scales of masses, times and lengths."""
    found = tip_torques(
        arm(factor, faster, size),
        "tip",
        tip(1.0 / faster, size * BEGIN, size * END),
        ("shoulder", "elbow"),
        guess=POSE,
        step=4e-3 / faster,
    )
    expected = inputs(usual, TIMES) * factor * faster**2 * size**2
    close(found, expected, TIMES / faster, 1e-6)
    assert found.pre == pytest.approx(usual.pre / faster, rel=1e-6)


def test_whole_and_link_by_link_are_one(usual: Inversion) -> None:
    """Newton's method of the whole arm and the recursion from link to link: to the error of their steps, of fourth order."""
    found = link_by_link(arm(), "tip", tip(), guess=POSE)
    close(found, inputs(usual, TIMES), TIMES, 1e-5)


def test_finer_steps_come_closer(usual: Inversion) -> None:
    """Half the step, a sixteenth of the error, against a quarter of it."""
    fine = [tip_torques(arm(), "tip", tip(), ("shoulder", "elbow"), guess=POSE, step=h) for h in (8e-3, 2e-3)]
    best = inputs(fine[1], TIMES)
    off = [np.abs(inputs(each, TIMES) - best).max() for each in (fine[0], usual)]
    assert 8 < off[0] / off[1] < 40
