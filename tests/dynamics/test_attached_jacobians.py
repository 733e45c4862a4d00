"""Functions with their analytic Jacobian, derivatives by named parameters, innovations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.structure import beam_body

L, M, K = art.Parameter("l", 0.8), art.Parameter("m", 2.0), art.Parameter("k", 3.0)


def arm(base: bool = False, flexible: bool = False, coupled: bool = False) -> art.Mechanism:
    """Return links of one length and mass, with joints of several kinds, perhaps on a floating base."""
    out = art.Mechanism("arm")
    root = "ground"
    if base:
        out.body("base", 5.0, (0.1, 0, 0), (0.3, 0.4, 0.5))
        out.joint("float", art.Free(), "ground", "base")
        root = "base"
    inertia = (M * L**2 / 12, M * L**2 / 12, 1e-2 * M)
    out.body("one", M, (0, 0, -L / 2), inertia).joint(
        "first", art.Revolute((0, 1, 0)), root, "one", damping=0.1 * K
    )
    out.body("two", 0.5 * M, (0.1, 0, -L / 2), inertia)
    out.joint("second", art.Revolute((1, 0, 0)), "one", "two", at=(0, 0, -L), stiffness=K, rest=0.2)
    out.body("three", 1.0, (0, 0.1, 0), (0.1, 0.2, 0.3))
    out.joint("third", art.Prismatic((0, 0, 1)), "two", "three", at=(0, 0, -L), armature=0.1 * M)
    if flexible:
        out.flexible("rod", beam_body(0.7, EI=30.0, mass_per_length=1.0, modes=2))
        out.joint("fourth", art.Revolute((0, 1, 0)), "three", "rod")
    return out.couple("third", to="first", ratio=0.1 * L) if coupled else out


CASES = {
    "tree": arm(),
    "free": arm(base=True),
    "flexible": arm(flexible=True),
    "coupled": arm(coupled=True),
}
PARAMS = {"l": 0.6, "m": 1.5, "k": 2.0}
p = np.array([PARAMS[name] for name in CASES["tree"].parameters])
each = pytest.mark.parametrize("name", CASES)


def state(mechanism: art.Mechanism, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = mechanism.integrate_position(mechanism.neutral, 0.3 * rng.normal(size=mechanism.nv))
    return q, rng.normal(size=mechanism.nv), rng.normal(size=mechanism.nv)


def differences(f, x: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Return central differences of a function of a vector, (m, n)."""
    steps = h * np.eye(len(x))
    return np.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps], axis=-1)


@each
@pytest.mark.parametrize("asked", ["forward_dynamics", "inverse_dynamics"])
def test_the_attached_jacobian_is_that_of_the_function(name: str, asked: str) -> None:
    mechanism = CASES[name]
    f = mechanism.function(asked)
    at = [*state(mechanism), p]
    if name == "free":
        at[0] = at[0].copy()
        at[0][:4] *= 1.3  # off the unit sphere, as an optimizer may try it
    symbols = [ca.MX.sym(n, len(x)) for n, x in zip(f.name_in(), at)]
    y = f(*symbols)
    J = ca.Function("J", symbols, [ca.jacobian(y, x) for x in symbols])(*at)
    for k, (x, block) in enumerate(zip(at, J)):
        expected = differences(lambda z, k=k: np.array(f(*at[:k], z, *at[k + 1 :])).ravel(), x)
        # central differences of step 1e-6 are good to about 1e-9 of values up to 1e2
        np.testing.assert_allclose(np.array(block), expected, rtol=1e-6, atol=1e-6)


def test_functions_agree_with_the_compiled_quantity_and_ipopt_uses_the_jacobian() -> None:
    mechanism = art.load("puma600")
    q, v, tau = state(mechanism)
    f = mechanism.function("forward_dynamics")
    np.testing.assert_allclose(
        np.array(f(q, v, tau)).ravel(), mechanism.forward_dynamics(q, v, tau), rtol=1e-10
    )
    x = ca.MX.sym("x", 6)
    by_ad = ca.Function("plain", [s := ca.SX.sym("s", 6)], [ca.jacobian(f.expand()(s, v, tau), s)])
    attached = ca.Function("attached", [x], [ca.jacobian(f(x, v, tau), x)])
    np.testing.assert_allclose(np.array(attached(q)), np.array(by_ad(q)), rtol=1e-9, atol=1e-9)
    goal = mechanism.forward_dynamics(q, v, tau)
    solver = ca.nlpsol(
        "solver",
        "ipopt",
        {"x": x, "f": ca.sumsqr(x - q), "g": f(q, v, x) - goal},
        {"ipopt.print_level": 0, "print_time": False},
    )
    found = np.array(solver(x0=np.zeros(6), lbg=0, ubg=0)["x"]).ravel()
    np.testing.assert_allclose(
        found, tau, atol=1e-6
    )  # forces that give these accelerations; ipopt's tolerance is 1e-8


@each
def test_derivatives_by_parameters(name: str) -> None:
    mechanism = CASES[name]
    q, v, tau = state(mechanism)

    def forward(values: np.ndarray) -> np.ndarray:
        return mechanism.forward_dynamics(q, v, tau, params=dict(zip(mechanism.parameters, values)))

    def inverse(values: np.ndarray) -> np.ndarray:
        return mechanism.inverse_dynamics(q, v, tau, params=dict(zip(mechanism.parameters, values)))

    found = mechanism.parameter_derivatives(q, v, tau, params=PARAMS)
    np.testing.assert_allclose(found, differences(forward, p), rtol=1e-6, atol=1e-6)
    found = mechanism.inverse_dynamics_parameter_derivatives(q, v, tau, params=PARAMS)
    np.testing.assert_allclose(found, differences(inverse, p), rtol=1e-6, atol=1e-6)


def test_a_closed_mechanism_is_told_of_its_tree() -> None:
    linkage = art.load("n_four_bar", n=1)
    with pytest.raises(art.InputError, match=r"expected 'parameter_derivatives' of `mechanism\.tree`"):
        linkage.parameter_derivatives(linkage.neutral, np.zeros(linkage.nv), np.zeros(linkage.nv))


def test_a_mechanism_without_parameters_has_no_column() -> None:
    assert art.load("two_link").parameter_derivatives([0, 0], [0, 0], [0, 0]).shape == (2, 0)


@each
def test_innovations_decouple_energy_power_and_acceleration(name: str) -> None:
    mechanism = CASES[name]
    q, v, tau = state(mechanism)
    n, e, D = mechanism.innovations(q, v, tau, params=PARAMS)
    kinetic = mechanism.energy(q, v, params=PARAMS)[0]
    assert 0.5 * (D * n) @ n == pytest.approx(kinetic, rel=1e-12)
    assert n @ e == pytest.approx(v @ tau, rel=1e-12)
    rest = np.zeros(mechanism.nv)
    vdot = mechanism.forward_dynamics(q, rest, tau, params=PARAMS)
    net = tau - mechanism.bias(q, rest, params=PARAMS)
    n_dot, e, D = mechanism.innovations(q, vdot, net, params=PARAMS)  # from rest n' = L' vdot
    np.testing.assert_allclose(D * n_dot, e, rtol=1e-9, atol=1e-9)
