"""What deviations of a plant from its model add to the spectra of measured outputs and errors (Bennett 1989, eqs. 2.11-2.14)."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulus.errors import Finding, InputError


def uncertainty_spectrum(yu: Any = None, ye: Any = None, zu: Any = None, ze: Any = None) -> np.ndarray:
    """Return P = E{Delta Delta*} (frequencies, p + l, p + l) of [y; z] for deviations Delta = [-yu, ye; zu, ze].

    Parameters
    ----------
    yu, ye, zu, ze : arrays, (members, frequencies, rows, columns)
        Equally likely deviations of the blocks of eq. 2.1: plants of a family, or measurements, minus the model. Blocks that are not given
        are certain. One block at least in each row of blocks gives its size.

    The mean of the members' products; the product of -yu and zu has the sign of eq. 2.11, which eq. 2.13 does not print.
    """
    responses = {"yu": yu, "ye": ye, "zu": zu, "ze": ze}
    blocks = {k: np.asarray(v, dtype=complex) for k, v in responses.items() if v is not None}
    for name, block in blocks.items():
        if block.ndim != 4 or not np.isfinite(block).all():
            raise InputError(
                Finding(
                    f"uncertainty_spectrum, {name}",
                    f"shape {block.shape}",
                    "finite numbers, (members, frequencies, rows, columns)",
                )
            )
    rows = {r: next((b.shape[2] for n, b in blocks.items() if n[0] == r), None) for r in "yz"}
    heads = {b.shape[:2] for b in blocks.values()}
    if None in rows.values() or len(heads) != 1:
        raise InputError(
            Finding(
                "uncertainty_spectrum",
                f"blocks {', '.join(f'{n} {b.shape}' for n, b in blocks.items()) or 'none'}",
                "a block for y and one for z, with the same members and frequencies",
                "Certain rows are arrays of zeros.",
            )
        )
    (members, count) = heads.pop()
    p, size = int(rows["y"] or 0), sum(int(r or 0) for r in rows.values())
    total = np.zeros((count, size, size), dtype=complex)
    for column in "ue":
        delta = np.zeros((members, count, size, _width(blocks, column)), dtype=complex)
        for row, place, sign in (
            ("y", slice(0, p), -1.0 if column == "u" else 1.0),
            ("z", slice(p, size), 1.0),
        ):
            if row + column in blocks:
                delta[:, :, place] = sign * blocks[row + column]
        total += (delta @ delta.conj().swapaxes(2, 3)).mean(axis=0)
    return total


def _width(blocks: dict[str, np.ndarray], column: str) -> int:
    widths = {b.shape[3] for n, b in blocks.items() if n[1] == column}
    if len(widths) > 1:
        raise InputError(
            Finding(
                "uncertainty_spectrum",
                f"blocks of {sorted(widths)} columns for '{column}'",
                "one number of columns",
            )
        )
    return widths.pop() if widths else 0
