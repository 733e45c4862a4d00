"""Modes of flexible bodies as npz archives: plain arrays, no pickled objects, with a checksum of all numbers."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np

from articulus.errors import Finding, InputError, ModelError
from articulus.model.files.npz import npz_arrays
from articulus.model.files.storage import MAX_BYTES, StrPath, as_path, load_bytes, write_bytes
from articulus.model.mechanism import Parameter
from articulus.model.mechanism.chebyshev import Fit
from articulus.model.mechanism.modes import Modes, Station

FORMAT = "articulus modes 1"
ARRAYS = (
    "rr0", "rr1", "rr2", "rr2_shortening", "rf0", "rf1", "rf1_shortening", "ff", "stiffness", "damping",
)  # fmt: skip
STATION_ARRAYS = tuple(field.name for field in dataclasses.fields(Station))


def write_modes(modes: Modes, path: StrPath) -> None:
    """Write the modes of a flexible body as an npz archive, whole or not at all."""
    write_bytes(path, modes_bytes(modes))


def read_modes(path: StrPath) -> Modes:
    """Return the modes of an npz archive written by `write_modes`; raise ModelError with what is wrong with it."""
    place = as_path(path)
    return modes_from_bytes(load_bytes(place), place.name)


def modes_bytes(modes: Modes) -> bytes:
    """Return the content of such an archive; equal modes give equal bytes."""
    held: dict[str, Any] = {"format": FORMAT, "checksum": repr(modes), "level": modes.level}
    if not modes.knows_shortening:
        held["matrices_only"] = True
    held |= {"names": _texts(modes.names), "stations": _texts(tuple(modes.stations))}
    held |= {name: getattr(modes, name) for name in ARRAYS}
    for name in STATION_ARRAYS:
        held[f"station_{name}"] = np.array([getattr(s, name) for s in modes.stations.values()])
    if modes.fit is not None:
        held |= _fit_arrays(modes.fit)
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **held)
    return out.getvalue()


def modes_from_bytes(content: bytes, name: str) -> Modes:
    """Return the modes of an archive's content; `name` stands for the file in messages."""
    held = _arrays(content, name)
    if str(held.get("format")) != FORMAT:
        raise _refusal(name, "another npz archive", f"one of the format '{FORMAT}'")
    try:
        columns = [held[f"station_{key}"] for key in STATION_ARRAYS]
        stations = {str(key): Station(*rows) for key, *rows in zip(held["stations"], *columns, strict=True)}
        modes = Modes(
            names=tuple(map(str, held["names"])),
            stations=stations,
            level=str(held["level"]),  # type: ignore[arg-type]
            knows_shortening="matrices_only" not in held,
            fit=_fit(held) if "fit_parameters" in held else None,
            **{key: held[key] for key in ARRAYS},
        )
    except KeyError as error:
        raise _refusal(name, f"no array {error}", "all arrays of the modes of a flexible body") from None
    except (InputError, ValueError, TypeError) as error:
        raise _refusal(name, str(error), "arrays whose shapes belong together") from None
    if repr(modes) != str(held.get("checksum")):
        raise _refusal(name, "numbers that do not give its checksum", "an archive as it was written")
    return modes


def _fit_arrays(fit: Fit) -> dict[str, Any]:
    return {
        "fit_parameters": _texts(tuple(p.name for p in fit.parameters)),
        "fit_values": np.array([p.value for p in fit.parameters]),
        "fit_ranges": np.array([p.range for p in fit.parameters]),
        "fit_logarithmic": np.array(fit.logarithmic),
        "fit_constant": fit.constant,
        "fit_mixing": fit.mixing,
        "fit_coefficients": fit.coefficients,
        "fit_error": fit.error,
    }


def _fit(held: dict[str, np.ndarray]) -> Fit:
    named = zip(held["fit_parameters"], held["fit_values"], held["fit_ranges"], strict=True)
    parameters = tuple(Parameter(str(name), float(value), tuple(ends)) for name, value, ends in named)
    constant, mixing, coefficients = (held[f"fit_{key}"] for key in ("constant", "mixing", "coefficients"))
    if (len(constant), len(coefficients)) != mixing.shape or coefficients.ndim != 1 + len(parameters):
        raise ValueError(
            f"a fit of shapes {constant.shape}, {mixing.shape} and {coefficients.shape} over {len(parameters)} parameters"
        )
    logarithmic = tuple(bool(x) for x in held["fit_logarithmic"])
    return Fit(parameters, constant, mixing, coefficients, logarithmic, float(held["fit_error"]))


def _arrays(content: bytes, name: str) -> dict[str, np.ndarray]:
    try:
        return npz_arrays(content, MAX_BYTES)
    except ValueError as error:
        raise _refusal(name, f"no readable npz archive ({error})", "one that `write_modes` wrote") from None


def _texts(names: tuple[str, ...]) -> np.ndarray:
    return np.array(names, dtype=np.str_)


def _refusal(name: str, found: str, expected: str) -> ModelError:
    return ModelError(Finding(name, found, expected))
