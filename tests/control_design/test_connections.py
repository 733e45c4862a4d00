"""Connections of linear models: transfer functions are multiplied, added and fed back as numbers are, and names stay."""

import control as ct
import numpy as np
import pytest

from articulus import control as c
from articulus.control.plant import of_matrices
from articulus.errors import InputError
from articulus.linear import LinearModel, LinearModels

OMEGA = np.geomspace(0.01, 100.0, 7)


def random_model(seed: int, nu: int, ny: int, n: int = 4, period: float | None = None) -> LinearModel:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A = A - (np.abs(np.linalg.eigvals(A)).max() + 0.5) * np.eye(n)
    A = A if period is None else np.linalg.inv(np.eye(n) - period * A)
    return of_matrices(
        A, rng.normal(size=(n, nu)), rng.normal(size=(ny, n)), 0.3 * rng.normal(size=(ny, nu)), period,
        inputs=[f"in{seed}.{k}x" for k in range(nu)], outputs=[f"out{seed}.{k}x" for k in range(ny)],
    )  # fmt: skip


@pytest.mark.parametrize("period", [None, 0.1])
def test_responses_are_those_of_the_algebra(period: float | None) -> None:
    """To 1e-9 of numbers about 1: responses are solutions of well-conditioned equations."""
    G, H, K = (
        random_model(seed, nu, ny, period=period) for seed, nu, ny in ((1, 2, 3), (2, 3, 2), (3, 2, 3))
    )
    g, h, k = (x.response(OMEGA) for x in (G, H, K))
    one = np.eye(3)
    for found, expected in [
        (H * G, h @ g),
        (G + K, g + k),
        (G - K, g - k),
        (-G, -g),
        (2.0 * G, 2 * g),
        (G * np.array([[1.0, 2.0], [0.0, 1.0]]), g @ [[1.0, 2.0], [0.0, 1.0]]),
        (np.ones((1, 3)) * G, np.ones((1, 3)) @ g),
        (np.ones((3, 2)) - G, 1.0 - g),
        (G.feedback(_nameless(H)), np.linalg.solve(one + g @ h, g)),
        (G.feedback(_nameless(H), +1), np.linalg.solve(one - g @ h, g)),
        ((H * G).feedback(), np.linalg.solve(np.eye(2) + h @ g, h @ g)),
    ]:
        np.testing.assert_allclose(found.response(OMEGA), expected, rtol=0, atol=1e-9)
    both = G.append(H).response(OMEGA)
    np.testing.assert_allclose(both[:, :3, :2], g, atol=1e-12)
    np.testing.assert_allclose(both[:, 3:, 2:], h, atol=1e-12)
    np.testing.assert_allclose(both[:, 3:, :2], 0.0, atol=0)


def _nameless(model: LinearModel) -> LinearModel:
    return of_matrices(model.A, model.B, model.C, model.D, model.period)


def test_lower_fraction() -> None:
    P, K = random_model(4, 3, 4), _nameless(random_model(5, 2, 1))
    p, k = P.response(OMEGA), K.response(OMEGA)
    inner = np.linalg.solve(np.eye(1) - k @ p[:, 2:, 2:], k)
    expected = p[:, :2, :2] + p[:, :2, 2:] @ inner @ p[:, 2:, :2]
    found = P.lft(K)
    np.testing.assert_allclose(found.response(OMEGA), expected, atol=1e-9)
    assert (found.inputs, found.outputs) == (P.inputs[:2], P.outputs[:2])


def test_names_and_units_stay() -> None:
    plant = LinearModel(
        np.array([[0, 1.0], [-1, -0.2]]), np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1)), ("x", "v"),
        ("u.motor",), ("encoder.q", "encoder.v"), ("N m",), ("rad", "rad/s"), name="joint",
    )  # fmt: skip
    design = c.lqg(plant, 1.0, 1.0, 1.0, 0.1)
    law = (
        c.rolloff(200.0) * design.controller * c.notch(30.0)
    )  # filters on every measured signal, and on the command
    assert (law.inputs, law.outputs) == (design.controller.inputs, design.controller.outputs)
    assert (law.input_units, law.output_units) == (("rad", "rad/s"), ("N m",))
    loop = c.open_loop(plant, law)
    expected = (
        -c.rolloff(200.0).response(OMEGA)
        * c.notch(30.0).response(OMEGA)
        * (design.controller.response(OMEGA) @ plant.response(OMEGA))
    )
    np.testing.assert_allclose(loop.response(OMEGA), expected, atol=1e-9)
    assert (2.0 * law).outputs == law.outputs
    turned = law.select(
        outputs="u.motor", inputs=["encoder.v", "encoder.q"]
    )  # another order: connected by names
    np.testing.assert_allclose((turned * plant).response(OMEGA), (law * plant).response(OMEGA), atol=1e-9)
    closed = plant.feedback(design.controller, sign=+1)
    np.testing.assert_allclose(np.sort_complex(closed.poles), np.sort_complex(design.poles), atol=1e-9)
    assert closed.outputs == plant.outputs


