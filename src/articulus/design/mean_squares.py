"""Mean squares of controls and outputs of a disturbed structure under feedback, with exact derivatives.

x' = F x + G u + E w with white w of unit intensity; F_c X + X F_c' + E E' = 0 of the closed loop F_c gives E[z' W z] = tr(C' W C X).
Derivatives are adjoints: F_c' Y + Y F_c + S = 0 for each mean square tr(S X), and one Lyapunov equation more for what comes through
the Riccati equation, all with one Schur form. Source: McLaren & Slater 1989, sections 2-4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.design.sized_structure import SizedPlant
from articulus.numerics.lyapunov import Lyapunov, one_thread
from articulus.numerics.riccati import care


@dataclass(frozen=True, eq=False)
class MeanSquareLimit:
    """A limit on the mean square of some controls or outputs: E[s' W s] at most `limit`.

    Parameters
    ----------
    name : str
    entries : tuple of int
        Numbers of the controls or outputs.
    limit : float [unit of s, squared]
    weight : array, (entries, entries)
        W; the identity if not given.
    """

    name: str
    entries: tuple[int, ...]
    limit: float
    weight: np.ndarray | None = None

    def whole(self, count: int) -> np.ndarray:
        """Return the weight among all controls or outputs, (count, count)."""
        out = np.zeros((count, count))
        out[np.ix_(self.entries, self.entries)] = (
            np.eye(len(self.entries)) if self.weight is None else self.weight
        )
        return out


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares at one design.

    Parameters
    ----------
    values : array, (limits,)
        Efforts first, then responses; infinite if the loop is not stable.
    by_sizes : array, (limits, sizes)
        Their derivatives.
    by_feedback : array, (limits, parameters of the feedback)
        Derivatives by the logarithms of the multipliers, or by the entries of the gain, row by row.
    gain : array, (controls, measured)
        K in u = -K y.
    stable : bool
    """

    values: np.ndarray
    by_sizes: np.ndarray
    by_feedback: np.ndarray
    gain: np.ndarray
    stable: bool


def lqr_mean_squares(
    plant: SizedPlant,
    efforts: tuple[MeanSquareLimit, ...],
    responses: tuple[MeanSquareLimit, ...],
    multipliers: np.ndarray,
) -> MeanSquares:
    """Return the mean squares under the feedback that the Kuhn-Tucker conditions ask for, u = -R^-1 G' P x.

    R = sum of (multiplier / limit) W over the efforts, Q the same over the responses, whose first multiplier is one.

    Parameters
    ----------
    plant : SizedPlant
    efforts, responses : tuples of MeanSquareLimit
    multipliers : array, (efforts + responses - 1,)
        Those of the efforts, then those of all responses but the first.
    """
    A, B, C = plant.A, plant.B, plant.C
    shares = np.concatenate([multipliers[: len(efforts)], [1.0], multipliers[len(efforts) :]]) / np.array(
        [x.limit for x in (*efforts, *responses)]
    )
    of_controls = [x.whole(B.shape[1]) for x in efforts]
    of_states = [C.T @ x.whole(len(C)) @ C for x in responses]
    R = np.tensordot(shares[: len(efforts)], of_controls, 1)
    Q = np.tensordot(shares[len(efforts) :], of_states, 1)
    solution = care(A, B, Q, R)
    P, gain = solution.X, solution.gain
    with one_thread():
        operator = Lyapunov(solution.closed)
        X = operator.solve(plant.E @ plant.E.T)
        values, by_sizes, by_multipliers = [], [], []
        for k, weight in enumerate((*of_controls, *of_states)):
            effort = k < len(efforts)
            S = gain.T @ weight @ gain if effort else weight
            Y = operator.solve_transposed(S)
            YX = Y @ X
            by_gain = (2 * weight @ gain @ X if effort else 0.0) - 2 * B.T @ YX
            N = np.linalg.solve(R, by_gain)
            through = B @ N
            Z = operator.solve((through + through.T) / 2)
            PZ = P @ Z
            by_R = gain @ Z @ gain.T - N @ gain.T
            values.append(np.vdot(S, X))
            by_sizes.append(plant.slopes(2 * (YX + PZ), P @ N.T - 2 * (YX + PZ) @ gain.T, 2 * Y @ plant.E))
            by_share = [np.vdot(by_R, W) for W in of_controls] + [np.vdot(Z, W) for W in of_states]
            by_multipliers.append(np.delete(by_share * shares, len(efforts)))
    stable = bool(operator.poles.real.max() < 0)
    return MeanSquares(np.array(values), np.array(by_sizes), np.array(by_multipliers), gain, stable)


def output_mean_squares(
    plant: SizedPlant,
    efforts: tuple[MeanSquareLimit, ...],
    responses: tuple[MeanSquareLimit, ...],
    gain: np.ndarray,
    measured: np.ndarray,
) -> MeanSquares:
    """Return the mean squares under u = -K y, y = measured x.

    Parameters
    ----------
    plant : SizedPlant
    efforts, responses : tuples of MeanSquareLimit
    gain : array, (controls, measured)
    measured : array, (measured, states)
    """
    A, B, C = plant.A, plant.B, plant.C
    feedback = gain @ measured
    weights = [x.whole(B.shape[1]) for x in efforts] + [C.T @ x.whole(len(C)) @ C for x in responses]
    with one_thread():
        operator = Lyapunov(A - B @ feedback)
        if not operator.poles.real.max() < 0:
            nothing = np.full(len(weights), np.inf)
            return MeanSquares(
                nothing,
                np.zeros((len(weights), plant.sizes.size)),
                np.zeros((len(weights), gain.size)),
                gain,
                False,
            )
        X = operator.solve(plant.E @ plant.E.T)
        values, by_sizes, by_gain = [], [], []
        for k, weight in enumerate(weights):
            effort = k < len(efforts)
            S = feedback.T @ weight @ feedback if effort else weight
            Y = operator.solve_transposed(S)
            YX = Y @ X
            values.append(np.vdot(S, X))
            by_sizes.append(plant.slopes(2 * YX, -2 * YX @ feedback.T, 2 * Y @ plant.E))
            slope = (2 * weight @ feedback @ X if effort else 0.0) - 2 * B.T @ YX
            by_gain.append((slope @ measured.T).ravel())
    return MeanSquares(np.array(values), np.array(by_sizes), np.array(by_gain), gain, True)
