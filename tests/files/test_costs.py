"""Small files that would cost much, or that never end, are refused at once and in few words."""

from __future__ import annotations

import os
import signal
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from articulus.errors import InputError, ModelError
from articulus.model.files import (
    parse_mjcf,
    parse_toml,
    parse_urdf,
    read_bulk,
    read_matrices,
    read_model,
    read_op4,
)
from articulus.model.files.csv_table import read_columns
from articulus.model.files.mesh.reader import read_mesh
from articulus.model.files.modes_file import read_modes
from articulus.simulation.running import checkpoint
from articulus.study.reader import parse_study, read_study

LONGEST = 2500
"""Characters of a message [-]: a few lines."""
SECONDS = 3.0
"""Processor time for a refusal; the longest takes 0.7 s."""


def mjcf(asset: str = "", body: str = "", size: str = "") -> str:
    return f"<mujoco>{size}<asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>"


GEOM = '<geom size="1"/>'
COSTLY: dict[str, tuple[Callable[[str], object], str]] = {
    "key of 30,000 parts": (parse_toml, ".".join("a" * 30_000) + " = 1\n"),
    "table of 30,000 parts": (parse_toml, "[" + " . ".join("a" * 30_000) + "]\n"),
    "quoted key of 30,000 parts": (parse_toml, 'x = {"a"' + '."a"' * 30_000 + " = 1}\n"),
    "five million numbers": (parse_toml, "x = [" + "0," * 5_000_000 + "0]\n"),
    "five million numbers in a study": (parse_study, "x = [" + "0," * 5_000_000 + "0]\n"),
    "texture": (parse_mjcf, mjcf('<texture name="t" builtin="flat" type="2d" width="20000" height="20000"/>')),
    "cube texture": (parse_mjcf, mjcf('<texture name="t" builtin="flat" width="20000"/>')),
    "many textures": (parse_mjcf, mjcf('<texture builtin="flat" type="2d" width="4000" height="4000"/>' * 100)),
    "height field": (parse_mjcf, mjcf('<hfield name="h" nrow="20000" ncol="20000" size="1 1 1 1"/>')),
    "user numbers": (parse_mjcf, mjcf(size='<size nuser_geom="20000"/>', body=GEOM)),
    "copies of geometry": (parse_mjcf, mjcf(body=f'<replicate count="20000">{GEOM * 100}</replicate>')),
    "built-in mesh": (parse_mjcf, mjcf('<mesh name="m" builtin="plate" params="20000 20000"/>')),
    "long name in a syntax error": (parse_toml, "a = " + "x" * 700_000),
    "long key": (parse_toml, f'schema = 1\nname = "m"\n{"k" * 700_000} = 1\n'),
    "long text": (parse_toml, f'schema = 1\nname = "m"\n[body.b]\nmass = "{"9 " * 350_000}"\n'),
    "long element": (parse_urdf, f"<robot name='r'><{'e' * 700_000}/></robot>"),
    "long attribute": (parse_urdf, f"<robot name='r'><link name='{'n' * 700_000}'/><joint/></robot>"),
    "long attribute of MuJoCo": (parse_mjcf, mjcf(body=f'<body name="{"n" * 700_000}" pos="x"/>')),
    "long type": (parse_study, f'schema = 1\n[study]\nname = "{"n" * 700_000}"\n[run]\nmethod = "{"m" * 700_000}"\n'),
    "many wrong keys": (parse_toml, 'schema = 1\nname = "m"\n' + "".join(f"k{i} = 1\n" for i in range(3000))),
}  # fmt: skip


@pytest.mark.parametrize("case", COSTLY)
def test_costly_text_is_refused_in_few_words(case: str) -> None:
    read, text = COSTLY[case]
    start = time.process_time()
    with pytest.raises((ModelError, InputError)) as caught:
        read(text)
    assert time.process_time() - start < SECONDS
    assert len(str(caught.value)) < LONGEST * (10 if case == "many wrong keys" else 1)


