"""The system's Chromium, driven by playwright, without a network."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
FLAGS = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--mute-audio",
)  # fmt: skip


PATIENCE = 180_000
"""Time that anything may take in a browser [ms]: a machine on which a dozen other programs run takes ten times its usual."""
READY = "body[data-ready=yes]"
"""A player that is ready."""

NEEDED = "ARTICULUS_BROWSER"
"""Environment variable: with the value "required" a missing browser fails tests instead of skipping them."""


def missing(what: str) -> None:
    """Skip the test for want of something, or fail it where browsers are required."""
    if os.environ.get(NEEDED) == "required":
        pytest.fail(f"{what}; {NEEDED}=required asks for it")
    pytest.skip(what)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Give a browser; skip the test where there is none, or fail it where browsers are required."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("no Chromium on this machine: run `make browser`, or install the package 'chromium'")
    try:
        from playwright import sync_api
    except ImportError:
        missing("playwright is missing: install the extra 'test'")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(FLAGS), timeout=PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def opened(browser: Any, place: Path, ready: str = READY, **options: Any) -> Iterator[Any]:
    """Give a page of a file on the disk, network off, once an element is there.

    Whatever it says on the console or asks of the network fails the test.
    """
    context = browser.new_context(offline=True, viewport={"width": 1100, "height": 640}, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on(
        "request",
        lambda request: said.append(request.url) if request.url.startswith(("http", "ws")) else None,
    )
    try:
        page.goto(place.as_uri())
        page.wait_for_selector(ready)
        yield page
    finally:
        context.close()
    assert said == []


def kept(page: Any, name: str) -> Path:
    """Return the file of a screenshot that stays in the build folder."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    place = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=place)
    return place


def eventually(condition: Callable[[], object], seconds: float = PATIENCE / 1000) -> bool:
    """Return whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
