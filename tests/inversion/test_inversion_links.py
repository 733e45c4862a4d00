"""Recursive inverse dynamics of flexible arms: proved by an independent integrator; piezos; gravity; answers to bad input."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import articulus as art
from articulus.errors import DoubtfulResult, InputError, NumericalError
from articulus.motion.inversion import Inversion, Line, Profile, feedforward, link_by_link, prove
from articulus.motion.inversion.links import minimal_vibration
from articulus.simulation.loop.components import PiezoPair
from articulus.structure import beam_body

HINGE = art.Revolute((0, 0, 1))


def flexible_arm(
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0), payload: float = 0.0, damping: float = 0.0
) -> art.Mechanism:
    """Two links of 0.66 m in the x-y plane (Ledesma & Bayo 1993, open chain), the inner one with a motor at its end."""
    arm = art.Mechanism("two_links", gravity=gravity)
    for i, (area, second) in enumerate(((1.2e-4, 2.3e-10), (4.0e-5, 8.5e-12))):
        held = beam_body(0.66, EI=14e9 * second, mass_per_length=2715 * area, modes=2, damping=damping)
        arm.flexible(f"link{i + 1}", held)
    arm.joint("shoulder", HINGE, "ground", "link1", armature=0.01)
    arm.body("motor", mass=0.05, inertia=(1e-5, 1e-5, 1e-5))
    arm.joint("mount", art.Fixed(), "link1", "motor", node="tip")
    arm.joint("elbow", HINGE, "motor", "link2")
    arm.frame("tip", "link2", node="tip")
    if payload:
        arm.body("load", mass=payload, inertia=(1e-5, 1e-5, 1e-5))
        arm.joint("grip", art.Fixed(), "link2", "load", node="tip")
    return arm


def bent(arm: art.Mechanism) -> dict[str, float]:
    return {"shoulder": np.radians(60), "elbow": np.radians(-110)}


def line(arm: art.Mechanism, duration: float = 1.0) -> Line:
    start = arm.pose("tip", arm.positions(bent(arm)))[:2, 3]
    return Line(start, start + np.array([0.483, 0.0]), Profile(duration, law="sine"))


def replay(arm: art.Mechanism, found: Inversion, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and tip positions under given joint forces, by an integrator of SciPy."""
    n = arm.nv
    force = CubicSpline(found.t, inputs)
    places = [arm.v_names.index(name.removeprefix("tau.")) for name in found.input_names]

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        tau = np.zeros(n)
        tau[places] = force(t)
        return np.r_[x[n:], arm.forward_dynamics(x[:n], x[n:], tau)]

    begin, end = found.t0 - 0.2, found.t_end + 0.2
    first = np.array([np.interp(begin, found.t, column) for column in found.states.T])
    t = np.linspace(begin, end, 141)
    run = solve_ivp(rate, (begin, end), first, method="RK45", t_eval=t, rtol=1e-7, atol=1e-9)
    return t, arm.pose("tip", run.y[:n].T)[:, :2, 3]


def test_forward_integration_follows_the_path_where_rigid_torques_do_not() -> None:
    arm = flexible_arm()
    path = line(arm)
    found = link_by_link(arm, "tip", path, guess=bent(arm))
    assert found.ok
    assert found.figures["tip_error"] < 1e-12
    assert found.pre > 0.05  # smallest zero near 27 1/s: the torques begin before the tip
    t, tip = replay(arm, found, found.inputs)
    assert np.abs(tip - path.position(t)).max() < 1e-6  # tolerance of the integrator
    t, tip = replay(arm, found, rigid_torques(arm, found))
    assert np.abs(tip - path.position(t)).max() > 1e-3


def rigid_torques(arm: art.Mechanism, found: Inversion) -> np.ndarray:
    """Return the torques of the undeformed arm, two links of equal length, with its tip on the path."""
    joints = [arm.v_names.index(name.removeprefix("tau.")) for name in found.input_names]
    x, y = found.outputs.T
    elbow = -np.arccos((x**2 + y**2) / (2 * 0.66**2) - 1)
    q = np.zeros((len(found.t), arm.nv))
    q[:, joints] = np.column_stack([np.arctan2(y, x) - elbow / 2, elbow])
    spline = CubicSpline(found.t, q)
    return arm.inverse_dynamics(q, spline(found.t, 1), spline(found.t, 2))[:, joints]


