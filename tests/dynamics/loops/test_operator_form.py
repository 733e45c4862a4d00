"""Steps A to F against the whole system of equations in NumPy, on random closed mechanisms."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
import zoo
from articulus.dynamics.constraints import Constraints, constraints
from articulus.dynamics.kinematics import jacobian
from articulus.dynamics.loops.operator_form import (
    by_secondary,
    half_way,
    mobility,
    operator_form,
    secondary_dofs,
)
from articulus.dynamics.loops.rank import require_full_rank
from articulus.dynamics.operators import factors, weighted
from articulus.dynamics.tree import Tree
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import PointOnPoint

JOINTS = (art.Revolute, art.Spherical, art.Prismatic, art.Universal, art.Cylindrical)


@dataclass(frozen=True)
class Closed:
    """A closed mechanism on symbols."""

    tree: Tree
    f: SX
    rows: Constraints
    t: SX

    @staticmethod
    def of(mech: art.Mechanism) -> Closed:
        tree, t = Tree(mech.description), SX.sym("t")
        return Closed(tree, SX.sym("f", tree.description.nv), constraints(tree, tree.v, t), t)

    def evaluate(self, outputs: list[SX], q: np.ndarray, v: np.ndarray, f: np.ndarray) -> list[np.ndarray]:
        function = ca.Function("f", [self.tree.q, self.tree.v, self.f, self.t], outputs)
        return [np.array(x) for x in function.call([q, v, f, 0.3])]


def grasping(seed: int) -> art.Mechanism:
    """Return a random torso whose two arms of six hinges hold a free object, with rotors and armature."""
    mech = zoo.random_mechanism(seed, bodies=3, joints=JOINTS, rotors=0.5, armature=True)
    rng = np.random.default_rng(seed)
    for side in ("left", "right"):
        parent = "b2"
        for i in range(6):
            child, axis = f"{side}{i}", rng.normal(size=3)
            mech.body(child, mass=rng.uniform(1, 3), com=rng.uniform(-0.3, 0.3, 3), inertia=(0.1, 0.12, 0.14))
            rotor = art.Rotor(ratio=20.0, inertia=1e-3, axis=(0, 0, 1)) if i % 2 else None
            at = art.Pose(xyz=rng.uniform(-0.5, 0.5, 3))
            mech.joint(
                f"j_{child}", art.Revolute(axis / np.linalg.norm(axis)), parent, child, at, rotor=rotor
            )
            parent = child
    mech.body("object", mass=3.0, com=(0.1, 0.0, 0.2), inertia=(0.3, 0.4, 0.5))
    mech.joint("flight", art.Free(), "ground", "object")
    mech.frame("edge", "object", at=art.Pose(xyz=(0.3, 0.1, 0.0)))
    mech.constrain(PointOnPoint("pin", "left5", "object"))
    return mech.loop("hinge", art.Revolute((0, 0, 1)), "right5", "edge")


def kkt(M: np.ndarray, G: np.ndarray, f: np.ndarray, gamma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m = len(G)
    whole = np.block([[M, G.T], [G, np.zeros((m, m))]])
    x = np.linalg.solve(whole, np.concatenate([f, -gamma]))
    return x[: len(f)], x[len(f) :]


@pytest.mark.parametrize("seed", range(2))
def test_steps_a_to_f_and_the_alternative_of_d_solve_the_whole_system(seed: int) -> None:
    mech = grasping(seed)
    s, closed = zoo.random_state(mech, seed), Closed.of(mech)
    direct = operator_form(closed.tree, closed.f, closed.rows)
    through = by_secondary(closed.tree, closed.f, closed.rows, ["object"])
    wanted = [closed.rows.G, closed.rows.gamma]
    outputs = [direct.vdot, direct.multipliers, through.vdot, through.multipliers, *wanted]
    vdot, force, vdot_2, force_2, G, gamma = closed.evaluate(outputs, s.q, s.v, s.tau)
    expected = kkt(zoo.ask(mech, "mass_matrix", s.q), G, s.tau, gamma.ravel())
    scale = [np.abs(x).max() for x in expected]
    for found, x, size in zip((vdot, force, vdot_2, force_2), expected * 2, scale * 2):
        np.testing.assert_allclose(found.ravel(), x, rtol=0, atol=1e-9 * size)


def test_stabilization_enters_as_in_the_other_forms() -> None:
    mech = grasping(1)
    s, closed = zoo.random_state(mech, 5), Closed.of(mech)
    c = closed.rows
    found = operator_form(closed.tree, closed.f, c, frequency=3.0, damping=0.7).vdot
    residual = ca.mtimes(c.G, found) + c.gamma + 2 * 3.0 * 0.7 * c.rate + 9.0 * c.g
    residual, free = closed.evaluate([residual, c.gamma], s.q, s.v, s.tau)
    assert np.abs(residual).max() < 1e-9 * np.abs(free).max()


def test_two_branches_meet_at_their_nearest_common_ancestor() -> None:
    mech = art.load("human_torso")
    tree, q = Tree(mech.description), np.linspace(-1.1, 0.9, mech.nq)
    op = factors(tree)
    G = ca.vertcat(jacobian(tree, "right_hand"), jacobian(tree, "left_hand"))
    Y = half_way(op, G)
    W = np.array(ca.Function("W", [tree.q], [ca.mtimes(Y.T, weighted(op, Y))])(q))
    between = zoo.ask(mech, "operational_inertia", q, frames=("right_hand", "left_hand"))
    assert np.abs(between).max() > 0.01
    np.testing.assert_allclose(W[:6, 6:], between, rtol=0, atol=1e-13)


def chain_on_ground(n: int) -> art.Mechanism:
    """Return a chain of n hinges whose tip is pinned to the ground."""
    mech = zoo.random_mechanism(3, bodies=n, joints=(art.Revolute,), branching=0.0)
    return mech.constrain(PointOnPoint("pin", "bench", "tool"))


def test_cost_grows_linearly_with_the_length_of_a_chain() -> None:
    def operations(n: int) -> int:
        tree = Tree(chain_on_ground(n).description)
        f, G, gamma = SX.sym("f", n), SX.sym("G", 3, n), SX.sym("gamma", 3)
        found = operator_form(tree, f, Constraints(SX.zeros(3), G, SX.zeros(3), gamma))
        return ca.Function("f", [tree.q, f, G, gamma], [found.vdot]).n_instructions()

    growth = np.diff([operations(n) for n in (8, 16, 24)])
    assert growth.max() < 1.1 * growth.min()  # bodies differ in how many numbers cancel


def test_rows_that_depend_are_told() -> None:
    mech = chain_on_ground(6).constrain(PointOnPoint("pin again", "bench", "tool"))
    s, closed = zoo.random_state(mech, 2), Closed.of(mech)
    (W,) = closed.evaluate([mobility(closed.tree, closed.rows)], s.q, s.v, s.tau)
    names = [f"{c.name}.{axis}" for c in mech.description.constraints for axis in "xyz"]
    with pytest.raises(NumericalError, match=r"rank 3 of 6 rows: redundant; .*pin\.x.*pin again\.z\. Drop"):
        require_full_rank(W, names, "redundant", "Drop some.")
    require_full_rank(W[:3, :3], names[:3], "redundant", "Drop some.")


def test_rank_does_not_depend_on_units() -> None:
    scale = np.diag([1e-6, 1.0, 1e6])
    regular = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    require_full_rank(scale @ regular @ scale, ["a", "b", "c"], "", "")
    with pytest.raises(NumericalError, match="rank 0 of 2 rows"):
        require_full_rank(np.zeros((2, 2)), ["a", "b"], "", "")
    with pytest.raises(InputError, match="2 names"):
        require_full_rank(np.eye(3), ["a", "b"], "", "")


def test_a_secondary_stands_on_the_ground_and_is_closed_on_the_primary() -> None:
    mech = grasping(0)
    tree = Tree(mech.description)
    at = mech.description.v_slices["flight"]
    assert secondary_dofs(tree, ["object"]) == list(range(at.start, at.stop))
    with pytest.raises(
        InputError, match=r"'left3', which hangs on 'left2'; expected a body whose joint is on 'ground'"
    ):
        secondary_dofs(tree, ["left3"])
    with pytest.raises(InputError, match=r"no body or frame 'objekt'.*did you mean 'object'"):
        secondary_dofs(tree, ["objekt"])
    closed = Closed.of(mech.constrain(PointOnPoint("to ground", "bench", "object")))
    with pytest.raises(InputError, match=r"rows \[8, 9, 10\] hold none of the primary's joints"):
        by_secondary(closed.tree, closed.f, closed.rows, ["object"])
