"""What the page of a viewer may ask, and the answers. Nothing here knows of networks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from articulus.browser.export import page_of
from articulus.browser.recording import Params, Runs, lanes, motion, recording, trail_of
from articulus.browser.viewer.posing import Posing, pose_of
from articulus.browser.viewer.shapes import mode_motion, natural_modes
from articulus.browser.web import MessageError
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import ArticulusError, InputError, UnsupportedOperation
from articulus.model.late import late_function
from articulus.simulation.results import Run
from articulus.simulation.solve.assembly import one_state

if TYPE_CHECKING:
    from articulus.browser.desk import Desk

ROOM = 0.15
"""Room around a mechanism that is not yet moved, in parts of its size."""
BESIDE = ("margins", "plant", "control", "mu")
"""Questions that are answered beside the others, which do not wait for them."""


class ViewerSession:
    """A mechanism, or runs of one, that somebody looks at.

    Parameters
    ----------
    what : Mechanism, Run, sequence of Runs, or dict of name to Run
    title : str
        The mechanism's name if not given.
    q : array, (nq,)
        Position in which a mechanism is shown first; neutral if not given.
    params : dict of parameter name to number, or to array (batch,)
        Those with which a run was made if not given.
    wrenches : dict of signal name to frame
        See `export_html`.
    ranges : dict of parameter name to (low, high)
        Ends of the sliders of the design desk.
    designs : Front, or sequence of dicts of name to number
        Designs to choose from on the design desk.

    Raises
    ------
    InputError
        A position for a run, or ranges or designs for what has no sliders.
    """

    def __init__(
        self,
        what: Mechanism | Runs,
        *,
        title: str = "",
        q: Any = None,
        params: Params | None = None,
        wrenches: Mapping[str, str] | None = None,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        designs: Any = None,
    ):
        self.desk: Desk | None = None
        self.control: Any = None
        self._trail = ""
        if isinstance(what, Mechanism):
            self.mechanism = what.with_values(params or {})
            start = one_state("q", what.positions(q), what.nq)
            shown = [_still(self.mechanism, start)]
        else:
            if q is not None:
                raise InputError("view: found a position q for a run; expected one only for a mechanism")
            runs = lanes(what)
            self.mechanism, start = runs[0].mechanism(params), runs[0].values("q")[0]
            shown = [recording(lane, 1 / len(runs), params, wrenches) for lane in runs]
            self._trail = trail_of(runs)
            self.desk = _desk(runs[0].run, ranges, wrenches, designs)
            self.control = _control_desk(runs[0].run, len(runs))
        if (ranges or designs is not None) and self.desk is None:
            given = f"ranges of {', '.join(map(repr, ranges))}" if ranges else "designs"
            raise InputError(
                f"view: found {given}; expected none: only one run of simulate with named "
                "parameters has sliders"
            )
        self.posing = Posing(self.mechanism)
        self.title = title or self.mechanism.name
        self._q, self._shown = start, shown
        self._one_at_a_time, self._beside = threading.Lock(), threading.Lock()

    @property
    def shown(self) -> list[dict[str, Any]]:
        """What the page shows: recordings."""
        return self._shown

    @property
    def shown_position(self) -> np.ndarray:
        """Position that it shows first, (nq,)."""
        return self._q

    def page(self) -> str:
        """Return the text of the page."""
        live = {
            "q": self._q.tolist(),
            "freedoms": self.posing.dofs(),
            "desk": self.desk.describe() if self.desk else None,
            "control": self.control.describe() if self.control else None,
        }
        return page_of(self._shown, self.title, live, self._trail)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a message, {"error": text} where there is none; raise MessageError for one without sense."""
        with self._beside if message.get("do") in BESIDE else self._one_at_a_time:
            try:
                return self._answer(message)
            except MessageError:
                raise
            except ArticulusError as error:
                return {"error": str(error)}

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        match message:
            case {"do": "move", "q": q, "freedom": int(dof), "by": by} if 0 <= dof < self.mechanism.nv:
                return self.posing.move(self._position(q), dof, _numbers("by", [by], 1)[0])
            case {"do": "reach", "q": q, "frame": str(frame), "position": position, "quaternion": quaternion}:
                self.mechanism.description.carrier(frame)
                target = _numbers("position", position, 3)
                if quaternion is not None:
                    target = pose_of(target, _unit("quaternion", _numbers("quaternion", quaternion, 4)))
                return self.posing.reach(self._position(q), frame, target)
            case {"do": "modes", "q": q, "locked": bool(locked)}:
                return {"modes": self._modes(q, locked).plain()}
            case {
                "do": "mode",
                "q": q,
                "locked": bool(locked),
                "number": int(number),
                "amplitude": amplitude,
            }:
                return self._mode(q, locked, number, _numbers("amplitude", [amplitude], 1)[0])
            case {"do": "design", "values": dict(values)} if self.desk is not None:
                return self._design(self.desk, message, values)
            case {"do": "margins", "values": dict(values)} if self.desk is not None:
                return self.desk.margins(_values(values), _time(message.get("at")))
            case {"do": "plant"} if self.control is not None:
                return dict(self.control.plant(_time(message.get("at"))))
            case {"do": "control", "form": dict(form)} if self.control is not None:
                return dict(self.control.design(_form(form)))
            case {
                "do": "mu",
                "number": int(number),
                "percent": percent,
                "parameters": list(names),
            } if self.control is not None:
                return self.control.robustness(
                    number, _numbers("percent", [percent], 1)[0], _texts("parameters", names)
                )
        raise MessageError(f"found an unknown message with the fields {sorted(map(str, message))[:8]}")

    def _modes(self, q: Any, locked: bool) -> Any:
        return natural_modes(self.mechanism, self._position(q), locked)

    def _mode(self, q: Any, locked: bool, number: int, amplitude: float) -> dict[str, Any]:
        found = self._modes(q, locked)
        if not 0 <= number < found.omega_squared.size or not 0 < amplitude <= 1:
            raise MessageError(f"number: found {number}; expected one of {found.omega_squared.size} modes")
        at, shape = self._position(q), found.shapes[:, number]
        name = f"mode {number + 1}"
        return {"run": mode_motion(self.mechanism, at, shape, amplitude, name)}

    def _design(self, desk: Desk, message: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        texts = {name: message.get(name) for name in ("vary", "input", "output")}
        if not all(x is None or isinstance(x, str) for x in texts.values()):
            raise MessageError("vary, input, output: expected texts")
        return desk.design(_values(values), at=_time(message.get("at")), **texts)

    def _position(self, q: Any) -> np.ndarray:
        """Return a position that a page sent, quaternions brought to unit length."""
        found = _numbers("q", q, self.mechanism.nq)
        d = self.mechanism.description
        for c in d.connections:
            if c.joint.nq > c.joint.nv:
                at = slice(d.q_slices[c.name].start, d.q_slices[c.name].start + 4)
                found[at] = _unit("q", found[at])
        return found


def _still(mechanism: Mechanism, q: np.ndarray) -> dict[str, Any]:
    """Return one position as a recording, with room around it to move in."""
    shown = motion(mechanism, mechanism.name, np.zeros(1), q[None])
    room = ROOM * shown["scene"]["size"]
    low, high = shown["bounds"]
    return {**shown, "bounds": [[x - room for x in low], [x + room for x in high]]}


def _desk(
    run: Run,
    ranges: Mapping[str, tuple[float, float]] | None,
    wrenches: Mapping[str, str] | None,
    designs: Any,
) -> Desk | None:
    """Return the design desk of a single run that can be made again and has named parameters."""
    if run.origin is None or run.batch is not None or not run.parameters:
        return None
    from articulus.browser.desk import Desk

    try:
        return Desk(run, ranges, wrenches, designs)
    except UnsupportedOperation:  # from a file, with components that could not be written
        return None


def _control_desk(run: Run, runs: int) -> Any:
    """Return what designs controllers for a single run that can be made again, a `study.linear.desk.ControlDesk`, or None."""
    if run.origin is None or run.batch is not None or runs > 1:
        return None
    return late_function("control_desk")(run)


def _form(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form of a controller that a page sent."""
    arguments = given.get("arguments")
    if not isinstance(arguments, dict) or not isinstance(given.get("method"), str):
        raise MessageError("form: expected a method and its arguments")
    return {
        "method": given["method"],
        "at": _time(given.get("at")),
        "period": _texts("period", [given.get("period") or ""])[0],
        "arguments": dict(
            zip(_texts("arguments", list(arguments)), _texts("arguments", list(arguments.values())))
        ),
        **{key: _texts(key, given.get(key) or []) for key in ("commands", "measured")},
    }


def _texts(name: str, given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(x, str) for x in given):
        raise MessageError(f"{name}: expected texts")
    return given


def _numbers(name: str, given: Any, count: int) -> np.ndarray:
    good = (
        isinstance(given, list)
        and len(given) == count
        and all(type(x) in (int, float) and abs(x) <= sys.float_info.max for x in given)
    )
    if not good:
        raise MessageError(f"{name}: expected {count} finite number(s)")
    return np.array(given, dtype=float)


def _values(given: Mapping[str, Any]) -> dict[str, float]:
    """Return values of parameters that a page sent."""
    return {str(name): _numbers(str(name), [x], 1)[0] for name, x in given.items()}


def _time(given: Any) -> float | None:
    return None if given is None else _numbers("at", [given], 1)[0]


def _unit(name: str, quaternion: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(quaternion))
    if not 0.5 < size < 2:
        raise MessageError(f"{name}: found a quaternion of length {size:.3g}; expected 1")
    return quaternion / size
