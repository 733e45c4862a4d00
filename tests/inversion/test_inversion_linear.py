"""Linear inversion: the 0.66 m link, plants of every shape, sampled plants; both domains agree; what is refused."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.control import sample
from articulus.control.plant import of_matrices
from articulus.errors import DoubtfulResult, InputError
from articulus.linear import SecondOrder
from articulus.motion.inversion import Inversion, Line, Profile, SplinePath, invert

WAY = Line(0.0, 1.0, Profile(1.0))


@pytest.fixture(scope="module")
def link() -> SecondOrder:
    """The 0.66 m link of Ledesma & Bayo 1993 with six elements, hinge torque to tip."""
    from articulus.cases.bayo_link.case import matrices

    M, K, tip = matrices(None)
    return SecondOrder(M, 0 * M, K, np.eye(len(M))[:, :1], tip[None], None, ("tau.hinge",), ("tip.y",))


@pytest.fixture(scope="module")
def plant() -> dict[str, np.ndarray]:
    """Well damped matrices with 5 states, 3 inputs and 3 outputs."""
    draw = np.random.default_rng(7)
    A = draw.normal(size=(5, 5))
    A -= (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(5)
    return {"A": A, "B": draw.normal(size=(5, 3)), "C": draw.normal(size=(3, 5))}


def difference(a: Inversion, b: Inversion) -> float:
    """Return the largest difference of inputs at the times that both have, over their peak."""
    shared = (a.t > b.t[0]) & (a.t < b.t[-1])
    u = np.column_stack([CubicSpline(b.t, column)(a.t[shared]) for column in b.inputs.T])
    return float(np.abs(u - a.inputs[shared]).max() / np.abs(a.inputs).max())


@pytest.mark.parametrize(("duration", "peak"), [(0.5, 0.1838), (1.0, 0.0673)])
def test_link_of_the_digest(link: SecondOrder, duration: float, peak: float) -> None:
    path = Line(0.0, 0.7 * 0.66, Profile(duration, law="sine"))
    found = invert(link, path)
    assert np.abs(found.inputs).max() == pytest.approx(peak, abs=5e-5)  # digits given
    zeros = found.figures["zeros"].real
    assert np.sort(zeros[zeros > 0])[:2] == pytest.approx([26.88, 144.96], abs=5e-3)
    if duration == 0.5:
        assert found.support == pytest.approx((-0.187, 0.687), abs=1e-3)  # digits given, step 0.5 ms
    assert found.figures["error"] < 1e-5
    assert difference(found, invert(link, path, method="frequency")) < 1e-6


def test_sparse_equations_of_a_structure_give_the_same(
    link: SecondOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from articulus.motion.inversion.linear import frequency

    path = Line(0.0, 0.462, Profile(0.5, law="sine"))
    dense = invert(link, path, method="frequency", step=5e-3, cut=1e-4)
    monkeypatch.setattr(frequency, "DENSE", 0)
    sparse = invert(link, path, method="frequency", step=5e-3, cut=1e-4)
    assert np.allclose(sparse.inputs, dense.inputs, atol=1e-9)
    assert np.allclose(sparse.states, dense.states, atol=1e-8)


def test_sampled_link_with_a_delay_begins_a_period_earlier(link: SecondOrder) -> None:
    mass = ([[0.0, 1.0], [0.0, -1.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]])
    now, late = (invert(sample(mass, 0.01, delay=x), WAY) for x in (0.0, 0.01))
    assert late.figures["error"] < 1e-8
    assert np.interp(0.3, now.t, now.inputs[:, 0]) == pytest.approx(
        np.interp(0.29, late.t, late.inputs[:, 0]), abs=1e-7
    )


def test_link_before_and_after_the_motion_follows_its_zeros(link: SecondOrder) -> None:
    found = invert(link, Line(0.0, 0.462, Profile(0.5, law="sine")))
    t, u = found.t, found.inputs[:, 0]
    slow = np.interp([-0.25, -0.2], t, u)  # the other zeros have died away: exp(-0.2 * 118) = 6e-11
    assert slow[1] / slow[0] == pytest.approx(np.exp(26.8807 * 0.05), rel=1e-4)
    assert np.interp(0.25 + 0.45, t, u) == pytest.approx(
        -np.interp(0.25 - 0.45, t, u), rel=1e-4
    )  # odd motion


def test_independent_integrator_follows_the_path(link: SecondOrder) -> None:
    found = invert(link, Line(0.0, 0.462, Profile(0.5, law="sine")))
    model = link.first_order()
    torque = CubicSpline(found.t, found.inputs[:, 0])
    h, n = 1e-4, len(model.A)
    t = np.arange(found.t[0], 0.8, h)
    u = torque(t)
    left = np.linalg.inv(np.eye(n) - h / 2 * model.A)  # trapezoidal rule, tenth of the step
    Phi, gain = left @ (np.eye(n) + h / 2 * model.A), left @ model.B[:, 0] * h / 2
    x, tip = np.zeros(n), np.zeros(len(t))
    for i in range(1, len(t)):
        x = Phi @ x + gain * (u[i] + u[i - 1])
        tip[i] = model.C[0] @ x
    wanted = Line(0.0, 0.462, Profile(0.5, law="sine")).position(t)[:, 0]
    assert (
        np.abs(tip - wanted).max() < 1e-5
    )  # h^2 / 12 of the third derivative of the motion, 1e-8 / 12 * 6e3 * 0.46 = 2e-6


@pytest.mark.parametrize(("m", "p"), [(1, 1), (2, 2), (3, 2), (2, 3), (3, 1), (1, 3)])
def test_both_domains_agree(plant: dict, m: int, p: int) -> None:
    system = (plant["A"], plant["B"][:, :m], plant["C"][:p], np.zeros((p, m)))
    path = Line(np.zeros(p), np.linspace(1.0, -0.5, p), Profile(1.0))
    weights = {"input_weights": 1.0 + np.arange(m), "output_weights": 1.0 + np.arange(p)}
    time, frequency = (
        invert(system, path, method=x, step=5e-3, cut=1e-7, **weights) for x in ("time", "frequency")
    )
    assert difference(time, frequency) < 1e-6
    assert time.ok
    assert frequency.ok
    if m < p:
        missed = [list(x.figures["unreachable_outputs"].values()) for x in (time, frequency)]
        assert missed[0] == pytest.approx(missed[1], rel=1e-5)
        assert min(missed[0]) > 1e-3


def test_outputs_without_a_vector_relative_degree(plant: dict) -> None:
    A, B, C = plant["A"], plant["B"][:, :2], plant["C"][:2].copy()
    C[1] += np.linalg.lstsq(B.T, 0.5 * (C @ B)[0] - (C @ B)[1], rcond=None)[0]
    assert abs(np.linalg.det(C @ B)) < 1e-12
    system = (A, B, C, np.zeros((2, 2)))
    path = Line((0, 0), (1.0, -0.5), Profile(1.0))
    time = invert(system, path, step=5e-3)
    assert time.figures["degree"] == 2
    assert difference(time, invert(system, path, method="frequency", step=5e-3)) < 1e-6


def test_least_inputs_are_orthogonal_to_every_other_choice(plant: dict) -> None:
    def system(m: int) -> tuple:
        return plant["A"], plant["B"][:, :m], plant["C"][:1], np.zeros((1, m))

    there_and_back = SplinePath(
        [0.0, 1.0, 0.0], times=[0.0, 1.0, 2.0], order=4
    )  # so that all integrals are finite
    both, one = invert(system(2), there_and_back), invert(system(1), there_and_back)
    other = np.column_stack([np.interp(both.t, one.t, one.inputs[:, 0]), 0 * both.t])
    change = (
        other - both.inputs
    )  # does not show in the output: the integral of u'u has no slope in its direction
    norms = np.sqrt((both.inputs**2).sum() * (change**2).sum())
    assert abs((both.inputs * change).sum()) < 1e-5 * norms
    assert (both.inputs**2).sum() < 0.95 * (other**2).sum()


def test_triple_integrator_sampled_follows_at_the_instants() -> None:
    chain = (np.diag([1.0, 1.0], 1), [[0], [0], [1.0]], [[1.0, 0, 0]], [[0.0]])
    found = invert(chain, WAY, period=0.01)
    # zeros that sampling adds to 1 / s^3: z^2 + 4 z + 1 = 0 (Astrom, Hagander & Sternby 1984)
    assert np.sort(found.figures["zeros"].real) == pytest.approx([-2 - np.sqrt(3), -2 + np.sqrt(3)], rel=1e-6)
    assert found.figures["error"] < 1e-8
    assert difference(found, invert(chain, WAY, period=0.01, method="frequency")) < 1e-8


def test_link_sampled_follows_at_the_instants(link: SecondOrder) -> None:
    from articulus.cases.bayo_link.case import matrices

    M, K, tip = matrices(2)
    small = SecondOrder(M, 0 * M, K, np.eye(3)[:, :1], tip[None])
    path = Line(0.0, 0.462, Profile(0.5, law="sine"))
    found, smooth = invert(small, path, period=0.005), invert(small, path)
    assert found.figures["error"] < 1e-7
    assert np.abs(found.figures["zeros"] + 1).min() < 1e-6  # undamped: pairs z and 1 / z, an odd one at -1
    middle = np.interp(found.t + 0.0025, smooth.t, smooth.inputs[:, 0])
    # a held value is the mean over its period: 0.005^2 / 24 of the curvature, about 2e3 1/s^2 of the peak
    assert np.abs(middle - found.inputs[:, 0]).max() < 1e-2 * 0.1838
    with pytest.raises(InputError, match=r"unit circle.*sample faster"):
        invert(link, path, period=0.005)  # modes above half the sampling rate
    with pytest.warns(DoubtfulResult, match="alternating"):
        invert(
            small, Line(0.0, 0.462, Profile(0.503, order=0)), period=0.005
        )  # over an even number it cancels


def test_sampled_with_more_inputs_is_near_the_continuous_one(plant: dict) -> None:
    system = (plant["A"], plant["B"][:, :2], plant["C"][:1], np.zeros((1, 2)))
    held = invert(sample(system, 0.005), WAY, method="frequency", cut=1e-6)
    smooth = invert(system, WAY, step=0.005, cut=1e-6)
    peak = np.argmax(np.abs(smooth.inputs[:, 0]))
    there = np.interp(smooth.t[peak] - 0.0025, held.t, held.inputs[:, 0])
    assert there == pytest.approx(smooth.inputs[peak, 0], rel=1e-3)
    with pytest.raises(InputError, match="method 'frequency'"):
        invert(sample(system, 0.005), WAY)


def test_path_between_other_values_than_zero(plant: dict) -> None:
    system = (plant["A"], plant["B"][:, :1], plant["C"][:1], np.zeros((1, 1)))
    low, high = invert(system, WAY), invert(system, Line(2.0, 3.0, Profile(1.0)))
    static = -1 / (plant["C"][0] @ np.linalg.solve(plant["A"], plant["B"][:, 0]))
    shared = np.linspace(0.0, 1.0, 1001)
    change = np.interp(shared, high.t, high.inputs[:, 0]) - np.interp(shared, low.t, low.inputs[:, 0])
    assert np.allclose(change, 2 * static, atol=1e-9 * abs(static))
    assert high.figures["error"] < 1e-4


def oscillator(s: complex) -> tuple:
    """Return (s^2 - 2 Re(z) s + |z|^2) / (s + 1)^4, which has the zeros z and its conjugate."""
    A = np.diag([1.0, 1.0, 1.0], 1)
    A[3] = [-1.0, -4.0, -6.0, -4.0]
    return A, [[0], [0], [0], [1.0]], [[abs(s) ** 2, -2 * s.real, 1.0, 0.0]], [[0.0]]


def test_zeros_on_the_imaginary_axis_are_refused_with_their_value() -> None:
    with pytest.raises(InputError, match=r"imaginary axis.*5j rad/s"):
        invert(oscillator(5j), WAY)
    with pytest.warns(DoubtfulResult, match=r"near the imaginary axis.*5"):
        invert(oscillator(-0.02 + 5j), WAY, step=1e-2)


def test_rate_as_output_is_refused() -> None:
    with pytest.raises(InputError, match="integral of an output"):
        invert(([[0.0, 1.0], [-1.0, -1.0]], [[0.0], [1.0]], [[0.0, 1.0]], [[0.0]]), WAY)


def test_modes_that_no_input_moves_do_not_matter() -> None:
    mass = [[0.0, 1.0], [0.0, 0.0]]
    A = np.block(
        [[np.array(mass), np.zeros((2, 2))], [np.zeros((2, 2)), np.array([[0.0, 1.0], [-9.0, 0.0]])]]
    )
    found = invert((A, [[0], [1.0], [0], [0]], [[1.0, 0, 1.0, 0]], [[0.0]]), WAY)
    assert np.allclose(found.inputs[:, 0], WAY.derivatives(found.t, 2)[2, :, 0], atol=1e-9)
    assert not found.states[:, 2:].any()


def test_modes_that_no_output_shows_are_told() -> None:
    A = np.zeros((4, 4))
    A[0, 1] = A[2, 3] = 1.0
    A[3, 2] = -9.0
    with pytest.warns(DoubtfulResult, match="continue to vibrate"):
        found = invert((A, [[0], [1.0], [0], [1.0]], [[1.0, 0, 0, 0]], [[0.0]]), WAY)
    assert np.abs(found.states[-1, 2:]).max() > 1e-3


def test_short_horizons_are_refused_with_the_length_needed(link: SecondOrder) -> None:
    path = Line(0.0, 0.462, Profile(0.5, law="sine"))
    with pytest.raises(InputError, match=r"too short: pre = 0.3 s; needs 0.6"):
        invert(link, path, pre=0.3)
    with pytest.raises(InputError, match=r"too short: post = 0.3 s; needs 0.6"):
        invert(link, path, post=0.3, method="frequency")
    assert invert(link, path, pre=0.2, cut=1e-2).t[0] == pytest.approx(-0.2)


def test_rough_paths_are_refused(link: SecondOrder) -> None:
    with pytest.raises(InputError, match=r"derivative 1 of coordinate 0 jumps by 2.* at t = 0 s"):
        invert(link, Line(0.0, 1.0, Profile(0.5, order=0)))
    t = np.linspace(0.0, 1.0, 101)
    with pytest.raises(InputError, match="derivative 1 of coordinate 0 jumps"):
        invert(link, SplinePath(np.minimum(t, 0.5), times=t))


def test_outputs_that_do_not_move_independently_are_refused(plant: dict) -> None:
    C = plant["C"][[0, 0]]
    with pytest.raises(InputError, match=r"rank 1 of 2.*y\.0, y\.1"):
        invert((plant["A"], plant["B"][:, :2], C, np.zeros((2, 2))), Line((0, 0), (1, 1), Profile(1.0)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outputs": "z"}, "no output 'z'"),
        ({"method": "laplace"}, "'time' or 'frequency'"),
        ({"cut": 0.0}, "cut"),
        ({"step": -1.0}, "positive"),
        ({"period": 0.01, "step": 0.02}, "sampling period"),
        ({"input_weights": [0.0]}, "positive"),
    ],
)
def test_refused_arguments(given: dict, said: str) -> None:
    mass = of_matrices([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[0.0]])
    with pytest.raises(InputError, match=said):
        invert(mass, WAY, **given)


def test_path_with_other_coordinates_than_outputs() -> None:
    with pytest.raises(InputError, match="2 coordinates for 1 outputs"):
        invert(oscillator(-1 + 0j), Line((0, 0), (1, 1), Profile(1.0)))
    with pytest.raises(InputError, match="expected a path"):
        invert(oscillator(-1 + 0j), np.zeros(5))


def test_python_control_object_and_mechanism() -> None:
    control = pytest.importorskip("control")
    found = invert(control.tf([-1.0, 2.0], [1.0, 3.0, 2.0]), WAY)
    assert found.figures["zeros"].real == pytest.approx([2.0])
    assert found.pre > 0
    arm = art.load("two_link")
    joint = arm.joint_names[0]
    model = arm.linearize()
    both = invert(model, Line((0, 0), (0.1, -0.1), Profile(1.0)), outputs="q")
    assert both.input_names[0] == f"tau.{joint}"
    assert both.figures["error"] < 1e-5