@pytest.mark.parametrize("axis", [1, 2], ids=["in the plane", "sideways"])
def test_gravity_and_a_payload_held_at_both_ends(axis: int) -> None:
    gravity = [0.0, 0.0, 0.0]
    gravity[axis] = -2.0
    arm = flexible_arm(tuple(gravity), payload=0.02, damping=0.01)
    path = line(arm, 1.5)
    found = link_by_link(arm, "tip", path, guess=bent(arm))
    assert found.ok
    ends = [found.states[k, : arm.nq] for k in (0, -1)]
    held = [arm.gravity(q) for q in ends]  # statics: elastic forces carry the weight
    modal = [i for i, name in enumerate(arm.v_names) if name.startswith("link")]
    for q, weight in zip(ends, held):
        left = arm.inverse_dynamics(q, 0 * q, 0 * q)[modal]
        assert np.abs(left).max() < 1e-5 * max(
            np.abs(weight).max(), 1e-3
        )  # what pre- and post-actuation leave there
    t, tip = replay(arm, found, found.inputs)
    assert np.abs(tip - path.position(t)).max() < 1e-5


def one_link(tip_mass: float = 1.0) -> tuple[art.Mechanism, list[PiezoPair]]:
    arm = art.Mechanism("link", gravity=(0, 0, 0))
    held = beam_body(1.2, EI=33.0, mass_per_length=1.73, modes=4, elements=10, tip_mass=tip_mass, damping=0.0)
    arm.flexible("link", held.at_level("ruthless"))
    arm.joint("hub", HINGE, "ground", "link", armature=0.02)
    for k in (1, 2, 8, 9):
        arm.frame(f"n{k}", "link", node=f"node{k}")
    arm.frame("tip", "link", node="tip")
    return arm, [PiezoPair(f"n{k}", f"n{k + 1}", gain=0.0198, name=f"p{k}") for k in (1, 8)]


def test_one_link_turning_slowly_is_the_linear_structure_with_the_least_vibration() -> None:
    """Both minimize over the same stations; what is left is the centrifugal part, of second order in the small turn."""
    arm, piezos = one_link()
    turn = 1e-4
    found = link_by_link(
        arm, "tip", Line([0.0], [turn], Profile(2.0, law="sine")), path_of="joints", piezos=piezos,
        step=2 / 256, pre=4.0, post=4.0,
    )  # fmt: skip
    held = arm.description.bodies[0].modes
    M = arm.mass_matrix(arm.neutral)
    K = np.zeros_like(M)
    K[1:, 1:] = held.stiffness
    stations = [held.station(f"node{k}") for k in range(11)]
    Z = np.array(
        [row for s in stations for row in (np.r_[s.position[0], s.translation[1]], np.r_[1.0, s.rotation[2]])]
    )
    B = np.stack([0.0198 * (Z[2 * k + 3] - Z[2 * k + 1]) for k in (1, 8)], axis=1)
    force = -np.outer(Line([0.0], [turn], Profile(2.0, law="sine")).derivatives(found.t, 2)[2], M[0])
    linear = minimal_vibration(
        M, None, K, np.eye(5)[0], B, Z[20], force, found.t, t0=0.0, t_end=2.0, weights=Z
    )
    for a, b in zip(found.inputs.T, linear.inputs.T):
        assert np.allclose(a, b, atol=1e-6 * np.abs(b).max())
    assert found.figures["J"] == pytest.approx(linear.figures["J"], rel=1e-6)
    assert linear.figures["J"] < 0.5 * linear.figures["J_without"]


def test_voltages_played_in_a_simulation_keep_the_tip_and_the_prediction() -> None:
    arm, piezos = one_link()
    path = Line([0.0], [0.4], Profile(2.0, law="sine"))
    found = link_by_link(arm, "tip", path, path_of="joints", piezos=piezos, step=2 / 512)
    assert found.input_names == ("tau.hub", "u.p1", "u.p8")
    with pytest.raises(InputError, match=r"'u\.p1'.*Play other inversions with simulate"):
        prove(arm, found)
    run = art.simulate(
        arm, found.t[-1] - found.t[0], q0=found.states[0, :5], v0=found.states[0, 5:], step=2 / 2048,
        components=[*found.components(), *piezos],
    )  # fmt: skip
    predicted = CubicSpline(found.t, found.states[:, :5])(run.t + found.t[0])
    assert np.allclose(run.q, predicted, atol=1e-6 * np.abs(predicted).max())
    place = arm.pose("tip", run.q)[:, :2, 3]
    wanted = path.position(run.t + found.t[0])[:, 0]
    assert np.abs(np.arctan2(place[:, 1], place[:, 0]) - wanted).max() < 1e-6


