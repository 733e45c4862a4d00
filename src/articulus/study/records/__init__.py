"""Measured runs: columns of numbers over time with names and units, and a reader for each kind of file."""

from articulus.study.records.readers import READERS, read_record
from articulus.study.records.record import Gap, Record

__all__ = ["READERS", "Gap", "Record", "read_record"]
