"""What the page on which a model is built may ask, and the answers. Nothing here knows of networks."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from articulus.browser.building.checking import Checked, check
from articulus.browser.building.document import KINDS, TYPED, Document, new_text
from articulus.browser.export import BUILD_SCRIPTS, page_of
from articulus.browser.recording import lanes, recording
from articulus.browser.viewer.session import ViewerSession
from articulus.browser.viewer.source import TEXTS
from articulus.browser.web import MessageError
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, Finding, InputError, ModelError
from articulus.model.files.asset_paths import why_outside
from articulus.model.files.storage import load_bytes, load_text, write_text
from articulus.model.files.toml.lines import key_lines, places
from articulus.model.files.toml.reader import parse_toml
from articulus.model.files.toml.values import nothing_attached
from articulus.model.files.toml.writer import attached_files, toml_text
from articulus.model.load import load
from articulus.model.mechanism import Description, LoopJoint, Pose
from articulus.model.mechanism.numbers import values_of
from articulus.model.mechanism.pose import quaternion_of
from articulus.simulation.running.calls import simulate

LONGEST_RUN = 60.0
"""Longest run [s]."""
STEP = 1e-3
"""Step of runs [s]."""
SAMPLES = 1000
"""About so many samples of a run are kept."""
LONGEST_TEXT = 4_000_000
"""Characters of a text that a page may send."""


class BuildSession:
    """A model that somebody builds.

    Parameters
    ----------
    path : Path or None
        File that is opened, and written by "save"; one that does not exist begins with a single body. Without one there is nothing to write to.
    schema : dict
        JSON Schema of models, by which the page makes its forms.
    """

    def __init__(self, path: Path | None, schema: Mapping[str, Any]):
        if path is not None and path.suffix.lower() != ".toml":
            raise InputError(f"build: found '{path.name}'; expected a .toml file: drop others onto the page")
        self.path, self.schema = path, schema
        self._line_end = "\n"
        held = self._read() if path is not None and path.exists() else None
        name = path.name if path is not None else "model.toml"
        self.document = Document(new_text(PurePath(name).stem) if held is None else held, name, held)
        self._attached = _beside(path.parent) if path is not None else nothing_attached
        self._lock = threading.Lock()
        self._view: ViewerSession | None = None
        self._checked = self._check()

    @property
    def title(self) -> str:
        return self.document.name

    def page(self) -> str:
        """Return the text of the page; what is built comes once it has connected."""
        view = self._view or ViewerSession(Mechanism.from_description(parse_toml(new_text("start"))))
        live = {
            "q": view.shown_position.tolist(),
            "freedoms": view.posing.dofs(),
            "desk": None,
            "build": {"name": self.document.name, "file": self.path is not None},
        }
        return page_of(view.shown, self.title, live, scripts=BUILD_SCRIPTS, styles=("build.css",))

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a message, {"error": text} where there is none; raise MessageError for one without sense."""
        with self._lock:
            try:
                return self._answer(message)
            except ArticulusError as error:
                if isinstance(error, MessageError):
                    raise
                return {"error": str(error)}

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        document = self.document
        match message:
            case {"do": "schema"}:
                return {"schema": self.schema}
            case {"do": "move" | "reach" | "modes" | "mode"} if self._view is not None:
                return self._view.answer(message)
            case {"do": "state"}:
                return self._state()
            case {"do": "run", "q": list(q), "seconds": float() | int() as seconds}:
                return {"run": self._run(q, float(seconds))}
            case {"do": "edit", "edits": list(edits), "what": str(what)} if all(
                isinstance(e, dict) for e in edits
            ):
                document.edit(edits, what[:80])
            case {"do": "undo"}:
                document.undo()
            case {"do": "redo"}:
                document.redo()
            case {"do": "text", "text": str(text)} if len(text) <= LONGEST_TEXT:
                document.replace(text.replace("\r\n", "\n"), TYPED)
            case {"do": "open", "name": str(name), "text": str(text)} if len(text) <= LONGEST_TEXT:
                document.replace(
                    self._read_dropped(name, text).replace("\r\n", "\n"),
                    f"opening {PurePath(name).name[:60]}",
                )
            case {"do": "reload"} if (held := self._on_disk()) is not None:
                self._take(held)
            case {"do": "save", "force": bool(force)}:
                self._save(force)
            case _:
                raise MessageError(
                    f"found an unknown message with the fields {sorted(map(str, message))[:8]}"
                )
        self._checked = self._check()
        return self._state()

    def look_at_file(self) -> bool:
        """Take over what an editor has written to the file, unless there is unsaved work; return whether there was something."""
        with self._lock:
            held = self._on_disk()
            if held is None or held == self.document.saved or not self.document.is_saved:
                return False
            self._take(held)
            self._checked = self._check()
            return True

    def _take(self, held: str) -> None:
        """Take over what the file holds, as a step that can be undone."""
        self.document.saved = held
        self.document.replace(held, "the change of the file")
        self.document.number += 1

    def _read(self) -> str:
        """Return the text of the file with plain ends of lines; how they are written is remembered for saving."""
        assert self.path is not None
        held = load_text(self.path)
        self._line_end = "\r\n" if "\r\n" in held else "\n"
        return held.replace("\r\n", "\n")

    def _on_disk(self) -> str | None:
        try:
            return self._read() if self.path is not None else None
        except ArticulusError:
            return None

    def _save(self, force: bool) -> None:
        if self.path is None:
            raise InputError(
                "There is no file to write to: use Download, or start with `articulus build NAME.toml`."
            )
        held = self._on_disk()
        if held is not None and held != self.document.saved and not force:
            raise InputError(f"{self.path.name} was changed by another program since it was read.")
        write_text(self.path, self.document.text.replace("\n", self._line_end))
        self.document.saved = self.document.text
        self.document.number += 1

    def _read_dropped(self, name: str, text: str) -> str:
        """Return the TOML text of a dropped file; one of another format is converted, without the meshes beside it."""
        suffix = PurePath(name).suffix.lower()
        if suffix == ".toml":
            return text
        if suffix not in TEXTS:
            raise InputError(f"{name[:80]}: expected a file of {', '.join(TEXTS)}")
        file: Any = io.StringIO(text)
        file.name = PurePath(name).name
        description = load(file).description
        if attached_files(description):
            raise InputError(
                f"{name[:80]}: found shapes or modes that need files of their own; expected a model that one text holds"
            )
        return toml_text(description)

    def _run(self, q: list[Any], seconds: float) -> dict[str, Any]:
        """Return what the mechanism does when it is let go at a position: with its components, limits and contacts, commands zero."""
        mechanism = self._checked.mechanism
        if mechanism is None:
            raise InputError("There is no mechanism yet: mend what is wrong first.")
        if not 0 < seconds <= LONGEST_RUN:
            raise InputError(f"found {seconds:.6g} s; expected more than 0 and at most {LONGEST_RUN:.0f} s")
        every = max(1, round(seconds / STEP) // SAMPLES)
        rows = max(1, round(seconds / STEP / every))
        run = simulate(
            mechanism,
            rows * every * STEP,
            q0=q,
            components=mechanism.components(),
            limits=True,
            contacts=bool(mechanism.description.equipment.collisions),
            step=STEP,
            sample=every * STEP,
        )
        return recording(lanes(run)[0])

    # what the page knows

    def _check(self) -> Checked:
        found = check(self.document.text, self.document.name, self._attached)
        if found.mechanism is not None:
            self._view = ViewerSession(found.mechanism, q=found.q)
        return found

    def _state(self) -> dict[str, Any]:
        document, found = self.document, self._checked
        state: dict[str, Any] = {
            "number": document.number,
            "name": document.name,
            "text": document.text,
            "undo": document.undo_name,
            "redo": document.redo_name,
            "saved": document.is_saved,
            "remarks": [vars(r) for r in found.remarks],
            "parts": None if found.data is None else _parts(document.text, found.data),
            "run": None,
        }
        if found.mechanism is not None and self._view is not None:
            (state["run"],) = self._view.shown
            state["q"] = self._view.shown_position.tolist()
            state["freedoms"] = self._view.posing.dofs()
            state["handles"] = dict(_handles(found.mechanism.description))
        return state


def _beside(folder: Path) -> Callable[[str], bytes]:
    """Return what reads the files that a model names: those in its folder."""

    def read(filename: str) -> bytes:
        if reason := why_outside(filename, folder, {}):
            raise ModelError(Finding(filename, f"a file that is not read: {reason}", "one beside the model"))
        return load_bytes(folder / filename)

    return read


def _parts(text: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return every part with its line and its keys: what stands there, as data and as it is written."""
    lines, found = key_lines(text), places(text)

    def keys(path: str, table: dict[str, Any]) -> dict[str, Any]:
        return {
            k: {
                "value": plain(held),
                "text": _text_as_written(text, found.values, f"{path}.{k}" if path else k),
            }
            for k, held in table.items()
        }

    top = {k: held for k, held in data.items() if k not in (*KINDS, "parameters")}
    out: dict[str, Any] = {"": {"line": 1, "keys": keys("", top)}}
    if isinstance(data.get("parameters"), dict):
        out["parameters"] = {
            "line": lines.get("parameters", 0),
            "keys": keys("parameters", data["parameters"]),
        }
    for kind in KINDS:
        tables = data.get(kind)
        for name, table in (tables if isinstance(tables, dict) else {}).items():
            path = f"{kind}.{name}"
            if isinstance(table, dict):
                out[path] = {"line": lines.get(path, 0), "keys": keys(path, table)}
    return out


def _text_as_written(text: str, values: Mapping[str, tuple[int, int]], path: str) -> str:
    """Return how a value is written; empty where it is spread over several lines of the table."""
    span = values.get(path)
    return text[span[0] : span[1]] if span is not None else ""


def plain(held: Any) -> Any:
    """Return a value of a TOML file as JSON can hold it."""
    match held:
        case dict():
            return {str(k): plain(x) for k, x in held.items()}
        case list():
            return [plain(x) for x in held]
        case bool() | str() | int():
            return held
        case float() if math.isfinite(held):
            return held
    return str(held)


def _handles(d: Description) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield for each part that has a place: the body or frame that carries it, where it is there, its key, and the axis of a joint."""
    for c in d.connections:
        yield f"joint.{c.name}", _handle(c.parent, c.node, "at", c.at, getattr(c.joint, "axis", None))
    for f in d.frames:
        yield f"frame.{f.name}", _handle(f.body, f.node, "at", f.at)
    for k in d.constraints:
        if isinstance(k, LoopJoint):
            yield f"loop.{k.name}", _handle(k.parent, "", "at", k.at, getattr(k.joint, "axis", None))
    for b in d.bodies:
        if b.modes is None:
            yield f"body.{b.name}", _handle(b.name, "", "com", Pose(b.com))


def _handle(carrier: str, node: str, key: str, at: Pose, axis: Any = None) -> dict[str, Any]:
    return {
        "carrier": carrier,
        "node": node,
        "key": key,
        "position": np.array(values_of(at.xyz), dtype=float).tolist(),
        "quaternion": list(quaternion_of(at.rotation())),
        "axis": None if axis is None else [float(x) for x in values_of(axis)],
    }
