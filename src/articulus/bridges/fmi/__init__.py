"""Functional mock-up units (FMI 2.0 and 3.0): loops as FMUs."""

from articulus.bridges.fmi.export import PLATFORMS, export_fmu

__all__ = ["PLATFORMS", "export_fmu"]
