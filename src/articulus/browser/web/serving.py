"""A site that a thread of its own serves while the program continues."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, TypeVar

from articulus.errors import ArticulusError

if TYPE_CHECKING:
    from articulus.browser.web.site import Site

Self = TypeVar("Self", bound="Serving")


class Serving:
    """A page that is served by a thread of its own, until it is closed.

    Parameters
    ----------
    site : Site
    title : str
    port : int
        0 takes any free one.
    farewell : coroutine function
        Called before the connections are closed.
    work : coroutine function
        Goes on beside the connections until then.

    Attributes
    ----------
    url : str
        Address of the page; whoever has it may look.
    """

    def __init__(
        self,
        site: Site,
        title: str,
        port: int = 0,
        farewell: Callable[[], Awaitable[None]] | None = None,
        work: Callable[[], Coroutine[None, None, None]] | None = None,
    ):
        logging.getLogger("websockets").setLevel(logging.ERROR)
        self._site, self.title, self._farewell, self._work = site, title, farewell, work
        self._loop = asyncio.new_event_loop()
        self._done = asyncio.Event()
        self._ready = threading.Event()
        self._failure: ArticulusError | None = None
        self._thread = threading.Thread(target=self._run, args=(port,), name="view", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        self.url = site.url

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of '{self.title}' at {self.url}>"

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook on this machine."""
        return f'<iframe src="{self.url}" width="100%" height="560" style="border:0" allow="fullscreen"></iframe>'

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, within: float | None = None) -> None:
        """End it; the page says so. A page that does not answer is waited for up to some seconds, 10 if not given."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._done.set)
            self._thread.join(within)

    def wait(self) -> None:
        """Return when it is closed, or after Ctrl+C, which closes it."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            self.close()

    def offer(self: Self, browser: bool = True, wait: bool | None = None) -> Self:
        """Print the address, and open the page.

        Parameters
        ----------
        browser : bool
            Whether to open the page; its address is printed in any case.
        wait : bool
            Whether to return only when the page is closed (Ctrl+C). If not given, a script waits, and a prompt or notebook
            does not.
        """
        if wait is None:
            wait = not _interactive()
        sys.stderr.write(f"look here: {self.url}{'  (Ctrl+C ends)' if wait else ''}\n")
        if browser:
            webbrowser.open(self.url)
        if wait:
            self.wait()
        return self

    def _run(self, port: int) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(port))

    async def _serve(self, port: int) -> None:
        try:
            listening = await self._site.start(port)
        except ArticulusError as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        work = None if self._work is None else asyncio.create_task(self._work())
        async with listening:
            await self._done.wait()
            if work is not None:
                work.cancel()
            if self._farewell is not None:
                await self._farewell()


def _interactive() -> bool:
    """Whether somebody sits at a prompt or in a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
