"""A named parameter is a number that can be changed: nothing else may come of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import articulus as art
import zoo
from laws import close
from zoo import ask

NAMES = ["parameters_rpy", "parameters_quaternion", "screws"]
QUESTIONS = {
    "forward_dynamics": ("q", "v", "tau"),
    "inverse_dynamics": ("q", "v", "vdot"),
    "mass_matrix": ("q",),
    "energy": ("q", "v"),
    "momentum": ("q", "v"),
    "center_of_mass": ("q",),
    "reactions": ("q", "v", "vdot"),
    "derivatives": ("q", "v", "tau"),
}


def changed(mech, seed=3):
    """Return other values of all parameters, still of a real mechanism: up to three percent away."""
    rng = np.random.default_rng(seed)
    return {name: value * (1 + 0.03 * rng.uniform(-1, 1)) for name, value in mech.parameters.items()}


def plain(mech, params=None):
    return art.Mechanism.from_description(zoo.with_numbers(mech.description, params))


def answers(mech, name, s, **options):
    out = ask(mech, name, *(getattr(s, k) for k in QUESTIONS[name]), **options)
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_changing_a_parameter_is_rebuilding_the_mechanism(name, question):
    mech = zoo.get(name)
    s = zoo.random_state(mech, 41)
    params = changed(mech)
    rebuilt = plain(mech, params)
    assert not rebuilt.parameters
    moved = 0.0
    for old, found, expected in zip(
        answers(mech, question, s), answers(mech, question, s, params=params), answers(rebuilt, question, s)
    ):
        close(
            found, expected, 1e-10
        )  # conditioned with cond(M) < 1e4 through two different orders of operations
        moved = max(moved, np.abs(old - found).max())
    assert moved > 1e-4, "the parameters had no effect"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_its_own_effect(name):
    """Changing one parameter alone equals rebuilding with it alone (a few change nothing, as the place of a slide)."""
    mech = zoo.get(name)
    s = zoo.random_state(mech, 42)
    before = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot)
    effective = 0
    some = list(changed(mech).items())[::3]
    for key, value in some:
        found = ask(mech, "inverse_dynamics", s.q, s.v, s.vdot, params={key: value})
        expected = ask(plain(mech, {key: value}), "inverse_dynamics", s.q, s.v, s.vdot)
        close(found, expected, 1e-11)
        effective += np.abs(found - before).max() > 1e-9
    assert effective > 0.5 * len(some)


def test_every_kind_of_field_is_covered():
    names = {key for name in NAMES for key in zoo.get(name).parameters}
    missing = [kind for kind in zoo.PARAMETER_KINDS if not any(key.startswith(kind) for key in names)]
    assert missing == []


def test_parameters_in_a_batch():
    """One value for all, one value a row, and broadcasting against the states: equal to calls one by one, bit by bit."""
    mech = zoo.get("parameters_rpy")
    rng = np.random.default_rng(43)
    states = [zoo.random_state(mech, rng) for _ in range(11)]
    q, v, tau = (np.array([getattr(s, k) for s in states]) for k in ("q", "v", "tau"))
    mass = rng.uniform(1, 2, 11)
    batch = mech.forward_dynamics(q, v, tau, params={"mass_b1": mass, "gravity_x": 0.5})
    for i in range(11):
        single = mech.forward_dynamics(q[i], v[i], tau[i], params={"mass_b1": mass[i], "gravity_x": 0.5})
        assert_array_equal(batch[i], single)
    grid = mech.forward_dynamics(
        q[0], v[0], tau[0], params={"mass_b1": mass[:, None], "gravity_x": [0.1, 0.2]}
    )
    assert grid.shape == (11, 2, mech.nv)
    one = mech.forward_dynamics(q[0], v[0], tau[0], params={"mass_b1": mass[4], "gravity_x": 0.2})
    assert_array_equal(grid[4, 1], one)


def test_one_parameter_in_several_places():
    size = art.Parameter("size", 0.5)
    m = art.Mechanism("shared", gravity=(0, 0, -9.81))
    for i, parent in enumerate(("ground", "a")):
        name = "ab"[i]
        m.body(name, mass=size, com=(0, 0, size), inertia=(0.1, 0.1, 0.1))
        m.joint(f"j{i}", art.Revolute((0, 1, 0)), parent, name, at=(0, 0, size))
    assert m.parameters == {"size": 0.5}
    s = zoo.random_state(m, 44)
    for value in (0.5, 0.8):
        expected = ask(plain(m, {"size": value}), "bias", s.q, s.v)
        close(ask(m, "bias", s.q, s.v, params={"size": value}), expected, 1e-13)


def test_linear_model_takes_parameters():
    l = art.Parameter("half", 0.5)
    m = art.Mechanism("pendulum").body("bob", 2.0, (0, 0, art.Parameter("z", -0.5)), (1e-9, 1e-9, 1e-9))
    m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "bob", damping=l)
    for z in (-0.5, -2.0):
        A = m.linearize(params={"z": z, "half": 0.0}).A
        # a point mass: omega^2 = g / l but for the inertia of 1e-9
        assert np.abs(np.linalg.eigvals(A).imag).max() == pytest.approx(np.sqrt(9.81 / -z), rel=1e-8)
