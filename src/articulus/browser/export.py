"""One HTML file that plays runs: no installation, no network."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import string
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from articulus.browser.manual import entries
from articulus.browser.recording import Params, Runs, lanes, recording, trail_of
from articulus.model.files.storage import StrPath, write_text

SCRIPTS = (
    "three.min.js",
    "unpack.js",
    "elements.js",
    "numbers.js",
    "axes.js",
    "scene.js",
    "trail.js",
    "samples.js",
    "svg_pen.js",
    "plot_modes.js",
    "plots.js",
    "plot_desk.js",
    "views.js",
    "address.js",
    "gif.js",
    "manual.js",
    "player.js",
)
LIVE_SCRIPTS = (
    "live.js",
    "pose.js",
    "modes.js",
    "charts.js",
    "plane.js",
    "poles.js",
    "response.js",
    "family.js",
    "margins.js",
    "desk_front.js",
    "desk.js",
    "lines.js",
    "loop_charts.js",
    "control.js",
)
"""Panels that ask a server, each in its own file."""
BUILD_SCRIPTS = (
    "live.js",
    "pose.js",
    "build_values.js",
    "build_form.js",
    "build_handles.js",
    "build_draft.js",
    "build.js",
)
"""Those of the page on which models are built."""


def export_html(
    runs: Runs,
    path: StrPath,
    *,
    title: str = "",
    params: Params | None = None,
    wrenches: Mapping[str, str] | None = None,
    play: bool = False,
) -> None:
    """Write one self-contained HTML file that plays one or several runs with their plots.

    Parameters
    ----------
    runs : Run, sequence of Runs, or dict of name to Run
        The first is drawn solid, the others as ghosts over it; of a batch up to eight runs are shown.
    path : path of the file
    title : str
        The mechanism's name if not given.
    params : dict of parameter name to number, or to array (batch,)
        Values of named parameters, where a run does not know its own.
    wrenches : dict of signal name to frame
        Signals of six entries (moment [N m], force [N], ground axes) to draw as arrows at a frame. Those of a `FrameWrench`
        without a name of its own are drawn by themselves.
    play : bool
        Whether the page plays from the start, unless the visitor prefers less motion.
    """
    write_text(path, page(runs, title=title, params=params, wrenches=wrenches, play=play))


def page_of(
    shown: Sequence[dict[str, Any]],
    title: str,
    live: dict[str, Any] | None = None,
    trail: str = "",
    play: bool = False,
    scripts: tuple[str, ...] = LIVE_SCRIPTS,
    styles: tuple[str, ...] = (),
) -> str:
    """Return the text of a page that plays recordings.

    Parameters
    ----------
    shown : sequence of dict
        From `recording`; the first is drawn solid, the others as ghosts.
    title : str
    live : dict
        What a page with a server behind it needs to know: it then has more panels.
    trail : str
        Body or frame whose trace is drawn from the start.
    play : bool
        Whether it plays from the start.
    scripts, styles : tuples of str
        What a page with a server has more.
    """
    scripts = SCRIPTS if live is None else (*SCRIPTS, *scripts)
    style = "".join(map(asset, ("player.css", *styles)))
    template = string.Template(asset("player.html"))
    return template.substitute(
        title=html.escape(title),
        policy=f"{policy(scripts)}; style-src {hash_of(style)}",
        style=style,
        scripts="\n".join(f"<script>{asset(script)}</script>" for script in scripts),
        data=json_text(
            {
                "title": title,
                "runs": list(shown),
                "live": live,
                "trail": trail,
                "play": play,
                "manual": entries(scripts),
            }
        ),
    )


def page(
    runs: Runs,
    *,
    title: str = "",
    params: Params | None = None,
    wrenches: Mapping[str, str] | None = None,
    trail: str = "",
    play: bool = False,
) -> str:
    """Return the text of the file that `export_html` writes."""
    shown = lanes(runs)
    data = [recording(lane, 1 / len(shown), params, wrenches) for lane in shown]
    return page_of(data, title or shown[0].run.mechanism.name, trail=trail or trail_of(shown), play=play)


def replay_fragment(
    runs: Runs,
    *,
    title: str = "",
    params: Params | None = None,
    wrenches: Mapping[str, str] | None = None,
    trail: str = "",
) -> str:
    """Return an HTML element that plays runs inside another page; that page's Content-Security-Policy must allow `policy`."""
    text = page(runs, title=title, params=params, wrenches=wrenches, trail=trail)
    return (
        '<iframe class="replay" title="Replay" sandbox="allow-scripts allow-downloads" allow="fullscreen" '
        f'srcdoc="{html.escape(text)}"></iframe>'
    )


@functools.cache
def policy(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """Return the Content-Security-Policy of the player but for styles: its own scripts by their hashes, no network.

    A page with panels that need a server may talk to that server and to nobody else.
    """
    hashes = " ".join(hash_of(asset(script)) for script in scripts)
    connect = "; connect-src 'self'" if LIVE_SCRIPTS[0] in scripts else ""
    return f"default-src 'none'; script-src {hashes}; img-src data: blob:; media-src blob:{connect}"


@functools.cache
def asset(name: str) -> str:
    """Return the text of a file of the player."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Return what a Content-Security-Policy calls a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def json_text(data: Any) -> str:
    """Return data as JSON that may be put inside a script element; numbers that JSON has not become null."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
