"""Changed numbers of a mechanism into the file it was read from; all else in the file stays as it was written."""

from articulus.model.files.write_back.write_back import write_back

__all__ = ["write_back"]
