"""Truncated preview against its integral, feedback around an inverse, and a payload that is not the one expected."""

import numpy as np
import pytest
from scipy.integrate import quad

import articulus as art
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.motion.inversion import (
    Line,
    Profile,
    add_operating_point,
    feedforward,
    invert,
    rigid,
    tip_model,
)
from articulus.motion.inversion.tracking import predict_positions, preview

PATH = Line(0.0, 0.33, Profile(0.8, law="sine"))


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("bayo_link", modes=3, payload=0.03, damping=0.005)


@pytest.fixture(scope="module")
def plant(arm: art.Mechanism) -> LinearModel:
    return tip_model(arm, "tip.y")


@pytest.mark.parametrize("length", [0.0, 0.1, 0.5])
def test_preview_is_the_integral_over_what_is_known(length: float) -> None:
    a = 4.0  # (a - s) / ((s + 1) (s + 2)): u(t) is the integral over tau > t of exp(-a (tau - t)) (y'' + 3 y' + 2 y)
    system = ([[0.0, 1.0], [-2.0, -3.0]], [[0.0], [1.0]], [[a, -1.0]], [[0.0]])
    path = Line(0.0, 1.0, Profile(1.0))

    def drive(tau: float) -> float:
        y = path.derivatives(tau, 2)[:, 0, 0]
        return float(y[2] + 3 * y[1] + 2 * y[0])

    found = preview(system, path, length).inversions[0]
    for t in (-0.3, 0.2, 0.55, 0.9):
        corners = [x for x in (0.0, 1.0) if t < x < t + length] or None
        seen = quad(
            lambda x, t=t: np.exp(-a * (x - t)) * drive(x), t, t + length, points=corners, epsabs=1e-12
        )[0]
        y, rate = path.derivatives(t + length, 1)[:, 0, 0]
        held = np.exp(-a * length) * (2 * y / a - rate)  # as if it stopped there: y'' has an impulse
        u = np.interp(t, found.t, found.inputs[:, 0])
        assert u == pytest.approx(seen + held, abs=1e-7)


def test_preview_errors_fall_with_the_slowest_zero(plant: LinearModel) -> None:
    lengths = np.array([0.05, 0.1, 0.2, 0.3, 0.4])
    found = preview(plant, PATH, lengths, inputs="tau.hinge")
    zeros = found.whole.figures["zeros"]
    slowest = zeros.real[zeros.real > 0].min()
    rounding = 4 * np.finfo(float).eps * np.abs(found.whole.inputs).max()  # errors are differences of inputs
    assert (found.input_errors <= found.input_bounds * (1 + 1e-12) + rounding).all()
    rates = -np.diff(np.log(found.input_errors[2:])) / np.diff(lengths[2:])
    assert rates == pytest.approx(slowest, rel=1e-3)  # the next zero is five times as fast
    assert (np.diff(found.errors) < 0).all()
    first = found.inversions[1]
    assert np.abs(first.inputs[first.t < -0.1 - 1e-9]).max() < 1e-15  # nothing of the motion is in sight
    assert str(found).count("\n") == 5
    assert len(found.plot().axes[0].lines) == 3


def test_preview_of_a_sampled_plant_ends_in_its_whole_inverse(plant: LinearModel) -> None:
    found = preview(plant, PATH, [0.1, 0.2, 0.9], inputs="tau.hinge", period=0.002)
    assert found.errors[-1] < 1e-7
    assert (np.diff(found.input_errors) < 0).all()


def test_rigid_torque_is_that_of_inverse_dynamics_with_modes_held() -> None:
    link = art.load("bayo_link", modes=4)
    path = Line(0.0, 0.7 * 0.66, Profile(0.5, law="sine"))
    found = rigid(tip_model(link, "tip.y"), path, inputs="tau.hinge")
    turning = path.derivatives(found.t, 2)[2, :, 0] / 0.66
    torque = link.inverse_dynamics(link.neutral, np.zeros(link.nv), turning[:, None] * np.eye(link.nv)[0])[
        :, 0
    ]
    assert np.allclose(found.inputs[:, 0], torque, atol=1e-9)
    assert np.allclose(found.state("q.hinge"), found.outputs[:, 0] / 0.66, atol=1e-12)


