"""Arguments of the wrong kind: an InputError that names them, never an exception from inside."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import articulus as art


def arm() -> art.Mechanism:
    return art.load("two_link")


def fresh() -> art.Mechanism:
    return art.Mechanism("m").body("b", 1.0, inertia=(1, 1, 1))


q = np.zeros(2)
CALLS = {
    "frame none": lambda: arm().pose(None, q),
    "frame number": lambda: arm().pose(3, q),
    "frame list": lambda: arm().pose(["tool"], q),
    "wrenches list": lambda: arm().forward_dynamics(q, q, q, wrenches=[1, 2]),
    "wrench shape": lambda: arm().forward_dynamics(q, q, q, wrenches={"ground": [1, 2]}),
    "wrench frame": lambda: arm().forward_dynamics(q, q, q, wrenches={"nowhere": np.zeros(6)}),
    "masked array": lambda: arm().mass_matrix(np.ma.zeros(2)),
    "masked rows": lambda: arm().forward_dynamics(np.ma.masked_less(np.zeros((5, 2)), -1), q, q),
    "masked wrench": lambda: arm().forward_dynamics(q, q, q, wrenches={"ground": np.ma.zeros(6)}),
    "masked estimate": lambda: art.assemble(art.load("n_four_bar", n=1), np.ma.zeros(3)),
    "masked target": lambda: art.inverse_kinematics(arm(), arm().body_names[-1], np.ma.array(np.eye(4))),
    "params list": lambda: arm().mass_matrix(q, params=[1]),
    "body name": lambda: art.Mechanism("m").body(3, 1.0),
    "mechanism name": lambda: art.Mechanism(3),
    "gravity": lambda: art.Mechanism("m", gravity=9.81),
    "ragged inertia": lambda: art.Mechanism("m").body("b", 1.0, inertia=[[1, 2], [3]]),
    "inertia number": lambda: art.Mechanism("m").body("b", 1.0, inertia=1.0),
    "ragged pose": lambda: fresh().joint("j", art.Revolute(), "ground", "b", at=[[1, 2], [3]]),
    "limits": lambda: fresh().joint("j", art.Revolute(), "ground", "b", limits=(0, 1)),
    "rotor": lambda: fresh().joint("j", art.Revolute(), "ground", "b", rotor=0.3),
    "parent": lambda: fresh().joint("j", art.Revolute(), None, "b"),
    "frame body": lambda: fresh().frame("f", None),
    "parameter name": lambda: art.Parameter(3, 1.0),
    "parameter value": lambda: art.Parameter("x", "a"),
    "set attribute": lambda: setattr(arm(), "gravity", (0, 0, 0)),
    "nothing moves": lambda: fresh().joint("j", art.Fixed(), "ground", "b").center_of_mass([]),
    "chain mass": lambda: art.load("pendulum_chain", mass="abc"),
    "chain length": lambda: art.load("pendulum_chain", length=float("inf")),
    "no function": lambda: art.kernel.compile("f"),
    "an expression": lambda: art.kernel.compile(ca.SX.sym("x")),
    "a lambda": lambda: art.kernel.compile(lambda x: x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_wrong_kind_is_an_input_error(call):
    with pytest.raises(art.InputError):
        call()


def test_parameter_that_is_not_finite_is_named():
    m = art.Mechanism("m").body("b", art.Parameter("payload", 1.0), inertia=(1, 1, 1))
    m.joint("j", art.Revolute(), "ground", "b")
    with pytest.raises(art.InputError, match="payload"):
        m.mass_matrix([0.0], params={"payload": np.nan})


def test_start_values_of_parameters_do_not_change_the_code():
    def one(value):
        m = art.Mechanism("m").body("b", art.Parameter("payload", value), inertia=(1, 1, 1))
        return m.joint("j", art.Revolute(), "ground", "b")

    assert one(1.0).description.fingerprint == one(2.0).description.fingerprint
    assert one(1.0).mass_matrix([0.0]) == one(2.0).mass_matrix([0.0])


def test_a_single_frame_may_be_a_plain_name():
    assert arm().function("pose", "ground").name() == "pose"
