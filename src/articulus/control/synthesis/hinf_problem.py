"""The two Riccati equations of Hinf control with a general D11, as stable subspaces of their Hamiltonian matrices.

Glover & Doyle 1988; the controller is formed as a descriptor system from the subspaces, without inverse (Safonov,
Limebeer & Chiang 1989), so that it exists at the optimum, where its order falls.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from articulus.control.analysis.scaling import scale_states
from articulus.control.design import Check
from articulus.control.modes import require_detectable, require_stabilizable, unstable_modes
from articulus.control.plant import PlantPartition
from articulus.control.riccati import riccati
from articulus.errors import InputError
from articulus.numerics.riccati import RiccatiSolution
from articulus.numerics.subspaces import stable_subspace

FULL_RANK = 1e-9
"""Smallest singular value of D12 and D21, over the largest, at which they count as of full rank."""
CANCELLED = 1e-8
"""What is left of P11 where the commands can cancel it, over its size, that rounding can account for."""
ROUNDING = 1e-9
"""Negative eigenvalue of a Riccati solution, over its scale, that rounding can account for."""

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class ZeroOnAxis(InputError):
    """A zero of P12 or P21 on the imaginary axis; `scale` is the middle size of the poles of a closed loop of the problem [rad/s]."""

    scale: float = 1.0


@dataclass(frozen=True)
class Side:
    """One of the two equations: that of state feedback, or, on the transposed plant, that of the estimator.

    x' = A x + B1 w + B2 u, z = C1 x + D11 w + D12 u with D12 = [0; I].
    """

    A: np.ndarray
    B1: np.ndarray
    B2: np.ndarray
    C1: np.ndarray
    D11: np.ndarray
    D12: np.ndarray

    @cached_property
    def B(self) -> np.ndarray:
        return np.hstack([self.B1, self.B2])

    @cached_property
    def D(self) -> np.ndarray:
        return np.hstack([self.D11, self.D12])

    def weight(self, gamma: float) -> np.ndarray:
        """Return R = D'D - diag(gamma^2 I, 0)."""
        R = self.D.T @ self.D
        k = np.arange(self.B1.shape[1])
        R[k, k] -= gamma**2
        return R

    def hamiltonian(self, gamma: float) -> tuple[np.ndarray, float]:
        """Return the Hamiltonian matrix for X / scale and the scale at which its two corners are of like size."""
        n = len(self.A)
        left = np.vstack([self.B, -self.C1.T @ self.D])
        H = np.block([[self.A, np.zeros((n, n))], [-self.C1.T @ self.C1, -self.A.T]])
        H -= left @ np.linalg.solve(self.weight(gamma), np.hstack([self.D.T @ self.C1, self.B.T]))
        scale = self.scale(gamma)
        H[:n, n:] *= scale
        H[n:, :n] /= scale
        return H, scale

    def scale(self, gamma: float = np.inf) -> float:
        """Return the size of X that the sizes of C1 and B suggest; rounding in X is relative to it."""
        into = np.linalg.norm(np.hstack([self.B1 / gamma, self.B2]))
        return float(np.linalg.norm(self.C1) / into) or 1.0 if into > 0 else 1.0

    def subspace(self, gamma: float) -> GammaSubspace | None:
        """Return the stable invariant subspace; None when eigenvalues of the Hamiltonian matrix lie on the imaginary axis."""
        n = len(self.A)
        H, scale = self.hamiltonian(gamma)
        found = stable_subspace(H)
        return None if found is None else GammaSubspace(found.basis[:n], found.basis[n:], found.T, scale)

    @cached_property
    def limit_solution(self) -> RiccatiSolution:
        """The Riccati solution for gamma without bound."""
        Q, S = self.C1.T @ self.C1, self.C1.T @ self.D12
        return riccati(self.A, self.B2, Q, np.eye(self.B2.shape[1]), S, period=None, method="hinfsyn")

    @property
    def without_bound(self) -> tuple[np.ndarray, np.ndarray]:
        """X and the state feedback F (u = F x) for gamma without bound; P12 with this feedback is inner."""
        return self.limit_solution.X, -self.limit_solution.gain

    def projected_gain(self, omega: np.ndarray) -> float:
        """Return the largest singular value of (I - P12 (P12* P12)^-1 P12*) P11 over frequencies [rad/s].

        Nothing below it is possible; the Hamiltonian matrix has an eigenvalue j omega where it equals gamma.
        """
        F = self.without_bound[1]
        A, C = self.A + self.B2 @ F, self.C1 + self.D12 @ F
        least = 0.0
        for w in omega:
            states = np.linalg.solve(1j * w * np.eye(len(A)) - A, self.B)
            P = C @ states + self.D
            P11, P12 = P[:, : self.B1.shape[1]], P[:, self.B1.shape[1] :]
            rest = P11 - P12 @ (P12.conj().T @ P11)
            found = float(np.linalg.norm(rest, 2)) if rest.size else 0.0
            if found > CANCELLED * np.linalg.norm(P11):
                least = max(least, found)
        return least

    def at_infinity(self) -> float:
        """Return the same at infinite frequency: what D11 alone demands."""
        rest = self.D11[: len(self.D11) - self.B2.shape[1]]
        return float(np.linalg.norm(rest, 2)) if rest.size else 0.0

    @cached_property
    def lower_bound(self) -> float:
        """Return the largest gamma at which the Hamiltonian matrix has eigenvalues on the imaginary axis, to 1e-9 of it.

        Levels are raised to the largest value between crossings (Boyd & Balakrishnan 1990, Bruinsma & Steinbuch 1990).
        """
        F = self.without_bound[1]
        values = np.linalg.eigvals(self.A + self.B2 @ F)
        upper = values[values.imag >= 0]
        found = max(self.at_infinity(), self.projected_gain(np.unique(np.r_[0.0, np.abs(upper), upper.imag])))
        if found <= CANCELLED * np.linalg.norm(self.D):
            return 0.0
        while True:
            level = found * (1 + 1e-9)
            between = crossings(np.linalg.eigvals(self.hamiltonian(level)[0]))
            higher = self.projected_gain(between)
            if higher <= level:
                return level
            found = higher