def test_tip_model_shows_what_the_tip_does() -> None:
    arm = art.load("two_link")
    q, frame = np.array([0.4, -0.7]), art.load("two_link").frame_names[-1]
    model = tip_model(arm, [f"{frame}.x", f"{frame}.y", f"{frame}.z", f"{frame}.ry"], q)
    step = 1e-5 * np.array([1.0, 2.0])
    moved = (arm.pose(frame, q + step)[:3, 3] - arm.pose(frame, q - step)[:3, 3]) / 2
    assert np.allclose(model.C[:3, :2] @ step, moved, atol=1e-14)
    with pytest.raises(InputError, match=r"as in 'tip\.y'"):
        tip_model(arm, "tip.w", q)


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its (length|first frequency)"
)  # the path of the source bends its link by a quarter of its length
def test_feedback_around_the_inverse_against_a_wrong_payload(arm: art.Mechanism, plant: LinearModel) -> None:
    masses = 0.03 * np.array([0.8, 1.0, 1.2])
    missed = {}
    for found in (invert(plant, PATH, inputs="tau.hinge"), rigid(plant, PATH, inputs="tau.hinge")):
        run = art.rollout(
            arm,
            2.4,
            q0=np.tile(arm.neutral, (3, 1)),
            components=feedforward(found, kp=0.5, kd=0.05),
            step=4e-4,
            sample=4e-3,
            params={"payload": masses},
        )
        wanted = PATH.position(run.t + found.t[0])[:, 0]
        missed[found.method] = np.abs(run.q @ plant.C[0, : arm.nv] - wanted).max(-1)
    exact, stiff = missed["invert (time)"], missed["rigid"]
    assert exact[1] < 1e-5  # the payload that it was made for
    assert (stiff > 0.08).all()
    assert (exact < 0.4 * stiff).all()


@pytest.mark.filterwarnings(
    "ignore:(?s).*over its (length|first frequency)"
)  # the path of the source bends its link by a quarter of its length
def test_held_torques_of_a_sampled_inverse_move_the_mechanism(arm: art.Mechanism, plant: LinearModel) -> None:
    found = invert(plant, PATH, inputs="tau.hinge", period=0.004)
    run = art.simulate(arm, 1.6, components=found.components(), step=4e-4, sample=4e-3, outputs=[])
    wanted = PATH.position(run.t + found.t[0])[:, 0]
    assert (
        np.abs(run.q @ plant.C[0, : arm.nv] - wanted).max() < 1e-6
    )  # at the instants; a spline would be half a period late
    assert found.plot().axes[1].lines[0].get_drawstyle() == "steps-post"


def test_inverse_about_a_position_held_against_gravity() -> None:
    arm = art.load("two_link")
    q, frame = np.array([0.4, -0.7]), arm.frame_names[-1]
    names = [
        f"{frame}.{axis}"
        for axis in "xyz"
        if np.abs(arm.jacobian(frame, q)[3 + "xyz".index(axis)]).max() > 1e-3
    ]
    path = Line((0.0, 0.0), (1e-4, -1e-4), Profile(0.5))
    found = add_operating_point(arm, invert(tip_model(arm, names, q), path), q)
    assert np.abs(found.inputs[0]).max() > 0.1  # gravity
    run = art.simulate(arm, 0.5, q0=q, components=found.components(), step=1e-3, outputs=[])
    place = arm.pose(frame, run.q)[:, ["xyz".index(name[-1]) for name in names], 3]
    assert (
        np.abs(place - found.outputs[:: len(found.t) // 500][: len(place)]).max() < 2e-7
    )  # the way squared over a length
    assert np.allclose(found.states[0, :2], q)


def test_targets_are_the_predicted_joint_motion(plant: LinearModel) -> None:
    found = invert(plant, PATH, inputs="tau.hinge")
    (target,) = predict_positions(found, shift=0.0)
    assert target.times == pytest.approx(found.t)
    assert target.values == pytest.approx(found.state("q.hinge"))
    names = [type(part).__name__ for part in feedforward(found, 1.0, 0.1)]
    assert names == ["PrescribedForce", "PD", "Torque"]
    assert [type(x).__name__ for x in feedforward(found, 1.0, 0.1, ideal=False)] == names[:2]


def test_refused_lengths(plant: LinearModel) -> None:
    with pytest.raises(InputError, match="not negative"):
        preview(plant, PATH, [-0.1], inputs="tau.hinge")
