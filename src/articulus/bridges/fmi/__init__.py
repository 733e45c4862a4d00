"""Functional mock-up units (FMI 2.0 and 3.0): loops as FMUs, and FMUs in loops."""

from articulus.bridges.fmi.export import PLATFORMS, export_fmu
from articulus.bridges.fmi.use import with_fmu

__all__ = ["PLATFORMS", "export_fmu", "with_fmu"]
