"""A mechanism in which a body has another inertia."""

from __future__ import annotations

import dataclasses
from typing import Any

from articulus.errors import InputError
from articulus.model.mechanism.description import Description
from articulus.model.mechanism.edit.compensation import compensate, shares
from articulus.model.mechanism.edit.rebuild import rebuilt, require_names


def with_inertia(d: Description, body: str, **numbers: Any) -> Description:
    """Return the mechanism with other numbers of a rigid body.

    Parameters
    ----------
    d : Description
    body : str
    **numbers
        Those of mass [kg], com [m] and inertia [kg m^2], as in `Body`, that change. Another inertia has to be that of a rigid
        body, even where that of a file was accepted as doubtful.
    """
    require_names("with_inertia", "body", [body], (b.name for b in d.bodies), d.name)
    old = next(b for b in d.bodies if b.name == body)
    if old.modes is not None:
        raise InputError(
            f"with_inertia: '{body}' is flexible, and its modes hold its inertia; expected a rigid body. Hang a rigid one on it "
            "by a fixed joint, or make other modes"
        )
    checked: dict[str, Any] = {"doubtful": ""} if "inertia" in numbers else {}
    new = dataclasses.replace(old, massless="", **checked, **numbers)
    return compensate(rebuilt(d, bodies=tuple(new if b is old else b for b in d.bodies)), shares(d))