def test_voltages_and_joint_feedback_together_hold_against_another_payload() -> None:
    """Feedback around torques and voltages: silent on the arm of the inversion, and it keeps another one near."""
    arm, piezos = one_link()
    path = Line([0.0], [0.4], Profile(2.0, law="sine"))
    found = link_by_link(arm, "tip", path, path_of="joints", piezos=piezos, step=2 / 512)
    parts = [*feedforward(found, kp=50.0, kd=20.0), *piezos]
    span = {"t_end": found.t[-1] - found.t[0], "step": 2 / 2048}
    run = art.simulate(arm, q0=found.states[0, :5], v0=found.states[0, 5:], components=parts, **span)
    assert np.abs(run["hub_torque.force"]).max() < 1e-4 * np.abs(found.input("tau.hub")).max()
    heavy, _ = one_link(tip_mass=1.3)
    with_feedback = art.simulate(
        heavy, q0=found.states[0, :5], v0=found.states[0, 5:], components=parts, **span
    )
    alone = art.simulate(
        heavy,
        q0=found.states[0, :5],
        v0=found.states[0, 5:],
        components=[*found.components(), *piezos],
        **span,
    )
    off = [np.abs(r.q[-1, 0] - 0.4) for r in (with_feedback, alone)]
    assert off[0] < 0.05 * off[1]


def test_three_motors_at_one_hub_hold_both_deflections_and_the_twist() -> None:
    arm = art.Mechanism("spatial", gravity=(0, 0, 0))
    held = beam_body(
        1.0, EI=58.3, mass_per_length=0.27, GJ=38.0, rotary_inertia=1e-3, modes=1, planes="both", torsion=1,
        elements=6, tip_mass=0.5, damping=0.0,
    )  # fmt: skip
    for child, parent, joint, axis in (
        ("a", "ground", "yaw", (0, 0, 1)),
        ("b", "a", "pitch", (0, 1, 0)),
        ("link", "b", "roll", (1, 0, 0)),
    ):
        if child == "link":
            arm.flexible(child, held)
        else:
            arm.body(child, massless="housing of a motor")
        arm.joint(joint, art.Revolute(axis), parent, child, armature=0.01)
    arm.frame("tip", "link", node="tip")
    path = Line([0.0, 0.0, 0.0], [0.8, -0.5, 0.3], Profile(1.0, law="sine"))
    found = link_by_link(arm, "tip", path, path_of="joints")
    assert found.ok
    angles = np.zeros((len(found.t), arm.nq))
    angles[:, :3] = found.outputs
    nominal, real = arm.pose("tip", angles), arm.pose("tip", found.states[:, : arm.nq])
    in_link = np.einsum("tji,tj->ti", nominal[:, :3, :3], real[:, :3, 3])
    assert np.abs(in_link[:, 1:]).max() < 1e-12  # across the line, [m]
    turned = np.swapaxes(nominal[:, :3, :3], 1, 2) @ real[:, :3, :3]
    sideways = max(np.abs(turned[:, 1, 0]).max(), np.abs(turned[:, 2, 0]).max())
    assert sideways > 1e-3  # it is bent
    row = min(np.abs(turned[:, 1, 2]).max(), np.abs(turned[:, 2, 1]).max())
    assert row < 1e-12  # not twisted
    run = art.simulate(
        arm, found.t[-1] - found.t[0], q0=found.states[0, : arm.nq], v0=found.states[0, arm.nq :], step=1e-4,
        components=found.components(),
    )  # fmt: skip
    predicted = CubicSpline(found.t, found.states[:, : arm.nq])(run.t + found.t[0])
    assert np.abs(arm.pose("tip", run.q)[:, :3, 3] - arm.pose("tip", predicted)[:, :3, 3]).max() < 1e-5


# answers to bad input


