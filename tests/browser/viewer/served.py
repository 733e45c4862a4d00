"""Pages of a viewer in a browser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from articulus.browser import Viewing, view

from ..browser import PATIENCE

LIVE = "body[data-live=yes]"


@contextlib.contextmanager
def looked_at(
    browser: Any, what: Any, size: tuple[int, int] = (1280, 760), **options: Any
) -> Iterator[tuple[Any, Viewing]]:
    """Give a page that is ready, and what serves it (or `what` returns one that does); what it says on the console or asks of others fails the test."""
    with what() if callable(what) else view(what, browser=False, wait=False, **options) as viewing:
        context = browser.new_context(viewport=dict(zip(("width", "height"), size)))
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        said: list[str] = []
        ours = urlsplit(viewing.url).netloc
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("request", lambda asked: said.append(asked.url) if foreign(asked.url, ours) else None)
        try:
            page.goto(viewing.url)
            page.wait_for_selector(LIVE)
            yield page, viewing
        finally:
            context.close()
    assert [text for text in said if "GPU stall" not in text] == []


def foreign(url: str, ours: str) -> bool:
    """Whether an address leads to another server."""
    return url.startswith(("http", "ws")) and urlsplit(url).netloc != ours
