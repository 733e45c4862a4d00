"""A run as plain data for the browser: scene, poses over time, signals, events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.browser.packing import chosen_rows, pack
from articulus.browser.poses import body_poses
from articulus.browser.scene import move_points, outline, scene_of
from articulus.browser.solids import MESH_BYTES
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.model.mechanism import GROUND, Box, Capsule, Description, Pose, Sphere, Visual
from articulus.simulation.results import Run
from articulus.simulation.results.status import RunStatus

Runs = Run | Mapping[str, Run] | Sequence[Run]
Params = Mapping[str, Any]

MOTION_BYTES = 2e6
"""Most bytes of poses on a page, before they are packed; of longer runs evenly chosen rows are kept."""
SIGNAL_BYTES = 2e6
"""The same for signals."""
TOUCHING = 200
"""Most pairs of `Contacts` that are drawn: those with the largest forces of the run."""
OBSTACLE = "#8d6e63"
"""Color of obstacles."""
STANDING = 2.0
"""Size of what is drawn of ground, in parts of that of the motion, up to which all of it is brought into view: a pedestal, not a hall."""
LANES = 8
"""Most runs of a batch that are shown; of more, evenly chosen ones."""


@dataclass(frozen=True)
class Lane:
    """One run by itself: a single one, or one of a batch."""

    name: str
    run: Run
    index: int

    def values(self, signal: str) -> np.ndarray:
        """Return a signal of this run, (time, n)."""
        values = self.run.signals[signal].values
        return values if self.run.batch is None else values[self.index]

    def mechanism(self, given: Params | None = None) -> Mechanism:
        """Return the mechanism with the values of its parameters in this run where they are known, or with those given."""
        m, made = self.run.mechanism, {p.name: p.value for p in self.run.parameters}
        others = set(made) - set(m.parameters)  # those of components
        values = {n: x for n, x in {**made, **(given or {})}.items() if n not in others}
        return m.with_values(
            {n: float(np.ravel(x)[self.index if np.ndim(x) else 0]) for n, x in values.items()}
        )

    @property
    def status(self) -> RunStatus:
        return RunStatus(int(np.atleast_1d(self.run.status)[self.index]))


def lanes(runs: Runs) -> list[Lane]:
    """Return the runs that a page shows.

    Raises
    ------
    InputError
        There is no run, or one without a sample.
    """
    named = {"run": runs} if isinstance(runs, Run) else runs
    if not isinstance(named, Mapping):
        named = {f"run {k + 1}": run for k, run in enumerate(named)}
    out = [lane for name, run in named.items() for lane in _lanes(str(name), run)]
    if not out:
        raise InputError("replay: found no run; expected at least one")
    for lane in out:
        if not np.isfinite(lane.values("q")).all(axis=-1).any():
            raise InputError(
                f"replay: '{lane.name}' has no sample; expected at least one row of finite positions"
            )
    return out


def _lanes(name: str, run: Any) -> Iterator[Lane]:
    if not isinstance(run, Run):
        raise InputError(f"replay: found {run!r} as '{name}'; expected a Run, as simulate returns")
    if run.batch is None:
        yield Lane(name, run, 0)
        return
    for k in np.unique(np.linspace(0, run.batch - 1, min(run.batch, LANES)).round().astype(int)):
        yield Lane(f"{name} {k}", run, int(k))


def recording(
    lane: Lane, share: float = 1.0, params: Params | None = None, wrenches: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return one run as texts, numbers, lists and dicts.

    Parameters
    ----------
    lane : Lane
    share : float
        Its part of the bytes of the page.
    params : dict of parameter name to number, or to array (batch,)
        Instead of those with which it was run.
    wrenches : dict of signal name to frame
        Signals of six entries (moment, force, ground axes) that are drawn as arrows at a frame.
    """
    run, mechanism = lane.run, lane.mechanism(params)
    d, q = mechanism.description, lane.values("q")
    good = np.flatnonzero(np.isfinite(q).all(axis=-1))
    rows = good[chosen_rows(good.size, 28 * len(d.bodies), MOTION_BYTES * share)]
    arrows = _wrench_signals(run, d) | dict(wrenches or {})
    return {
        **motion(mechanism, lane.name, run.t[rows], q[rows], share, _paths(run, d), obstacles_of(run)),
        "status": lane.status.name.lower(),
        "events": [{"t": e.time, "name": e.name} for e in run.events if e.run == lane.index],
        "arrows": [_arrow(run, d, *pair) for pair in arrows.items()] + _contact_arrows(lane),
        **_signals(lane, share),
    }


def motion(
    mechanism: Mechanism,
    name: str,
    t: np.ndarray,
    q: np.ndarray,
    share: float = 1.0,
    paths: Sequence[Sequence[str]] = (),
    obstacles: Sequence[Visual] = (),
) -> dict[str, Any]:
    """Return positions (time, nq) at times (time,) as a recording without signals: what a player needs to show them.

    `paths` are those of components that are drawn as lines, `obstacles` what stands around the mechanism (`scene_of`).
    """
    d = mechanism.description
    poses = body_poses(mechanism, q)
    low, high = _bounds(d, poses, obstacles)
    return {
        "name": name,
        "status": "complete",
        "scene": scene_of(mechanism, MESH_BYTES * share, paths, obstacles).plain(),
        "bounds": [low.tolist(), high.tolist()],
        "t": pack(t[:, None]),
        "poses": pack(poses.reshape(t.size, -1)),
        "modes": [pack(q[:, d.mode_slices(b.name)[1]]) if b.modes else None for b in d.bodies],
        "events": [],
        "arrows": [],
        "signal_t": pack(t[:, None]),
        "signals": [],
        "samples": [0, 0],
    }


