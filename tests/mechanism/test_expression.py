"""Arithmetic on named parameters: texts and back, values everywhere a number is taken, refusals."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, ModelError
from articulus.model.mechanism.expression import (
    FUNCTIONS,
    Parameter,
    ParameterExpression,
    evaluate,
    parse,
    text_of,
)

L, M = art.Parameter("l", 0.8), art.Parameter("m", 2.0)
KNOWN = {"l": L, "m": M}
ROD = (1e-3 * M, M * L**2 / 12, M * L**2 / 12)


def read(text: str) -> object:
    """Return the number of a text over l and m."""

    def known(name: str) -> Parameter:
        if name not in KNOWN:
            raise InputError(f"no parameter '{name}'")
        return KNOWN[name]

    return parse(text, known)


def grown(rng: np.random.Generator, depth: int) -> object:
    """Return a random expression whose value is finite."""
    if depth == 0:
        return [L, M, float(np.round(rng.normal(), 3)), float(rng.integers(-3, 4))][rng.integers(4)]
    while True:
        left, right = grown(rng, depth - 1), grown(rng, rng.integers(depth))
        try:
            match rng.integers(7):
                case 0:
                    return left + right
                case 1:
                    return left - right
                case 2:
                    return left * right
                case 3:
                    return left / right
                case 4:
                    return np.power(left, right)
                case 5:
                    return -left
                case _:
                    name = list(FUNCTIONS)[rng.integers(len(FUNCTIONS))]
                    return getattr(np, FUNCTIONS[name])(left, *([right] if name == "atan2" else []))
        except (InputError, ArithmeticError, TypeError):
            continue


def test_a_text_gives_back_the_same_expression() -> None:
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        drawn = [grown(rng, 4) for _ in range(300)]
    found = [x for x in drawn if isinstance(x, ParameterExpression)]
    assert len(found) > 100
    for x in found:
        assert read(text_of(x)) == x


def test_values_follow_the_parameters_in_numpy_and_in_casadi() -> None:
    x = np.sqrt(M * L**2 / 3 + np.cos(L)) - 2 / abs(-M)
    l, m = np.array([0.3, 1.7]), np.array([5.0, 0.2])
    expected = np.sqrt(m * l**2 / 3 + np.cos(l)) - 2 / m
    held = {"l": l, "m": m}
    np.testing.assert_allclose(evaluate(x, lambda p: held[p.name]), expected, rtol=1e-15)
    symbols = {"l": ca.SX.sym("l"), "m": ca.SX.sym("m")}
    f = ca.Function("f", list(symbols.values()), [evaluate(x, lambda p: symbols[p.name], ca)])
    np.testing.assert_allclose(np.array(f(l.reshape(1, 2), m.reshape(1, 2))).ravel(), expected, rtol=1e-15)


def test_arrays_of_numpy_give_arrays_of_expressions() -> None:
    for product in (np.array([1.0, 2.0]) * L, L * np.array([1.0, 2.0]), np.multiply([1.0, 2.0], L)):
        assert [text_of(x).replace("*l", "").replace("l*", "") for x in product] == ["1", "2"]
    assert isinstance(np.float64(2.0) * L, ParameterExpression)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("l+", "its end"),
        ("l m", "an operator"),
        ("(l", "expected '\\)'"),
        ("k*2", "no parameter 'k'"),
        ("sinh(l)", "the function 'sinh'"),
        ("atan2(l)", "expected 2"),
        ("l/(m-2)", "m = 2"),
        ("sqrt(-l)", "finite"),
        ("__import__('os')", "expected numbers"),
        ("l.real", "expected numbers"),
        ("-" * 90 + "l", "inside each other"),
        ("+".join(["l"] * 600), "characters"),
        ("", "its end"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(text)


def test_other_things_are_not_numbers() -> None:
    with pytest.raises(TypeError):
        L + "1"
    with pytest.raises(TypeError):
        L * True
    with pytest.raises(TypeError):
        float(L)  # it would lose its name without a word


def rod(length: object, mass: object, inertia: tuple[object, ...]) -> art.Mechanism:
    """Return a pendulum, a rod that hangs on a hinge at its end."""
    out = art.Mechanism("rod")
    out.body("rod", mass=mass, com=(0, 0, -length / 2), inertia=inertia)
    out.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod", damping=0.1 * mass)
    return out.frame("tip", "rod", (0, 0, -length))


@pytest.fixture(scope="module")
def swept() -> art.Mechanism:
    return rod(L, M, (M * L**2 / 12, M * L**2 / 12, 1e-3 * M))


def test_a_mechanism_follows_its_expressions(swept: art.Mechanism, tmp_path) -> None:
    values = {"l": np.array([0.4, 1.3]), "m": np.array([1.0, 7.0])}
    q, v, tau = np.full((2, 1), 0.7), np.full((2, 1), -1.2), np.full((2, 1), 0.3)
    swept.save(tmp_path / "rod.toml")
    assert '{expression = "m*l^2/12"}' in (tmp_path / "rod.toml").read_text()
    again = art.load(tmp_path / "rod.toml")
    assert again.description == swept.description
    assert set(swept.parameters) == {"l", "m"}
    for mechanism in (swept, again):
        found = mechanism.forward_dynamics(q, v, tau, params=values).ravel()
        l, m = values["l"], values["m"]
        by_hand = (0.3 + 0.1 * m * 1.2 - m * 9.81 * l / 2 * np.sin(0.7)) / (m * l**2 / 3)
        np.testing.assert_allclose(found, by_hand, rtol=1e-12)  # rounding of a few operations
    assert swept.with_values({"l": 2.0}).description.bodies[0].com[2].value == -1.0


def test_a_run_and_its_components_take_expressions(swept: art.Mechanism) -> None:
    gain = M * 9.81 * L
    runs = [
        art.simulate(
            swept, 0.2, q0=[0.5], controller=art.components.PD(kp=gain, kd=1.0), step=1e-3, params=values
        )
        for values in ({}, {"l": 1.0, "m": 1.0})
    ]
    plain = [
        art.simulate(
            rod(l, m, (m * l**2 / 12, m * l**2 / 12, 1e-3 * m)),
            0.2,
            q0=[0.5],
            controller=art.components.PD(kp=m * 9.81 * l, kd=1.0),
            step=1e-3,
        )
        for l, m in ((0.8, 2.0), (1.0, 1.0))
    ]
    for one, other in zip(runs, plain):
        np.testing.assert_allclose(one.q, other.q, rtol=1e-11)  # the same equations, other rounding


def test_values_that_no_body_can_have_are_refused(swept: art.Mechanism) -> None:
    with pytest.raises(InputError, match=r"'m' = -1.*row \(1,\).*mass of body 'rod'"):
        swept.mass_matrix(np.zeros((2, 1)), params={"m": np.array([1.0, -1.0])})
    body = art.Mechanism("b").body("b", mass=M - L, inertia=(1, 1, 1)).joint("j", art.Free(), "ground", "b")
    with pytest.raises(InputError, match=r"'m' = 2, 'l' = 3: the mass of body 'b' would be -1"):
        body.mass_matrix(body.neutral, params={"l": 3.0})
    flat = (
        art.Mechanism("b")
        .body("b", mass=1.0, inertia=(L**2, 0.3 / (L - 0.5), 1.0))
        .joint("j", art.Free(), "ground", "b")
    )
    with pytest.raises(InputError, match="not finite"):
        flat.mass_matrix(flat.neutral, params={"l": 0.5})
    with pytest.raises(InputError, match="principal moments"):
        flat.mass_matrix(flat.neutral, params={"l": np.array([0.9, 30.0])})


TEXT = """
schema = 1
name = "rod"
[parameters]
l = "800 mm"
m = 2.0
[body.rod]
mass = {{parameter = "m"}}
com = [0, 0, {{expression = "{com}"}}]
inertia = [{{expression = "{inertia}"}}, 0.1, 0.1]
[joint.hinge]
type = "revolute"
axis = [0, 1, 0]
parent = "ground"
child = "rod"
"""


def test_files_check_what_an_expression_measures(tmp_path) -> None:
    path = tmp_path / "rod.toml"

    def load(com: str = "-l/2", inertia: str = "m*l^2/12") -> art.Mechanism:
        path.write_text(TEXT.format(com=com, inertia=inertia))
        return art.load(path)

    assert load().description.bodies[0].com[2].value == -0.4
    load(com="0.1 - l/2")
    load(com="sqrt(l^2 + 1)/10")
    for wrong, said in (
        ("l^2", r"measures \[m\^2\], not \[m\]"),
        ("l + l^2", r"adds \[m\] and \[m\^2\]"),
        ("sin(l)*l", "plain number or an angle"),
        ("l/k", "'k' is not one of"),
        ("l+*2", "expected a number"),
    ):
        with pytest.raises(ModelError, match=said) as refused:
            load(com=wrong)
        assert "rod.toml:9" in str(refused.value)
