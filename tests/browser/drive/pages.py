"""Pages of a driven machine in a browser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from articulus.browser.drive import Driving

from ..browser import PATIENCE, eventually

READY = "Boolean(window.drive?.frame && drive.status && (drive.view || window.blind))"
"""Whether a page shows the machine, unless it is blind, and knows who drives."""
BLIND = "window.blind = true; HTMLCanvasElement.prototype.getContext = () => null;"
"""A browser without WebGL. Pages that are drawn by software leave little of two cores; those who only drive need no picture."""


@contextlib.contextmanager
def visited(browser: Any, driven: Driving, script: str = "", **options: Any) -> Iterator[Any]:
    """Give a page that is ready; it must say nothing on the console, and the server must have let go of it afterwards.

    `script` is run in the page before its own.
    """
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(script)
    page = context.new_page()
    said: list[str] = []
    page.on(
        "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    before = len(driven.server.clients)
    try:
        page.goto(driven.url)
        assert eventually(lambda: page.evaluate(READY))
        yield page
    finally:
        context.close()
    assert not [text for text in said if "GPU stall" not in text and "WebGL" not in text]
    assert eventually(lambda: len(driven.server.clients) <= before)


def joint(driven: Driving, number: int) -> float:
    """Return the position of a joint as it is shown [rad or m]."""
    return float(driven.session.plant.q(driven.session.shown.state)[number])


def speed(driven: Driving) -> float:
    """Return the largest speed of a joint as it is shown [rad/s or m/s]."""
    return float(abs(driven.session.plant.v(driven.session.shown.state)).max())
