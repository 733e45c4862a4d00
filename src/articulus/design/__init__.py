"""Models from measurements, and structure and controller improved together; one method, one file."""

from articulus.design.base_parameters import BaseParameters, base_parameters

__all__ = ["BaseParameters", "base_parameters"]
