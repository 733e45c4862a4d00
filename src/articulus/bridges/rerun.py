"""Runs as recordings for the Rerun viewer (.rrd): bodies with their shapes over time, and every signal as a plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.bridges.drawn import DrawnSolid, solids_of
from articulus.bridges.extra import require
from articulus.browser.poses import body_poses
from articulus.errors import InputError
from articulus.model.files.storage import StrPath, replacing
from articulus.model.mechanism.pose import quaternion_of
from articulus.simulation.results import Run


def save_rerun(run: Run, path: StrPath) -> None:
    """Write a single run as a Rerun recording: `world/BODY` moves over the timeline "time", `signals/NAME/ENTRY` are scalars.

    Parts of flexible bodies that bend are drawn unbent. Needs the extra `rerun`.

    Parameters
    ----------
    run : Run
        One run, not a batch.
    path : path of the file
        Written whole or not at all.
    """
    if run.batch is not None:
        raise InputError("save_rerun: found a batch of runs; expected one run, such as run.single(0)")
    rr = require("rerun", "save_rerun", "rerun")
    with replacing(path) as place:
        recording = rr.RecordingStream("articulus")
        recording.save(str(place))
        recording.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        _write(rr, recording, run)
        recording.flush()
        recording.disconnect()


def _write(rr: Any, recording: Any, run: Run) -> None:
    times = rr.TimeColumn("time", duration=run.t)
    for body, drawn in solids_of(run.mechanism).items():
        for k, solid in enumerate(drawn):
            _log_solid(rr, recording, rr.new_entity_path(["world", body, f"shape{k}"]), solid)
    poses = body_poses(run.mechanism, run.q)
    for k, body in enumerate(run.mechanism.body_names):
        columns = rr.Transform3D.columns(translation=poses[:, k, :3], quaternion=poses[:, k, [4, 5, 6, 3]])
        recording.send_columns(rr.new_entity_path(["world", body]), indexes=[times], columns=columns)
    for name, signal in run.signals.items():
        for k, (label, unit) in enumerate(zip(signal.labels, signal.units, strict=True)):
            place = rr.new_entity_path(["signals", name, *([label] if label else [])])
            legend = f"{label or name} [{unit}]" if unit != "-" else label or name
            recording.log(place, rr.SeriesLines(names=legend), static=True)
            recording.send_columns(
                place, indexes=[times], columns=rr.Scalars.columns(scalars=signal.values[:, k])
            )


def _log_solid(rr: Any, recording: Any, place: str, solid: DrawnSolid) -> None:
    """Log one solid, still on its body."""
    w, x, y, z = quaternion_of(solid.pose[:3, :3])
    recording.log(place, rr.Transform3D(translation=solid.pose[:3, 3], quaternion=[x, y, z, w]), static=True)
    color = [round(255 * c) for c in solid.color]
    a, _, c = solid.size.tolist()
    if solid.kind == "box":
        shape = rr.Boxes3D(sizes=[solid.size], colors=[color], fill_mode="solid")
    elif solid.kind == "ellipsoid":
        shape = rr.Ellipsoids3D(half_sizes=[0.5 * solid.size], colors=[color], fill_mode="solid")
    elif solid.kind == "cylinder":
        shape = rr.Cylinders3D(lengths=[c], radii=[0.5 * a], colors=[color], fill_mode="solid")
    elif solid.kind == "capsule":
        end = [0.0, 0.0, -0.5 * (c - a)]  # capsules of this world begin in their origin
        shape = rr.Capsules3D(lengths=[c - a], radii=[0.5 * a], translations=[end], colors=[color])
    else:
        assert solid.vertices is not None
        normals = _normals(solid)
        shape = rr.Mesh3D(
            vertex_positions=solid.vertices,
            triangle_indices=solid.triangles,
            vertex_normals=normals,
            albedo_factor=color,
        )
    recording.log(place, shape, static=True)


def _normals(solid: DrawnSolid) -> np.ndarray:
    """Return the normal of each vertex: the mean of those of its triangles by area, (n, 3)."""
    assert solid.vertices is not None
    assert solid.triangles is not None
    points = solid.vertices.astype(float)[solid.triangles]
    faces = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    out = np.zeros(solid.vertices.shape)
    for corner in range(3):
        np.add.at(out, solid.triangles[:, corner], faces)
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return out / np.where(length > 0, length, 1.0)
