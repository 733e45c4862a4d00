"""Inverse dynamics of whole flexible mechanisms: proved by forward simulation with another integrator, and refusals."""

import numpy as np
import pytest

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.inversion import Line, Profile, accessibility, prove, tip_torques
from articulus.motion.inversion.arms import forward
from articulus.structure import beam_body

JOINTS = ("shoulder", "elbow")
POSE = {"shoulder": -0.6, "elbow": 2.2}
PATH = Line((0.5, 0.3), (0.983, 0.3), Profile(0.8, law="sine"))


def arm() -> art.Mechanism:
    """Return two flexible links in a plane, hinges about z; parameter g [m/s^2]."""
    m = art.Mechanism("two links", gravity=(0, art.Parameter("g", 0.0), 0))
    for name, EI, mass in (("upper", 3.22, 0.3258), ("lower", 0.119, 0.1086)):
        m.flexible(name, beam_body(0.66, EI=EI, mass_per_length=mass, modes=2, elements=8, damping=None))
    m.joint("shoulder", art.Revolute(axis=(0, 0, 1)), "ground", "upper")
    m.joint("elbow", art.Revolute(axis=(0, 0, 1)), "upper", "lower", node="tip")
    return m.frame("tip", "lower", node="tip")


@pytest.fixture(scope="module")
def plain() -> art.Mechanism:
    return arm()


@pytest.fixture(scope="module")
def solved(plain: art.Mechanism) -> art.inversion.Inversion:
    return tip_torques(plain, "tip", PATH, JOINTS, guess=POSE, step=2e-3)


def test_forward_simulation_follows_the_path(plain, solved) -> None:
    assert solved.ok
    proved = prove(plain, solved, tolerance=1e-9)  # 2e-3 steps of fourth order: errors of 1e-10 m
    assert proved.ok, proved
    assert proved.figures["tip_error"] > 0


def test_rigid_forces_leave_vibration_that_the_inverse_does_not(plain, solved) -> None:
    rigid = forward(plain, solved, inputs=solved.figures["rigid_inputs"])
    inverse = forward(plain, solved)
    after = solved.t >= solved.t_end
    off = [np.abs(ran.outputs - solved.outputs) for ran in (rigid, inverse)]
    assert off[0].max() > 5e-3  # m
    assert np.ptp(off[0][after], axis=0).max() > 1e6 * off[1][after].max()


def test_forces_begin_before_the_motion_and_end_after_it(solved) -> None:
    slowest = np.abs(solved.figures["zeros"]).min()
    assert 1 / slowest < solved.pre < 10 / slowest
    assert 1 / slowest < solved.post < 10 / slowest
    assert np.abs(solved.inputs[[0, -1]]).max() < 1e-5 * np.abs(solved.inputs).max()


def test_zeros_are_those_of_the_linear_model(plain, solved) -> None:
    q = solved.states[0, : plain.nq]
    model = plain.linearize(q)
    n = plain.nv
    J = np.zeros((2, 2 * n))
    J[:, :n] = plain.jacobian("tip", q)[3:5]
    B = model.B[:, [model.inputs.index(f"tau.{joint}") for joint in JOINTS]]
    pencil = np.block([[model.A, B], [J, np.zeros((2, 2))]])
    for z in solved.figures["zeros"]:
        shifted = pencil - z * np.diag([1.0] * 2 * n + [0.0] * 2)
        scale = np.linalg.norm(shifted, axis=1)
        s = np.linalg.svd(shifted / scale[:, None], compute_uv=False)
        assert s[-1] < 1e-8 * s[-2]


def test_fixed_point_reaches_the_same_forces(plain, solved) -> None:
    other = tip_torques(plain, "tip", PATH, JOINTS, guess=POSE, step=2e-3, method="fixed_point")
    scale = np.abs(solved.inputs).max()
    assert (
        np.abs(other.inputs - solved.inputs).max() < 1e-6 * scale
    )  # last steps of 1e-8 of the motion, times its stiffness


def test_newton_solves_what_the_fixed_point_does_not(plain) -> None:
    fast = Line((0.5, 0.3), (0.983, 0.3), Profile(0.25, law="sine"))
    with pytest.raises(NumericalError, match=r"fixed point diverges.*'newton'"):
        tip_torques(plain, "tip", fast, JOINTS, guess=POSE, step=2e-3, method="fixed_point")
    found = tip_torques(plain, "tip", fast, JOINTS, guess=POSE, step=2e-3)
    assert prove(plain, found, tolerance=1e-6).ok  # links bend by a tenth of their length; steps of 2e-3 s


