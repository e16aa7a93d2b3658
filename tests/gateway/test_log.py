"""A line of the log is the same whichever way it goes."""

import errno
import io
import json
import logging
import select

import pytest
from waiting import until

from sssjob.gateway import log


class _Result(str):
    """A text that a library made, such as what lxml finds."""

    __slots__ = ()


FACTS = {
    "origin": "127.0.0.1", "actor": 'a"\\\n\x1b\u2028é', "rows": 3, "ms": 0.25, "none": None,
    "ended": True, "long": "x" * 500, "of lxml": _Result("y" * 500), "list": ["a"],
}  # fmt: skip


@pytest.fixture
def logger(monkeypatch):
    """The log of the gateway with handlers of its own."""
    monkeypatch.setattr(log.LOGGER, "handlers", [])
    monkeypatch.setattr(log.LOGGER, "propagate", False)
    monkeypatch.setattr(log.LOGGER, "level", logging.INFO)
    monkeypatch.setattr(log.LOGGER, "_cache", {})
    return log.LOGGER


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_an_event_is_the_line_of_its_record(logger, level, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1700000000.25)
    said, formatted, second = io.StringIO(), io.StringIO(), io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    with monkeypatch.context() as without:
        without.setattr(logger, "handle", None)  # it is not asked
        log.event("a request", level, **FACTS)
    logger.handlers = [log.JsonHandler(formatted), log.JsonHandler(second)]
    log.event("a request", level, **FACTS)
    assert said.getvalue() == formatted.getvalue() == second.getvalue()
    told = json.loads(said.getvalue())
    assert told == {
        "time": "2023-11-14T22:13:20.250Z", "level": logging.getLevelName(level).lower(),
        "event": "a request", **FACTS, "long": "x" * 200, "of lxml": "y" * 200,
    }  # fmt: skip
    assert said.getvalue().isascii()
    assert said.getvalue().count("\n") == 1


ANSWER = {
    "origin": "127.0.0.1", "actor": _Result('a"é'), "action": "Query" * 99, "object": "Job",
    "id": "", "code": "000", "rows": 3, "ms": 0.5, "bytes": 2000,
}  # fmt: skip


def _numbered(count):
    for number in range(count):
        log.answered(logging.INFO, **ANSWER | {"rows": number})


def _rows(text):
    assert text == "" or text.endswith("\n")
    return [json.loads(line)["rows"] for line in text.splitlines()]


class Written(io.StringIO):
    """Has each write by itself."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def write(self, text):
        self.parts.append(text)
        return super().write(text)


@pytest.fixture
def alone(logger, monkeypatch):
    """Lets the handler of the gateway be the only one; nobody reminds it of what it keeps."""
    monkeypatch.setattr(log.JsonHandler, "_remind", lambda self: None)
    monkeypatch.setattr("time.monotonic", lambda: 100.0)

    def begin():
        written = Written()
        logger.handlers = [log.JsonHandler(written)]
        return written

    return begin


@pytest.mark.parametrize("more", [{}, {"message": "no"}])
@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_an_answer_is_the_line_of_its_event(logger, alone, level, more, monkeypatch):
    said = alone()
    monkeypatch.setattr("time.time", lambda: 1700000000.25)
    log.answered(level, **ANSWER, **more)
    log.event("request", level, **ANSWER, **more)
    one, other = said.getvalue().splitlines()
    assert one == other
    logger.handlers = [logging.StreamHandler(said)]  # one of somebody else
    logger.handlers[0].setFormatter(log.JsonFormatter())
    log.answered(level, **ANSWER, **more)
    assert said.getvalue().splitlines()[2] == one


def test_answers_at_the_same_time_are_written_together_and_in_order(alone):
    said = alone()
    _numbered(5)
    assert _rows(said.getvalue()) == [0]
    log.event("request", rows=5)
    assert _rows(said.getvalue()) == list(range(6))
    log.answered(logging.INFO, **ANSWER | {"rows": 6})
    try:
        raise ValueError
    except ValueError:
        log.LOGGER.exception("a fault", extra={"facts": {"rows": 7}})
    assert _rows(said.getvalue()) == list(range(8))
    log.answered(logging.INFO, **ANSWER | {"rows": 8})
    log.LOGGER.handlers[0].flush()
    assert _rows(said.getvalue()) == list(range(9))


def test_no_more_answers_wait_than_a_bound_and_lines_go_whole_into_a_pipe(alone):
    said = alone()
    _numbered(600)
    shown = _rows(said.getvalue())
    assert shown == list(range(len(shown)))
    assert 600 - len(shown) < 256
    for part in said.parts:
        _rows(part)
        assert len(part) <= select.PIPE_BUF
    assert len(said.parts) < 100
    long = ANSWER | dict.fromkeys(("origin", "id"), "é" * 9999)
    for _ in range(2):
        log.answered(logging.INFO, **long)
    log.LOGGER.handlers[0].close()
    assert max(map(len, said.parts)) > select.PIPE_BUF
    assert [len(_rows(part)) for part in said.parts[-2:]] == [1, 1]


def test_answers_are_written_soon_if_nothing_comes_after_them(logger):
    written = Written()
    logger.handlers = [log.JsonHandler(written)]
    for _ in "12":  # also the next time
        count = len(_rows(written.getvalue()))
        _numbered(5)
        until(lambda: len(_rows(written.getvalue())) == count + 5)  # noqa: B023


def test_what_is_not_of_the_level_is_no_line(logger):
    said = io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    log.event("a detail", logging.DEBUG)
    log.answered(logging.DEBUG, **ANSWER)
    assert said.getvalue() == ""


def test_a_log_that_cannot_be_written_costs_no_answer(logger):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    closed = io.StringIO()
    closed.close()
    for stream in (Full(), closed):
        logger.handlers = [log.JsonHandler(stream)]
        log.event("a request", **FACTS)
        _numbered(3)
        logger.handlers[0].flush()


def test_the_trace_of_a_fault_is_whole(logger):
    said = io.StringIO()
    logger.handlers = [log.JsonHandler(said)]
    try:
        raise ValueError("x" * 1000)
    except ValueError:
        logger.exception("a fault")
    assert "x" * 1000 in json.loads(said.getvalue())["trace"]
