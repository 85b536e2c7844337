"""Says how values become those of a Postgres. Loads psycopg, so it is imported where there is one."""

from __future__ import annotations

from psycopg.abc import AdaptContext
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrDumperUnknown

__all__ = ["adapt"]

# What stands for the one character that no text in a Postgres can hold.
REPLACEMENT = "\ufffd"


class TextDumper(StrDumperUnknown):
    """Text without NUL, of whatever type the statement needs."""

    def dump(self, obj: str) -> bytes | bytearray | memoryview | None:
        return super().dump(obj.replace("\0", REPLACEMENT))


def adapt(context: AdaptContext) -> None:
    """Sets up a connection. Whole numbers have one width, so that a statement is planned once."""
    context.adapters.register_dumper(int, Int8BinaryDumper)
    context.adapters.register_dumper(bool, Int8BinaryDumper)
    context.adapters.register_dumper(str, TextDumper)
