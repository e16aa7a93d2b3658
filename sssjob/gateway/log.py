"""What happens, one JSON object a line. Bodies, keys and signatures are never part of it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import TextIO

LOGGER = logging.getLogger("sssjob.gateway")
_LONGEST = 200  # characters of a text that a client chose
_encoded = json.JSONEncoder(check_circular=False).encode  # in ASCII; values are plain


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, with what was given as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        facts = getattr(record, "facts", {})
        if record.exc_info:
            facts = {**facts, "trace": _Whole(self.formatException(record.exc_info))}
        return _line(record.created, record.levelno, record.getMessage(), facts)


class _Whole(str):
    """A text of our own, which is written however long it is."""

    __slots__ = ()


class JsonHandler(logging.StreamHandler[TextIO]):
    """Writes each record, and each event that comes without one, as a line of JSON."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(JsonFormatter())

    def say(self, name: str, level: int, facts: Mapping[str, object]) -> None:
        """Write an event. What cannot be written is lost, and nothing else is."""
        text = _line(time.time(), level, name, facts)
        with self.lock or nullcontext(), suppress(OSError, ValueError):
            self.stream.write(f"{text}\n")
            self.stream.flush()


def event(name: str, level: int = logging.INFO, **facts: object) -> None:
    """Log an event with its facts."""
    if not LOGGER.isEnabledFor(level):
        return
    handlers = LOGGER.handlers
    if len(handlers) == 1 and not LOGGER.propagate and isinstance(handlers[0], JsonHandler):
        # One for each answer: a record of logging takes longer than the line.
        handlers[0].say(name, level, facts)
        return
    extra = {"facts": facts}
    LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, __name__, 0, name, (), None, extra=extra))


def _line(created: float, level: int, name: str, facts: Mapping[str, object]) -> str:
    second, fraction = divmod(created, 1)
    told = "".join([f', "{key}": {_value(value)}' for key, value in facts.items()])
    return (
        f'{{"time": "{_second(int(second))}.{int(fraction * 1000):03d}Z", '
        f'"level": "{_level(level)}", "event": {_encoded(name)}{told}}}'
    )


def _value(value: object) -> str:
    if isinstance(value, str):
        return _encoded(value if isinstance(value, _Whole) else value[:_LONGEST])
    return str(value) if type(value) is int else _encoded(value)


@lru_cache(8)
def _level(level: int) -> str:
    return logging.getLevelName(level).lower()


@lru_cache(8)
def _second(seconds: int) -> str:
    """A second of time as it is written, which many lines have in common."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
