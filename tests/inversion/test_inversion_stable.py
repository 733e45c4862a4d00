"""Stable inversion against linear inverses, forward and backward integration, and forward runs."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_continuous_are

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion import NonlinearSystem, stable_inversion
from articulus.motion.inversion.stable import forward_run, normal_form, regulator
from articulus.motion.inversion.stable.forward import lqr_along

T = 2.0
TIME = SX.sym("t")


def bump(share: float = 1.0) -> SX:
    """Return a motion out and back, five times differentiable: derivatives up to 5 vanish at 0 and T."""
    return share * (4 * (TIME / T) * (1 - TIME / T)) ** 6


def slew(way: float) -> SX:
    s = TIME / T
    return way * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)


def bump_values(t: np.ndarray, order: int) -> np.ndarray:
    """Return derivatives 0 to order of the bump by polynomials, (N, order + 1)."""
    p = np.polynomial.Polynomial([0, 4 / T, -4 / T**2]) ** 6
    inside = (t > 0) & (t < T)
    return np.stack([np.where(inside, p.deriv(k)(t) if k else p(t), 0.0) for k in range(order + 1)], 1)


# linear systems


def random_plant(seed: int, inputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a stable plant with four zeros away from the axis, two of them unstable: made in normal form and turned."""
    rng = np.random.default_rng(seed)
    n, r = 4 + 2 * inputs, 2 * inputs
    Z = np.diag([-2.0, -3.5, 1.5, 3.0]) + 0.3 * np.triu(rng.normal(size=(4, 4)), 1)
    A = np.zeros((n, n))
    for i in range(inputs):
        A[2 * i, 2 * i + 1] = 1.0
        A[2 * i + 1] = rng.normal(size=n)
    A[r:, r:] = Z
    A[r:, :r] = rng.normal(size=(4, r))
    B = np.zeros((n, inputs))
    B[1:r:2] = np.eye(inputs) + 0.3 * rng.normal(size=(inputs, inputs))
    C = np.zeros((inputs, n))
    C[np.arange(inputs), 2 * np.arange(inputs)] = 1.0
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0] + 0.2 * rng.normal(size=(n, n))
    back = np.linalg.inv(turn)
    return turn @ A @ back, turn @ B, C @ back


