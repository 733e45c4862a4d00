"""The look that figures over frequency have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def over_frequency(axes: Sequence[Any], linear: Sequence[Any] = ()) -> None:
    """Give axes that lie below each other a grid, plain numbers at the ticks, legends where curves are named, and the frequency.

    `linear` are those whose ordinates are not logarithmic.
    """
    for ax in axes:
        ax.grid(color="#e5e5e5")
        ax.minorticks_off()  # hundreds of them, which take most of the time of drawing
        for side in (ax.xaxis, *([] if ax in linear else [ax.yaxis])):
            side.set_major_formatter(lambda x, _: f"{x:g}")
        if ax.get_legend_handles_labels()[1]:
            ax.legend(fontsize="small", frameon=False)
    axes[-1].set_xlabel("frequency [rad/s]")
