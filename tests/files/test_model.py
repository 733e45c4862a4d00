"""One call for every format, and files that are not there or not what they seem."""

import io
import os
import sys
import time
from pathlib import Path

import pytest

import articulus as art
from articulus.errors import InputError, ModelError, UnsupportedOperation
from articulus.model.files import parse_toml, parse_urdf, read_model, read_toml, read_urdf
from articulus.model.files.urdf import xacro as xacro_reader
from articulus.study import read_study

from .meshes import TETRAHEDRON, stl_bytes
from .mjcf_models import CHAIN
from .support import ARM, CRANE, message


def test_dispatch(tmp_path: Path) -> None:
    texts = {"a.toml": CRANE, "a.urdf": ARM, "b.xml": ARM, "c.xml": CHAIN, "c.mjcf": CHAIN, "D.TOML": CRANE}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert read_model(tmp_path / "a.toml") == parse_toml(CRANE)
    assert read_model(str(tmp_path / "D.TOML")) == parse_toml(CRANE)
    assert read_model(tmp_path / "a.urdf") == parse_urdf(ARM, "a.urdf")
    assert read_model(tmp_path / "b.xml", lump_fixed=True).nv == 2
    assert read_model(tmp_path / "c.xml").name == read_model(tmp_path / "c.mjcf").name == "chain"


def test_unknown_option_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CRANE)
    with pytest.raises(InputError, match="read_toml has no option 'base'"):
        read_model(tmp_path / "a.toml", base="floating")


@pytest.mark.parametrize("name", ["a.step", "a.toml", "a.urdf", "a.xml", "nowhere/a.toml"])
def test_missing_or_unknown(name: str, tmp_path: Path) -> None:
    assert name in message(lambda: read_model(tmp_path / name))


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".xml", ".mjcf"])
def test_directory_and_wrong_content(suffix: str, tmp_path: Path) -> None:
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert "directory" in message(lambda: read_model(folder))
    for content in (b"", b"\x00\x01", b"\xff\xfe<\x00", b"<other/>", b"a = 1", b"\xc3"):
        (tmp_path / f"x{suffix}").write_bytes(content)
        assert f"x{suffix}" in message(lambda: read_model(tmp_path / f"x{suffix}"))


def test_directory_without_suffix(tmp_path: Path) -> None:
    assert "found a directory" in message(lambda: read_model(tmp_path))


def test_path_without_suffix_says_what_library_names_are() -> None:
    for call in (read_model, art.load):
        with pytest.raises(
            InputError, match=r"without suffix.*\.mjcf, \.sdf, \.toml, \.urdf, \.xacro, \.xml.*plain strings"
        ):
            call(Path("puma600"))


@pytest.mark.parametrize("model", [None, 3, 2.5, ["a.toml"]])
def test_model_that_is_no_path(model: object) -> None:
    with pytest.raises(InputError, match="path"):
        read_model(model)  # type: ignore[arg-type]


@pytest.mark.parametrize("roots", ["meshes", "", ["meshes"], 3, {"arm": 3}, {"arm": None}, {3: "meshes"}])
def test_package_roots_of_the_wrong_type(roots: object, tmp_path: Path) -> None:
    (tmp_path / "a.urdf").write_text(ARM)
    with pytest.raises(InputError, match=r"package_roots: found .*; expected a mapping from package names"):
        read_model(tmp_path / "a.urdf", package_roots=roots)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable(tmp_path: Path) -> None:
    place = tmp_path / "a.toml"
    place.write_text(CRANE)
    place.chmod(0)
    assert "cannot be read" in message(lambda: read_model(place))


def test_no_path() -> None:
    with pytest.raises(InputError, match="path"):
        read_model(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="zero character"):
        read_toml("a\0.toml")


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articulus.model.files.storage.MAX_BYTES", 100)
    (tmp_path / "a.urdf").write_text(ARM)
    with pytest.raises(ModelError, match="MB"):
        read_urdf(tmp_path / "a.urdf")


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbf" + CRANE.encode())
    assert read_model(tmp_path / "a.toml") == parse_toml(CRANE)


def test_texts_and_open_files(tmp_path: Path) -> None:
    assert read_model(ARM) == parse_urdf(ARM, "model")
    assert read_model(ARM, base="fixed", lump_fixed=True, gravity=(0, 0, -1.6)).gravity == (0, 0, -1.6)
    assert read_model(CRANE) == parse_toml(CRANE)
    assert read_model(CHAIN).name == "chain"
    assert art.load(ARM).nv == 2
    assert art.load(io.StringIO(CRANE)).nv == 1
    assert art.load(io.BytesIO(ARM.encode())).nv == 2
    (tmp_path / "a.urdf").write_text(ARM)
    with open(tmp_path / "a.urdf", "rb") as file:
        assert read_model(file) == read_urdf(tmp_path / "a.urdf")
    with pytest.raises(InputError, match="parse_toml has no option 'base'"):
        read_model(CRANE, base="free")
    assert "model:1" in message(lambda: read_model("<other/>"))