def crossings(values: np.ndarray) -> np.ndarray:
    """Return frequencies at and between eigenvalues of a Hamiltonian matrix that lie near the imaginary axis, (k,)."""
    size = np.abs(values).max(initial=0.0)
    near = values[(np.abs(values.real) < 1e-6 * np.abs(values) + 1e-14 * size) & (values.imag >= 0)]
    omega = np.sort(near.imag)
    return np.unique(np.r_[omega, 0.5 * (omega[1:] + omega[:-1])]) if len(omega) else omega


@dataclass(frozen=True)
class GammaSubspace:
    """A stable subspace [X1; X2] with X = scale X2 X1^-1, and the matrix T of the flow in it."""

    X1: np.ndarray
    X2: np.ndarray
    T: np.ndarray
    scale: float

    @cached_property
    def X(self) -> np.ndarray:
        try:
            found = self.scale * np.linalg.solve(self.X1.T, self.X2.T)
        except np.linalg.LinAlgError:  # X is infinite at this gamma: as large as rounding leaves it
            found = self.scale * np.linalg.solve(
                self.X1.T + np.finfo(float).eps * np.eye(len(self.X1)), self.X2.T
            )
        return 0.5 * (found + found.T)

    @cached_property
    def least(self) -> float:
        """Smallest 1 / eigenvalue of X: passes through zero where X becomes infinite; infinite for X = 0."""
        values = np.linalg.eigvalsh(self.X)
        return _reciprocal(values, self.scale)


def _reciprocal(values: np.ndarray, scale: float) -> float:
    """Return 1 / the most negative value, or, if there is none beyond rounding, 1 / the largest."""
    small = ROUNDING * max(scale, np.abs(values).max(initial=0.0))
    if values.min(initial=0.0) < -small:
        return 1.0 / float(values.min())
    most = float(values.max(initial=0.0))
    return 1.0 / most if most > small else np.inf


