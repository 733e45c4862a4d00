"""`require`: the package of another world, imported when a bridge is first used."""

from __future__ import annotations

import importlib
from typing import Any

from articulus.errors import UnsupportedOperation


def require(module: str, what: str, extra: str) -> Any:
    """Return an optional package; raise UnsupportedOperation, which names the extra, where it is not installed.

    Parameters
    ----------
    module : str
        Name to import, such as "fmpy".
    what : str
        What asks for it, the beginning of the message.
    extra : str
        Extra that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UnsupportedOperation(
            f"{what}: the package {module.partition('.')[0]} is not installed; expected the extra `{extra}`: "
            f"pip install 'articulus[{extra}]'"
        ) from None