def test_an_open_file_has_a_folder_for_its_meshes(tmp_path: Path) -> None:
    (tmp_path / "x.stl").write_bytes(stl_bytes(TETRAHEDRON))
    mesh = '<visual><geometry><mesh filename="x.stl"/></geometry></visual></link>'
    (tmp_path / "a.urdf").write_text(ARM.replace("</link>", mesh, 1))
    with open(tmp_path / "a.urdf") as file:
        assert len(read_model(file).bodies[1].visuals) == 1


XACRO = """<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:macro name="rod" params="name">
    <link name="${name}"><inertial><mass value="${2*$(arg mass)}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <link name="base"/>
  <xacro:rod name="rod"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint>
</robot>"""


def test_xacro(tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="the package xacro is not installed")
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(XACRO)
    assert read_model(path, expand_xacro=True).bodies[1].mass == 4.0
    given = {"arguments": {"mass": 3}, "base": "fixed", "expand_xacro": True}
    assert read_model(path, **given).bodies[1].mass == 6.0
    path.write_text(XACRO.replace("2*", "unknown*"))
    assert "arm.urdf.xacro: found what xacro refuses" in message(lambda: read_model(path, expand_xacro=True))


ESCAPE = "(lambda: [c for c in ().__class__.__base__.__subclasses__() if c.__name__=='_wrap_close'][0].__init__.__globals__['system']('touch TOUCHED'))()"


@pytest.mark.parametrize("given", [{}, {"expand_xacro": False}, {"expand_xacro": "yes"}, {"expand_xacro": 1}])
def test_xacro_runs_nothing_unless_it_is_trusted(tmp_path: Path, given: dict) -> None:
    """Not by its suffix, not by a value that only looks like yes, not because a study says so."""
    touched = tmp_path / "touched"
    path = tmp_path / "arm.xacro"
    path.write_text(XACRO.replace("2*$(arg mass)", ESCAPE.replace("TOUCHED", str(touched))))
    with pytest.raises(InputError, match=r"arm\.xacro: found a xacro file.*expand_xacro=True"):
        art.load(path, **given)
    text = '[study]\nname = "s"\nmodel = "arm.xacro"\noptions = {expand_xacro = true}\n[run]\nt_end = 1\n'
    (tmp_path / "s.toml").write_text("schema = 1\n" + text)
    with pytest.raises(ModelError, match="expected a model that is only read"):
        read_study(tmp_path / "s.toml")
    assert not touched.exists()


def test_xacro_includes_only_what_lies_with_the_model(tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="the package xacro is not installed")
    (tmp_path / "model").mkdir()
    path = tmp_path / "model" / "arm.xacro"
    (tmp_path / "secret.xacro").write_text('<robot xmlns:xacro="http://wiki.ros.org/xacro"/>')
    for name in ("../secret.xacro", str(tmp_path / "secret.xacro")):
        path.write_text(
            XACRO.replace('<link name="base"/>', f'<link name="base"/><xacro:include filename="{name}"/>')
        )
        with pytest.raises(ModelError, match=r"the include of '.*secret\.xacro', which may not be read"):
            art.load(path, expand_xacro=True)
        assert art.load(path, expand_xacro=True, package_roots={"more": tmp_path}).description.bodies


@pytest.mark.parametrize("endless", ["9**9**9", "'a' * 10**10"])
def test_xacro_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endless: str) -> None:
    pytest.importorskip("xacro", reason="the package xacro is not installed")
    monkeypatch.setattr(xacro_reader, "SECONDS", 1)
    path = tmp_path / "arm.xacro"
    path.write_text(XACRO.replace("2*$(arg mass)", endless))
    began = time.perf_counter()
    with pytest.raises(ModelError, match=r"found macros that take more than 1 s|what xacro refuses"):
        art.load(path, expand_xacro=True)
    assert time.perf_counter() - began < 20


def test_xacro_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arm.xacro").write_text(XACRO)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(UnsupportedOperation, match="pip install xacro"):
        read_model(tmp_path / "arm.xacro", expand_xacro=True)


def test_a_misspelt_option_is_answered_with_those_there_are(tmp_path: Path) -> None:
    robot = '<robot name="a"><link name="b"/></robot>'
    (tmp_path / "a.urdf").write_text(robot)
    for model in (robot, tmp_path / "a.urdf"):
        with pytest.raises(InputError, match=r"no option 'bases'; options are base, .*gravity, .*mimic"):
            art.load(model, bases="free")
    with pytest.raises(InputError, match=r"no option 'base'; options are strict"):
        art.load("<mujoco><worldbody/></mujoco>", base="free")
    with pytest.raises(InputError, match=r"no option 'base'; it has none"):
        art.load("name = 'a'\n", base="free")
    with pytest.raises(InputError, match=r"argument 'm'; its arguments: n, mass, length"):
        art.load("pendulum_chain", m=3)


def test_gravity_of_a_file_that_has_its_own_says_what_to_do_instead() -> None:
    text = "<mujoco><worldbody/></mujoco>"
    with pytest.raises(InputError, match=r"no option 'gravity'; load it, then take Mechanism.with_gravity"):
        art.load(text, gravity=(0, 0, 0))
