"""Geometric calibration: where joints, sensors, markers and planes really are, from measured poses, points and planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, NumericalError, UnsupportedOperation, did_you_mean, doubtful
from articulus.model.mechanism.body import GROUND
from articulus.model.mechanism.edit import rebuilt
from articulus.model.mechanism.pose import Pose
from articulus.numerics.lyapunov import one_thread
from articulus.spatial.lie import adjoint, exp_se3, inverse_pose, log_se3

TWIST = ("rx", "ry", "rz", "x", "y", "z")
"""Small motions of a frame about and along its own axes."""
NULL = 1e-7
"""Singular value, over the largest, below which a direction is one that the measurements do not tell."""
NAMED = 0.1
"""Share of a direction from which on a parameter is named in it."""
STEPS, STILL = 30, 1e-11
"""Most steps, and the step (rad, and m over the mechanism's length) that is none any more."""
FAR = 3.0
"""Rms of the errors, over their stated deviations, above which those do not hold, or the model does not."""
RIGID = 1e-3
"""Entry of R'R - 1 above which a measured pose is none: numbers in files have four digits or more."""
WORSE = 2.0
"""Error on what was held out, over that on what was used, above which a calibration does not carry over."""


@dataclass(frozen=True, eq=False)
class FrameMeasurement:
    """Poses, points or distances of a frame of the mechanism, measured at known joint positions.

    Parameters
    ----------
    frame : str
        Body or frame of the mechanism that carries the marker.
    q : array, (samples, nq)
    values : array, (samples, 4, 4), (samples, 3) [m] or (samples,) [m]
        Poses of the marker; its position; or, of one that touches a plane, the distance from it, zero if it touches.
    sensor : str
        Name of the frame that they are measured in, whose pose is not known; "" for the ground frame.
    marker : str
        Name of the marker, whose pose on the frame is not known; "" for the frame itself.
    plane : str
        Name of the plane for distances: normal and place are not known.
    deviations : (float [rad], float [m])
        Standard deviations of a direction and of a position.
    start : dict of name to array, (4, 4)
        Estimates of the pose of sensor, marker and plane (z is the normal); found from the measurements where they can be.
    """

    frame: str
    q: np.ndarray
    values: np.ndarray
    sensor: str = ""
    marker: str = ""
    plane: str = ""
    deviations: tuple[float, float] = (1e-3, 1e-3)
    start: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        q, values = np.asarray(self.q, float), np.asarray(self.values, float)
        shape = values.shape[1:]
        if (
            q.ndim != 2
            or len(values) != len(q)
            or shape not in ((4, 4), (3,), ())
            or (shape == ()) != bool(self.plane)
        ):
            raise InputError(
                f"measurement of '{self.frame}': found q of shape {q.shape} and values of shape {values.shape}; expected (samples, nq) and poses "
                "(samples, 4, 4), points (samples, 3), or distances (samples,) from a named plane"
            )
        if not (np.isfinite(q).all() and np.isfinite(values).all() and min(self.deviations) > 0):
            raise InputError(
                f"measurement of '{self.frame}': found a number that is not finite, or a deviation that is not positive"
            )
        if shape == (4, 4):
            R = values[:, :3, :3]
            off = np.abs(R.transpose(0, 2, 1) @ R - np.eye(3)).max(axis=(1, 2), initial=0.0)
            wrong = (off > RIGID) | (np.linalg.det(R) < 0) | (values[:, 3] != [0, 0, 0, 1]).any(axis=1)
            if wrong.any():
                raise InputError(
                    f"measurement of '{self.frame}': pose {int(np.argmax(wrong))} is no pose:\n{values[np.argmax(wrong)]}\nexpected a rotation, the "
                    "position [m] in the last column, and 0, 0, 0, 1 in the last row. Is it transposed?"
                )
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "values", values)

    def part(self, kept: slice) -> FrameMeasurement:
        """Return some of the samples."""
        return replace(self, q=self.q[kept], values=self.values[kept])


