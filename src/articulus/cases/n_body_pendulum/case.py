"""Jacobians by the paper's formulas against derivatives by CasADi, the O(n) correction against a dense solution."""

import casadi as ca
import numpy as np
from casadi import DM, SX

import articulus as art
from articulus.cases.checks import relative
from articulus.cases.n_body_pendulum.linpen import (
    Blocks,
    Link,
    State,
    bar,
    blocks,
    correction,
    e_matrix,
    g_matrix,
    plus,
    residuals,
)

N = 4
SIGMA = 100.0
"""Leading coefficient of a backward difference over 10 ms [1/s]."""
GRAVITY = DM([0.0, 0.0, -9.81])
SUPPORT = DM([0.3, -0.2, 1.0])
SIZES = {"R": 3, "V": 3, "p": 4, "s": 4}


def compute() -> dict:
    rng = np.random.default_rng(0)
    chain = Chain([link(rng) for _ in range(N)])
    x, rates = rng.normal(size=14 * N), rng.normal(size=14 * N)
    operations = np.diff([Chain([link(rng) for _ in range(n)]).operations() for n in (3, 6, 9)])
    return {
        **identities(rng),
        **chain.jacobians(x, rates),
        "dX in O(n) against dense elimination": chain.correction_error(x, rates),
        "residual of the equations at the accelerations of the tree": chain.tree_residual(rng),
        "residual after six corrections of a backward Euler step": chain.step_residual(rng),
        "operations of bodies 7-9 over those of bodies 4-6": operations[1] / operations[0],
    }


def link(rng: np.random.Generator) -> Link:
    semi = rng.uniform(0.1, 0.4, 3)
    m = rng.uniform(1.0, 3.0)
    inertia = np.diag(m / 5 * (np.sum(semi**2) - semi**2))
    return Link(m, DM(inertia), DM(rng.uniform(-0.5, 0.5, 3)), DM(rng.uniform(-0.3, 0.3, 3)))


def identities(rng: np.random.Generator) -> dict:
    p, a = SX(DM(rng.normal(size=4))), SX(DM(rng.normal(size=3)))
    pairs = [(g_matrix(p).T, bar(a)), (e_matrix(p).T, plus(a))]
    errors = [ca.norm_inf(ca.mtimes(M, a) - ca.mtimes(B, p)) for M, B in pairs]
    return {"G' a = bar(a) p and E' z = plus(z) p": max(float(ca.evalf(e)) for e in errors)}