def test_a_saturated_piezo_is_doubted() -> None:
    arm, _ = one_link()
    weak = PiezoPair("n1", "n2", gain=0.0198, voltage_limit=1.0, name="weak")
    path = Line([0.0], [0.4], Profile(2.0, law="sine"))
    with pytest.warns(DoubtfulResult, match=r"'weak' would need .* V, its limit is 1 V"):
        found = link_by_link(arm, "tip", path, path_of="joints", piezos=[weak], step=2 / 256)
    assert not found.ok


def test_as_many_piezos_as_modes_undo_all_deformation_and_are_doubted() -> None:
    arm = art.Mechanism("coarse", gravity=(0, 0, 0))
    arm.flexible("link", beam_body(1.2, EI=33.0, mass_per_length=1.73, modes=1, damping=0.0))
    arm.joint("hub", HINGE, "ground", "link")
    arm.frame("root", "link", node="root").frame("tip", "link", node="tip")
    patch = PiezoPair("root", "tip", gain=0.02, name="patch")
    path = Line([0.0], [0.2], Profile(2.0))
    with pytest.warns(DoubtfulResult, match="1 modes and 1 piezos"):
        found = link_by_link(arm, "tip", path, path_of="joints", piezos=[patch], step=0.01)
    assert found.ok
    assert found.figures["J"] < 1e-20


def test_paths_that_do_not_fit() -> None:
    arm = flexible_arm()
    profile = Profile(1.0)
    with pytest.raises(InputError, match=r"1 coordinates of the tip; expected 2"):
        link_by_link(arm, "tip", Line([0.5], [0.6], profile))
    with pytest.raises(InputError, match="within reach"):
        link_by_link(arm, "tip", Line([0.7, 0.1], [3.0, 0.0], profile), guess=bent(arm))
    with pytest.raises(InputError, match=r"derivative 1 .* jumps"):
        link_by_link(arm, "tip", Line([0.7, 0.1], [0.8, 0.1], Profile(1.0, order=0)), guess=bent(arm))
    with pytest.warns(DoubtfulResult, match=r"derivative 2 .* jumps"):
        link_by_link(arm, "tip", Line([0.7, 0.1], [0.8, 0.1], Profile(1.0, order=1)), guess=bent(arm))
    with pytest.raises(InputError, match=r"at t = .* no joint moves"):
        link_by_link(arm, "tip", Line([0.0, 0.0], [0.5, 0.0], profile), path_of="tip", guess={"elbow": np.pi})
    with pytest.raises(InputError, match="no body or frame 'tipp'"):
        link_by_link(arm, "tipp", line(arm))


def test_a_motion_that_is_too_fast_says_what_diverged() -> None:
    arm = flexible_arm()
    with pytest.raises(NumericalError, match=r"no convergence after .* sweeps.*more time"):
        link_by_link(arm, "tip", line(arm, 0.05), guess=bent(arm), step=1e-3)


def test_a_link_that_can_vibrate_with_its_end_at_rest_is_refused() -> None:
    arm = art.Mechanism("sideways", gravity=(0, 0, 0))
    arm.flexible("link", beam_body(1.0, EI=50.0, mass_per_length=0.3, modes=1, planes="both", damping=0.0))
    arm.joint("hub", HINGE, "ground", "link")
    arm.frame("tip", "link", node="tip")
    with pytest.raises(NumericalError, match=r"zero s = .*imaginary axis.*motor"):
        link_by_link(arm, "tip", Line([0.0], [0.5], Profile(1.0)), path_of="joints")


def test_what_is_no_open_chain() -> None:
    path = Line([0.0, 0.0], [0.1, 0.1], Profile(1.0))
    arm = flexible_arm()
    arm.body("side", mass=1.0, inertia=(1, 1, 1))
    arm.joint("branch", HINGE, "link1", "side", node="middle")
    with pytest.raises(InputError, match="'branch' is not on the way"):
        link_by_link(arm, "tip", path)
    ball = (
        art.Mechanism("ball")
        .body("b", mass=1.0, inertia=(1, 1, 1))
        .joint("s", art.Spherical(), "ground", "b")
    )
    with pytest.raises(InputError, match=r"'s' is a .* joint with 3 degrees"):
        link_by_link(ball, "b", path)
    with pytest.raises(InputError, match="constraints"):
        link_by_link(art.load("n_four_bar"), "ground", path)