@dataclass(frozen=True, eq=False)
class Calibration:
    """What measurements say about the geometry of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        The calibrated one.
    names : tuple of str
        "elbow.offset" (along the joint), "elbow.x", "elbow.rz" (of the joint's frame), "camera.x" (of a sensor, marker or plane).
    values, deviations : array, (names,) [rad or m]
        Changes of joint frames and deviations of all. Values of sensors, markers and planes are those of the last step: their poses are in `frames`.
    null_directions : tuple of dict of name to float
        Directions that no measurement tells; nothing was changed along them.
    frames : dict of name to array, (4, 4)
        Poses of sensors and planes in the ground frame, and of markers on their frames.
    before, after, validation : float
        Root-mean-square of the errors over their deviations: with the model as it was (sensors, markers and planes fitted alone), as it is now, and now on
        the samples that were held out (NaN without).
    steps : int
    warnings : tuple of str
    """

    mechanism: Mechanism
    names: tuple[str, ...]
    values: np.ndarray
    deviations: np.ndarray
    null_directions: tuple[dict[str, float], ...]
    frames: dict[str, np.ndarray]
    before: float
    after: float
    validation: float
    steps: int
    warnings: tuple[str, ...]

    def __getitem__(self, name: str) -> float:
        """Return a value."""
        if name not in self.names:
            raise InputError(f"calibration: no parameter '{name}'; {did_you_mean(name, self.names)}")
        return float(self.values[self.names.index(name)])

    def __str__(self) -> str:
        rows = [
            f"  {n}: {x:.6g} +- {s:.2g}"
            for n, x, s in zip(self.names, self.values, self.deviations)
            if n.split(".")[0] not in self.frames
        ]
        head = f"calibration of '{self.mechanism.name}': errors {self.before:.3g} to {self.after:.3g} deviations, {self.validation:.3g} on what was held out"
        return "\n".join([head, *rows, *(f"  doubt: {w}" for w in self.warnings)])


def calibrate(
    mechanism: Mechanism,
    measurements: FrameMeasurement | Sequence[FrameMeasurement],
    offsets: bool | Sequence[str] = True,
    frames: bool | Sequence[str] = False,
    *,
    validation: float = 0.2,
) -> Calibration:
    """Return joint offsets and joint frames that explain measured poses, points and distances.

    Gauss-Newton on small motions of the frames, with exact derivatives; directions that are not told stay as they are.

    Parameters
    ----------
    mechanism : Mechanism
        A tree; no coupled joint carries a measured frame.
    measurements : FrameMeasurement or sequence of FrameMeasurement
    offsets : bool or sequence of str
        Joints whose zero is not known; True for all that move a measured frame.
    frames : bool or sequence of str
        Joints whose frame on the parent body is not known, all six motions of it.
    validation : float [-]
        Last part of each measurement that is held out.

    Notes
    -----
    Source: Hollerbach, Khalil & Gautier 2016.
    """
    given = (measurements,) if isinstance(measurements, FrameMeasurement) else tuple(measurements)
    if mechanism.description.constraints:
        raise UnsupportedOperation(f"calibrate '{mechanism.name}': it has closed loops; expected a tree")
    if not given or not 0 <= validation < 1:
        raise InputError(
            "calibrate: found no measurements, or a part to hold out that is not from 0 to below 1"
        )
    follow = {c.joint for c in mechanism.description.couplings}
    for m in given:
        coupled = [c.name for c in _chain(mechanism, m.frame) if c.name in follow]
        if coupled:
            raise UnsupportedOperation(
                f"calibrate '{mechanism.name}': '{coupled[0]}' that carries '{m.frame}' is a coupled joint; expected a frame that joints with positions "
                "of their own carry"
            )
    cut = [round(len(m.q) * (1 - validation)) for m in given]
    used = [m.part(slice(0, n)) for m, n in zip(given, cut)]
    held = [m.part(slice(n, None)) for m, n in zip(given, cut) if n < len(m.q)]
    blocks = _blocks(mechanism, used, offsets, frames)
    joints = {b.name for b in blocks if b.connection}
    with one_thread():
        plain = _solve(mechanism, used, [b for b in blocks if not b.connection])
        end = _solve(
            mechanism, used, [next((p for p in plain.blocks if p.name == b.name), b) for b in blocks]
        )
    names = tuple(f"{b.name}.{n}" for b in end.blocks for n in b.names)
    values = np.concatenate([b.values for b in end.blocks]) if names else np.zeros(0)
    doubts = [
        "the measurements do not tell "
        + " ".join(f"{x:+.2g} {n}" for n, x in direction.items())
        + "; it stays as it was"
        for direction in end.null_directions
        if any(n.rsplit(".", 1)[0] in joints for n in direction)
    ]
    doubts += _misfits(mechanism, used, end)
    test = _rms(mechanism, held, end.blocks) if held else np.nan
    if test > WORSE * end.rms:
        doubts.append(f"errors on what was held out are {test / end.rms:.2g} times those on what was used")
    if not end.converged:
        doubts.append(f"the steps did not come to rest in {STEPS}")
    for text in doubts:
        doubtful(f"calibrate '{mechanism.name}': {text}")
    poses = {b.name: b.at for b in end.blocks if not b.connection}
    return Calibration(
        _move(mechanism, end.blocks), names, values, end.deviations, end.null_directions, poses, plain.rms, end.rms, float(test), end.steps, tuple(doubts)
    )  # fmt: skip


