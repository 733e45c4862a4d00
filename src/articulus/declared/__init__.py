"""Declared data: what each field of an object is, said once, for readers, writers, messages, pages and JSON Schema."""

from articulus.declared.field import (
    Field,
    choice,
    elsewhere,
    fields_of,
    name_of,
    names,
    quantity,
    text,
    whole,
)

__all__ = ["Field", "choice", "elsewhere", "fields_of", "name_of", "names", "quantity", "text", "whole"]
