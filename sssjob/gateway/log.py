"""What happens, one JSON object a line. Bodies, keys and signatures are never part of it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import lru_cache
from select import PIPE_BUF
from typing import NamedTuple, TextIO

LOGGER = logging.getLogger("sssjob.gateway")
_LONGEST = 200  # characters of a text that a client chose
_TOGETHER = 0.1  # seconds within which lines of answers are written together
_MOST = 256  # of them
_encoded = json.JSONEncoder(check_circular=False).encode  # in ASCII; values are plain


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, with what was given as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        facts = getattr(record, "facts", {})
        if record.exc_info:
            facts = {**facts, "trace": _UncutText(self.formatException(record.exc_info))}
        return _line(record.created, record.levelno, record.getMessage(), facts)


class _UncutText(str):
    """A text of our own, which is written however long it is."""

    __slots__ = ()


class _AnswerLine(NamedTuple):
    """What the log says of an answer, and when it was made."""

    at: float
    level: int
    origin: str
    actor: str
    action: str
    object: str
    id: str
    code: str
    rows: int
    ms: float
    bytes: int

    def line(self) -> str:
        """The same line as an event of these facts has."""
        return (
            f'{_begin(self.at, self.level)}"request", "origin": {_text(self.origin)}, '
            f'"actor": {_text(self.actor)}, "action": {_text(self.action)}, '
            f'"object": {_text(self.object)}, "id": {_text(self.id)}, "code": {_text(self.code)}, '
            f'"rows": {self.rows}, "ms": {self.ms!r}, "bytes": {self.bytes}}}\n'
        )


class JsonHandler(logging.StreamHandler[TextIO]):
    """Writes each record, and each event that comes without one, as a line of JSON.

    A line for each answer costs more by its system call, and by what a processor has to fetch
    anew, than by itself. So where answers follow each other at once, their lines are made and
    written together, a tenth of a second later at most, and before anything else is written.
    # decision 645
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(JsonFormatter())
        self._answers: list[_AnswerLine] = []
        self._written = float("-inf")
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def say(self, name: str, level: int, facts: Mapping[str, object]) -> None:
        """Write an event. What cannot be written is lost, and nothing else is."""
        text = _line(time.time(), level, name, facts)
        with self.lock or nullcontext():
            self._write_answers()
            self._write(f"{text}\n")

    def answered(self, answer: _AnswerLine) -> None:
        """Write an answer, or keep it for a moment where others come at the same time."""
        with self.lock or nullcontext():
            self._answers.append(answer)
            now = time.monotonic()
            if now - self._written > _TOGETHER or len(self._answers) >= _MOST:
                self._written = now
                self._write_answers()
            elif len(self._answers) == 1:
                self._remind()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, behind what came before it."""
        self._write_answers()
        super().emit(record)

    def flush(self) -> None:
        """Write what was kept."""
        with self.lock or nullcontext():
            self._write_answers()
            with suppress(OSError, ValueError):
                super().flush()

    def close(self) -> None:
        """Write what was kept, for the last time."""
        self.flush()
        super().close()

    def _remind(self) -> None:
        """Have answers written soon, whatever comes after them."""
        if self._thread is None or not self._thread.is_alive():  # also after a fork
            self._wake = threading.Event()
            self._thread = threading.Thread(target=self._watch, name="log", daemon=True)
            self._thread.start()
        self._wake.set()

    def _watch(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(_TOGETHER)
            self._wake.clear()
            with self.lock or nullcontext():
                self._written = time.monotonic()
                self._write_answers()

    def _write_answers(self) -> None:
        if not self._answers:
            return
        lines = [answer.line() for answer in self._answers]
        self._answers.clear()
        # As many whole lines as a pipe takes at once: processes share it.
        start = size = 0
        for at, line in enumerate(lines):
            if size + len(line) > PIPE_BUF and at > start:
                self._write("".join(lines[start:at]))
                start, size = at, 0
            size += len(line)
        self._write("".join(lines[start:]))

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()


def answered(
    level: int, *, origin: str, actor: str, action: str, object: str, id: str, code: str,
    rows: int, ms: float, bytes: int, message: str | None = None,
) -> None:  # fmt: skip
    """Log an answer; with a ``message`` at once."""
    if not LOGGER.isEnabledFor(level):
        return
    own = _own_handler()
    if own is not None and message is None:
        cut = slice(_LONGEST)  # of lxml, whose texts hold the whole message
        own.answered(_AnswerLine(
            time.time(), level, origin, actor[cut], action[cut], object[cut], id[cut], code, rows,
            ms, bytes,
        ))  # fmt: skip
        return
    event(
        "request", level, origin=origin, actor=actor, action=action, object=object, id=id,
        code=code, rows=rows, ms=ms, bytes=bytes,
        **({} if message is None else {"message": message}),
    )  # fmt: skip


def event(name: str, level: int = logging.INFO, **facts: object) -> None:
    """Log an event with its facts."""
    if not LOGGER.isEnabledFor(level):
        return
    if (own := _own_handler()) is not None:
        own.say(name, level, facts)
        return
    extra = {"facts": facts}
    LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, __name__, 0, name, (), None, extra=extra))


def _own_handler() -> JsonHandler | None:
    """What writes lines, where nothing else does: a record of logging takes longer than a line."""
    handlers = LOGGER.handlers
    if len(handlers) == 1 and not LOGGER.propagate and isinstance(handlers[0], JsonHandler):
        return handlers[0]
    return None


def _line(created: float, level: int, name: str, facts: Mapping[str, object]) -> str:
    told = "".join([f', "{key}": {_value(value)}' for key, value in facts.items()])
    return f"{_begin(created, level)}{_encoded(name)}{told}}}"


def _begin(created: float, level: int) -> str:
    second, fraction = divmod(created, 1)
    return (
        f'{{"time": "{_second(int(second))}.{int(fraction * 1000):03d}Z", '
        f'"level": "{_level(level)}", "event": '
    )


@lru_cache(1024)
def _text(short: str) -> str:
    """A text as JSON; most of those in lines of answers come again and again."""
    return _encoded(short)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _encoded(value if isinstance(value, _UncutText) else value[:_LONGEST])
    return str(value) if type(value) is int else _encoded(value)


@lru_cache(8)
def _level(level: int) -> str:
    return logging.getLevelName(level).lower()


@lru_cache(8)
def _second(seconds: int) -> str:
    """A second of time as it is written, which many lines have in common."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
