"""`view`: a page that stays open while the program goes on."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import webbrowser
from collections.abc import Mapping
from typing import Any

from articulus.api import Mechanism
from articulus.browser.recording import Params, Runs
from articulus.browser.viewer.session import Session
from articulus.browser.web import Access
from articulus.errors import ArticulusError, InputError


class Viewing:
    """A page that is served by a thread of its own, until it is closed.

    Parameters
    ----------
    session : Session
    access : Access
    port : int
        0 takes any free one.

    Attributes
    ----------
    url : str
        Address of the page; whoever has it may look.
    """

    def __init__(self, session: Session, access: Access | None = None, port: int = 0):
        try:
            from articulus.browser.viewer.server import Server
        except ImportError:
            raise InputError(
                "view: the package websockets is not installed; expected the extra `view`: pip install 'articulus[view]'"
            ) from None
        logging.getLogger("websockets").setLevel(logging.ERROR)
        self._server = Server(session, access or Access())
        self._loop = asyncio.new_event_loop()
        self._done = asyncio.Event()
        self._ready = threading.Event()
        self._failure: ArticulusError | None = None
        self._thread = threading.Thread(target=self._run, args=(port,), name="view", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        self.url = self._server.site.url

    def __repr__(self) -> str:
        return f"<Viewing of '{self._server.session.title}' at {self.url}>"

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook on this machine."""
        return f'<iframe src="{self.url}" width="100%" height="560" style="border:0" allow="fullscreen"></iframe>'

    def __enter__(self) -> Viewing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; the page says so."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._done.set)
            self._thread.join()

    def wait(self) -> None:
        """Return when it is closed, or after Ctrl+C, which closes it."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            self.close()

    def _run(self, port: int) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(port))

    async def _serve(self, port: int) -> None:
        try:
            listening = await self._server.site.start(port)
        except ArticulusError as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        async with listening:
            await self._done.wait()


def view(
    what: Mechanism | Runs,
    *,
    title: str = "",
    q: Any = None,
    params: Params | None = None,
    wrenches: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    browser: bool = True,
    wait: bool | None = None,
) -> Viewing:
    """Open a mechanism or runs in the browser.

    Parameters
    ----------
    what : Mechanism, Run, sequence of Runs, or dict of name to Run
        The first run is drawn solid, the others as ghosts over it.
    title : str
        The mechanism's name if not given.
    q : array, (nq,)
        Position in which a mechanism is shown first; neutral if not given.
    params : dict of parameter name to number, or to array (batch,)
        Those with which a run was made if not given.
    wrenches : dict of signal name to frame
        Signals of six entries to draw as arrows; see `export_html`.
    ranges : dict of parameter name to (low, high)
        Ends of the sliders of the design desk.
    browser : bool
        Whether to open the page; its address is printed in any case.
    wait : bool
        Whether to return only when the page is closed (Ctrl+C). If not given, a script waits, and a prompt or notebook
        does not.

    Returns
    -------
    Viewing
        With `url`, `close()` and `wait()`.
    """
    viewing = Viewing(
        Session(what, title=title, q=q, params=params, wrenches=wrenches, ranges=ranges), Access()
    )
    if wait is None:
        wait = not _interactive()
    sys.stderr.write(f"look here: {viewing.url}{'  (Ctrl+C ends)' if wait else ''}\n")
    if browser:
        webbrowser.open(viewing.url)
    if wait:
        viewing.wait()
    return viewing


def _interactive() -> bool:
    """Whether somebody sits at a prompt or in a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