class Chain:
    """The equations of one chain on symbols: X = (R, V, p, s) of body after body, and Xdot."""

    def __init__(self, links: list[Link]):
        self.links, n = links, len(links)
        self.x, self.xdot = SX.sym("x", 14 * n), SX.sym("xdot", 14 * n)
        self.bodies, self.pdot = [], []
        for x, xdot in zip(ca.vertsplit(self.x, 14), ca.vertsplit(self.xdot, 14)):
            R, V, p, s = ca.vertsplit(x, [0, 3, 6, 10, 14])
            self.bodies.append(State(R, V, p, s, xdot[3:6], xdot[10:14]))
            self.pdot.append(xdot[6:10])
        self.E = residuals(links, self.bodies, self.pdot, SX(SUPPORT), SX(GRAVITY))
        self.rows = ca.vertcat(*(ca.vertcat(e.G, e.Gd, e.F, e.I1, e.I2, e.I3) for e in self.E))
        found = correction(links, self.bodies, self.pdot, SX(SUPPORT), SX(GRAVITY), SX(SIGMA))
        self.dX = ca.vertcat(*(ca.vertcat(c.R, c.V, c.p, c.s) for c in found))

    def operations(self) -> int:
        return ca.Function("correction", [self.x, self.xdot], [self.dX]).n_instructions()

    def jacobian(self) -> SX:
        """Return J = dE/dX + sigma dE/dXdot by CasADi."""
        return ca.jacobian(self.rows, self.x) + SIGMA * ca.jacobian(self.rows, self.xdot)

    def jacobians(self, x: np.ndarray, rates: np.ndarray) -> dict:
        """Return the largest differences of the paper's blocks, off the constraints as well as on them."""
        K = blocks(self.links, self.bodies, SX(GRAVITY), SX(SIGMA))
        J = self.jacobian()
        names = {
            "dG/dp": ("G", "p", lambda i, k: lower(i, k, K[k].La, K[k].Lr)),
            "dGd/dp": ("Gd", "p", lambda i, k: lower(i, k, K[k].La_rate, K[k].Lr_rate)),
            "dGd/ds": ("Gd", "s", lambda i, k: lower(i, k, K[k].La, K[k].Lr)),
            "F_V": ("F", "V", lambda i, k: SIGMA * self.links[k].m * upper(i, k, K[i])),
            "F_p": ("F", "p", lambda i, k: K[i].F_p if i == k else SX.zeros(3, 4)),
            "F_s": ("F", "s", lambda i, k: K[i].F_s if i == k else SX.zeros(3, 4)),
        }
        out = {}
        for name, (row, column, block) in names.items():
            both = [
                ca.vertcat(*(ca.horzcat(*(f(i, k) for k in range(N))) for i in range(N)))
                for f in (block, lambda i, k: J[rows_of(i, row), columns_of(k, column)])  # noqa: B023
            ]
            printed, by_casadi = ca.Function(name.replace("/", "_"), [self.x, self.xdot], both)(x, rates)
            out[f"{name} by formula against CasADi"] = relative(printed, np.array(by_casadi))
        return out

    def correction_error(self, x: np.ndarray, rates: np.ndarray) -> float:
        J, E, dX = ca.Function("J", [self.x, self.xdot], [self.jacobian(), self.rows, self.dX])(x, rates)
        expected = np.linalg.solve(np.array(J), np.array(E).ravel())
        return relative(np.array(dX).ravel(), expected)

    def step_residual(self, rng: np.random.Generator) -> float:
        """Return |E| after six corrections of one implicit step from a state of the tree."""
        before, _ = self.from_tree(rng)
        iterate = ca.Function("iterate", [self.x, self.xdot], [self.dX, self.rows])
        x = before
        for _ in range(6):
            x = x - np.array(iterate(x, SIGMA * (x - before))[0]).ravel()
        return float(ca.norm_inf(iterate(x, SIGMA * (x - before))[1]))

    def tree_residual(self, rng: np.random.Generator) -> float:
        """Return |E| where the accelerations are those that articulus finds for a tree with spherical joints."""
        return float(ca.norm_inf(ca.Function("E", [self.x, self.xdot], [self.rows])(*self.from_tree(rng))))

    def from_tree(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return X and Xdot of a random state of the tree."""
        tree = self.tree()
        q = np.concatenate([unit(rng.normal(size=4)) for _ in self.links])
        v = rng.normal(size=tree.nv)
        vdot = np.array(tree.function("forward_dynamics")(q, v, np.zeros(tree.nv))).ravel()
        x, xdot, p = [], [], np.array([1.0, 0.0, 0.0, 0.0])
        for i in range(len(self.links)):
            p = quaternion_product(p, q[4 * i : 4 * i + 4])
            frame = [f"centre{i}"]
            R = np.array(tree.function("pose", frame)(q))[:3, 3]
            V = np.array(tree.function("velocity", frame)(q, v)).ravel()
            A = np.array(tree.function("acceleration", frame)(q, v, vdot)).ravel()
            s = 0.5 * quaternion_product([0.0, *V[:3]], p)
            sdot = 0.5 * (quaternion_product([0.0, *A[:3]], p) + quaternion_product([0.0, *V[:3]], s))
            x += [R, V[3:], p, s]
            xdot += [V[3:], A[3:], s, sdot]
        return np.concatenate(x), np.concatenate(xdot)

    def tree(self) -> art.Mechanism:
        """Return the chain as a mechanism; body frames at the inboard joints."""
        tree = art.Mechanism("pendulum", gravity=tuple(map(float, GRAVITY.elements())))
        for i, own in enumerate(self.links):
            centre, mounted = np.array(own.r - own.a).ravel(), np.array(SUPPORT).ravel()
            tree.body(
                f"body{i}", mass=own.m, com=tuple(centre), inertia=tuple(np.diag(np.array(own.inertia)))
            )
            at = -np.array(self.links[i - 1].a).ravel() if i else mounted
            tree.joint(f"ball{i}", art.Spherical(), f"body{i - 1}" if i else "ground", f"body{i}", at=at)
            tree.frame(f"centre{i}", f"body{i}", at=centre)
        return tree


def lower(i: int, k: int, a: SX, r: SX) -> SX:
    return a - r if i == k else a if i > k else SX.zeros(a.shape)


def upper(i: int, k: int, own: Blocks) -> SX:
    return own.F_a - own.F_r if i == k else own.F_a if i < k else SX.zeros(3, 3)


def rows_of(i: int, name: str) -> slice:
    start = 14 * i + {"G": 0, "Gd": 3, "F": 6}[name]
    return slice(start, start + 3)


def columns_of(k: int, name: str) -> slice:
    start = 14 * k + {"V": 3, "p": 6, "s": 10}[name]
    return slice(start, start + SIZES[name])


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def quaternion_product(a: np.ndarray | list[float], b: np.ndarray) -> np.ndarray:
    u, w = np.asarray(a[1:]), np.asarray(b[1:])
    return np.array([a[0] * b[0] - u @ w, *(a[0] * w + b[0] * u + np.cross(u, w))])
