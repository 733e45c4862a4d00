"""What every page with a server shares: who may connect, which files are served, which messages are looked at."""

from articulus.studio.web.access import Access
from articulus.studio.web.messages import MessageError, object_in, text

__all__ = ["Access", "MessageError", "object_in", "text"]
