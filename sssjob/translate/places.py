"""An object of JSON that knows in which line each of its values stands, for findings about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sssjob.json_text import line_of_value


class Loaded(dict[str, Any]):
    """An object of JSON that knows the text that it was read from, and where in it it stands."""

    text = ""
    path: tuple[str | int, ...] = ()

    @classmethod
    def at(cls, found: dict[str, Any], text: str, path: tuple[str | int, ...]) -> Loaded:
        """An object as it was read."""
        loaded = cls(found)
        loaded.text, loaded.path = text, path
        return loaded

    def line(self, path: Sequence[str | int]) -> int:
        """The line of a value in the object, or of what is next around it."""
        return line_of_value(self.text, (*self.path, *path))
