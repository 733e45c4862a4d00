"""Model files: TOML (our own format), URDF, MJCF. `read_x(path)` returns a validated Description."""

from articulus.files.toml_reader import parse_toml, read_toml
from articulus.files.toml_writer import toml_text, write_toml
from articulus.files.urdf import parse_urdf, read_urdf

__all__ = ["parse_toml", "parse_urdf", "read_toml", "read_urdf", "toml_text", "write_toml"]
