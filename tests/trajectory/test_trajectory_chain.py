"""Convected chains: mass, energy, frequencies of beams, plans begun at other plans."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from articulus.errors import InputError
from articulus.motion.trajectory import Plan, ode, solve_problem
from articulus.motion.trajectory.convected_chain import ConvectedChain, ConvectedLink, Segment

LINK = ConvectedLink((Segment(0.6, 0.9, 80.0, 3), Segment(0.2, 0.4, 1e3)), mass=0.3, inertia=0.01)


@pytest.fixture(scope="module")
def chain() -> ConvectedChain:
    return ConvectedChain((LINK, ConvectedLink((Segment(0.5, 0.5, 40.0, 2),), mass=0.2)))


def test_a_straight_chain_has_the_inertia_of_rods() -> None:
    """All nodes turning together: m L^2 / 3, the point mass and the point's inertia; exact."""
    one = ConvectedChain((ConvectedLink((Segment(0.8, 1.2, 50.0, 4),), mass=0.3, inertia=0.01),))
    exact = 1.2 * 0.8**2 / 3 + 0.3 * 0.8**2 + 0.01
    assert one.kinetic_energy(one.bend([0.3]), np.full(5, 2.0)) == pytest.approx(exact * 2, rel=1e-12)
    assert one.tip(one.bend([0.3])) == pytest.approx(0.8 * np.array([np.cos(0.3), np.sin(0.3)]), rel=1e-12)
    assert one.strain_energy(one.bend([0.3])) == pytest.approx(0, abs=1e-12)


def test_equations_are_those_of_lagrange(chain: ConvectedChain) -> None:
    """d/dt (dT/drate) - dT/dtheta + dV/dtheta - B u by CasADi from the energies alone."""
    n = chain.size
    theta, rate, a, u = (ca.SX.sym(x, k) for x, k in (("theta", n), ("rate", n), ("a", n), ("u", 2)))
    tangent = ca.horzcat(ca.cos(theta), ca.sin(theta))
    moving = ca.horzcat(-ca.sin(theta) * rate, ca.cos(theta) * rate)
    T = sum(ca.bilin(ca.DM(chain.mass), moving[:, k], moving[:, k]) / 2 for k in range(2))
    V = sum(ca.bilin(ca.DM(chain.stiffness), tangent[:, k], tangent[:, k]) / 2 for k in range(2))
    p = ca.gradient(T, rate)
    residual = (
        ca.jtimes(p, theta, rate) + ca.jtimes(p, rate, a) - ca.gradient(T, theta) + ca.gradient(V, theta)
    )
    residual -= ca.mtimes(ca.DM(chain.motors), u)
    symbols = [theta, rate, a, u]
    rng = np.random.default_rng(3)
    at = [rng.normal(size=s.numel()) for s in symbols]
    found, truth = (
        np.array(ca.Function("f", symbols, [x])(*at)).ravel() for x in (chain.equations(*symbols), residual)
    )
    assert found == pytest.approx(truth, rel=1e-10, abs=1e-9)


def test_a_held_link_is_a_clamped_beam() -> None:
    """First frequency 1.8751^2 sqrt(EI / (m L^3)) / 2 pi: linear tangents with eight elements are 2 % off at most, with second order."""
    exact = 1.875104**2 * np.sqrt(50.0 / (1.2 * 0.8**3)) / (2 * np.pi)
    off = []
    for elements in (4, 8):
        beam = ConvectedChain((ConvectedLink((Segment(0.8, 1.2, 50.0, elements),)),))
        off.append(abs(beam.frequencies([0.0], "joints")[0] / exact - 1))
    assert off[1] < 0.02
    assert off[0] / off[1] == pytest.approx(4, rel=0.2)


@pytest.fixture(scope="module")
def lines(chain: ConvectedChain) -> tuple[Plan, Plan]:
    goal = chain.tip(chain.bend([1.6, 0.5]))
    made: list[Plan] = []
    for guess in (None, 0):
        phase = chain.phase(
            [2.0, 0.9],
            goal,
            torque=(12.0, 4.0),
            slew=(300.0, 100.0),
            duration=(0.2, 3.0),
            tolerance=2e-3,
            smooth=0.1,
        )
        made.append(
            solve_problem(
                phase,
                intervals=24,
                tolerance=1e-5,
                guess=None if guess is None else made[0],
                options={"ipopt.mu_strategy": "monotone"},
            )
        )
    return made[0], made[1]