def test_large_models_are_read() -> None:
    """Deep tables, dots in names and texts, and some thousand bodies are none of that."""
    words = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t"
    bodies = "".join(
        f'[body."{words}.{k}"]\nmass = 1.0\ncom = [0.0, 0.0, 0.0]\ninertia = [1, 1, 1]\n'
        f'[joint.j{k}]\ntype = "revolute"\nparent = "ground"\nchild = "{words}.{k}"\naxis = [0, 0, 1]\n'
        for k in range(1000)
    )
    text = f'schema = 1\nname = "m"\nsource = "{words}, {words}"\n# {words}\n{bodies}'
    assert len(parse_toml(text).bodies) == 1000


@pytest.fixture
def impatient() -> Iterator[None]:
    """Fail instead of waiting for ever."""

    def late(*_: object) -> None:
        raise TimeoutError("blocked")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


READERS: dict[str, Callable[[Path], object]] = {
    "m.toml": read_model, "m.urdf": read_model, "m.mjcf": read_model, "m.xml": read_model, "m.stl": read_mesh,
    "m.obj": read_mesh, "m.npz": read_modes, "a.npz": read_matrices, "m.mtx": read_matrices, "m.bdf": read_bulk,
    "m.op4": read_op4, "m.csv": read_columns, "study.toml": read_study, "run.ckpt": checkpoint.read,
}  # fmt: skip


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((ModelError, InputError), match="a pipe or a device"):
        READERS[name](tmp_path / name)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["mesh", "hfield", "texture"])
def test_a_pipe_named_by_a_model_is_refused(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    more = 'size="1 1 1 1"' if kind == "hfield" else ""
    (tmp_path / "m.xml").write_text(mjcf(f'<{kind} name="x" file="a.png" {more}/>'))
    with pytest.raises(ModelError, match=r"m\.xml:1: .*'a\.png': a pipe or a device"):
        read_model(tmp_path / "m.xml")


def test_a_small_file_with_a_large_picture_is_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        whole = kind + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 20_000, 20_000, 8, 0, 0, 0, 0))
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
    (tmp_path / "m.xml").write_text(mjcf('<texture name="x" type="2d" file="a.png"/>'))
    with pytest.raises(ModelError, match=r"4e\+08 pixels"):
        read_model(tmp_path / "m.xml")


@pytest.mark.parametrize("content", ["t,x\n0,\0\n", "t,x\n0," + "1" * 200_000 + "\n"])
def test_no_table(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(ModelError, match=r"a\.csv:2: "):
        read_columns(tmp_path / "a.csv")


def chain_of_links(count: int) -> str:
    """Return a URDF of links on hinges, two of which mimic the first, with a last link that has no mass."""
    inertial = "<inertial><mass value='1.5'/><inertia ixx='0.01' iyy='0.02' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial>"
    links = [f"<link name='l{k}'>{inertial if k < count - 1 else ''}</link>" for k in range(count)]
    mimic = "<mimic joint='j1'/>"
    joints = [
        f"<joint name='j{k}' type='revolute'><parent link='l{k - 1}'/><child link='l{k}'/><origin xyz='0 0 0.2'/>"
        f"<axis xyz='0 {k % 2} {1 - k % 2}'/><limit lower='-1' upper='1' effort='9' velocity='2'/>"
        f"{mimic if k in (count // 3, count // 2) else ''}</joint>"
        for k in range(1, count)
    ]
    return f"<robot name='r'>{''.join(links)}{''.join(joints)}</robot>"


@pytest.mark.filterwarnings("ignore")
def test_coupled_joints_and_a_link_without_mass_cost_no_minutes() -> None:
    """600 links: 15 s before, one row of the mass matrix at a time; 0.3 s found."""
    begin = time.process_time()
    model = parse_urdf(chain_of_links(600))
    assert time.process_time() - begin < 2.0
    assert [c.name for c in model.connections if c.massless] == ["j599"]
