"""The model where its users work: one file or one subpackage for each other world, behind an extra where that world has a package.

A bridge imports its packages when it is first used (`require`), is named by a page in docs/bridges, and is tested with the real other side.
"""
