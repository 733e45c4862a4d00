"""Piezoelectric layers, where they go on beams and arms, and columns that they hold up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion.piezo import (
    Bay,
    BeamModes,
    Column,
    PiezoLayers,
    StackBay,
    bays,
    beam_placement,
    buckling_control,
    locked_modes,
    mode_invariance,
    placement,
)
from articulus.motion.inversion.piezo.arm_placement import _turning
from articulus.motion.inversion.piezo.criteria import Modal, passive, regulator, smallest_gramian
from articulus.structure import beam, beam_body

LAYERS = PiezoLayers(0.05, 0.01, 70e9, 2e-4, 63e9, 120e-12, adhesive_thickness=2e-5, adhesive_young=2.4e9, capacitance=35e-9)  # fmt: skip
EI, LINE = 1.0, 1.0


def supported(modes: int = 2, damping: float = 0.0) -> BeamModes:
    return BeamModes.simply_supported(1.0, EI=EI, mass_per_length=LINE, modes=modes, damping=damping)


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    out = art.Mechanism("arm", gravity=(0, -9.81, 0))
    for k in (1, 2):
        out.flexible(
            f"link{k}", beam_body(1.0, EI=100.0, mass_per_length=1.0, modes=3, elements=4, tip_mass=2.0)
        )
    out.joint("base", art.Revolute((0, 0, 1)), "ground", "link1")
    out.joint("elbow", art.Revolute((0, 0, 1)), "link1", "link2", node="tip")
    out.frame("elbow_place", "link1", node="tip")
    out.frame("tip", "link2", node="tip")
    out.frame("first", "link1", node="node1")
    out.frame("second", "link1", node="node2")
    return out


def test_layers_without_stiffness_push_the_bare_beam_with_all_of_their_moment() -> None:
    soft = PiezoLayers(0.05, 0.01, 70e9, 1e-8, 63e9, 120e-12)
    assert soft.gain == pytest.approx(soft.section_gain, rel=1e-4)
    assert LAYERS.gain < LAYERS.section_gain
    # reciprocity: charge by rotation is moment by voltage; both layers push, one is read
    assert LAYERS.sensor_gain * LAYERS.capacitance == pytest.approx(LAYERS.section_gain / 2)
    assert LAYERS.pair("a", "b", name="p").gain == LAYERS.gain
    assert StackBay(7.3e-6, 0.731e-6, 73e9, 1.27e-2).gain == pytest.approx(0.0198, abs=5e-5)


def test_a_pair_bends_a_clamped_beam_as_statics_says() -> None:
    """A moment pair over [x1, x2] gives curvature M / EI there: tip deflection M / EI (x2 - x1)(L - (x1 + x2) / 2)."""
    modes = BeamModes.of(beam(1.0, EI=2.0, mass_per_length=3.0, elements=32, planes="y"), 12)
    x1, x2, M = 0.2, 0.55, 0.7
    slopes = modes.slopes(np.array([x1, x2]))
    eta = M * (slopes[1] - slopes[0]) / modes.omega**2
    exact = M / 2.0 * (x2 - x1) * (1.0 - (x1 + x2) / 2)
    assert modes.shapes(np.array(1.0)) @ eta == pytest.approx(exact, rel=2e-3)  # twelve modes


def test_modes_of_elements_are_those_in_closed_form_in_both_planes() -> None:
    exact = supported(3)
    x = np.linspace(0.0, 1.0, 7)
    for plane in ("y", "z"):
        held = beam(1.0, EI=EI, mass_per_length=LINE, root="pinned", tip="pinned", elements=32, planes=plane)
        found = BeamModes.of(held, 3, plane=plane)
        np.testing.assert_allclose(found.omega, exact.omega, rtol=1e-4)
        np.testing.assert_allclose(np.abs(found.slopes(x)), np.abs(exact.slopes(x)), atol=5e-3)
        slope = (found.shapes(x + 1e-6) - found.shapes(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(slope[1:-1], found.slopes(x)[1:-1], atol=5e-3)
    free = BeamModes.of(beam(1.0, EI=EI, mass_per_length=LINE, root="free", planes="y", elements=32), 1)
    assert np.sqrt(free.omega[0]) == pytest.approx(4.7300407, rel=1e-5)


def test_criteria_of_many_actuators_are_those_of_one_by_scipy() -> None:
    rng = np.random.default_rng(0)
    modal = Modal(np.array([3.0, 7.0, 12.0]), np.diag([0.05, 0.1, 0.2]))
    for b in rng.normal(size=(4, 3)):
        B = np.concatenate([np.zeros(3), b])[:, None]
        P = scipy.linalg.solve_continuous_are(modal.A, B, np.eye(6), np.array([[0.3]]))
        assert regulator(modal, b[None], 0.3)[0] == pytest.approx(np.linalg.eigvalsh(P)[-1], rel=1e-8)
        W = scipy.linalg.solve_continuous_lyapunov(modal.A, -B @ B.T)
        assert smallest_gramian(modal, b[None])[0] == pytest.approx(np.linalg.eigvalsh(W)[0], rel=1e-8)
        cost, k = passive(modal, b[None], None)
        near = [passive(modal, b[None], float(k[0] * f))[0][0] for f in (0.97, 1.0, 1.03)]
        assert cost[0] == pytest.approx(near[1], rel=1e-9)
        assert near[1] <= min(near)
    assert np.isinf(regulator(Modal(np.array([1.0, 2.0]), np.zeros((2, 2))), np.array([[1.0, 0.0]]), 1.0)[0])


def test_passive_and_gramian_optima_in_closed_form() -> None:
    found = beam_placement(supported(), 1.0, feedback=1e-4)
    assert (found.first, found.second) == pytest.approx((0.0, np.arccos(-0.75) / np.pi), abs=1e-4)
    gramian = beam_placement(supported(damping=1e-4), 1.0, criterion="gramian")
    assert (gramian.first, gramian.second) == pytest.approx((0.0, 2 / 3), abs=1e-3)
    lqr = beam_placement(supported(), 1.0, criterion="lqr", R=1e8)  # weak control: that of the passive one
    assert lqr.second == pytest.approx(found.second, abs=2e-3)
    assert lqr.cost <= lqr.costs.min()


def test_a_cantilever_is_damped_best_from_its_root() -> None:
    modes = BeamModes.of(beam(1.0, EI=EI, mass_per_length=LINE, elements=24, planes="y"), 1)
    pairs = [(x, x + 0.1) for x in np.arange(0, 0.85, 0.05)]
    assert beam_placement(modes, 1.0, feedback=1e-3, candidates=pairs).first == 0.0


def test_placement_on_a_beam_refuses() -> None:
    with pytest.raises(InputError, match="feedback: found none"):
        beam_placement(supported(), 1.0)
    with pytest.raises(InputError, match="without damping"):
        beam_placement(supported(), 1.0, criterion="gramian")
    with pytest.raises(InputError, match=r"from 0\.6 to 0\.5 m"):
        beam_placement(supported(), 1.0, feedback=1.0, candidates=[(0.6, 0.5)])
    with pytest.raises(InputError, match="expected 'passive'"):
        beam_placement(supported(), 1.0, criterion="best")
    with pytest.raises(NumericalError, match="none of the pairs reaches"):
        beam_placement(supported(), 1.0, criterion="lqr", candidates=[(0.0, 1.0)])
    with pytest.raises(InputError, match="positive number in SI units"):
        PiezoLayers(0.0, 0.01, 70e9, 2e-4, 63e9, 120e-12)


@pytest.mark.filterwarnings("ignore:(?s).*does not rest")  # what layers push does not depend on the weight
def test_candidates_push_as_the_component_does(arm: art.Mechanism) -> None:
    """Bay, PiezoPair and the linear model of a run with the component agree."""
    pair = LAYERS.pair("first", "second", name="pair")
    q = {"base": 0.3, "elbow": 0.8}
    by_bay, by_pair = (
        placement(arm, [c], configurations=[q], criterion="lqr", R=1e-4)
        for c in (Bay("link1", "node1", "node2", LAYERS.gain), pair)
    )
    np.testing.assert_array_equal(by_bay.costs, by_pair.costs)
    straight, places = arm.positions(q), locked_modes(arm, q).places
    model = art.Loop(arm, components=[pair]).linearize(straight, inputs=("u",), outputs=[])
    push = arm.mass_matrix(straight) @ model.B[arm.nv :, 0]
    turning = _turning(arm, Bay("link1", "node1", "node2", LAYERS.gain), places)
    np.testing.assert_allclose(push[places], turning, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.delete(push, places), 0.0, atol=1e-12)


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its length"
)  # a soft arm under its weight: both sides are of the same equations
def test_locked_modes_are_those_of_small_motion_about_rest(arm: art.Mechanism) -> None:
    """Against the eigenvalues of the linear model with both joints cut out, at the deflection by weight."""
    found = locked_modes(arm, {"base": 0.2, "elbow": 0.7})
    still = np.zeros(arm.nv)
    np.testing.assert_allclose(arm.bias(found.q, still)[found.places], 0.0, atol=1e-6)
    A = arm.linearize(found.q).A[arm.nv :, : arm.nv]
    M = arm.mass_matrix(found.q)
    K = -(M @ A)[np.ix_(found.places, found.places)]
    squares = np.sort(scipy.linalg.eig(K, M[np.ix_(found.places, found.places)])[0].real)
    np.testing.assert_allclose(found.modal.omega**2, squares, rtol=1e-6)


def test_locked_modes_of_a_closed_loop_are_those_of_the_held_body() -> None:
    """A coupler, clamped by the locked joint at its root and held in place by the closed loop at its tip: clamped and pinned."""
    m = art.Mechanism("coupler", gravity=(0, 0, 0))
    m.flexible("coupler", beam_body(1.0, EI=1.0, mass_per_length=1.0, modes=8, elements=16, planes="y"))
    m.joint("knee", art.Revolute((0, 0, 1)), "ground", "coupler")
    m.frame("end", "coupler", node="tip").frame("place", "ground", (1.0, 0.0, 0.0))
    m.constrain(art.PointOnPoint("pin", "end", "place"))
    found = locked_modes(m, None, 2)
    # free shapes are slow to make a moment's end; the exact roots are 3.9266, 7.0686
    np.testing.assert_allclose(np.sqrt(found.modal.omega), [3.9266, 7.0686], rtol=5e-3)


def test_placement_on_an_arm(arm: art.Mechanism) -> None:
    candidates = [*bays(arm, "link1", 1.0), *bays(arm, "link2", 1.0)]
    assert [c.name for c in candidates[:2]] == ["link1: root to node1", "link1: node1 to middle"]
    turns = [{"elbow": angle} for angle in (0.0, 0.7, 1.4)]
    found = placement(arm, candidates, configurations=turns, feedback=1e-3)
    assert found.best == found.safest == candidates[0].name
    assert found.costs.shape == (3, 8)
    assert (found.penalty(found.best) == 0).all()
    np.testing.assert_allclose(found.average, found.costs.mean(0))
    assert "link1: root to node1" in str(found)
    assert found.plot()
    with pytest.raises(InputError, match="no flexible body 'link3'"):
        bays(arm, "link3", 1.0)
    with pytest.raises(InputError, match="axis of bending"):
        placement(arm, [Bay("link1", "root", "tip", 1.0, (0, 1, 0))], configurations=turns)


def test_modes_with_held_joints_do_not_know_the_angle(arm: art.Mechanism) -> None:
    found = mode_invariance(arm, [{"elbow": a} for a in (0.0, 1.0)], modes=3, fixed=["elbow_place", "tip"])
    np.testing.assert_allclose(
        found.held_omega[1], found.held_omega[0], rtol=2e-3
    )  # weight stiffens it a little
    assert found.invariant(0.3)[0]
    assert (found.moving >= -1e-12).all()
    assert (found.moving <= 1).all()
    assert np.ptp(found.omega[:, 0]) > 1e-3 * found.omega[0, 0]


def column(layers: tuple[float, float] | None = None, held: BeamModes | None = None) -> Column:
    return Column(held or supported(6, 0.01), 1.0, (1 / 3, 2 / 3), 1.0, layers)


def test_buckling_loads_of_columns() -> None:
    np.testing.assert_allclose(column().buckling_loads, np.pi**2 * np.arange(1, 7) ** 2, rtol=1e-10)
    clamped = BeamModes.of(beam(1.0, EI=EI, mass_per_length=LINE, elements=32, planes="y"), 8)
    assert column(held=clamped).buckling_loads[0] == pytest.approx(np.pi**2 / 4, rel=2e-4)  # eight modes


def test_a_column_is_held_beyond_its_buckling_load() -> None:
    found = buckling_control(column(), 3.0 * np.pi**2, weight=100.0)
    assert found.modes == (1, 5)
    assert found.ok
    assert found.monotone
    assert found.slowest.max() < 0
    assert found.limit == pytest.approx(4 * np.pi**2)
    assert np.linalg.eigvals(column().matrices(3.0 * np.pi**2, (1,))[0]).real.max() > 0
    assert found.plot()


def test_a_load_beyond_what_the_layers_reach_is_warned_of() -> None:
    with pytest.warns(art.errors.DoubtfulResult, match=r"buckles at 39\.478 N"):
        found = buckling_control(column(), 4.1 * np.pi**2, weight=100.0)
    assert not found.ok
    with pytest.raises(InputError, match=r"modes \(1, 5\)"):
        buckling_control(column(), 20.0, order=3)
    with pytest.raises(InputError, match="compressive load"):
        buckling_control(column(), -1.0)
