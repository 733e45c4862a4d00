"""Model files: TOML (our own format), URDF, MJCF. `read_x(path)` returns a validated Description.

Every reader raises ModelError with file, line, object and reason for each mistake, never anything else from inside.
"""

from articulus.files.mjcf import parse_mjcf, read_mjcf
from articulus.files.model import read_model
from articulus.files.toml_reader import parse_toml, read_toml
from articulus.files.toml_writer import toml_text, write_toml
from articulus.files.urdf import parse_urdf, read_urdf

__all__ = [
    "parse_mjcf",
    "parse_toml",
    "parse_urdf",
    "read_mjcf",
    "read_model",
    "read_toml",
    "read_urdf",
    "toml_text",
    "write_toml",
]
