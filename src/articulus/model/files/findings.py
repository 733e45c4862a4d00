"""What is doubtful in a model that was loaded all the same: counted by kind in one warning, listed in `Mechanism.findings`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from articulus.errors import DoubtfulModel, Finding, ModelError, doubtful


def count_kinds(findings: Iterable[Finding]) -> str:
    """Return how many findings there are of each kind: "7 doubtful inertias, 1 missing mesh"."""
    kinds = Counter(f.kind or "finding" for f in findings)
    return ", ".join(f"{n} {kind if n == 1 else _plural(kind)}" for kind, n in kinds.items())


PICTURES = ("mesh", "shape")
"""Kinds of what is not drawn, which never stops a model."""


def announce(findings: Iterable[Finding], name: str, strict: bool) -> None:
    """Warn once of all findings of the model file `name`; with `strict` raise ModelError with those that are no pictures."""
    held = tuple(findings)
    refused = [f for f in held if strict and f.kind not in PICTURES]
    if refused:
        raise ModelError(refused)
    if held:
        doubtful(f"{name}: {count_kinds(held)}: see Mechanism.findings, or articulus info", DoubtfulModel)


def _plural(kind: str) -> str:
    if kind.endswith(("s", "x", "sh", "ch")):
        return f"{kind}es"
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
