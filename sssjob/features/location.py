"""Where a features directory is: a local path, or a part of the URL space of a server.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

LOCAL, REMOTE = "local", "remote"


class Location:
    """A directory by its path, or by its URL; ``advice`` says what was tolerated in it."""

    __slots__ = ("advice", "kind", "place")

    def __init__(self, kind: str, place: str, advice: str = "") -> None:
        self.kind, self.place, self.advice = kind, place, advice

    def __repr__(self) -> str:
        return f"<{self.kind} {self.place}>"


def locate(text: str) -> Location:
    """What a variable or an argument names. Raises ``InvalidValue``.

    "The user positively determines whether the files are to be opened locally or over HTTP(S) by
    checking for a leading slash or the prefix http:// or https://". One trailing slash is
    tolerated, and so are a relative path and ``file:///``, with advice. # decision 72
    """
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if separator and scheme in ("http", "https"):
        return Location(REMOTE, f"{scheme}://{rest.removesuffix('/')}")
    if separator and scheme == "file" and rest.startswith("/"):
        return Location(LOCAL, _path(rest), f"{text} names a local directory: write {rest}")
    if not text or "\0" in text or (separator and scheme.isalnum()):
        from sssjob.errors import InvalidValue

        raise InvalidValue(text, "a directory, or an address that begins with http:// or https://")
    advice = "" if text.startswith("/") else f"{text} does not begin with a slash"
    return Location(LOCAL, _path(text), advice)


def _path(text: str) -> str:
    return text.removesuffix("/") or "/"
