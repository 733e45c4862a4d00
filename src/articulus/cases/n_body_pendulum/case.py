"""The engine's equations of ball joints in absolute coordinates: Jacobians along a motion of the tree, linear cost, a run."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.dynamics.ball_joints import BallJoints, rotation
from articulus.dynamics.tree import tree_of
from articulus.simulation.running.ball_joint_problem import (
    BallJointEquations,
    BallJointProblem,
    factor_blocks,
)

N = 4
GRAVITY = np.array([0.0, 0.0, -9.81])
SUPPORT = np.array([0.3, -0.2, 1.0])
STENCIL = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
"""First derivative by central differences of fourth order."""
STEP = 1e-3
"""Of those differences [s]."""
FINE = 1e4
"""Inverse step at which the first correction is examined, and twice as much [1/s]."""
END, OUTPUT = 0.5, 0.01
"""Duration of a run, half of that in the paper, and output step [s]."""


def compute() -> dict:
    rng = np.random.default_rng(0)
    chain = PendulumChain(pendulum([EllipsoidLink.random(rng) for _ in range(N)]))
    equal = EllipsoidLink.random(rng)
    lengths = [PendulumChain(pendulum([equal] * n)) for n in (3, 6, 9)]
    operations, nonzeros = (np.diff([c.cost()[k] for c in lengths]) for k in (0, 1))
    return {
        "A = E G' of the Euler parameters less the rotations of the tree": chain.rotation_error(rng),
        **chain.along(rng),
        "rates from the first O(n) correction of an implicit step, extrapolated, less those of the tree": chain.rate_error(
            rng
        ),
        "residual of the equations at the accelerations of the tree": chain.tree_residual(rng),
        "operations of bodies 7-9 over those of bodies 4-6": operations[1] / operations[0],
        "entries of the factored matrix of bodies 7-9 over those of bodies 4-6": nonzeros[1] / nonzeros[0],
        "4 bodies over 0.5 s by steps of 5 and 2.5 ms, extrapolated, less the motion by lie_rk4": run_error(
            chain.tree, rng
        ),
    }


@dataclass(frozen=True)
class EllipsoidLink:
    """One ellipsoid: mass [kg], principal moments of inertia [kg m^2], mass center and next joint from its own joint [m]."""

    mass: float
    inertia: np.ndarray
    center: np.ndarray
    outboard: np.ndarray

    @staticmethod
    def random(rng: np.random.Generator) -> "EllipsoidLink":
        semi, mass = rng.uniform(0.1, 0.4, 3), rng.uniform(1.0, 3.0)
        return EllipsoidLink(mass, mass / 5 * (np.sum(semi**2) - semi**2), *rng.uniform(-0.5, 0.5, (2, 3)))


def pendulum(links: list[EllipsoidLink]) -> art.Mechanism:
    """Return a chain on ball joints; body frames at the inboard joints."""
    tree = art.Mechanism("pendulum", gravity=tuple(GRAVITY))
    for i, own in enumerate(links):
        at = links[i - 1].outboard if i else SUPPORT
        tree.body(f"body{i}", mass=own.mass, com=tuple(own.center), inertia=tuple(own.inertia))
        tree.joint(f"ball{i}", art.Spherical(), f"body{i - 1}" if i else "ground", f"body{i}", at=tuple(at))
        tree.frame(f"center{i}", f"body{i}", at=tuple(own.center))
    return tree


class PendulumChain:
    """A chain, and what the engine makes of it."""

    def __init__(self, tree: art.Mechanism):
        self.tree, self.system = tree, art.Loop(tree).system
        self.balls = BallJoints(tree_of(tree.description))
        self.newton = self.balls.newton(ca.SX.zeros(tree.nv), {})
        self.n = self.balls.n

    def cost(self) -> tuple[int, int]:
        """Return the operations of a Newton correction without the linear system, and the entries of its factors."""
        e, x = BallJointEquations(self.system), np.tile([0.0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], self.n)
        factors = factor_blocks(self.problem(e).matrix(0.0, x, 0 * x, 1 / OUTPUT))
        assert factors is not None
        operations = sum(f.n_instructions() for f in (e.matrix, e.right, e.change))
        return operations, factors.L.nnz + factors.U.nnz

    def problem(self, equations: BallJointEquations) -> BallJointProblem:
        """Return the free motion as a problem for the integrator."""
        d, p, w = (np.zeros(k) for k in self.system.sizes[1:4])
        return BallJointProblem(equations, d, p, w, OUTPUT)

    def rotation_error(self, rng: np.random.Generator) -> float:
        q, v = self.random_state(rng)
        _, x, _ = self.state(q, v)
        found = [np.array(ca.DM(rotation(ca.SX(ca.DM(p))))) for p in x.reshape(-1, 11)[:, 3:7]]
        poses = [np.array(self.tree.function("pose", [f"center{i}"])(q))[:3, :3] for i in range(self.n)]
        return float(np.abs(np.array(found) - poses).max())

    def along(self, rng: np.random.Generator) -> dict:
        """Return what the derivatives of G, Gd and F by the paper's blocks leave along a motion of the tree, relative.

        All three stay zero along it, so that their derivatives must vanish.
        """
        q, v = self.random_state(rng)
        moved, change = self.tree.function("integrate_position"), rng.normal(size=self.tree.nv)
        times = STEP * np.arange(-2, 3)
        path = [self.state(np.array(moved(q, t * v)).ravel(), v + t * change) for t in times]
        dR, dx, dxdot = (np.tensordot(STENCIL, np.array(part), 1) / STEP for part in zip(*path))
        b, at = self.newton, path[2][1:]
        C, L, L_rate, U, F_p, F_s = (self.at(m, *at, 0.0) for m in (b.C, b.L, b.L_rate, b.U, b.F_p, b.F_s))
        by_sdot = self.at(b.F_s, *at, 1.0) - F_s
        (dV, dp, ds), (dVdot, _, dsdot) = self.parts(dx), self.parts(dxdot)
        masses = np.repeat([float(ball.m) for ball in self.balls.balls], 3)
        forces = np.linalg.solve(C.T, masses * dVdot)
        sums = {
            "G along a motion of the tree, eq. 10": (C * dR.ravel(), L * dp),
            "Gd along a motion of the tree, eqs. 17 and 20": (C * dV, L_rate * dp, L * ds),
            "F along a motion of the tree, eqs. 27, 31 and 34": (
                U * forces,
                F_p * dp,
                F_s * ds,
                by_sdot * dsdot,
            ),
        }
        out = {}
        for name, terms in sums.items():
            every = np.hstack(terms)
            out[f"derivative of {name}"] = float(np.abs(every.sum(axis=1)).max() / np.abs(every).max())
        return out

    def at(self, matrix: ca.SX, x: np.ndarray, xdot: np.ndarray, sigma: float) -> np.ndarray:
        """Return a matrix of the engine at a state."""
        f = ca.Function("f", [self.balls.x, self.balls.xdot, self.balls.sigma], [ca.densify(matrix)])
        return np.array(f(x, xdot, sigma))

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return V, p and s of all bodies, or their rates."""
        return tuple(part.ravel() for part in np.split(x.reshape(-1, 11), [3, 7], axis=1))

    def rate_error(self, rng: np.random.Generator) -> float:
        """Return how far -sigma dX of a first correction from rates of zero is from Xdot of the tree, relative."""
        _, x, rates = self.state(*self.random_state(rng))
        problem = self.problem(BallJointEquations(self.system))
        coarse, fine = (
            -sigma * problem.correction(0.0, x, 0 * x, sigma, None)[0] for sigma in (FINE, 2 * FINE)
        )
        return relative(2 * fine - coarse, rates)

    def tree_residual(self, rng: np.random.Generator) -> float:
        """Return |E| where the accelerations are those that forward dynamics finds for the tree."""
        _, x, rates = self.state(*self.random_state(rng))
        return float(np.abs(self.at(self.newton.E, x, rates, 0.0)).max())

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return random_position(self.n, rng), rng.normal(size=self.tree.nv)

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return R, X and Xdot of a state of the tree, with the accelerations that it has."""
        tree, p = self.tree, np.array([1.0, 0.0, 0.0, 0.0])
        vdot = np.array(tree.function("forward_dynamics")(q, v, np.zeros(tree.nv))).ravel()
        places, x, xdot = [], [], []
        for i in range(self.n):
            p = quaternion_product(p, q[4 * i : 4 * i + 4])
            frame = [f"center{i}"]
            places.append(np.array(tree.function("pose", frame)(q))[:3, 3])
            V = np.array(tree.function("velocity", frame)(q, v)).ravel()
            A = np.array(tree.function("acceleration", frame)(q, v, vdot)).ravel()
            s = 0.5 * quaternion_product([0.0, *V[:3]], p)
            sdot = 0.5 * (quaternion_product([0.0, *A[:3]], p) + quaternion_product([0.0, *V[:3]], s))
            x += [V[3:], p, s]
            xdot += [A[3:], s, sdot]
        return np.array(places), np.concatenate(x), np.concatenate(xdot)


def run_error(tree: art.Mechanism, rng: np.random.Generator) -> float:
    """Return the largest difference of q between the two methods at the outputs of a run."""
    loop, q = art.Loop(tree), random_position(N, rng)

    def positions(method: str, step: float) -> np.ndarray:
        return loop.simulate(END, q, method=method, step=step, sample=OUTPUT, outputs=()).q

    coarse, fine = (positions("absolute_sdirk", h) for h in (5e-3, 2.5e-3))
    return float(np.abs((4 * fine - coarse) / 3 - positions("lie_rk4", 1e-3)).max())


def random_position(n: int, rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=(n, 4))
    return (q / np.linalg.norm(q, axis=1)[:, None]).ravel()


def quaternion_product(a: np.ndarray | list[float], b: np.ndarray) -> np.ndarray:
    u, w = np.asarray(a[1:]), np.asarray(b[1:])
    return np.array([a[0] * b[0] - u @ w, *(a[0] * w + b[0] * u + np.cross(u, w))])