def _misfits(mechanism: Mechanism, used: Sequence[FrameMeasurement], end: _End) -> list[str]:
    """Return reasons to doubt that the errors left are those of the measurement."""
    if end.rows <= end.told:
        return [
            f"{end.rows} measured numbers for {end.told} unknowns: any error of theirs is taken for geometry; deviations are those that the measurement states"
        ]
    if end.rms <= FAR:
        return []
    worst = [np.abs(_rows(mechanism, m, end.blocks)[0]).max(axis=1) for m in used]
    k = int(np.argmax([w.max() for w in worst]))
    i = int(np.argmax(worst[k]))
    return [
        f"errors are {end.rms:.3g} of the stated deviations, largest ({worst[k][i]:.3g}) in sample {i} of the measurement of '{used[k].frame}': outliers, "
        "other units than rad and m, a wrong frame, joints that are not asked for, or deviations that are stated too small"
    ]


@dataclass(frozen=True, eq=False)
class _Block:
    """A frame that moves: `at` becomes at exp(directions x) in each step.

    Parameters
    ----------
    name : str
        Name of a joint, sensor, marker or plane.
    connection : bool
        Whether it is a joint: then `at` is the change of its frame, identity at first.
    directions : array, (6, k)
        Twists, angular first.
    names : tuple of str, (k)
    at : array, (4, 4)
    """

    name: str
    connection: bool
    directions: np.ndarray
    names: tuple[str, ...]
    at: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """The change of the frame along its directions, (k,)."""
        return np.asarray(np.linalg.lstsq(self.directions, log_se3(self.at), rcond=None)[0])

    def moved(self, x: np.ndarray) -> _Block:
        return replace(self, at=self.at @ exp_se3(self.directions @ x))


@dataclass(frozen=True, eq=False)
class _End:
    blocks: list[_Block]
    deviations: np.ndarray
    null_directions: tuple[dict[str, float], ...]
    rms: float
    steps: int
    converged: bool
    rows: int
    told: int


