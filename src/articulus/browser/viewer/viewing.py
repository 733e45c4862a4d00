"""`view`: a page that stays open while the program continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from articulus.browser.recording import Params, Runs
from articulus.browser.viewer.session import ViewerSession
from articulus.browser.viewer.source import Source
from articulus.browser.web import Access
from articulus.browser.web.serving import Serving
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError


class Viewing(Serving):
    """A mechanism or runs on a page that is served by a thread of its own, until it is closed.

    Parameters
    ----------
    session : ViewerSession
    access : Access
    port : int
        0 takes any free one.
    source : Source
        Files that are read again when they change, and what reads files that are dropped onto the page.

    Attributes
    ----------
    url : str
        Address of the page; whoever has it may look.
    """

    def __init__(
        self,
        session: ViewerSession,
        access: Access | None = None,
        port: int = 0,
        source: Source | None = None,
    ):
        try:
            from articulus.browser.viewer.server import ViewerServer
        except ImportError:
            raise InputError(
                "view: the package websockets is not installed; expected the extra `view`: pip install 'articulus[view]'"
            ) from None
        server = ViewerServer(session, access or Access(), source)
        super().__init__(server.site, session.title, port, work=server.watch)


def view(
    what: Mechanism | Runs,
    *,
    title: str = "",
    q: Any = None,
    params: Params | None = None,
    wrenches: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    designs: Any = None,
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
    designs : Front, or sequence of dicts of name to number
        Designs to choose from on the design desk: a front, or a row for each with parameters of the run and two numbers to draw them by.
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
    session = ViewerSession(
        what, title=title, q=q, params=params, wrenches=wrenches, ranges=ranges, designs=designs
    )
    return Viewing(session, Access()).offer(browser, wait)
