"""Inverse dynamics of an open chain of flexible links, link by link from the tip inwards (Devasia & Bayo; Ledesma, Devasia & Bayo).

The rigid arm gives the nominal motion. The deformation of every link follows from its own linear equations, hinged at the hub with
its end on the nominal line, at each frequency; what is not linear (Coriolis and centrifugal forces, the turning frame, gravity,
shortening) and the reactions of the links further out are right-hand sides, taken from the exact inverse dynamics of the whole
mechanism, and renewed sweep by sweep until torques and voltages do not change. So the result solves the equations of the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.fft import next_fast_len

from articulus.control.design import Check
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, doubtful
from articulus.model.mechanism.numbers import value_of
from articulus.motion.inversion.links.chain import Chain, chain_of
from articulus.motion.inversion.links.conditions import Conditions, chord_rows, follow_postures, tip_rows
from articulus.motion.inversion.links.link_model import LinkModel, link_model, piezo_forces
from articulus.motion.inversion.links.minimal import rank_of
from articulus.motion.inversion.links.two_sided import (
    SETTLED,
    TimeGrid,
    left_at_the_ends,
    require_settled,
    respond,
)
from articulus.motion.inversion.paths import Path, as_path, require_smooth
from articulus.motion.inversion.result import Inversion
from articulus.simulation.loop.components.piezo_pair import PiezoPair

WHAT = "link_by_link"
DECAY = np.log(1e8)
"""Time constants of the slowest zero before and after the motion."""
LONGEST = 50.0
"""Longest time before and after the motion, in durations of the motion."""
RESIDUAL = 1e-5
"""Largest error of the equations of motion over their largest term."""
CUT = 0.7
"""Part of the frequency at which changes grow up to which frequencies are kept."""
LOWEST = 30
"""Highest frequency that is never left out, in inverse durations of the motion."""
LEAST_RELAXATION = 1 / 32
"""Relaxation below which the iteration has failed."""


def link_by_link(
    mechanism: Mechanism,
    tip: str,
    path: Any,
    *,
    path_of: Literal["tip", "joints"] = "tip",
    outputs: Sequence[str] = (),
    times: Any = None,
    guess: Any = None,
    piezos: Sequence[PiezoPair] = (),
    step: float = 1e-3,
    pre: float | None = None,
    post: float | None = None,
    tolerance: float = 1e-8,
    sweeps: int = 60,
) -> Inversion:
    """Return the joint torques (and voltages) that move the tip of a flexible arm along a path, from before its start to after its end.

    Parameters
    ----------
    mechanism : Mechanism
        An open chain from the ground to the tip: joints with one degree of freedom, each with a motor; links of any of our flexible
        bodies, or rigid; hubs and tip bodies by fixed joints; gravity.
    tip : str
        Frame at the end of the last link.
    path : Path, or array (N, joints)
        Path of the tip [m], or of the joints of the rigid arm [rad]; an array needs its `times` [s].
    path_of : str
        "tip": the path is that of the tip, in as many coordinates as there are joints.
        "joints": the path is that of the joints of the rigid arm; the end of every link follows the line on which that of the rigid link
        would be, and is not twisted where three joints meet at the hub. The distance along the line is not prescribed: it differs by
        second order in the deflection.
    outputs : sequence of str
        Ground axes of the tip's path, such as ("x", "z"); the first of x, y, z if not given.
    times : array, (N,) [s]
        Times of a path that is given as an array.
    guess : array, (nq,), or dict of names
        Posture near the start of a tip path, which chooses the branch (elbow up or down); neutral if not given.
    piezos : sequence of PiezoPair
        On the links; they take the voltages for which the integral of z'z is least, z being displacements [m] and rotations [rad] of all
        stations of the link from its nominal motion.
    step : float [s]
        Between samples.
    pre, post : float [s]
        How long the result begins before the motion and ends after it; from the zeros of the links if not given.
    tolerance : float
        Largest change of the inputs between sweeps, over their largest value.
    sweeps : int
        At most.

    Returns
    -------
    Inversion
        Inputs "tau.<joint>" and "u.<piezo>", ready for `simulate` by `components()`; states are q and v of the mechanism. Figures:
        `sweeps`, `change`, `relaxation`, `residual` (error of the equations of motion over their largest term), `tip_error` [m] (by
        kinematics), `zeros` of each link, `J` of each link, `condition` of the posture.

    Raises NumericalError when the sweeps do not converge: then the arm is too flexible or too fast for this fixed point.
    """
    if isinstance(path, str):
        raise InputError(
            f"{WHAT}: the path is {path!r}; expected (mechanism, tip, path), the tip before the path"
        )
    chain = chain_of(mechanism, tip, WHAT)
    arm = chain.arm
    whole = as_path(path, times)
    axes = "".join(outputs)
    _check(chain, whole, path_of, axes, piezos, step)
    axes = axes or "xyz"[: whole.count]
    start = np.array(arm.positions(guess), dtype=float)
    models = _models(chain, whole, tip, path_of, axes, start, piezos)
    grid = _grid(whole, models, step, pre, post)
    wanted = whole.derivatives(grid.t, 2)
    conditions, rigid = _conditions(chain, grid, wanted, tip, path_of, axes, start)
    condition = conditions.require_authority(rigid, grid.t, WHAT)
    sweep = Sweeps(chain, conditions, models, grid, rigid)
    sweep.run(tolerance, sweeps)
    return _result(sweep, whole, wanted, tip, path_of, axes, condition)


class Sweeps:
    """The iteration: motion of the whole arm with its present deformation, and what each link makes of it.

    Attributes
    ----------
    eta : list of three arrays, (N, modes)
        Modal coordinates and their first two derivatives.
    volts : dict of str to array, (N,)
    motion : tuple of q, v, vdot, (N, nv) each
    forces : array, (N, nv)
        From inverse dynamics: joint forces, and what is left on the modal coordinates without piezos.
    """

    def __init__(
        self, chain: Chain, conditions: Conditions, models: Sequence[LinkModel], grid: TimeGrid, q: np.ndarray
    ) -> None:
        self.chain, self.conditions, self.models, self.grid = chain, conditions, models, grid
        self.eta = [np.zeros((len(grid.t), len(chain.modes))) for _ in range(3)]
        self.volts = {p.name: np.zeros(len(grid.t)) for model in models for p in model.piezos}
        self.motion = (q, q, q)
        self.relaxation, self.change, self.count, self.left = 1.0, np.inf, 0, 0.0
        self.highest = np.inf
        self.evaluate()

    def evaluate(self) -> None:
        """Renew the motion and the forces after a change of the deformation."""
        self.motion = self.conditions.motion(self.motion[0], self.eta)
        self.forces = self.chain.arm.inverse_dynamics(*self.motion)

    @property
    def inputs(self) -> np.ndarray:
        """Joint forces, then voltages, (N, m)."""
        return np.column_stack([self.forces[:, self.chain.joints], *self.volts.values()])

    def run(self, tolerance: float, most: int) -> None:
        """Sweep until the inputs do not change; raise NumericalError when they do not settle."""
        last, before, trouble = self.inputs, np.inf, ""
        for self.count in range(1, most + 1):
            try:
                self.sweep()
            except NumericalError as error:
                trouble = f" ({error})"
                break
            now = self.inputs
            moved = (now - last) / self._scale(now)
            self.change, last = float(np.abs(moved).max()), now
            if self.change <= tolerance * self.relaxation:
                return
            grows = self.change > before
            if not np.isfinite(self.change) or (grows and not self._calm(moved)):
                break
            before = np.inf if grows else self.change
        slow = [f"'{m.link.name}' {np.abs(m.zeros).min():.4g} 1/s" for m in self.models if len(m.places)]
        raise NumericalError(
            f"{WHAT}: no convergence after {self.count} sweeps{trouble}: inputs still change by {self.change:.3g} of their size, relaxation "
            f"{self.relaxation:g} (smallest zeros: {', '.join(slow)}). The motion is too fast, or couples the links too strongly (links that bend "
            "in directions in which their own joint has no motor), for this fixed point: give it more time, or invert the arm as a whole"
        )

    def sweep(self) -> None:
        """Go through the links once, from the tip inwards."""
        for model in reversed(self.models):
            if len(model.places):
                self.update(model)
                self.evaluate()

    def _scale(self, inputs: np.ndarray) -> np.ndarray:
        """Return the largest joint force and the largest voltage, for each input."""
        joints = len(self.chain.joints)
        size = np.abs(inputs - inputs[0]).max(axis=0)
        out = np.empty_like(size)
        out[:joints] = size[:joints].max(initial=1e-300)
        out[joints:] = size[joints:].max(initial=1e-300)
        return np.maximum(out, 1e-300)

    def _calm(self, moved: np.ndarray) -> bool:
        """Return whether growing changes were answered: by leaving out the high frequencies where they grow, or by relaxation."""
        spectrum = np.abs(np.fft.rfft(moved, axis=0)).sum(axis=1)
        grows = self.grid.w[int(np.argmax(spectrum))]
        least = LOWEST * 2 * np.pi / (self.grid.t_end - self.grid.t0)
        if grows > 0.3 * min(self.highest, self.grid.w[-1]) and grows > least:
            self.highest = max(CUT * grows, least)
        else:
            self.relaxation /= 2
        return self.relaxation >= LEAST_RELAXATION

    def update(self, model: LinkModel) -> None:
        """Renew the deformation and the voltages of one link."""
        own = np.searchsorted(self.chain.modes, model.places)
        left = self.residual(model)
        eta = [x[:, own] for x in self.eta]
        volts = np.column_stack([np.zeros((len(left), 0)), *(self.volts[p.name] for p in model.piezos)])
        force = eta[2] @ model.m.T + eta[1] @ model.d.T + eta[0] @ model.k.T - volts @ model.B.T - left
        found = respond(self.grid, model.respond, force, self.highest)
        self.left = left_at_the_ends(found[0], found[1], self.grid.step)
        require_settled(self.left, self.grid, model.zeros, f"{WHAT}, link '{model.link.name}'")
        n, r = len(own), self.relaxation
        for k, x in enumerate(self.eta):
            x[:, own] += r * (found[k][:, :n] - x[:, own])
        for k, p in enumerate(model.piezos):
            self.volts[p.name] = self.volts[p.name] + r * (found[0][:, n + k] - self.volts[p.name])

    def residual(self, model: LinkModel) -> np.ndarray:
        """Return what is left of the modal equations of a link, (N, n)."""
        q = self.motion[0]
        left = self.forces[:, model.places].copy()
        for p in model.piezos:
            left -= piezo_forces(self.chain.arm, p, q)[:, model.places] * self.volts[p.name][:, None]
        return left


def _check(
    chain: Chain, path: Path, path_of: str, axes: str, piezos: Sequence[PiezoPair], step: float
) -> None:
    joints = len(chain.joint_names)
    if path_of not in ("tip", "joints"):
        raise InputError(f"{WHAT}: path_of = {path_of!r}; expected 'tip' or 'joints'")
    if path.count != joints:
        asked = "coordinates of the tip" if path_of == "tip" else "joints of the rigid arm"
        more = (
            ". Arms with more motors than tip coordinates take path_of='joints'" if path_of == "tip" else ""
        )
        raise InputError(
            f"{WHAT}: the path has {path.count} {asked}; expected {joints}, one per joint ({', '.join(chain.joint_names)}){more}"
        )
    if path_of == "tip" and joints > 3:
        raise InputError(f"{WHAT}: {joints} joints; expected at most 3 with path_of='tip'")
    if axes and (len(set(axes)) != path.count or set(axes) - set("xyz") or path_of != "tip"):
        raise InputError(f"{WHAT}: outputs = {tuple(axes)}; expected {path.count} different ones of x, y, z")
    if not (np.isfinite(step) and 0 < step <= (path.t_end - path.t0) / 20):
        raise InputError(
            f"{WHAT}: step = {step!r} s; expected at most a twentieth of the motion, {(path.t_end - path.t0) / 20:.3g} s"
        )
    require_smooth(path, 2, WHAT)
    if jumps := path.jumps(2):
        doubtful(
            f"{WHAT}: {jumps[0]}: the torques jump there too, and their samples ring. A Profile of order 3 or more is smooth enough"
        )
    bodies = {body for link in chain.links for body in link.bodies}
    for p in piezos:
        if not isinstance(p, PiezoPair):
            raise InputError(f"{WHAT}: piezos holds {p!r}; expected PiezoPair components")
        carriers = [chain.arm.description.carrier(frame)[0] for frame in (p.first, p.second)]
        if carriers[0] not in bodies or carriers[0] != carriers[1]:
            raise InputError(
                f"{WHAT}: PiezoPair '{p.name}' is on {carriers}; expected two frames on one flexible body of {sorted(bodies)}"
            )
    if len({p.name for p in piezos}) < len(piezos):
        raise InputError(f"{WHAT}: two piezos have one name; expected each to have its own")


def _models(
    chain: Chain, path: Path, tip: str, path_of: str, axes: str, q0: np.ndarray, piezos: Sequence[PiezoPair]
) -> tuple[LinkModel, ...]:
    """Return the linear models of the links at the start of the path."""
    at = np.array([path.t0, path.t0])
    wanted = path.derivatives(at, 2)
    wanted[1:] = 0.0
    conditions, q = _conditions(chain, TimeGrid(at, path.t0, path.t_end), wanted, tip, path_of, axes, q0)
    conditions.require_authority(q, at, WHAT)
    models = tuple(link_model(chain, conditions, link, piezos, q[0]) for link in chain.links)
    for model in models:
        if model.piezos and len(model.piezos) >= len(model.places):
            doubtful(
                f"{WHAT}: link '{model.link.name}' has {len(model.places)} modes and {len(model.piezos)} piezos: they can undo all of its "
                "deformation, which those of a real link cannot. Give the body more modes"
            )
        if rank_of(model.B) < len(model.piezos):
            doubtful(
                f"{WHAT}: the piezos of link '{model.link.name}' have rank {rank_of(model.B)}, not {len(model.piezos)}: some do the same. "
                "The voltages with the least sum of squares are taken"
            )
    return models


def _conditions(
    chain: Chain, grid: TimeGrid, wanted: np.ndarray, tip: str, path_of: str, axes: str, q0: np.ndarray
) -> tuple[Conditions, np.ndarray]:
    """Return the conditions along the path, and the postures of the rigid arm, (N, nq)."""
    rest = q0.copy()
    rest[chain.modes] = 0.0
    if path_of == "tip":
        conditions = Conditions(chain, tip_rows(tip, axes, wanted))
        return conditions, follow_postures(conditions, grid.t, tip, axes, rest, WHAT)
    q = np.zeros((len(grid.t), chain.arm.nv))
    q[:, chain.joints] = wanted[0]
    return Conditions(chain, chord_rows(chain, wanted)), q


def _grid(
    path: Path, models: Sequence[LinkModel], step: float, pre: float | None, post: float | None
) -> TimeGrid:
    """Return the times: as long before and after the motion as the zeros ask, if not given."""
    span = path.t_end - path.t0
    need = 0.25 * span
    for model in models:
        for s in model.zeros:
            if abs(s.real) < 1e-9 * abs(s):
                raise NumericalError(
                    f"{WHAT}: link '{model.link.name}' has a zero s = {s:.6g} 1/s on the imaginary axis: it can vibrate forever while its end is "
                    "at rest, and no bounded inverse exists. Give the body damping, leave out such modes, or put a motor there"
                )
            need = max(need, DECAY / abs(s.real))
    if pre is None and post is None and need > LONGEST * span:
        raise NumericalError(
            f"{WHAT}: the slowest zero needs {need:.4g} s before and after a motion of {span:g} s. Give `pre` and `post` if that is "
            "meant; more damping makes it shorter"
        )
    early, late = (need if given is None else float(given) for given in (pre, post))
    if not (early > 0 and late > 0):
        raise InputError(f"{WHAT}: pre = {pre!r}, post = {post!r} s; expected positive times")
    first = int(np.ceil(early / step))
    count = next_fast_len(first + int(np.ceil((span + late) / step)) + 1, real=True)
    return TimeGrid(path.t0 + step * (np.arange(count) - first), path.t0, path.t_end)


def _result(
    sweep: Sweeps, path: Path, wanted: np.ndarray, tip: str, path_of: str, axes: str, condition: float
) -> Inversion:
    chain, grid, models = sweep.chain, sweep.grid, sweep.models
    q, v, _ = sweep.motion
    left = max((np.abs(sweep.residual(m)).max() / _size(sweep, m) for m in models if len(m.places)), default=0.0)  # fmt: skip
    if not left <= RESIDUAL:
        raise NumericalError(
            f"{WHAT}: the equations of motion are not met: {left:.3g} of their largest term is left, expected at most {RESIDUAL:g}; frequencies above "
            f"{sweep.highest:.4g} rad/s were left out because the sweeps diverged there. Take a smoother path or more time"
        )
    error = _tip_error(chain, q, wanted, tip, path_of, axes)
    d = chain.arm.description
    turning = [d.joint_type(name).rotational[0] for name in chain.joint_names]
    piezos = [p for m in models for p in m.piezos]
    checks = [
        Check("error of the equations of motion, relative", float(left), RESIDUAL, bool(left <= RESIDUAL)),
        Check("left at the ends of the grid, relative", sweep.left, SETTLED, sweep.left <= SETTLED),
    ]
    for p in piezos:
        limit, peak = float(value_of(p.voltage_limit)), float(np.abs(sweep.volts[p.name]).max())
        if np.isfinite(limit):
            checks.append(Check(f"voltage of '{p.name}' [V]", peak, limit, peak <= limit))
            if peak > limit:
                doubtful(
                    f"{WHAT}: '{p.name}' would need {peak:.4g} V, its limit is {limit:g} V: it saturates. Give the motion more time, or leave it out"
                )
    own = {m.link.name: np.searchsorted(chain.modes, m.places) for m in models}
    outputs = [f"{tip}.{a}" for a in axes] if path_of == "tip" else list(chain.joint_names)
    return Inversion(
        WHAT, grid.t, sweep.inputs, wanted[0],
        (*(f"tau.{name}" for name in chain.joint_names), *(f"u.{p.name}" for p in piezos)),
        tuple(outputs),
        (*("N m" if turns else "N" for turns in turning), *("V" for _ in piezos)),
        ("m",) * len(outputs) if path_of == "tip" else tuple("rad" if turns else "m" for turns in turning),
        path.t0, path.t_end,
        states=np.hstack([q, v]),
        state_names=(*(f"q.{name}" for name in chain.arm.q_names), *(f"v.{name}" for name in chain.arm.v_names)),
        figures={
            "sweeps": sweep.count,
            "change": sweep.change,
            "relaxation": sweep.relaxation,
            "highest_frequency": float(min(sweep.highest, grid.w[-1])),
            "residual": float(left),
            "tip_error": error,
            "condition": condition,
            "J": sum(float(((sweep.eta[0][:, own[m.link.name]] @ m.Z.T) ** 2).sum() * grid.step) for m in models if len(m.places)),
            "zeros": {m.link.name: m.zeros for m in models},
        },
        checks=tuple(checks),
        mechanism=chain.arm,
    )  # fmt: skip


def _size(sweep: Sweeps, model: LinkModel) -> float:
    """Return the largest elastic, inertia or piezo force of a link, to compare residuals with."""
    own = np.searchsorted(sweep.chain.modes, model.places)
    eta, size = sweep.eta, 1e-12 * np.abs(sweep.forces).max()
    size = max(size, np.abs(eta[0][:, own] @ model.k.T).max(), np.abs(eta[2][:, own] @ model.m.T).max())
    for p, column in zip(model.piezos, model.B.T):
        size = max(size, np.abs(sweep.volts[p.name]).max() * np.abs(column).max())
    return float(max(size, 1e-300))


def _tip_error(chain: Chain, q: np.ndarray, wanted: np.ndarray, tip: str, path_of: str, axes: str) -> float:
    """Return the largest distance of the tip from where it is wanted, by kinematics [m]."""
    place = chain.arm.pose(tip, q)[:, :3, 3]
    if path_of == "tip":
        return float(np.abs(place[:, ["xyz".index(a) for a in axes]] - wanted[0]).max())
    rigid = np.zeros_like(q)
    rigid[:, chain.joints] = wanted[0]
    return float(np.linalg.norm(place - chain.arm.pose(tip, rigid)[:, :3, 3], axis=1).max())