def test_back_from_python_control() -> None:
    plant = of_matrices([[-1.0]], [[1.0]], [[1.0]], inputs=["u.motor"], outputs=["encoder.q"])
    law = c.lqg(plant, 1.0, 1.0, 1.0, 1.0).controller
    same = c.as_plant(law.to_control())
    assert same.inputs == ("encoder_q",)
    np.testing.assert_allclose(
        c.open_loop(plant, same).response(OMEGA), c.open_loop(plant, law).response(OMEGA), atol=1e-12
    )
    filtered = c.as_plant(law.to_control() * c.notch(3.0).to_control(), like=law)
    assert (filtered.inputs, filtered.outputs) == (law.inputs, law.outputs)
    np.testing.assert_allclose(filtered.response(OMEGA), (law * c.notch(3.0)).response(OMEGA), atol=1e-9)


def test_parts_by_names_and_entries() -> None:
    model = of_matrices(
        -np.eye(3), np.eye(3), np.eye(3), inputs=["tau.a", "tau.b", "u.c"], outputs=["q.a", "star.rpy.0", "star.rpy.2"]
    )  # fmt: skip
    part = model.select(inputs=("u.c", "tau"), outputs=("star.rpy.2",))
    assert part.inputs == ("u.c", "tau.a", "tau.b")
    assert part.outputs == ("star.rpy.2",)
    np.testing.assert_allclose(part.response([1.0])[0], model.response([1.0])[0][2:, [2, 0, 1]])
    assert model.select(outputs="star.rpy").outputs == ("star.rpy.0", "star.rpy.2")
    assert model.select(0, [-1]).outputs == ("star.rpy.2",)
    several = LinearModels.of([model, model])
    assert several.select("tau.b", "q.a").B.shape == (2, 3, 1)
    with pytest.raises(InputError, match=r"no output 'star.rpq'; did you mean"):
        model.select(outputs="star.rpq")


def test_what_cannot_be_connected() -> None:
    G, H = random_model(1, 2, 3), random_model(2, 2, 3)
    with pytest.raises(InputError, match="found 3 signals; expected 2"):
        G * H
    with pytest.raises(InputError, match=r"numpy.eye"):
        G + 1.0
    with pytest.raises(InputError, match=r"no input 'out2.0x'"):
        G.feedback(H)
    with pytest.raises(InputError, match="without names for 2 inputs"):
        G.feedback(np.ones((1, 3)))
    with pytest.raises(InputError, match="sample the continuous one"):
        G * random_model(1, 2, 2, period=0.1)
    with pytest.raises(InputError, match=r"models\[i\]"):
        LinearModels.of([G, G]) * 2.0
    with pytest.raises(InputError, match="expected 2 names"):
        G.rename(inputs=["a"])


# plants that other programs' users write


def test_a_pair_of_coefficients_is_a_transfer_function() -> None:
    model = c.as_plant(([2.0, 1.0], [1.0, 3.0, 2.0]))
    s = 1j * OMEGA
    np.testing.assert_allclose(model.response(OMEGA)[:, 0, 0], (2 * s + 1) / (s**2 + 3 * s + 2), rtol=1e-12)
    assert c.hinfnorm(([1], [1, 1])) == pytest.approx(1.0)


def test_transfer_matrices_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without Slycot, and with as few states as columns or rows with one denominator need."""
    monkeypatch.setitem(__import__("sys").modules, "slycot", None)
    G = ct.tf([[[1], [2, 1]], [[3], [0]]], [[[1, 1], [1, 2]], [[1, 1], [1]]])
    found = c.as_plant(G)
    np.testing.assert_allclose(found.response(OMEGA), G(1j * OMEGA).transpose(2, 0, 1), rtol=1e-12)
    assert len(found.A) == 2
    shape = ct.append(*[ct.tf([k, 1.0], [1, 0]) for k in (1.0, 2.0, 3.0)])
    found = c.as_plant(shape)
    np.testing.assert_allclose(found.response(OMEGA), shape(1j * OMEGA).transpose(2, 0, 1), rtol=1e-12)
    assert len(found.A) == 3
    assert found.outputs == ("y.0", "y.1", "y.2")


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (ct.tf([1, 0, 0], [1, 1]), "improper transfer function, degrees 2 over 1"),
        (([1, 0, 0], [1, 1]), "improper"),
        (([1], [0]), "denominator of zeros"),
        (ct.frd([1, 2], [1, 2]), "FrequencyResponseData; expected a StateSpace"),
        (ct.tf([1], [1, 1], True), "without a sampling period"),
        (np.eye(2), r"hinfnorm\(\(A, B\), ...\) in place of hinfnorm\(A, B, ...\)"),
        ([[0, 1], [-1, 0]], "as a plant; expected"),
        ((1, 2, 3, 4, 5, 6), "as a plant; expected"),
        ((np.eye(2), "b"), "as B; expected a matrix of real numbers"),
        (([[1.0, 2.0], [3.0]], [[1.0]]), "as A; expected a matrix of real numbers"),
        ((np.zeros((2, 2, 2)), np.eye(2)), r"A of shape \(2, 2, 2\)"),
    ],
)
def test_plants_that_are_refused(plant, message: str) -> None:
    with pytest.raises(InputError, match=message):
        c.hinfnorm(plant)


def test_a_design_is_not_taken_apart() -> None:
    A, B = [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]
    with pytest.raises(InputError, match=r"design = lqr\(...\)` and its parts: design.gain"):
        K, S, E = c.lqr((A, B), 1.0, 1.0)  # noqa: RUF059
