"""Control forces for kinematical constraints: laws of Ider's equations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
import zoo
from articulus.dynamics.constraints import constraints
from articulus.dynamics.loops import ConstraintProblem, lagrange
from articulus.dynamics.loops.rank import require_full_rank
from articulus.dynamics.loops.servo import joint_directions, servo
from articulus.dynamics.mass_matrix import mass_matrix
from articulus.dynamics.tree import Tree
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import PointOnPoint


class Held:
    """A random chain whose tool is driven to a point of the ground."""

    def __init__(self, bodies: int):
        self.mech = zoo.random_mechanism(4, bodies=bodies, joints=(art.Revolute,), branching=0.0)
        self.mech.constrain(PointOnPoint("driven", "bench", "tool"))
        tree, t, self.f = Tree(self.mech.description), SX.sym("t"), SX.sym("f", bodies)
        self.problem = ConstraintProblem(mass_matrix(tree), self.f, constraints(tree, tree.v, t))
        self.inputs = [tree.q, tree.v, self.f]
        self.state = zoo.random_state(self.mech, 7)

    def __call__(self, *outputs: SX) -> list[np.ndarray]:
        s = self.state
        function = ca.Function("f", self.inputs, list(outputs))
        return [np.array(x) for x in function.call([s.q, s.v, s.tau])]


def test_directions_along_the_constraints_are_the_ideal_ones() -> None:
    held = Held(5)
    ideal, found = lagrange(held.problem), servo(held.problem, held.problem.constraints.G)
    for a, b in zip(held(ideal.vdot, ideal.multipliers), held(found.vdot, found.multipliers)):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(a).max())


def test_actuators_at_chosen_joints_hold_the_constraint_and_nothing_else_acts() -> None:
    held = Held(5)
    c, Z = held.problem.constraints, joint_directions(held.mech.description, ["j1", "j2", "j4"])
    found = servo(held.problem, SX(Z))
    M, vdot, nu, residual = held(
        held.problem.M, found.vdot, found.multipliers, ca.mtimes(c.G, found.vdot) + c.gamma
    )
    assert np.abs(residual).max() < 1e-10 * np.abs(vdot).max()
    applied = M @ vdot.ravel() - held.state.tau
    assert np.abs(applied[[0, 3]]).max() < 1e-10 * np.abs(applied).max()
    np.testing.assert_allclose(applied[[1, 2, 4]], -nu.ravel(), rtol=1e-9)


def test_with_as_many_constraints_as_dofs_the_motion_does_not_depend_on_the_directions() -> None:
    held = Held(3)
    ideal = lagrange(held.problem)
    motors = servo(held.problem, SX(joint_directions(held.mech.description, ["j0", "j1", "j2"])))
    vdot, vdot_ideal, nu, pull = held(
        motors.vdot,
        ideal.vdot,
        motors.multipliers,
        ca.mtimes(held.problem.constraints.G.T, ideal.multipliers),
    )
    np.testing.assert_allclose(vdot, vdot_ideal, rtol=0, atol=1e-9 * np.abs(vdot).max())
    np.testing.assert_allclose(nu, pull, rtol=0, atol=1e-9 * np.abs(pull).max())


def test_actuators_that_cannot_produce_the_motion_are_told() -> None:
    held = Held(5)
    Z = joint_directions(held.mech.description, ["j1", "j2", "j2"])
    M, G = held(held.problem.M, held.problem.constraints.G)
    matrix = G @ np.linalg.solve(M, Z.T)
    with pytest.raises(NumericalError, match="rank 2 of 3 rows: these motors cannot do it"):
        require_full_rank(matrix, ["x", "y", "z"], "these motors cannot do it", "")


def test_wrong_directions_are_named() -> None:
    held = Held(4)
    with pytest.raises(InputError, match=r"found shape \(1, 4\); expected \(3, 4\)"):
        servo(held.problem, SX.ones(1, 4))
    with pytest.raises(InputError, match="no joint 'k1' with one degree of freedom; valid names: j0, j1"):
        joint_directions(held.mech.description, ["k1"])


@pytest.mark.parametrize("form", ["augmented", "null_space"])
def test_every_form_gives_the_same(form: str) -> None:
    """Equation 17 and equations 18 and 19 against the mobility; the directions are joints, then combinations of joints."""
    held = Held(5)
    rng = np.random.default_rng(3)
    for Z in (joint_directions(held.mech.description, ["j1", "j2", "j4"]), rng.normal(size=(3, 5))):
        first = servo(held.problem, SX(Z), frequency=3.0)
        other = servo(held.problem, SX(Z), frequency=3.0, form=form)
        for a, b in zip(held(first.vdot, first.multipliers), held(other.vdot, other.multipliers)):
            np.testing.assert_allclose(b, a, rtol=0, atol=1e-9 * np.abs(a).max())


def test_forms_that_cannot_be_are_told() -> None:
    held = Held(4)
    with pytest.raises(InputError, match=r"no form 'schur'; .*mobility"):
        servo(held.problem, held.problem.constraints.G, form="schur")
    with pytest.raises(InputError, match="'null_space' takes directions that are numbers"):
        servo(held.problem, held.problem.constraints.G, form="null_space")
    with pytest.raises(InputError, match="depend on each other"):
        servo(held.problem, SX(np.eye(4)[[0, 1, 1]]), form="null_space")
