"""The first runs of a campaign with bands: they only say where values over time lie. Guarded as all others are."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from articulus.study.campaign import percentile_bands, work
from articulus.study.campaign.driver import Driver, Workers
from articulus.study.campaign.percentile_bands import Scale
from articulus.study.campaign.work import RunRows, Trouble


class Pilot(Driver):
    """Runs the first runs and keeps nothing but the extreme values over time.

    A run that cannot be run, or kills or hangs its worker, is omitted.
    """

    def scale(self, workers: Callable[[], Workers], alone: Callable[[], Workers]) -> Scale:
        """Return where values over time are to be counted.

        Parameters
        ----------
        workers : callable
            Gives those who do the work.
        alone : callable
            Gives workers in processes of their own, for what was under way when a driver died.
        """
        times = work.times_of(self.campaign)
        self._extremes = percentile_bands.no_extremes(len(self.campaign.bands), times)
        suspects = self.ledger.started_ranges()
        chosen = alone() if suspects else workers()
        queue = deque([(0, min(percentile_bands.PILOT, self.campaign.runs))])
        try:
            self._work(chosen, queue, time.monotonic(), self.progress.done)
        finally:
            chosen.close()
            if not suspects:  # those are still to be run
                self.ledger.end()
        return percentile_bands.scale_of(times, self._extremes)

    def _take(self, rows: RunRows) -> None:
        self._note_success(rows)
        if rows.counts is not None:
            self._extremes = self._extremes + rows.counts

    def _put_aside(self, run: int, trouble: Trouble) -> None:
        """Leave a run out."""
