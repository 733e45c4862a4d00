"""Jacobians by the paper's formulas along a motion of the tree, the O(n) correction against the tree's accelerations."""

import casadi as ca
import numpy as np
from casadi import DM, SX

import articulus as art
from articulus.cases.checks import relative
from articulus.cases.n_body_pendulum.linpen import (
    Blocks,
    Link,
    State,
    blocks,
    correction,
    residuals,
    rotation,
)

N = 4
SIGMA = 100.0
"""Leading coefficient of a backward difference over 10 ms [1/s]."""
GRAVITY = DM([0.0, 0.0, -9.81])
SUPPORT = DM([0.3, -0.2, 1.0])
STENCIL = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
"""First derivative by central differences of fourth order."""
STEP = 1e-3
"""Of those differences [s]."""
FINE = 1e4
"""Inverse step at which the first correction is looked at, and twice as much [1/s]."""


def compute() -> dict:
    rng = np.random.default_rng(0)
    chain = Chain([link(rng) for _ in range(N)])
    operations = np.diff([Chain([link(rng) for _ in range(n)]).operations() for n in (3, 6, 9)])
    return {
        "A = E G' of the Euler parameters less the rotations of the tree": chain.rotation_error(rng),
        **chain.along(rng),
        "rates from the first O(n) correction of an implicit step, extrapolated, less those of the tree": chain.rate_error(
            rng
        ),
        "residual of the equations at the accelerations of the tree": chain.tree_residual(rng),
        "operations of bodies 7-9 over those of bodies 4-6": operations[1] / operations[0],
    }


def link(rng: np.random.Generator) -> Link:
    semi = rng.uniform(0.1, 0.4, 3)
    m = rng.uniform(1.0, 3.0)
    inertia = np.diag(m / 5 * (np.sum(semi**2) - semi**2))
    return Link(m, DM(inertia), DM(rng.uniform(-0.5, 0.5, 3)), DM(rng.uniform(-0.3, 0.3, 3)))


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

    def rotation_error(self, rng: np.random.Generator) -> float:
        tree = self.tree()
        q, v = self.random_state(rng, tree)
        x, _ = self.state(tree, q, v)
        found = [np.array(ca.DM(rotation(SX(ca.DM(p))))) for p in x.reshape(-1, 14)[:, 6:10]]
        poses = [np.array(tree.function("pose", [f"centre{i}"])(q))[:3, :3] for i in range(len(self.links))]
        return float(np.abs(np.array(found) - poses).max())

    def along(self, rng: np.random.Generator) -> dict:
        """Return what the derivatives of G, Gd and F by the paper's blocks leave along a motion of the tree, relative.

        All three stay zero along it, so that their derivatives must vanish.
        """
        tree = self.tree()
        q, v = self.random_state(rng, tree)
        moved, change = tree.function("integrate_position"), rng.normal(size=tree.nv)
        times = STEP * np.arange(-2, 3)
        path = [self.state(tree, np.array(moved(q, t * v)).ravel(), v + t * change) for t in times]
        derivative = np.tensordot(STENCIL, np.array(path), 1) / STEP
        by_state, by_rate = (self.rows_by_blocks(sigma) for sigma in (0.0, 1.0))
        x, rates = path[2]
        own = np.array(by_state(x, rates))
        parts = own * derivative[0], (np.array(by_rate(x, rates)) - own) * derivative[1]
        names = {"G": "eq. 10", "Gd": "eqs. 17 and 20", "F": "eqs. 27, 31 and 34"}
        out = {}
        for k, (name, where) in enumerate(names.items()):
            rows = [14 * i + 3 * k + j for i in range(N) for j in range(3)]
            terms = parts[0][rows] + parts[1][rows]
            out[f"derivative of {name} along a motion of the tree, {where}"] = float(
                np.abs(terms.sum(axis=1)).max() / np.abs(terms).max()
            )
        return out

    def rows_by_blocks(self, sigma: float) -> ca.Function:
        """Return (x, xdot) -> J = dE/dX + sigma dE/dXdot in the rows of G, Gd and F, from the paper's blocks, (14 n, 14 n)."""
        n, K = len(self.links), blocks(self.links, self.bodies, SX(GRAVITY), SX(sigma))
        J = SX.zeros(14 * n, 14 * n)
        for i in range(n):
            J[rows_of(i, "G"), columns_of(i, "R")] = SX.eye(3)
            J[rows_of(i, "Gd"), columns_of(i, "V")] = SX.eye(3)
            J[rows_of(i, "F"), columns_of(i, "p")] = K[i].F_p
            J[rows_of(i, "F"), columns_of(i, "s")] = K[i].F_s
            for k in range(n):
                J[rows_of(i, "G"), columns_of(k, "p")] = lower(i, k, K[k].La, K[k].Lr)
                J[rows_of(i, "Gd"), columns_of(k, "p")] = lower(i, k, K[k].La_rate, K[k].Lr_rate)
                J[rows_of(i, "Gd"), columns_of(k, "s")] = lower(i, k, K[k].La, K[k].Lr)
                J[rows_of(i, "F"), columns_of(k, "V")] = sigma * self.links[k].m * upper(i, k, K[i])
        return ca.Function("rows", [self.x, self.xdot], [ca.densify(J)])

    def rate_error(self, rng: np.random.Generator) -> float:
        """Return how far -sigma dX of a first correction from rates of zero is from Xdot of the tree, relative."""
        before, rates = self.from_tree(rng)
        sigma = SX.sym("sigma")
        found = correction(self.links, self.bodies, self.pdot, SX(SUPPORT), SX(GRAVITY), sigma)
        dX = ca.vertcat(*(ca.vertcat(c.R, c.V, c.p, c.s) for c in found))
        f = ca.Function("rates", [self.x, self.xdot, sigma], [-sigma * dX])
        coarse, fine = (np.array(f(before, np.zeros(before.size), k * FINE)).ravel() for k in (1, 2))
        return relative(2 * fine - coarse, rates)

    def tree_residual(self, rng: np.random.Generator) -> float:
        """Return |E| where the accelerations are those that articulus finds for a tree with spherical joints."""
        return float(ca.norm_inf(ca.Function("E", [self.x, self.xdot], [self.rows])(*self.from_tree(rng))))

    def from_tree(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return X and Xdot of a random state of the tree."""
        tree = self.tree()
        return self.state(tree, *self.random_state(rng, tree))

    def random_state(self, rng: np.random.Generator, tree: art.Mechanism) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([unit(rng.normal(size=4)) for _ in self.links]), rng.normal(size=tree.nv)

    def state(self, tree: art.Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return X and Xdot of a state of the tree, with the accelerations that it has."""
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
    first, size = {"R": (0, 3), "V": (3, 3), "p": (6, 4), "s": (10, 4)}[name]
    return slice(14 * k + first, 14 * k + first + size)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def quaternion_product(a: np.ndarray | list[float], b: np.ndarray) -> np.ndarray:
    u, w = np.asarray(a[1:]), np.asarray(b[1:])
    return np.array([a[0] * b[0] - u @ w, *(a[0] * w + b[0] * u + np.cross(u, w))])
