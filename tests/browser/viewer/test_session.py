"""What the viewer answers: positions, frames drawn to places, natural modes; and what it refuses."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import articulus as art
import closed_zoo
import flexible_zoo
import zoo
from articulus.browser.packing import unpack
from articulus.browser.viewer import ViewerSession
from articulus.browser.viewer.shapes import natural_modes
from articulus.browser.web import MessageError
from articulus.errors import InputError


def poses(answer: dict, bodies: int) -> np.ndarray:
    return np.array(answer["poses"]).reshape(bodies, 7)


def test_a_dof_moves_what_hangs_on_it() -> None:
    arm = art.load("puma600")
    session = ViewerSession(arm)
    q = [0.1, -0.4, 0.9, 0.2, 0.3, -0.1]
    answer = session.answer({"do": "move", "q": q, "freedom": 2, "by": 0.25})
    expected = np.array(q) + 0.25 * np.eye(6)[2]
    np.testing.assert_allclose(answer["q"], expected, atol=1e-15)
    for k, body in enumerate(arm.body_names):
        np.testing.assert_allclose(
            poses(answer, 6)[k, :3], arm.pose(body, expected)[:3, 3], atol=1e-12
        )  # round-off of sums of metres
    assert json.loads(json.dumps(answer)) == answer


def test_a_turn_of_a_quaternion_joint() -> None:
    craft = zoo.random_mechanism(2, 2, (art.Revolute,), floating=True)
    session = ViewerSession(craft)
    dofs = session.posing.dofs()
    assert [f["place"] for f in dofs[:3]] == [-1, -1, -1]
    q = zoo.random_state(craft, 1).q
    answer = session.answer({"do": "move", "q": q.tolist(), "freedom": 1, "by": 0.3})
    np.testing.assert_allclose(
        answer["q"], craft.integrate_position(q, 0.3 * np.eye(craft.nv)[1]), atol=1e-12
    )


def test_moving_a_joint_keeps_loops_closed() -> None:
    m = art.load("n_four_bar", n=2)
    session = ViewerSession(m)
    start = art.assemble(m).q
    hinge = m.v_names.index("hinge0")
    answer = session.answer({"do": "move", "q": start.tolist(), "freedom": hinge, "by": 0.2})
    q = np.array(answer["q"])
    assert q[hinge] == pytest.approx(start[hinge] + 0.2, abs=1e-12)
    assert np.abs(m.constraint_residual(q)).max() < 1e-9
    assert answer["note"] == ""


def test_a_loop_that_cannot_close_says_so_and_stays() -> None:
    bars = art.Mechanism("bars", gravity=(0, 0, 0))
    for name, parent, at in (("a", "ground", 0.0), ("b", "a", 1.0)):
        bars.body(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3)
        bars.joint(name + "j", art.Revolute((0, 0, 1)), parent, name, at=art.Pose((at, 0, 0)))
    bars.frame("tip", "b", at=art.Pose((1.0, 0, 0))).frame("post", "ground", at=art.Pose((1.9, 0, 0)))
    bars.constrain(art.PointOnPoint("pin", "tip", "post"))
    start = art.assemble(bars, [0.3, -0.6]).q
    answer = ViewerSession(bars).answer({"do": "move", "q": start.tolist(), "freedom": 0, "by": 1.5})
    assert "cannot be closed" in answer["note"]
    np.testing.assert_array_equal(answer["q"], start)


def test_a_frame_is_drawn_to_a_place() -> None:
    arm = art.load("puma600")
    session = ViewerSession(arm)
    q = np.array([0.1, -0.4, 0.9, 0.2, 0.3, -0.1])
    goal = arm.pose("tool", q + 0.1)
    message = {"do": "reach", "q": q.tolist(), "frame": "tool", "position": goal[:3, 3].tolist()}
    answer = session.answer({**message, "quaternion": None})
    np.testing.assert_allclose(arm.pose("tool", answer["q"])[:3, 3], goal[:3, 3], atol=1e-5)
    far = session.answer({**message, "position": [9.0, 0.0, 0.0], "quaternion": None})
    assert far["note"].startswith("out of reach by")


# natural modes


def pendulum() -> art.Mechanism:
    m = art.Mechanism("pendulum")
    m.body("rod", mass=2.0, com=(0, 0, -0.4), inertia=(0.05, 0.06, 0.02))
    return m.joint("hinge", art.Revolute((0, 1, 0)), "ground", "rod")


def test_modes_of_a_pendulum() -> None:
    """Hanging: omega^2 = m g l / (J + m l^2); upright: the same with the other sign."""
    omega2 = 2.0 * 9.81 * 0.4 / (0.06 + 2.0 * 0.4**2)
    for q, sign, kind in ((0.0, 1, "vibration"), (np.pi, -1, "unstable")):
        found = natural_modes(pendulum(), np.array([q]))
        assert found.omega_squared[0] == pytest.approx(sign * omega2, rel=1e-9)  # fourth-order differences
        assert found.plain()[0]["kind"] == kind
    assert ViewerSession(pendulum()).answer({"do": "modes", "q": [0.0], "locked": False})["modes"] == [
        {"kind": "vibration", "value": pytest.approx(np.sqrt(omega2) / (2 * np.pi), rel=1e-9)}
    ]


@pytest.mark.parametrize("seed", range(3))
def test_modes_are_those_of_the_linear_model(seed: int) -> None:
    """Undamped springs in every joint: the poles of `linearize` are +-i omega.

    Squares of poles lose digits where they are nearly equal in pairs; 1e-6 is far above that and above the differences.
    """
    m = zoo.random_mechanism(
        seed, 4, (art.Revolute, art.Prismatic, art.Universal), springs=True, gravity=(0, 0, 0)
    )
    q = m.neutral
    poles = np.linalg.eigvals(m.linearize(q).A)
    expected = np.sort((-(poles**2)).real)[::2]
    found = natural_modes(m, q)
    np.testing.assert_allclose(found.omega_squared, expected, rtol=1e-6, atol=1e-6 * expected.max())


def test_modes_of_a_closed_mechanism_have_its_dofs() -> None:
    """And the poles of the minimal linear model, as far as eigenvalues of an unsymmetric matrix tell: 1e-5."""
    made = closed_zoo.closed(1, (art.Spherical,), bodies=5, joints=(art.Revolute, art.Universal))
    m = made.mechanism
    found = natural_modes(m, made.q)
    assert found.shapes.shape[1] == art.assemble(m, made.q).dofs
    assert np.abs(m.constraint_jacobian(made.q) @ found.shapes).max() < 1e-9 * np.abs(found.shapes).max()
    poles = np.linalg.eigvals(m.linearize(made.q).A)
    np.testing.assert_allclose(
        np.sort((-(poles**2)).real)[::2],
        found.omega_squared,
        rtol=1e-5,
        atol=1e-6 * np.abs(found.omega_squared).max(),
    )


def test_locked_joints_leave_the_flexible_body() -> None:
    m = flexible_zoo.soften(zoo.random_mechanism(3, 3, (art.Revolute,), branching=0.0), 3)
    d = m.description
    modal = np.concatenate([np.arange(m.nv)[d.mode_slices(b.name)[0]] for b in d.bodies])
    found = natural_modes(m, m.neutral, locked=True)
    assert found.shapes.shape[1] == modal.size
    others = np.setdiff1d(np.arange(m.nv), modal)
    np.testing.assert_array_equal(found.shapes[others], 0)


def test_a_mode_is_played_with_the_amplitude_asked_for() -> None:
    session = ViewerSession(pendulum())
    answer = session.answer({"do": "mode", "q": [0.0], "locked": False, "number": 0, "amplitude": 0.1})
    run = answer["run"]
    t, moved = unpack(run["t"])[:, 0], unpack(run["poses"])
    assert t[0] == 0
    np.testing.assert_allclose(moved[0], moved[-1], atol=1e-6)  # a whole cycle, single precision
    angle = 2 * np.arcsin(np.abs(moved[:, 5]).max())  # the y part of the quaternion
    assert angle * 0.8 == pytest.approx(
        0.1 * run["scene"]["size"], rel=0.02
    )  # chord and arc of the rod's end


# runs with values of their own


def arm_of(length: float) -> art.Mechanism:
    """Return two links, the second a parameter's length away from the first one's hinge."""
    m = art.Mechanism("arm", gravity=(0, 0, 0))
    for name, parent, x in (("a", "ground", 0.0), ("b", "a", art.Parameter("length", length))):
        m.body(name, 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        m.joint(f"to {name}", art.Revolute((0, 0, 1)), parent, name, at=art.Pose((x, 0, 0)))
    return m


def test_a_run_is_shown_with_the_parameters_that_it_was_made_with() -> None:
    run = art.simulate(arm_of(1.0), 0.02, params={"length": 3.0}, step=1e-2)
    session = ViewerSession(run)
    drawn = unpack(session._shown[0]["poses"])[:, 7]
    np.testing.assert_array_equal(drawn, 3.0)
    posed = session.answer({"do": "move", "q": [0.0, 0.0], "freedom": 1, "by": 0.3})
    assert poses(posed, 2)[1, 0] == pytest.approx(3.0)


@pytest.mark.parametrize("given", [None, {"length": np.array([1.0, 2.0])}])
def test_each_run_of_a_batch_is_shown_with_its_own_parameters(given: dict | None) -> None:
    batch = art.rollout(arm_of(5.0), 0.02, params={"length": np.array([1.0, 2.0])}, step=1e-2)
    session = ViewerSession(batch, params=given)
    assert [unpack(run["poses"])[0, 7] for run in session._shown] == [1.0, 2.0]
    posed = session.answer({"do": "move", "q": [0.0, 0.0], "freedom": 1, "by": 0.3})
    assert poses(posed, 2)[1, 0] == pytest.approx(1.0)


def test_options_that_would_have_no_effect_are_refused() -> None:
    run = art.simulate(pendulum(), 0.01)
    with pytest.raises(InputError, match="position q for a run"):
        ViewerSession(run, q=[0.1])
    with pytest.raises(InputError, match="ranges of 'kp'"):
        ViewerSession(run, ranges={"kp": (1.0, 2.0)})
    with pytest.raises(InputError, match=r"'q' has shape \(2,\); expected \(1,\)"):
        ViewerSession(pendulum(), q=[0.1, 0.2])


# messages without sense

GOOD = {"do": "move", "q": [0.0], "freedom": 0, "by": 0.1}


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "fly"},
        GOOD | {"q": [0.0, 1.0]},
        GOOD | {"q": [True]},
        GOOD | {"q": [float("nan")]},
        GOOD | {"q": [10**400]},
        GOOD | {"q": 3},
        GOOD | {"freedom": 1},
        GOOD | {"freedom": -1},
        GOOD | {"by": "far"},
        {"do": "mode", "q": [0.0], "locked": False, "number": 7, "amplitude": 0.1},
        {"do": "mode", "q": [0.0], "locked": False, "number": 0, "amplitude": 90},
        {"do": "design", "values": {}},
    ],
)
def test_messages_without_sense(message: dict) -> None:
    with pytest.raises(MessageError):
        ViewerSession(pendulum()).answer(message)


def test_an_unknown_frame_is_answered_with_its_reason() -> None:
    asked = {"do": "reach", "q": [0.0], "frame": "rodd", "position": [0, 0, 0], "quaternion": None}
    assert "did you mean 'rod'" in ViewerSession(pendulum()).answer(asked)["error"]


SESSION = ViewerSession(pendulum())
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(
    st.sampled_from(["move", "reach", "modes", "mode", "design"]),
    st.dictionaries(
        st.sampled_from(
            [
                "q",
                "freedom",
                "by",
                "frame",
                "position",
                "quaternion",
                "locked",
                "number",
                "amplitude",
                "values",
            ]
        ),
        VALUES,
    ),
)
def test_nothing_but_message_errors_comes_out(do: str, fields: dict) -> None:
    with contextlib.suppress(MessageError):
        json.dumps(SESSION.answer({"do": do, **fields}), allow_nan=False)
