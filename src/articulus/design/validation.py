"""A model against a measured run, both ways: measured forces in and motion compared, measured motion in and forces compared."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, did_you_mean, doubtful
from articulus.model.files.storage import write_text
from articulus.model.files.units import parse_unit
from articulus.numerics.lyapunov import one_thread
from articulus.simulation.loop.components.prescribed import PrescribedForce
from articulus.simulation.loop.table import Table
from articulus.simulation.running.loop import Loop
from articulus.study.records import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ILL = 10.0
"""Relative error of a position for a relative error of the force that holds it, above which statics do not tell where a machine stands."""
POOR = 0.2
"""Root-mean-square difference, over the spread of what was measured, above which a model is doubted."""
END_ROUNDS = 1
"""Corrections of the accelerations at the ends of a smoothed record; each takes away what the last one left."""
SAME = 1e-12
"""Spread of a measured signal, over its size, that is rounding: it does not change."""
ROUNDS, CLOSED = 25, 1e-10
"""Newton steps on closed loops, and residuals (over their sizes) that count as closed."""


@dataclass(frozen=True, eq=False)
class SignalComparison:
    """A computed history beside a measured one.

    Parameters
    ----------
    name : str
    unit : str
    t, measured, computed : array, (samples,)
    """

    name: str
    unit: str
    t: np.ndarray
    measured: np.ndarray
    computed: np.ndarray

    @property
    def rms(self) -> float:
        """Root-mean-square difference, in the unit."""
        return float(np.sqrt(np.nanmean((self.computed - self.measured) ** 2)))

    @property
    def relative(self) -> float:
        """The same over the spread of what was measured [-]; infinite for what does not change, but zero where nothing differs."""
        spread = float(np.nanstd(self.measured))
        if spread > SAME * float(np.nanmax(np.abs(self.measured), initial=0.0)):
            return self.rms / spread
        return np.inf if self.rms > 0 else 0.0

    @property
    def worst(self) -> tuple[float, float]:
        """Time [s] and size of the largest difference."""
        left = np.abs(self.computed - self.measured)
        k = int(np.nanargmax(left))
        return float(self.t[k]), float(left[k])

    @property
    def drift(self) -> float:
        """Slope of the difference over time, times the duration: what builds up, in the unit."""
        kept = ~np.isnan(self.measured)
        slope = np.polyfit(self.t[kept], (self.computed - self.measured)[kept], 1)[0]
        return float(slope * (self.t[-1] - self.t[0]))


@dataclass(frozen=True, eq=False)
class Validation:
    """How well a model says what was measured.

    Parameters
    ----------
    forward, inverse : tuple of SignalComparison
        Positions from measured forces; forces from measured positions.
    friction, deviations : dict of parameter to value
        Estimated from the forces that the motion does not explain, and standard deviations.
    start_condition : float
        Relative error of the position by which the run starts for a relative error of the force that holds it.
    start : str
        Where the initial state comes from.
    warnings : tuple of str
    """

    forward: tuple[SignalComparison, ...]
    inverse: tuple[SignalComparison, ...]
    friction: dict[str, float]
    deviations: dict[str, float]
    start_condition: float
    start: str
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no reason to doubt."""
        return not self.warnings

    def __str__(self) -> str:
        rows = [
            f"  {c.name}: {c.rms:.4g} {c.unit} rms ({_share(c)}), worst {c.worst[1]:.4g} at {c.worst[0]:.4g} s, drift {c.drift:.3g}"
            for c in (*self.forward, *self.inverse)
        ]
        rows += [f"  {n} = {x:.5g} +- {self.deviations[n]:.2g}" for n, x in self.friction.items()]
        return "\n".join(
            [f"validation, started from {self.start}", *rows, *(f"  doubt: {w}" for w in self.warnings)]
        )

    def record(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them."""
        return {
            "ok": self.ok, "warnings": list(self.warnings), "start": self.start, "start_condition": self.start_condition, "forward": [_figures(c) for c in self.forward],
            "inverse": [_figures(c) for c in self.inverse], "friction": self.friction, "deviations": self.deviations,
        }  # fmt: skip

    def to_json(self, path: str | Path) -> None:
        """Write the figures."""
        write_text(path, json.dumps(self.record(), indent=1) + "\n")

    def plot(self) -> Figure:
        """Return a figure: every history as it was measured and as it was computed."""
        import matplotlib.pyplot as plt

        both = (*self.forward, *self.inverse)
        figure, panels = plt.subplots(
            len(both), 1, sharex=True, squeeze=False, figsize=(7, 2.2 * len(both)), layout="constrained"
        )
        for axes, c in zip(panels[:, 0], both):
            axes.plot(c.t, c.measured, color="0.6", linewidth=2, label="measured")
            axes.plot(c.t, c.computed, color="black", linewidth=0.9, label="computed")
            axes.set_ylabel(f"{c.name} [{c.unit}]")
        panels[0, 0].legend(fontsize=8)
        panels[-1, 0].set_xlabel("time [s]")
        return figure

    def to_html(self, path: str | Path) -> None:
        """Write a page that says how good the model is and where it fails."""
        from articulus.design.fit_report import page_of

        write_text(path, page_of("Validation", f"<pre>{html.escape(str(self))}</pre>", [self.plot()]))


def _share(c: SignalComparison) -> str:
    """Return the relative difference in words."""
    return f"{100 * c.relative:.3g} % of its spread" if np.isfinite(c.relative) else "and it does not change"


def _figures(c: SignalComparison) -> dict[str, Any]:
    return {
        "name": c.name,
        "unit": c.unit,
        "rms": c.rms,
        "relative": c.relative if np.isfinite(c.relative) else None,
        "worst": list(c.worst),
        "drift": c.drift,
    }


def validate(
    mechanism: Mechanism,
    record: Record,
    positions: Mapping[str, str],
    forces: Mapping[str, str],
    *,
    friction: Sequence[str] = (),
    pieces: Sequence[tuple[float, int]] = (),
    start: str | np.ndarray = "position",
    step: float = 5e-3,
    most: int = 400,
) -> Validation:
    """Return how well a mechanism says what was measured, forward and inverse.

    Parameters
    ----------
    mechanism : Mechanism
        Its degrees of freedom are those of the joints whose positions were measured; hold all others before.
    record : Record
    positions, forces : dict of joint to column
        Measured positions and forces of the driven joints.
    friction : sequence of str
        Parameters of the mechanism, linear in its forces, that are estimated from what the motion does not explain; the run has the estimates.
    pieces : sequence of (end [s], degree)
        Polynomials that smooth the measured positions, one after another with equal values and slopes where they meet: degree 1 or 3; a
        smoothing spline if none are given.
    start : "position", "statics" or array (nq,)
        Where the run begins: at the measured position, or where the measured force holds the machine; with an array where it says.
    step : float [s]
        Of the run.
    most : int
        Samples for the inverse way.

    Notes
    -----
    Source: Yae, Hwang & Chern 1989.
    """
    joints = tuple(positions)
    _check(mechanism, joints, positions, forces, friction, record)
    t = np.linspace(record.t[0], record.t[-1], min(most, len(record)))
    motion = [_smooth(record.t, record[positions[j]], pieces, t) for j in joints]
    with one_thread():
        q, v, vdot = _closed(mechanism, joints, *(np.array([m[k] for m in motion]).T for k in range(3)))
        base = dict.fromkeys(friction, 0.0)
        at = [mechanism.v_names.index(j) for j in forces]
        plain = _forces(mechanism, q, v, vdot, tuple(forces), base)[:, at]
        columns = [
            _forces(mechanism, q, v, vdot, tuple(forces), base | {n: 1.0})[:, at] - plain for n in friction
        ]
        measured = np.array([record.at(t, c) for c in forces.values()]).T
        found, spread = _friction(columns, measured - plain)
    params = dict(zip(friction, np.maximum(found, 0.0).tolist()))
    computed = plain + sum((x * c for x, c in zip(found, columns)), np.zeros_like(plain))
    units = {n: record.units[c] for n, c in (*positions.items(),)}
    inverse = tuple(
        SignalComparison(f"force of {j}", record.units[c], t, measured[:, k], computed[:, k])
        for k, (j, c) in enumerate(forces.items())
    )
    condition = _condition(mechanism, joints, q[0], params, forces)
    q0, said, doubts = _start(mechanism, joints, q[0], start, condition, record, forces, params)
    forward = _forward(mechanism, record, positions, forces, q0, v[0], params, step, units)
    doubts += [
        f"{c.name} is off by {c.rms:.3g} {c.unit}, {_share(c)}, most at {c.worst[0]:.3g} s"
        for c in (*forward, *inverse)
        if c.relative > POOR
    ]
    doubts += [
        f"{n} = {x:.4g} is below zero: something else than friction is missing"
        for n, x in zip(friction, found)
        if x < 0
    ]
    for text in doubts:
        doubtful(f"validate '{mechanism.name}': {text}")
    return Validation(
        forward,
        inverse,
        dict(zip(friction, found.tolist())),
        dict(zip(friction, spread.tolist())),
        condition,
        said,
        tuple(doubts),
    )


def _check(
    mechanism: Mechanism,
    joints: tuple[str, ...],
    positions: Mapping[str, str],
    forces: Mapping[str, str],
    friction: Sequence[str],
    record: Record,
) -> None:
    known = list(mechanism.v_names)
    for name in (*joints, *forces):
        if name not in known:
            raise InputError(
                f"validate: no joint '{name}' of one degree of freedom; {did_you_mean(name, known)}"
            )
    for name in friction:
        if name not in mechanism.parameters:
            raise InputError(
                f"validate: no parameter '{name}'; {did_you_mean(name, list(mechanism.parameters))}"
            )
    d = mechanism.description
    for what, columns, units in (
        ("position", positions, d.velocity_units("rad", "m", "-")),
        ("force", forces, d.velocity_units("N m", "N", "-")),
    ):
        for joint, column in columns.items():
            record[column]
            wanted, found = units[known.index(joint)], record.units[column]
            if "-" not in (wanted, found) and parse_unit(found).dimension != parse_unit(wanted).dimension:
                raise InputError(
                    f"validate: column '{column}' of the record '{record.name}' is in {found}; expected {wanted}, the {what} of '{joint}'"
                )
    if not joints or not forces:
        raise InputError("validate: found no positions or no forces; expected columns of both")


def smooth(t: np.ndarray, x: np.ndarray, pieces: Sequence[tuple[float, int]]) -> np.ndarray:
    """Return coefficients of the polynomials (pieces, 4), in powers of the time from the start of each, nearest to samples; values and slopes agree where
    they meet."""
    ends = np.array([e for e, _ in pieces])
    if not (np.diff(ends) > 0).all() or any(d not in (1, 3) for _, d in pieces):
        raise InputError(f"smooth: found pieces {list(pieces)}; expected rising ends and degrees 1 or 3")
    starts = np.concatenate([[t[0]], ends[:-1]])
    where = np.clip(np.searchsorted(ends, t, side="left"), 0, len(ends) - 1)
    A = np.zeros((len(t), 4 * len(ends)))
    for k in range(4):
        A[np.arange(len(t)), 4 * where + k] = (t - starts[where]) ** k
    rows = []
    for i, (_, degree) in enumerate(pieces):
        if degree == 1:
            rows += [np.eye(4 * len(ends))[4 * i + k] for k in (2, 3)]
        if i:
            h = starts[i] - starts[i - 1]
            for powers, own in (([1, h, h**2, h**3], 0), ([0, 1, 2 * h, 3 * h**2], 1)):
                row = np.zeros(4 * len(ends))
                row[4 * i - 4 : 4 * i] = powers
                row[4 * i + own] = -1.0
                rows.append(row)
    good = ~np.isnan(x)
    N = np.eye(4 * len(ends))
    if rows:
        _, s, V = np.linalg.svd(np.array(rows))
        N = V[np.count_nonzero(s > 1e-12 * s[0]) :].T
    scale = np.maximum(np.linalg.norm(A[good] @ N, axis=0), 1e-300)
    return (N @ (np.linalg.lstsq(A[good] @ N / scale, x[good], rcond=1e-12)[0] / scale)).reshape(-1, 4)


def _smooth(
    t: np.ndarray, x: np.ndarray, pieces: Sequence[tuple[float, int]], at: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of smoothed samples at other times."""
    if not pieces:
        return _spline(t[~np.isnan(x)], x[~np.isnan(x)], at)
    c = smooth(t, x, pieces)
    ends = np.array([e for e, _ in pieces])
    where = np.clip(np.searchsorted(ends, at, side="left"), 0, len(ends) - 1)
    h = at - np.concatenate([[t[0]], ends[:-1]])[where]
    a, b, d, e = c[where].T
    return a + h * (b + h * (d + h * e)), b + h * (2 * d + 3 * e * h), 2 * d + 6 * e * h


def _spline(t: np.ndarray, x: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a smoothing spline of cross-validated smoothness at times, and its derivatives, as good at the ends as inside.

    A smoothing spline has no acceleration at its ends: two cubics with one at either end are taken along, in the shares that leave the
    smallest residuals.
    """
    from scipy.interpolate import make_smoothing_spline

    span = t[-1] - t[0]
    ends = [np.polynomial.Polynomial([0, 0, 1, -1 / 3]), np.polynomial.Polynomial([0, 0, 0, 1 / 3])]
    both = np.column_stack([p((t - t[0]) / span) for p in ends])
    shares = np.zeros(2)
    for _ in range(END_ROUNDS):
        rest = x - both @ shares
        spline = make_smoothing_spline(t, rest)
        left = rest - spline(t)
        jumps = np.diff(np.r_[0.0, spline.derivative(3)(t[:-1] + np.diff(t) / 2), 0.0])
        smoothness = abs(float(left @ jumps)) / max(float(jumps @ jumps), 1e-300)  # residuals over jumps
        own = [make_smoothing_spline(t, column, lam=smoothness)(t) for column in both.T]
        shares = shares + np.linalg.lstsq(both - np.column_stack(own), left, rcond=1e-12)[0]
    spline = make_smoothing_spline(t, x - both @ shares)
    out = []
    for k in range(3):
        more = np.array(
            [p.deriv(k)((at - t[0]) / span) / span**k if k else p((at - t[0]) / span) for p in ends]
        )
        out.append(spline(at, k) + shares @ more)
    return out[0], out[1], out[2]


def _closed(
    mechanism: Mechanism, joints: tuple[str, ...], s: np.ndarray, rate: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations of all joints for those of the measured ones, (samples, n) each."""
    own = [mechanism.v_names.index(j) for j in joints]
    rest = np.setdiff1d(np.arange(mechanism.nv), own)
    q = np.broadcast_to(mechanism.neutral, (len(s), mechanism.nq)).copy()
    q[:, [mechanism.q_slice(j).start for j in joints]] = s
    v, vdot = np.zeros((len(s), mechanism.nv)), np.zeros((len(s), mechanism.nv))
    v[:, own], vdot[:, own] = rate, second
    if not len(rest):
        return q, v, vdot
    if mechanism.nv - np.linalg.matrix_rank(mechanism.constraint_jacobian(q[0])) != len(own):
        raise InputError(
            f"validate: the positions of {', '.join(joints)} do not determine '{mechanism.name}'; expected those of all its degrees of freedom: hold the others"
        )
    length = mechanism.description.scales().length
    for _ in range(ROUNDS):
        g, G = mechanism.constraint_residual(q), mechanism.constraint_jacobian(q)[..., rest]
        if np.abs(g).max() <= CLOSED * length:
            break
        move = np.zeros((len(s), mechanism.nv))
        move[:, rest] = -(np.linalg.pinv(G) @ g[..., None])[..., 0]
        q = mechanism.integrate_position(q, move)
    else:
        raise NumericalError(f"validate: '{mechanism.name}' cannot be closed at the measured positions")
    G = mechanism.constraint_jacobian(q)
    back = np.linalg.pinv(G[..., rest])
    v[:, rest] = -(back @ (G[..., own] @ rate[..., None]))[..., 0]
    left = mechanism.constraint_acceleration(q, v, vdot)
    vdot[:, rest] = -(back @ left[..., None])[..., 0]
    return q, v, vdot


def _forces(
    mechanism: Mechanism,
    q: np.ndarray,
    v: np.ndarray,
    vdot: np.ndarray,
    driven: tuple[str, ...],
    params: Mapping[str, float],
) -> np.ndarray:
    return mechanism.inverse_dynamics(q, v, vdot, actuators=driven, params=dict(params) or None)


def _friction(columns: list[np.ndarray], left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return least squares of the friction, and standard deviations."""
    if not columns:
        return np.zeros(0), np.zeros(0)
    A, b = np.array([c.ravel() for c in columns]).T, left.ravel()
    kept = ~np.isnan(b)
    A, b = A[kept], b[kept]
    x, *_ = np.linalg.lstsq(A, b, rcond=None)
    variance = float(np.sum((A @ x - b) ** 2)) / max(len(b) - len(x), 1)
    return x, np.sqrt(variance * np.diag(np.linalg.pinv(A.T @ A)))


def _hold(
    mechanism: Mechanism, joints: tuple[str, ...], s: np.ndarray, forces: Mapping[str, str]
) -> np.ndarray:
    """Return the forces that hold the machine at positions of its joints, (samples, forces)."""
    still = np.zeros_like(s)
    q, v, vdot = _closed(mechanism, joints, s, still, still)
    at = [mechanism.v_names.index(j) for j in forces]
    return _forces(mechanism, q, v, vdot, tuple(forces), {})[:, at]


def _condition(
    mechanism: Mechanism,
    joints: tuple[str, ...],
    q: np.ndarray,
    params: Mapping[str, float],
    forces: Mapping[str, str],
) -> float:
    """Return the change of position, over the mechanism's size, for a relative change of the forces that hold it."""
    s = q[[mechanism.q_slice(j).start for j in joints]]
    size = mechanism.description.scales().displacement[[mechanism.v_names.index(j) for j in joints]]
    h = 1e-4 * size
    held = _hold(
        mechanism,
        joints,
        np.vstack([s, *(s + h * e for e in np.eye(len(s))), *(s - h * e for e in np.eye(len(s)))]),
        forces,
    )
    n = len(s)
    J = (held[1 : 1 + n] - held[1 + n :]).T / (2 * 1e-4)  # by positions over their sizes
    return float(np.linalg.norm(held[0]) / max(np.linalg.svd(J, compute_uv=False)[-1], 1e-300))


def _start(
    mechanism: Mechanism, joints: tuple[str, ...], q: np.ndarray, start: str | np.ndarray, condition: float, record: Record, forces: Mapping[str, str],
    params: Mapping[str, float],
) -> tuple[np.ndarray, str, list[str]]:  # fmt: skip
    if not isinstance(start, str):
        return np.asarray(start, float), "a given position", []
    if start == "position":
        return q, "the measured position", []
    if start != "statics":
        raise InputError(f"validate: found start = '{start}'; expected 'position', 'statics' or an array")
    if condition > ILL:
        return q, "the measured position", [
            f"statics do not tell where it stands: 1 % of force is {condition:.2g} % of position there; the run begins at the measured position, or give a known one"
        ]  # fmt: skip
    places = [mechanism.q_slice(j).start for j in joints]
    wanted = np.array([record[c][~np.isnan(record[c])][:10].mean() for c in forces.values()])
    s, size = (
        q[places].copy(),
        mechanism.description.scales().displacement[[mechanism.v_names.index(j) for j in joints]],
    )
    for _ in range(20):
        n, h = len(s), 1e-4 * size
        held = _hold(
            mechanism,
            joints,
            np.vstack([s, *(s + h * e for e in np.eye(n)), *(s - h * e for e in np.eye(n))]),
            forces,
        )
        J = (held[1 : 1 + n] - held[1 + n :]).T / (2 * h)
        move = np.linalg.lstsq(J, wanted - held[0], rcond=None)[0]
        s = s + np.clip(move, -0.05 * size, 0.05 * size)
        if np.abs(move / size).max() < 1e-9:
            break
    still = np.zeros((1, len(s)))
    return (
        _closed(mechanism, joints, s[None], still, still)[0][0],
        "static equilibrium with the measured force",
        [],
    )


def _forward(
    mechanism: Mechanism, record: Record, positions: Mapping[str, str], forces: Mapping[str, str], q0: np.ndarray, v0: np.ndarray, params: Mapping[str, float], step: float,
    units: Mapping[str, str],
) -> tuple[SignalComparison, ...]:  # fmt: skip
    """Return the positions of the run with the measured forces."""
    t = record.t - record.t[0]
    good = ~np.isnan(np.array([record[c] for c in forces.values()])).any(axis=0)
    parts = [PrescribedForce(j, Table(t[good], record[c][good])) for j, c in forces.items()]
    end = float(t[-1])
    run = Loop(mechanism, None, parts).simulate(
        end, q0=q0, v0=v0, step=step, sample=step, params=dict(params) or None
    )
    out = []
    for j, column in positions.items():
        values = np.interp(t, run.t, run["q"][:, mechanism.q_slice(j).start])
        out.append(SignalComparison(f"position of {j}", units[j], record.t, record[column], values))
    return tuple(out)