def _blocks(
    mechanism: Mechanism,
    given: Sequence[FrameMeasurement],
    offsets: bool | Sequence[str],
    frames: bool | Sequence[str],
) -> list[_Block]:
    d = mechanism.description
    known = [c.name for c in d.connections]
    moving = {c.name for m in given for c in _chain(mechanism, m.frame)}
    asked = []
    for what, names in (("offsets", offsets), ("frames", frames)):
        some = [] if names is False else known if names is True else list(names)
        for n in some:
            if n not in known:
                raise InputError(f"calibrate: {what}: no joint '{n}'; {did_you_mean(n, known)}")
            if n not in moving and names is not True:
                raise InputError(
                    f"calibrate: {what}: joint '{n}' moves none of the measured frames; expected one of {', '.join(sorted(moving))}"
                )
        asked.append([n for n in some if n in moving])
    out = []
    q0 = d.neutral
    for c in d.connections:
        if c.name in asked[1]:
            out.append(_Block(c.name, True, np.eye(6), TWIST, np.eye(4)))
        elif c.name in asked[0] and c.joint.nv == 1:
            S = mechanism.local_jacobian(c.child, q0)[:, d.v_slices[c.name]]  # of the child's origin
            out.append(
                _Block(c.name, True, adjoint(inverse_pose(_matrix(c.child_at))) @ S, ("offset",), np.eye(4))
            )
    for m in given:
        for name, kind in ((m.sensor, "sensor"), (m.marker, "marker"), (m.plane, "plane")):
            if name and name not in {b.name for b in out}:
                if name in known:
                    raise InputError(f"calibrate: '{name}' is a joint; expected another name for a {kind}")
                out.append(_unknown(mechanism, m, name, kind))
    if not out:
        raise InputError(
            "calibrate: found nothing to estimate; expected offsets, frames, a sensor, a marker or a plane"
        )
    return out


def _unknown(mechanism: Mechanism, m: FrameMeasurement, name: str, kind: str) -> _Block:
    """Return the block of a sensor, marker or plane with an estimate of its pose."""
    X = mechanism.pose(m.frame, m.q) @ m.start.get(m.marker, np.eye(4))
    keep = list(range(6))
    at = np.eye(4)
    if kind == "marker" and m.values.ndim < 3:
        keep = [3, 4, 5]  # of a point no direction counts
    if kind == "plane":
        keep = [0, 1, 5]  # turns about and shifts along the normal do not count
        center = X[:, :3, 3].mean(axis=0)
        normal = np.linalg.svd(X[:, :3, 3] - center)[2][2]
        at[:3, :3] = _with_z(normal)
        at[:3, 3] = center
    if kind == "sensor":
        at = X[0] @ inverse_pose(m.values[0]) if m.values.ndim == 3 else _alignment(m.values, X[:, :3, 3])
    given = m.start.get(name)
    return _Block(
        name,
        False,
        np.eye(6)[:, keep],
        tuple(TWIST[k] for k in keep),
        at if given is None else np.asarray(given, float),
    )


def _with_z(normal: np.ndarray) -> np.ndarray:
    Q = np.linalg.qr(np.column_stack([normal, np.eye(3)]))[0][:, [1, 2, 0]]
    Q[:, 2] = normal
    return Q if np.linalg.det(Q) > 0 else Q[:, [1, 0, 2]]


