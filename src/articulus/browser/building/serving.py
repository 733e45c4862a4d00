"""A page on which a model is built, open while the program continues."""

from __future__ import annotations

from articulus.browser.building.session import BuildSession
from articulus.browser.web import Access
from articulus.browser.web.serving import Serving
from articulus.errors import InputError


class Building(Serving):
    """A model on a page where it is built, served by a thread of its own until it is closed.

    Parameters
    ----------
    session : BuildSession
    access : Access
    port : int
        0 takes any free one.
    """

    def __init__(self, session: BuildSession, access: Access | None = None, port: int = 0):
        try:
            from articulus.browser.building.server import BuildServer
        except ImportError:
            raise InputError(
                "build: the package websockets is not installed; expected the extra `view`: pip install 'articulus[view]'"
            ) from None
        server = BuildServer(session, access or Access())
        super().__init__(server.site, session.title, port, work=server.watch)