def test_a_plan_begun_at_its_own_motion_is_found_again(lines: tuple[Plan, Plan]) -> None:
    assert lines[1].duration == pytest.approx(lines[0].duration, rel=1e-3)  # tolerance of the search


def test_simulated_with_its_torques_the_tip_keeps_to_the_line(
    chain: ConvectedChain, lines: tuple[Plan, Plan]
) -> None:
    """An integrator that knows nothing of the mesh: within 0.5 mm of what was planned, nearly at rest at the end."""
    t, theta, rate = chain.play(lines[0], 800)
    begin, finish = (chain.tip(chain.bend(x)) for x in ([2.0, 0.9], [1.6, 0.5]))
    assert t[-1] == pytest.approx(lines[0].duration)
    assert chain.tip(theta[-1]) == pytest.approx(finish, abs=5e-4)
    along = (finish - begin) / np.linalg.norm(finish - begin)
    tip = chain.tip(theta) - begin
    assert np.abs(along[0] * tip[:, 1] - along[1] * tip[:, 0]).max() < 2.5e-3
    kinetic = chain.kinetic_energy(theta, rate)
    assert kinetic[-1] + chain.strain_energy(theta)[-1] < 1e-2 * kinetic.max()
    hertz, amplitude = chain.residual(theta[-1], rate[-1])
    assert amplitude.max() < 1e-2
    assert hertz[0] == pytest.approx(chain.frequencies([1.6, 0.5], "joints")[0], rel=1e-2)


def test_amplitudes_of_what_swings_on_are_those_of_a_free_beam() -> None:
    """A beam bent in its first shape: the amplitude is its tip's deflection, all of it at the first frequency."""
    beam = ConvectedChain((ConvectedLink((Segment(0.8, 1.2, 50.0, 6),)),))
    bent = beam.residual(beam.bend([0.0]), np.zeros(7))
    assert np.abs(bent[1]).max() == 0
    _, _, shapes, _ = beam._vibration(beam.bend([0.0]), "joints")
    theta = 1e-4 * np.append(0.0, shapes[:, 0])
    _, amplitude = beam.residual(theta, np.zeros(7))
    assert amplitude[0] == pytest.approx(abs(beam.tip(theta)[1]), rel=1e-6)
    assert amplitude[1:].max() < 1e-9 * amplitude[0]


def test_locked_joints_keep_their_angles(chain: ConvectedChain) -> None:
    """A chain bent by a force at its tip, joints locked: it swings on about the straight chain with the same joint angles."""
    straight = chain.bend([0.4, 0.9])
    T, _, _, _ = chain._vibration(straight, "joints")
    K = T.T @ (chain.stiffness * np.cos(straight[:, None] - straight)) @ T
    push = T.T @ (np.cos(straight) * chain.lengths)
    theta = straight + T @ np.linalg.solve(K, 1e-3 * push)
    _, amplitude = chain.residual(theta, np.zeros(chain.size))
    moved = np.linalg.norm(chain.tip(theta) - chain.tip(straight))
    assert amplitude[0] == pytest.approx(moved, rel=0.1)


def test_bad_input_is_named(chain: ConvectedChain, lines: tuple[Plan, Plan]) -> None:
    with pytest.raises(InputError, match=r"the tip cannot reach"):
        chain.phase([2.0, 0.9], (5.0, 0.0), torque=(1, 1), slew=(1, 1), duration=1.0)
    with pytest.raises(InputError, match=r"found 1 angles"):
        chain.phase([2.0], (0.5, 0.0), torque=(1, 1), slew=(1, 1), duration=1.0)
    with pytest.raises(InputError, match=r"Segment\.EI: found 0"):
        Segment(1.0, 1.0, 0.0)
    with pytest.raises(InputError, match=r'fixed: found "all"'):
        chain.frequencies([0.0, 0.0], "all")
    x, u = ca.SX.sym("x", 1), ca.SX.sym("u", 1)
    with pytest.raises(InputError, match=r"guess: found a plan of other phases"):
        solve_problem(ode(x, u, u, duration=1.0, start=[0], end=[1]), guess=lines[0])
