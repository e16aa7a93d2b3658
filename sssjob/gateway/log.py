"""What happens, one JSON object a line. Bodies, keys and signatures are never part of it."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

LOGGER = logging.getLogger("sssjob.gateway")
_LONGEST = 200  # characters of a text that a client chose


class Lines(logging.Formatter):
    """A record as one line of JSON, with what was given as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **{
                name: value[:_LONGEST] if isinstance(value, str) else value
                for name, value in getattr(record, "facts", {}).items()
            },
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def event(name: str, level: int = logging.INFO, **facts: object) -> None:
    """Log an event with its facts."""
    LOGGER.log(level, name, extra={"facts": facts})
