"""Chains of hinges hold an object: the O(m N) algorithm against one dense system of equations in NumPy."""

import functools

import casadi as ca
import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.dynamics.loops.contact import HARD_POINT, RIGID, GeneralJoint
from articulus.dynamics.loops.multiple_chains import Grasp, multiple_chains

GRASPS = {
    "three chains, N = 6, n_c = 6": [(6, RIGID)] * 3,
    "three chains, N = 6, n_c = 3": [(6, HARD_POINT)] * 3,
    "N = 7, 6, 5 with n_c = 6, 3, 3": [(7, RIGID), (6, HARD_POINT), (5, HARD_POINT)],
    "three chains, N = 3, n_c = 3": [(3, HARD_POINT)] * 3,
}
AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))


def compute() -> dict:
    out = {f"accelerations, {label}": error(grasps) for label, grasps in GRASPS.items()}
    by_chains = np.diff([operations(m, 3) for m in (1, 2, 3)])
    by_length = np.diff([operations(1, n) for n in (6, 9, 12)])
    out["operations of the third chain over those of the second"] = by_chains[1] / by_chains[0]
    out["operations of joints 10-12 over those of joints 7-9"] = by_length[1] / by_length[0]
    return out


def error(grasps: list[tuple[int, GeneralJoint]]) -> float:
    """Return the largest difference of any acceleration from the dense solution, relative."""
    held, arms = member(), [arm(n) for n, _ in grasps]
    contacts = [contact for _, contact in grasps]
    rng = np.random.default_rng(len(grasps) + grasps[-1][0])
    q0 = rng.normal(size=7)
    args = [
        q0 / np.r_[np.full(4, np.linalg.norm(q0[:4])), np.ones(3)],
        rng.normal(size=6),
        rng.normal(size=6),
    ]
    for mechanism, contact in zip(arms, contacts):
        args += [rng.normal(size=mechanism.nv) for _ in range(3)] + [np.zeros(6 - contact.n_c)]
    algorithm = multiple_chains(
        held.description, "object", [Grasp(a.description, "tip", c) for a, c in zip(arms, contacts)]
    )
    found = dict(zip(algorithm.name_out(), algorithm.call(args)))
    vdot = np.concatenate([np.array(found[f"vdot_{k}"]).ravel() for k in range(len(arms) + 1)])
    return relative(vdot, Dense(held, arms, contacts, args).accelerations())


def operations(m: int, n: int) -> int:
    """Return the operations for m chains of n hinges on hard points."""
    return multiple_chains(
        member().description, "object", [Grasp(arm(n).description, "tip", HARD_POINT)] * m
    ).n_instructions()


@functools.cache
def arm(n: int) -> art.Mechanism:
    """Return a chain of n equal links with hinges about z, y, x in turn."""
    mechanism = art.Mechanism(f"chain of {n}")
    for i in range(n):
        mechanism.body(f"link{i}", mass=2.0, com=(0.1, 0.02, -0.03), inertia=(0.02, 0.05, 0.04))
        parent, at = (f"link{i - 1}", (0.3, 0.05, 0.1)) if i else ("ground", (0.0, 0.0, 0.0))
        mechanism.joint(f"joint{i}", art.Revolute(AXES[i % 3]), parent, f"link{i}", at=at)
    return mechanism.frame("tip", f"link{n - 1}", at=(0.3, 0.1, 0.05))


@functools.cache
def member() -> art.Mechanism:
    held = art.Mechanism("held").body("object", mass=5.0, com=(0.1, 0.0, 0.05), inertia=(0.3, 0.4, 0.5))
    return held.joint("flight", art.Free(), "ground", "object")


@functools.cache
def function(mechanism: art.Mechanism, name: str, *frames: str) -> ca.Function:
    return mechanism.function(name, frames)


class Dense:
    """All bodies and contacts in one system M vdot + G' lambda = f, G vdot + gamma = 0."""

    def __init__(
        self,
        held: art.Mechanism,
        arms: list[art.Mechanism],
        contacts: list[GeneralJoint],
        args: list[np.ndarray],
    ):
        parts = [held, *arms]
        states = [args[:3], *(args[3 + 4 * k : 6 + 4 * k] for k in range(len(arms)))]
        self.at = np.cumsum([0, *(p.nv for p in parts)])
        self.parts, self.contacts = parts, contacts
        self.q, self.v = [s[0] for s in states], np.concatenate([s[1] for s in states])
        self.M, self.f = np.zeros((self.at[-1],) * 2), np.zeros(self.at[-1])
        for k, (part, (q, v, tau)) in enumerate(zip(parts, states)):
            own = slice(self.at[k], self.at[k + 1])
            self.M[own, own] = np.array(function(part, "mass_matrix")(q))
            self.f[own] = tau - np.array(function(part, "bias")(q, v)).ravel()
        frames = ["object", *["tip"] * len(arms)]
        self.poses = [function(p, "pose", frame) for p, frame in zip(parts, frames)]
        self.jacobians = [function(p, "jacobian", frame) for p, frame in zip(parts, frames)]
        self.moved = [function(p, "integrate_position") for p in parts]

    def accelerations(self) -> np.ndarray:
        G, m = self.rows(0.0), sum(c.n_c for c in self.contacts)
        e = 1e-3
        rates = [(self.rows(s * e) - self.rows(-s * e)) / (2 * s * e) for s in (1, 2)]
        gamma = (4 * rates[0] - rates[1]) / 3 @ self.v
        whole = np.block([[self.M, G.T], [G, np.zeros((m, m))]])
        return np.linalg.solve(whole, np.concatenate([self.f, -gamma]))[: len(self.f)]

    def rows(self, dt: float) -> np.ndarray:
        """Return G after dt seconds at constant v: what the contacts stop, in the axes of the tips."""
        ends = zip(self.at[:-1], self.at[1:])
        q = [np.array(f(x, dt * self.v[a:b])).ravel() for f, x, (a, b) in zip(self.moved, self.q, ends)]
        poses = [np.array(f(x)) for f, x in zip(self.poses, q)]
        J = [np.array(f(x)) for f, x in zip(self.jacobians, q)]
        G = []
        for k, contact in enumerate(self.contacts, 1):
            both = np.zeros((6, self.at[-1]))
            r = poses[k][:3, 3] - poses[0][:3, 3]
            both[:3, :6] = J[0][:3]
            both[3:, :6] = J[0][3:] - np.cross(r, J[0][:3].T).T
            both[:, self.at[k] : self.at[k + 1]] = -J[k]
            in_tip = np.kron(np.eye(2), poses[k][:3, :3].T) @ both
            G.append(contact.constraint_space().T @ in_tip)
        return np.vstack(G)