@pytest.mark.parametrize(
    ("seed", "inputs", "method"), [(1, 1, "collocation"), (2, 2, "collocation"), (3, 2, "picard")]
)
def test_a_linear_system_has_the_inverse_of_its_frequency_response(
    seed: int, inputs: int, method: str
) -> None:
    """u(omega) = G(j omega)^-1 y(omega) on a window of 64 s, 32 times the motion: zeros of 1.5 rad/s leave e^-45 of it.

    Tolerance: 8192 samples of a motion with five continuous derivatives (1e-7), and the tolerance 1e-9 of the inversion.
    """
    A, B, C = random_plant(seed, inputs)
    y = ca.vertcat(*[bump(1.0), -0.5 * bump()][:inputs])
    found = stable_inversion(
        (A, B, C, np.zeros((inputs, inputs))), (TIME, y), method, t0=0, t_end=T, tolerance=1e-9, step=1 / 128
    )
    assert sorted(found.figures["zeros"].real.round(6)) == [-3.5, -2.0, 1.5, 3.0]
    assert found.figures["relative_degree"] == (2,) * inputs
    N, window = 8192, 64.0
    t = (np.arange(N) - N // 2) * window / N
    wanted = np.outer(bump_values(t, 0)[:, 0], [1.0, -0.5][:inputs])
    omega = 2 * np.pi * np.fft.rfftfreq(N, window / N)
    G = C @ np.linalg.solve(1j * omega[:, None, None] * np.eye(len(A)) - A, B)
    u = np.fft.irfft(np.linalg.solve(G, np.fft.rfft(wanted, axis=0)[..., None])[..., 0], N, axis=0)
    near = np.abs(found.t) < 6
    same = np.searchsorted(t, found.t[near] - 1e-6)
    assert np.abs(found.inputs[near] - u[same]).max() < 1e-6 * np.abs(u).max()
    assert found.ok


def test_a_linear_system_has_its_linear_inverse() -> None:
    """`invert`, exact exponentials on its own steps: 1e-6 of the largest input apart (its path is a polynomial between steps)."""
    A, B, C = random_plant(7, 2)
    line = art.inversion.Line((0.0, 0.0), (1.0, -0.5), art.inversion.Profile(T, order=4))
    plant = (A, B, C, np.zeros((2, 2)))
    ours, other = stable_inversion(plant, line, step=T / 500), art.inversion.invert(plant, line, step=T / 500)
    near = (ours.t > -4) & (ours.t < 6)
    values = np.array([np.interp(ours.t[near], other.t, column) for column in other.inputs.T]).T
    assert np.abs(values - ours.inputs[near]).max() < 1e-5 * np.abs(ours.inputs).max()


@pytest.mark.parametrize("method", ["collocation", "picard"])
def test_a_system_without_inside_is_inverted_at_every_time_by_itself(method: str) -> None:
    """x1'' = x2 x1 + u1, x2' = sin(x1) + x1 u1 + u2: u by hand. Tolerance: rounding of the polynomial of degree 12 by its powers."""
    x, u = SX.sym("x", 3), SX.sym("u", 2)
    rate = ca.vertcat(x[1], x[2] * x[0] + u[0], ca.sin(x[0]) + x[0] * u[0] + u[1])
    system = NonlinearSystem.affine(x, u, rate, ca.vertcat(x[0], x[2]))
    found = stable_inversion(system, (TIME, ca.vertcat(bump(), 2 * bump())), method, t0=0, t_end=T)
    y = bump_values(found.t, 2)
    first = y[:, 2] - 2 * y[:, 0] ** 2
    second = 2 * y[:, 1] - np.sin(y[:, 0]) - y[:, 0] * first
    assert found.figures["relative_degree"] == (2, 1)
    assert found.inputs == pytest.approx(np.stack([first, second], 1), abs=1e-8)
    assert (found.pre, found.post) == (0.0, 0.0)


# nonlinear systems with a known inside


def nonlinear(seed: int, sign: float) -> tuple[NonlinearSystem, callable, callable]:
    """Return a system whose zero dynamics is all stable (sign -1) or all unstable (+1), its inside and its input.

    y'' = -y - y' + sin(eta_1) + (2 + cos(y)) u;  eta' = sign (R + S) eta + N(eta, y), turned by a nonlinear map of the states.
    """
    rng = np.random.default_rng(seed)
    skew = rng.normal(size=(3, 3))
    Z = sign * (np.diag([1.0, 1.5, 2.0]) + 0.5 * (skew - skew.T))
    drive, bend = rng.normal(size=3), 0.2 * rng.normal(size=3)

    def inside(eta, y, lib):  # type: ignore[no-untyped-def]
        return Z @ eta + drive * y + bend * (lib.sin(eta[0]) * eta[1] + y * eta[2])

    def law(eta, y, yd, ydd):  # type: ignore[no-untyped-def]
        return (ydd + y + yd - np.sin(eta[0])) / (2 + np.cos(y))

    # states x with y = x0 + x2^2 / 4, y' = x1 + x3 x4 / 5, eta = x2.. turned
    z, u = SX.sym("z", 5), SX.sym("u")
    rates = ca.vertcat(
        z[1],
        -z[0] - z[1] + ca.sin(z[2]) + (2 + ca.cos(z[0])) * u,
        *ca.vertsplit(SX(Z) @ z[2:] + SX(drive) * z[0] + SX(bend) * (ca.sin(z[2]) * z[3] + z[0] * z[4])),
    )
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    x = SX.sym("x", 5)
    eta = SX(turn) @ x[2:]
    of_x = ca.vertcat(x[0] + x[2] ** 2 / 4, x[1] + x[3] * x[4] / 5, eta)
    rate = ca.solve(ca.jacobian(of_x, x), ca.substitute(rates, z, of_x))
    return NonlinearSystem.affine(x, u, rate, of_x[0]), inside, law


@pytest.mark.parametrize(("seed", "sign"), [(4, -1.0), (5, 1.0)])
def test_one_sided_zero_dynamics_is_an_initial_value_problem(seed: int, sign: float) -> None:
    """All zeros stable: forward from rest; all unstable: backward from rest. Tolerances: 1e-9 inside, solve_ivp 1e-11."""
    system, inside, law = nonlinear(seed, sign)
    found = stable_inversion(system, (TIME, bump()), t0=0, t_end=T, tolerance=1e-9, step=0.05)
    first, last = found.t[0], found.t[-1]
    way, begin = ((first, last), 0) if sign < 0 else ((last, first), -1)
    times = found.t if sign < 0 else found.t[::-1]

    def rate(t: float, eta: np.ndarray) -> np.ndarray:
        return inside(eta, bump_values(np.array([t]), 0)[0, 0], np)

    run = solve_ivp(rate, way, np.zeros(3), "DOP853", times, rtol=1e-11, atol=1e-13, max_step=0.05)
    eta = run.y.T if sign < 0 else run.y.T[::-1]
    y = bump_values(found.t, 2)
    u = np.array([law(e, *row) for e, row in zip(eta, y)])
    assert np.abs(found.inputs[:, 0] - u).max() < 2e-8 * np.abs(u).max()
    assert (found.figures["zeros"].real < 0).all() == (sign < 0)
    assert (found.t[begin] == found.t0) == (sign < 0)


def pendulum() -> NonlinearSystem:
    """Return a cart (1 kg) with an upright pendulum (0.2 kg, 0.5 m) that is hardly damped: the cart's place is the output."""
    x, F = SX.sym("x", 4), SX.sym("F")
    _, angle, speed, turn = ca.vertsplit(x)
    m, M, L, g = 0.2, 1.0, 0.5, 9.81
    s, c = ca.sin(angle), ca.cos(angle)
    cart = (F - m * s * (g * c - L * turn**2)) / (M + m * s**2)
    tilt = (g * s - cart * c) / L - 0.1 * turn
    return NonlinearSystem.affine(
        x, F, ca.vertcat(speed, turn, cart, tilt), x[0], name="cart", input_names=["F"], output_names=["cart"]
    )


@pytest.fixture(scope="module")
def slewed():  # type: ignore[no-untyped-def]
    return stable_inversion(pendulum(), (TIME, slew(2.0)), t0=0, t_end=T, tolerance=1e-9)


def test_the_cart_leans_its_pendulum_before_it_starts(slewed) -> None:  # type: ignore[no-untyped-def]
    """Zeros of L tilt'' = g tilt with damping; the upright pendulum tilts towards the motion before the cart accelerates."""
    root = np.sqrt(9.81 / 0.5 + 0.05**2)
    assert slewed.figures["zeros"].real == pytest.approx([-0.05 - root, -0.05 + root], abs=1e-9)
    assert slewed.pre > 0.5
    assert slewed.post > 0.5
    early = slewed.state("x.1")[slewed.t < 0]
    assert (early >= -1e-9).all()
    assert early[-1] > 0.02
    assert np.abs(slewed.states[-1] - [2.0, 0, 0, 0]).max() < 1e-6


def test_forward_run_with_feedback_also_of_another_plant(slewed) -> None:  # type: ignore[no-untyped-def]
    """An unstable plant: the regulator holds it, the feedforward makes the motion. 5 % more force than asked costs some mm."""
    run = forward_run(pendulum(), slewed, "lqr")
    assert run.diverged is None
    assert run.error < 1e-6
    other = pendulum()
    strong = NonlinearSystem(other.x, other.f, 1.05 * other.g, other.h)
    off = forward_run(strong, slewed, "lqr")
    assert off.diverged is None
    assert 1e-4 < off.error < 0.2
    alone = forward_run(pendulum(), slewed)
    assert alone.diverged is not None or alone.error > 100 * run.error


def test_gains_of_the_regulator_are_those_of_the_riccati_equation(slewed) -> None:  # type: ignore[no-untyped-def]
    """DOP853 with 1e-8, from the steady solution at the end. 1e-4 is what steps of 8 ms leave of an error of second order."""
    plant = pendulum()
    part = np.flatnonzero((slewed.t > -0.5) & (slewed.t < T + 0.5))[::2]
    motion = replace(slewed, t=slewed.t[part], inputs=slewed.inputs[part], outputs=slewed.outputs[part], states=slewed.states[part])  # fmt: skip
    course = CubicSpline(motion.t, np.hstack([motion.states, motion.inputs]))
    u = SX.sym("u")
    slope = ca.Function("slope", [plant.x, u], [ca.jacobian(plant.f + plant.g * u, plant.x), plant.g])

    def linear(t: float) -> tuple[np.ndarray, ...]:
        z = course(t)
        return tuple(np.array(x) for x in slope(z[:4], z[4]))

    def rate(t: float, flat: np.ndarray) -> np.ndarray:
        (A, B), P = linear(t), flat.reshape(4, 4)
        return -(A.T @ P + P @ A - P @ B @ B.T @ P + np.eye(4)).ravel()

    times = motion.t[::-10]
    end = solve_continuous_are(*linear(times[0]), np.eye(4), np.eye(1))
    run = solve_ivp(rate, times[[0, -1]], end.ravel(), "DOP853", times, rtol=1e-8, atol=1e-8)
    expected = np.array([linear(t)[1].T @ P.reshape(4, 4) for t, P in zip(times, run.y.T)])
    gains = lqr_along(plant, motion, lambda t: (course(t)[4:], course(t)[:4]))
    found = np.array([gains(t) for t in times])
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
    assert np.ptp(found, axis=0).max() > 0.05 * np.abs(found).max()  # they change along the motion


def test_both_methods_find_the_same_motion(slewed) -> None:  # type: ignore[no-untyped-def]
    """Tolerances 1e-9 each, of an input of 6 N."""
    other = stable_inversion(pendulum(), (TIME, slew(2.0)), "picard", t0=0, t_end=T, tolerance=1e-9)
    assert np.abs(other.inputs - slewed.inputs).max() < 1e-6
    assert other.figures["flow_residual"] < 1e-7
    assert slewed.figures["flow_residual"] < 1e-6


def test_samples_with_derivatives_are_a_motion_too(slewed) -> None:  # type: ignore[no-untyped-def]
    """Polynomials of degree 5 through value, rate and acceleration 0.05 s apart, of one of degree 7: 1e-6 apart."""
    t = np.linspace(0, T, 41)
    s = np.polynomial.Polynomial([0, 0, 0, 0, 35, -84, 70, -20])(np.polynomial.Polynomial([0, 1 / T])) * 2.0
    samples = np.stack([s(t), s.deriv(1)(t), s.deriv(2)(t)], 1)
    found = stable_inversion(pendulum(), (t, samples), tolerance=1e-7)
    assert (
        np.abs(
            found.inputs[::50] - np.array([np.interp(found.t[::50], slewed.t, slewed.inputs[:, 0])]).T
        ).max()
        < 2e-3
    )


def test_paths_and_rows_of_outputs_are_motions_too(slewed) -> None:  # type: ignore[no-untyped-def]
    """The same polynomial of degree 7 as a `Line`; and 81 of its rows as a spline, which differs by 1e-3 of the force."""
    line = art.inversion.Line((0.0,), (2.0,), art.inversion.Profile(T, order=3))
    found = stable_inversion(pendulum(), line, tolerance=1e-9)
    assert np.abs(found.inputs - slewed.inputs).max() < 1e-8
    t = np.linspace(0, T, 81)
    rows = stable_inversion(pendulum(), (t, line.position(t)), tolerance=1e-7)
    assert np.abs(np.interp(slewed.t, rows.t, rows.inputs[:, 0]) - slewed.inputs[:, 0]).max() < 0.02
    rough = art.inversion.Line((0.0,), (2.0,), art.inversion.Profile(T, order=0))
    with pytest.raises(InputError, match=r"stable_inversion: the path is not smooth enough"):
        stable_inversion(pendulum(), rough)
    with pytest.raises(InputError, match="a path with 2 coordinates; expected 1"):
        stable_inversion(
            pendulum(), art.inversion.Line((0.0, 0.0), (2.0, 1.0), art.inversion.Profile(T, order=3))
        )


def test_a_tighter_tolerance_is_met() -> None:
    """The estimate of the error against a much finer solution: a bound within a factor of ten."""
    rough, fine = (
        stable_inversion(
            pendulum(), (TIME, slew(2.0)), t0=0, t_end=T, tolerance=tolerance, pre=3.0, post=3.0, step=0.1
        )
        for tolerance in (1e-4, 1e-11)
    )
    size = np.abs(fine.figures["eta"] - fine.figures["eta"][0]).max()
    error = np.abs(rough.figures["eta"] - fine.figures["eta"]).max() / size
    assert error < 1e-4
    assert error < 10 * rough.figures["error_estimate"]


# what is refused


def test_zeros_on_the_imaginary_axis_are_told() -> None:
    x, u = SX.sym("x", 4), SX.sym("u")
    masses = ca.vertcat(x[2], x[3], 25 * (x[1] - x[0]) + u, 25 * (x[0] - x[1]))
    system = NonlinearSystem.affine(x, u, masses, x[0], name="masses")
    with pytest.raises(
        NumericalError, match=r"masses: zeros on or next to the imaginary axis.*[-+]5j.*damping"
    ):
        stable_inversion(system, (TIME, bump()), t0=0, t_end=T)


def test_a_singular_decoupling_matrix_is_told() -> None:
    x, u = SX.sym("x", 3), SX.sym("u", 2)
    system = NonlinearSystem.affine(x, u, ca.vertcat(u[0], u[0] + x[2], u[1]), x[:2], output_names=["a", "b"])
    with pytest.raises(
        NumericalError,
        match=r"decoupling matrix is singular.*relative degrees \[1, 1\].*a, b.*input u\.1 appears in none",
    ):
        normal_form(system, np.zeros(3))


def test_relative_degree_that_is_lost_or_missing_is_told() -> None:
    x, u = SX.sym("x", 2), SX.sym("u")
    with pytest.raises(InputError, match="no relative degree at x0"):
        normal_form(NonlinearSystem.affine(x, u, ca.vertcat(-x[0] + x[1] * u, -x[1] + u), x[0]), np.zeros(2))
    with pytest.raises(InputError, match=r"no input reaches output y\.0"):
        normal_form(NonlinearSystem.affine(x, u, ca.vertcat(-x[0], -x[1] + u), x[0]), np.zeros(2))
    with pytest.raises(InputError, match="rate 0 is not affine in u"):
        NonlinearSystem.affine(x, u, ca.vertcat(u**2, x[0]), x[0])


def test_motions_and_times_that_do_not_do_are_told() -> None:
    cart = pendulum()
    with pytest.raises(
        InputError, match=r"derivative 1 of output cart jumps by 1 at t = 0 s.*relative degree 2"
    ):
        stable_inversion(cart, (TIME, TIME - TIME**2 / (2 * T)), t0=0, t_end=T)
    with pytest.raises(InputError, match=r"pre = 0\.2 s is too short.*expected at least 1\.0\d* s"):
        stable_inversion(cart, (TIME, slew(1.0)), t0=0, t_end=T, pre=0.2)
    with pytest.raises(InputError, match="expected t0 < t_end"):
        stable_inversion(cart, (TIME, slew(1.0)))
    with pytest.raises(InputError, match=r"samples of shape \(5, 2, 1\).*derivatives 0 to 2"):
        stable_inversion(cart, (np.arange(5.0), np.zeros((5, 2, 1))))


def test_a_motion_too_nonlinear_for_picard_is_told() -> None:
    with pytest.raises(NumericalError, match=r"Picard's iteration does not converge.*collocation"):
        stable_inversion(pendulum(), (TIME, slew(40.0)), "picard", t0=0, t_end=T)
    with pytest.raises(InputError, match=r"first of \(t, expression\)"):
        stable_inversion(pendulum(), (TIME / 4, slew(1.0)), t0=0, t_end=T)


# mechanisms and regulators


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its first frequency"
)  # the link of the source is ruthless; inverse and run have the same equations
def test_flexible_link_follows_its_tip_in_a_run_of_its_own() -> None:
    """The torque of the inversion in `simulate`, Runge-Kutta at 0.25 ms, from rest: the tip is where it should be.

    Tolerance: straight lines between samples 0.5 ms apart, 1e-6 of the torque; the arm has no spring to rest, so an error of the torque stays.
    """
    arm = art.load("bayo_link", modes=2)
    s = TIME / 0.5
    y = 0.2 * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    found = stable_inversion(
        art.inversion.mechanism_system(arm, ["hinge"], ["tip.y"]), (TIME, y), t0=0, t_end=0.5, step=5e-4
    )
    run = art.simulate(
        arm,
        float(found.t[-1] - found.t[0]),
        components=found.components(),
        step=1e-4,
        outputs=[],
        sample=1e-3,
    )
    tip = arm.pose("tip", run.q)[:, 1, 3]
    wanted = np.interp(run.t + found.t[0], found.t, found.outputs[:, 0])
    assert np.abs(tip - wanted).max() < 2e-5
    assert found.figures["zeros"].real[2:] == pytest.approx([27.28, 78.25], rel=1e-3)


def test_the_regulator_of_a_linear_exosystem_satisfies_its_equations() -> None:
    """Residual of order 5 in the size of w for polynomials of degree 4: halving w divides it by 32."""
    x, u, w = SX.sym("x", 3), SX.sym("u"), SX.sym("w", 2)
    rate = ca.vertcat(x[1], -x[0] + ca.sin(x[2]) + u, x[2] + x[0] + 0.3 * x[2] * x[1] - 0.2 * x[2] ** 3)
    system = NonlinearSystem.affine(x, u, rate, x[0])
    found = regulator(system, w, ca.vertcat(2 * w[1], -2 * w[0]), w[0], order=4)
    ratio = found.residual(0.2) / found.residual(0.1)
    assert 25 < ratio < 80
    assert found.residual(0.1) < 1e-4
    with pytest.raises(InputError, match=r"h\(x0\) - q\(0\) is 1"):
        regulator(system, w, ca.vertcat(2 * w[1], -2 * w[0]), w[0] + 1)
