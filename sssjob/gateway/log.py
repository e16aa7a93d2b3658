"""What happens, one JSON object a line. Bodies, keys and signatures are never part of it."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from functools import lru_cache

LOGGER = logging.getLogger("sssjob.gateway")
_LONGEST = 200  # characters of a text that a client chose
_encoded = json.JSONEncoder(check_circular=False).encode  # in ASCII; values are plain


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, with what was given as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        seconds, fraction = divmod(record.created, 1)
        line = {
            "time": f"{_second(int(seconds))}.{int(fraction * 1000):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        for name, value in getattr(record, "facts", {}).items():
            line[name] = value[:_LONGEST] if isinstance(value, str) else value
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return _encoded(line)


def event(name: str, level: int = logging.INFO, **facts: object) -> None:
    """Log an event with its facts."""
    if LOGGER.isEnabledFor(level):
        # Without a look at who called, which takes longer than all else: the event says it.
        extra = {"facts": facts}
        LOGGER.handle(
            LOGGER.makeRecord(LOGGER.name, level, __name__, 0, name, (), None, extra=extra)
        )


@lru_cache(8)
def _second(seconds: int) -> str:
    """A second of time as it is written, which many lines have in common."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