def _alignment(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose that brings points a (n, 3) nearest to points b (Kabsch 1976)."""
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    U, _, V = np.linalg.svd((a - ca).T @ (b - cb))
    R = V.T @ np.diag([1, 1, np.sign(np.linalg.det(V.T @ U.T))]) @ U.T
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = R, cb - R @ ca
    return out


def _matrix(pose: Pose) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = pose.rotation(), [float(x) for x in pose.xyz]  # type: ignore[arg-type]
    return out


def _chain(mechanism: Mechanism, frame: str) -> list:
    """Return the connections from the ground to a frame, in this order."""
    d = mechanism.description
    bodies = {f.name: f.body for f in d.frames} | {b.name: b.name for b in d.bodies}
    if frame not in bodies:
        raise InputError(
            f"calibrate: no frame '{frame}' in '{mechanism.name}'; {did_you_mean(frame, list(bodies))}"
        )
    inward = {c.child: c for c in d.connections}
    out, at = [], bodies[frame]
    while at != GROUND and at in inward:
        out.append(inward[at])
        at = inward[at].parent
    return out[::-1]


def _predict(
    mechanism: Mechanism, m: FrameMeasurement, blocks: list[_Block]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the pose Z of the marker in the sensor, (samples, 4, 4), and the twists of Z in its own axes by the blocks, (samples, 6, k)."""
    of = {b.name: b for b in blocks}
    poses = _poses(mechanism, m)
    X = np.broadcast_to(np.eye(4), (len(m.q), 4, 4))
    places = []
    for c in _chain(mechanism, m.frame):
        parent = poses[c.parent] if c.parent != GROUND else np.eye(4)
        step = inverse_pose(parent) @ poses[c.child]
        block = of.get(c.name)
        if block is not None:
            at = _matrix(c.at)
            X = X @ at @ block.at
            places.append((block, X))
            step = inverse_pose(at) @ step
        X = X @ step
    last = _chain(mechanism, m.frame)[-1].child if _chain(mechanism, m.frame) else GROUND
    X = X @ (inverse_pose(poses[last]) @ poses[m.frame] if last != GROUND else np.eye(4))
    marker, sensor = of.get(m.marker), of.get(m.sensor)
    tip = X @ marker.at if marker else X
    Z = inverse_pose(sensor.at) @ tip if sensor else tip
    by = {b.name: adjoint(inverse_pose(tip) @ at) @ b.directions for b, at in places}
    if marker:
        by[m.marker] = np.broadcast_to(marker.directions, (len(Z), *marker.directions.shape))
    if sensor:
        by[m.sensor] = -adjoint(inverse_pose(Z)) @ sensor.directions
    return Z, by


def _poses(mechanism: Mechanism, m: FrameMeasurement) -> dict[str, np.ndarray]:
    """Return the poses of all bodies and frames as the model has them; asked for in every step."""
    kept = m.__dict__.setdefault("_poses", {})
    if kept.get("mechanism") is not mechanism:
        kept.update(mechanism=mechanism, poses=mechanism.poses(m.q))
    return kept["poses"]


def _rows(
    mechanism: Mechanism, m: FrameMeasurement, blocks: list[_Block]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return errors over their deviations, (samples, rows), and their derivatives by the blocks, (samples, rows, k)."""
    Z, by = _predict(mechanism, m, blocks)
    turn, shift = m.deviations
    if m.values.ndim == 3:
        size = np.array([turn] * 3 + [shift] * 3)
        r = log_se3(inverse_pose(m.values) @ Z)
        return r / size, {n: J / size[:, None] for n, J in by.items()}
    if m.values.ndim == 2:
        r = Z[:, :3, 3] - m.values
        return r / shift, {n: Z[:, :3, :3] @ J[:, 3:] / shift for n, J in by.items()}
    plane = next(b for b in blocks if b.name == m.plane)
    place = inverse_pose(plane.at) @ Z
    normal = plane.at[:3, 2]
    out = {n: (normal @ Z[:, :3, :3])[:, None, :] @ J[:, 3:] / shift for n, J in by.items()}
    twist = -adjoint(inverse_pose(place)) @ plane.directions  # of the marker in the plane's frame
    out[m.plane] = place[:, 2:3, :3] @ twist[:, 3:] / shift
    return (place[:, 2, 3] - m.values)[:, None] / shift, out


def _rms(mechanism: Mechanism, given: Sequence[FrameMeasurement], blocks: list[_Block]) -> float:
    rows = [_rows(mechanism, m, blocks)[0].ravel() for m in given]
    return float(np.sqrt(np.mean(np.concatenate(rows) ** 2)))


def _solve(mechanism: Mechanism, given: Sequence[FrameMeasurement], blocks: list[_Block]) -> _End:
    length = mechanism.description.scales().length
    sizes = np.concatenate([_sizes(b, length) for b in blocks] or [np.zeros(0)])
    converged, steps = not len(sizes), 0
    r, J = _stack(mechanism, given, blocks, sizes)
    while not converged and steps < STEPS:
        steps += 1
        x, _ = _least(J, r)
        cost, share = float(r @ r), 1.0
        for _ in range(8):
            tried = _step(blocks, share * x * sizes)
            rt, Jt = _stack(mechanism, given, tried, sizes)
            if rt @ rt <= cost * (1 + 1e-12):
                break
            share *= 0.5
        else:
            converged = True
            break
        converged = float(np.abs(share * x).max()) <= STILL or cost - float(rt @ rt) <= 1e-14 * cost
        blocks, r, J = tried, rt, Jt
    if not np.isfinite(r).all():
        raise NumericalError(f"calibrate '{mechanism.name}': poses are not finite")
    _, (s, V) = _least(J, r)
    told = s > NULL * s.max(initial=0.0)
    spare = len(r) - int(told.sum())
    variance = float(r @ r) / spare if spare > 0 else 1.0
    deviations = (
        sizes * np.sqrt(variance * np.sum((V[told] / s[told, None]) ** 2, axis=0)) if len(sizes) else sizes
    )
    names = [f"{b.name}.{n}" for b in blocks for n in b.names]
    null = []
    for row in V[~told]:
        change = row / np.abs(row).max()
        null.append({n: float(x) for n, x in zip(names, change) if abs(x) >= NAMED})
    rms = float(np.sqrt(np.mean(r**2)))
    return _End(blocks, deviations, tuple(null), rms, steps, bool(converged), len(r), int(told.sum()))


def _sizes(b: _Block, length: float) -> np.ndarray:
    turns = np.linalg.norm(b.directions[:3], axis=0) > 1e-9
    return np.where(turns, 1.0, length)


def _step(blocks: list[_Block], x: np.ndarray) -> list[_Block]:
    ends = np.cumsum([0, *(len(b.names) for b in blocks)])
    return [b.moved(x[i:j]) for b, i, j in zip(blocks, ends, ends[1:])]


def _stack(
    mechanism: Mechanism, given: Sequence[FrameMeasurement], blocks: list[_Block], sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = [], []
    for m in given:
        r, by = _rows(mechanism, m, blocks)
        whole = [by[b.name] if b.name in by else np.zeros((*r.shape, len(b.names))) for b in blocks]
        columns.append(np.concatenate(whole, axis=2).reshape(r.size, -1) if whole else np.zeros((r.size, 0)))
        rows.append(r.ravel())
    return np.concatenate(rows), np.concatenate(columns) * sizes


def _least(J: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the smallest step of least squares, and singular values and directions of J."""
    if not J.shape[1]:
        return np.zeros(0), (np.zeros(0), np.zeros((0, 0)))
    if len(J) < J.shape[1]:
        J, r = (
            np.vstack([J, np.zeros((J.shape[1] - len(J), J.shape[1]))]),
            np.concatenate([r, np.zeros(J.shape[1] - len(r))]),
        )
    U, s, V = np.linalg.svd(J, full_matrices=False)
    told = s > NULL * s.max(initial=0.0)
    return -V[told].T @ ((U[:, told].T @ r) / s[told]), (s, V)


def _move(mechanism: Mechanism, blocks: list[_Block]) -> Mechanism:
    """Return the mechanism with the changed joint frames."""
    of = {b.name: b.at for b in blocks if b.connection}
    connections = tuple(
        replace(c, at=Pose.from_matrix(_proper(_matrix(c.at) @ of[c.name]))) if c.name in of else c
        for c in mechanism.description.connections
    )
    return mechanism.from_description(rebuilt(mechanism.description, connections=connections))


def _proper(X: np.ndarray) -> np.ndarray:
    U, _, V = np.linalg.svd(X[:3, :3])
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = U @ V, X[:3, 3]
    return out
