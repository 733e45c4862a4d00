"""Laws of Newmark, HHT and generalized-alpha: damping, order, constraints."""

import dataclasses

import numpy as np
import pytest
from motions import (
    ARM,
    GRAVITY,
    INERTIA,
    MASS,
    ORBIT,
    TOP,
    attraction,
    attraction_gradient,
    independent,
    matrix,
    observed_order,
    orbit,
    quaternion_flow,
    top_moment,
    turn,
)

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate import HHT, AlphaState, GeneralizedAlpha, Mechanical, Newmark

FAMILY = [
    Newmark(),
    Newmark(0.6),
    HHT(0.6),
    HHT(0.9),
    GeneralizedAlpha(0.0),
    GeneralizedAlpha(0.5),
    GeneralizedAlpha(0.9),
]
methods = pytest.mark.parametrize("method", FAMILY, ids=lambda m: f"{m.name} {m.rho_inf}")
damped = pytest.mark.parametrize(
    "method",
    [HHT(0.6), HHT(0.8), GeneralizedAlpha(0.5), GeneralizedAlpha(0.8)],
    ids=lambda m: f"{m.name} {m.rho_inf}",
)


def oscillator(stiffness):
    return Mechanical(
        mass=lambda t, q: np.eye(1),
        force=lambda t, q, v: -stiffness * q,
        stiffness=lambda t, q, v, a, m: stiffness * np.eye(1),
    )


def spectral_radius(method, stiffness):
    """Return the largest eigenvalue of one step of length 1, on (q, v, a); v' follows from q."""
    columns = []
    for q, v, a in np.eye(3)[:, :, None]:
        ahead = method.step(oscillator(stiffness), AlphaState(0.0, q, v, -stiffness * q, a, np.zeros(0)), 1.0)
        columns.append(np.concatenate([ahead.q, ahead.v, ahead.a]))
    return np.abs(np.linalg.eigvals(np.transpose(columns))).max()


@methods
def test_spectral_radius_at_infinity_is_rho_inf(method):
    """The eigenvalues there are threefold at rho_inf = 0: the cube root of rounding is seen."""
    np.testing.assert_allclose(spectral_radius(method, 1e10), method.rho_inf, atol=2e-3)


@methods
def test_no_frequency_grows_and_slow_ones_are_kept(method):
    radii = [spectral_radius(method, w2) for w2 in np.logspace(-4, 8, 60)]
    assert max(radii) <= 1 + 1e-7
    if method.order == 2:
        assert radii[0] > 1 - 1e-5


KEPLER = Mechanical(
    mass=lambda t, q: np.eye(2),
    force=attraction,
    stiffness=lambda t, q, v, a, m: -attraction_gradient(q),
)


@methods
def test_order_on_an_orbit(method):
    q_end, v_end = orbit(2.0)

    def error(steps):
        end = method.integrate(KEPLER, 0.0, 2.0, *ORBIT, steps)[1][-1]
        return max(np.abs(end.q - q_end).max(), np.abs(end.v - v_end).max())

    assert abs(observed_order([30, 60, 120, 240, 480], error) - method.order) < 0.2


def test_damping_forces_and_time():
    """q'' + 0.4 q' + 4 q = cos 3t, exact by linear algebra; the tangent C is used."""
    forced = Mechanical(
        mass=lambda t, q: np.eye(1),
        force=lambda t, q, v: np.cos(3 * t) - 4 * q - 0.4 * v,
        stiffness=lambda t, q, v, a, m: 4 * np.eye(1),
        damping=lambda t, q, v: 0.4 * np.eye(1),
    )
    amplitude = 1 / (4 - 9 + 0.4 * 3j)
    root = -0.2 + 1j * np.sqrt(4 - 0.04)
    free = np.linalg.solve([[1, 0], [root.real, -root.imag]], [-amplitude.real, -(3j * amplitude).real])

    def exact(t):
        return (amplitude * np.exp(3j * t)).real + ((free[0] + 1j * free[1]) * np.exp(root * t)).real

    def error(steps):
        return abs(
            GeneralizedAlpha(0.7).integrate(forced, 0.0, 5.0, [0.0], [0.0], steps)[1][-1].q[0] - exact(5.0)
        )

    assert abs(observed_order([30, 60, 120, 240, 480], error) - 2) < 0.2
    state = GeneralizedAlpha(0.7).integrate(forced, 0.0, 5.0, [0.0], [0.0], 50)[1][-1]
    assert state.iterations <= 100  # linear: one iteration, and one that finds nothing left


