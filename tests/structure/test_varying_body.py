"""Flexible bodies whose data follow named parameters, against laws of scaling and against bodies built with each value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import articulus as art
from articulus.model.mechanism.modes import Modes
from articulus.structure import Plate, beam, beam_body, modes_of, normal_modes, panel, varying_body
from articulus.structure.plate import Ply

FIT = 1e-8
"""Relative error that a fit may leave in frequencies and motions; measured errors are below 1e-9 of the data."""


def arm(body: Modes, gravity: tuple[float, float, float] = (0.0, -9.81, 0.0)) -> art.Mechanism:
    """Return a beam on a hinge with a mass at its tip."""
    m = art.Mechanism("arm", gravity=gravity)
    m.flexible("beam", body)
    m.joint("hinge", art.Revolute(axis=(0, 0, 1)), parent="ground", child="beam")
    m.body("load", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
    m.joint("weld", art.Fixed(), parent="beam", child="load", node="tip")
    return m


def slender(length: Any, **others: Any) -> Modes:
    given = {"EI": 40.0, "mass_per_length": 1.2, "modes": 2, "elements": 4, "damping": 0.02} | others
    return beam_body(length, **given)


def frequencies(body: Modes, **values: float) -> np.ndarray:
    """Return the angular frequencies of a body that is held, at values of its parameters [rad/s]."""
    assert body.fit is not None
    held = body.with_numbers(body.fit.at([values[p.name] for p in body.fit.parameters]))
    return np.sqrt(eigh(held.stiffness, held.ff, eigvals_only=True))


@pytest.fixture(scope="module")
def lengthened() -> Modes:
    return slender(art.Parameter("L", 1.5, range=(1.0, 2.0)))


@pytest.fixture(scope="module")
def swept(lengthened: Modes) -> art.Mechanism:
    return arm(lengthened)


def test_frequencies_fall_with_the_square_of_the_length(lengthened: Modes) -> None:
    assert lengthened.fit is not None
    assert lengthened.fit.error < FIT
    at_one = frequencies(lengthened, L=1.0)
    for length in (1.13, 1.5, 2.0):
        assert frequencies(lengthened, L=length) * length**2 == pytest.approx(at_one, rel=FIT)


def test_frequencies_follow_height_and_density_of_a_section() -> None:
    """A rectangle of height h: EI = E b h^3 / 12, mass per length rho b h, so that omega goes with h / sqrt(rho)."""
    h, rho = (
        art.Parameter("h", 0.02, range=(0.01, 0.03)),
        art.Parameter("rho", 2700.0, range=(2000.0, 8000.0)),
    )
    body = slender(1.0, EI=70e9 * 0.05 * h**3 / 12, mass_per_length=rho * 0.05 * h, modes=1, damping=None)
    one = frequencies(body, h=0.02, rho=2700.0)
    for height, density in ((0.011, 2300.0), (0.03, 8000.0), (0.024, 5100.0)):
        expected = one * (height / 0.02) * (density / 2700.0) ** -0.5
        assert frequencies(body, h=height, rho=density) == pytest.approx(expected, rel=FIT)


def test_a_sweep_is_that_of_mechanisms_built_with_each_value(swept: art.Mechanism) -> None:
    """Joint angle and tip do not depend on which modal coordinates describe the bent beam."""
    lengths, setting = np.array([1.0, 1.27, 1.9]), {"step": 2e-3, "sample": 0.1, "outputs": ["energy"]}
    whole = art.rollout(swept, 0.4, q0=swept.q(hinge=0.3), params={"L": lengths}, **setting)
    for k, length in enumerate(lengths):
        single = arm(slender(float(length)))
        alone = art.rollout(single, 0.4, q0=single.q(hinge=0.3)[None], **setting)
        assert whole.q[k, :, 0] == pytest.approx(alone.q[0, :, 0], abs=1e-7)
        assert whole["energy"][k] == pytest.approx(alone["energy"][0], abs=1e-6)  # some 10 J
        tips = [
            m.pose("load", q, params=p)[..., :2, 3]
            for m, q, p in ((swept, whole.q[k], {"L": length}), (single, alone.q[0], None))
        ]
        assert tips[0] == pytest.approx(tips[1], abs=1e-7)


def test_derivatives_are_differences_of_separate_mechanisms(swept: art.Mechanism) -> None:
    """Central differences of separately built mechanisms: error of order step^2, 1e-6 here."""
    q, v = swept.q(hinge=0.4), swept.v(hinge=1.5)
    found = swept.parameter_derivatives(q, v, np.zeros(3), params={"L": 1.4})
    step, away = 1e-3, []
    for sign in (1, -1):
        single = arm(slender(1.4 + sign * step))
        away.append(single.forward_dynamics(q, v, np.zeros(3))[0])
    assert np.asarray(found)[0].item() == pytest.approx((away[0] - away[1]) / (2 * step), rel=1e-5)


def test_motion_in_space_is_that_of_the_body_built_with_the_value() -> None:
    """All terms of the equations at a random state: both planes, torsion, shear, a body at the tip, large motion."""
    given = {
        "EI": (40.0, 60.0), "GJ": 20.0, "GA": 1e4, "EA": 1e5, "rotary_inertia": (1e-3, 2e-3), "mass_per_length": 1.2, "modes": 1,
        "planes": "both", "torsion": 1, "elements": 2, "tip_mass": 0.4, "tip_inertia": (0.01, 0.02, 0.03), "damping": 0.02,
    }  # fmt: skip
    varying, plain = beam_body(art.Parameter("L", 1.5, range=(1.2, 1.8)), **given), beam_body(1.27, **given)

    def shapes(body: Modes) -> np.ndarray:
        return np.concatenate([np.concatenate([s.translation, s.rotation]) for s in body.stations.values()])

    T = np.linalg.lstsq(shapes(plain), shapes(varying.with_numbers(varying.fit.at([1.27]))), rcond=None)[0]  # type: ignore[union-attr]
    swept, single = floating(varying), floating(plain)
    rng, (modal, eta) = np.random.default_rng(1), swept.description.mode_slices("beam")
    q = swept.integrate_position(swept.neutral, 0.3 * rng.normal(size=swept.nv))
    v, tau = rng.normal(size=(2, swept.nv))
    q1, v1, tau1 = q.copy(), v.copy(), tau.copy()
    q1[eta], v1[modal], tau1[modal] = T @ q[eta], T @ v[modal], np.linalg.solve(T.T, tau[modal])
    found, expected = (
        swept.forward_dynamics(q, v, tau, params={"L": 1.27}),
        single.forward_dynamics(q1, v1, tau1),
    )
    found[modal] = T @ found[modal]
    assert found == pytest.approx(expected, abs=FIT * np.abs(expected).max())


def floating(body: Modes) -> art.Mechanism:
    """Return a free hub with a flexible beam that carries a load."""
    m = art.Mechanism("floating")
    m.body("hub", mass=3.0, inertia=(0.1, 0.2, 0.3)).joint("free", art.Free(), "ground", "hub")
    m.flexible("beam", body).joint("root", art.Revolute((0, 1, 0)), "hub", "beam")
    m.body("load", mass=0.3, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    return m.joint("wrist", art.Revolute((0, 0, 1)), "beam", "load", node="tip")


def test_mass_follows_the_parameter(swept: art.Mechanism) -> None:
    assert swept.total_mass(params={"L": [1.0, 2.0]}) == pytest.approx([1.5, 2.7], rel=1e-9)


def test_modes_keep_their_order_where_frequencies_cross() -> None:
    """Bending about y gets stiffer than bending about z within the range: modes sorted by frequency change places."""

    def build(stiff: float) -> Modes:
        whole = beam(1.0, EI=(stiff, 40.0), mass_per_length=1.2, elements=4, planes="both")
        return modes_of(whole, normal_modes(whole, 2).shapes)

    body = varying_body(build, art.Parameter("stiff", 20.0, range=(10.0, 90.0)))
    first = [body.with_numbers(body.fit.at([x])) for x in (10.0, 20.0, 41.0, 90.0)]  # type: ignore[union-attr]
    tips = np.array([m.station("node4").translation for m in first])
    assert (
        np.abs(tips[:, 1, 0]).max() < 1e-9 * np.abs(tips[:, 2, 0]).min()
    )  # the first one bends along z throughout
    assert np.sign(tips[:, 2, 0]).tolist() == [np.sign(tips[1, 2, 0])] * 4
    ratios = [m.stiffness[0, 0] / m.ff[0, 0] for m in first]
    assert np.array(ratios) / ratios[0] == pytest.approx([1.0, 2.0, 4.1, 9.0], rel=FIT)


def test_angle_and_thickness_of_a_laminate() -> None:
    def build(angle: float, thickness: float) -> Modes:
        layers = [Ply(thickness / 2, 140e9, 10e9, 0.3, 5e9, 1600.0, sign * angle) for sign in (1, -1)]
        whole = panel(0.6, 0.2, Plate.laminate(layers), elements=(2, 1), supports={"root": "all"})
        return modes_of(whole, normal_modes(whole, 2).shapes)

    angle = art.Parameter("angle", 0.3, range=(0.25, 0.35))
    body = varying_body(build, angle, art.Parameter("thickness", 2e-3, range=(1.8e-3, 2.2e-3)))
    for turn, thick in ((0.271, 1.83e-3), (0.345, 2.19e-3)):
        there = build(turn, thick)
        expected = np.sqrt(eigh(there.stiffness, there.ff, eigvals_only=True))
        assert frequencies(body, angle=turn, thickness=thick) == pytest.approx(expected, rel=1e-7)


def test_values_outside_the_range_are_refused(swept: art.Mechanism, lengthened: Modes) -> None:
    for call in (
        lambda: swept.mass_matrix(swept.neutral, params={"L": 2.5}),
        lambda: art.rollout(swept, 0.1, params={"L": np.array([1.5, 0.9])}),
        lambda: swept.with_values({"L": 3.0}),
    ):
        with pytest.raises(art.InputError, match=r"'L' = .* outside its range 1 to 2"):
            call()
    with pytest.raises(art.InputError, match="'L' has no range"):
        slender(art.Parameter("L", 1.5))
    with pytest.raises(art.InputError, match="outside its range"):
        art.Parameter("L", 3.0, range=(1.0, 2.0))
    with pytest.raises(art.InputError, match="the lower one first"):
        art.Parameter("L", 1.5, range=(2.0, 1.0))


def test_other_values_share_code_and_have_their_own_data(swept: art.Mechanism) -> None:
    longer = swept.with_values({"L": 1.8})
    assert longer.description.fingerprint == swept.description.fingerprint
    assert longer.pose("load", longer.neutral)[0, 3] == pytest.approx(1.8, rel=1e-9)
    body = longer.description.bodies[0].modes
    assert body is not None
    assert body.station("tip").position[0] == pytest.approx(1.8, rel=1e-9)


def test_modes_that_the_stations_do_not_tell_apart_are_refused() -> None:
    def build(length: float) -> Modes:
        whole = beam(length, EI=40.0, mass_per_length=1.2, elements=4, planes="y")
        return modes_of(whole, normal_modes(whole, 3).shapes, stations={"tip": 4})

    with pytest.raises(art.InputError, match="do not distinguish the 3 modes"):
        varying_body(build, art.Parameter("length", 1.0, range=(0.5, 2.0)))


def test_a_mode_that_leaves_the_set_is_refused() -> None:
    """One mode of two planes: the lowest one changes planes within the range, which no smooth function follows."""

    def build(stiff: float) -> Modes:
        whole = beam(1.0, EI=(stiff, 40.0), mass_per_length=1.2, elements=2, planes="both")
        return modes_of(whole, normal_modes(whole, 1).shapes)

    with pytest.raises(art.InputError, match=r"apart|differ from it"):
        varying_body(build, art.Parameter("stiff", 20.0, range=(10.0, 90.0)))
