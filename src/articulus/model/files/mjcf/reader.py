"""Reading MJCF: MuJoCo, the reference reader of its own format, compiles it; the result becomes a Description.

Geometry is kept as what is drawn (`visuals`). What changes the motion and cannot be said here is omitted and listed by name
in `Description.findings`, with one warning (`unsupported`); contacts are noted there, without a warning.
Positions are MuJoCo's own, joint by joint, but for the free joint: here q = (quaternion, position) and v = (angular,
linear) in body axes; MuJoCo puts the position and the linear velocity first, the latter in world axes.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from articulus.errors import Finding, InputError, ModelError, brief, require_package
from articulus.model.files.findings import announce
from articulus.model.files.mjcf.check import check_bodies, check_file, check_text
from articulus.model.files.mjcf.convert import convert
from articulus.model.files.mjcf.unsupported import Omission, notes, omissions, refuse_unsupported
from articulus.model.files.report import Report
from articulus.model.files.storage import StrPath, as_path
from articulus.model.files.xml_tree import XmlElement
from articulus.model.mechanism import Description

_LINE = re.compile(r"\bline (\d+)")
SECTIONS = ("equality", "tendon", "actuator", "sensor")
"""Sections whose elements may be omitted, each with the line it stands on."""


def read_mjcf(path: StrPath, roots: Sequence[StrPath] = (), strict: bool = False) -> Description:
    """Return the mechanism of an MJCF file; needs the extra `articulus[mjcf]`.

    Raises ModelError when the file is wrong, UnsupportedOperation when it holds what cannot be represented.

    Parameters
    ----------
    path : str or Path
    roots : sequence of str or Path
        Folders that included files, meshes and textures may lie in besides the model's own package: the Python or ROS
        package around its folder, the folder itself where there is none.
    strict : bool
        Whether what would be omitted of the mechanism is an error.
    """
    place = as_path(path)
    root = check_file(place, [as_path(folder) for folder in roots])
    return _convert(root, place.name, lambda mujoco: mujoco.MjModel.from_xml_path(str(place)), strict)


def parse_mjcf(text: str, name: str = "model.xml", strict: bool = False) -> Description:
    """Return the mechanism of an MJCF text that names no other files; `name` stands for it in messages."""
    root = check_text(text, name)
    return _convert(root, name, lambda mujoco: mujoco.MjModel.from_xml_string(text), strict)


def _convert(root: XmlElement, name: str, load: Callable[[Any], Any], strict: bool) -> Description:
    mujoco = require_package("mujoco", "MJCF", "mjcf")
    model = _compile(mujoco, load, name)
    check_bodies(sum(max(1, int(joints)) for joints in model.body_jntnum[1:]), root, name)
    refuse_unsupported(model, name)
    report = Report(name, _lines(root))
    disabled = {
        bit.name.removeprefix("mjDSBL_") for bit in _bits(mujoco) if model.opt.disableflags & int(bit)
    }
    title = root.attributes.get("model") or Path(name).stem
    try:
        description, lost, shapes = convert(model, disabled, title, f"MJCF file {name}", report.locate)
    except InputError as error:
        report.add_error("", error)
        report.raise_if_any()
        raise
    left_out = [_finding(o, report) for o in (*omissions(model), *lost)]
    noted = [_finding(o, report) for o in (*notes(model, disabled), *shapes)]
    announce(left_out, name, strict)
    return replace(description, findings=(*left_out, *noted))


def _finding(omission: Omission, report: Report) -> Finding:
    return Finding(report.locate(omission.path), omission.found, omission.expected, kind=omission.kind)


def _bits(mujoco: Any) -> list[Any]:
    return [bit for bit in mujoco.mjtDisableBit.__members__.values() if bit.name.startswith("mjDSBL_")]


def _compile(mujoco: Any, load: Callable[[Any], Any], name: str) -> Any:
    said: list[str] = []
    try:
        with _listening(mujoco, said):
            model = load(mujoco)
        _judge(said, name)
        return model
    except ModelError:
        raise
    except (ValueError, TypeError, MemoryError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
    line = _LINE.search(message)
    where = f"{name}:{line[1]}" if line else name
    raise ModelError(Finding(where, f"what MuJoCo refuses: {message}", "a model that MuJoCo compiles"))


@contextlib.contextmanager
def _listening(mujoco: Any, said: list[str]) -> Iterator[None]:
    """Collect MuJoCo's warnings, which it would else write into a file in the working folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: said.append(text if isinstance(text, str) else text.decode()))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _judge(said: list[str], name: str) -> None:
    """Refuse a model whose accelerations are not determined; pass other warnings on."""
    for text in said:
        line = " ".join(text.split())
        if "singular" in line:
            raise ModelError(
                Finding(name, f"what MuJoCo warns of: {line}", "an inertia matrix that is not singular")
            )
        warnings.warn(f"{name}: MuJoCo says: {brief(line)}", stacklevel=4)


def _lines(root: XmlElement) -> dict[str, int]:
    """Return the line of every named body, joint, site, equality, tendon, actuator and sensor."""
    kinds = {"body": "body", "joint": "joint", "freejoint": "joint", "site": "frame"}
    out = {"": root.line}
    for element in root.everything():
        if element.tag in kinds:
            out.setdefault(f"{kinds[element.tag]}.{element.attributes.get('name', '')}", element.line)
    for section in root.children:
        for element in section.children if section.tag in SECTIONS else ():
            out.setdefault(f"{section.tag}.{element.attributes.get('name', '')}", element.line)
    return out