# a point on a circle: index 3

LENGTH, WEIGHT = 0.8, 9.81
PENDULUM = Mechanical(
    mass=lambda t, q: 1.3 * np.eye(2),
    force=lambda t, q, v: np.array([0.0, -1.3 * WEIGHT]),
    stiffness=lambda t, q, v, a, m: m[0] * np.eye(2),
    constraint=lambda t, q: np.array([(q @ q - LENGTH**2) / 2]),
    jacobian=lambda t, q: q[None, :],
    gamma=lambda t, q, v: np.array([v @ v]),
)
AT_START = LENGTH * np.array([np.sin(1.0), -np.cos(1.0)]), 0.7 * LENGTH * np.array([np.cos(1.0), np.sin(1.0)])


def pendulum(t):
    """Return position, velocity and multiplier from the angle alone."""
    angle, rate = independent(lambda t, x: [x[1], -WEIGHT / LENGTH * np.sin(x[0])], [1.0, 0.7], t)
    q = LENGTH * np.array([np.sin(angle), -np.cos(angle)])
    v = LENGTH * rate * np.array([np.cos(angle), np.sin(angle)])
    return q, v, 1.3 * (v @ v - WEIGHT * q[1]) / LENGTH**2


@damped
def test_order_on_a_pendulum_with_constraint(method):
    """Second order in position, velocity and, once the start has died out like rho_inf^steps, in the multiplier."""
    exact = pendulum(1.0)
    counts = [50, 100, 200, 400, 800]
    ends = {n: method.integrate(PENDULUM, 0.0, 1.0, *AT_START, n)[1][-1] for n in counts}
    for part, want in zip(("q", "v", "multipliers"), exact):
        order = observed_order(counts, lambda n: np.linalg.norm(getattr(ends[n], part) - want))  # noqa: B023
        assert abs(order - 2) < 0.2, part


@damped
@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-5])
def test_constraints_hold_to_rounding_at_every_step(method, h):
    """Small steps too, thanks to the scaling."""
    state = method.start(PENDULUM, 0.0, *AT_START)
    for _ in range(200):
        state = method.step(PENDULUM, state, h)
        assert abs(PENDULUM.constraint(state.t, state.q)[0]) < 1e-15
    assert state.iterations <= 3 * 200
    assert abs(state.multipliers[0] - pendulum(state.t)[2]) < 30 * h**0.9


def test_the_start_fits_the_equations():
    state = GeneralizedAlpha().start(PENDULUM, 0.0, *AT_START)
    np.testing.assert_allclose(state.multipliers, pendulum(1e-12)[2], rtol=1e-9)
    np.testing.assert_allclose(state.vdot @ state.q + state.v @ state.v, 0.0, atol=1e-14)


# rotations


def test_order_on_a_top():
    """Without tangents; the stiffness is small beside the inertia."""
    start = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.5, -0.4, 3.0])
    exact = independent(
        quaternion_flow(lambda t, q, w: top_moment(t, q, w) / INERTIA), np.concatenate(start), 1.0
    )

    def error(steps):
        states = GeneralizedAlpha(0.8).integrate(TOP, 0.0, 1.0, *start, steps)[1]
        assert max(abs(np.linalg.norm(s.q) - 1) for s in states) < steps * 2.3e-16
        return np.abs(np.concatenate([states[-1].q, states[-1].v]) - exact).max()

    assert abs(observed_order([20, 40, 80, 160, 320], error) - 2) < 0.2


