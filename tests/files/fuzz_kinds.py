"""Every reader of files with a few good files of its own, and how such a file is broken."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import random
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import articulus as art
from articulus.errors import ArticulusError
from articulus.model.files import parse_bulk, parse_dmig, read_matrices, read_op4
from articulus.model.files.csv_table import read_columns, read_samples
from articulus.model.files.mesh.reader import read_mesh
from articulus.model.files.modes_file import read_modes, write_modes
from articulus.model.files.seal import LENGTH, seal
from articulus.model.files.storage import decode
from articulus.motion.trajectory import load_plan, plan
from articulus.simulation.running import checkpoint
from articulus.study.campaign.design import Campaign
from articulus.study.plans import parse_task
from campaign.test_campaign_faults import STUDY as CAMPAIGN

from . import mutate
from .fe.support import BEAM, DATA, binary_op4, tridiagonal
from .meshes import TETRAHEDRON, stl_bytes, stl_text
from .test_colored_meshes import DAE

ROOT = Path(__file__).parents[2]
TASK = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "trajectory" / "tasks.md").read_text(), re.S)
NUMBERS = [0, -1, 2**31, 2**63, 10**30, 1e308, float("nan"), float("inf"), 1e-320, True, None]
VALUES: list[Any] = [*NUMBERS, "", "x" * 300, "<b>&", [], [[]], {}, [1, "a"], {"a": {"a": 1}}, "9" * 400]


@dataclass(frozen=True)
class Kind:
    """A reader, and what it is tried on.

    Attributes
    ----------
    suffix : str
    files : callable
        Return good contents.
    read : callable
        Reads a file, or a folder.
    damage : callable, optional
        Return a content that was changed in ways that know its structure; half of the trials. `mutate.mutated` does the others.
    """

    suffix: str
    files: Callable[[], list[bytes]]
    read: Callable[[Path], Any]
    damage: Callable[[bytes, random.Random], bytes] | None = None


def check(kind: str, seed: int, folder: Path) -> str:
    """Return "read" or "refused" for a broken file; anything else that a reader does with it raises."""
    if kind in mutate.READERS:
        return mutate.check(kind, seed)
    it = KINDS[kind]
    rng = random.Random(seed)
    contents = _contents(kind)
    content = contents[seed % len(contents)]
    known = it.damage is not None and rng.random() < 0.5
    place = folder / f"x{it.suffix}"
    place.write_bytes(it.damage(content, rng) if known and it.damage else mutate.mutated(content, seed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            it.read(place)
    except ArticulusError:
        return "refused"
    return "read"


@functools.cache
def _contents(kind: str) -> list[bytes]:
    return KINDS[kind].files()


def change(held: Any, rng: random.Random) -> Any:
    """Return a tree of tables and lists with one entry changed, left out or repeated."""
    if isinstance(held, dict) and held and rng.random() < 0.9:
        key = rng.choice(list(held))
        if rng.random() < 0.1:
            return {k: x for k, x in held.items() if k != key}
        return {**held, key: change(held[key], rng)}
    if isinstance(held, list) and held and rng.random() < 0.9:
        at = rng.randrange(len(held))
        if rng.random() < 0.1:
            return held * rng.choice((0, 2, 50))
        return [*held[:at], change(held[at], rng), *held[at + 1 :]]
    if rng.random() < 0.03:
        return json.loads("[" * 500 + "]" * 500)
    return rng.choice(VALUES)


def _json(content: bytes, rng: random.Random) -> bytes:
    return json.dumps(change(json.loads(content), rng)).encode()


def _npz(content: bytes, rng: random.Random) -> bytes:
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    for _ in range(rng.randint(1, 2)):
        key = rng.choice(list(arrays))
        arrays[key] = _array(arrays[key], rng)
        if rng.random() < 0.1:
            arrays.pop(key)
        if rng.random() < 0.1:
            arrays["x" * 300 if rng.random() < 0.5 else "K"] = np.eye(3)
        if not arrays:
            break
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _array(a: np.ndarray, rng: random.Random) -> np.ndarray:
    choice = rng.randrange(7)
    if choice == 0:
        return a.reshape(-1)
    if choice == 1:
        return a[..., None]
    if choice == 2:
        return np.repeat(a.reshape(-1), 3)
    if choice == 3:
        return np.zeros((0, 3))
    if choice == 4:
        return np.array(rng.choice(["x" * 300, "<b>", b"\xff", 1 + 2j, True, 2**62, np.datetime64("2020")]))
    if choice == 5 and a.dtype.kind in "iu" and a.size:
        a = a.copy()
        a.flat[rng.randrange(a.size)] = rng.choice([np.iinfo(a.dtype).max, 0, np.iinfo(a.dtype).min])
        return a
    if a.dtype.kind in "fc" and a.size:
        a = a.copy()
        with np.errstate(over="ignore"):  # 1e308 among single precision
            a.flat[rng.randrange(a.size)] = rng.choice([1e308, -1e308, np.nan, np.inf, 1e-320, -1.0, 0.0])
    return a


def _netcdf(content: bytes, rng: random.Random) -> bytes:
    """Values and attributes of a sealed file changed, and the seal made anew: somebody made it up."""
    import h5py

    out = io.BytesIO(content[:-LENGTH])
    with h5py.File(out, "r+") as file:
        names = [n for n in file if isinstance(file[n], h5py.Dataset)]
        if rng.random() < 0.5:
            key = rng.choice(list(file.attrs))
            text = file.attrs[key]
            if isinstance(text, str):
                made = mutate.mutated(text, rng.randrange(10**6)).decode(errors="ignore").replace("\0", "")
                with contextlib.suppress(ValueError):
                    made = json.dumps(change(json.loads(text), rng)) if rng.random() < 0.5 else made
                file.attrs[key] = made
            elif rng.random() < 0.5:
                del file.attrs[key]
        elif rng.random() < 0.2:
            del file[rng.choice(names)]
        else:
            data = file[rng.choice(names)]
            if data.dtype.kind in "fiu":
                data[...] = _kept_shape(data[()], rng)
            for key in list(data.attrs):
                if rng.random() < 0.1 and key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS"):
                    data.attrs[key] = rng.choice(["x" * 300, "[", "{}", 1e308])
    return seal(out.getvalue())


def _kept_shape(a: Any, rng: random.Random) -> Any:
    changed = _array(np.array(a), rng)
    same = changed.shape == np.shape(a) and changed.dtype == np.asarray(a).dtype
    return changed if same else np.zeros_like(a) + rng.choice([0, 1, 100])


def _checkpoint(content: bytes, rng: random.Random) -> bytes:
    """A header changed, and its length and checksum made anew."""
    body = content.split(b"\n", 2)[2]
    start = 8 + int.from_bytes(body[:8], "little")
    text = _json(body[8:start], rng)
    body = len(text).to_bytes(8, "little") + text + body[start:]
    head = checkpoint.FORMAT + str(checkpoint.VERSION).encode()
    return head + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


# good files


def _written(suffix: str, write: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"good{suffix}"
        write(place)
        return place.read_bytes()


def _saved(suffix: str, write: Callable[[Path], Any]) -> Callable[[], list[bytes]]:
    return lambda: [_written(suffix, write)]


def _flexible() -> Any:
    return next(b for b in art.load("bayo_link", modes=2).description.bodies if b.modes is not None)


def _matrices(place: Path) -> None:
    grids = np.arange(1, 5)
    dofs = np.array([[g, c] for g in grids for c in (1, 2, 3)])
    np.savez(place, M=np.eye(12), K=2 * np.eye(12), dofs=dofs, grids=grids, positions=np.ones((4, 3)))


def _sparse(place: Path) -> None:
    from scipy import sparse

    sparse.save_npz(place, sparse.csc_array(tridiagonal()))


def _market(place: Path) -> None:
    from scipy import io as scipy_io
    from scipy import sparse

    scipy_io.mmwrite(place, sparse.coo_array(tridiagonal()))


def _plan(place: Path) -> None:
    arm = art.load("two_link")
    plan(arm, [0.0, 0.0], [0.3, 0.2], duration=1.0, intervals=5).save(place)


def _scenes(file_type: str) -> list[bytes]:
    import trimesh

    scene = trimesh.Scene()
    for k in range(2):
        part = trimesh.creation.box(extents=(1, 1, 1))
        part.visual.face_colors = (255, 0, 90 * k, 255)
        scene.add_geometry(part, transform=trimesh.transformations.translation_matrix((3.0 * k, 0, 0)))
    made = (scene if file_type != "off" and file_type != "ply" else part).export(file_type=file_type)
    return [made if isinstance(made, bytes) else made.encode()]


def _gltf() -> list[bytes]:
    import base64

    import trimesh

    files = trimesh.Scene([trimesh.creation.box()]).export(file_type="gltf")
    model = json.loads(files["model.gltf"])
    for buffer in model["buffers"]:
        data = base64.b64encode(files[buffer["uri"]]).decode()
        buffer["uri"] = f"data:application/octet-stream;base64,{data}"
    return [json.dumps(model).encode()]


def _obj() -> list[bytes]:
    lines = ["mtllib x.mtl", "usemtl a", *(f"v {x} {y} {z}" for x, y, z in TETRAHEDRON.vertices), "vt 0 0"]
    return [
        "\n".join(
            [*lines, *(f"f {a + 1}/1 {b + 1}/1 {c + 1}/1" for a, b, c in TETRAHEDRON.triangles)]
        ).encode()
    ]


def _checkpoints() -> list[bytes]:
    from articulus.simulation.results.status import FinalState
    from articulus.simulation.running.checkpoint import Checkpoint

    def write(place: Path) -> None:
        log = {"t": np.arange(3.0), "x": np.ones((3, 4))}
        rng: dict = np.random.default_rng(1).bit_generator.state
        state = FinalState(5, 0.1, np.ones(4), rng)
        checkpoint.write(place, Checkpoint("m", {"a": 1}, state, log, (), (), {"steps": 5}))

    place = _checkpoint_folder() / "good.checkpoint"
    write(place)
    return [place.read_bytes()]


@functools.cache
def _checkpoint_folder() -> Path:
    return Path(tempfile.mkdtemp())


def _read_checkpoint(place: Path) -> None:
    for log in _checkpoint_folder().iterdir():
        if log.name != "good.checkpoint":
            shutil.copy(log, place.parent / log.name)
    checkpoint.read(place)


@functools.cache
def _campaign_folder() -> Path:
    place = Path(tempfile.mkdtemp()) / "campaign"
    art.campaign.run(CAMPAIGN, output=place)
    return place


CAMPAIGN_FILES = ("campaign.json", "ledger.sqlite", "shard_000000.h5", "finished.json")


def _folder_files() -> list[bytes]:
    """Each begins with the name of the file, so that one reader puts it in its place."""
    return [name.encode() + b"\n" + (_campaign_folder() / name).read_bytes() for name in CAMPAIGN_FILES]


def _folder_damage(content: bytes, rng: random.Random) -> bytes:
    name, _, body = content.partition(b"\n")
    made = _json(body, rng) if name.endswith(b".json") else _flips(body, rng)
    return name + b"\n" + made


def _flips(content: bytes, rng: random.Random) -> bytes:
    made = bytearray(content)
    for _ in range(rng.randint(1, 20)):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _read_folder(place: Path) -> None:
    name, _, body = place.read_bytes().partition(b"\n")
    copy = place.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(_campaign_folder(), copy)
    file = name.decode(errors="ignore")
    (copy / (file if file in CAMPAIGN_FILES else "campaign.json")).write_bytes(body)
    shown = art.campaign.show(copy)
    _ = str(shown), shown.table.figures, shown.table.inputs


def _text(parse: Callable[..., Any]) -> Callable[[Path], Any]:
    return lambda place: parse(decode(place.read_bytes(), place.name), place.name)


def _csv(place: Path) -> None:
    read_columns(place)
    read_samples(place)


TABLE = b"t [s],q.hinge [deg],u [N m],note\n" + b"".join(b"%d,%d.5,1e-%d,3\n" % (k, k, k) for k in range(9))
KINDS: dict[str, Kind] = {
    "task": Kind(".toml", lambda: [TASK[1].encode()] if TASK else [], _text(parse_task)),
    "campaign": Kind(".toml", lambda: [CAMPAIGN.encode()], Campaign.read),
    "csv": Kind(".csv", lambda: [TABLE], _csv),
    "matrices": Kind(".npz", lambda: [*_saved(".npz", _matrices)(), *_saved(".npz", _sparse)()], read_matrices, _npz),
    "market": Kind(".mtx", _saved(".mtx", _market), read_matrices),
    "modes": Kind(".npz", _saved(".npz", lambda p: write_modes(_flexible().modes, p)), read_modes, _npz),
    "op4": Kind(".op4", lambda: [f.read_bytes() for f in sorted(DATA.glob("*.op4"))], read_op4),
    "op4 binary": Kind(
        ".op4",
        lambda: [binary_op4(tridiagonal(), f, o) for f in ("dense", "bigmat", "nonbigmat") for o in "<>"],
        read_op4,
        _flips,
    ),
    "bulk": Kind(".bdf", lambda: [BEAM.encode(), (DATA / "outboard.blk").read_bytes()], _text(parse_bulk)),
    "dmig": Kind(".pch", lambda: [(DATA / "pyyeti.pch").read_bytes()], _text(parse_dmig)),
    "stl": Kind(".stl", lambda: [stl_bytes(TETRAHEDRON), stl_text(TETRAHEDRON)], read_mesh),
    "obj": Kind(".obj", _obj, read_mesh),
    "ply": Kind(".ply", lambda: _scenes("ply"), read_mesh),
    "off": Kind(".off", lambda: _scenes("off"), read_mesh),
    "gltf": Kind(".gltf", _gltf, read_mesh, _json),
    "glb": Kind(".glb", lambda: _scenes("glb"), read_mesh),
    "dae": Kind(".dae", lambda: [DAE.format(matrix="2 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1").encode()], read_mesh),
    "run": Kind(".nc", _saved(".nc", lambda p: art.simulate(art.load("two_link"), 0.01).save(p)), art.load_run, _netcdf),
    "plan": Kind(".nc", _saved(".nc", _plan), load_plan, _netcdf),
    "checkpoint": Kind(".checkpoint", _checkpoints, _read_checkpoint, _checkpoint),
    "campaign folder": Kind("", _folder_files, _read_folder, _folder_damage),
}  # fmt: skip
"""Readers besides those of `mutate.READERS`."""