def _paths(run: Run, d: Description) -> list[list[str]]:
    """Return the frames along which springs, cables and cylinders of a run are drawn."""
    known = {GROUND, *(b.name for b in d.bodies), *(f.name for f in d.frames)}
    return [path for path in run.meta.get("settings", {}).get("paths", []) if known.issuperset(path)]


def obstacles_of(run: Run) -> list[Visual]:
    """Return what stands around the mechanism of a run: `meta["settings"]["obstacles"]`, a list of shapes with poses.

    Each is a dict with "shape" ("sphere", "capsule" or "box"), "size" (radius; radius and length; three lengths [m]) and "pose",
    a 4 x 4 matrix in the ground frame.
    """
    made: list[Visual] = []
    for given in run.meta.get("settings", {}).get("obstacles", []):
        size, at = given["size"], Pose.from_matrix(np.array(given["pose"]))
        match given["shape"]:
            case "sphere":
                made.append(Sphere(size[0], at=at, color=OBSTACLE))
            case "capsule":
                made.append(Capsule(*size, at=at, color=OBSTACLE))
            case "box":
                made.append(Box(tuple(size), at=at, color=OBSTACLE))
    return made


def trail_of(runs: Sequence[Lane]) -> str:
    """Return the body or frame whose trace is drawn from the start: `meta["settings"]["trail"]` of the first run."""
    return str(runs[0].run.meta.get("settings", {}).get("trail", ""))


def _bounds(d: Description, poses: np.ndarray, obstacles: Sequence[Visual]) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box in which everything stays, each (3,) [m]."""
    points = [outline(d, GROUND), *(v.corners() for v in obstacles)]
    points += [move_points(poses[:, k], outline(d, b.name)).reshape(-1, 3) for k, b in enumerate(d.bodies)]
    cloud = np.concatenate(points)
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    standing = np.concatenate([v.corners() for v in d.visuals] or [cloud])
    if np.ptp(standing, axis=0).max() < STANDING * np.linalg.norm(high - low):
        low, high = np.minimum(low, standing.min(axis=0)), np.maximum(high, standing.max(axis=0))
    return low, high


def _signals(lane: Lane, share: float) -> dict[str, Any]:
    """Return all signals at evenly chosen times; points and forces of pairs that never touch are omitted."""
    run = lane.run
    columns = {name: _columns(lane, name) for name in run.signals}
    width = sum(map(len, columns.values()))
    rows = chosen_rows(run.t.size, 4 * (width + 1), SIGNAL_BYTES * share)
    listed = [
        {
            "name": s.name,
            "meaning": s.meaning,
            "labels": [s.labels[k] for k in columns[s.name]],
            "units": [s.units[k] for k in columns[s.name]],
            "values": pack(lane.values(s.name)[rows][:, columns[s.name]]),
        }
        for s in run.signals.values()
        if columns[s.name]
    ]
    return {
        "signal_t": pack(run.t[rows, None]),
        "signals": listed,
        "samples": [int(rows.size), int(run.t.size)],
    }


def _columns(lane: Lane, signal: str) -> list[int]:
    """Return the entries of a signal that the page holds."""
    owner, _, name = signal.rpartition(".")
    if name in ("point", "push") and f"{owner}.push" in lane.run.signals:
        return [3 * pair + axis for pair in _touching(lane, owner) for axis in range(3)]
    return list(range(len(lane.run.signals[signal].labels)))


def _touching(lane: Lane, owner: str) -> list[int]:
    """Return the pairs of a component with many contacts that touch at some time, in order."""
    values = lane.values(f"{owner}.push")
    forces = np.nan_to_num(np.linalg.norm(values.reshape(len(values), -1, 3), axis=2)).max(axis=0, initial=0)
    strongest = np.argsort(-forces, kind="stable")[:TOUCHING]
    return sorted(k for k in strongest.tolist() if forces[k] > 0)


def _wrench_signals(run: Run, d: Description) -> dict[str, str]:
    """Return the wrenches whose names contain their frames: "tool_frame_wrench.wrench" acts on "tool"."""
    frames = [GROUND, *(b.name for b in d.bodies), *(f.name for f in d.frames)]
    names = {f"{frame}_frame_wrench.wrench": frame for frame in frames}
    return {signal: names[signal] for signal in run.signals if signal in names}


def _contact_arrows(lane: Lane) -> list[dict[str, Any]]:
    """Return the forces that act at points of their own: "foot.force" [N] at "foot.point" [m], and those of pairs.

    Those of pairs are three columns each of "heap.push" and "heap.point", from the column `first` on.
    """
    signals = lane.run.signals
    owners = sorted(name.removesuffix(".point") for name in signals if name.endswith(".point"))
    out: list[dict[str, Any]] = []
    for c in owners:
        if f"{c}.push" in signals:
            pairs = range(len(_touching(lane, c)))
            out += [{"signal": f"{c}.push", "point": f"{c}.point", "first": 3 * k} for k in pairs]
        elif f"{c}.force" in signals and all(
            len(signals[f"{c}.{s}"].labels) == 3 for s in ("force", "point")
        ):
            out.append({"signal": f"{c}.force", "point": f"{c}.point"})
    return out


def _arrow(run: Run, d: Description, signal: str, frame: str) -> dict[str, str]:
    d.carrier(frame)
    if signal not in run.signals:
        raise InputError(f"replay: no signal '{signal}' in the run; {did_you_mean(signal, run.signals)}")
    if len(run.signals[signal].labels) != 6:
        raise InputError(
            f"replay: signal '{signal}' has {len(run.signals[signal].labels)} entries; expected six, moment and force"
        )
    return {"signal": signal, "frame": frame}
