"""Model files: TOML (our own format), URDF, MJCF: `read_x(path)` returns a validated Description.

Finite-element files: bulk data, OP4, DMIG, OP2, npz, Matrix Market: plain data, and structures made of them.

Every reader raises ModelError with file, line, object and reason for each mistake, never anything else from inside.
"""

from articulus.files.fe_bulk import parse_bulk, read_bulk
from articulus.files.fe_data import Beam, BulkModel, Grid, Material, MatrixSet, PointMass, Rod, Section
from articulus.files.fe_dmig import parse_dmig, read_dmig
from articulus.files.fe_matrices import read_matrices, write_matrices
from articulus.files.fe_op2 import read_op2
from articulus.files.fe_op4 import parse_op4, read_op4
from articulus.files.fe_structure import bulk_structure, matrix_structure
from articulus.files.fe_write import beam_model, bulk_text, write_bulk
from articulus.files.mjcf import parse_mjcf, read_mjcf
from articulus.files.model import read_model
from articulus.files.toml_reader import parse_toml, read_toml
from articulus.files.toml_writer import toml_text, write_toml
from articulus.files.urdf import parse_urdf, read_urdf

__all__ = [
    "Beam",
    "BulkModel",
    "Grid",
    "Material",
    "MatrixSet",
    "PointMass",
    "Rod",
    "Section",
    "beam_model",
    "bulk_structure",
    "bulk_text",
    "matrix_structure",
    "parse_bulk",
    "parse_dmig",
    "parse_mjcf",
    "parse_op4",
    "parse_toml",
    "parse_urdf",
    "read_bulk",
    "read_dmig",
    "read_matrices",
    "read_mjcf",
    "read_model",
    "read_op2",
    "read_op4",
    "read_toml",
    "read_urdf",
    "toml_text",
    "write_bulk",
    "write_matrices",
    "write_toml",
]
