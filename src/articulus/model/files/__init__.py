"""Model files: TOML (our own format), URDF, MJCF, SDF: `read_x(path)` returns a validated Description.

Finite-element files: bulk data, OP4, DMIG, OP2, npz, Matrix Market: plain data, and structures made of them. They load
with their first use, because SciPy's sparse matrices take longer to import than the rest of this package.

Every reader raises ModelError with file, line, object and reason for each mistake, never anything else from inside.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from articulus.model.files.mjcf.reader import parse_mjcf, read_mjcf
from articulus.model.files.mjcf.writer import write_mjcf
from articulus.model.files.model import read_model, write_model
from articulus.model.files.sdf.reader import parse_sdf, read_sdf
from articulus.model.files.toml.reader import parse_toml, read_toml
from articulus.model.files.toml.writer import toml_text, write_toml
from articulus.model.files.urdf.reader import parse_urdf, read_urdf

if TYPE_CHECKING:
    from articulus.model.files.fe.bulk import parse_bulk, read_bulk
    from articulus.model.files.fe.data import (
        BulkModel,
        FeBeam,
        FeGrid,
        FeMaterial,
        FeRod,
        FeSection,
        FeShell,
        Layer,
        LayUp,
        MatrixSet,
        MeanElement,
        Orthotropic,
        PointMass,
        Rigid,
        ScalarElement,
        ShellSection,
    )
    from articulus.model.files.fe.dmig import parse_dmig, read_dmig
    from articulus.model.files.fe.matrices import read_matrices, write_matrices
    from articulus.model.files.fe.op2 import read_op2
    from articulus.model.files.fe.op4 import parse_op4, read_op4
    from articulus.model.files.fe.structure import bulk_structure, matrix_structure
    from articulus.model.files.fe.write import beam_model, bulk_text, write_bulk

_FINITE_ELEMENTS = {
    "fe.bulk": ("parse_bulk", "read_bulk"),
    "fe.data": (
        "FeBeam",
        "BulkModel",
        "FeGrid",
        "LayUp",
        "Layer",
        "FeMaterial",
        "MatrixSet",
        "MeanElement",
        "Orthotropic",
        "PointMass",
        "Rigid",
        "FeRod",
        "ScalarElement",
        "FeSection",
        "FeShell",
        "ShellSection",
    ),
    "fe.dmig": ("parse_dmig", "read_dmig"),
    "fe.matrices": ("read_matrices", "write_matrices"),
    "fe.op2": ("read_op2",),
    "fe.op4": ("parse_op4", "read_op4"),
    "fe.structure": ("bulk_structure", "matrix_structure"),
    "fe.write": ("beam_model", "bulk_text", "write_bulk"),
}


def __getattr__(name: str) -> Any:
    """Return a name of the finite-element modules."""
    for module, names in _FINITE_ELEMENTS.items():
        if name in names:
            return getattr(import_module(f"articulus.model.files.{module}"), name)
    raise AttributeError(f"module 'articulus.model.files' has no attribute '{name}'")


__all__ = [
    "BulkModel",
    "FeBeam",
    "FeGrid",
    "FeMaterial",
    "FeRod",
    "FeSection",
    "FeShell",
    "LayUp",
    "Layer",
    "MatrixSet",
    "MeanElement",
    "Orthotropic",
    "PointMass",
    "Rigid",
    "ScalarElement",
    "ShellSection",
    "beam_model",
    "bulk_structure",
    "bulk_text",
    "matrix_structure",
    "parse_bulk",
    "parse_dmig",
    "parse_mjcf",
    "parse_op4",
    "parse_sdf",
    "parse_toml",
    "parse_urdf",
    "read_bulk",
    "read_dmig",
    "read_matrices",
    "read_mjcf",
    "read_model",
    "read_op2",
    "read_op4",
    "read_sdf",
    "read_toml",
    "read_urdf",
    "toml_text",
    "write_bulk",
    "write_matrices",
    "write_mjcf",
    "write_model",
    "write_toml",
]
