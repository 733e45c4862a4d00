"""What every page with a server shares: who may connect, which files are served, which messages are examined."""

from articulus.browser.web.access import Access
from articulus.browser.web.messages import MessageError, object_in, text

__all__ = ["Access", "MessageError", "object_in", "text"]
