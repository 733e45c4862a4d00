"""Figures of linear models: numbers of step responses, axes with units, and what is drawn."""

import numpy as np
import pytest

from articulus.control import sample
from articulus.errors import InputError
from articulus.linear import LinearModel, LinearModels


def oscillator() -> LinearModel:
    return LinearModel(
        np.array([[0, 1.0], [-4.0, -0.4]]), np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1)), ("q.a", "v.a"),
        ("u.motor",), ("q.a", "v.a"), ("N m",), ("rad", "rad/s"), name="oscillator",
    )  # fmt: skip


def test_step_responses() -> None:
    """1/(s^2 + 0.4 s + 4) after a unit step, in closed form; of the sampled model the same at the instants."""
    model, t = oscillator(), np.linspace(0.0, 6.0, 61)
    w = np.sqrt(4 - 0.04)
    expected = 0.25 * (1 - np.exp(-0.2 * t) * (np.cos(w * t) + 0.2 / w * np.sin(w * t)))
    np.testing.assert_allclose(model.step_response(t)[:, 0, 0], expected, atol=1e-13)
    np.testing.assert_allclose(sample(model, 0.1).step_response(t)[:, 0, 0], expected, atol=1e-13)
    for wrong in ([0.0, 1.0, 3.0], [1.0, 2.0], [0.0]):
        with pytest.raises(InputError, match="evenly spaced"):
            model.step_response(wrong)
    with pytest.raises(InputError, match=r"expected the period 0\.1 s"):
        sample(model, 0.1).step_response([0.0, 0.2, 0.4])


@pytest.mark.parametrize("period", [None, 0.1])
def test_what_is_drawn(period: float | None) -> None:
    model = oscillator() if period is None else sample(oscillator(), period)
    gain, phase = model.bode().axes
    assert gain.get_title() == "from u.motor [N m]"
    assert [line.get_label() for line in gain.lines[:2]] == ["q.a [rad]", "v.a [rad/s]"]
    w, values = gain.lines[0].get_data()
    np.testing.assert_allclose(values, np.abs(model.response(w)[:, 0, 0]))
    assert values.max() > 0.999 * abs(model.response([np.sqrt(4 - 0.08)])[0, 0, 0])  # the resonance is in it
    assert (phase.get_xlabel(), phase.get_ylabel()) == ("frequency [rad/s]", "phase [deg]")
    above, below = model.step().axes
    assert (above.get_ylabel(), below.get_ylabel(), below.get_xlabel()) == (
        "q.a [rad]",
        "v.a [rad/s]",
        "t [s]",
    )
    assert above.get_title() == "step of 1 N m in u.motor"
    (plane,) = model.plot().axes
    np.testing.assert_allclose(plane.lines[0].get_xdata(), np.linalg.eigvals(model.A).real)
    for figure in (model.bode(), model.step(), model.plot()):
        figure.canvas.draw()


def test_zeros_and_models_of_many_points() -> None:
    model = oscillator().select(outputs="v.a")
    np.testing.assert_allclose(model.zeros, [0.0], atol=1e-12)
    with pytest.raises(InputError, match=r"models\[i\]"):
        LinearModels.of([model, model]).bode()
    with pytest.raises(InputError, match="no inputs or no outputs"):
        model.select(outputs=[]).step()