def test_error_is_of_fourth_order_in_the_step(plain) -> None:
    found = {
        h: tip_torques(plain, "tip", PATH, JOINTS, guess=POSE, step=h, pre=0.4, post=0.4)
        for h in (2.5e-3, 5e-3, 1e-2)
    }
    exact = found[2.5e-3].inputs
    errors = [np.abs(found[h].inputs - exact[:: round(h / 2.5e-3)]).max() for h in (5e-3, 1e-2)]
    assert 12 < errors[1] / errors[0] < 20  # 2^4, a little more because the finest is not exact
    estimate = found[5e-3].figures["force_error"] * np.ptp(exact, axis=0).max()
    assert 0.5 < estimate / errors[0] < 2


def test_gravity_is_held_at_both_ends(plain) -> None:
    heavy = {"g": -9.81}
    found = tip_torques(plain, "tip", PATH, JOINTS, guess=POSE, step=2e-3, params=heavy)
    still = np.zeros(plain.nv)
    held = plain.inverse_dynamics(found.states[0, : plain.nq], still, still, params=heavy)
    assert held == pytest.approx([found.inputs[0, 0], 0, 0, found.inputs[0, 1], 0, 0], abs=1e-5)
    assert prove(plain, found, tolerance=1e-7, params=heavy).ok
    assert 0.02 < found.pre < 0.5


def test_a_large_and_fast_motion_is_reached_in_steps_of_its_amplitude(plain, monkeypatch) -> None:
    from articulus.motion.inversion.arms import tip_torques as module

    tried = []

    def stubborn(servo, grid, q, v, *slopes):
        tried.append(np.ptp(grid.nodes.y[:, 0]))
        if len(tried) == 1:
            raise NumericalError("does not converge")
        return module.newton(servo, grid, q, v, *slopes)

    monkeypatch.setitem(module.SOLVERS, "newton", stubborn)
    found = tip_torques(plain, "tip", PATH, JOINTS, guess=POSE, step=4e-3)
    assert tried == pytest.approx([0.483, 0.2415, 0.483, 0.483])
    assert found.ok


def test_refusals(plain) -> None:
    def refused(words: str, **changed) -> None:
        given = {"tip": "tip", "path": PATH, "actuators": JOINTS, "guess": POSE} | changed
        with pytest.raises(InputError, match=words):
            tip_torques(plain, **given)

    refused("1 driven degrees.*as many outputs as driven", actuators=("shoulder",))
    refused("no joint 'wrist'", actuators=("shoulder", "wrist"))
    refused("found 'w'.*x, y, z, roll", outputs=("x", "w"))
    refused("2 coordinates; expected 1", outputs=("x",), actuators=("shoulder",))
    refused("acceleration of tip.x jumps", path=Line((0.5, 0.3), (0.9, 0.3), Profile(0.8, order=1)))
    refused(r"pre = 0.012 s is too short.*27\.\d* 1/s", pre=0.01)
    refused("cannot move tip.z", outputs=("x", "z"), path=Line((0.5, 0.0), (0.9, 0.0), Profile(0.8)))
    refused("method: found 'shooting'", method="shooting")


def test_joints_of_several_degrees_of_freedom_are_refused() -> None:
    m = art.Mechanism("wrist").body("hand", 1.0, (0, 0, 0.1), (1e-3, 1e-3, 1e-3))
    m.joint("wrist", art.Universal((1, 0, 0), (0, 1, 0)), "ground", "hand").frame("tip", "hand", (0, 0, 0.3))
    with pytest.raises(InputError, match="'wrist' has 2 degrees of freedom"):
        tip_torques(m, "tip", PATH, ["wrist"])


def test_undamped_zeros_are_named(plain) -> None:
    with pytest.raises(InputError, match=r"imaginary axis at the start.*i 1/s"):
        tip_torques(plain, "upper", Line((0.1,), (0.4,), Profile(0.8)), ["shoulder"], outputs=("yaw",))


def test_out_of_reach_is_said(plain) -> None:
    with pytest.raises(NumericalError, match=r"out of reach at t = 0\.[5-8]"):
        tip_torques(plain, "tip", Line((0.5, 0.3), (1.4, 0.3), Profile(0.8)), JOINTS, guess=POSE)


def test_accessibility_names_the_direction_along_a_straight_arm(plain) -> None:
    straight = accessibility(plain, "tip", JOINTS, {"shoulder": np.pi / 2, "elbow": 0.0})
    assert not straight.ok
    assert straight.name_direction() == "tip.y"
    bent = accessibility(plain, "tip", JOINTS, POSE)
    assert bent.ok
    assert 0 < bent.least <= 1
    assert "tip" in str(bent)