@dataclass(frozen=True)
class HinfProblem:
    """A plant with D12 = [0; I], D21 = [0, I], D22 = 0 and scaled states, and the way back.

    Parameters
    ----------
    state, estimate : Side
        The second on the transposed plant.
    su, sy : arrays
        The plant's u = su u~ and y~ = sy y.
    D22 : array
    shift : float [rad/s]
        The problem is that of the plant P(s - shift): its closed loop at the imaginary axis is that of the plant left of it.
    """

    state: Side
    estimate: Side
    su: np.ndarray
    sy: np.ndarray
    D22: np.ndarray
    shift: float = 0.0

    @staticmethod
    def of(parts: PlantPartition, method: str, shift: float = 0.0) -> HinfProblem:
        """Return the problem of a continuous plant; raise InputError naming what no controller can overcome."""
        model = scale_states(parts.model)[0]
        model = dataclasses.replace(model, A=model.A + shift * np.eye(len(model.A)))
        p = PlantPartition(model, parts.w, parts.u, parts.z, parts.y)
        names = tuple(model.inputs[i] for i in p.u), tuple(model.outputs[i] for i in p.y)
        modes = unstable_modes(model)
        require_stabilizable(model, p.B2, method, names[0], modes)
        require_detectable(model, p.C2, method, names[1], modes)
        Uz, su = _unit(p.D12, method, "D12", "commands", names[0], "errors z", "columns")
        Vw, sy = _unit(p.D21.T, method, "D21", "measured outputs", names[1], "disturbances w", "rows")
        B1, C1, D11 = p.B1 @ Vw, Uz.T @ p.C1, Uz.T @ p.D11 @ Vw
        B2, C2 = p.B2 @ su, sy.T @ p.C2
        state = Side(p.A, B1, B2, C1, D11, _zero_over_one(len(C1), B2.shape[1]))
        estimate = Side(p.A.T, C1.T, C2.T, B1.T, D11.T, _zero_over_one(B1.shape[1], len(C2)))
        _no_zeros(
            state,
            method,
            "P12 (commands to errors)",
            "the commands could cancel the error there; weight them more",
        )
        _no_zeros(
            estimate,
            method,
            "P21 (disturbances to measured)",
            "noise is missing there; add some (of mixsyn: the plant has a pole there, and nothing disturbs its input)",
        )
        return HinfProblem(state, estimate, su, sy.T, p.D22, shift)

    @cached_property
    def h2_norm(self) -> float:
        """Least H2 norm of the problem with D11 = 0; zero if nothing beyond rounding is left."""
        (X, F), (Y, _) = self.state.without_bound, self.estimate.without_bound
        B1 = self.state.B1
        left = np.linalg.eigvalsh(X).max(initial=0.0) <= ROUNDING * self.state.scale()
        right = np.linalg.eigvalsh(Y).max(initial=0.0) <= ROUNDING * self.estimate.scale()
        return 0.0 if left and right else float(np.sqrt(np.trace(B1.T @ X @ B1) + np.trace(F @ Y @ F.T)))

    def tests(self, gamma: float) -> tuple[list[Check], GammaSubspace | None, GammaSubspace | None]:
        """Return the existence tests at gamma in the order of Chiang & Safonov 1989, and the two subspaces."""
        bound = max(self.state.at_infinity(), self.estimate.at_infinity())
        done = [Check("test 1: D11 small enough (least gamma)", bound, gamma, bound < gamma)]
        if bound >= gamma:
            return done, None, None
        results = []
        for number, side, what in ((2, self.state, "state feedback X"), (3, self.estimate, "estimator Y")):
            least = side.lower_bound
            space = side.subspace(gamma) if least <= gamma else None
            name = f"test {number}a: Hamiltonian matrix of the {what} without roots on the imaginary axis (least gamma)"
            done.append(Check(name, least, gamma, space is not None))
            if space is None:
                return done, None, None
            done.append(
                Check(
                    f"test {number}b: {what} positive semidefinite (1 / its eigenvalues)",
                    space.least,
                    0.0,
                    space.least > 0,
                )
            )
            results.append(space)
        radius = spectral_radius(*results)
        done.append(
            Check("test 4: spectral radius of X Y over gamma^2", radius / gamma**2, 1.0, radius < gamma**2)
        )
        return done, results[0], results[1]

    def room(self, t: float) -> np.ndarray:
        """Return three numbers that are positive where a controller exists, as functions of t = 1 / gamma^2.

        1 / rho(X Y) - t and 1 / the largest eigenvalues of X and Y; all -1 where a subspace does not exist.
        """
        if t == 0.0:
            X, Y = self.state.without_bound[0], self.estimate.without_bound[0]
            sets = np.linalg.eigvals(X @ Y).real, np.linalg.eigvalsh(X), np.linalg.eigvalsh(Y)
            scales = self.state.scale(), self.estimate.scale()
            return np.array([_reciprocal(v, s) for v, s in zip(sets, (scales[0] * scales[1], *scales))])
        gamma = 1.0 / np.sqrt(t)
        x, y = self.state.subspace(gamma), self.estimate.subspace(gamma)
        if x is None or y is None:
            return -np.ones(3)
        values = np.linalg.eigvals(x.X @ y.X).real
        joint = _reciprocal(values, x.scale * y.scale)
        return np.array([joint - t, x.least, y.least])

    def controller(self, gamma: float, x: GammaSubspace, y: GammaSubspace, singular: float) -> Matrices:
        """Return (A, B, C, D) of the central controller from the measured outputs y to the commands u.

        Directions in which the singular values of the descriptor matrix are below `singular` times the largest, as happens
        at the optimum, are solved for at once.
        """
        s, e = self.state, self.estimate
        m1, p1 = s.B1.shape[1], e.B1.shape[1]
        m2, p2 = s.B2.shape[1], e.B2.shape[1]
        X1, X2, Y1, Y2 = x.X1, x.scale * x.X2, y.X1, y.scale * y.X2
        F = -np.linalg.solve(s.weight(gamma), s.D.T @ s.C1 @ X1 + s.B.T @ X2)
        L = -np.linalg.solve(e.weight(gamma), e.D.T @ e.C1 @ Y1 + e.B.T @ Y2).T
        D = s.D11
        a, b = p1 - m2, m1 - p2
        inner = np.linalg.solve(gamma**2 * np.eye(a) - D[:a, :b] @ D[:a, :b].T, D[:a, b:])
        Dk = -D[a:, :b] @ D[:a, :b].T @ inner - D[a:, b:]
        Bk = -L[:, p1:] + (Y1.T @ s.B2 + L[:, a:p1]) @ Dk
        seen = e.B2.T @ X1 + F[b:m1]
        E = Y1.T @ X1 - Y2.T @ X2 / gamma**2
        return self.of_plant(*explicit(E, E @ x.T - Bk @ seen, Bk, F[m1:] - Dk @ seen, Dk, singular))

    def of_plant(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> Matrices:
        """Return a controller of this problem for the plant as given: its place of the axis, its units of u and y, its D22."""
        A = A - self.shift * np.eye(len(A))
        return without_feedthrough(A, B @ self.sy, self.su @ C, self.su @ D @ self.sy, self.D22)


def spectral_radius(x: GammaSubspace, y: GammaSubspace) -> float:
    """Return the largest eigenvalue of X Y in size."""
    return float(np.abs(np.linalg.eigvals(x.X @ y.X)).max(initial=0.0))


def explicit(
    E: np.ndarray, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, singular: float
) -> Matrices:
    """Return E x' = A x + B u, y = C x + D u without E; directions in which E is singular are solved for at once."""
    U, sigma, Vt = np.linalg.svd(E)
    k = int((sigma > singular * sigma.max(initial=0.0)).sum())
    A, B, C = U.T @ A @ Vt.T, U.T @ B, C @ Vt.T
    if k < len(E):
        rest = np.linalg.solve(A[k:, k:], np.hstack([A[k:, :k], B[k:]]))
        ax, bx = rest[:, :k], rest[:, k:]
        A, B, C, D = (
            A[:k, :k] - A[:k, k:] @ ax,
            B[:k] - A[:k, k:] @ bx,
            C[:, :k] - C[:, k:] @ ax,
            D - C[:, k:] @ bx,
        )
    root = np.sqrt(sigma[:k])
    return A / root[:, None] / root, B / root[:, None], C / root, D


def without_feedthrough(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, D22: np.ndarray
) -> Matrices:
    """Return K (I + D22 K)^-1: the controller of a plant with D22, from that of the plant without."""
    if not D22.any():
        return A, B, C, D
    S = np.linalg.inv(np.eye(len(D22)) + D22 @ D)
    return A - B @ S @ D22 @ C, B @ S, C - D @ S @ D22 @ C, D @ S


def _zero_over_one(rows: int, columns: int) -> np.ndarray:
    return np.vstack([np.zeros((rows - columns, columns)), np.eye(columns)])


def _unit(
    D: np.ndarray, method: str, name: str, what: str, names: tuple[str, ...], other: str, which: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return U, S with U orthogonal and U' D S = [0; I]; raise InputError naming the signal without direct share."""
    rows, columns = D.shape
    if rows < columns:
        raise InputError(
            f"{method}: found {columns} {what} and {rows} {other}; expected at least as many {other}: {name} must have independent {which}"
        )
    U, sigma, Vt = np.linalg.svd(D)
    if not sigma.min() > FULL_RANK * sigma.max():
        weak = names[int(np.argmax(np.abs(Vt[-1])))]
        raise InputError(
            f"{method}: found {name} with the singular values {', '.join(f'{v:.3g}' for v in sigma[:6])}; expected independent {which}: "
            f"'{weak}' has no direct share in the {other}; add a small weight on it"
        )
    return np.hstack([U[:, columns:], U[:, :columns]]), Vt.T / sigma


def _no_zeros(side: Side, method: str, what: str, hint: str) -> None:
    """Raise InputError naming the zeros on the imaginary axis."""
    n = len(side.A)
    free = side.A - side.B2 @ side.D12.T @ side.C1
    rest = side.C1 - side.D12 @ (side.D12.T @ side.C1)
    H = np.block([[free, -side.B2 @ side.B2.T], [-rest.T @ rest, -free.T]])
    values = np.linalg.eigvals(H)
    size = np.abs(values).max(initial=0.0)
    doubtful = values[np.abs(values.real) <= 1e-7 * size]
    for s in doubtful[doubtful.imag >= 0]:
        pencil = np.block([[side.A - 1j * s.imag * np.eye(n), side.B2], [side.C1, side.D12]])
        if np.linalg.svd(pencil, compute_uv=False)[-1] < 1e-9 * np.linalg.norm(pencil, 2):
            error = ZeroOnAxis(
                f"{method}: found a zero of {what} on the imaginary axis, at {s.imag:.6g} rad/s; expected none; {hint}"
            )
            felt = np.abs(values)[np.abs(values) > 1e-7 * size]
            error.scale = float(np.exp(np.mean(np.log(felt)))) if len(felt) else 1.0
            raise error