def cross(u):
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def test_a_top_pinned_by_a_constraint_is_the_top():
    """Six degrees of freedom (quaternion and center of mass) with the point -ARM held at the origin: index 3 on a group."""
    central = np.diag(INERTIA) - MASS * (ARM @ ARM * np.eye(3) - np.outer(ARM, ARM))
    pinned = Mechanical(
        mass=lambda t, q: np.block([[central, np.zeros((3, 3))], [np.zeros((3, 3)), MASS * np.eye(3)]]),
        force=lambda t, q, v: np.concatenate([-np.cross(v[:3], central @ v[:3]), MASS * GRAVITY]),
        constraint=lambda t, q: q[4:] - matrix(q[:4]) @ ARM,
        jacobian=lambda t, q: np.hstack([matrix(q[:4]) @ cross(ARM), np.eye(3)]),
        gamma=lambda t, q, v: -matrix(q[:4]) @ np.cross(v[:3], np.cross(v[:3], ARM)),
        displace=lambda q, d: np.concatenate([turn(q[:4], d[:3]), q[4:] + d[3:]]),
    )
    w = np.array([0.5, -0.4, 3.0])
    exact = independent(
        quaternion_flow(lambda t, q, w: top_moment(t, q, w) / INERTIA), np.array([1.0, 0, 0, 0, *w]), 0.5
    )
    start = np.array([1.0, 0, 0, 0, *ARM]), np.concatenate([w, np.cross(w, ARM)])

    def error(steps):
        states = GeneralizedAlpha(0.8).integrate(pinned, 0.0, 0.5, *start, steps)[1]
        assert max(np.abs(pinned.constraint(s.t, s.q)).max() for s in states) < 1e-11
        return np.abs(np.concatenate([states[-1].q[:4], states[-1].v[:3]]) - exact).max()

    assert abs(observed_order([20, 40, 80, 160, 320], error) - 2) < 0.2


# going on, and failing


def test_a_resumed_run_repeats_every_bit():
    method, h = GeneralizedAlpha(), 0.01
    whole = [method.start(PENDULUM, 0.0, *AT_START)]
    for _ in range(20):
        whole.append(method.step(PENDULUM, whole[-1], h))
    state = AlphaState(
        **{k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in vars(whole[7]).items()}
    )
    for _ in range(13):
        state = method.step(PENDULUM, state, h)
    for field in dataclasses.fields(AlphaState):
        np.testing.assert_array_equal(getattr(state, field.name), getattr(whole[-1], field.name))


def test_an_iteration_that_does_not_converge_is_reported():
    """A stiff spring whose tangent is not given."""
    blind = dataclasses.replace(oscillator(1e6), stiffness=None)
    method = GeneralizedAlpha()
    state = method.start(blind, 0.0, [1.0], [0.0])
    with pytest.raises(
        NumericalError, match=r"did not converge from t = 0 s with h = 0.1 s.*derivatives"
    ) as failure:
        method.step(blind, state, 0.1)
    assert failure.value.result is state


def test_redundant_rows_are_reported():
    double = dataclasses.replace(
        PENDULUM,
        constraint=lambda t, q: np.repeat((q @ q - LENGTH**2) / 2, 2),
        jacobian=lambda t, q: np.stack([q, q]),
        gamma=lambda t, q, v: np.repeat(v @ v, 2),
        stiffness=None,
    )
    with pytest.raises(NumericalError, match="redundant"):
        GeneralizedAlpha().start(double, 0.0, [0.0, -LENGTH], [1.0, 0.0])


def test_an_open_start_is_refused():
    with pytest.raises(InputError, match=r"off by .* close the loops"):
        GeneralizedAlpha().start(PENDULUM, 0.0, [1.0, 1.0], [0.0, 0.0])


def test_half_given_constraints_are_refused():
    with pytest.raises(InputError, match="jacobian and gamma"):
        Mechanical(mass=PENDULUM.mass, force=PENDULUM.force, constraint=PENDULUM.constraint)


@pytest.mark.parametrize(
    ("kind", "rho"), [(HHT, 0.4), (GeneralizedAlpha, -0.1), (Newmark, 1.1), (HHT, np.nan)]
)
def test_rho_inf_has_bounds(kind, rho):
    with pytest.raises(InputError, match="rho_inf"):
        kind(rho)


def test_steps_must_be_a_positive_integer():
    with pytest.raises(InputError, match="steps"):
        HHT().integrate(PENDULUM, 0.0, 1.0, *AT_START, 0)
