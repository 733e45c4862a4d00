"""What goes between driver and workers, as bytes: texts and arrays, nothing that could run code."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from articulus.study.campaign.design import Campaign
from articulus.study.campaign.percentile_bands import Counts, Scale
from articulus.study.campaign.work import COLUMNS, RunRows, Trouble

COUNTS = ("cells", "least", "greatest")


def encode(found: RunRows | Trouble) -> bytes:
    """Return rows, or trouble, as bytes."""
    if isinstance(found, Trouble):
        meta: dict[str, Any] = {"trouble": [found.cause, found.text, found.again]}
        arrays: dict[str, np.ndarray] = {}
    else:
        texts = {str(i): t for i, t in found.texts.items()}
        meta = {"first": found.first, "count": found.count, "texts": texts, "notes": dict(found.notes)}
        arrays = {name: getattr(found, name) for name in COLUMNS}
        if found.counts is not None:
            arrays |= {name: getattr(found.counts, name) for name in COUNTS}
    out = io.BytesIO()
    save = np.savez_compressed if "cells" in arrays else np.savez
    save(out, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def decode(content: bytes) -> RunRows | Trouble:
    """Return what `encode` packed; raise ValueError for anything else."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        meta = json.loads(held["meta"].tobytes())
        if "trouble" in meta:
            return Trouble(*meta["trouble"])
        arrays: dict[str, Any] = {n: held[n] for n in COLUMNS}
        counts = Counts(*(held[n] for n in COUNTS)) if "cells" in held else None
        texts = {int(i): t for i, t in meta["texts"].items()}
        return RunRows(
            meta["first"], meta["count"], **arrays, texts=texts, counts=counts, notes=meta["notes"]
        )


def order(campaign: Campaign, scale: Scale | None) -> str:
    """Return everything that a worker has to know about a campaign, as a text without line breaks."""
    held = None
    if scale is not None:
        out = io.BytesIO()
        np.savez(out, times=scale.times, chosen=scale.chosen, low=scale.low, high=scale.high)
        held = base64.b64encode(out.getvalue()).decode()
    return json.dumps({"campaign": campaign.to_json(), "folder": str(campaign.folder), "scale": held})


def read_order(text: str, folder: Path | None = None) -> tuple[Campaign, Scale | None]:
    """Return the campaign and the scale of an `order`; its files lie in `folder`, or where they lie for the driver."""
    held = json.loads(text)
    scale = None
    if held["scale"] is not None:
        with np.load(io.BytesIO(base64.b64decode(held["scale"])), allow_pickle=False) as arrays:
            scale = Scale(*(arrays[n] for n in ("times", "chosen", "low", "high")))
    return Campaign.from_json(held["campaign"], folder or held["folder"]), scale
